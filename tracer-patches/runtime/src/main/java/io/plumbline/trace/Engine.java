package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;

/**
 * Spans as one generation of Hadoop knows them: through HTrace's tracer (Hadoop 2.10 to 3.3.1) or by our own means
 * (3.3.2 and later, and processes without Hadoop's tracing). One per process, chosen once: {@link Engines}.
 *
 * <p>No method throws; what goes wrong inside is counted ({@link Trouble}).
 */
public abstract class Engine {
    /**
     * A call of the function starts. Null when nothing is to be recorded and nothing to be done at its end: this way
     * costs one thread-local read and allocates nothing. An {@link OpenScope} when it is recorded. Any other object
     * when a root was not sampled: it is given to {@link #leave}, and nothing below this call is sampled either.
     */
    public abstract Object begin(Point point);

    /**
     * As {@link #begin}, where a root may belong to the trace of a read before it.
     *
     * @param input the stream; null: it is not woven
     */
    public Object beginRead(StreamHooks.Input input, Point point) {
        return begin(point);
    }

    /**
     * A task of Spark starts in this thread: a root, whatever is going on, that belongs to that trace. As {@link
     * #begin}; null, too, when the policy wants no such root at all: then what is below decides for itself.
     */
    public abstract Object beginTask(Point point, long trace);

    /** The end of a call whose begin() returned neither null nor an OpenScope. */
    public abstract void leave(Object token);

    /** The current span of this thread, for another thread to go on from; null when there is none. */
    public abstract SpanRef capture();

    /**
     * Like {@link #begin}, below a span of another thread. Null when {@code parent} is null or the point is
     * background work that is not traced.
     */
    public abstract OpenScope beginBelow(SpanRef parent, Point point);

    /**
     * Records a finished call without children, below {@code parent}.
     *
     * @param beginNanos and
     * @param endNanos of System.nanoTime()
     * @param values strings, Longs and Integers for the point's enterKeys; null entries are left out
     */
    public abstract void leaf(SpanRef parent, Point point, long beginNanos, long endNanos, Object... values);

    /** A span below {@code parent} that is recorded later, so that others may lie below it. Null: there is none. */
    public SpanRef reserve(SpanRef parent) {
        return null;
    }

    /** As {@link #leaf}. @param self what {@link #reserve} gave for the same parent */
    public void reserved(SpanRef self, SpanRef parent, Point point, long beginNanos, long endNanos) {
    }

    /**
     * The output stream that a call of a {@link Point#STREAM} opens in this thread, for the object that it is; null
     * when that is no trace of its own. Once for each call.
     *
     * @param number of the file
     */
    public Object openedStream(long number) {
        return null;
    }

    /** Roots of Hadoop's that begin in this thread belong to that stream. @param stream null: no more */
    public void within(Object stream) {
    }

    /** The stream was closed: its span ends. Any thread; once counts. @param thrown what closing threw, or null */
    public void closedStream(Object stream, Throwable thrown) {
    }

    /** For the current span of this thread, if there is one. */
    public void annotateCurrent(String key, long value) {
    }
}
