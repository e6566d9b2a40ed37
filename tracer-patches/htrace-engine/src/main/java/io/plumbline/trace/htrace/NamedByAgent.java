package io.plumbline.trace.htrace;

import io.plumbline.trace.settings.Settings;
import org.apache.htrace.core.HTraceConfiguration;

/** Hadoop's configuration, but for the tracer id where the agent's own configuration names one. */
final class NamedByAgent extends HTraceConfiguration {
    private static final String KEY = "tracer.id";

    private final HTraceConfiguration given;
    private final String tracerId;

    private NamedByAgent(HTraceConfiguration given, String tracerId) {
        this.given = given;
        this.tracerId = tracerId;
    }

    static HTraceConfiguration wrap(HTraceConfiguration given) {
        String tracerId = Settings.current().own(KEY);
        return tracerId == null ? given : new NamedByAgent(given, tracerId);
    }

    @Override
    public String get(String key) {
        return KEY.equals(key) ? tracerId : given.get(key);
    }

    @Override
    public String get(String key, String otherwise) {
        return KEY.equals(key) ? tracerId : given.get(key, otherwise);
    }
}
