package io.plumbline.trace.htrace;

import io.plumbline.trace.Engine;
import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.SpanRef;
import java.util.function.Supplier;

/** An engine that breaks its promises, in the place of the real one: HooksTest. */
public final class HTraceEngine extends Engine {
    /** What every method throws. Null: begin() returns {@link #token}. */
    public static Supplier<? extends Throwable> failure;
    public static Object token;

    @SuppressWarnings("unchecked")
    public static <E extends Throwable> void fail() throws E {
        if (failure != null) {
            throw (E) failure.get();
        }
    }

    @Override
    public Object begin(Point point) {
        HTraceEngine.<RuntimeException>fail();
        return token;
    }

    @Override
    public Object beginTask(Point point, long trace) {
        HTraceEngine.<RuntimeException>fail();
        return token;
    }

    @Override
    public void leave(Object left) {
        HTraceEngine.<RuntimeException>fail();
    }

    @Override
    public SpanRef capture() {
        HTraceEngine.<RuntimeException>fail();
        return new SpanRef(1, 2);
    }

    @Override
    public OpenScope beginBelow(SpanRef parent, Point point) {
        HTraceEngine.<RuntimeException>fail();
        return new Scope();
    }

    @Override
    public void leaf(SpanRef parent, Point point, long beginNanos, long endNanos, Object... values) {
        HTraceEngine.<RuntimeException>fail();
    }

    /** Throws as the engine does. */
    public static final class Scope extends OpenScope {
        @Override
        public void annotate(String key, String value) {
            HTraceEngine.<RuntimeException>fail();
        }

        @Override
        public void annotate(String key, long value) {
            HTraceEngine.<RuntimeException>fail();
        }

        @Override
        public void close(Throwable thrown) {
            HTraceEngine.<RuntimeException>fail();
        }
    }
}
