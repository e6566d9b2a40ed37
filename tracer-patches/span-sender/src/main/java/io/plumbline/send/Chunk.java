package io.plumbline.send;

import java.nio.ByteBuffer;

/**
 * A piece of the queue: spans in a compact form of our own ({@link SpanWriter} writes, {@link SpanTranslator} reads),
 * and the few names that they refer to. Belongs to one thread at a time, which hands it on whole.
 *
 * <p>Names (of functions, processes, annotation keys) repeat from span to span: the chunk holds each string once, in a
 * small hash table, and spans hold its place in it. What finds no room there is written out in the span.
 */
final class Chunk {
    /** A thread starts with the smallest; one that fills it gets a larger one next. */
    static final int[] SIZES = {1 << 10, 4 << 10, 16 << 10};
    /** No size of these: made for one large span. */
    static final int LARGE = SIZES.length;
    /** Longer names are written out, lest small chunks keep much memory alive. */
    static final int MAX_NAME_CHARS = 128;
    /** In place of a name's number: the name itself follows. */
    static final int WRITTEN_OUT = 255;
    private static final int[] NAME_SLOTS = {32, 64, 128, 128};
    /** Object headers, and the table's references with the strings' share. */
    private static final int OVERHEAD = 128;

    final int level;
    final byte[] array;
    final ByteBuffer bytes;
    final String[] names;
    private int nameCount;
    /** Where the next span goes. */
    int end;
    /** Where the next span to read is. */
    int start;
    /** Between start and end. */
    int spans;
    /** Spans that may still be written into it: reserved in the queue's count. */
    int credits;
    /** Texts cut in the span that is being written. */
    int cuts;
    /** In a list of chunks. */
    Chunk next;

    Chunk(int level, int capacity) {
        this.level = level;
        array = new byte[capacity];
        bytes = ByteBuffer.wrap(array);
        names = new String[NAME_SLOTS[level]];
    }

    static long cost(int level, int capacity) {
        return capacity + OVERHEAD + 8L * NAME_SLOTS[level];
    }

    long cost() {
        return cost(level, array.length);
    }

    int room() {
        return array.length - end;
    }

    /** The number of a name; WRITTEN_OUT when the table does not take it. */
    int nameId(String name) {
        if (name.length() > MAX_NAME_CHARS) {
            return WRITTEN_OUT;
        }
        int hash = name.hashCode();
        int mask = names.length - 1;
        int i = (hash ^ hash >>> 16 ^ hash >>> 7) & mask;
        while (true) {
            String known = names[i];
            if (known == name) {
                return i;
            }
            if (known == null) {
                return addName(name, i);
            }
            if (known.equals(name)) {
                return i;
            }
            i = i + 1 & mask;
        }
    }

    /** A quarter of the table stays empty, so that a search ends. */
    private int addName(String name, int slot) {
        if (4 * nameCount >= 3 * names.length) {
            return WRITTEN_OUT;
        }
        nameCount++;
        names[slot] = name;
        return slot;
    }

    /** For its next use. */
    void clear() {
        if (nameCount > 0) {
            java.util.Arrays.fill(names, null);
        }
        nameCount = 0;
        start = 0;
        end = 0;
        spans = 0;
        credits = 0;
        next = null;
    }
}
