package io.plumbline.weave.hadoop;

import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The real classes of a Hadoop without HTrace, with our patches in them. */
final class ModernHadoop extends URLClassLoader {
    static final List<Patch> PATCHES =
            List.of(new TracingClasses(), new TraceInfoMessages(), new PropagationSwitch(), new Packets());
    private static final Path FOLDER = Path.of(System.getProperty("plumb.modern.folder"));

    final ClassFiles files = ClassFiles.of(this);
    /** The patched classes that were defined. */
    final List<String> patched = new ArrayList<>();

    ModernHadoop(String version) throws IOException {
        this(jars(version));
    }

    private ModernHadoop(List<Path> jars) throws IOException {
        super(urls(jars), ModernHadoop.class.getClassLoader());
    }

    private static List<Path> jars(String version) throws IOException {
        List<Path> all = new ArrayList<>();
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(FOLDER.resolve(version), "*.jar")) {
            jars.forEach(all::add);
        }
        return all;
    }

    private static URL[] urls(List<Path> jars) throws MalformedURLException {
        URL[] urls = new URL[jars.size()];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = jars.get(i).toUri().toURL();
        }
        return urls;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        for (Patch patch : PATCHES) {
            if (patch.classes().contains(name)) {
                return define(name, patch);
            }
        }
        return super.findClass(name);
    }

    private Class<?> define(String name, Patch patch) throws ClassNotFoundException {
        try {
            byte[] file = patched(name, patch);
            patched.add(name);
            return defineClass(name, file, 0, file.length);
        } catch (IOException | WeaveException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] patched(String name, Patch patch) throws IOException, WeaveException {
        return patch.change(name, files.find(name), files);
    }

    /** Calls a static method, or one of {@code target}; by name and number of arguments. */
    Object call(Object target, String className, String method, Object... arguments) throws Exception {
        Class<?> type = target == null ? loadClass(className) : target.getClass();
        for (java.lang.reflect.Method candidate : type.getMethods()) {
            if (candidate.getName().equals(method) && fits(candidate, arguments)) {
                candidate.setAccessible(true);
                return candidate.invoke(target, arguments);
            }
        }
        throw new NoSuchMethodException(type + "." + method);
    }

    Object on(Object target, String method, Object... arguments) throws Exception {
        return call(target, null, method, arguments);
    }

    private static boolean fits(java.lang.reflect.Method candidate, Object[] arguments) {
        Class<?>[] types = candidate.getParameterTypes();
        if (types.length != arguments.length || candidate.isBridge()) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            boolean fits = arguments[i] == null ? !types[i].isPrimitive() : types[i].isInstance(arguments[i])
                    || types[i] == long.class && arguments[i] instanceof Long
                    || types[i] == int.class && arguments[i] instanceof Integer
                    || types[i] == boolean.class && arguments[i] instanceof Boolean;
            if (!fits) {
                return false;
            }
        }
        return true;
    }
}
