package io.plumbline.weave;

import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.report.Finding;
import io.plumbline.weave.report.WeaveReport;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.commons.ClassRemapper;
import net.bytebuddy.jar.asm.commons.SimpleRemapper;

/** Loads the classes of the tests again, woven, so that they talk to {@link RecordingHooks}. */
final class WovenClasses extends ClassLoader {
    private static final String HOOKS = "io/plumbline/trace/Hooks";

    final WeaveReport report = new WeaveReport();
    private final Map<String, byte[]> files = new HashMap<>();

    private WovenClasses() {
        super(WovenClasses.class.getClassLoader());
    }

    /** @param list of functions of nested classes of {@code host}; "$Host" in it stands for its name */
    static WovenClasses of(Class<?> host, String list) throws Exception {
        String text = list.replace("$Host", host.getName());
        WovenClasses loader = new WovenClasses();
        FunctionList functions = FunctionList.parse(new StringReader(text), "test.conf", true);
        loader.report.expect(functions);
        Weaver weaver = new Weaver(functions, loader.report, Collections.emptyList());
        ClassFiles others = ClassFiles.of(host.getClassLoader());
        for (Class<?> nested : host.getDeclaredClasses()) {
            loader.add(nested.getName(), file(nested.getName()), weaver, others);
        }
        return loader;
    }

    /** A class that no compiler here can make. */
    static WovenClasses of(String name, byte[] file, String list) throws Exception {
        WovenClasses loader = new WovenClasses();
        FunctionList functions = FunctionList.parse(new StringReader(list), "test.conf", true);
        loader.report.expect(functions);
        Weaver weaver = new Weaver(functions, loader.report, Collections.emptyList());
        loader.add(name, file, weaver, ClassFiles.of(WovenClasses.class.getClassLoader()));
        return loader;
    }

    private void add(String name, byte[] file, Weaver weaver, ClassFiles others) {
        byte[] woven = weaver.weave(name, file, others);
        files.put(name, toRecording(woven == null ? file : woven));
    }

    private static byte[] toRecording(byte[] file) {
        ClassWriter writer = new ClassWriter(0);
        String recording = RecordingHooks.class.getName().replace('.', '/');
        new ClassReader(file).accept(new ClassRemapper(writer, new SimpleRemapper(HOOKS, recording)), 0);
        return writer.toByteArray();
    }

    static byte[] file(String name) throws IOException {
        try (InputStream in = WovenClasses.class.getResourceAsStream('/' + name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        byte[] file = files.get(name);
        if (file == null) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known == null ? defineClass(name, file, 0, file.length) : known;
        }
    }

    /** What became of each line. */
    List<String> statuses() {
        return report.findings(Finding.Status.NO_CLASS).stream().map(f -> f.status.toString())
                .collect(Collectors.toList());
    }

    List<String> missing() {
        return report.findings(Finding.Status.NO_CLASS).stream().flatMap(f -> f.missing.stream())
                .collect(Collectors.toList());
    }
}
