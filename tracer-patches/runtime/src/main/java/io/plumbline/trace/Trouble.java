package io.plumbline.trace;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;

/** What went wrong inside tracing and was kept from the application. Shown in JMX and by --report. Any thread. */
public final class Trouble {
    /** Where. */
    public enum Kind {
        /** A recorded value could not be read. */
        VALUE,
        /** Anything within an engine. */
        ENGINE,
        /** A class could not be woven. */
        WEAVE,
        /** A setting could not be applied at run time. */
        SETTING
    }

    private static final AtomicLongArray COUNTS = new AtomicLongArray(Kind.values().length);
    private static final AtomicReference<String> LAST = new AtomicReference<>("");

    private Trouble() {
    }

    /** Never throws, whatever the cause is and however little memory or stack there is. */
    public static void count(Kind kind, Throwable cause) {
        try {
            COUNTS.incrementAndGet(kind.ordinal());
            LAST.set(kind + ": " + cause);
        } catch (Throwable e) {
            // counted at least, if that much could be done
        }
    }

    public static long count(Kind kind) {
        return COUNTS.get(kind.ordinal());
    }

    /** Of the last one; empty when there was none. */
    public static String last() {
        return LAST.get();
    }
}
