package io.plumbline.trace;

/**
 * Something a thread holds for a time, a lock for example: from the return of the outermost function that takes it to
 * the call of the matching one that gives it back. Only its own thread sees it.
 */
final class Held {
    /** The one taken last; those taken before follow through {@link #outer}. */
    private static final ThreadLocal<Held> INNERMOST = new ThreadLocal<>();
    /** What is given back in another thread than took it stays behind; more than this is never kept. */
    private static final int MOST = 16;

    private final Object owner;
    private final Point point;
    private SpanRef parent;
    private long beginNanos;
    private long endNanos;
    /** How often it was taken and not yet given back. */
    private int depth;
    private Held outer;

    private Held(Object owner, Point point) {
        this.owner = owner;
        this.point = point;
    }

    /** Where no span is going on this is one thread-local read and allocates nothing. */
    static void begin(Object owner, Point point, Engine engine) {
        SpanRef parent = engine.capture();
        if (parent == null) {
            return;
        }
        Held innermost = INNERMOST.get();
        int count = 0;
        for (Held held = innermost; held != null; held = held.outer) {
            if (held.owner == owner && held.point == point) {
                held.again(parent);
                return;
            }
            count++;
        }
        if (count < MOST) {
            Held held = new Held(owner, point);
            held.outer = innermost;
            INNERMOST.set(held);
            held.start(parent);
        }
    }

    /** Left behind by an earlier trace, it starts afresh. */
    private void again(SpanRef current) {
        if (current.trace == parent.trace) {
            depth++;
        } else {
            start(current);
        }
    }

    private void start(SpanRef current) {
        parent = current;
        depth = 1;
        beginNanos = System.nanoTime();
    }

    /** Null when it was not recorded, or is still held. */
    static Held end(Object owner, Point point) {
        Held inner = null;
        for (Held held = INNERMOST.get(); held != null; held = held.outer) {
            if (held.owner == owner && held.point == point) {
                return held.released(inner) ? held : null;
            }
            inner = held;
        }
        return null;
    }

    /** @param inner the one taken after this, or null */
    private boolean released(Held inner) {
        if (--depth > 0) {
            return false;
        }
        endNanos = System.nanoTime();
        if (inner == null) {
            INNERMOST.set(outer);
        } else {
            inner.outer = outer;
        }
        return true;
    }

    void record(Engine engine, Object... values) {
        Object[] texts = new Object[point.enterKeys.size()];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = text(values[i]);
        }
        engine.leaf(parent, point, beginNanos, endNanos, texts);
    }

    private static Object text(Object value) {
        try {
            return value == null || value instanceof Long || value instanceof Integer ? value : value.toString();
        } catch (Throwable e) {
            return Hooks.unreadable(e);
        }
    }
}
