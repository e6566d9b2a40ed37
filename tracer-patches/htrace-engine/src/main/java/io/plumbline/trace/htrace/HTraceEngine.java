package io.plumbline.trace.htrace;

import io.plumbline.trace.Background;
import io.plumbline.trace.Engine;
import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.Sampling;
import io.plumbline.trace.SpanRef;
import io.plumbline.trace.StreamHooks;
import io.plumbline.trace.own.SpanClock;
import io.plumbline.trace.report.Trouble;
import org.apache.htrace.core.MilliSpan;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;

/** Spans through Hadoop's own tracer, among its own. Any thread. */
public final class HTraceEngine extends Engine {
    private static final long NS_PER_MS = 1_000_000;

    /** Through reflection. */
    public HTraceEngine() {
    }

    @Override
    public Object begin(Point point) {
        return beginRead(null, point);
    }

    @Override
    public Object beginRead(StreamHooks.Input input, Point point) {
        try {
            if (Tracer.getCurrentSpan() == null) {
                return point.mayBeRoot() ? Roots.begin(point, input) : null;
            }
            if (untraced(point)) {
                return null;
            }
            HTraceScope open = new HTraceScope();
            Tracer tracer = Tracer.curThreadTracer();
            return point.unlessLeaf() ? unlessLeaf(open, tracer, point)
                    : open.opened(tracer, tracer.newScope(point.name));
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    @Override
    public Object beginTask(Point point, long trace) {
        try {
            Sampling sampling = Sampling.current();
            Tracer tracer = sampling.never(point) ? null : Tracers.client();
            if (tracer == null) {
                return null;
            }
            if (!sampling.sample(point, trace)) {
                return Roots.decline(tracer);
            }
            HTraceScope open = new HTraceScope();
            return open.opened(tracer, rootOf(tracer, trace, point.name));
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** A span below one of that trace, which is then told that it has no parent. */
    static TraceScope rootOf(Tracer tracer, long trace, String name) {
        TraceScope scope = below(tracer, new SpanId(trace, 1), name);
        scope.getSpan().setParents(new SpanId[0]);
        return scope;
    }

    /** HTrace asks the current span for its id here; only what comes of the new one counts as asking. */
    private static OpenScope unlessLeaf(HTraceScope open, Tracer tracer, Point point) {
        SpanTimes above = SpanTimes.of(Tracer.getCurrentSpan());
        SpanTimes.deaf(above, true);
        try {
            open.opened(tracer, tracer.newScope(point.name));
        } finally {
            SpanTimes.deaf(above, false);
        }
        open.dropUnlessAsked(above);
        return open;
    }

    private static boolean untraced(Point point) {
        return point.background() && !Background.on();
    }

    @Override
    public void leave(Object token) {
        try {
            Roots.leave(token);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    @Override
    public SpanRef capture() {
        try {
            Span span = Tracer.getCurrentSpan();
            return span == null ? null : new HTraceRef(span.getSpanId(), Tracer.curThreadTracer());
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    @Override
    public OpenScope beginBelow(SpanRef parent, Point point) {
        try {
            Tracer tracer = parent == null || untraced(point) ? null : tracer(parent, point);
            if (tracer == null) {
                return null;
            }
            HTraceScope open = new HTraceScope();
            open.opened(tracer, below(tracer, id(parent), point.name));
            if (point.unlessLeaf()) {
                open.dropUnlessAsked(null);
            }
            return open;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** HTrace would make what happens to be current in this thread a parent too, and the first one. */
    private static TraceScope below(Tracer tracer, SpanId parent, String name) {
        Object current = Tracer.getCurrentSpan() != null && tracer instanceof PatchedTracer
                ? ((PatchedTracer) tracer).plumbCurrent() : null;
        if (current == null) {
            return tracer.newScope(name, parent);
        }
        PatchedTracer patched = (PatchedTracer) tracer;
        patched.plumbCurrent(null);
        try {
            TraceScope scope = tracer.newScope(name, parent);
            ((PatchedScope) (Object) scope).plumbParent(current);
            return scope;
        } catch (Throwable e) {
            patched.plumbCurrent(current);
            throw e;
        }
    }

    @Override
    public void leaf(SpanRef parent, Point point, long beginNanos, long endNanos, Object... values) {
        try {
            Tracer tracer = parent == null || untraced(point) ? null : tracer(parent, point);
            if (tracer == null) {
                return;
            }
            MilliSpan span = leaf(tracer, id(parent), point.name, beginNanos, endNanos);
            for (int i = 0; i < values.length && i < point.enterKeys.size(); i++) {
                if (values[i] != null) {
                    span.addKVAnnotation(point.enterKeys.get(i), values[i].toString());
                }
            }
            HTraceScope.deliver(tracer, span);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    @Override
    public SpanRef reserve(SpanRef parent) {
        Tracer tracer = parent instanceof HTraceRef ? ((HTraceRef) parent).tracer : null;
        return tracer == null ? null : new HTraceRef(id(parent).newChildId(), tracer);
    }

    @Override
    public void reserved(SpanRef self, SpanRef parent, Point point, long beginNanos, long endNanos) {
        try {
            HTraceRef own = (HTraceRef) self;
            HTraceScope.deliver(own.tracer, leaf(own, id(parent), point.name, beginNanos, endNanos));
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    @Override
    public Object openedStream(long number) {
        return HTraceStream.opened(number);
    }

    @Override
    public void within(Object stream) {
        HTraceStream.within(stream);
    }

    @Override
    public void closedStream(Object stream, Throwable thrown) {
        ((HTraceStream) stream).end(thrown);
    }

    @Override
    public void annotateCurrent(String key, long value) {
        Span span = Tracer.getCurrentSpan();
        if (span != null) {
            span.addKVAnnotation(key, Long.toString(value));
        }
    }

    /** A span that is over; not delivered yet. */
    static MilliSpan leaf(Tracer tracer, SpanId parent, String name, long beginNanos, long endNanos) {
        return leaf(new HTraceRef(parent.newChildId(), tracer), parent, name, beginNanos, endNanos);
    }

    private static MilliSpan leaf(HTraceRef self, SpanId parent, String name, long beginNanos, long endNanos) {
        MilliSpan span = new MilliSpan.Builder()
                .tracerId(self.tracer.getTracerId())
                .begin(SpanClock.epoch(beginNanos) / NS_PER_MS)
                .end(SpanClock.epoch(endNanos) / NS_PER_MS)
                .description(name)
                .parents(new SpanId[] {parent})
                .spanId(self.id)
                .build();
        if (span instanceof PatchedSpan) {
            ((PatchedSpan) span).plumbTimes(new SpanTimes(beginNanos, endNanos));
        }
        return span;
    }

    private static SpanId id(SpanRef ref) {
        return ref instanceof HTraceRef ? ((HTraceRef) ref).id : new SpanId(ref.trace, ref.span);
    }

    private static Tracer tracer(SpanRef ref, Point point) {
        return ref instanceof HTraceRef ? ((HTraceRef) ref).tracer : Tracers.ofRole(point.role);
    }
}
