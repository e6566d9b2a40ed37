package io.plumbline.weave.htrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.NanoSpan;
import io.plumbline.trace.OpenScope;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.LocalFileSpanReceiver;
import org.apache.htrace.core.MilliSpan;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TraceScope;

/** Nanoseconds, beside HTrace's milliseconds. */
final class TimeCases {
    private static final long NS_PER_MS = 1_000_000;

    private final long started = System.currentTimeMillis();
    private final Traced traced = Traced.always();

    public void hadoopsSpansHaveNanoseconds() {
        long before = System.nanoTime();
        TraceScope scope = traced.tracer.newScope("outer");
        scope.addTimelineAnnotation("noted");
        TraceScope inner = traced.tracer.newScope("inner", SpanId.fromRandom());
        inner.close();
        scope.close();
        long after = System.nanoTime();
        NanoSpan outer = (NanoSpan) traced.span("outer");
        near(traced.span("outer"));
        near(traced.span("inner"));
        assertTrue(outer.durationNs() > 0 && outer.durationNs() <= after - before, outer.durationNs() + " ns");
        assertTrue(((NanoSpan) traced.span("inner")).durationNs() < outer.durationNs());
        assertTrue(outer.noteNs(0) >= outer.beginNs() && outer.noteNs(0) <= outer.beginNs() + outer.durationNs());
        assertEquals(0, outer.noteNs(1));
        assertEquals(0, outer.noteNs(-1));
    }

    public void childrenThatHTraceMakesByItself() {
        MilliSpan parent = new MilliSpan.Builder().begin(5).end(7).spanId(SpanId.fromRandom()).build();
        Span child = parent.child("child");
        child.stop();
        near(child);
        assertEquals(0, ((NanoSpan) parent).beginNs());
    }

    public void oursToo() {
        OpenScope scope = (OpenScope) traced.engine.begin(Traced.root("ours"));
        scope.close(null);
        near(traced.span("ours"));
    }

    public void stoppedOnce() {
        MilliSpan span = (MilliSpan) new MilliSpan.Builder().begin(5).spanId(SpanId.fromRandom()).build().child("c");
        span.stop();
        long first = ((NanoSpan) (Object) span).durationNs();
        span.stop();
        assertEquals(first, ((NanoSpan) (Object) span).durationNs());
    }

    public void timesOfSomebodysStayMilliseconds() throws Exception {
        TraceScope scope = traced.tracer.newScope("outer");
        scope.addTimelineAnnotation("noted");
        scope.close();
        NanoSpan read = (NanoSpan) (Object) MilliSpan.fromJson(traced.span("outer").toJson());
        assertEquals(0, read.beginNs());
        assertEquals(0, read.durationNs());
        assertEquals(0, read.noteNs(0));
        NanoSpan built = (NanoSpan) (Object) new MilliSpan.Builder().begin(System.currentTimeMillis()).build();
        assertEquals(0, built.beginNs());
    }

    public void jsonStaysAsItIs() throws Exception {
        Path file = Files.createTempFile("spans", ".json");
        try (LocalFileSpanReceiver receiver = new LocalFileSpanReceiver(HTraceConfiguration.fromKeyValuePairs(
                "local.file.span.receiver.path", file.toString()))) {
            TraceScope scope = traced.tracer.newScope("outer");
            scope.addKVAnnotation("k", "v");
            scope.addTimelineAnnotation("noted");
            scope.close();
            receiver.receiveSpan(traced.span("outer"));
        }
        Span span = traced.span("outer");
        String expected = "{\"a\":\"" + span.getSpanId() + "\",\"b\":" + span.getStartTimeMillis() + ",\"e\":"
                + span.getStopTimeMillis() + ",\"d\":\"outer\",\"r\":\"" + span.getTracerId() + "\",\"p\":[],\"n\":{"
                + "\"k\":\"v\"},\"t\":[{\"t\":" + span.getTimelineAnnotations().get(0).getTime()
                + ",\"m\":\"noted\"}]}";
        assertEquals(expected, span.toJson());
        assertEquals(expected, new String(Files.readAllBytes(file)).trim());
        Files.delete(file);
    }

    /** Between the start of the case and now, as far as a clock of milliseconds can tell. */
    private void near(Span span) {
        NanoSpan nanos = (NanoSpan) span;
        long end = nanos.beginNs() + nanos.durationNs();
        long now = System.currentTimeMillis();
        assertTrue(nanos.beginNs() > (started - 2) * NS_PER_MS, nanos.beginNs() + " and " + started);
        assertTrue(nanos.durationNs() >= 0 && end < (now + 2) * NS_PER_MS, end + " and " + now);
    }
}
