package org.apache.hadoop.tracing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.Caught;
import io.plumbline.trace.PacketSpans;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

/** Each call as Hadoop's own call sites make it. */
class TracingTest {
    private final Tracer tracer = new Tracer.Builder("FSClient").conf(null).build();

    @Test
    void requests_name_the_current_span() {
        try (Caught all = Caught.sampling("always")) {
            assertNull(Tracer.getCurrentSpan());
            try (TraceScope scope = tracer.newScope("op")) {
                Span current = Tracer.getCurrentSpan();
                ByteString sent = TraceUtils.spanContextToByteString(current.getContext());
                assertEquals(16, sent.size());
                SpanContext received = TraceUtils.byteStringToSpanContext(sent);
                assertEquals(current.getContext(), received);
                assertEquals(scope.span().getContext(), received);
            }
            assertNull(Tracer.getCurrentSpan());
            assertEquals(List.of("op"), all.names());
        }
    }

    @Test
    void absent_and_foreign_contexts_are_none() {
        assertNull(TraceUtils.byteStringToSpanContext(null));
        assertNull(TraceUtils.byteStringToSpanContext(ByteString.EMPTY));
        assertNull(TraceUtils.byteStringToSpanContext(ByteString.copyFrom(new byte[16])));
        assertNull(TraceUtils.byteStringToSpanContext(ByteString.copyFrom(new byte[24])));
        assertEquals(ByteString.EMPTY, TraceUtils.spanContextToByteString(null));
        byte[] bytes = new byte[16];
        bytes[0] = (byte) 0x80;
        bytes[15] = (byte) 0xff;
        SpanContext context = TraceUtils.byteStringToSpanContext(ByteString.copyFrom(bytes));
        assertEquals("800000000000000000000000000000ff", context.toString());
        assertEquals(ByteString.copyFrom(bytes), TraceUtils.spanContextToByteString(context));
    }

    @Test
    void contexts_can_be_sorted_and_told_apart() {
        SpanContext low = new SpanContext(1, 2);
        SpanContext high = new SpanContext(-1, 0);
        SpanContext[] all = {high, new SpanContext(1, -2), low, new SpanContext(1, 2)};
        Arrays.sort(all);
        assertEquals(low, all[0]);
        assertEquals(all[0], all[1]);
        assertEquals(all[0].hashCode(), all[1].hashCode());
        assertSame(high, all[3]);
    }

    /** As DataStreamer and ResponseProcessor do, with the patch of DFSPacket. */
    @Test
    void a_packet_s_span_lasts_until_the_packet_is_released() throws Exception {
        try (Caught all = Caught.sampling("always")) {
            SpanContext[] parents = new SpanContext[2];
            for (int i = 0; i < 2; i++) {
                try (TraceScope write = tracer.newScope("DFSOutputStream#write")) {
                    parents[i] = Tracer.getCurrentSpan().getContext();
                }
            }
            PacketSpans.parents(parents);
            TraceScope scope = tracer.newScope("dataStreamer", parents[0], false);
            Span span = scope.span();
            SpanContext context = span.getContext();
            assertEquals(context, Tracer.getCurrentSpan().getContext());
            scope.close();
            assertNull(Tracer.getCurrentSpan());
            try (TraceScope ignored = tracer.newScope("DataStreamer#writeTo", context)) {
                assertNotNull(ignored.span());
            }
            assertEquals(3, all.all().size());
            Thread responder = new Thread(() -> {
                try (TraceScope nobody = new TraceScope(new Span())) {
                    nobody.addTimelineAnnotation("x");
                }
                PacketSpans.replaced(span, null);
                PacketSpans.replaced(null, null);
            });
            responder.start();
            responder.join();
            span.finish();
            Caught.Span packet = all.one("dataStreamer");
            assertEquals(List.of(parents[0].toString(), parents[1].toString()), packet.parents);
            assertEquals(List.of(context.toString()), all.one("DataStreamer#writeTo").parents);
            assertTrue(packet.endNs() >= all.one("DataStreamer#writeTo").endNs());
        }
    }

    @Test
    void a_packet_that_fails_before_it_is_sent_ends_with_its_scope() {
        try (Caught all = Caught.sampling("always")) {
            tracer.newScope("dataStreamer", new SpanContext(7, 8), false).close();
            assertEquals(List.of(new SpanContext(7, 8).toString()), all.one("dataStreamer").parents);
        }
    }

    @Test
    void without_a_context_nothing_is_traced_but_callers_may_go_on() {
        try (Caught all = Caught.sampling("always")) {
            assertSame(NullTraceScope.INSTANCE, tracer.newScope("DataStreamer#writeTo", null));
            TraceScope scope = tracer.newScope("dataStreamer", null, false);
            assertNull(scope.span().getContext());
            scope.close();
            assertSame(NullTraceScope.INSTANCE, tracer.activateSpan(tracer.newSpan("x", null)));
            assertTrue(all.all().isEmpty());
        }
    }

    @Test
    void tracers_are_kept_by_name_and_name_their_spans() {
        assertNotNull(TraceUtils.wrapHadoopConf("fs.client.htrace.", null));
        assertSame(tracer, new Tracer.Builder("FSClient").conf(null).build());
        assertSame(tracer, TraceUtils.createAndRegisterTracer("FSClient"));
        Tracer other = new Tracer.Builder("NameNode").build();
        assertEquals("NameNode", other.getName());
        tracer.close();
        try (Caught all = Caught.sampling("always")) {
            other.newScope("op").close();
            // A DataNode uses the tracer of clients for its own operations.
            try (TraceScope operation = tracer.newScope("OpReadBlockProto", new SpanContext(1, 2))) {
                tracer.newScope("sendBlock").close();
                Tracer.curThreadTracer().newScope("DatanodeProtocol#x").close();
            }
            assertTrue(all.one("op").tracer.startsWith("NameNode/"));
            for (String name : new String[] {"OpReadBlockProto", "sendBlock", "DatanodeProtocol#x"}) {
                assertTrue(all.one(name).tracer.startsWith("DataNode/"), name);
            }
        }
    }

    @Test
    void only_what_was_asked_for_is_served_as_a_trace() {
        try (Caught all = Caught.sampling("always")) {
            assertSame(NullTraceScope.INSTANCE, tracer.newScope("sendBlock_1073741825"));
            assertNull(Tracer.curThreadTracer());
        }
    }

    @Test
    void calls_wait_in_the_server_s_queue() throws Exception {
        try (Caught all = Caught.sampling("never")) {
            Tracer server = new Tracer.Builder("NameNode").build();
            Span span = server.newSpan("ClientProtocol#create", new SpanContext(3, 4));
            Thread handler = new Thread(() -> {
                TraceScope scope = server.activateSpan(span);
                span.addTimelineAnnotation("called");
                server.newScope("within").close();
                scope.addTimelineAnnotation("Exception: no");
                scope.close();
                scope.close();
            });
            handler.start();
            handler.join();
            Caught.Span call = all.one("ClientProtocol#create");
            Caught.Span queue = all.one("RPC#queue");
            assertEquals(List.of(new SpanContext(3, 4).toString()), call.parents);
            assertEquals(List.of("called", "Exception: no"), call.notes);
            assertTrue(queue.childOf(call) && all.one("within").childOf(call));
            assertEquals(call.beginNs, queue.beginNs);
            assertTrue(queue.endNs() <= call.noteTimes.get(0));
            assertSame(NullTraceScope.INSTANCE, server.activateSpan(span));
        }
    }

    @Test
    void roots_that_are_not_sampled_hide_what_is_within() {
        try (Caught all = Caught.sampling("outer=never; always")) {
            TraceScope outer = tracer.newScope("outer");
            outer.addKVAnnotation("path", "/x");
            assertNull(outer.span());
            assertNull(Tracer.curThreadTracer());
            assertNull(Tracer.getCurrentSpan());
            tracer.newScope("inner").close();
            try (TraceScope asked = tracer.newScope("OpReadBlockProto", new SpanContext(5, 6))) {
                tracer.newScope("child").close();
            }
            tracer.newScope("inner").close();
            outer.close();
            outer.close();
            tracer.newScope("next").close();
            assertEquals(List.of("child", "OpReadBlockProto", "next"), all.names());
        }
    }

    @Test
    void values_are_recorded_in_their_kind() {
        try (Caught all = Caught.sampling("always")) {
            TraceScope scope = tracer.newScope("completeFile");
            scope.addKVAnnotation("retries left", 5);
            scope.addKVAnnotation("ratio", 0.5);
            scope.addKVAnnotation("path", "/x");
            scope.getSpan().addKVAnnotation("args", "-put").addTimelineAnnotation("dataQueue.wait");
            scope.close();
            scope.addKVAnnotation("late", "x");
            scope.span().addKVAnnotation("late", "x");
            assertEquals(Map.of("retries left", 5L, "ratio", "0.5", "path", "/x", "args", "-put"),
                    all.one("completeFile").annotations);
            assertEquals(List.of("dataQueue.wait"), all.one("completeFile").notes);
        }
    }

    @Test
    void a_scope_can_be_moved_to_another_thread() throws Exception {
        try (Caught all = Caught.sampling("always")) {
            TraceScope scope = tracer.newScope("moved");
            scope.detach();
            assertNull(Tracer.getCurrentSpan());
            Thread other = new Thread(() -> {
                scope.reattach();
                tracer.newScope("there").close();
                scope.close();
            });
            other.start();
            other.join();
            assertTrue(all.one("there").childOf(all.one("moved")));
        }
    }

    @Test
    void a_second_parent_is_the_one_that_was_passed() {
        try (Caught all = Caught.sampling("always")) {
            try (TraceScope outer = tracer.newScope("outer")) {
                tracer.newScope("inner", new SpanContext(9, 9)).close();
                tracer.newScope("same", outer.span().getContext()).close();
                assertEquals(List.of(outer.span().getContext().toString(), new SpanContext(9, 9).toString()),
                        all.one("inner").parents);
            }
            assertTrue(all.one("same").childOf(all.one("outer")));
        }
    }
}
