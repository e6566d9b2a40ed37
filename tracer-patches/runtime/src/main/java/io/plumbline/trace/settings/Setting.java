package io.plumbline.trace.settings;

import java.util.function.Function;

/**
 * One key of {@link SettingTable}: what it takes, what it means, and which key of Hadoop's stands in for it. Immutable.
 */
public final class Setting {
    final String name;
    /** Null: none. */
    public final String otherwise;
    /** What follows Hadoop's prefix, as in "plumb.queue.spans"; null when Hadoop's configuration has no say. */
    final String hadoopKey;
    final String takes;
    final String help;
    /** What is wrong with a value, null for nothing. */
    private final Function<String, String> check;

    private Setting(String name, String otherwise, String hadoopKey, String takes, String help,
            Function<String, String> check) {
        this.name = name;
        this.otherwise = otherwise;
        this.hadoopKey = hadoopKey;
        this.takes = takes;
        this.help = help;
        this.check = check;
    }

    static Setting text(String name, String otherwise, String takes, String help) {
        return new Setting(name, otherwise, null, takes, help, value -> null);
    }

    static Setting number(String name, long otherwise, long least, long greatest, String help) {
        String takes = "a whole number from " + least + " to " + greatest;
        return new Setting(name, Long.toString(otherwise), null, takes, help,
                value -> isNumber(value, least, greatest) ? null : takes + " is needed");
    }

    static Setting choice(String name, String otherwise, String first, String second, String help) {
        String takes = first + " or " + second;
        return new Setting(name, otherwise, null, takes, help,
                value -> value.equals(first) || value.equals(second) ? null : takes + " is needed");
    }

    static Setting onOff(String name, String otherwise, String help) {
        return choice(name, otherwise, "on", "off", help);
    }

    /** @param parse throws IllegalArgumentException saying what is wrong */
    Setting checked(Function<String, ?> parse) {
        return new Setting(name, otherwise, hadoopKey, takes, help, value -> {
            try {
                parse.apply(value);
                return null;
            } catch (IllegalArgumentException e) {
                return e.getMessage();
            }
        });
    }

    Setting hadoop(String key) {
        return new Setting(name, otherwise, key, takes, help, check);
    }

    /** @throws IllegalArgumentException naming the place, the key, the value, and what is allowed */
    void check(String where, String value) {
        String wrong = check.apply(value);
        if (wrong != null) {
            throw new IllegalArgumentException(where + ": " + name + " = '" + value + "': " + wrong);
        }
    }

    /** The variable that sets it. */
    String variable() {
        return Environment.PREFIX + name.toUpperCase(java.util.Locale.ROOT).replace('.', '_');
    }

    private static boolean isNumber(String value, long least, long greatest) {
        try {
            long number = Long.parseLong(value);
            return number >= least && number <= greatest;
        } catch (NumberFormatException e) {
            return false;
        }
    }
}
