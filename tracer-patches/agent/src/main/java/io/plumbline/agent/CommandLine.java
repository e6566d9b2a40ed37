package io.plumbline.agent;

import io.plumbline.weave.list.Hint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Options of one command: {@code --name value}, {@code --name=value}, and switches. */
final class CommandLine {
    private final Map<String, List<String>> values = new HashMap<>();
    private final Set<String> switches = new HashSet<>();

    /**
     * @param valued options with a value, "--in"
     * @param plain options without
     * @throws UsageException naming the option and the one that may be meant
     */
    static CommandLine parse(List<String> arguments, String[] valued, String[] plain) throws UsageException {
        CommandLine line = new CommandLine();
        List<String> known = new ArrayList<>(Arrays.asList(valued));
        known.addAll(Arrays.asList(plain));
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            int equals = argument.indexOf('=');
            String name = equals < 0 ? argument : argument.substring(0, equals);
            if (Arrays.asList(plain).contains(argument)) {
                line.switches.add(argument);
            } else if (Arrays.asList(valued).contains(name)) {
                if (equals < 0 && i + 1 == arguments.size()) {
                    throw new UsageException(name + " needs a value");
                }
                String value = equals < 0 ? arguments.get(++i) : argument.substring(equals + 1);
                line.values.computeIfAbsent(name, n -> new ArrayList<>()).add(value);
            } else {
                throw new UsageException("unknown option \"" + argument + "\"" + Hint.of(name, known));
            }
        }
        return line;
    }

    boolean has(String name) {
        return switches.contains(name);
    }

    /** Null when it is not there. @throws UsageException when it is there twice */
    String one(String name) throws UsageException {
        List<String> all = all(name);
        if (all.size() > 1) {
            throw new UsageException(name + " is there twice");
        }
        return all.isEmpty() ? null : all.get(0);
    }

    List<String> all(String name) {
        return values.getOrDefault(name, Collections.emptyList());
    }

    /** @throws UsageException when it is missing */
    String required(String name) throws UsageException {
        String value = one(name);
        if (value == null) {
            throw new UsageException(name + " is missing");
        }
        return value;
    }
}
