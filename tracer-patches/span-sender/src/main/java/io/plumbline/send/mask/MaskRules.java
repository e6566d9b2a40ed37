package io.plumbline.send.mask;

import java.util.ArrayList;
import java.util.List;

/**
 * What is masked, and how: the rules of plumbd's {@code mask.rules}, in the same form, as common/model/mask.h has it.
 * Rules about records of Spark are read, and concern plumbd alone. Immutable.
 */
final class MaskRules {
    static final int COMPONENTS_MAX = 64;
    private static final String HELP =
            "': write path, annotation:KEY, note, name:NAME or record:FIELD, then = and hash, "
                    + "drop (not of path), or keep N (not of a name; N is " + COMPONENTS_MAX
                    + " at most), with ; between";

    enum About {
        PATH(""), NOTE(""), ANNOTATION("annotation:"), NAME("name:"), RECORD("record:");

        final String prefix;

        About(String prefix) {
            this.prefix = prefix;
        }
    }

    enum How {
        KEEP, HASH, DROP
    }

    /** One rule. */
    static final class Rule {
        final About about;
        final How how;
        /** Components of a path that stay. */
        final int keep;
        /** Of names and keys; null: all. */
        private final String pattern;

        private Rule(About about, String pattern, How how, int keep) {
            this.about = about;
            this.pattern = pattern;
            this.how = how;
            this.keep = keep;
        }
    }

    /** The first about paths; null: none. */
    final Rule path;
    private final List<Rule> rules = new ArrayList<>();

    /** @throws IllegalArgumentException saying which rule is wrong */
    MaskRules(String text) {
        Rule first = null;
        for (String part : text.split(";")) {
            if (!part.trim().isEmpty()) {
                Rule rule = parse(part.trim());
                rules.add(rule);
                first = first == null && rule.about == About.PATH ? rule : first;
            }
        }
        path = first;
    }

    /** Null: none. */
    Rule find(About about, String name) {
        for (Rule rule : rules) {
            if (rule.about == about && (rule.pattern == null || Glob.matches(rule.pattern, name))) {
                return rule;
            }
        }
        return null;
    }

    /** The '=' is the last one: names may have some. */
    private static Rule parse(String text) {
        int equals = text.lastIndexOf('=');
        String what = equals < 0 ? "" : text.substring(0, equals).trim();
        String how = equals < 0 ? "" : text.substring(equals + 1).trim();
        About about = about(what);
        String pattern = about == null || about.prefix.isEmpty() ? null : what.substring(about.prefix.length());
        boolean good = about != null && (pattern == null || !pattern.isEmpty());
        if (good && how.equals("hash")) {
            return new Rule(about, pattern, How.HASH, 0);
        }
        if (good && how.equals("drop") && about != About.PATH) {
            return new Rule(about, pattern, How.DROP, 0);
        }
        int keep = good && about != About.NAME ? keep(how) : -1;
        if (keep < 0) {
            throw new IllegalArgumentException("'" + text + HELP);
        }
        return new Rule(about, pattern, How.KEEP, keep);
    }

    /** Null: none. */
    private static About about(String what) {
        for (About about : About.values()) {
            boolean whole = about.prefix.isEmpty() && what.equals(about == About.PATH ? "path" : "note");
            if (whole || !about.prefix.isEmpty() && what.startsWith(about.prefix)) {
                return about;
            }
        }
        return null;
    }

    /** -1: that is none. */
    private static int keep(String how) {
        String digits = how.startsWith("keep ") ? how.substring("keep ".length()) : "";
        if (digits.isEmpty() || digits.length() > 3) {
            return -1;
        }
        int number = 0;
        for (int i = 0; i < digits.length(); i++) {
            char c = digits.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            number = 10 * number + c - '0';
        }
        return number <= COMPONENTS_MAX ? number : -1;
    }
}
