package io.plumbline.weave.classes;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The jars of a folder and its subfolders, or single ones: where classes are looked for. One thread. */
public final class Library implements ClassFiles, Closeable {
    private static final String CLASS = ".class";
    private static final int BUFFER_BYTES = 8192;

    private final Map<Path, ZipFile> jars = new HashMap<>();
    private final List<Path> order = new ArrayList<>();
    /** Class name with dots to the jars that have it, in order. */
    private final Map<String, List<Path>> classes = new HashMap<>();

    /** @throws IOException naming what is not there or is no jar */
    public static Library open(List<Path> roots) throws IOException {
        Library library = new Library();
        try {
            for (Path root : roots) {
                library.add(root);
            }
            return library;
        } catch (IOException | RuntimeException e) {
            library.close();
            throw e;
        }
    }

    private void add(Path root) throws IOException {
        if (Files.isRegularFile(root)) {
            addJar(root);
            return;
        }
        if (!Files.isDirectory(root)) {
            throw new IOException(root + " is neither a folder nor a jar");
        }
        try (Stream<Path> files = Files.find(root, Integer.MAX_VALUE, (path, attributes) -> attributes.isRegularFile()
                && path.toString().endsWith(".jar"), FileVisitOption.FOLLOW_LINKS)) {
            for (Path jar : files.sorted().collect(Collectors.toList())) {
                addJar(jar);
            }
        }
    }

    private void addJar(Path jar) throws IOException {
        ZipFile zip;
        try {
            zip = new ZipFile(jar.toFile());
        } catch (IOException e) {
            throw new IOException(jar + " is not a jar: " + e.getMessage(), e);
        }
        jars.put(jar, zip);
        order.add(jar);
        for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements();) {
            String name = className(entries.nextElement().getName());
            if (name != null) {
                classes.computeIfAbsent(name, n -> new ArrayList<>()).add(jar);
            }
        }
    }

    /**
     * With dots; null when the entry is no class. Of a multi-release jar, those for later Javas are such classes too.
     */
    public static String className(String entry) {
        if (!entry.endsWith(CLASS)) {
            return null;
        }
        String plain =
                entry.startsWith("META-INF/versions/") ? entry.replaceFirst("META-INF/versions/\\d+/", "") : entry;
        return plain.startsWith("META-INF/") ? null
                : plain.substring(0, plain.length() - CLASS.length()).replace('/', '.');
    }

    /** In the order in which they were found. */
    public List<Path> jars() {
        return order;
    }

    /** The jars that have the class. */
    public List<Path> jarsOf(String className) {
        return classes.getOrDefault(className, new ArrayList<>());
    }

    public byte[] read(Path jar, String entry) throws IOException {
        ZipFile zip = jars.get(jar);
        try (InputStream in = zip.getInputStream(zip.getEntry(entry))) {
            return readAll(in);
        }
    }

    public static byte[] readAll(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            out.write(buffer, 0, n);
        }
        return out.toByteArray();
    }

    /** Then in the JDK that runs this. */
    @Override
    public byte[] find(String name) throws IOException {
        String entry = name.replace('.', '/') + CLASS;
        for (Path jar : jarsOf(name)) {
            if (jars.get(jar).getEntry(entry) != null) {
                return read(jar, entry);
            }
        }
        try (InputStream in = ClassLoader.getSystemResourceAsStream(entry)) {
            return in == null ? null : readAll(in);
        }
    }

    @Override
    public void close() throws IOException {
        for (ZipFile zip : jars.values()) {
            zip.close();
        }
    }
}
