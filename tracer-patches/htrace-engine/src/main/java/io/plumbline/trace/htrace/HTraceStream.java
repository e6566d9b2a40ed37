package io.plumbline.trace.htrace;

import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;

/**
 * An output stream of HDFS that is a trace of its own, because no span was going on where it was opened. Opened in one
 * thread, used and closed in any.
 */
final class HTraceStream {
    static final Point POINT = PointBootstrap.point("DFSOutputStream#stream", "client", Point.ROOT, "", "");

    /** What a root in this thread is opening, until the stream itself takes it. */
    private static final ThreadLocal<HTraceStream> OPENING = new ThreadLocal<>();
    /** Whose calls the roots of Hadoop's in this thread are. */
    private static final ThreadLocal<HTraceStream> WITHIN = new ThreadLocal<>();
    /** Of which nothing is recorded. */
    private static final HTraceStream UNSAMPLED = new HTraceStream(null, null);

    private final Tracer tracer;
    private final Span span;
    private boolean taken;
    private boolean ended;

    private HTraceStream(Tracer tracer, Span span) {
        this.tracer = tracer;
        this.span = span;
    }

    /** A root was not sampled. @param opens does it open a stream? */
    static void declined(boolean opens) {
        if (opens) {
            OPENING.set(UNSAMPLED);
        } else {
            left();
        }
    }

    /** The root has ended. */
    static void left() {
        if (OPENING.get() != null) {
            OPENING.remove();
        }
    }

    static Object opened(long number) {
        HTraceStream opening = OPENING.get();
        if (opening == null) {
            return null;
        }
        OPENING.remove();
        return opening.take(number);
    }

    private HTraceStream take(long number) {
        taken = true;
        if (span != null) {
            span.addKVAnnotation("stream", Long.toString(number));
        }
        return this;
    }

    static void within(Object stream) {
        if (stream == null) {
            WITHIN.remove();
        } else {
            WITHIN.set((HTraceStream) stream);
        }
    }

    /** Is a call of a stream beginning of which nothing is recorded? */
    static boolean declines() {
        return WITHIN.get() == UNSAMPLED;
    }

    /** A scope of Hadoop's that begins at top level below the stream whose call it is; null: as always. */
    static TraceScope scope(Tracer tracer, String description) {
        HTraceStream stream = WITHIN.get();
        return stream == null || stream.span == null ? null : tracer.newScope(description, stream.span.getSpanId());
    }

    synchronized void end(Throwable thrown) {
        if (span != null && !ended) {
            ended = true;
            if (thrown != null) {
                span.addKVAnnotation("exception", thrown.getClass().getName());
            }
            span.stop();
            HTraceScope.deliver(tracer, span);
        }
    }

    /** The root is sampled: the span of the stream, and that of the call that opens it. */
    static OpenScope open(Tracer tracer, TraceScope root, Point point) {
        HTraceScope outer = new HTraceScope().opened(tracer, root);
        HTraceStream stream = new HTraceStream(tracer, root.getSpan());
        try {
            HTraceScope inner = new HTraceScope().opened(tracer, tracer.newScope(point.name));
            OPENING.set(stream);
            return new Opening(stream, outer, inner);
        } catch (Throwable e) {
            outer.close(e); // else it would stay this thread's current one
            throw e;
        }
    }

    /** The call that opens a stream, below the span of the stream. That goes on afterwards, if one was opened. */
    private static final class Opening extends OpenScope {
        private final HTraceStream stream;
        private final HTraceScope outer;
        private final HTraceScope inner;

        Opening(HTraceStream stream, HTraceScope outer, HTraceScope inner) {
            this.stream = stream;
            this.outer = outer;
            this.inner = inner;
        }

        @Override
        public void annotate(String key, String value) {
            inner.annotate(key, value);
            if (key.equals("src")) {
                outer.annotate("path", value);
            }
        }

        @Override
        public void annotate(String key, long value) {
            inner.annotate(key, value);
        }

        @Override
        public void close(Throwable thrown) {
            left();
            inner.close(thrown);
            if (stream.taken && thrown == null) {
                outer.leaveOpen();
            } else {
                outer.close(thrown);
            }
        }
    }
}
