package io.plumbline.trace.settings;

import io.plumbline.trace.report.Trouble;

/**
 * Is anything traced at all? Looked at wherever woven code or Hadoop's tracing classes would begin something. Any
 * thread.
 */
public final class Switch {
    private static volatile boolean on = configured();

    static {
        Trouble.onFailingEngine(() -> set(false));
    }

    private Switch() {
    }

    private static boolean configured() {
        try {
            return Settings.current().on("enabled");
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
            return false;
        }
    }

    /** A volatile read. FALSE: begin nothing, neither roots nor below what others began; what is open may end. */
    public static boolean on() {
        return on;
    }

    public static void set(boolean wanted) {
        on = wanted;
    }
}
