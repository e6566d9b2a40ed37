package io.plumbline.trace.htrace;

import io.plumbline.trace.settings.Settings;
import io.plumbline.trace.settings.TracerIdFormat;
import org.apache.htrace.core.HTraceConfiguration;

/**
 * Hadoop's configuration, but for the tracer id: where the agent's own configuration names one, that; where Hadoop's
 * does not either, the agent's default, for HTrace's would be an address.
 */
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
        if (tracerId == null) {
            tracerId = given.get(KEY, TracerIdFormat.USUAL);
        }
        return new NamedByAgent(given, TracerIdFormat.forHTrace(tracerId));
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
