package io.plumbline.weave.htrace;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.weave.FunctionList;
import io.plumbline.weave.Patch;
import io.plumbline.weave.WeaveReport;
import io.plumbline.weave.Weaver;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import net.bytebuddy.dynamic.ClassFileLocator;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
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

    /** Our engine would look for HTrace where it is not. */
    @Test
    void whatAnotherLoaderHasStaysAsItIs() throws Exception {
        Weaver weaver = new Weaver(FunctionList.load(null), WeaveReport.process());
        try (URLClassLoader web = new URLClassLoader(new URL[] {PatchedLoader.htraces().get(0).toUri().toURL()}, null)) {
            for (Patch patch : HTracePatches.ALL) {
                String name = patch.classes().iterator().next();
                try (InputStream in = web.getResourceAsStream(name.replace('.', '/') + ".class")) {
                    if (in != null) {
                        byte[] file = in.readAllBytes();
                        ClassFileLocator locator = ClassFileLocator.ForClassLoader.of(web);
                        assertNull(weaver.weave(name, file, locator, false), name);
                        assertNotNull(weaver.weave(name, file, locator, true), name);
                    }
                }
            }
        }
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
