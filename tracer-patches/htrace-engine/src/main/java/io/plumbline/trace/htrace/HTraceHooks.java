package io.plumbline.trace.htrace;

import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import io.plumbline.trace.settings.Switch;
import java.util.List;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.MilliSpan;
import org.apache.htrace.core.SpanReceiver;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;
import org.apache.htrace.core.TracerPool;

/**
 * What the patched classes of HTrace and Hadoop call. But for what the replaced calls threw themselves, nothing here
 * throws.
 */
public final class HTraceHooks {
    private static final String FALLBACK = "hadoop.htrace.";
    private static final Point QUEUE = PointBootstrap.point("RPC#queue", "namenode", 0, "", "");

    private HTraceHooks() {
    }

    /** In MilliSpan and Tracer: HTrace has made a span that starts now. */
    public static void begun(Object span) {
        if (span instanceof PatchedSpan) {
            ((PatchedSpan) span).plumbTimes(new SpanTimes(System.nanoTime()));
        }
    }

    /** In MilliSpan.addTimelineAnnotation(), at its end. */
    public static void noted(SpanTimes times, List<?> timeline) {
        SpanTimes.noted(times, timeline.size());
    }

    /** In Tracer.newScope(), in the place of its private sample(). */
    public static boolean sample(Object tracer, String description) {
        return Roots.sample((Tracer) tracer, description);
    }

    /** In Tracer.newScope(String), before anything else. Null: go on. */
    public static Object ofStream(Object tracer, String description) {
        try {
            return Roots.below((Tracer) tracer, description);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** In Tracer.closeScope() and detachScope(), before anything else. */
    public static void surface(Object tracer, Object scope) {
        try {
            ScopeChain.surface((PatchedTracer) tracer, scope);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** In Tracer.popNullScope(), before and after. Hides scopes of ours, which are not the application's fault. */
    public static Object hide(Object tracer) {
        PatchedTracer patched = (PatchedTracer) tracer;
        Object current = patched.plumbCurrent();
        if (current == null || !ScopeChain.onlyOwn(current, null)) {
            return null;
        }
        patched.plumbCurrent(null);
        return current;
    }

    /** @param hidden what hide() returned */
    public static void show(Object tracer, Object hidden) {
        if (hidden != null) {
            ((PatchedTracer) tracer).plumbCurrent(hidden);
        }
    }

    /** In Tracer.Builder.build(), at its begin: Hadoop's configuration is known. Returns the one to go on with. */
    public static Object building(String name, Object conf) {
        try {
            HTraceConfiguration given = (HTraceConfiguration) conf;
            if (name != null && given != null) {
                String prefix = prefix(name);
                Settings.current().hadoop(prefix, key -> given.get(stripped(prefix, key)));
                return NamedByAgent.wrap(given);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
        return conf;
    }

    /** In Tracer.Builder.build(), at its end. */
    public static void built(String name, Object tracer) {
        try {
            Tracer built = (Tracer) tracer;
            if (built instanceof PatchedTracer) {
                ((PatchedTracer) built).plumbName(name);
            }
            Tracers.built(name, built);
            Receivers.install(built.getTracerPool());
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** In TracerPool.addReceiver(), at its end. */
    public static void added(Object pool, Object receiver) {
        try {
            Receivers.added((TracerPool) pool, (SpanReceiver) receiver);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** In Server$Handler.run(), in the place of reattach(): the call has left the queue it was put into when parsed. */
    public static void dequeued(TraceScope scope) {
        scope.reattach();
        try {
            Object span = scope.getSpan();
            SpanTimes times = span instanceof PatchedSpan ? ((PatchedSpan) span).plumbTimes() : null;
            if (times != null && Switch.on()) {
                Tracer tracer = Tracer.curThreadTracer();
                MilliSpan leaf = HTraceEngine.leaf(tracer, scope.getSpanId(), QUEUE.name, times.beginNanos,
                        System.nanoTime());
                HTraceScope.deliver(tracer, leaf);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** The prefix of Hadoop's keys for a tracer of that name. */
    private static String prefix(String name) {
        switch (name) {
            case "FSClient":
                return "fs.client.htrace.";
            case "FsShell":
                return "fs.shell.htrace.";
            default:
                return name.toLowerCase(java.util.Locale.ROOT) + ".htrace.";
        }
    }

    /** HTrace's configuration puts the prefixes before keys by itself. */
    private static String stripped(String prefix, String key) {
        String said = key.startsWith(prefix) ? prefix : key.startsWith(FALLBACK) ? FALLBACK : "";
        return key.substring(said.length());
    }
}
