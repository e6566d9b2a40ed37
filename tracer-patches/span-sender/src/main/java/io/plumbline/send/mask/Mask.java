package io.plumbline.send.mask;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import io.plumbline.send.mask.MaskRules.About;
import io.plumbline.send.mask.MaskRules.How;
import io.plumbline.send.mask.MaskRules.Rule;
import io.plumbline.send.pack.Utf8;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Replaces what is secret in a span before it is queued: nothing of it leaves the process. The result is the one that
 * plumbd's masking would have, which leaves it as it is. Any thread.
 */
public final class Mask {
    /** As plumbd has it. */
    public static final int KEY_MIN_BYTES = 16;
    static final String NAME = "(masked)";
    /** Values of these are paths, relative ones, too. */
    private static final Set<String> PATH_KEYS = new HashSet<>(Arrays.asList("path", "src", "dst", "filename"));
    /** Addresses of DataNodes look like paths. */
    private static final String NO_PATH = "datanode";
    private static final String BLANKS = " \t\n\f\r";
    /** Names and keys that are remembered: few in Hadoop, any number of an application's own. */
    private static final int REMEMBERED = 4096;
    private static final int REMEMBERED_LENGTH = 256;

    private final MaskRules rules;
    private final Hashes hashes;
    private final PathMask paths;
    private final Rule notes;
    private final ConcurrentHashMap<String, String> names = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Key> keys = new ConcurrentHashMap<>();

    /** What is done with the values of an annotation. */
    private static final class Key {
        /** Null: nothing. */
        final Rule rule;
        final boolean path;

        Key(Rule rule, boolean path) {
            this.rule = rule;
            this.path = path;
        }
    }

    /**
     * @param rules as plumbd's {@code mask.rules}
     * @param key {@link #KEY_MIN_BYTES} or more
     * @throws IllegalArgumentException saying what is wrong
     */
    public Mask(String rules, byte[] key) {
        this.rules = new MaskRules(rules);
        if (key.length < KEY_MIN_BYTES) {
            throw new IllegalArgumentException("the key has " + key.length + " bytes: write " + KEY_MIN_BYTES
                    + " or more");
        }
        hashes = new Hashes(key);
        paths = new PathMask(hashes);
        Rule note = this.rules.find(About.NOTE, "");
        notes = note != null ? note : this.rules.path;
    }

    /** @throws IllegalArgumentException saying which rule is wrong */
    public static String check(String rules) {
        new MaskRules(rules);
        return rules;
    }

    /**
     * By the rules and the key of the options; null: they have none.
     *
     * @throws IllegalArgumentException saying what is wrong
     */
    public static Mask of(SenderOptions options) {
        if (options.maskRules == null) {
            return null;
        }
        try {
            return of(options.maskRules, options.maskKey);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(SenderOptions.MASK_RULES_KEY + " and " + SenderOptions.MASK_KEY_KEY
                    + ": " + e.getMessage(), e);
        }
    }

    /** Blanks at the end of the file do not count. */
    private static Mask of(String rules, String keyFile) {
        byte[] bytes = SecretFile.read(keyFile);
        int end = bytes.length;
        while (end > 0 && BLANKS.indexOf(bytes[end - 1]) >= 0) {
            end--;
        }
        try {
            return new Mask(rules, Arrays.copyOf(bytes, end));
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }

    /** Changes it. */
    public void apply(SpanData span) {
        span.name = name(span.name);
        for (int i = span.annotations() - 1; i >= 0; i--) {
            applyTo(span, i);
        }
        for (int i = span.notes() - 1; i >= 0; i--) {
            String masked = masked(notes, span.note(i), false, Utf8.MAX_VALUE_BYTES);
            if (masked == null) {
                span.removeNote(i);
            } else {
                span.setNote(i, masked);
            }
        }
    }

    private void applyTo(SpanData span, int i) {
        Key key = remembered(keys, span.key(i), this::key);
        String text = span.text(i);
        if (key.rule == null || text == null && key.rule.about == About.PATH && !key.path) {
            return; // a number has no path in it
        }
        String value = text == null ? Long.toString(span.number(i)) : text;
        String masked = masked(key.rule, value, key.path, Utf8.MAX_VALUE_BYTES);
        if (masked == null) {
            span.removeAnnotation(i);
        } else {
            span.setText(i, masked);
        }
    }

    /** Null: it is dropped. */
    String value(String keyName, String value) {
        Key key = remembered(keys, keyName, this::key);
        return masked(key.rule, value, key.path, Utf8.MAX_VALUE_BYTES);
    }

    private Key key(String name) {
        Rule rule = rules.find(About.ANNOTATION, name);
        return new Key(rule == null && !name.equals(NO_PATH) ? rules.path : rule, PATH_KEYS.contains(name));
    }

    /** The same object for the same name: names are told apart by it before they are compared. */
    String name(String name) {
        return name == null ? null : remembered(names, name, this::masked);
    }

    private String masked(String name) {
        Rule rule = rules.find(About.NAME, name);
        String masked = masked(rule != null ? rule : rules.path, name, false, Utf8.MAX_NAME_BYTES);
        return masked == null ? NAME : masked;
    }

    private static <T> T remembered(ConcurrentHashMap<String, T> map, String text, Function<String, T> make) {
        T known = map.get(text);
        if (known == null) {
            known = make.apply(text);
            if (text.length() > REMEMBERED_LENGTH) {
                return known;
            }
            if (map.size() >= REMEMBERED) {
                map.clear();
            }
            map.put(text, known);
        }
        return known;
    }

    /** Null: it is dropped. Else the text itself where nothing of it is secret. */
    private String masked(Rule rule, String whole, boolean path, int mostBytes) {
        if (rule == null) {
            return whole;
        }
        if (rule.how == How.DROP) {
            return null;
        }
        String text = Utf8.clean(whole, mostBytes);
        boolean aboutPath = rule.about == About.PATH;
        if (text.isEmpty() || aboutPath && !path && text.indexOf('/') < 0) {
            return whole;
        }
        StringBuilder out = new StringBuilder(text.length() + 16);
        if ((aboutPath || rule.how == How.KEEP) && PathMask.isPath(text)) {
            paths.withScheme(out, text, rule.keep);
        } else if (aboutPath && path) {
            paths.path(out, text, 0);
        } else if (aboutPath) {
            paths.words(out, text, rule.keep);
        } else {
            out.append(hashes.of(text));
        }
        String made = out.toString();
        return Utf8.exceeds(made, mostBytes) ? hashes.of(text) : made;
    }
}
