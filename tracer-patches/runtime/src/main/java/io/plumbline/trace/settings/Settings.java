package io.plumbline.trace.settings;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.mask.Mask;
import io.plumbline.trace.report.Trouble;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The agent's configuration. Where a key is set decides, in this order: agent argument, environment
 * ({@code PLUMB_AGENT_SAMPLING} for {@code sampling}), the file ({@code conf} of the argument or
 * {@code PLUMB_AGENT_CONF}), Hadoop's configuration, the default. Woven jars have no agent argument: the rest applies.
 * One per process. Any thread.
 */
public final class Settings {
    private static final Logger LOG = Logger.getLogger("io.plumbline.trace");
    private static volatile Settings current;

    /** Key to value, of argument, environment and file. */
    private final Map<String, String> own = new LinkedHashMap<>();
    /** Key to where it is set, for {@link #inForce}. */
    private final Map<String, String> origin = new LinkedHashMap<>();
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    /** By prefix, in the order in which they became known; replaced as a whole. */
    private volatile Map<String, HadoopSettings> hadoop = Collections.emptyMap();
    /** Hears which sampling Hadoop's configuration asks for. */
    private Consumer<String> sampling = policy -> {};

    private Settings() {
    }

    public static Settings current() {
        Settings settings = current;
        return settings == null ? loadWithoutAgent() : settings;
    }

    /** Woven jars: whoever comes first. A mistake costs the place it is in, and is logged. */
    private static synchronized Settings loadWithoutAgent() {
        if (current == null) {
            current = lenient(System.getenv());
            for (String problem : current.problems) {
                LOG.log(Level.WARNING, "{0}", problem);
            }
        }
        return current;
    }

    /**
     * The argument of -javaagent: {@code key=value,key=value}; a piece without "=" belongs to the value before it, so
     * that {@code receivers=a:9410,b:9410} is one setting. Once, before anything else asks for a setting.
     *
     * @throws IllegalArgumentException naming the key, the value, and what is allowed or which key may be meant
     */
    public static synchronized void load(String agentArgument) {
        current = strict(agentArgument, System.getenv());
    }

    /** @throws IllegalArgumentException as {@link #load} */
    public static Settings strict(String agentArgument, Map<String, String> environment) {
        Settings settings = new Settings();
        Map<String, String> argument = SettingText.argument(agentArgument);
        Map<String, String> variables = Environment.parse(environment, settings.problems);
        String conf = argument.containsKey("conf") ? argument.get("conf") : variables.get("conf");
        settings.add(argument, "agent argument");
        settings.add(variables, "environment");
        settings.add(conf == null ? Collections.<String, String>emptyMap() : SettingText.file(conf), conf);
        Mask.of(new SenderOptions(settings::get)); // checks what several keys say together
        return settings;
    }

    static Settings lenient(Map<String, String> environment) {
        try {
            return strict(null, environment);
        } catch (IllegalArgumentException e) {
            Settings settings = new Settings();
            boolean off = Environment.wantsMasking(environment);
            settings.problem(e.getMessage() + (off ? "; nothing is traced, since it might have to be masked"
                    : "; all settings but Hadoop's have their defaults"));
            if (off) {
                settings.own.put("enabled", "off");
            }
            return settings;
        }
    }

    private void add(Map<String, String> values, String where) {
        for (Map.Entry<String, String> entry : values.entrySet()) {
            if (own.putIfAbsent(entry.getKey(), entry.getValue()) == null) {
                origin.put(entry.getKey(), where);
            }
        }
    }

    private void problem(String text) {
        problems.add(text);
        Trouble.count(Trouble.Kind.SETTING, new IllegalArgumentException(text));
    }

    /**
     * Hadoop's configuration became known: the layer below the file. Keys are asked for with the prefix first
     * ("fs.client.htrace."), then with "hadoop.htrace.". The first caller with a prefix wins for that prefix; of
     * several prefixes, the one that came first and has the key. A value it has wrong is logged once and not used.
     */
    public void hadoop(String prefix, Function<String, String> get) {
        if (hadoop.containsKey(prefix)) {
            return;
        }
        try {
            // Not under the lock: this calls the application.
            keep(prefix, new HadoopSettings(prefix, get));
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
    }

    private void keep(String prefix, HadoopSettings said) {
        Consumer<String> listener;
        synchronized (this) {
            if (hadoop.containsKey(prefix)) {
                return;
            }
            Map<String, HadoopSettings> more = new LinkedHashMap<>(hadoop);
            more.put(prefix, said);
            try {
                new SenderOptions(key -> get(key, more));
            } catch (IllegalArgumentException e) {
                said.values.clear();
                said.problems.add("Hadoop's " + prefix + "plumb: " + e.getMessage() + "; none of these keys is used");
            }
            hadoop = Collections.unmodifiableMap(more);
            listener = sampling;
        }
        for (String problem : said.problems) {
            if (!problems.contains(problem)) {
                problem(problem);
                LOG.log(Level.WARNING, "{0}", problem);
            }
        }
        if (said.sampling != null) {
            listener.accept(said.sampling);
        }
    }

    /** The listener hears each policy that Hadoop's configuration asks for, what is known already first. */
    public void onHadoopSampling(Consumer<String> listener) {
        Map<String, HadoopSettings> known;
        synchronized (this) {
            sampling = listener;
            known = hadoop;
        }
        for (HadoopSettings said : known.values()) {
            if (said.sampling != null) {
                listener.accept(said.sampling);
            }
        }
    }

    /** The value in force; null when it is not set and has no default. */
    public String get(String key) {
        return get(key, hadoop);
    }

    private String get(String key, Map<String, HadoopSettings> below) {
        String value = own.get(key);
        for (HadoopSettings said : below.values()) {
            value = value == null ? said.values.get(key) : value;
        }
        Setting setting = SettingTable.find(key);
        return value != null || setting == null ? value : setting.otherwise;
    }

    /** Is a switch ("on", "off") on? */
    public boolean on(String key) {
        return "on".equals(get(key));
    }

    /** What argument, environment or file say; null when they do not. */
    public String own(String key) {
        return own.get(key);
    }

    /** What is not as it should be, but kept nothing from starting: for a person to read. */
    public List<String> problems() {
        synchronized (problems) {
            return new ArrayList<>(problems);
        }
    }

    /** Key to the value in force and, in brackets, where it is set. */
    public Map<String, String> inForce() {
        Map<String, String> values = new LinkedHashMap<>();
        for (Setting setting : SettingTable.all()) {
            String value = get(setting.name);
            if (value != null) {
                values.put(setting.name, value + " (" + origin(setting.name) + ")");
            }
        }
        return values;
    }

    private String origin(String key) {
        if (origin.containsKey(key)) {
            return origin.get(key);
        }
        for (Map.Entry<String, HadoopSettings> said : hadoop.entrySet()) {
            if (said.getValue().values.containsKey(key)) {
                return "Hadoop, " + said.getKey();
            }
        }
        return "default";
    }

    /** A configuration file with every key as a comment: what {@code --help-config} prints. */
    public static String help() {
        return SettingTable.help();
    }
}
