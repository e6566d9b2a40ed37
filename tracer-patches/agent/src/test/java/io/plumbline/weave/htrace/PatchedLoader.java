package io.plumbline.weave.htrace;

import io.plumbline.weave.Patch;
import io.plumbline.weave.WeaveException;
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
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.pool.TypePool;

/** All classes anew, a given HTrace among them, and that patched: a JVM of its own, as far as statics go. */
final class PatchedLoader extends URLClassLoader {
    private final ClassFileLocator files;
    private final boolean patched;

    private PatchedLoader(URL[] urls, boolean patched) {
        super(urls, ClassLoader.getPlatformClassLoader());
        this.patched = patched;
        files = ClassFileLocator.ForClassLoader.of(new URLClassLoader(urls, ClassLoader.getPlatformClassLoader()));
    }

    /** The jars of HTrace that are tried. */
    static List<Path> htraces() throws IOException {
        try (Stream<Path> jars = Files.list(Paths.get(System.getProperty("plumb.htrace.folder")))) {
            return jars.sorted().collect(Collectors.toList());
        }
    }

    static PatchedLoader with(Path htrace, boolean patched) throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        urls.add(htrace.toUri().toURL());
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!entry.contains("htrace-core4")) {
                urls.add(Paths.get(entry).toUri().toURL());
            }
        }
        return new PatchedLoader(urls.toArray(new URL[0]), patched);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        for (Patch patch : HTracePatches.ALL) {
            if (patched && patch.classes().contains(name)) {
                byte[] bytes = patch(patch, name);
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
        return super.findClass(name);
    }

    private byte[] patch(Patch patch, String name) throws ClassNotFoundException {
        TypeDescription type = TypePool.Default.of(files).describe(name).resolve();
        DynamicType.Builder<?> builder = new ByteBuddy().with(TypeValidation.DISABLED).redefine(type, files);
        try (DynamicType.Unloaded<?> made = patch.change(builder, type).make()) {
            return made.getBytes();
        } catch (WeaveException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** Of a class as it is found. */
    byte[] bytes(String name) throws IOException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }
}
