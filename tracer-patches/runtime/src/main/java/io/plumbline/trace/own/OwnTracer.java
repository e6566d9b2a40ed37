package io.plumbline.trace.own;

import io.plumbline.trace.ApplicationSpan;
import io.plumbline.trace.Sampling;
import io.plumbline.trace.SpanRef;
import io.plumbline.trace.Tracers;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import io.plumbline.trace.settings.Switch;
import io.plumbline.trace.settings.TracerIdFormat;
import java.util.function.Function;

/**
 * What Hadoop's tracing classes are made of when they are brought back to life: a tracer of that name. Any thread.
 * Nothing throws.
 */
public final class OwnTracer {
    private static final String RPC_QUEUE = "RPC#queue";
    /** A DataNode opens these with the tracer of clients, and below what it was asked to do. */
    private static final String DATANODE = "DataNode";
    private static final String SEND_BLOCK = "sendBlock";

    /** Goes on in the name of whichever tracer began what is current. */
    public static final OwnTracer OF_CURRENT = new OwnTracer(TracerIdFormat.processName(), true);

    private final String name;
    private final boolean inherits;
    private volatile Tracers.Id id;

    private OwnTracer(String name, boolean inherits) {
        this.name = name;
        this.inherits = inherits;
    }

    /** Null or empty: named by the main class. */
    public static OwnTracer named(String name) {
        return new OwnTracer(name == null || name.isEmpty() ? TracerIdFormat.processName() : name, false);
    }

    public String name() {
        return name;
    }

    private String id() {
        Tracers.Id before = id;
        Tracers.Id known = Tracers.id(name, before);
        if (known != before) {
            id = known;
        }
        return Tracers.text(known);
    }

    /** Hadoop's configuration became known. */
    public static void configuration(String prefix, Function<String, String> get) {
        try {
            Settings.current().hadoop(prefix, get);
            Tracers.forget();
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
    }

    /** The innermost open scope of this thread; null when no span is going on. */
    public static OwnScope current() {
        try {
            return ThreadState.get().current();
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /**
     * A scope within the current one, or a root. Null: nothing is to be done at its end. An {@link OwnScope}: it is
     * sampled. An {@link UnsampledRoot}: to be left.
     */
    public Object begin(String description) {
        try {
            return Switch.on() ? begin(ThreadState.get(), text(description)) : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    private Object begin(ThreadState state, String description) {
        OwnScope above = state.current();
        if (above != null) {
            boolean sameTracer = inherits || description.startsWith(SEND_BLOCK);
            return OwnEngine.child(state, above, description, sameTracer ? above.span().tracer() : id());
        }
        Sampling sampling = Sampling.current();
        if (state.unsampled() || sampling.never() || description.startsWith(SEND_BLOCK)) {
            return null;
        }
        if (state.within != null) {
            return state.within.begin(state, description, id());
        }
        SpanRef outer = ApplicationSpan.current();
        if (outer == null && !sampling.sample(description)) {
            state.unsampled = true;
            return state.unsampledRoot;
        }
        return OwnEngine.outermost(state, outer, description, id()).entered(state);
    }

    /**
     * A scope below a span of another thread or process; below the current one too, if there is one. Null when nothing
     * is traced.
     */
    public OwnScope beginBelow(String description, long trace, long span) {
        try {
            return Switch.on() ? below(ThreadState.get(), text(description), trace, span) : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    private OwnScope below(ThreadState state, String description, long trace, long span) {
        OwnScope current = state.current();
        if (current == null) {
            return OwnEngine.below(state, trace, span, description, tracerOf(description)).entered(state);
        }
        LiveSpan above = current.span();
        OwnScope scope = OwnEngine.below(state, above.trace(), above.span(), description, tracerOf(description));
        if (trace != above.trace() || span != above.span()) {
            scope.parent(trace, span);
        }
        return scope.entered(state);
    }

    /** Operations of the data transfer protocol are DataNodes' work, whoever's tracer opens them. */
    private String tracerOf(String description) {
        boolean operation = description.startsWith("Op") && description.endsWith("Proto");
        return operation ? Tracers.id(DATANODE) : id();
    }

    /** One more parent for a span that was just begun. */
    public static void addParent(OwnScope scope, long trace, long span) {
        try {
            LiveSpan live = scope.span();
            if (live.trace() != trace || live.span() != span) {
                scope.parent(trace, span);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** A span that begins now and belongs to no thread yet: {@link #activate}. Null when nothing is traced. */
    public LiveSpan span(String description, long trace, long span) {
        try {
            if (!Switch.on()) {
                return null;
            }
            ThreadState state = ThreadState.get();
            LiveSpan live = new LiveSpan();
            live.start(state.threadId, text(description), id(), trace, state.newId(), System.nanoTime());
            live.data.parent(trace, span);
            live.share();
            live.waitForActivation();
            return live;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /**
     * Makes it this thread's current one; null when it cannot be. A call that waited in a server's queue gets that time
     * as a span of its own.
     */
    public static OwnScope activate(LiveSpan span) {
        try {
            if (!span.shared()) {
                return null;
            }
            ThreadState state = ThreadState.get();
            long now = System.nanoTime();
            if (span.waited()) {
                OwnEngine.leaf(state.leafOf(span.trace(), span.span()), RPC_QUEUE, span.tracer(), span.beginNano(),
                        now);
            }
            return OwnScope.activate(state, span);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    private static String text(String description) {
        return description == null ? "" : description;
    }
}
