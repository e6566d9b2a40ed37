package io.plumbline.trace;

/** Spans by our own means. Under Hadoop's revived tracing classes, and alone where there are none. */
public final class OwnEngine extends Engine {
    public static final OwnEngine INSTANCE = new OwnEngine();

    private OwnEngine() {
    }

    @Override
    public Object begin(Point point) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void leave(Object token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public SpanRef capture() {
        throw new UnsupportedOperationException();
    }

    @Override
    public OpenScope beginBelow(SpanRef parent, Point point) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void leaf(SpanRef parent, Point point, long beginNanos, long endNanos, Object... values) {
        throw new UnsupportedOperationException();
    }
}
