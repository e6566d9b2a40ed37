package io.plumbline.trace.sampling;

import io.plumbline.trace.Sampling;
import java.util.ArrayList;
import java.util.List;

/** A list of choices by function name, as {@link Sampling} describes it. Immutable. */
public final class Policy {
    public final String text;
    private final List<Rule> rules;

    private Policy(String text, List<Rule> rules) {
        this.text = text;
        this.rules = rules;
    }

    /** @throws IllegalArgumentException saying what cannot be read and what can */
    public static Policy parse(String text) {
        List<Rule> rules = new ArrayList<>();
        for (String entry : text.split(";")) {
            if (!entry.trim().isEmpty()) {
                if (!rules.isEmpty() && rules.get(rules.size() - 1).pattern.equals("*")) {
                    throw new IllegalArgumentException("'" + entry.trim()
                            + "' is never reached: the choice for all other functions comes last");
                }
                rules.add(rule(entry.trim()));
            }
        }
        if (rules.isEmpty()) {
            throw new IllegalArgumentException("the policy is empty: " + Choice.ALLOWED + " is needed");
        }
        return new Policy(text.trim(), rules);
    }

    private static Rule rule(String entry) {
        int equals = entry.lastIndexOf('=');
        String pattern = equals < 0 ? "*" : entry.substring(0, equals).trim();
        int star = pattern.indexOf('*');
        if (pattern.isEmpty() || star >= 0 && star < pattern.length() - 1) {
            throw new IllegalArgumentException(
                    "'" + entry + "': a function's name is needed before '=', with '*' only at its end");
        }
        return new Rule(pattern, Choice.parse(entry.substring(equals + 1).trim()));
    }

    /** The place of the rule for this function; -1 when none matches: never. */
    int ruleOf(String function) {
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).matches(function)) {
                return i;
            }
        }
        return -1;
    }

    int rules() {
        return rules.size();
    }

    Choice choice(int rule) {
        return rules.get(rule).choice;
    }

    /** Can no root be sampled? */
    boolean never() {
        for (Rule rule : rules) {
            if (!rule.choice.never()) {
                return false;
            }
        }
        return true;
    }

    private static final class Rule {
        final String pattern;
        final Choice choice;
        private final String beginning;

        Rule(String pattern, Choice choice) {
            this.pattern = pattern;
            this.choice = choice;
            beginning = pattern.endsWith("*") ? pattern.substring(0, pattern.length() - 1) : null;
        }

        boolean matches(String function) {
            return beginning == null ? pattern.equals(function) : function.startsWith(beginning);
        }
    }
}
