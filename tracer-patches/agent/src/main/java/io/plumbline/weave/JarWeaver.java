package io.plumbline.weave;

import io.plumbline.weave.classes.Library;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Writes a jar again with woven classes. Order, names, times and compression of its entries stay; the manifest says
 * that it is woven; signatures, which would no longer be right, are left out. The same input gives the same output.
 */
final class JarWeaver {
    /** In a woven jar's manifest; the value is the agent's version. */
    static final Attributes.Name MARK = new Attributes.Name("Plumb-Woven");

    private final Weaver weaver;
    private final Library library;
    private final String version;

    JarWeaver(Weaver weaver, Library library, String version) {
        this.weaver = weaver;
        this.library = library;
        this.version = version;
    }

    /**
     * @param out written if there is something to weave in it
     * @return the number of classes woven; 0: nothing was written
     */
    int weave(Path jar, Path out) throws IOException {
        Map<String, byte[]> woven = wovenEntries(jar);
        if (!woven.isEmpty()) {
            try (ZipFile in = new ZipFile(jar.toFile()); OutputStream file = Files.newOutputStream(out);
                    ZipOutputStream zip = new ZipOutputStream(file)) {
                copy(in, zip, woven);
            }
        }
        return woven.size();
    }

    private Map<String, byte[]> wovenEntries(Path jar) throws IOException {
        Map<String, byte[]> woven = new LinkedHashMap<>();
        try (ZipFile in = new ZipFile(jar.toFile())) {
            for (Enumeration<? extends ZipEntry> entries = in.entries(); entries.hasMoreElements();) {
                String entry = entries.nextElement().getName();
                String className = Library.className(entry);
                if (className != null && weaver.classes().contains(className)) {
                    byte[] file = weaver.weave(className, library.read(jar, entry), library);
                    if (file != null) {
                        woven.put(entry, file);
                    }
                }
            }
        }
        return woven;
    }

    private void copy(ZipFile in, ZipOutputStream out, Map<String, byte[]> woven) throws IOException {
        out.setComment(in.getComment());
        if (in.getEntry(JarFile.MANIFEST_NAME) == null) {
            ZipEntry first = in.entries().nextElement();
            ZipEntry entry = new ZipEntry(JarFile.MANIFEST_NAME);
            entry.setTime(first.getTime());
            put(out, entry, manifest(new Manifest()));
        }
        for (Enumeration<? extends ZipEntry> entries = in.entries(); entries.hasMoreElements();) {
            ZipEntry entry = entries.nextElement();
            if (!isSignature(entry.getName())) {
                put(out, new ZipEntry(entry), content(in, entry, woven));
            }
        }
    }

    private byte[] content(ZipFile in, ZipEntry entry, Map<String, byte[]> woven) throws IOException {
        byte[] changed = woven.get(entry.getName());
        if (changed != null) {
            return changed;
        }
        try (InputStream data = in.getInputStream(entry)) {
            return entry.getName().equals(JarFile.MANIFEST_NAME) ? manifest(new Manifest(data)) : Library.readAll(data);
        }
    }

    private static void put(ZipOutputStream out, ZipEntry entry, byte[] data) throws IOException {
        if (entry.getMethod() == ZipEntry.STORED) {
            CRC32 crc = new CRC32();
            crc.update(data);
            entry.setCrc(crc.getValue());
            entry.setCompressedSize(data.length);
        } else {
            entry.setCompressedSize(-1); // not what another compressor made of it
        }
        entry.setSize(data.length);
        out.putNextEntry(entry);
        out.write(data);
        out.closeEntry();
    }

    private byte[] manifest(Manifest manifest) throws IOException {
        Attributes main = manifest.getMainAttributes();
        main.putIfAbsent(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.put(MARK, version);
        manifest.getEntries().values().forEach(attributes -> attributes.keySet().removeIf(
                name -> name.toString().toUpperCase(Locale.ROOT).contains("-DIGEST")));
        manifest.getEntries().values().removeIf(Attributes::isEmpty);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        manifest.write(out);
        return out.toByteArray();
    }

    static boolean isSignature(String entry) {
        return entry.toUpperCase(Locale.ROOT).matches("META-INF/(SIG-[^/]*|[^/]*\\.(SF|RSA|DSA|EC))");
    }

    /** Does its manifest say so? */
    static boolean isWoven(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile(), false)) {
            return file.getManifest() != null && file.getManifest().getMainAttributes().containsKey(MARK);
        }
    }
}
