package io.plumbline.trace.own;

import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;

/**
 * An output stream of HDFS that is a trace of its own, because no span was going on where it was opened. Opened in one
 * thread, used and closed in any.
 */
final class OwnStream {
    static final Point POINT = PointBootstrap.point("DFSOutputStream#stream", "client", Point.ROOT, "", "");
    /** Of which nothing is recorded. */
    static final OwnStream UNSAMPLED = new OwnStream(null);

    private final LiveSpan span;
    private final int serial;
    /** Is there a stream that will end the span? */
    private boolean taken;

    /** @param span shared; null: not sampled */
    OwnStream(LiveSpan span) {
        this.span = span;
        serial = span == null ? 0 : span.serial();
    }

    OwnStream take(long number) {
        taken = true;
        if (span != null) {
            span.annotate(serial, "stream", number);
        }
        return this;
    }

    boolean taken() {
        return taken;
    }

    void annotate(String key, String value) {
        span.annotate(serial, key, value);
    }

    /** A call of the stream, where no span is going on: an OwnScope or an UnsampledRoot, as for any root. */
    Object begin(ThreadState state, String name, String tracer) {
        if (span == null) {
            state.unsampled = true;
            return state.unsampledRoot;
        }
        return OwnEngine.below(state, span.trace(), span.span(), name, tracer).entered(state);
    }

    void end(Throwable thrown) {
        if (span != null) {
            if (thrown != null) {
                span.annotate(serial, "exception", thrown.getClass().getName());
            }
            span.end(serial);
        }
    }
}
