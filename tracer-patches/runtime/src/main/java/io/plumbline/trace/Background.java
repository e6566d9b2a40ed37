package io.plumbline.trace;

import io.plumbline.trace.settings.Settings;

/** Is work traced that no user asked for? Asked once: the setting does not change while a process runs. */
public final class Background {
    private static final boolean ON = Settings.current().on("background");

    private Background() {
    }

    public static boolean on() {
        return ON;
    }
}
