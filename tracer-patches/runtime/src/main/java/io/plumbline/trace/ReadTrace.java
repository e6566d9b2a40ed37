package io.plumbline.trace;

import java.util.concurrent.TimeUnit;

/**
 * One trace for reads of an input stream of HDFS that are roots. The DataNode's work is below the read that asked it
 * for the block, and those after it wait for the same work: each in a trace of its own would wait for nobody. Here they
 * are roots of one trace.
 *
 * <p>A trace is stored when it is over, so this one ends soon: with a block, once it has many reads or has lasted for
 * long, so that small blocks of several DataNodes are in it and can be compared. Within a block it ends when the stream
 * is left alone, or when plumbd would not keep it whole (trace.max-age, trace.max-spans). Then reads are traces of
 * their own, up to the next block.
 *
 * <p>Used by one read at a time.
 */
public final class ReadTrace {
    static final int MANY_READS = 1_000;
    static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(10);
    static final int MOST_READS = 50_000;
    static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(5);
    /** plumbd stores a trace 30 s after its last span (trace.idle): what came later would be apart from it. */
    static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(25);

    private long trace;
    private int reads;
    private long begin;
    private long last;

    private ReadTrace() {
    }

    /**
     * A sampled read begins. Null: it is a trace of its own. Else {@link #id} is that of its trace, or 0: then it is
     * told its own ({@link #begun}).
     *
     * @param now of System.nanoTime()
     */
    public static ReadTrace of(StreamHooks.Input input, long now) {
        ReadTrace kept = (ReadTrace) input.plumbReads();
        boolean first = input.plumbBeyond() > 0;
        if (kept != null && kept.goesOn(first, now)) {
            kept.reads++;
            kept.last = now;
            return kept;
        }
        ReadTrace fresh = first ? new ReadTrace() : null;
        if (fresh != null) {
            fresh.begin = now;
            fresh.last = now;
        }
        input.plumbReads(fresh);
        return fresh;
    }

    /**
     * A read has begun that may be no root of this trace: it was not sampled, or is below another span or an
     * application's. If it opens a block, whoever reads that after it has nobody to wait for.
     *
     * @param before what the stream kept, not null
     * @param reads so many it had
     */
    static void begun(StreamHooks.Input input, ReadTrace before, int reads) {
        if (input.plumbReads() == before && before.reads == reads && input.plumbBeyond() > 0) {
            input.plumbReads(null);
        }
    }

    int reads() {
        return reads;
    }

    private boolean goesOn(boolean block, long now) {
        return now - last < PAUSE_NANOS && reads < (block ? MANY_READS : MOST_READS)
                && now - begin < (block ? LONG_NANOS : MOST_NANOS);
    }

    public long id() {
        return trace;
    }

    public void begun(long id) {
        trace = id;
        reads = 1;
    }
}
