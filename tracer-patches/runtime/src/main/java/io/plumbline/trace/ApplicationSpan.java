package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The span of the application's own tracer that is current in this thread: OpenTelemetry's, through its agent or its
 * API on the class path. Whatever headers it was carried by (W3C's traceparent, B3), OpenTelemetry has taken them over
 * by then. Where a root would begin, the call goes below that span instead, so that a request has one trace down to the
 * DataNodes. The lower 64 bits of its trace id are ours, as in what plumbd takes from OpenTelemetry.
 *
 * <p>Where there is none, it is the span that the process was started for ({@link ParentOfProcess}).
 *
 * <p>Nothing here refers to OpenTelemetry's classes. It is looked for once, when the first root begins: agents have
 * started by then, in whichever order. Without both {@link #current} is a constant to the compiler.
 */
public final class ApplicationSpan {
    private static final String API = "io.opentelemetry.api.trace.Span";
    /** Where OpenTelemetry's agent keeps the API for itself: an application's own is a bridge to it. */
    private static final String OF_AGENT = "io.opentelemetry.javaagent.shaded.";
    private static final int HEX = 16;
    private static final int TRACE_DIGITS = 32;

    private ApplicationSpan() {
    }

    /**
     * Null when there is none, when it is not recorded by the application's tracer, and when none is wanted (setting
     * {@code application.spans}). Asked once for each root: those below the process's span are counted. Never throws.
     */
    public static SpanRef current() {
        SpanRef current = OpenTelemetry.CONTEXT == null ? null : OpenTelemetry.current();
        return current != null ? current : ParentOfProcess.root();
    }

    /** What of OpenTelemetry is used; loaded when the first root begins. */
    private static final class OpenTelemetry {
        private static final MethodHandles.Lookup LOOKUP = MethodHandles.publicLookup();
        private static final Class<?> SPAN = find();
        /** The current span's context, as an Object; null: no OpenTelemetry. */
        private static final MethodHandle CONTEXT = context();
        private static final MethodHandle SAMPLED = CONTEXT == null ? null : property("isSampled", boolean.class);
        private static final MethodHandle VALID = CONTEXT == null ? null : property("isValid", boolean.class);
        private static final MethodHandle TRACE = CONTEXT == null ? null : property("getTraceId", String.class);
        private static final MethodHandle ID = CONTEXT == null ? null : property("getSpanId", String.class);

        private static Class<?> find() {
            try {
                if (!Settings.current().on("application.spans")) {
                    return null;
                }
            } catch (Throwable e) {
                Trouble.count(Trouble.Kind.SETTING, e);
            }
            Class<?> found = find(OF_AGENT + API, null);
            return found != null ? found : find(API, ApplicationSpan.class.getClassLoader());
        }

        private static Class<?> find(String name, ClassLoader loader) {
            try {
                return Class.forName(name, false, loader);
            } catch (ClassNotFoundException | LinkageError e) {
                return null; // as a rule there is none
            }
        }

        private static MethodHandle context() {
            if (SPAN == null) {
                return null;
            }
            try {
                MethodHandle current = LOOKUP.findStatic(SPAN, "current", MethodType.methodType(SPAN));
                Class<?> type = SPAN.getMethod("getSpanContext").getReturnType();
                MethodHandle context = LOOKUP.findVirtual(SPAN, "getSpanContext", MethodType.methodType(type));
                return MethodHandles.filterReturnValue(current, context)
                        .asType(MethodType.methodType(Object.class));
            } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
                Trouble.count(Trouble.Kind.ENGINE, e);
                return null;
            }
        }

        private static MethodHandle property(String name, Class<?> type) {
            try {
                Class<?> context = SPAN.getMethod("getSpanContext").getReturnType();
                return LOOKUP.findVirtual(context, name, MethodType.methodType(type))
                        .asType(MethodType.methodType(type, Object.class));
            } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
                Trouble.count(Trouble.Kind.ENGINE, e);
                return null;
            }
        }

        static SpanRef current() {
            try {
                Object context = CONTEXT.invokeExact();
                if (!(boolean) VALID.invokeExact(context) || !(boolean) SAMPLED.invokeExact(context)) {
                    return null;
                }
                String trace = (String) TRACE.invokeExact(context);
                String id = (String) ID.invokeExact(context);
                long low = Long.parseUnsignedLong(trace.substring(TRACE_DIGITS - HEX), HEX);
                return low == 0 ? null : new SpanRef(low, Long.parseUnsignedLong(id, HEX));
            } catch (Throwable e) {
                Trouble.count(Trouble.Kind.ENGINE, e);
                return null;
            }
        }
    }
}
