package io.plumbline.weave.htrace;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Runs each public method of the Cases classes with each HTrace, patched, in a class loader of its own. */
class HTracePatchesTest {
    private static final List<String> CASES = Arrays.asList("ScopeCases", "StrictnessCases", "SamplingCases", "TimeCases",
            "ReceiverCases");

    @TestFactory
    Stream<DynamicNode> cases() throws Exception {
        List<DynamicNode> tests = new ArrayList<>();
        for (Path htrace : PatchedLoader.htraces()) {
            for (String name : CASES) {
                String className = getClass().getPackage().getName() + "." + name;
                Method[] methods = Class.forName(className, false, getClass().getClassLoader()).getDeclaredMethods();
                Arrays.sort(methods, Comparator.comparing(Method::getName));
                for (Method method : methods) {
                    if (Modifier.isPublic(method.getModifiers())) {
                        tests.add(DynamicTest.dynamicTest(htrace.getFileName() + " " + name + "." + method.getName(),
                                () -> run(htrace, className, method.getName())));
                    }
                }
            }
        }
        return tests.stream();
    }

    private static void run(Path htrace, String className, String method) throws Throwable {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (PatchedLoader loader = PatchedLoader.with(htrace)) {
            Thread.currentThread().setContextClassLoader(loader);
            Class<?> cases = loader.loadClass(className);
            java.lang.reflect.Constructor<?> constructor = cases.getDeclaredConstructor();
            constructor.setAccessible(true);
            Method found = cases.getDeclaredMethod(method);
            found.setAccessible(true);
            try {
                found.invoke(constructor.newInstance());
            } finally {
                Method end = loader.loadClass(cases.getPackage().getName() + ".Traced").getDeclaredMethod("end");
                end.setAccessible(true);
                end.invoke(null);
            }
        } catch (InvocationTargetException e) {
            throw e.getCause();
        } catch (IOException e) {
            throw new AssertionError(e);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
