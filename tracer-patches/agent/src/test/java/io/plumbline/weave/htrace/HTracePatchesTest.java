package io.plumbline.weave.htrace;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.weave.Weaver;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.report.WeaveReport;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Runs each public method of the Cases classes with each HTrace, patched, in a class loader of its own. */
class HTracePatchesTest {
    private static final List<String> CASES =
            Arrays.asList("ScopeCases", "StrictnessCases", "SamplingCases", "TimeCases", "ReceiverCases",
                    "StreamCases");

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
        try (URLClassLoader web =
                new URLClassLoader(new URL[] {PatchedLoader.htraces().get(0).toUri().toURL()}, null)) {
            for (Patch patch : HTracePatches.ALL) {
                String name = patch.classes().iterator().next();
                try (InputStream in = web.getResourceAsStream(name.replace('.', '/') + ".class")) {
                    if (in != null) {
                        byte[] file = in.readAllBytes();
                        ClassFiles others = ClassFiles.of(web);
                        assertNull(weaver.weave(name, file, others, false), name);
                        assertNotNull(weaver.weave(name, file, others, true), name);
                    }
                }
            }
        }
    }

    /** Hadoop has scopes of HTrace there up to 3.3.1. */
    @Test
    void handlersOfTheRpcServer() throws Exception {
        String name = "org.apache.hadoop.ipc.Server$Handler";
        for (String version : Arrays.asList("2.10.2", "3.0.3", "3.3.6", "3.5.0")) {
            Path jar = Paths.get(System.getProperty("plumb.hadoop.folder"), "hadoop-common-" + version + ".jar");
            try (JarFile files = new JarFile(jar.toFile())) {
                byte[] file = files.getInputStream(files.getEntry(name.replace('.', '/') + ".class")).readAllBytes();
                if (version.compareTo("3.3.2") < 0) {
                    byte[] patched = new RpcHandlerPatch().change(name, file, other -> null);
                    String constants = new String(patched, StandardCharsets.ISO_8859_1);
                    assertTrue(constants.contains("dequeued"), version);
                } else {
                    assertThrows(WeaveException.class,
                            () -> new RpcHandlerPatch().change(name, file, other -> null));
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
