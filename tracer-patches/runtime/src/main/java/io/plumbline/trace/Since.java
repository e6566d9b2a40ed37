package io.plumbline.trace;

/** When something began that another thread may end. Immutable. */
final class Since {
    private final SpanRef parent;
    private final long beginNanos = System.nanoTime();

    Since(SpanRef parent) {
        this.parent = parent;
    }

    void record(Engine engine, Point point) {
        engine.leaf(parent, point, beginNanos, System.nanoTime());
    }
}
