package io.plumbline.load;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * What the kinds do. Each is a method of its own, so that the agent makes it the root of a trace (functions.conf). All
 * return the bytes that they read or wrote.
 */
final class Operations {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[BUFFER_BYTES]);
    private static final byte[] DATA = data();

    private Operations() {
    }

    /** Of no pattern, so that nothing on the way can make it smaller. */
    private static byte[] data() {
        byte[] data = new byte[BUFFER_BYTES];
        new java.util.Random(1).nextBytes(data);
        return data;
    }

    static long run(Operation operation, FileSystem fs) throws IOException {
        switch (operation.kind) {
            case READ:
                return read(operation, fs);
            case PREAD:
                return pread(operation, fs);
            case WRITE:
                return write(operation, fs);
            case APPEND:
                return append(operation, fs);
            case OPEN:
                return open(operation, fs);
            case STAT:
                return stat(operation, fs);
            case LIST:
                return list(operation, fs);
            case MKDIR:
                return mkdir(operation, fs);
            case RENAME:
                return rename(operation, fs);
            default:
                return delete(operation, fs);
        }
    }

    static long read(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        Operation.Target target = operation.target;
        byte[] buffer = BUFFER.get();
        try (FSDataInputStream in = fs.open(target.path)) {
            if (target.offset > 0) {
                in.seek(target.offset);
            }
            for (long left = target.length; left > 0;) {
                int n = in.read(buffer, 0, (int) Math.min(left, buffer.length));
                if (n < 0) {
                    throw new EOFException("the file ends " + left + " bytes too early: " + target.path);
                }
                left -= n;
            }
        }
        return target.length;
    }

    static long pread(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        Operation.Target target = operation.target;
        byte[] buffer = BUFFER.get();
        try (FSDataInputStream in = fs.open(target.path)) {
            for (long done = 0; done < target.length;) {
                int n = (int) Math.min(target.length - done, buffer.length);
                in.readFully(target.offset + done, buffer, 0, n);
                done += n;
            }
        }
        return target.length;
    }

    static long write(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        try (OutputStream out = fs.create(operation.target.path, true)) {
            fill(out, operation.target.length);
        }
        return operation.target.length;
    }

    static long append(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        try (OutputStream out = fs.append(operation.target.path)) {
            fill(out, operation.target.length);
        }
        return operation.target.length;
    }

    static void fill(OutputStream out, long bytes) throws IOException {
        for (long left = bytes; left > 0;) {
            int n = (int) Math.min(left, DATA.length);
            out.write(DATA, 0, n);
            left -= n;
        }
    }

    static long open(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        fs.open(operation.target.path).close();
        return 0;
    }

    static long stat(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        fs.getFileStatus(operation.target.path);
        return 0;
    }

    static long list(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        fs.listStatus(operation.target.path.getParent());
        return 0;
    }

    static long mkdir(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        return done(fs.mkdirs(operation.target.path), "mkdirs", operation.target.path);
    }

    static long rename(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        Path path = operation.target.path;
        return done(fs.rename(path, path.suffix(Folder.RENAMED)), "rename", path);
    }

    static long delete(Operation operation, FileSystem fs) throws IOException {
        operation.trace = Traces.current();
        return done(fs.delete(operation.target.path, false), "delete", operation.target.path);
    }

    private static long done(boolean done, String what, Path path) throws IOException {
        if (!done) {
            throw new IOException(what + " said no: " + path);
        }
        return 0;
    }
}
