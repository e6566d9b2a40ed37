package io.plumbline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The jar that is handed out: whatever class path it joins, it brings no name of anybody else's. */
@Tag("jar")
class JarTest {
    private static final int JAVA_8 = 52;
    private static final long MAX_BYTES = 1_500_000;
    private static final String HADOOP_TRACING = "META-INF/plumb/hadoop-tracing/org/apache/hadoop/tracing/";

    @Test
    void everythingIsOursAndForJava8() throws Exception {
        try (JarFile jar = new JarFile(Child.JAR.toFile())) {
            for (JarEntry entry : jar.stream().filter(e -> !e.isDirectory()).collect(Collectors.toList())) {
                String name = entry.getName();
                boolean meta = name.startsWith("META-INF/") && !name.startsWith("META-INF/versions/")
                        && !name.startsWith("META-INF/services/");
                assertTrue(name.startsWith("io/plumbline/") || meta, name);
                assertTrue(!meta || !name.endsWith(".class") || name.startsWith(HADOOP_TRACING), name);
                if (name.endsWith(".class")) {
                    try (DataInputStream in = new DataInputStream(jar.getInputStream(entry))) {
                        in.readInt();
                        in.readUnsignedShort();
                        assertTrue(in.readUnsignedShort() <= JAVA_8, name);
                    }
                }
            }
            assertEquals("io.plumbline.agent.Agent", jar.getManifest().getMainAttributes().getValue("Premain-Class"));
            assertEquals("io.plumbline.agent.Main", jar.getManifest().getMainAttributes().getValue("Main-Class"));
            for (String needed : List.of("META-INF/LICENSE", "META-INF/NOTICE", "META-INF/licenses/ASM",
                    "META-INF/LICENSE.slf4j", "io/plumbline/weave/functions.conf")) {
                assertTrue(jar.getEntry(needed) != null, needed);
            }
        }
        assertTrue(Child.JAR.toFile().length() < MAX_BYTES, Child.JAR.toFile().length() + " bytes");
    }

    /** Of our own code, nothing is missing but HTrace, which is there where its engine is used. */
    @Test
    void nothingIsMissing() {
        StringWriter out = new StringWriter();
        ToolProvider jdeps = ToolProvider.findFirst("jdeps").orElseThrow();
        jdeps.run(new PrintWriter(out), new PrintWriter(out), "--missing-deps", "-verbose:class", Child.JAR.toString());
        Set<String> missing = out.toString().lines().map(String::trim)
                .filter(line -> line.startsWith("io.plumbline.") && line.contains("not found"))
                .filter(line -> !line.startsWith("io.plumbline.shaded.") && !line.contains("org.apache.htrace.core."))
                .collect(Collectors.toSet());
        assertEquals(Set.of(), missing);
    }
}
