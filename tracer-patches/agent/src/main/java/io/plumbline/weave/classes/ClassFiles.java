package io.plumbline.weave.classes;

import java.io.IOException;
import java.io.InputStream;

/** Finds class files of one class path, without loading a class. */
public interface ClassFiles {
    /**
     * @param className with dots, as {@code org.apache.hadoop.hdfs.DFSClient$1}
     * @return null when there is no such class
     */
    byte[] find(String className) throws IOException;

    /** The same. @throws WeaveException when there is no such class */
    default byte[] need(String className) throws WeaveException {
        try {
            byte[] file = find(className);
            if (file == null) {
                throw new WeaveException("there is no class " + className);
            }
            return file;
        } catch (IOException e) {
            throw new WeaveException("class " + className + " cannot be read: " + e, e);
        }
    }

    /** Those that the loader finds; null stands for the JVM's own. Any thread, if the loader is for any. */
    static ClassFiles of(ClassLoader loader) {
        return new OfLoader(loader);
    }

    /** Not a lambda: this is made before main, where the first one costs more than all the rest. */
    final class OfLoader implements ClassFiles {
        private final ClassLoader loader;

        private OfLoader(ClassLoader loader) {
            this.loader = loader;
        }

        @Override
        public byte[] find(String className) throws IOException {
            String name = className.replace('.', '/') + ".class";
            // The JVM's own are found without the detour of URLs this way, where they are not in a module of their own.
            InputStream own = className.startsWith("java.") ? Object.class.getResourceAsStream('/' + name) : null;
            try (InputStream in = own != null ? own : other(name)) {
                return in == null ? null : Library.readAll(in);
            }
        }

        private InputStream other(String name) {
            return loader == null ? ClassLoader.getSystemResourceAsStream(name) : loader.getResourceAsStream(name);
        }
    }
}
