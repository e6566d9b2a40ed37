package io.plumbline.trace.own;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** How long the calling thread was ready to run, since it began, while no processor was free: Linux counts it. */
final class RunDelay {
    static final long UNKNOWN = -1;
    /** On a processor, waiting for one (both ns), and turns on one. */
    static final File FILE = new File("/proc/thread-self/schedstat");
    private static volatile boolean missing;

    private RunDelay() {
    }

    /** In nanoseconds, or UNKNOWN: not Linux, or a kernel that does not count. */
    static long nanos() {
        if (missing) {
            return UNKNOWN;
        }
        byte[] text = new byte[80];
        try (InputStream file = new FileInputStream(FILE)) {
            return parse(text, file.read(text));
        } catch (SecurityException e) {
            missing = true;
            return UNKNOWN;
        } catch (IOException | RuntimeException e) {
            missing = !FILE.exists(); // else there are too many files open, for one
            return UNKNOWN;
        }
    }

    /** The second number of the first bytes, unless the kernel has counted no turn: it does not count. */
    static long parse(byte[] text, int length) {
        String[] numbers = new String(text, 0, Math.max(0, length), StandardCharsets.US_ASCII).trim().split(" ");
        return numbers.length == 3 && Long.parseLong(numbers[2]) > 0 ? Long.parseLong(numbers[1]) : UNKNOWN;
    }
}
