package io.plumbline.send.pack;

import io.plumbline.send.base.SpanData;
import java.util.Arrays;

/**
 * The shapes that spans of one chunk had so far, and of each value what it was last: spans say only what has changed.
 * Bounded; a span of a shape that finds no room stands alone. One thread at a time.
 */
final class Shapes {
    private final Shape[] shapes;
    private final Shape[] table;
    private int count;
    private Shape last;
    /** Of the values of all shapes, one after the other. */
    final String[] keys;
    final boolean[] textual;
    final long[] numbers;
    /** Null: none yet, or one too long to be kept. */
    final String[] texts;
    private int values;

    /** @param mostShapes half of a power of two */
    Shapes(int mostShapes, int mostValues) {
        shapes = new Shape[mostShapes];
        table = new Shape[2 * mostShapes];
        keys = new String[mostValues];
        textual = new boolean[mostValues];
        numbers = new long[mostValues];
        texts = new String[mostValues];
    }

    /** Bytes that so many of them take at most, apart from names. */
    static long cost(int mostShapes, int mostValues) {
        return 52L * mostShapes + 18L * mostValues;
    }

    /** Null: it is new. */
    Shape find(SpanData span) {
        Shape usual = last;
        if (usual != null && fits(usual, span)) {
            return usual;
        }
        int mask = table.length - 1;
        for (int i = NameTable.slot(orEmpty(span.name), mask); table[i] != null; i = i + 1 & mask) {
            if (fits(table[i], span)) {
                last = table[i];
                return last;
            }
        }
        return null;
    }

    private boolean fits(Shape shape, SpanData span) {
        int n = shape.count;
        if (n != span.annotations() || !same(shape.function, orEmpty(span.name))
                || !same(shape.tracer, orEmpty(span.tracer))) {
            return false;
        }
        for (int i = 0, value = shape.first; i < n; i++, value++) {
            if (textual[value] != (span.text(i) != null) || !same(keys[value], orEmpty(span.key(i)))) {
                return false;
            }
        }
        return true;
    }

    private static boolean same(String a, String b) {
        return a == b || a.equals(b);
    }

    static String orEmpty(String text) {
        return text == null ? "" : text;
    }

    /** Keeps that of a span that has none yet; null when it finds no room. */
    Shape add(SpanData span) {
        int n = span.annotations();
        if (count == shapes.length || n > keys.length - values || !keepable(span, n)) {
            return null;
        }
        Shape shape = shapes[count];
        if (shape == null) {
            shape = new Shape();
            shapes[count] = shape;
        }
        shape.function = orEmpty(span.name);
        shape.tracer = orEmpty(span.tracer);
        shape.first = values;
        shape.count = n;
        for (int i = 0; i < n; i++, values++) {
            keys[values] = orEmpty(span.key(i));
            textual[values] = span.text(i) != null;
            numbers[values] = 0;
        }
        shape.number = ++count;
        int mask = table.length - 1;
        int place = NameTable.slot(shape.function, mask);
        while (table[place] != null) {
            place = place + 1 & mask;
        }
        table[place] = shape;
        last = shape;
        return shape;
    }

    /** Long names would keep much memory alive. */
    private static boolean keepable(SpanData span, int n) {
        boolean small = orEmpty(span.name).length() <= NameTable.MAX_CHARS
                && orEmpty(span.tracer).length() <= NameTable.MAX_CHARS;
        for (int i = 0; small && i < n; i++) {
            small = orEmpty(span.key(i)).length() <= NameTable.MAX_CHARS;
        }
        return small;
    }

    int size() {
        return count;
    }

    void clear() {
        for (int i = 0; i < count; i++) {
            shapes[i].function = null;
            shapes[i].tracer = null;
        }
        Arrays.fill(keys, 0, values, null);
        Arrays.fill(texts, 0, values, null);
        Arrays.fill(table, null);
        count = 0;
        values = 0;
        last = null;
    }
}
