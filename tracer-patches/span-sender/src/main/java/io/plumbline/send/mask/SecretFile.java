package io.plumbline.send.mask;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/** A file with a key, which nobody but its owner may read. */
final class SecretFile {
    /** A key has some dozens of bytes. */
    private static final long MAX_BYTES = 64 << 10;
    private static final Set<PosixFilePermission> OWNER = EnumSet.of(PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private SecretFile() {
    }

    /** @throws IllegalArgumentException saying what is wrong, and what to do */
    static byte[] read(String name) {
        Path path = new File(name).toPath();
        try {
            if (!OWNER.containsAll(Files.getPosixFilePermissions(path))) {
                throw new IllegalArgumentException(name + " can be read by others: chmod 600 " + name);
            }
            if (!Files.isRegularFile(path) || Files.size(path) > MAX_BYTES) {
                throw new IllegalArgumentException(name + " is no file with a key");
            }
            return Files.readAllBytes(path);
        } catch (IOException | UnsupportedOperationException e) {
            throw new IllegalArgumentException("cannot read " + name + ": " + e, e);
        }
    }
}
