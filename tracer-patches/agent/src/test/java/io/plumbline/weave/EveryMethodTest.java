package io.plumbline.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.ClassInfo;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.report.Finding;
import io.plumbline.weave.report.WeaveReport;
import java.io.IOException;
import java.io.StringReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hadoop's client, compiled by different compilers of different years: every method of every class is woven, with
 * values of all its arguments, {@code this} and the result, and the JVM's verifier reads what comes out.
 */
@Timeout(600)
class EveryMethodTest {
    private static final Path HADOOP = Path.of(System.getProperty("plumb.hadoop.folder"));

    /** Gives out woven classes. */
    private static final class Loader extends URLClassLoader {
        private final Weaver weaver;
        private final ClassFiles files;

        Loader(URL[] path, Weaver weaver) {
            super(path, EveryMethodTest.class.getClassLoader());
            this.weaver = weaver;
            this.files = ClassFiles.of(new URLClassLoader(path, ClassLoader.getPlatformClassLoader()));
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (!weaver.classes().contains(name)) {
                return super.findClass(name);
            }
            try {
                byte[] original = files.find(name);
                byte[] woven = weaver.weave(name, original, files);
                byte[] file = woven == null ? original : woven;
                return defineClass(name, file, 0, file.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"2.10.2", "3.0.3", "3.3.6", "3.5.0"})
    void verifies(String version) throws Exception {
        Path jar = HADOOP.resolve("hadoop-hdfs-client-" + version + ".jar");
        List<URL> path = new ArrayList<>();
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(HADOOP, "*{" + version + ",-incubating}*.jar")) {
            for (Path one : jars) {
                path.add(one.toUri().toURL());
            }
        }
        WeaveReport report = new WeaveReport();
        FunctionList list = FunctionList.parse(new StringReader(everything(jar)), "all", true);
        report.expect(list);
        Weaver weaver = new Weaver(list, report, Collections.emptyList());
        try (Loader loader = new Loader(path.toArray(new URL[0]), weaver)) {
            int linked = 0;
            for (String name : weaver.classes()) {
                linked += link(loader, name) ? 1 : 0;
            }
            System.out.println(version + ": " + linked + " of " + weaver.classes().size() + " classes linked, "
                    + report.woven() + " functions");
            assertTrue(linked > weaver.classes().size() * 0.9, linked + " of " + weaver.classes().size());
        }
        List<Finding> bad = report.findings(Finding.Status.NOT_LOADED).stream()
                .filter(f -> f.status() == Finding.Status.FAILED).collect(Collectors.toList());
        assertEquals(List.of(), bad);
    }

    /** False when a class of another jar is missing; a VerifyError goes through. */
    private static boolean link(ClassLoader loader, String name) throws Exception {
        try {
            Class.forName(name, false, loader).getDeclaredMethods();
            return true;
        } catch (NoClassDefFoundError e) {
            return false;
        }
    }

    private static String everything(Path jar) throws IOException {
        StringBuilder list = new StringBuilder();
        try (JarFile file = new JarFile(jar.toFile())) {
            for (JarEntry entry : Collections.list(file.entries())) {
                boolean generated = entry.getName().contains("/proto/");
                if (entry.getName().endsWith(".class") && !entry.getName().contains("-info") && !generated) {
                    everything(ClassInfo.read(file.getInputStream(entry).readAllBytes()), list);
                }
            }
        }
        return list.toString();
    }

    private static void everything(ClassInfo info, StringBuilder list) {
        list.append('[').append(info.name.replace('/', '.')).append(" client]\n");
        Set<String> done = new HashSet<>();
        for (ClassInfo.Member method : info.methods) {
            boolean plain = !method.is(Opcodes.ACC_SYNTHETIC) && !method.is(Opcodes.ACC_ABSTRACT)
                    && !method.is(Opcodes.ACC_NATIVE) && !method.name.equals("<clinit>");
            Type[] types = Type.getArgumentTypes(method.descriptor);
            String signature = method.name + "(" + java.util.Arrays.stream(types).map(Type::getClassName)
                    .collect(Collectors.joining(",")) + ")";
            if (!plain || !done.add(signature)) {
                continue;
            }
            list.append(signature).append(' ').append("S#").append(done.size()).append(" root");
            String[] values = {"a=arg1", "b=arg2", "c=arg3.length", "d=this.toString()"};
            list.append(' ').append(String.join(" ", values));
            list.append(" e:=arg1.toString().length() f:=this f2:=arg4")
                    .append(method.descriptor.endsWith(")V") ? "" : " r:=return");
            list.append('\n');
        }
    }
}
