package io.plumbline.send;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.Counters;
import io.plumbline.send.base.DropReason;
import io.plumbline.send.base.IdPlace;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import io.plumbline.send.pack.SpanQueue;
import io.plumbline.send.pack.SpanWriter;
import io.plumbline.send.pack.TextTest;
import io.plumbline.send.pack.Utf8;
import io.plumbline.send.wire.WireProtocol;
import io.plumbline.wire.Annotation;
import io.plumbline.wire.Batch;
import io.plumbline.wire.Note;
import io.plumbline.wire.Span;
import io.plumbline.wire.SpanId;
import io.plumbline.wire.SpanReceiver;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From SpanData through the queue to the wire's bytes, without a connection. */
class FormTest {
    private final Counters counters = new Counters();
    private final AtomicInteger wakes = new AtomicInteger();

    private SpanQueue queue(SenderOptions options) {
        return new SpanQueue(options, counters, wakes::incrementAndGet);
    }

    private static SenderOptions options(String... pairs) {
        Map<String, String> settings = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            settings.put(pairs[i], pairs[i + 1]);
        }
        return new SenderOptions(settings::get);
    }

    private static SpanReceiver.submit_args encode(BatchEncoder encoder, WireProtocol protocol, int version)
            throws Exception {
        EncodedBatch encoded = encoder.encode(BatchEncoder.sender("me", 5, 6, 7, Map.of("why", 8L)), version);
        byte[] frame = new byte[encoded.bytes().remaining()];
        encoded.bytes().get(frame);
        TProtocol in = protocol.over(new TMemoryInputTransport(frame, 4, frame.length - 4));
        assertEquals(BatchEncoder.METHOD, in.readMessageBegin().name);
        SpanReceiver.submit_args args = new SpanReceiver.submit_args();
        args.read(in);
        in.readMessageEnd();
        // The library writes the same bytes.
        TMemoryBuffer again = new TMemoryBuffer(frame.length);
        TProtocol out = protocol.over(again);
        out.writeMessageBegin(new org.apache.thrift.protocol.TMessage("submit",
                org.apache.thrift.protocol.TMessageType.CALL, 5));
        args.write(out);
        assertEquals(frame.length - 4, again.length());
        assertArrayEquals(java.util.Arrays.copyOfRange(frame, 4, frame.length),
                java.util.Arrays.copyOf(again.getArray(), again.length()));
        assertEquals(version < 3, args.getBatch().isSetSpans() && !args.getBatch().isSetPacks());
        assertEquals(version < 3 ? 0 : 3, args.getBatch().getNeeds());
        args.setBatch(Unpack.unpacked(args.getBatch()));
        return args;
    }

    /** Any, or one that is more or less near others. */
    private static long id(Random random) {
        return random.nextInt(3) == 0 ? random.nextLong() : IdPlace.idAt(random.nextLong() >> random.nextInt(64));
    }

    private static SpanData random(Random random) {
        SpanData span = new SpanData();
        span.trace = id(random);
        span.span = id(random);
        span.beginNs = random.nextLong() >> random.nextInt(64);
        span.durationNs = random.nextLong() >> random.nextInt(64);
        span.name = random.nextInt(4) > 0 ? "f" + random.nextInt(3) : TextTest.randomText(random, 400);
        span.tracer = random.nextInt(9) > 0 ? "FSClient/h/1" : TextTest.randomText(random, 10);
        span.milliseconds = random.nextBoolean();
        for (int i = random.nextInt(4); i > 0; i--) {
            span.parent(random.nextBoolean() ? span.trace : id(random), id(random));
        }
        int most = random.nextInt(10) == 0 ? 300 : 6;
        for (int i = random.nextInt(most); i > 0; i--) {
            if (random.nextBoolean()) {
                span.annotate("k" + random.nextInt(200), random.nextLong() >> random.nextInt(64));
            } else {
                span.annotate(TextTest.randomText(random, 9), TextTest.randomText(random, random.nextInt(200) + 1));
            }
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            span.note(random.nextLong(), TextTest.randomText(random, 20));
        }
        return span;
    }

    private static String text(String whole, int maxBytes) {
        byte[] bytes = TextTest.reference(whole);
        assertTrue(bytes.length <= maxBytes || maxBytes == Utf8.MAX_NAME_BYTES);
        if (bytes.length <= maxBytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
        byte[] cut = new byte[maxBytes];
        return new String(cut, 0, Utf8.put(whole, maxBytes, cut, 0), StandardCharsets.UTF_8);
    }

    private static void assertSame(SpanData expected, Span span, List<String> strings) {
        assertEquals(expected.trace, span.getTrace());
        assertEquals(expected.span, span.getSpan());
        assertEquals(expected.beginNs, span.getBeginNs());
        assertEquals(expected.durationNs, span.getDurationNs());
        assertEquals(text(expected.name, Utf8.MAX_NAME_BYTES), strings.get(span.getName()));
        assertEquals(text(expected.tracer, Utf8.MAX_NAME_BYTES), strings.get(span.getTracer()));
        assertEquals(expected.milliseconds, span.isSetFlags());
        List<SpanId> parents = new ArrayList<>();
        if (span.isSetFirstParent()) {
            parents.add(new SpanId(span.getTrace(), span.getFirstParent()));
        }
        parents.addAll(span.isSetParents() ? span.getParents() : List.of());
        assertEquals(expected.parents(), parents.size());
        for (int i = 0; i < parents.size(); i++) {
            assertEquals(new SpanId(expected.parentTrace(i), expected.parentSpan(i)), parents.get(i));
        }
        List<Annotation> annotations = span.isSetAnnotations() ? span.getAnnotations() : Collections.emptyList();
        assertEquals(expected.annotations(), annotations.size());
        for (int i = 0; i < annotations.size(); i++) {
            assertEquals(text(expected.key(i), Utf8.MAX_NAME_BYTES), strings.get(annotations.get(i).getKey()));
            String value = expected.text(i) == null ? Long.toString(expected.number(i))
                    : text(expected.text(i), Utf8.MAX_VALUE_BYTES);
            assertEquals(value, annotations.get(i).getValue());
        }
        List<Note> notes = span.isSetNotes() ? span.getNotes() : Collections.emptyList();
        assertEquals(expected.notes(), notes.size());
        for (int i = 0; i < notes.size(); i++) {
            assertEquals(new Note(expected.noteTime(i), text(expected.note(i), Utf8.MAX_VALUE_BYTES)), notes.get(i));
        }
    }

    @ParameterizedTest
    @CsvSource({"COMPACT, 1", "COMPACT, 2", "COMPACT, 3", "BINARY, 1", "BINARY, 3"})
    void whateverIsInASpanArrives(WireProtocol protocol, int version) throws Exception {
        Random random = new Random(42);
        SenderOptions options = options("protocol", protocol.text(), "batch.spans", "100");
        SpanQueue queue = queue(options);
        BatchEncoder encoder = new BatchEncoder(options);
        for (int round = 0; round < 10; round++) {
            List<SpanData> sent = new ArrayList<>();
            for (int i = 0; i < 250; i++) {
                SpanData span = random(random);
                sent.add(span);
                assertNull(queue.offer(span));
            }
            queue.collect();
            assertEquals(250, queue.size());
            int arrived = 0;
            while (arrived < 250) {
                assertTrue(encoder.take(queue) <= 100);
                assertTrue(encoder.firstTracer() != null);
                Batch batch = encode(encoder, protocol, version).getBatch();
                for (Span span : batch.getSpans()) {
                    assertSame(sent.get(arrived++), span, batch.getStrings());
                }
            }
            assertEquals(0, encoder.take(queue));
            assertEquals(0, queue.size());
        }
    }

    @Test
    void limitsOfOneSpan() throws Exception {
        SenderOptions options = options();
        SpanQueue queue = queue(options);
        BatchEncoder encoder = new BatchEncoder(options);
        SpanData span = Rig.span(0);
        span.name = "n".repeat(2000);
        span.tracer = null;
        for (int i = 0; i < 5000; i++) {
            span.parent(1, i);
            span.note(i, "");
            span.annotate("key" + i, i == 17 ? "v".repeat(70_000) : null);
        }
        assertNull(queue.offer(span));
        queue.collect();
        assertEquals(1, encoder.take(queue));
        Batch batch = encode(encoder, WireProtocol.COMPACT, 3).getBatch();
        Span wire = batch.getSpans().get(0);
        assertEquals("n".repeat(1024), batch.getStrings().get(wire.getName()));
        assertEquals("", batch.getStrings().get(wire.getTracer()));
        assertEquals(4095, wire.getParentsSize());
        assertEquals(4096, wire.getAnnotationsSize());
        assertEquals(4096, wire.getNotesSize());
        assertEquals("v".repeat(65_536), wire.getAnnotations().get(17).getValue());
        assertEquals(5, counters.shortened.get());
    }

    /** Bytes of a batch of spans that are each a child of the one that ends after it. */
    private int bytesOf(int spans, boolean drawn) {
        SpanQueue queue = queue(options());
        BatchEncoder encoder = new BatchEncoder(options());
        Random random = new Random(7);
        long next = random.nextLong();
        for (int i = spans; i > 0; i--) {
            SpanData span = new SpanData();
            span.trace = 1;
            span.span = next;
            next = drawn ? IdPlace.idAt(IdPlace.placeOf(next) - 1) : random.nextLong();
            span.parent(1, next);
            assertNull(queue.offer(span));
        }
        queue.collect();
        assertEquals(spans, encoder.take(queue));
        return encoder.encode(BatchEncoder.sender("me", 5, 6, 7, Map.of()), 3).bytes().remaining();
    }

    /** Shape, bits, span, parent, begin and duration: each a byte, but for ids that are not of one sequence. */
    @Test
    void idsOfOneSequenceTakeAByte() {
        assertEquals(20 * 6, bytesOf(40, true) - bytesOf(20, true));
        assertEquals(20 * (4 + 8 + 8), bytesOf(40, false) - bytesOf(20, false), 2); // of lengths before it
    }

    @Test
    void tooLargeLeavesTheOthers() throws Exception {
        SenderOptions options = options();
        SpanQueue queue = queue(options);
        assertNull(queue.offer(Rig.span(0)));
        SpanData huge = Rig.span(1);
        huge.annotate("k", "x".repeat((int) SpanWriter.MAX_WEIGHT / 2));
        assertEquals(DropReason.OVERSIZED, queue.offer(huge));
        assertNull(queue.offer(Rig.span(2)));
        assertEquals(2, queue.size());
        queue.collect();
        assertEquals(2, queue.clear());
        assertEquals(0, queue.size());
    }

    /** A queue that was full takes as much again when it is empty: nothing reserved is forgotten. */
    @Test
    void roomComesBack() throws Exception {
        SenderOptions options = options("queue.spans", "1000", "queue.bytes", "65536", "batch.spans", "70");
        SpanQueue queue = queue(options);
        BatchEncoder encoder = new BatchEncoder(options);
        Random random = new Random(3);
        for (int round = 0; round < 50; round++) {
            boolean wide = random.nextBoolean();
            SpanData span = Rig.span(0);
            span.annotate("k", wide ? "x".repeat(random.nextInt(9000)) : "");
            long before = queue.accepted();
            while (queue.offer(span) == null) {
                assertTrue(queue.size() <= 1000);
            }
            assertTrue(wide || queue.accepted() - before >= 500, () -> "only " + (queue.accepted() - before));
            assertTrue(wakes.get() > 0);
            queue.collect();
            while (encoder.take(queue) > 0) {
                // empties it
            }
            assertEquals(0, queue.size());
        }
    }
}
