package io.plumbline.trace.settings;

import io.plumbline.trace.sampling.Choice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What Hadoop's configuration says under one prefix. A value it has wrong is a problem, and as if it were not there.
 */
final class HadoopSettings {
    private static final String FALLBACK = "hadoop.htrace.";
    private static final String SAMPLERS_PACKAGE = "org.apache.htrace.core.";

    /** It would come too late: spans may have left by then. */
    private static final String MASK_RULES = "plumb.mask.rules";

    final Map<String, String> values = new HashMap<>();
    final List<String> problems = new ArrayList<>();
    /** A policy; null when no sampler is named. */
    final String sampling;
    private final String prefix;
    private final Function<String, String> get;

    HadoopSettings(String prefix, Function<String, String> get) {
        this.prefix = prefix;
        this.get = get;
        for (Setting setting : SettingTable.all()) {
            String value = setting.hadoopKey == null ? null : text(setting.hadoopKey);
            if (value != null) {
                take(setting, value);
            }
        }
        if (text(MASK_RULES) != null) {
            problems.add(where(MASK_RULES) + ": the agent takes mask.rules from its own settings alone; not used");
        }
        sampling = sampling();
    }

    private void take(Setting setting, String value) {
        try {
            setting.check(where(setting.hadoopKey), value);
            values.put(setting.name, value);
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage() + "; not used");
        }
    }

    /** Null when neither prefix has it. */
    private String text(String key) {
        String value = get.apply(prefix + key);
        if (value == null || value.trim().isEmpty()) {
            value = prefix.equals(FALLBACK) ? null : get.apply(FALLBACK + key);
        }
        return value == null || value.trim().isEmpty() ? null : value.trim();
    }

    private String where(String key) {
        return "Hadoop's " + (get.apply(prefix + key) == null ? FALLBACK : prefix) + key;
    }

    /** HTrace samples when one of its samplers wants to. */
    private String sampling() {
        String classes = text("sampler.classes");
        if (classes == null) {
            return null;
        }
        double share = 0;
        String policy = "never";
        for (String name : classes.split(";")) {
            if (!name.trim().isEmpty()) {
                String choice = choice(name.trim());
                double own = share(choice);
                policy = share == 0 ? choice : own == 0 ? policy : Double.toString(share + (1 - share) * own);
                share += (1 - share) * own;
            }
        }
        return share >= 1 ? "always" : policy;
    }

    private String choice(String className) {
        String name =
                className.startsWith(SAMPLERS_PACKAGE) ? className.substring(SAMPLERS_PACKAGE.length()) : className;
        switch (name) {
            case "AlwaysSampler":
                return "always";
            case "NeverSampler":
                return "never";
            case "ProbabilitySampler":
                return checked("sampler.fraction", "");
            case "CountSampler":
                return checked("sampler.frequency", "every ");
            default:
                problems.add(where("sampler.classes") + ": no sampler '" + className
                        + "' is known (AlwaysSampler, NeverSampler, ProbabilitySampler, CountSampler); not used");
                return "never";
        }
    }

    private String checked(String key, String before) {
        String value = text(key);
        try {
            if (value == null) {
                throw new IllegalArgumentException("is needed by the sampler");
            }
            if (before.isEmpty()) {
                return Choice.fraction(value).text;
            }
            return Choice.parse(before + value).text;
        } catch (IllegalArgumentException e) {
            problems.add(where(key) + (value == null ? " " : ": ") + e.getMessage() + "; nothing is sampled");
            return "never";
        }
    }

    private static double share(String choice) {
        return choice.equals("always") ? 1 : choice.equals("never") ? 0
                : choice.startsWith("every ") ? 1.0 / Long.parseLong(choice.substring("every ".length()))
                        : Double.parseDouble(choice);
    }
}
