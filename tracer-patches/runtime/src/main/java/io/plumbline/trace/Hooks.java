package io.plumbline.trace;

import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Switch;

/**
 * What woven functions call. Around a function with two recorded values before and one after, woven code does what this
 * would do:
 *
 * <pre>
 *   Object token = Hooks.begin(POINT);
 *   if (Hooks.open(token)) Hooks.values(token, POINT, a, b, null, null);
 *   try { ... } finally {
 *     if (Hooks.open(token)) Hooks.end(token, POINT, result, null, null, null, thrown);
 *     else Hooks.finish(thrown, token);
 *   }
 * </pre>
 *
 * <p>Values are computed only where the call is recorded. Nothing here throws: engines promise that too, but an
 * application must not pay for a promise that is broken, nor for a stack or a memory that ends just here.
 */
public final class Hooks {
    private static final Engine ENGINE = Engines.choose();

    static {
        AgentBean.registerSoon();
    }

    private Hooks() {
    }

    public static Engine engine() {
        return ENGINE;
    }

    /** See {@link Engine#begin}. */
    public static Object begin(Point point) {
        try {
            return Switch.on() ? ENGINE.begin(point) : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** As {@link #begin}, of a {@link Point#FOLLOWS}. @param stream which is read */
    public static Object beginRead(Object stream, Point point) {
        try {
            StreamHooks.Input input = stream instanceof StreamHooks.Input ? (StreamHooks.Input) stream : null;
            ReadTrace before = input == null ? null : (ReadTrace) input.plumbReads();
            int reads = before == null ? 0 : before.reads();
            Object token = Switch.on() ? ENGINE.beginRead(input, point) : null;
            if (before != null) {
                ReadTrace.begun(input, before, reads);
            }
            return token;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    public static boolean open(Object token) {
        return token instanceof OpenScope;
    }

    public static void leave(Object token) {
        try {
            ENGINE.leave(token);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** Records what is known at the call; null is left out. */
    @SuppressWarnings("ParameterNumber") // woven code calls it, and makes no array for it
    public static void values(Object token, Point point, Object a, Object b, Object c, Object d) {
        try {
            record((OpenScope) token, point.enter, a, b, c, d);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
        }
    }

    /** Records what is known at the end, and ends the span. */
    @SuppressWarnings("ParameterNumber") // woven code calls it, and makes no array for it
    public static void end(Object token, Point point, Object a, Object b, Object c, Object d, Throwable thrown) {
        OpenScope scope = (OpenScope) token;
        try {
            record(scope, point.exit, a, b, c, d);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
        }
        close(scope, thrown);
    }

    private static void close(OpenScope scope, Throwable thrown) {
        try {
            scope.close(thrown);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /**
     * The end of a call that records nothing more. @param token of {@link #begin} or {@link #beginBelow}; may be null
     */
    public static void finish(Throwable thrown, Object token) {
        if (token instanceof OpenScope) {
            close((OpenScope) token, thrown);
        } else if (token != null) {
            leave(token);
        }
    }

    @SuppressWarnings("ParameterNumber") // as values and end
    private static void record(OpenScope scope, String[] keys, Object a, Object b, Object c, Object d) {
        int n = keys.length;
        if (n > 0) {
            value(scope, keys[0], a);
        }
        if (n > 1) {
            value(scope, keys[1], b);
        }
        if (n > 2) {
            value(scope, keys[2], c);
        }
        if (n > 3) {
            value(scope, keys[3], d);
        }
    }

    private static void value(OpenScope scope, String key, Object value) {
        try {
            if (value instanceof Long || value instanceof Integer) {
                long number = ((Number) value).longValue();
                // At the end of a file -1 is returned: nothing was read.
                scope.annotate(key, number < 0 && key.equals("bytes") ? 0 : number);
            } else if (value != null) {
                scope.annotate(key, value.toString());
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
        }
    }

    /** {@code a - b + plus}; null when one of them is. */
    public static Object difference(Object a, Object b, int plus) {
        return a == null || b == null ? null : (Object) (((Number) a).longValue() - ((Number) b).longValue() + plus);
    }

    /** What a value expression yields that threw: nothing. */
    public static Object unreadable(Throwable e) {
        Trouble.count(Trouble.Kind.VALUE, e);
        return null;
    }

    /** At the end of a constructor of what another thread will run. */
    public static SpanRef capture() {
        try {
            return Switch.on() ? ENGINE.capture() : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** In the other thread. Null when there is nothing to record. */
    public static Object beginBelow(SpanRef parent, Point point) {
        try {
            if (parent == null) {
                return point.mayBeRoot() ? begin(point) : null;
            }
            return Switch.on() ? ENGINE.beginBelow(parent, point) : null;
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** A finished call that was timed by its own means; nothing happens when parent is null. */
    public static void leaf(SpanRef parent, Point point, long beginNanos, long endNanos, Object... values) {
        try {
            if (parent != null && Switch.on()) {
                ENGINE.leaf(parent, point, beginNanos, endNanos, values);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /**
     * From here to {@link #release} is a span of its own, unless this thread holds that already or no span is going on.
     *
     * @param owner whose method returned; null for a static one
     */
    public static void hold(Object owner, Point point) {
        try {
            if (Switch.on()) {
                Held.begin(owner, point, ENGINE);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** The other end. Null when nothing is to be recorded, else what {@link #released} takes. */
    public static Object release(Object owner, Point point) {
        try {
            return Held.end(owner, point);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
            return null;
        }
    }

    /** Records what lasted from hold to release. @param held not null */
    public static void released(Object held, Object a, Object b, Object c, Object d) {
        try {
            ((Held) held).record(ENGINE, a, b, c, d);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** From here to {@link #until} is a span of its own, in whichever thread. Null when no span is going on. */
    public static Object since() {
        SpanRef parent = capture();
        return parent == null ? null : new Since(parent);
    }

    /** The other end. @param since what {@link #since} gave; may be null */
    public static void until(Object since, Point point) {
        if (since == null) {
            return;
        }
        try {
            ((Since) since).record(ENGINE, point);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /** A Callable or Runnable that runs below the current span, in whichever thread; the same when none is going on. */
    public static Object carry(Object work, Point point) {
        SpanRef parent = capture();
        return parent == null ? work : Carried.of(work, parent, point);
    }
}
