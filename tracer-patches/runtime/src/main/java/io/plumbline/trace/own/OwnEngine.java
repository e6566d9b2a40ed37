package io.plumbline.trace.own;

import io.plumbline.send.base.SpanData;
import io.plumbline.trace.ApplicationSpan;
import io.plumbline.trace.Background;
import io.plumbline.trace.Delivery;
import io.plumbline.trace.Engine;
import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.ReadTrace;
import io.plumbline.trace.Sampling;
import io.plumbline.trace.SpanRef;
import io.plumbline.trace.StreamHooks;
import io.plumbline.trace.Tracers;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Spans by our own means. Under Hadoop's revived tracing classes, and alone where there are none. */
public final class OwnEngine extends Engine {
    public static final OwnEngine INSTANCE = new OwnEngine();

    private static final AtomicLong LEAKED = new AtomicLong();

    private OwnEngine() {
    }

    static void countLeaked() {
        LEAKED.incrementAndGet();
    }

    /** Scopes that were open when one around them was closed, and were closed with it. */
    static long leaked() {
        return LEAKED.get();
    }

    @Override
    public Object begin(Point point) {
        return beginRead(null, point);
    }

    @Override
    public Object beginRead(StreamHooks.Input input, Point point) {
        ThreadState state = ThreadState.get();
        OwnScope above = state.current();
        if (above != null) {
            return wanted(point) ? within(state, above, point) : null;
        }
        return point.mayBeRoot() && !state.unsampled() ? root(state, point, input) : null;
    }

    private static Object root(ThreadState state, Point point, StreamHooks.Input input) {
        Sampling sampling = Sampling.current();
        if (sampling.never() || !wanted(point)) {
            return null;
        }
        SpanRef outer = ApplicationSpan.current();
        if (outer == null && !sampling.sample(point.opensStream() ? OwnStream.POINT : point)) {
            state.unsampled = true;
            state.opening = point.opensStream() ? OwnStream.UNSAMPLED : null;
            return state.unsampledRoot;
        }
        if (point.opensStream()) {
            OwnScope stream = outermost(state, outer, OwnStream.POINT.name, Tracers.of(point));
            stream.shareSpan();
            return new OpeningScope(state, stream.entered(state), point);
        }
        return (outer == null && input != null ? read(state, input, point)
                : outermost(state, outer, point.name, Tracers.of(point))).entered(state);
    }

    private static OwnScope read(ThreadState state, StreamHooks.Input input, Point point) {
        long now = System.nanoTime();
        ReadTrace reads = ReadTrace.of(input, now);
        long trace = reads == null || reads.id() == 0 ? state.newId() : reads.id();
        if (reads != null && reads.id() == 0) {
            reads.begun(trace);
        }
        return OwnScope.begunAt(state, point.name, Tracers.of(point), trace, now);
    }

    /** The first span of ours in this thread: below the application's, or a root where outer is null. */
    static OwnScope outermost(ThreadState state, SpanRef outer, String name, String tracer) {
        return outer == null ? OwnScope.begun(state, name, tracer, state.newId())
                : below(state, outer.trace, outer.span, name, tracer);
    }

    @Override
    public Object openedStream(long number) {
        ThreadState state = ThreadState.get();
        OwnStream opening = state.opening;
        state.opening = null;
        return opening == null ? null : opening.take(number);
    }

    @Override
    public void within(Object stream) {
        ThreadState.get().within = (OwnStream) stream;
    }

    @Override
    public void closedStream(Object stream, Throwable thrown) {
        ((OwnStream) stream).end(thrown);
    }

    @Override
    public void annotateCurrent(String key, long value) {
        OwnScope current = ThreadState.get().current();
        if (current != null) {
            current.annotate(key, value);
        }
    }

    @Override
    public Object beginTask(Point point, long trace) {
        ThreadState state = ThreadState.get();
        Sampling sampling = Sampling.current();
        if (sampling.never(point)) {
            return null;
        }
        if (!sampling.sample(point, trace)) {
            state.unsampled = true;
            return state.unsampledRoot;
        }
        OwnScope scope = OwnScope.begun(state, point.name, Tracers.of(point), trace);
        scope.shareSpan();
        return scope.entered(state);
    }

    private static boolean wanted(Point point) {
        return !point.background() || Background.on();
    }

    private static OwnScope within(ThreadState state, OwnScope above, Point point) {
        if (!point.unlessLeaf()) {
            return child(state, above, point.name, above.span().tracer());
        }
        LiveSpan parent = above.spanUnasked();
        return below(state, parent.trace(), parent.span(), point.name, parent.tracer()).unlessLeaf().entered(state);
    }

    static OwnScope child(ThreadState state, OwnScope above, String name, String tracer) {
        LiveSpan parent = above.span();
        return below(state, parent.trace(), parent.span(), name, tracer).entered(state);
    }

    static OwnScope below(ThreadState state, long trace, long span, String name, String tracer) {
        OwnScope scope = OwnScope.begun(state, name, tracer, trace);
        scope.parent(trace, span);
        return scope;
    }

    @Override
    public void leave(Object token) {
        if (token instanceof UnsampledRoot) {
            ((UnsampledRoot) token).leave();
        }
    }

    @Override
    public SpanRef capture() {
        OwnScope current = ThreadState.get().current();
        if (current == null) {
            return null;
        }
        LiveSpan span = current.span();
        return new OwnRef(span.trace(), span.span(), span.tracer());
    }

    @Override
    public OpenScope beginBelow(SpanRef parent, Point point) {
        if (parent == null || !wanted(point)) {
            return null;
        }
        ThreadState state = ThreadState.get();
        OwnScope scope = below(state, parent.trace, parent.span, point.name, tracer(parent, point));
        return (point.unlessLeaf() ? scope.unlessLeaf() : scope).entered(state);
    }

    private static String tracer(SpanRef parent, Point point) {
        return parent instanceof OwnRef ? ((OwnRef) parent).tracer : Tracers.of(point);
    }

    @Override
    public void leaf(SpanRef parent, Point point, long beginNanos, long endNanos, Object... values) {
        if (parent != null && wanted(point)) {
            SpanData data = ThreadState.get().leafOf(parent.trace, parent.span);
            fill(data, point.enterKeys, values);
            leaf(data, point.name, tracer(parent, point), beginNanos, endNanos);
        }
    }

    @Override
    public SpanRef reserve(SpanRef parent) {
        String tracer = parent instanceof OwnRef ? ((OwnRef) parent).tracer : null;
        return tracer == null ? null : new OwnRef(parent.trace, ThreadState.get().newId(), tracer);
    }

    @Override
    public void reserved(SpanRef self, SpanRef parent, Point point, long beginNanos, long endNanos) {
        SpanData data = ThreadState.get().leafOf(self.span, parent.trace, parent.span);
        leaf(data, point.name, tracer(parent, point), beginNanos, endNanos);
    }

    private static void fill(SpanData data, List<String> keys, Object[] values) {
        int n = values == null ? 0 : Math.min(keys.size(), values.length);
        for (int i = 0; i < n; i++) {
            Object value = values[i];
            if (value instanceof Long || value instanceof Integer) {
                data.annotate(keys.get(i), ((Number) value).longValue());
            } else if (value != null) {
                data.annotate(keys.get(i), value.toString());
            }
        }
    }

    static void leaf(SpanData data, String name, String tracer, long beginNanos, long endNanos) {
        data.name = name;
        data.tracer = tracer;
        data.beginNs = SpanClock.epoch(beginNanos);
        data.durationNs = Math.max(0, endNanos - beginNanos);
        Delivery.send(data);
        data.clear();
    }
}
