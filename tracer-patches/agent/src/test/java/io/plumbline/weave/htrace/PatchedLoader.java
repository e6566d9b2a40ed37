package io.plumbline.weave.htrace;

import io.plumbline.weave.Weaver;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.list.ListException;
import io.plumbline.weave.report.WeaveReport;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All classes anew, a given HTrace among them, and that patched: a JVM of its own, as far as statics go. */
final class PatchedLoader extends URLClassLoader {
    private static final Weaver WEAVER = weaver();

    private PatchedLoader(URL[] urls) {
        super(urls, ClassLoader.getPlatformClassLoader());
    }

    private static Weaver weaver() {
        try {
            return new Weaver(FunctionList.load(null), WeaveReport.process());
        } catch (ListException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The jars of HTrace that are tried. */
    static List<Path> htraces() throws IOException {
        try (Stream<Path> jars = Files.list(Paths.get(System.getProperty("plumb.htrace.folder")))) {
            return jars.sorted().collect(Collectors.toList());
        }
    }

    static PatchedLoader with(Path htrace) throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        urls.add(htrace.toUri().toURL());
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!entry.contains("htrace-core4")) {
                urls.add(Paths.get(entry).toUri().toURL());
            }
        }
        return new PatchedLoader(urls.toArray(new URL[0]));
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] woven = WEAVER.classes().contains(name) ? woven(name) : null;
        return woven == null ? super.findClass(name) : defineClass(name, woven, 0, woven.length);
    }

    private byte[] woven(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            return WEAVER.weave(name, in.readAllBytes(), ClassFiles.of(this));
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
