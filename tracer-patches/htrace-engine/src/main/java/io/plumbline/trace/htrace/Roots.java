package io.plumbline.trace.htrace;

import io.plumbline.trace.ApplicationSpan;
import io.plumbline.trace.Background;
import io.plumbline.trace.Point;
import io.plumbline.trace.ReadTrace;
import io.plumbline.trace.Sampling;
import io.plumbline.trace.SpanRef;
import io.plumbline.trace.StreamHooks;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Switch;
import org.apache.htrace.core.Sampler;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;

/**
 * Which calls begin a trace. Asked once: what is below an unsampled root opens a scope of HTrace that records nothing.
 * HTrace keeps account of those for each tracer by itself; here also across the tracers of one process, as when the
 * shell's tracer has declined and the file system's comes next.
 */
final class Roots {
    /**
     * The tracer that declined last in this thread. What it declined is still going on while it is not at top level.
     */
    private static final ThreadLocal<PatchedTracer> DECLINED = new ThreadLocal<>();

    private Roots() {
    }

    /** Where no span is going on in this thread. Null, an HTraceScope, or what {@link #leave} takes. */
    static Object begin(Point point, StreamHooks.Input input) {
        Sampling sampling = Sampling.current();
        boolean unset = sampling.unset();
        if (!unset && sampling.never() || point.background() && !Background.on()) {
            return null;
        }
        Tracer tracer = Tracers.ofRole(point.role);
        if (!(tracer instanceof PatchedTracer)) {
            return tracer == null ? null : beginUnpatched(tracer, point);
        }
        PatchedTracer patched = (PatchedTracer) tracer;
        if (!patched.plumbTopLevel() || belowDeclined(patched)) {
            return null;
        }
        boolean stream = point.opensStream();
        SpanRef outer = sampling.never() ? null : ApplicationSpan.current();
        if (outer != null || (unset ? own(tracer) : sampling.sample(stream ? HTraceStream.POINT : point))) {
            if (stream) {
                return HTraceStream.open(tracer, outermost(tracer, outer, HTraceStream.POINT.name), point);
            }
            HTraceScope open = new HTraceScope();
            return open.opened(tracer, outer == null && input != null ? read(tracer, input, point.name)
                    : outermost(tracer, outer, point.name));
        }
        HTraceStream.declined(stream);
        return decline(tracer);
    }

    /** The first span in this thread, of a patched tracer: below the application's, or a root where outer is null. */
    private static TraceScope outermost(Tracer tracer, SpanRef outer, String name) {
        return outer == null ? (TraceScope) ((PatchedTracer) tracer).plumbRoot(name)
                : tracer.newScope(name, new SpanId(outer.trace, outer.span));
    }

    private static TraceScope read(Tracer tracer, StreamHooks.Input input, String name) {
        ReadTrace reads = ReadTrace.of(input, System.nanoTime());
        if (reads != null && reads.id() != 0) {
            return HTraceEngine.rootOf(tracer, reads.id(), name);
        }
        TraceScope scope = outermost(tracer, null, name);
        if (reads != null) {
            reads.begun(scope.getSpanId().getHigh());
        }
        return scope;
    }

    /** Nothing is recorded until {@link #leave} gets what this returns. */
    static Object decline(Tracer tracer) {
        if (!(tracer instanceof PatchedTracer)) {
            return tracer.newNullScope();
        }
        DECLINED.set((PatchedTracer) tracer);
        tracer.newNullScope();
        return tracer;
    }

    /** The end of a root that was not sampled. */
    static void leave(Object token) {
        HTraceStream.left();
        if (token instanceof PatchedTracer) {
            PatchedTracer tracer = (PatchedTracer) token;
            if (!tracer.plumbTopLevel()) {
                tracer.plumbPop();
            }
        } else {
            ((TraceScope) token).close();
        }
    }

    private static Object beginUnpatched(Tracer tracer, Point point) {
        HTraceScope open = new HTraceScope();
        TraceScope scope = tracer.newScope(point.name);
        return scope.getSpan() == null ? scope : open.opened(tracer, scope);
    }

    /** For a scope of Hadoop's own at top level of its tracer. */
    static boolean sample(Tracer tracer, String description) {
        try {
            PatchedTracer patched = (PatchedTracer) tracer;
            if (HTraceStream.declines()) {
                DECLINED.set(patched);
                return false;
            }
            Sampling sampling = Sampling.current();
            if (!Switch.on() || sampling.unset() || Tracers.server(patched.plumbName())) {
                return own(tracer);
            }
            if (belowDeclined(patched)) {
                return false;
            }
            boolean yes = sampling.sample(description);
            if (!yes) {
                DECLINED.set(patched);
            }
            return yes;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return own(tracer);
        }
    }

    /**
     * In the place of a root of Hadoop's own: a scope below the stream whose call it is, or below the application's
     * span. Null: as always.
     */
    static TraceScope below(Tracer tracer, String description) {
        PatchedTracer patched = (PatchedTracer) tracer;
        if (Tracer.getCurrentSpan() != null || !Switch.on() || !patched.plumbTopLevel() || belowDeclined(patched)) {
            return null;
        }
        TraceScope ofStream = HTraceStream.scope(tracer, description);
        return ofStream != null || HTraceStream.declines() ? ofStream : ofApplication(patched, description);
    }

    private static TraceScope ofApplication(PatchedTracer tracer, String description) {
        Sampling sampling = Sampling.current();
        if (sampling.never() || Tracers.server(tracer.plumbName())) {
            return null;
        }
        SpanRef outer = ApplicationSpan.current();
        return outer == null ? null : outermost((Tracer) tracer, outer, description);
    }

    private static boolean belowDeclined(PatchedTracer tracer) {
        PatchedTracer declined = DECLINED.get();
        return declined != null && declined != tracer && !declined.plumbTopLevel();
    }

    /** HTrace's own way: one of the samplers wants it. */
    private static boolean own(Tracer tracer) {
        for (Sampler sampler : tracer.getSamplers()) {
            if (sampler.next()) {
                return true;
            }
        }
        return false;
    }
}
