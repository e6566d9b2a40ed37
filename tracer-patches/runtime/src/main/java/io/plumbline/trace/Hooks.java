package io.plumbline.trace;

/**
 * What woven functions call. Around a function with two recorded values before and one after, woven code reads:
 *
 * <pre>
 *   Object token = Hooks.begin(POINT);
 *   if (Hooks.open(token)) Hooks.values(token, POINT, a, b, null, null);
 *   try { ... } finally {
 *     if (token != null) {
 *       if (Hooks.open(token)) Hooks.end(token, POINT, result, null, null, null, thrown); else Hooks.leave(token);
 *     }
 *   }
 * </pre>
 *
 * <p>Values are computed only where the call is recorded. Nothing here throws.
 */
public final class Hooks {
    private static final Engine ENGINE = Engines.choose();

    private Hooks() {
    }

    /** See {@link Engine#begin}. */
    public static Object begin(Point point) {
        return ENGINE.begin(point);
    }

    public static boolean open(Object token) {
        return token instanceof OpenScope;
    }

    public static void leave(Object token) {
        ENGINE.leave(token);
    }

    /** Records what is known at the call; null is left out. */
    public static void values(Object token, Point point, Object a, Object b, Object c, Object d) {
        record((OpenScope) token, point.enterKeys, a, b, c, d);
    }

    /** Records what is known at the end, and ends the span. */
    public static void end(Object token, Point point, Object a, Object b, Object c, Object d, Throwable thrown) {
        OpenScope scope = (OpenScope) token;
        record(scope, point.exitKeys, a, b, c, d);
        scope.close(thrown);
    }

    private static void record(OpenScope scope, java.util.List<String> keys, Object a, Object b, Object c, Object d) {
        int n = keys.size();
        if (n > 0) {
            value(scope, keys.get(0), a);
        }
        if (n > 1) {
            value(scope, keys.get(1), b);
        }
        if (n > 2) {
            value(scope, keys.get(2), c);
        }
        if (n > 3) {
            value(scope, keys.get(3), d);
        }
    }

    private static void value(OpenScope scope, String key, Object value) {
        try {
            if (value instanceof Long || value instanceof Integer) {
                scope.annotate(key, ((Number) value).longValue());
            } else if (value != null) {
                scope.annotate(key, value.toString());
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.VALUE, e);
        }
    }

    /** What a value expression yields that threw: nothing. */
    public static Object unreadable(Throwable e) {
        Trouble.count(Trouble.Kind.VALUE, e);
        return null;
    }

    /** At the end of a constructor of what another thread will run. */
    public static SpanRef capture() {
        return ENGINE.capture();
    }

    /** In the other thread. Null when there is nothing to record. */
    public static Object beginBelow(SpanRef parent, Point point) {
        return parent == null ? null : ENGINE.beginBelow(parent, point);
    }

    /** A finished call that was timed by its own means; nothing happens when parent is null. */
    public static void leaf(SpanRef parent, Point point, long beginNanos, long endNanos, Object... values) {
        if (parent != null) {
            ENGINE.leaf(parent, point, beginNanos, endNanos, values);
        }
    }
}
