package org.apache.hadoop.tracing;

import io.plumbline.trace.own.LiveSpan;
import io.plumbline.trace.own.OwnScope;
import io.plumbline.trace.own.OwnTracer;
import io.plumbline.trace.own.UnsampledRoot;
import java.util.concurrent.ConcurrentHashMap;

/** Begins spans under one tracer name. Any thread. */
public class Tracer {
    public static final String SPAN_RECEIVER_CLASSES_KEY = "span.receiver.classes";

    /** Goes on in the name of whichever tracer began what is current. */
    private static final Tracer OF_CURRENT = new Tracer(OwnTracer.OF_CURRENT);

    private final OwnTracer own;

    public Tracer(String name) {
        this(OwnTracer.named(name));
    }

    private Tracer(OwnTracer own) {
        this.own = own;
    }

    /** Null when this thread has no span going on: callers then save themselves the trouble. */
    public static Tracer curThreadTracer() {
        return OwnTracer.current() == null ? null : OF_CURRENT;
    }

    /** The innermost span of this thread; null when there is none. */
    public static Span getCurrentSpan() {
        OwnScope current = OwnTracer.current();
        return current == null ? null : new Span(current.span());
    }

    public TraceScope newScope(String description) {
        Object begun = own.begin(description);
        if (begun == null) {
            return NullTraceScope.INSTANCE;
        }
        return begun instanceof OwnScope ? new TraceScope((OwnScope) begun, true) : unsampled((UnsampledRoot) begun);
    }

    /** The same object for each root of a thread. (Another loader's Hadoop may have used the place.) */
    private static TraceScope unsampled(UnsampledRoot root) {
        Object view = root.view;
        if (!(view instanceof TraceScope)) {
            view = new TraceScope(root);
            root.view = view;
        }
        return (TraceScope) view;
    }

    /** A span that begins now and is current in no thread: see {@link #activateSpan}. */
    public Span newSpan(String description, SpanContext spanCtx) {
        LiveSpan span = spanCtx == null || !spanCtx.valid() ? null : own.span(description, spanCtx.trace, spanCtx.span);
        return span == null ? new Span() : new Span(span);
    }

    public TraceScope newScope(String description, SpanContext spanCtx) {
        return newScope(description, spanCtx, true);
    }

    /**
     * Below a span of another thread or process. Without a context nothing was sampled there, and nothing is here. With
     * {@code finishSpanOnClose = false} the scope always has a span: callers go on with it unasked.
     */
    public TraceScope newScope(String description, SpanContext spanCtx, boolean finishSpanOnClose) {
        OwnScope scope = spanCtx == null || !spanCtx.valid() ? null
                : own.beginBelow(description, spanCtx.trace, spanCtx.span);
        if (scope == null) {
            return finishSpanOnClose ? NullTraceScope.INSTANCE : new TraceScope(new Span());
        }
        addParents(scope, spanCtx);
        return new TraceScope(scope, finishSpanOnClose);
    }

    private static void addParents(OwnScope scope, SpanContext spanCtx) {
        Object[] all = spanCtx.together();
        for (int i = 0; all != null && i < all.length; i++) {
            SpanContext other = (SpanContext) all[i];
            if (!other.equals(spanCtx)) {
                OwnTracer.addParent(scope, other.trace, other.span);
            }
        }
    }

    /** The span is current in this thread until the scope is closed, which ends it too. */
    public TraceScope activateSpan(Span span) {
        LiveSpan live = span == null ? null : span.live();
        OwnScope scope = live == null ? null : OwnTracer.activate(live);
        return scope == null ? NullTraceScope.INSTANCE : new TraceScope(scope, true);
    }

    public void close() {
    }

    public String getName() {
        return own.name();
    }

    /** Makes tracers: one for each name in a process. */
    public static class Builder {
        private static final ConcurrentHashMap<String, Tracer> BY_NAME = new ConcurrentHashMap<>();
        private final String name;

        public Builder(final String name) {
            this.name = name == null ? "" : name;
        }

        /** {@code conf} may be null; what is in it is known already. */
        public Builder conf(TraceConfiguration conf) {
            return this;
        }

        public Tracer build() {
            return BY_NAME.computeIfAbsent(name, Tracer::new);
        }
    }
}
