package io.plumbline.trace.settings;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The agent's argument and its file, as text. What cannot be read is an IllegalArgumentException that says where. */
final class SettingText {
    private static final String ARGUMENT = "agent argument";

    private SettingText() {
    }

    /** {@code key=value,key=value}; a piece without "=" belongs to the value before it. */
    static Map<String, String> argument(String argument) {
        Map<String, String> values = new HashMap<>();
        String key = null;
        for (String piece : argument == null || argument.trim().isEmpty() ? new String[0] : argument.split(",")) {
            int equals = piece.indexOf('=');
            if (equals >= 0) {
                key = SettingTable.get(ARGUMENT, piece.substring(0, equals).trim()).name;
                put(values, ARGUMENT, key, piece.substring(equals + 1).trim());
            } else if (key != null) {
                values.put(key, values.get(key) + "," + piece.trim());
            } else {
                throw new IllegalArgumentException(
                        ARGUMENT + ": '" + piece + "': key=value,key=value is needed; --help-config lists all keys");
            }
        }
        check(ARGUMENT, values);
        return values;
    }

    /** Lines of {@code key = value}, with # comments and empty lines. */
    static Map<String, String> file(String name) {
        Map<String, String> values = new HashMap<>();
        // No channel beneath: an interrupted thread may be the first to need a setting.
        try (BufferedReader in = new BufferedReader(
                new InputStreamReader(new FileInputStream(new File(name)), StandardCharsets.UTF_8))) {
            int number = 0;
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                line(values, name + ":" + ++number, line.trim());
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot read " + name + ": " + e.getMessage(), e);
        }
        return values;
    }

    /** Does a line that is no comment begin so? TRUE also when the file cannot be read. */
    static boolean mentions(String name, String begin) {
        try (BufferedReader in = new BufferedReader(
                new InputStreamReader(new FileInputStream(new File(name)), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.trim().startsWith(begin)) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    private static void line(Map<String, String> values, String where, String line) {
        if (line.isEmpty() || line.startsWith("#")) {
            return;
        }
        int equals = line.indexOf('=');
        if (equals <= 0) {
            throw new IllegalArgumentException(where + ": '" + line + "': key = value is needed");
        }
        Setting setting = SettingTable.get(where, line.substring(0, equals).trim());
        String value = line.substring(equals + 1).trim();
        if (setting.name.equals("conf")) {
            throw new IllegalArgumentException(where + ": a file cannot name another one");
        }
        put(values, where, setting.name, value);
        setting.check(where, value);
    }

    private static void put(Map<String, String> values, String where, String key, String value) {
        if (value.isEmpty()) {
            throw new IllegalArgumentException(where + ": " + key + " has no value");
        }
        if (values.put(key, value) != null) {
            throw new IllegalArgumentException(where + ": " + key + " is set twice");
        }
    }

    private static void check(String where, Map<String, String> values) {
        for (Map.Entry<String, String> entry : values.entrySet()) {
            SettingTable.get(where, entry.getKey()).check(where, entry.getValue());
        }
    }
}
