package io.plumbline.send.pack;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A piece of the queue: spans in the form in which they go to the receiver ({@link SpanWriter} writes them), and what
 * the next of them can refer to. Belongs to one thread at a time, which hands it on whole.
 */
public final class Chunk {
    /** A thread starts with the smallest; one that fills it gets a larger one next. */
    public static final int[] SIZES = {1 << 10, 4 << 10, 16 << 10, 64 << 10};
    /** No size of these: made for one large span. */
    static final int LARGE = SIZES.length;
    private static final int[] MOST_NAMES = {32, 64, 64, 64, 16};
    private static final int[] MOST_SHAPES = {8, 16, 32, 32, 4};
    private static final int[] MOST_VALUES = {24, 48, 64, 64, 16};
    /** Object headers, and the rest of this object. */
    private static final int OVERHEAD = 200;

    final int level;
    final byte[] array;
    /** Of the same bytes, the lowest first. */
    final ByteBuffer bytes;
    final NameTable names;
    final Shapes shapes;
    /** Where the next span goes. */
    int end;
    public int spans;
    /** What the spans are measured by: bytes that each surely suffices with when it stands alone. */
    public long weight;
    /** Names that are among the spans and not in the table. */
    public int writtenOut;
    /** The process of the first span. */
    public String firstTracer;
    /** Of the last span: its trace, the place of its id, its begin, and the last parent that was given. */
    long trace;
    long place;
    long begin;
    long parent;
    /** A span is being written; stays so where that broke off, and then no more go into this chunk. */
    boolean writing;
    /** Spans that may still be written into it: reserved in the queue's count. */
    int credits;
    /** Texts cut in the span that is being written. */
    int cuts;
    /** In a list of chunks. */
    public Chunk next;

    Chunk(int level, int capacity) {
        this.level = level;
        array = new byte[capacity];
        bytes = ByteBuffer.wrap(array).order(ByteOrder.LITTLE_ENDIAN);
        names = new NameTable(MOST_NAMES[level]);
        shapes = new Shapes(MOST_SHAPES[level], MOST_VALUES[level]);
    }

    public static long cost(int level, int capacity) {
        return capacity + OVERHEAD + 8L * MOST_NAMES[level] + Shapes.cost(MOST_SHAPES[level], MOST_VALUES[level]);
    }

    long cost() {
        return cost(level, array.length);
    }

    int room() {
        return writing ? 0 : array.length - end;
    }

    /** For its next use. */
    void clear() {
        names.clear();
        shapes.clear();
        end = 0;
        spans = 0;
        weight = 0;
        writtenOut = 0;
        firstTracer = null;
        trace = 0;
        place = 0;
        begin = 0;
        parent = 0;
        writing = false;
        credits = 0;
        next = null;
    }
}
