package io.plumbline.htrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.ThriftReceiver;
import io.plumbline.wire.Batch;
import java.io.DataInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The jar that is handed out, after everything it carries got names of its own. */
@Tag("jar")
@Timeout(120)
class JarTest {
    private static final int JAVA_8 = 52;
    private static final long MAX_BYTES = 400_000;
    private static final Path JAR = Path.of(System.getProperty("plumb.jar"));

    private static Path htrace(String version) {
        return Path.of(System.getProperty("plumb.htrace.folder"), "htrace-core4-" + version + "-incubating.jar");
    }

    @Test
    void everyClassIsOursAndForJava8() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            for (JarEntry entry : jar.stream().filter(e -> !e.isDirectory()).collect(Collectors.toList())) {
                String name = entry.getName();
                boolean ours = name.startsWith("io/plumbline/") && name.endsWith(".class");
                assertTrue(ours || name.startsWith("META-INF/"), name);
                if (name.endsWith(".class")) {
                    try (DataInputStream in = new DataInputStream(jar.getInputStream(entry))) {
                        in.readInt();
                        in.readUnsignedShort();
                        assertTrue(in.readUnsignedShort() <= JAVA_8, name);
                    }
                }
            }
        }
        assertTrue(JAR.toFile().length() < MAX_BYTES, JAR.toFile().length() + " bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.0.1", "4.1.0"})
    void nothingIsMissingBesideHTrace(String version) {
        StringWriter out = new StringWriter();
        ToolProvider jdeps = ToolProvider.findFirst("jdeps").orElseThrow();
        int code = jdeps.run(new PrintWriter(out), new PrintWriter(out), "--missing-deps", "-cp",
                htrace(version).toString(), JAR.toString());
        assertEquals("0 ", code + " " + out);
    }

    /** As Hadoop does it: HTrace loads the class by its name, a span ends, the last tracer is closed. */
    @ParameterizedTest
    @ValueSource(strings = {"4.0.1", "4.1.0"})
    void worksWithHTrace(String version) throws Exception {
        URL[] path = {JAR.toUri().toURL(), htrace(version).toUri().toURL()};
        try (ThriftReceiver server = new ThriftReceiver();
                URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
            Class<?> configuration = loader.loadClass("org.apache.htrace.core.HTraceConfiguration");
            Method fromPairs = configuration.getMethod("fromKeyValuePairs", String[].class);
            Object conf = fromPairs.invoke(null, (Object) new String[] {
                "span.receiver.classes", "io.plumbline.htrace.PlumbSpanReceiver", "sampler.classes", "AlwaysSampler",
                "plumb.receiver.addresses", server.address()});
            Class<?> builderClass = loader.loadClass("org.apache.htrace.core.Tracer$Builder");
            Object builder = builderClass.getConstructor(String.class).newInstance("Test");
            builderClass.getMethod("conf", configuration).invoke(builder, conf);
            Object tracer = builderClass.getMethod("build").invoke(builder);
            try (AutoCloseable scope = (AutoCloseable) tracer.getClass().getMethod("newScope", String.class)
                    .invoke(tracer, "Test#call")) {
                scope.getClass().getMethod("addKVAnnotation", String.class, String.class).invoke(scope, "k", "v");
            }
            ((AutoCloseable) tracer).close(); // the last tracer closes the receivers, which drain
            assertEquals(1, server.waitingBatches());
            Batch batch = server.next();
            List<String> strings = batch.getStrings();
            assertEquals("Test#call", strings.get(batch.getSpans().get(0).getName()));
            String tracerId = strings.get(batch.getSpans().get(0).getTracer());
            assertTrue(tracerId.matches("Test/.*/" + ProcessHandle.current().pid()), tracerId);
            assertEquals("v", batch.getSpans().get(0).getAnnotations().get(0).getValue());
        }
    }
}
