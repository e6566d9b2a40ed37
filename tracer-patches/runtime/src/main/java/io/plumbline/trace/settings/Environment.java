package io.plumbline.trace.settings;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The variables {@code PLUMB_AGENT_*}. */
final class Environment {
    static final String PREFIX = "PLUMB_AGENT_";
    private static final String WHERE = "environment";

    private Environment() {
    }

    /**
     * Key to value. Variables that name no key are problems, not errors: the environment is also others'.
     *
     * @throws IllegalArgumentException for a value that its key does not take
     */
    static Map<String, String> parse(Map<String, String> environment, List<String> problems) {
        Map<String, Setting> known = new HashMap<>();
        for (Setting setting : SettingTable.all()) {
            known.put(setting.variable(), setting);
        }
        Map<String, String> values = new HashMap<>();
        for (Map.Entry<String, String> variable : new TreeMap<>(environment).entrySet()) {
            Setting setting = known.get(variable.getKey());
            String value = variable.getValue().trim();
            if (setting != null && !value.isEmpty()) {
                setting.check(variable.getKey(), value);
                values.put(setting.name, value);
            } else if (setting == null && variable.getKey().startsWith(PREFIX)) {
                problems.add(unknown(variable.getKey(), known));
            }
        }
        return values;
    }

    /** Is masking spoken of, or cannot that be told? Of an environment, or its file, that is wrong somewhere. */
    static boolean wantsMasking(Map<String, String> environment) {
        for (String variable : environment.keySet()) {
            if (variable.startsWith(PREFIX + "MASK_")) {
                return true;
            }
        }
        String conf = environment.getOrDefault(PREFIX + "CONF", "").trim();
        return !conf.isEmpty() && SettingText.mentions(conf, "mask.");
    }

    private static String unknown(String variable, Map<String, Setting> known) {
        String nearest = Nearest.of(variable.substring(PREFIX.length()), withoutPrefix(known));
        return WHERE + ": unknown variable " + variable + ": "
                + (nearest == null ? "--help-config lists all" : "did you mean " + PREFIX + nearest + "?");
    }

    private static List<String> withoutPrefix(Map<String, Setting> known) {
        List<String> names = new java.util.ArrayList<>();
        for (String variable : known.keySet()) {
            names.add(variable.substring(PREFIX.length()));
        }
        java.util.Collections.sort(names);
        return names;
    }
}
