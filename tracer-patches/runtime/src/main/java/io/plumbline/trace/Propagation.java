package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;

/** Do requests to other processes carry the trace? What woven messages ask. */
public final class Propagation {
    private static final boolean ON = configured();

    private Propagation() {
    }

    private static boolean configured() {
        try {
            return Settings.current().on("propagation");
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
            return true;
        }
    }

    /** Never throws. */
    public static boolean on() {
        return ON;
    }
}
