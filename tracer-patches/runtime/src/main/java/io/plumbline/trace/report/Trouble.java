package io.plumbline.trace.report;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What went wrong inside tracing and was kept from the application. Shown in JMX and by --report. Any thread. */
public final class Trouble {
    /** Where. */
    public enum Kind {
        /** A recorded value could not be read. */
        VALUE,
        /** Anything within an engine. */
        ENGINE,
        /** A scope of ours and one of Hadoop's did not end in the order in which they began. Both have ended well. */
        SCOPE,
        /** A span receiver in Hadoop's tracer threw. */
        RECEIVER,
        /** A class could not be woven. */
        WEAVE,
        /** A setting could not be applied at run time. */
        SETTING
    }

    private static final Logger LOG = Logger.getLogger("io.plumbline.trace");
    /** An engine that fails so often is switched off: its exceptions cost the application time. */
    public static final int MOST_OF_ENGINE = 1000;
    private static final AtomicInteger OF_ENGINE = new AtomicInteger();
    private static final AtomicLongArray COUNTS = new AtomicLongArray(Kind.values().length);
    private static final AtomicReference<String> LAST = new AtomicReference<>("");
    private static volatile Runnable switchOff = () -> {};

    private Trouble() {
    }

    /** Never throws, whatever the cause is and however little memory or stack there is. */
    public static void count(Kind kind, Throwable cause) {
        try {
            COUNTS.incrementAndGet(kind.ordinal());
            LAST.set(kind + ": " + cause);
            // A stack or a memory that ends is the application's doing, and no sign that it goes on so.
            if (kind == Kind.ENGINE && !(cause instanceof VirtualMachineError)
                    && OF_ENGINE.incrementAndGet() % MOST_OF_ENGINE == 0) {
                switchOff.run();
                LOG.log(Level.WARNING, "tracing has failed {0} times and is switched off in this process: {1}",
                        new Object[] {OF_ENGINE, LAST});
            }
        } catch (Throwable e) {
            // counted at least, if that much could be done
        }
    }

    /** What is done about an engine that keeps failing. */
    public static void onFailingEngine(Runnable action) {
        switchOff = action;
    }

    public static long count(Kind kind) {
        return COUNTS.get(kind.ordinal());
    }

    /** Of the last one; empty when there was none. */
    public static String last() {
        return LAST.get();
    }
}
