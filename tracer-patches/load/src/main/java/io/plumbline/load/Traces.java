package io.plumbline.load;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** The agent, if it is in this process: it is found by name, so that the load runs without it, too. */
final class Traces {
    private static final MethodHandle CURRENT = find();

    private Traces() {
    }

    private static MethodHandle find() {
        try {
            Class<?> hooks = Class.forName("io.plumbline.trace.Hooks", true, ClassLoader.getSystemClassLoader());
            Class<?> span = Class.forName("io.plumbline.trace.SpanRef", true, ClassLoader.getSystemClassLoader());
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            MethodHandle capture = lookup.findStatic(hooks, "capture", MethodType.methodType(span));
            MethodHandle trace = lookup.findGetter(span, "trace", long.class);
            MethodHandle none = MethodHandles.dropArguments(MethodHandles.constant(long.class, 0L), 0, span);
            MethodHandle isNull = MethodHandles.lookup()
                    .findStatic(Traces.class, "isNull", MethodType.methodType(boolean.class, Object.class))
                    .asType(MethodType.methodType(boolean.class, span));
            return MethodHandles.filterReturnValue(capture, MethodHandles.guardWithTest(isNull, none, trace));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    /** Found by name, above. */
    static boolean isNull(Object span) {
        return span == null;
    }

    static boolean there() {
        return CURRENT != null;
    }

    /** The trace that this thread is in; 0: none. */
    static long current() {
        if (CURRENT == null) {
            return 0;
        }
        try {
            return (long) CURRENT.invokeExact();
        } catch (Throwable e) {
            return 0;
        }
    }
}
