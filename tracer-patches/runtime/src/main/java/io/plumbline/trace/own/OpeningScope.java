package io.plumbline.trace.own;

import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;

/** The call that opens an output stream, below the span of the stream. That goes on afterwards, if one was opened. */
final class OpeningScope extends OpenScope {
    private final ThreadState state;
    private final OwnStream stream;
    private final OwnScope outer;
    private final OwnScope inner;

    /** @param outer the stream's, already current */
    OpeningScope(ThreadState state, OwnScope outer, Point point) {
        this.state = state;
        this.outer = outer;
        stream = new OwnStream(outer.span());
        try {
            inner = OwnEngine.child(state, outer, point.name, outer.span().tracer());
        } catch (Throwable e) {
            outer.close(e); // else it would stay this thread's current one
            throw e;
        }
        state.opening = stream;
    }

    @Override
    public void annotate(String key, String value) {
        inner.annotate(key, value);
        if (key.equals("src")) {
            stream.annotate("path", value);
        }
    }

    @Override
    public void annotate(String key, long value) {
        inner.annotate(key, value);
    }

    @Override
    public void close(Throwable thrown) {
        state.opening = null;
        inner.close(thrown);
        if (stream.taken() && thrown == null) {
            outer.keepSpan();
        }
        outer.close(thrown);
    }
}
