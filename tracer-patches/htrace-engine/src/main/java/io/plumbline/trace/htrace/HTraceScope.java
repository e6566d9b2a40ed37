package io.plumbline.trace.htrace;

import io.plumbline.trace.OpenScope;
import io.plumbline.trace.report.Trouble;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanReceiver;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;

/** A function's span as a scope of HTrace. */
final class HTraceScope extends OpenScope {
    /** Made once: an application that does this may do it often. */
    private static final Exception NOT_CURRENT =
            new IllegalStateException("a scope was not the current one of its thread at its end");

    /** Made before the scope is opened, so that nothing can fail between opening it and handing it out. */
    private Tracer tracer;
    private TraceScope scope;
    private boolean closed;

    HTraceScope opened(Tracer by, TraceScope opened) {
        tracer = by;
        scope = opened;
        if (opened instanceof PatchedScope) {
            ((PatchedScope) opened).plumbOwn(true);
        }
        return this;
    }

    /**
     * The span is not recorded if nothing comes to be below it. @param above of the current span before; may be null
     */
    void dropUnlessAsked(SpanTimes above) {
        SpanTimes times = SpanTimes.of(scope.getSpan());
        if (times != null) {
            times.dropUnlessAsked(above);
        }
    }

    @Override
    public void annotate(String key, String value) {
        scope.addKVAnnotation(key, value);
    }

    @Override
    public void annotate(String key, long value) {
        scope.addKVAnnotation(key, Long.toString(value));
    }

    /** HTrace's own close() throws when this is not the current scope or a receiver throws: hence not through that. */
    @Override
    public void close(Throwable thrown) {
        if (closed) {
            return;
        }
        closed = true;
        TraceScope closing = scope;
        SpanTimes times = SpanTimes.of(closing.getSpan());
        if (thrown != null) {
            SpanTimes.asked(times);
            annotate("exception", thrown.getClass().getName());
        }
        if (tracer instanceof PatchedTracer && closing instanceof PatchedScope) {
            leave((PatchedTracer) tracer, closing);
            closing.getSpan().stop();
            if (times == null || !times.droppable()) {
                deliver(tracer, closing.getSpan());
            }
        } else if (Tracer.getCurrentSpan() == closing.getSpan()) {
            closing.close();
        } else {
            Trouble.count(Trouble.Kind.SCOPE, NOT_CURRENT);
        }
    }

    /** Takes it from the thread; its span goes on. Of a patched tracer. */
    void leaveOpen() {
        if (!closed) {
            closed = true;
            leave((PatchedTracer) tracer, scope);
        }
    }

    private static void leave(PatchedTracer tracer, TraceScope closing) {
        if (!ScopeChain.remove(tracer, closing)) {
            Trouble.count(Trouble.Kind.SCOPE, NOT_CURRENT);
        }
        if (!tracer.plumbTopLevel()) {
            tracer.plumbPop();
        }
    }

    /** To all receivers of the tracer, whatever one of them throws. */
    static void deliver(Tracer tracer, Span span) {
        for (SpanReceiver receiver : tracer.getTracerPool().getReceivers()) {
            try {
                receiver.receiveSpan(span);
            } catch (Throwable e) {
                Trouble.count(Trouble.Kind.RECEIVER, e);
            }
        }
    }
}
