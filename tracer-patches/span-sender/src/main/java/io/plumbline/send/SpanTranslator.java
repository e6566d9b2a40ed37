package io.plumbline.send;

import io.plumbline.wire.plumbConstants;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Spans of chunks ({@link SpanWriter} has their form) to Span structures of idl/plumb.thrift, field by field, with the
 * table of strings that they refer to. One thread.
 */
final class SpanTranslator {
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
    /** Most bytes of a UTF-16 unit in UTF-8. */
    private static final int WORST = 3;

    private final Map<String, Integer> index = new HashMap<>();
    private final List<String> strings = new ArrayList<>();
    private long stringBytes;
    /** Place in the chunk's table to place in the batch's, plus 1. */
    private final int[] known = new int[Chunk.WRITTEN_OUT];
    private final Decimal decimal = new Decimal();
    private final FieldWriter out;
    private String firstTracer;
    private Chunk chunk;
    private int at;

    SpanTranslator(FieldWriter out) {
        this.out = out;
    }

    /** For the next batch. */
    void reset() {
        index.clear();
        strings.clear();
        stringBytes = 0;
        firstTracer = null;
        chunk = null;
    }

    /** Of all spans since reset(). */
    List<String> strings() {
        return strings;
    }

    /** The process of the first span since reset(); null when there was none. */
    String firstTracer() {
        return firstTracer;
    }

    /** How much the strings may take in UTF-8. */
    long stringBytes() {
        return stringBytes;
    }

    /** The next span of the chunk. */
    void translate(Chunk from) {
        if (chunk != from) {
            chunk = from;
            Arrays.fill(known, 0);
        }
        ByteBuffer in = from.bytes;
        int head = from.start;
        long trace = in.getLong(head + 1);
        int parents = in.getShort(head + 33);
        int annotations = in.getShort(head + 35);
        int notes = in.getShort(head + 37);
        int parentsAt = head + SpanWriter.HEAD;
        at = parentsAt + 16 * parents;
        out.beginStruct();
        out.i64(TRACE, trace);
        out.i64(SPAN, in.getLong(head + 9));
        out.i64(BEGIN, in.getLong(head + 17));
        out.i64(DURATION, in.getLong(head + 25));
        out.i32(NAME, name());
        int tracer = name();
        out.i32(TRACER, tracer);
        if (firstTracer == null) {
            firstTracer = strings.get(tracer);
        }
        writeParents(trace, parentsAt, parents);
        writeAnnotations(annotations);
        writeNotes(notes);
        if ((in.get(head) & SpanWriter.FLAG_MILLISECONDS) != 0) {
            out.i32(FLAGS, plumbConstants.FLAG_MILLISECONDS);
        }
        out.endStruct();
        from.start = at;
        from.spans--;
    }

    /** A first parent of the same trace, the usual case, is one number. */
    private void writeParents(long trace, int from, int parents) {
        int place = from;
        int rest = parents;
        if (parents > 0 && chunk.bytes.getLong(from) == trace) {
            out.i64(FIRST_PARENT, chunk.bytes.getLong(from + 8));
            place += 16;
            rest--;
        }
        if (rest == 0) {
            return;
        }
        out.list(PARENTS, rest);
        for (int i = 0; i < rest; i++, place += 16) {
            out.beginStruct();
            out.i64(TRACE, chunk.bytes.getLong(place));
            out.i64(SPAN, chunk.bytes.getLong(place + 8));
            out.endStruct();
        }
    }

    private void writeAnnotations(int n) {
        if (n == 0) {
            return;
        }
        out.list(ANNOTATIONS, n);
        for (int i = 0; i < n; i++) {
            out.beginStruct();
            out.i32(KEY, name());
            int kind = chunk.array[at++];
            if (kind == SpanWriter.KIND_NUMBER) {
                int start = decimal.put(chunk.bytes.getLong(at));
                out.binary(VALUE, decimal.digits, start, decimal.digits.length - start);
                at += 8;
            } else {
                text(VALUE);
            }
            out.endStruct();
        }
    }

    private void writeNotes(int n) {
        if (n == 0) {
            return;
        }
        out.list(NOTES, n);
        for (int i = 0; i < n; i++) {
            out.beginStruct();
            out.i64(NOTE_TIME, chunk.bytes.getLong(at));
            at += 8;
            text(MESSAGE);
            out.endStruct();
        }
    }

    /** UTF-8 already: passed on as it is. */
    private void text(int field) {
        int length = chunk.bytes.getInt(at);
        out.binary(field, chunk.array, at + 4, length);
        at += 4 + length;
    }

    /** The place of the name that comes next in the batch's table. */
    private int name() {
        int id = chunk.array[at++] & 0xff;
        if (id == Chunk.WRITTEN_OUT) {
            int length = chunk.bytes.getInt(at);
            String text = new String(chunk.array, at + 4, length, StandardCharsets.UTF_8);
            at += 4 + length;
            return intern(text);
        }
        if (known[id] == 0) {
            known[id] = intern(chunk.names[id]) + 1;
        }
        return known[id] - 1;
    }

    private int intern(String text) {
        Integer place = index.get(text);
        if (place != null) {
            return place;
        }
        int next = strings.size();
        strings.add(text.indexOf('\0') < 0 ? text : text.replace('\0', '\uFFFD'));
        stringBytes += (long) WORST * text.length();
        index.put(text, next);
        return next;
    }
}
