package io.plumbline.send.pack;

import io.plumbline.send.base.Counters;
import io.plumbline.send.base.IdPlace;
import io.plumbline.send.base.SpanData;

/**
 * Writes a span to the end of a chunk, in the application's thread, as it will lie in a pack of the batch:
 * idl/plumb.thrift has the form. What a span has in common with those before it in the chunk is not said again.
 */
public final class SpanWriter {
    /** A span of more is not taken, by {@link #weight}. Receivers take frames of 32 MiB; Hadoop is far below. */
    public static final long MAX_WEIGHT = 4 << 20;
    /** Receivers take no more parents, annotations or notes of one span. */
    static final int MAX_LIST = 4096;
    /** The byte that says how a span begins. */
    static final int SAME_TRACE = 1;
    static final int SAME_PARENT = 2;
    static final int ONE_PARENT = 4;
    static final int PARENT_NEAR = 6;
    /** Either of the bits that say that there is one parent. */
    static final int PARENT = SAME_PARENT | ONE_PARENT;
    static final int LISTS = 8;
    static final int MILLISECONDS = 16;
    static final int SPAN_NEAR = 32;
    static final int TRACE_NEAR = 64;
    /** A difference of places, coded, with one of these bits would take as many bytes as an id. */
    private static final long FAR = -1L << 49;
    /** In place of a shape's number: it is defined in the span, for that alone. */
    static final int ALONE = 0;
    static final int KIND_TEXT = 0;
    static final int KIND_NUMBER = 1;
    /** In place of a text's length, which is one more: it is that of the last span of this shape. */
    static final int SAME_TEXT = 0;
    /** Of a span without names and lists. */
    private static final int HEAD = 5 + 1 + 3 * 8 + 2 * Varint.MOST;
    private static final int COUNT = 5;
    /** Texts up to this length need not be looked at to tell how many bytes surely suffice. */
    private static final int SHORT = 64;
    /** Longer ones are not kept to be compared with. */
    private static final int MAX_KEPT = 128;
    private static final int WORST = 3;

    private final Counters counters;

    SpanWriter(Counters counters) {
        this.counters = counters;
    }

    /** FALSE when it has no room; the chunk then holds what it held before. */
    boolean write(SpanData span, Chunk chunk) {
        int annotations = Math.min(span.annotations(), MAX_LIST);
        Shape shape = chunk.shapes.find(span);
        int need = needOfRest(span, annotations);
        if (chunk.room() < (shape != null ? need : need + needOfNames(span, annotations))) {
            return false;
        }
        chunk.writing = true;
        chunk.cuts = 0;
        int at = shape != null ? Varint.put(chunk.array, chunk.end, shape.number) : -1;
        if (shape == null) {
            shape = chunk.shapes.add(span);
            at = putDefinition(span, annotations, shape, chunk, chunk.end);
        }
        at = putIds(span, chunk, at);
        at = Varint.putSigned(chunk.array, at, span.beginNs - chunk.begin);
        at = Varint.putSigned(chunk.array, at, span.durationNs);
        at = putValues(span, annotations, shape, chunk, at);
        at = putNotes(span, chunk, at);
        finish(span, need, chunk, at);
        return true;
    }

    private void finish(SpanData span, int need, Chunk chunk, int end) {
        if (chunk.spans++ == 0) {
            chunk.firstTracer = Shapes.orEmpty(span.tracer);
        }
        chunk.begin = span.beginNs;
        chunk.trace = span.trace;
        chunk.weight += need;
        chunk.end = end;
        chunk.writing = false;
        if (chunk.cuts > 0) {
            counters.shortened.addAndGet(chunk.cuts);
        }
    }

    private static int putDefinition(SpanData span, int annotations, Shape shape, Chunk chunk, int from) {
        int at = Varint.put(chunk.array, from, shape == null ? ALONE : shape.number);
        at = putName(span.name, chunk, at);
        at = putName(span.tracer, chunk, at);
        at = Varint.put(chunk.array, at, annotations);
        for (int i = 0; i < annotations; i++) {
            chunk.array[at] = (byte) (span.text(i) != null ? KIND_TEXT : KIND_NUMBER);
            at = putName(span.key(i), chunk, at + 1);
        }
        chunk.cuts += cut(span.annotations());
        return at;
    }

    private static int cut(int listed) {
        return listed > MAX_LIST ? 1 : 0;
    }

    private static int putName(String nameOrNull, Chunk chunk, int at) {
        String name = Shapes.orEmpty(nameOrNull);
        int number = chunk.names.number(name);
        if (number != NameTable.NONE) {
            return Varint.put(chunk.array, at, number + 1);
        }
        chunk.writtenOut++;
        chunk.array[at] = 0;
        return putText(name, Utf8.MAX_NAME_BYTES, 0, chunk, at + 1);
    }

    private static int putIds(SpanData span, Chunk chunk, int from) {
        int parents = span.parents();
        boolean one = parents == 1 && span.parentTrace(0) == span.trace;
        long place = IdPlace.placeOf(span.span);
        int bits = (span.milliseconds ? MILLISECONDS : 0) | (listsFollow(span) ? LISTS : 0);
        int at = from + 1;
        if (span.trace == chunk.trace) {
            bits |= SAME_TRACE;
        } else {
            long trace = IdPlace.placeOf(span.trace) - chunk.place;
            at = putId(span.trace, trace, chunk, at);
            bits |= near(trace) ? TRACE_NEAR : 0;
        }
        at = putId(span.span, place - chunk.place, chunk, at);
        bits |= near(place - chunk.place) ? SPAN_NEAR : 0;
        if (one && span.parentSpan(0) == chunk.parent) {
            bits |= SAME_PARENT;
        } else if (one) {
            chunk.parent = span.parentSpan(0);
            long parent = IdPlace.placeOf(chunk.parent) - place;
            at = putId(chunk.parent, parent, chunk, at);
            bits |= near(parent) ? PARENT_NEAR : ONE_PARENT;
        }
        chunk.array[from] = (byte) bits;
        chunk.place = place;
        return !one && (bits & LISTS) != 0 ? putParents(span, chunk, at) : at;
    }

    private static boolean near(long difference) {
        return ((difference << 1 ^ difference >> 63) & FAR) == 0;
    }

    private static int putId(long id, long difference, Chunk chunk, int at) {
        if (near(difference)) {
            return Varint.putSigned(chunk.array, at, difference);
        }
        chunk.bytes.putLong(at, id);
        return at + 8;
    }

    /** Besides a parent of the same trace. */
    private static boolean listsFollow(SpanData span) {
        int parents = span.parents();
        return span.notes() > 0 || parents > 1 || parents == 1 && span.parentTrace(0) != span.trace;
    }

    private static int putParents(SpanData span, Chunk chunk, int from) {
        int parents = Math.min(span.parents(), MAX_LIST);
        int at = Varint.put(chunk.array, from, parents);
        for (int i = 0; i < parents; i++) {
            chunk.bytes.putLong(at, span.parentTrace(i));
            chunk.bytes.putLong(at + 8, span.parentSpan(i));
            at += 16;
        }
        chunk.cuts += cut(span.parents());
        return at;
    }

    private static int putValues(SpanData span, int annotations, Shape shapeOrNull, Chunk chunk, int from) {
        Shapes shapes = chunk.shapes;
        int at = from;
        for (int i = 0; i < annotations; i++) {
            String text = span.text(i);
            if (shapeOrNull == null) {
                at = text == null ? Varint.putSigned(chunk.array, at, span.number(i))
                        : putText(text, Utf8.MAX_VALUE_BYTES, 1, chunk, at);
            } else if (text == null) {
                int value = shapeOrNull.first + i;
                long number = span.number(i);
                at = Varint.putSigned(chunk.array, at, number - shapes.numbers[value]);
                shapes.numbers[value] = number;
            } else {
                at = putTextOfShape(text, shapes, shapeOrNull.first + i, chunk, at);
            }
        }
        return at;
    }

    private static int putTextOfShape(String text, Shapes shapes, int value, Chunk chunk, int at) {
        if (text.equals(shapes.texts[value])) {
            chunk.array[at] = SAME_TEXT;
            return at + 1;
        }
        shapes.texts[value] = text.length() <= MAX_KEPT ? text : null;
        return putText(text, Utf8.MAX_VALUE_BYTES, 1, chunk, at);
    }

    private static int putNotes(SpanData span, Chunk chunk, int from) {
        if (!listsFollow(span)) {
            return from;
        }
        int notes = Math.min(span.notes(), MAX_LIST);
        int at = Varint.put(chunk.array, from, notes);
        for (int i = 0; i < notes; i++) {
            at = Varint.putSigned(chunk.array, at, span.noteTime(i) - span.beginNs);
            at = putText(span.note(i), Utf8.MAX_VALUE_BYTES, 0, chunk, at);
        }
        chunk.cuts += cut(span.notes());
        return at;
    }

    /** @param plus what is added to the length that stands before it */
    private static int putText(String text, int maxBytes, int plus, Chunk chunk, int at) {
        int guessed = Varint.size(Math.min(text.length(), maxBytes) + plus); // right, if it is ASCII
        int end = Utf8.put(text, maxBytes, chunk.array, at + guessed);
        if (end < 0) {
            throw new IllegalStateException("no room was left for a text");
        }
        int length = end - at - guessed;
        int size = Varint.size(length + plus);
        if (size != guessed) {
            System.arraycopy(chunk.array, at + guessed, chunk.array, at + size, length);
        }
        Varint.put(chunk.array, at, length + plus);
        if (Utf8.exceeds(text, maxBytes)) {
            chunk.cuts++;
        }
        return at + size + length;
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
        int annotations = Math.min(span.annotations(), MAX_LIST);
        return needOfRest(span, annotations) + needOfNames(span, annotations);
    }

    private static int needOfNames(SpanData span, int annotations) {
        int sum = COUNT + COUNT + nameNeed(span.name) + nameNeed(span.tracer);
        for (int i = 0; i < annotations; i++) {
            sum += 1 + nameNeed(span.key(i));
        }
        return sum; // by MAX_WEIGHT, far below 2^31
    }

    private static int nameNeed(String name) {
        return name == null ? COUNT : 1 + textNeed(name, Utf8.MAX_NAME_BYTES);
    }

    private static int textNeed(String text, int maxBytes) {
        int chars = text.length();
        return COUNT + (chars <= SHORT ? WORST * chars : (int) Math.min(Utf8.length(text), maxBytes));
    }

    private static int needOfRest(SpanData span, int annotations) {
        int sum = HEAD;
        for (int i = 0; i < annotations; i++) {
            String text = span.text(i);
            sum += text == null ? Varint.MOST : textNeed(text, Utf8.MAX_VALUE_BYTES);
        }
        int parents = span.parents();
        int notes = span.notes();
        return parents <= 1 && notes == 0 ? sum + 2 * (COUNT + 8) : sum + needOfLists(span, parents, notes);
    }

    private static int needOfLists(SpanData span, int parents, int notes) {
        int sum = COUNT + 16 * Math.min(parents, MAX_LIST) + COUNT;
        for (int i = 0; i < Math.min(notes, MAX_LIST); i++) {
            sum += Varint.MOST + textNeed(span.note(i), Utf8.MAX_VALUE_BYTES);
        }
        return sum;
    }
}
