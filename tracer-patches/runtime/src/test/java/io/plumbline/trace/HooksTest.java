package io.plumbline.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An engine that throws what it must not costs spans, and the application nothing. */
class HooksTest {
    @TempDir
    Path folder;

    /**
     * As a process with HTrace: Engines looks for that class and takes the engine of that name, which is the test's.
     */
    private ClassLoader processWithHTrace() throws Exception {
        Path tracer = folder.resolve("org/apache/htrace/core/Tracer.class");
        Files.createDirectories(tracer.getParent());
        Files.write(tracer, new byte[0]);
        List<URL> path = new ArrayList<>();
        path.add(folder.toUri().toURL());
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            path.add(new File(entry).toURI().toURL());
        }
        return new URLClassLoader(path.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    @Test
    @SuppressWarnings("unchecked")
    void nothingComesThrough() throws Exception {
        Class<?> scenario = Class.forName("io.plumbline.trace.HooksScenario", true, processWithHTrace());
        List<String> seen = ((Supplier<List<String>>) scenario.getConstructor().newInstance()).get();
        List<String> expected = new ArrayList<>(List.of("engine HTrace"));
        List<String> broken = new ArrayList<>();
        for (String hook : List.of("begin", "values", "end", "leave", "capture", "below", "leaf")) {
            broken.add(hook + " null, counted");
        }
        for (int i = 0; i < 5; i++) {
            expected.addAll(broken);
        }
        expected.addAll(List.of("off nullnullnull", "on not sampled"));
        expected.addAll(broken);
        expected.addAll(List.of("interrupted true", "stacks true", "failures false true"));
        assertEquals(expected, seen);
    }
}
