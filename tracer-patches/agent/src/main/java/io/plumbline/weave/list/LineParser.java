package io.plumbline.weave.list;

import io.plumbline.trace.Point;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a line below a section's head. */
final class LineParser {
    private static final List<String> WORDS =
            Arrays.asList("root", "background", "unless-traced", "unless-leaf", "stream", "follows");
    private static final Pattern DIFFERENCE = Pattern.compile("([^'-]+)-([^'+-]+)(?:\\+([0-9]{1,9}))?");
    private static final Pattern KEY = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]*");
    private static final String ALLOWED =
            "allowed are root, background, unless-traced, unless-leaf, stream, follows, key=value "
                    + "(recorded at the call) and key:=value (recorded at the return)";

    private final Function.Builder builder;
    private final Iterator<String> words;

    private LineParser(Function.Builder builder, String line) {
        this.builder = builder;
        this.words = words(line).iterator();
    }

    /**
     * @param builder has class, role and place already
     * @throws IllegalArgumentException saying what is allowed
     */
    static Function parse(Function.Builder builder, String line) {
        LineParser parser = new LineParser(builder, line);
        parser.methods();
        if (builder.kind == Function.Kind.OFF) {
            if (parser.words.hasNext()) {
                throw new IllegalArgumentException("nothing follows the method after \"off\"");
            }
            return builder.build();
        }
        builder.span = parser.next("the span's name");
        if (builder.span.indexOf('=') >= 0 || WORDS.contains(builder.span)) {
            throw new IllegalArgumentException("the span's name is missing before \"" + builder.span + "\"");
        }
        while (parser.words.hasNext()) {
            parser.word(parser.words.next());
        }
        parser.check();
        return builder.build();
    }

    private void methods() {
        String word = next("method(types)");
        switch (word) {
            case "carry":
                carry();
                break;
            case "between":
                two(Function.Kind.BETWEEN);
                break;
            case "across":
                two(Function.Kind.ACROSS);
                break;
            case "within":
                two(Function.Kind.WITHIN);
                break;
            case "off":
                builder.kind = Function.Kind.OFF;
                builder.first = Signature.parse(next("method(types)"));
                break;
            default:
                if (word.indexOf('(') < 0) {
                    throw new IllegalArgumentException("\"" + word + "\": expected method(types), carry, between, "
                            + "across, within or off"
                            + Hint.of(word, Arrays.asList("carry", "between", "across", "within", "off")));
                }
                builder.first = Signature.parse(word);
        }
    }

    private void carry() {
        builder.kind = Function.Kind.CARRY;
        builder.first = Signature.parse(next("<init>(types)"));
        if (!next("-> method(types)").equals("->")) {
            throw new IllegalArgumentException("expected: carry <init>(types) -> method(types) span-name, "
                    + "carry method(types) -> called(types) span-name, or carry method(types) -> return span-name");
        }
        String second = next("method(types)");
        if (second.equals("return")) {
            builder.kind = Function.Kind.CARRY_RESULT;
            return;
        }
        if (!builder.first.method.equals(Signature.CONSTRUCTOR)) {
            builder.kind = Function.Kind.CARRY_ARGUMENT;
        }
        builder.second = Signature.parse(second);
    }

    private void two(Function.Kind kind) {
        builder.kind = kind;
        builder.first = Signature.parse(next("the first method(types)"));
        builder.second = Signature.parse(next("the second method(types)"));
    }

    private String next(String expected) {
        if (!words.hasNext()) {
            throw new IllegalArgumentException("the line ends where " + expected + " is expected");
        }
        return words.next();
    }

    private void word(String word) {
        int equals = word.indexOf('=');
        if (equals > 0) {
            builder.values.add(value(word, equals));
        } else if (word.equals("root")) {
            builder.flags |= Point.ROOT;
        } else if (word.equals("background")) {
            builder.flags |= Point.BACKGROUND;
        } else if (word.equals("unless-traced")) {
            builder.unlessTraced = true;
        } else if (word.equals("unless-leaf")) {
            builder.flags |= Point.UNLESS_LEAF;
        } else if (word.equals("stream")) {
            builder.flags |= Point.STREAM;
        } else if (word.equals("follows")) {
            builder.flags |= Point.FOLLOWS;
        } else {
            throw new IllegalArgumentException("\"" + word + "\": " + ALLOWED + Hint.of(word, WORDS));
        }
    }

    private static Value value(String word, int equals) {
        boolean atReturn = word.charAt(equals - 1) == ':';
        String key = word.substring(0, atReturn ? equals - 1 : equals);
        if (!KEY.matcher(key).matches()) {
            throw new IllegalArgumentException(
                    "\"" + key + "\" is not a key: letters, digits, and _ . - after a letter");
        }
        Value value = value(key, word.substring(equals + 1), atReturn);
        if (value.startsWith(Expression.Start.RETURN) && !atReturn) {
            throw new IllegalArgumentException(
                    "\"" + word + "\": the result is known at the return only: " + key + ":=...");
        }
        return value;
    }

    /** An expression, or the difference of two: {@code arg3-arg2+1}. */
    private static Value value(String key, String text, boolean atReturn) {
        Matcher difference = DIFFERENCE.matcher(text);
        if (!difference.matches()) {
            return new Value(key, Expression.parse(text), null, 0, atReturn);
        }
        int plus = difference.group(3) == null ? 0 : Integer.parseInt(difference.group(3));
        return new Value(key, Expression.parse(difference.group(1)), Expression.parse(difference.group(2)), plus,
                atReturn);
    }

    private void check() {
        int after = 0;
        boolean ofThis = false;
        Set<String> keys = new HashSet<>();
        for (Value value : builder.values) {
            after += value.atReturn ? 1 : 0;
            ofThis |= value.startsWith(Expression.Start.THIS);
            keys.add(value.key + value.atReturn);
        }
        int before = builder.values.size() - after;
        if (Math.max(before, after) > Function.MAX_VALUES) {
            throw new IllegalArgumentException("at most " + Function.MAX_VALUES + " values at the call and "
                    + Function.MAX_VALUES + " at the return");
        }
        if (keys.size() < builder.values.size()) {
            throw new IllegalArgumentException("the same key twice");
        }
        if (builder.kind == Function.Kind.BETWEEN && (after > 0 || builder.unlessTraced)) {
            throw new IllegalArgumentException(
                    "between records values at the call of the second method only (key=value), "
                            + "and takes no unless-traced");
        }
        boolean carries = builder.kind == Function.Kind.CARRY_RESULT || builder.kind == Function.Kind.CARRY_ARGUMENT;
        boolean valueless = builder.kind == Function.Kind.ACROSS || carries;
        if (valueless && (!builder.values.isEmpty() || builder.unlessTraced)) {
            throw new IllegalArgumentException(
                    "across and carry method(types) -> ... record no values and take no unless-traced");
        }
        if (builder.kind == Function.Kind.WITHIN && ofThis) {
            throw new IllegalArgumentException(
                    "within records arguments and the result of the method that is called, not this");
        }
        if ((builder.flags & Point.UNLESS_LEAF) != 0) {
            checkUnlessLeaf();
        }
        if ((builder.flags & Point.STREAM) != 0 && (builder.flags & Point.ROOT) == 0) {
            throw new IllegalArgumentException("only a root can open a stream: root stream");
        }
        boolean called = builder.kind == Function.Kind.CALL && (builder.flags & Point.ROOT) != 0;
        if ((builder.flags & Point.FOLLOWS) != 0 && !called) {
            throw new IllegalArgumentException("only a method that may be a root can follow another: root follows");
        }
        boolean mayBeRoot = builder.kind == Function.Kind.CALL || builder.kind == Function.Kind.CARRY
                || builder.kind == Function.Kind.WITHIN;
        if (!mayBeRoot && (builder.flags & Point.ROOT) != 0) {
            throw new IllegalArgumentException("only functions with a span of their own can be a root");
        }
    }

    private void checkUnlessLeaf() {
        if (builder.kind == Function.Kind.BETWEEN || builder.kind == Function.Kind.ACROSS
                || builder.kind == Function.Kind.CARRY_RESULT || builder.kind == Function.Kind.CARRY_ARGUMENT) {
            throw new IllegalArgumentException("only functions with a span of their own can be unless-leaf");
        }
        if ((builder.flags & Point.ROOT) != 0) {
            throw new IllegalArgumentException(
                    "a root is recorded in any case: root and unless-leaf contradict each other");
        }
    }

    /** Splits at spaces outside brackets and quotes. @throws IllegalArgumentException when one is not closed */
    static List<String> words(String line) {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean quoted = false;
        boolean bracket = false;
        for (char c : line.toCharArray()) {
            quoted ^= c == '\'' && !bracket;
            bracket = !quoted && (c == '(' || bracket && c != ')');
            if (quoted || bracket || !Character.isWhitespace(c)) {
                word.append(c);
            } else if (word.length() > 0) {
                words.add(word.toString());
                word.setLength(0);
            }
        }
        if (quoted || bracket) {
            throw new IllegalArgumentException(quoted ? "' is not closed" : "( is not closed");
        }
        if (word.length() > 0) {
            words.add(word.toString());
        }
        return words;
    }
}
