package io.plumbline.trace.htrace;

import io.plumbline.trace.own.SpanClock;
import java.util.Arrays;

/**
 * The times of one span in nanoseconds. Written by the thread that works in the span, read by it when the span ends; a
 * thread that adds notes to a span of another one may see its time missing, as HTrace itself would lose the note.
 */
public final class SpanTimes {
    private static final int RUNNING = -1;
    private static final long[] NONE = {};

    /** Of System.nanoTime(). */
    final long beginNanos;
    private volatile long durationNs = RUNNING;
    /** Since the epoch, by the note's place in the span's timeline; 0 where it is not known. */
    private volatile long[] notes = NONE;
    /** Of a span that is dropped unless somebody asks for its id; {@link #above} may be another such span. */
    private boolean droppable;
    private boolean deaf;
    private SpanTimes above;

    SpanTimes(long beginNanos) {
        this.beginNanos = beginNanos;
    }

    /** Of a span that is over. */
    SpanTimes(long beginNanos, long endNanos) {
        this.beginNanos = beginNanos;
        durationNs = Math.max(0, endNanos - beginNanos);
    }

    /**
     * The span is not recorded if nobody asks for its id, so that nothing can be below it. Its own thread, at its
     * begin.
     *
     * @param parent of it; null: none that could be dropped
     */
    void dropUnlessAsked(SpanTimes parent) {
        droppable = true;
        above = parent;
    }

    boolean droppable() {
        return droppable;
    }

    /** Somebody asks for the span's id, in MilliSpan. */
    public static void asked(SpanTimes times) {
        for (SpanTimes one = times; one != null && one.droppable && !one.deaf; one = one.above) {
            one.droppable = false;
        }
    }

    /** While a child begins that may be dropped itself. */
    static void deaf(SpanTimes timesOrNull, boolean deaf) {
        if (timesOrNull != null) {
            timesOrNull.deaf = deaf;
        }
    }

    /** Null when they are not known. */
    static SpanTimes of(Object span) {
        return span instanceof PatchedSpan ? ((PatchedSpan) span).plumbTimes() : null;
    }

    /** Since the epoch; 0 when it is not known. */
    public static long beginNs(SpanTimes times) {
        return times == null || times.durationNs < 0 ? 0 : SpanClock.epoch(times.beginNanos);
    }

    public static long durationNs(SpanTimes times) {
        return times == null ? 0 : Math.max(0, times.durationNs);
    }

    public static long noteNs(SpanTimes times, int i) {
        long[] notes = times == null ? NONE : times.notes;
        return i >= 0 && i < notes.length ? notes[i] : 0;
    }

    /** HTrace has stopped the span. Once counts, as there. */
    public static void stopped(SpanTimes times) {
        if (times != null && times.durationNs < 0) {
            times.durationNs = Math.max(0, System.nanoTime() - times.beginNanos);
        }
    }

    /** HTrace has put a note at the end of the timeline. @param size of the timeline now */
    public static void noted(SpanTimes times, int size) {
        if (times != null) {
            times.note(size - 1, SpanClock.epoch(System.nanoTime()));
        }
    }

    private synchronized void note(int i, long ns) {
        long[] more = i < notes.length ? notes : Arrays.copyOf(notes, Math.max(2, 2 * i));
        if (i >= 0 && i < more.length) {
            more[i] = ns;
        }
        notes = more;
    }
}
