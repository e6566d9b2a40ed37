package io.plumbline.weave.list;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;

/** What is recorded of a call: {@code arg1.getBlock().getNumBytes()}, {@code this.src}, {@code 'text'}. Immutable. */
public final class Expression {
    /** Where it begins. */
    public enum Start { ARGUMENT, THIS, RETURN, TEXT }

    /** A field or a method without arguments. */
    public static final class Step {
        public final String name;
        public final boolean call;

        Step(String name, boolean call) {
            this.name = name;
            this.call = call;
        }

        @Override
        public String toString() {
            return "." + name + (call ? "()" : "");
        }
    }

    private static final Pattern ARGUMENT = Pattern.compile("arg[1-9][0-9]?");
    private static final String EXPECTED = "expected arg1, arg2, ..., this, return or 'text', then .field or .method()";

    public final Start start;
    /** Counted from 0. */
    public final int argument;
    /** Null unless it is a text. */
    public final String literal;
    public final List<Step> steps;
    private final String text;

    private Expression(Start start, int argument, String literal, List<Step> steps, String text) {
        this.start = start;
        this.argument = argument;
        this.literal = literal;
        this.steps = Collections.unmodifiableList(steps);
        this.text = text;
    }

    /** @throws IllegalArgumentException saying what is expected */
    static Expression parse(String text) {
        if (text.startsWith("'")) {
            if (text.length() < 2 || text.indexOf('\'', 1) != text.length() - 1) {
                throw new IllegalArgumentException("\"" + text + "\": a text ends with ' and has no other ' in it");
            }
            return new Expression(Start.TEXT, -1, text.substring(1, text.length() - 1), new ArrayList<>(), text);
        }
        String[] pieces = text.split("\\.", -1);
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i < pieces.length; i++) {
            boolean call = pieces[i].endsWith("()");
            String name = call ? pieces[i].substring(0, pieces[i].length() - 2) : pieces[i];
            if (!Signature.isName(name)) {
                throw new IllegalArgumentException("\"" + text + "\": " + EXPECTED);
            }
            steps.add(new Step(name, call));
        }
        return start(pieces[0], steps, text);
    }

    private static Expression start(String word, List<Step> steps, String text) {
        if (word.equals("this")) {
            return new Expression(Start.THIS, -1, null, steps, text);
        }
        if (word.equals("return")) {
            return new Expression(Start.RETURN, -1, null, steps, text);
        }
        if (ARGUMENT.matcher(word).matches()) {
            return new Expression(Start.ARGUMENT, Integer.parseInt(word.substring(3)) - 1, null, steps, text);
        }
        throw new IllegalArgumentException("\"" + text + "\": " + EXPECTED);
    }

    @Override
    public String toString() {
        return text;
    }
}
