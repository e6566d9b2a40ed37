package io.plumbline.weave.htrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.OpenScope;
import io.plumbline.trace.SpanRef;
import io.plumbline.trace.report.Trouble;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;

/** Spans of functions among those of Hadoop. */
final class ScopeCases {
    private final Traced traced = Traced.always();

    public void functionsLieBetweenHadoopsScopes() {
        TraceScope hadoop = traced.tracer.newScope("outer");
        OpenScope scope = (OpenScope) traced.engine.begin(Traced.point("function"));
        scope.annotate("path", "/a");
        scope.annotate("bytes", 4096);
        TraceScope inner = traced.tracer.newScope("inner");
        inner.close();
        scope.close(null);
        hadoop.close();
        assertEquals("function", traced.parent("inner"));
        assertEquals("outer", traced.parent("function"));
        assertEquals("{bytes=4096, path=/a}",
                new java.util.TreeMap<>(traced.span("function").getKVAnnotations()).toString());
        assertNull(Tracer.getCurrentSpan());
        assertEquals(0, Trouble.count(Trouble.Kind.ENGINE), Trouble.last());
    }

    public void nothingOutsideOfATrace() {
        assertNull(traced.engine.begin(Traced.point("function")));
        assertNull(traced.engine.capture());
    }

    public void aRootOfOurs() {
        OpenScope scope = (OpenScope) traced.engine.begin(Traced.root("root"));
        traced.tracer.newScope("below").close();
        scope.close(null);
        assertEquals("root", traced.parent("below"));
        assertEquals(0, traced.span("root").getParents().length);
        assertNull(Tracer.getCurrentSpan());
    }

    public void whatWasThrownIsNamed() {
        OpenScope scope = (OpenScope) traced.engine.begin(Traced.root("root"));
        scope.close(new java.io.FileNotFoundException("/secret"));
        assertEquals("java.io.FileNotFoundException", traced.span("root").getKVAnnotations().get("exception"));
    }

    public void anotherThreadGoesOn() throws Exception {
        TraceScope hadoop = traced.tracer.newScope("outer");
        SpanRef ref = traced.engine.capture();
        Thread thread = new Thread(() -> {
            OpenScope scope = traced.engine.beginBelow(ref, Traced.point("elsewhere"));
            traced.tracer.newScope("below").close();
            scope.close(null);
        });
        thread.start();
        thread.join();
        hadoop.close();
        assertEquals("outer", traced.parent("elsewhere"));
        assertEquals("elsewhere", traced.parent("below"));
        assertEquals(ref.trace, traced.span("outer").getSpanId().getHigh());
        assertEquals(ref.span, traced.span("outer").getSpanId().getLow());
    }

    /** Work that was handed to another thread, and then done by a thread that is in another trace. */
    public void onlyWhatItWasHandedOverByIsItsParent() {
        SpanId id = SpanId.fromRandom();
        TraceScope hadoop = traced.tracer.newScope("other trace");
        OpenScope scope = traced.engine.beginBelow(new SpanRef(id.getHigh(), id.getLow()), Traced.point("handed over"));
        scope.close(null);
        assertEquals(hadoop.getSpan(), Tracer.getCurrentSpan());
        hadoop.close();
        assertEquals("[" + id + "]", java.util.Arrays.toString(traced.span("handed over").getParents()));
        assertEquals(id.getHigh(), traced.span("handed over").getSpanId().getHigh());
        assertEquals(0, Trouble.count(Trouble.Kind.ENGINE), Trouble.last());
    }

    public void aPlainReferenceIsEnough() {
        SpanId id = SpanId.fromRandom();
        traced.engine.beginBelow(new SpanRef(id.getHigh(), id.getLow()), Traced.point("far")).close(null);
        assertEquals(id, traced.span("far").getParents()[0]);
        assertEquals(id.getHigh(), traced.span("far").getSpanId().getHigh());
    }

    public void leavesHaveTheirValues() {
        TraceScope hadoop = traced.tracer.newScope("outer");
        long end = System.nanoTime();
        traced.engine.leaf(traced.engine.capture(), Traced.point("leaf"), end - 1234, end, 17L, null);
        hadoop.close();
        Span leaf = traced.span("leaf");
        assertEquals("outer", traced.parent("leaf"));
        assertEquals("{in=17}", leaf.getKVAnnotations().toString());
        assertEquals(1234, ((io.plumbline.send.NanoSpan) leaf).durationNs());
    }

    private OpenScope begin(String name) {
        return (OpenScope) traced.engine.begin(Traced.unlessLeaf(name));
    }

    public void whatOnlyCopiesIsNotRecorded() {
        TraceScope hadoop = traced.tracer.newScope("outer");
        OpenScope copies = begin("copies");
        copies.annotate("in", 1);
        begin("copies within").close(null);
        copies.close(null);
        assertEquals(hadoop.getSpan(), Tracer.getCurrentSpan());
        hadoop.close();
        assertEquals("[outer]", traced.names().toString());
        assertEquals(0, Trouble.count(Trouble.Kind.ENGINE), Trouble.last());
    }

    public void whatHasSomethingBelowIsRecorded() {
        TraceScope hadoop = traced.tracer.newScope("outer");
        OpenScope above = begin("above");
        OpenScope fetches = begin("fetches");
        traced.tracer.newScope("fetch").close();
        fetches.close(null);
        above.close(null);
        OpenScope gives = begin("gives");
        SpanRef given = traced.engine.capture();
        gives.close(null);
        begin("throws").close(new java.io.IOException());
        OpenScope child = begin("child");
        child.close(null);
        hadoop.close();
        traced.engine.beginBelow(given, Traced.point("later")).close(null);
        traced.engine.beginBelow(given, Traced.unlessLeaf("later, nothing")).close(null);
        assertEquals("[fetch, fetches, above, gives, throws, outer, later]", traced.names().toString());
        assertEquals("fetches", traced.parent("fetch"));
        assertEquals("above", traced.parent("fetches"));
        assertEquals("outer", traced.parent("above"));
        assertEquals("gives", traced.parent("later"));
    }

    public void closingTwiceIsOnce() {
        OpenScope scope = (OpenScope) traced.engine.begin(Traced.root("root"));
        scope.close(null);
        scope.close(null);
        assertNotNull(traced.span("root"));
    }

    public void backgroundWorkIsOffByItself() {
        io.plumbline.trace.Point heartbeat =
                io.plumbline.trace.PointBootstrap.point("heartbeat", "client", 3, "", "");
        assertTrue(heartbeat.mayBeRoot() && heartbeat.background());
        assertNull(traced.engine.begin(heartbeat));
    }
}
