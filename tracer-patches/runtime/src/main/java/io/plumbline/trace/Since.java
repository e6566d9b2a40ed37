package io.plumbline.trace;

/** When something began that another thread may end. */
final class Since {
    private final SpanRef parent;
    private final long beginNanos = System.nanoTime();
    /** Its own span, when something lies below it; else null. Only of the thread that ends it. */
    private SpanRef self;

    Since(SpanRef parent) {
        this.parent = parent;
    }

    /** What goes on from here lies below it. Null where there is no such thing. */
    SpanRef reserve(Engine engine) {
        self = engine.reserve(parent);
        return self;
    }

    void record(Engine engine, Point point) {
        long now = System.nanoTime();
        if (self == null) {
            engine.leaf(parent, point, beginNanos, now);
        } else {
            engine.reserved(self, parent, point, beginNanos, now);
        }
    }
}
