package io.plumbline.htrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.NanoSpan;
import io.plumbline.send.SpanSender;
import io.plumbline.send.ThriftReceiver;
import io.plumbline.send.TracerNames;
import io.plumbline.send.base.DropReason;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import io.plumbline.wire.Batch;
import io.plumbline.wire.Span;
import io.plumbline.wire.plumbConstants;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.MilliSpan;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TimelineAnnotation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class PartsTest {
    private final SpanReader reader = new SpanReader(new TracerNames("4242"));

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "plumb.receiver.addresses   | :9410           | names no host",
        "plumb.receiver.addresses   | a:0             | has no port from 1 to 65535",
        "plumb.receiver.addresses   | a:65536         | has no port from 1 to 65535",
        "plumb.receiver.addresses   | a:x             | has no port from 1 to 65535",
        "plumb.receiver.addresses   | ::1             | is no host:port",
        "plumb.receiver.addresses   | [::1            | is no host:port",
        "plumb.receiver.addresses   | [::1]9          | has no port from 1 to 65535",
        "plumb.receiver.addresses   | ,               | no address in",
        "plumb.protocol             | json            | compact or binary",
        "plumb.batch.spans          | 0               | a whole number from 1 to 10000",
        "plumb.batch.spans          | 10001           | a whole number from 1 to 10000",
        "plumb.queue.bytes          | 64k             | a whole number from 65536",
        "plumb.shutdown.timeout.ms  | -1              | a whole number from 0",
        "plumb.retry.max.ms         | 5               | is less than plumb.retry.min.ms"})
    void badValuesAreNamed(String key, String value, String message) {
        HTraceConfiguration conf = HTraceConfiguration.fromKeyValuePairs(key, value);
        Exception error = assertThrows(IllegalArgumentException.class, () -> new PlumbSpanReceiver(conf));
        assertTrue(error.getMessage().startsWith(key) && error.getMessage().contains(message), error.getMessage());
    }

    @Test
    void everyKeyIsDocumented() throws Exception {
        Path docs = Path.of(System.getProperty("basedir"), "..", "..", "docs", "tracing.md");
        String text = Files.readString(docs);
        for (SenderOptions.Key key : SenderOptions.NUMBERS) {
            String row = String.format(Locale.ROOT, "| `%s` | %d | %,d to %,d |", key.name, key.otherwise, key.least,
                    key.greatest);
            assertTrue(text.contains(row), row);
            assertEquals("plumb." + key.name, PlumbSpanReceiver.shown(key.name));
        }
        assertTrue(
                text.contains("| `" + SenderOptions.RECEIVERS_KEY + "` | `" + SenderOptions.RECEIVERS_DEFAULT + "` |"));
        assertTrue(text.contains("| `" + SenderOptions.PROTOCOL_KEY + "` | `compact` | `compact`, `binary` |"));
        assertTrue(text.contains("hadoop.htrace." + PlumbSpanReceiver.ADDRESSES_KEY));
        assertTrue(text.contains("hadoop.htrace." + PlumbSpanReceiver.shown("queue.spans")));
        for (DropReason reason : DropReason.values()) {
            assertTrue(text.contains("`" + reason.text() + "`"), reason.text());
        }
    }

    @Test
    void timesBeyondAllCalendars() {
        assertEquals(Long.MAX_VALUE, SpanReader.toNanos(Long.MAX_VALUE));
        assertEquals(Long.MIN_VALUE, SpanReader.toNanos(Long.MIN_VALUE));
        assertEquals(-5_000_000, SpanReader.toNanos(-5));
    }

    /** A span whose annotations are being changed at the first reads. */
    private static final class Unsteady extends MilliSpan {
        private final AtomicInteger readsUntilQuiet;

        Unsteady(int readsUntilQuiet) {
            this.readsUntilQuiet = new AtomicInteger(readsUntilQuiet);
        }

        @Override
        public SpanId getSpanId() {
            return new SpanId(1, 2);
        }

        @Override
        public Map<String, String> getKVAnnotations() {
            if (readsUntilQuiet.getAndDecrement() > 0) {
                throw new ConcurrentModificationException();
            }
            return Map.of("k", "v");
        }
    }

    @Test
    void readingAChangingSpan() {
        SpanReader.Copy copy = new SpanReader.Copy();
        SpanData data = copy.data;
        assertTrue(reader.read(new Unsteady(2), copy));
        assertEquals("k", data.key(0));
        assertEquals("v", data.text(0));
        assertEquals(1, data.annotations());
        assertFalse(reader.read(new Unsteady(Integer.MAX_VALUE), copy));
    }

    @Test
    void whatWasReadDoesNotChangeAfterwards() {
        MilliSpan span = span().parents(new SpanId[] {new SpanId(1, 9)}).build();
        span.addKVAnnotation("a", "b");
        span.addKVAnnotation("c", null);
        span.addTimelineAnnotation(null);
        SpanReader.Copy copy = new SpanReader.Copy();
        SpanData data = copy.data;
        assertTrue(reader.read(span, copy));
        span.addKVAnnotation("late", "x");
        span.addTimelineAnnotation("late");
        span.getParents()[0] = new SpanId(3, 3);
        assertEquals(2, data.annotations());
        assertEquals(1, data.notes());
        assertEquals("", data.note(0));
        assertEquals(9, data.parentSpan(0));
        assertEquals("FSClient/10.0.0.5/4242", data.tracer);
    }

    private static MilliSpan.Builder span() {
        return new MilliSpan.Builder().spanId(new SpanId(1, 2)).begin(1000).end(1007).description("f")
                .tracerId("FSClient/10.0.0.5");
    }

    /** A span that was measured with a finer clock; its second note was not. */
    private static final class Measured extends MilliSpan implements NanoSpan {
        private final long begin;

        Measured(long begin) {
            super();
            this.begin = begin;
        }

        @Override
        public SpanId getSpanId() {
            return new SpanId(1, 2);
        }

        @Override
        public List<TimelineAnnotation> getTimelineAnnotations() {
            return List.of(new TimelineAnnotation(5, "a"), new TimelineAnnotation(6, "b"));
        }

        @Override
        public long beginNs() {
            return begin;
        }

        @Override
        public long durationNs() {
            return 3;
        }

        @Override
        public long noteNs(int i) {
            return i == 0 ? 5_000_001 : 0;
        }
    }

    @Test
    void nanosecondsWhereTheyAreKnown() {
        SpanReader.Copy copy = new SpanReader.Copy();
        SpanData data = copy.data;
        assertTrue(reader.read(new Measured(1_000_000_007), copy));
        assertEquals(1_000_000_007, data.beginNs);
        assertEquals(3, data.durationNs);
        assertFalse(data.milliseconds);
        assertEquals(5_000_001, data.noteTime(0));
        assertEquals(6_000_000, data.noteTime(1));
        assertTrue(reader.read(new Measured(0), copy));
        assertTrue(data.milliseconds);
        assertTrue(reader.read(span().build(), copy));
        assertTrue(data.milliseconds);
        assertEquals(1_000_000_000, data.beginNs);
        assertEquals(7_000_000, data.durationNs);
    }

    /** The whole way: HTrace's span, the receiver, the wire. */
    @Test
    void spansOfHTraceArrive() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver()) {
            PlumbSpanReceiver receiver = new PlumbSpanReceiver(HTraceConfiguration.fromKeyValuePairs(
                    "plumb.receiver.addresses", server.address(), "plumb.batch.spans", "1"));
            MilliSpan span = span().build();
            span.addTimelineAnnotation("called");
            receiver.receiveSpan(span);
            Batch batch = server.next();
            Span first = batch.getSpans().get(0);
            assertEquals(2, first.getSpan());
            assertEquals(1_000_000_000L, first.getBeginNs());
            assertEquals(7_000_000L, first.getDurationNs());
            assertEquals(plumbConstants.FLAG_MILLISECONDS, first.getFlags());
            assertEquals("f", batch.getStrings().get(first.getName()));
            assertEquals("FSClient/10.0.0.5/" + TracerNames.ownPid(), batch.getStrings().get(first.getTracer()));
            assertEquals(span.getTimelineAnnotations().get(0).getTime() * 1_000_000,
                    first.getNotes().get(0).getTimeNs());
            receiver.close();
            assertEquals(1, receiver.stats().getSpansAcknowledged());
        }
    }

    @Test
    void sharedSenderStaysOpen() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver();
                SpanSender shared = new SpanSender(new SenderOptions(Map.of("receivers", server.address(),
                        "batch.spans", "1")::get), 4711)) {
            PlumbSpanReceiver first = new PlumbSpanReceiver(shared);
            first.close();
            new PlumbSpanReceiver(shared).receiveSpan(span().build());
            assertEquals(1, server.next().getSpansSize());
        }
    }

    @Test
    void countersAreInJmxWhileItLives() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        PlumbSpanReceiver receiver = new PlumbSpanReceiver(HTraceConfiguration.fromKeyValuePairs(
                "plumb.receiver.addresses", "127.0.0.1:1", "plumb.shutdown.timeout.ms", "0"));
        ObjectName name = new ObjectName("io.plumbline:type=SpanReceiver,id=" + receiver.getId());
        receiver.receiveSpan(null);
        while (server.queryNames(name, null).isEmpty()) {
            Thread.onSpinWait(); // the sender's thread registers it
        }
        assertEquals(1L, server.getAttribute(name, "SpansReceived"));
        assertEquals(1L, server.getAttribute(name, "SpansDropped"));
        assertEquals(Map.of("span unreadable", 1L), receiver.stats().getDrops());
        receiver.close();
        assertTrue(server.queryNames(name, null).isEmpty());
    }
}
