package io.plumbline.trace;

import java.util.function.Function;

/**
 * The agent's configuration. Where a key is set decides, in this order: agent argument, environment
 * ({@code PLUMB_AGENT_SAMPLING} for {@code sampling}), the file ({@code conf} of the argument or
 * {@code PLUMB_AGENT_CONF}), Hadoop's configuration, the default. Woven jars have no agent argument: the rest applies.
 * One per process. Any thread.
 */
public final class Settings {
    private static final Settings CURRENT = new Settings();

    private Settings() {
    }

    public static Settings current() {
        return CURRENT;
    }

    /**
     * The argument of -javaagent: {@code key=value,key=value}; a piece without "=" belongs to the value before it, so
     * that {@code receivers=a:9410,b:9410} is one setting.
     *
     * @throws IllegalArgumentException naming the key, the value, and what is allowed or which key may be meant
     */
    public static void load(String agentArgument) {
        throw new UnsupportedOperationException();
    }

    /**
     * Hadoop's configuration became known: the layer below the file. Keys are asked for with the prefix first
     * ("fs.client.htrace."), then with "hadoop.htrace.". The first caller with a prefix wins for that prefix.
     */
    public void hadoop(String prefix, Function<String, String> get) {
        throw new UnsupportedOperationException();
    }

    /** The value in force; null when it is not set and has no default. */
    public String get(String key) {
        throw new UnsupportedOperationException();
    }

    /** Is a switch ("on", "off") on? */
    public boolean on(String key) {
        throw new UnsupportedOperationException();
    }
}
