package io.plumbline.send.pack;

import io.plumbline.send.base.IdPlace;
import io.plumbline.send.wire.FieldWriter;
import io.plumbline.wire.plumbConstants;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Packs to Span structures of idl/plumb.thrift, field by field, for receivers of versions 1 and 2. One thread.
 */
public final class SpanTranslator {
    /** Fields of Span, of a parent, an annotation and a note. */
    private static final int TRACE = 1;
    private static final int SPAN = 2;
    private static final int BEGIN = 3;
    private static final int DURATION = 4;
    private static final int NAME = 5;
    private static final int TRACER = 6;
    private static final int FIRST_PARENT = 7;
    private static final int PARENTS = 8;
    private static final int ANNOTATIONS = 9;
    private static final int NOTES = 10;
    private static final int FLAGS = 11;
    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int NOTE_TIME = 1;
    private static final int MESSAGE = 2;

    private final FieldWriter out;
    private final Decimal decimal = new Decimal();
    private final List<String> strings = new ArrayList<>();
    private final Map<String, Integer> index = new HashMap<>();
    private final List<Kept> shapes = new ArrayList<>();
    private byte[] bytes;
    private ByteBuffer longs;
    private int at;
    private int[] names;
    private long trace;
    /** Of the last span's id. */
    private long place;
    private long parent;
    private long begin;

    /** A shape, and what its values were last. */
    private static final class Kept {
        int function;
        int tracer;
        boolean[] textual;
        int[] keys;
        long[] numbers;
        int[] texts;
        int[] lengths;
    }

    public SpanTranslator(FieldWriter out) {
        this.out = out;
    }

    /** For the next batch, whose packs share this table. */
    public void reset(List<String> table) {
        index.clear();
        strings.clear();
        strings.addAll(table);
        for (int i = 0; i < table.size(); i++) {
            index.put(table.get(i), i);
        }
    }

    /** The table and what was written out among the spans. */
    public List<String> strings() {
        return strings;
    }

    /** One pack. */
    public void translate(byte[] from, int start, int end) {
        bytes = from;
        longs = ByteBuffer.wrap(from).order(ByteOrder.LITTLE_ENDIAN);
        at = start;
        shapes.clear();
        trace = 0;
        place = 0;
        parent = 0;
        begin = 0;
        int spans = number();
        names = new int[number()];
        for (int i = 0; i < names.length; i++) {
            names[i] = number();
        }
        for (int i = 0; i < spans; i++) {
            span();
        }
        if (at != end) {
            throw new IllegalStateException("a pack of " + (end - start) + " bytes ends after " + (at - start));
        }
    }

    private void span() {
        Kept shape = shape();
        int bits = bytes[at++];
        if ((bits & SpanWriter.SAME_TRACE) == 0) {
            trace = id((bits & SpanWriter.TRACE_NEAR) != 0, place);
        }
        long span = id((bits & SpanWriter.SPAN_NEAR) != 0, place);
        place = IdPlace.placeOf(span);
        out.beginStruct();
        out.i64(TRACE, trace);
        out.i64(SPAN, span);
        if ((bits & SpanWriter.ONE_PARENT) != 0) {
            parent = id((bits & SpanWriter.PARENT) == SpanWriter.PARENT_NEAR, place);
        }
        boolean one = (bits & SpanWriter.PARENT) != 0;
        boolean lists = (bits & SpanWriter.LISTS) != 0;
        int parents = lists && !one ? number() : 0;
        int parentsAt = at;
        at += 16 * parents;
        begin += signed();
        out.i64(BEGIN, begin);
        out.i64(DURATION, signed());
        out.i32(NAME, shape.function);
        out.i32(TRACER, shape.tracer);
        if (one) {
            out.i64(FIRST_PARENT, parent);
        }
        parents(parentsAt, parents);
        values(shape);
        notes(lists ? number() : 0);
        if ((bits & SpanWriter.MILLISECONDS) != 0) {
            out.i32(FLAGS, plumbConstants.FLAG_MILLISECONDS);
        }
        out.endStruct();
    }

    private Kept shape() {
        int number = number();
        if (number != SpanWriter.ALONE && number <= shapes.size()) {
            return shapes.get(number - 1);
        }
        Kept shape = new Kept();
        shape.function = name();
        shape.tracer = name();
        int n = number();
        shape.textual = new boolean[n];
        shape.keys = new int[n];
        shape.numbers = new long[n];
        shape.texts = new int[n];
        shape.lengths = new int[n];
        for (int i = 0; i < n; i++) {
            shape.textual[i] = bytes[at++] == SpanWriter.KIND_TEXT;
            shape.keys[i] = name();
        }
        if (number != SpanWriter.ALONE) {
            shapes.add(shape);
        }
        return shape;
    }

    /** A first parent of the same trace, the usual case, is one number. */
    private void parents(int from, int parents) {
        int place = from;
        int rest = parents;
        if (rest > 0 && longs.getLong(place) == trace) {
            out.i64(FIRST_PARENT, longs.getLong(place + 8));
            place += 16;
            rest--;
        }
        if (rest == 0) {
            return;
        }
        out.list(PARENTS, rest);
        for (int i = 0; i < rest; i++, place += 16) {
            out.beginStruct();
            out.i64(TRACE, longs.getLong(place));
            out.i64(SPAN, longs.getLong(place + 8));
            out.endStruct();
        }
    }

    private void values(Kept shape) {
        if (shape.keys.length == 0) {
            return;
        }
        out.list(ANNOTATIONS, shape.keys.length);
        for (int i = 0; i < shape.keys.length; i++) {
            out.beginStruct();
            out.i32(KEY, shape.keys[i]);
            if (shape.textual[i]) {
                text(shape, i);
                out.binary(VALUE, bytes, shape.texts[i], shape.lengths[i]);
            } else {
                shape.numbers[i] += signed();
                int start = decimal.put(shape.numbers[i]);
                out.binary(VALUE, decimal.digits, start, decimal.digits.length - start);
            }
            out.endStruct();
        }
    }

    private void text(Kept shape, int value) {
        int length = number();
        if (length != SpanWriter.SAME_TEXT) {
            shape.texts[value] = at;
            shape.lengths[value] = length - 1;
            at += length - 1;
        }
    }

    private void notes(int n) {
        if (n == 0) {
            return;
        }
        out.list(NOTES, n);
        for (int i = 0; i < n; i++) {
            out.beginStruct();
            out.i64(NOTE_TIME, begin + signed());
            int length = number();
            out.binary(MESSAGE, bytes, at, length);
            at += length;
            out.endStruct();
        }
    }

    private int name() {
        int number = number();
        if (number > 0) {
            return names[number - 1];
        }
        int length = number();
        String text = new String(bytes, at, length, StandardCharsets.UTF_8);
        at += length;
        Integer known = index.get(text);
        if (known != null) {
            return known;
        }
        strings.add(text);
        index.put(text, strings.size() - 1);
        return strings.size() - 1;
    }

    private long id(boolean near, long other) {
        if (near) {
            return IdPlace.idAt(other + signed());
        }
        at += 8;
        return longs.getLong(at - 8);
    }

    private int number() {
        return (int) varint();
    }

    private long signed() {
        return Varint.signed(varint());
    }

    private long varint() {
        long sum = 0;
        for (int shift = 0;; shift += 7) {
            byte next = bytes[at++];
            sum |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return sum;
            }
        }
    }
}
