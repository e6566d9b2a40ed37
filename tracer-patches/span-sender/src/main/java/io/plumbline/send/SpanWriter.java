package io.plumbline.send;

import java.nio.ByteBuffer;

/**
 * Copies a span to the end of a chunk, in the application's thread. The form, numbers big-endian:
 *
 * <pre>
 *   u8 flags; i64 trace, span, beginNs, durationNs; u16 parents, annotations, notes;
 *   parents: i64 trace, span each;
 *   name and tracer: u8 number in the chunk's table, or 255, i32 length, UTF-8;
 *   annotations: key as a name; u8 kind; i64, or i32 length and UTF-8;
 *   notes: i64 time; i32 length, UTF-8
 * </pre>
 */
final class SpanWriter {
    /** A span of more is not taken, by {@link #weight}. Receivers take frames of 32 MiB; Hadoop is far below. */
    static final long MAX_WEIGHT = 4 << 20;
    /** Receivers take no more parents, annotations or notes of one span. */
    static final int MAX_LIST = 4096;
    static final int FLAG_MILLISECONDS = 1;
    static final int KIND_TEXT = 0;
    static final int KIND_NUMBER = 1;
    static final int HEAD = 1 + 4 * 8 + 3 * 2;

    private final Counters counters;

    SpanWriter(Counters counters) {
        this.counters = counters;
    }

    /** FALSE when it has no room; the chunk then holds what it held before. */
    boolean write(SpanData span, Chunk chunk) {
        int parents = Math.min(span.parents(), MAX_LIST);
        int annotations = Math.min(span.annotations(), MAX_LIST);
        int notes = Math.min(span.notes(), MAX_LIST);
        if (chunk.room() < HEAD + 16 * parents) {
            return false;
        }
        chunk.cuts = 0;
        int at = putHead(span, chunk.bytes, chunk.end);
        putCounts(chunk.bytes, at, parents, annotations, notes);
        at = putParents(span, parents, chunk.bytes, at + 6);
        at = putName(span.name, chunk, at);
        at = putName(span.tracer, chunk, at);
        for (int i = 0; i < annotations && at >= 0; i++) {
            at = putAnnotation(span, i, chunk, at);
        }
        for (int i = 0; i < notes && at >= 0; i++) {
            at = putNote(span, i, chunk, at);
        }
        if (at < 0) {
            return false;
        }
        chunk.end = at;
        chunk.spans++;
        int cuts = chunk.cuts + cut(span.parents()) + cut(span.annotations()) + cut(span.notes());
        if (cuts > 0) {
            counters.shortened.addAndGet(cuts);
        }
        return true;
    }

    private static int cut(int listed) {
        return listed > MAX_LIST ? 1 : 0;
    }

    private static int putHead(SpanData span, ByteBuffer out, int at) {
        out.put(at, (byte) (span.milliseconds ? FLAG_MILLISECONDS : 0));
        out.putLong(at + 1, span.trace);
        out.putLong(at + 9, span.span);
        out.putLong(at + 17, span.beginNs);
        out.putLong(at + 25, span.durationNs);
        return at + 33;
    }

    private static void putCounts(ByteBuffer out, int at, int parents, int annotations, int notes) {
        out.putShort(at, (short) parents);
        out.putShort(at + 2, (short) annotations);
        out.putShort(at + 4, (short) notes);
    }

    private static int putParents(SpanData span, int parents, ByteBuffer out, int at) {
        for (int i = 0; i < parents; i++) {
            out.putLong(at, span.parentTrace(i));
            out.putLong(at + 8, span.parentSpan(i));
            at += 16;
        }
        return at;
    }

    private static int putName(String nameOrNull, Chunk chunk, int at) {
        if (at < 0 || at >= chunk.array.length) {
            return -1;
        }
        String name = nameOrNull == null ? "" : nameOrNull;
        int id = chunk.nameId(name);
        chunk.array[at] = (byte) id;
        return id == Chunk.WRITTEN_OUT ? putText(name, Utf8.MAX_NAME_BYTES, chunk, at + 1) : at + 1;
    }

    private static int putAnnotation(SpanData span, int i, Chunk chunk, int before) {
        int at = putName(span.key(i), chunk, before);
        if (at < 0 || chunk.array.length - at < 9) {
            return -1;
        }
        String text = span.text(i);
        if (text != null) {
            chunk.array[at] = KIND_TEXT;
            return putText(text, Utf8.MAX_VALUE_BYTES, chunk, at + 1);
        }
        chunk.array[at] = KIND_NUMBER;
        chunk.bytes.putLong(at + 1, span.number(i));
        return at + 9;
    }

    private static int putNote(SpanData span, int i, Chunk chunk, int at) {
        if (chunk.array.length - at < 8) {
            return -1;
        }
        chunk.bytes.putLong(at, span.noteTime(i));
        return putText(span.note(i), Utf8.MAX_VALUE_BYTES, chunk, at + 8);
    }

    private static int putText(String text, int maxBytes, Chunk chunk, int at) {
        if (chunk.array.length - at < 4) {
            return -1;
        }
        int end = Utf8.put(text, maxBytes, chunk.array, at + 4);
        if (end < 0) {
            return -1;
        }
        chunk.bytes.putInt(at, end - at - 4);
        if (Utf8.exceeds(text, maxBytes)) {
            chunk.cuts++;
        }
        return end;
    }

    /** What a span is measured by, before anything of it is cut: bytes in a JVM that holds it as objects. */
    static long weight(SpanData span) {
        long sum = 120 + 2L * length(span.name) + 24L * span.parents();
        for (int i = 0; i < span.annotations(); i++) {
            sum += 96 + 2L * length(span.key(i)) + 2L * length(span.text(i));
        }
        for (int i = 0; i < span.notes(); i++) {
            sum += 72 + 2L * length(span.note(i));
        }
        return sum;
    }

    private static int length(String text) {
        return text == null ? 0 : text.length();
    }

    /** Bytes that surely suffice for it in a chunk. */
    static int need(SpanData span) {
        long sum = HEAD + 16L * Math.min(span.parents(), MAX_LIST);
        sum += nameNeed(span.name) + nameNeed(span.tracer);
        for (int i = 0; i < Math.min(span.annotations(), MAX_LIST); i++) {
            sum += nameNeed(span.key(i)) + 9;
            sum += span.text(i) == null ? 0 : Math.min(Utf8.length(span.text(i)), Utf8.MAX_VALUE_BYTES);
        }
        for (int i = 0; i < Math.min(span.notes(), MAX_LIST); i++) {
            sum += 12 + Math.min(Utf8.length(span.note(i)), Utf8.MAX_VALUE_BYTES);
        }
        return (int) sum; // by MAX_WEIGHT, far below 2^31
    }

    private static long nameNeed(String name) {
        return 5 + (name == null ? 0 : Math.min(Utf8.length(name), Utf8.MAX_NAME_BYTES));
    }
}
