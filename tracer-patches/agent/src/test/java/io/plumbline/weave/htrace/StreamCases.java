package io.plumbline.weave.htrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import io.plumbline.trace.Sampling;
import io.plumbline.trace.StreamHooks;
import java.io.IOException;
import java.util.Arrays;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;

/** Streams whose calls are one trace. */
final class StreamCases {
    private static final String STREAM = "DFSOutputStream#stream";
    private static final Point CREATE =
            PointBootstrap.point("create", "client", Point.ROOT | Point.STREAM, "src", "");

    private static Object opened(Traced traced, long number) {
        Object create = traced.engine.begin(CREATE);
        if (create instanceof OpenScope) {
            ((OpenScope) create).annotate("src", "/f");
        }
        Object stream = traced.engine.openedStream(number);
        assertNull(traced.engine.openedStream(99));
        if (create instanceof OpenScope) {
            ((OpenScope) create).close(null);
        } else if (create != null) {
            traced.engine.leave(create);
        }
        return stream;
    }

    private static TraceScope begun(Traced traced, Object stream, String name) {
        traced.engine.within(stream);
        TraceScope scope = traced.tracer.newScope(name);
        traced.engine.within(null);
        return scope;
    }

    public void allCallsAreBelowTheStreamInWhicheverThread() throws Exception {
        Traced traced = Traced.always();
        Object stream = opened(traced, 7);
        assertNull(Tracer.getCurrentSpan());
        begun(traced, stream, "write").close();
        Thread other = new Thread(() -> begun(traced, stream, "hflush").close());
        other.start();
        other.join();
        traced.engine.closedStream(stream, null);
        traced.engine.closedStream(stream, null);
        assertEquals(Arrays.asList("create", "write", "hflush", STREAM), traced.names());
        for (String call : Arrays.asList("create", "write", "hflush")) {
            assertEquals(STREAM, traced.parent(call));
            assertEquals(traced.span(STREAM).getSpanId().getHigh(), traced.span(call).getSpanId().getHigh());
        }
        assertEquals("7", traced.span(STREAM).getKVAnnotations().get("stream"));
        assertEquals("/f", traced.span(STREAM).getKVAnnotations().get("path"));
    }

    public void anApplicationsSpanHasItsStreamsAsBefore() {
        Traced traced = Traced.always();
        TraceScope root = traced.tracer.newScope("root");
        Object stream = opened(traced, 7);
        assertNull(stream);
        root.close();
        assertEquals(Arrays.asList("create", "root"), traced.names());
        assertEquals("root", traced.parent("create"));
    }

    public void aCallWithinASpanStaysThere() {
        Traced traced = Traced.always();
        Object stream = opened(traced, 7);
        TraceScope root = traced.tracer.newScope("root");
        begun(traced, stream, "write").close();
        root.close();
        assertEquals("root", traced.parent("write"));
    }

    public void decidedOnceForAllCalls() {
        Traced traced = Traced.always();
        Sampling.current().fromJmx(STREAM + "=never; always");
        Object stream = opened(traced, 7);
        TraceScope write = begun(traced, stream, "write");
        assertNull(write.getSpan());
        assertNull(traced.tracer.newScope("waits").getSpan());
        traced.tracer.newNullScope().close();
        write.close();
        write.close();
        traced.engine.closedStream(stream, null);
        assertEquals(Arrays.asList(), traced.names());
        traced.tracer.newScope("another").close();
        assertEquals(Arrays.asList("another"), traced.names());
    }

    public void whatOpensNothingEndsAtOnce() {
        Traced traced = Traced.always();
        ((OpenScope) traced.engine.begin(CREATE)).close(new IOException("no"));
        assertEquals(Arrays.asList("create", STREAM), traced.names());
        assertEquals("java.io.IOException", traced.span(STREAM).getKVAnnotations().get("exception"));
        assertNull(Tracer.getCurrentSpan());
        assertNull(traced.engine.openedStream(8));
    }

    /** A stream that is read, always in the middle of a block but at its begin. */
    private static final class Input implements StreamHooks.Input {
        private Object reads;
        private int beyond = 1;

        @Override
        public Object plumbReads() {
            return reads;
        }

        @Override
        public void plumbReads(Object now) {
            reads = now;
        }

        @Override
        public int plumbBeyond() {
            return beyond;
        }
    }

    private static void read(Traced traced, Input input, String name) {
        Object scope = traced.engine.beginRead(input, Traced.root(name));
        if (scope instanceof OpenScope) {
            ((OpenScope) scope).close(null);
        } else {
            traced.engine.leave(scope);
        }
        input.beyond = 0;
    }

    public void readsOfABlockAreRootsOfOneTrace() {
        Traced traced = Traced.always();
        Input input = new Input();
        read(traced, input, "first");
        read(traced, input, "second");
        read(traced, new Input(), "other");
        long trace = traced.span("first").getSpanId().getHigh();
        assertEquals(trace, traced.span("second").getSpanId().getHigh());
        assertNotEquals(trace, traced.span("other").getSpanId().getHigh());
        assertEquals(Arrays.asList("", "", ""),
                Arrays.asList(traced.parent("first"), traced.parent("second"), traced.parent("other")));
        assertNull(Tracer.getCurrentSpan());
    }

    public void numbersAreForTheCurrentSpan() {
        Traced traced = Traced.always();
        traced.engine.annotateCurrent("stream", 1);
        TraceScope root = traced.tracer.newScope("root");
        traced.engine.annotateCurrent("stream", 7);
        root.close();
        assertEquals("7", traced.span("root").getKVAnnotations().get("stream"));
    }
}
