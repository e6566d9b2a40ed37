package io.plumbline.htrace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ConcurrentModificationException;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.MilliSpan;
import org.apache.htrace.core.SpanId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartsTest {
    private final TracerNames names = new TracerNames("4242");

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "FSClient/10.0.0.5              | FSClient/10.0.0.5/4242",
        "DataNode/fe80:0:0:0:1%eth0     | DataNode/fe80:0:0:0:1%eth0/4242",
        "FSClient/10.0.0.5/4242         | FSClient/10.0.0.5/4242",
        "FSClient/10.0.0.5/77           | FSClient/10.0.0.5/77",
        "plain                          | plain",
        "FSClient/                      | FSClient/",
        "/10.0.0.5                      | /10.0.0.5",
        "\"\"                           | \"\""})
    void pidIsAddedToNameAndHost(String tracerId, String expected) {
        assertEquals(expected, names.withPid(tracerId));
        assertEquals(expected, names.withPid(tracerId), "the second time it is remembered");
    }

    @Test
    void ownPid() {
        assertEquals(Long.toString(ProcessHandle.current().pid()), TracerNames.ownPid());
        assertEquals("a/b", new TracerNames("").withPid("a/b"));
    }

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
    void goodValues() {
        Options defaults = new Options(HTraceConfiguration.EMPTY);
        assertEquals("[127.0.0.1:9410]", defaults.addresses.toString());
        assertEquals(WireProtocol.COMPACT, defaults.protocol);
        Options options = new Options(HTraceConfiguration.fromKeyValuePairs(
                "plumb.receiver.addresses", " a , b:1,, [::1]:7,[fe80::1] ", "plumb.protocol", "Binary",
                "plumb.batch.spans", " 10 ", "plumb.queue.spans", ""));
        assertEquals("[a:9410, b:1, [::1]:7, [fe80::1]:9410]", options.addresses.toString());
        assertEquals(WireProtocol.BINARY, options.protocol);
        assertEquals(10, options.batchSpans);
        assertEquals(defaults.queueSpans, options.queueSpans);
    }

    @Test
    void everyKeyIsDocumented() throws Exception {
        Path docs = Path.of(System.getProperty("basedir"), "..", "..", "docs", "tracing.md");
        String text = Files.readString(docs);
        for (Options.Key key : Options.NUMBERS) {
            String row = String.format(Locale.ROOT, "| `%s` | %d | %,d to %,d |", key.name, key.otherwise, key.least,
                    key.greatest);
            assertTrue(text.contains(row), row);
        }
        assertTrue(text.contains("| `" + Options.ADDRESSES_KEY + "` | `" + Options.ADDRESSES_DEFAULT + "` |"));
        assertTrue(text.contains("| `" + Options.PROTOCOL_KEY + "` | `compact` | `compact`, `binary` |"));
        for (DropReason reason : DropReason.values()) {
            assertTrue(text.contains("`" + reason.text() + "`"), reason.text());
        }
    }

    @Test
    void textsFitTheReceiversLimits() {
        Counters counters = new Counters();
        Texts texts = new Texts(counters);
        String longest = "\u00e4".repeat(Texts.MAX_NAME_BYTES / 2);
        assertEquals(longest, texts.name(longest));
        assertEquals("a\uFFFDb", texts.name("a\0b"));
        assertEquals(0, counters.shortened.get());
        assertEquals(longest, texts.name(longest + "x"));
        String emoji = texts.name("a" + "\uD83D\uDE00".repeat(300));
        assertEquals(1021, emoji.getBytes(StandardCharsets.UTF_8).length, "no half characters");
        assertEquals(Texts.MAX_VALUE_BYTES, texts.value("x".repeat(70_000)).length());
        assertEquals(3, counters.shortened.get());
    }

    @Test
    void timesBeyondAllCalendars() {
        assertEquals(Long.MAX_VALUE, BatchEncoder.toNanos(Long.MAX_VALUE));
        assertEquals(Long.MIN_VALUE, BatchEncoder.toNanos(Long.MIN_VALUE));
        assertEquals(-5_000_000, BatchEncoder.toNanos(-5));
    }

    @Test
    void backoffDoublesWithinBounds() {
        Backoff full = new Backoff(100, 1000, () -> 0.0);
        assertArrayEquals(new long[] {100, 200, 400, 800, 1000, 1000},
                new long[] {full.nextMs(), full.nextMs(), full.nextMs(), full.nextMs(), full.nextMs(), full.nextMs()});
        full.reset();
        assertEquals(100, full.nextMs());
        assertEquals(75, new Backoff(100, 1000, () -> 0.9999999).nextMs(), 1);
        assertEquals(1, new Backoff(1, 1, () -> 0.9999999).nextMs());
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
    void copyOfAChangingSpan() {
        assertArrayEquals(new String[] {"k", "v"}, SpanCopy.of(new Unsteady(2), names).annotations);
        assertNull(SpanCopy.of(new Unsteady(Integer.MAX_VALUE), names));
    }

    @Test
    void copyDoesNotChangeAfterwards() {
        MilliSpan span = Rig.span(0).parents(new SpanId[] {new SpanId(1, 9)}).build();
        span.addKVAnnotation("a", "b");
        span.addKVAnnotation("c", null);
        span.addTimelineAnnotation(null);
        SpanCopy copy = SpanCopy.of(span, names);
        span.addKVAnnotation("late", "x");
        span.addTimelineAnnotation("late");
        span.getParents()[0] = new SpanId(3, 3);
        assertEquals(4, copy.annotations.length);
        assertEquals(1, copy.notes.length);
        assertEquals(new SpanId(1, 9), copy.parents[0]);
    }

    @Test
    void countersAreInJmxWhileItLives() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try (Rig rig = new Rig("127.0.0.1:1").set("plumb.shutdown.timeout.ms", "0").start()) {
            ObjectName name = new ObjectName("io.plumbline:type=SpanReceiver,id=" + rig.receiver().getId());
            rig.receiver().receiveSpan(null);
            assertEquals(1L, server.getAttribute(name, "SpansReceived"));
            assertEquals(1L, server.getAttribute(name, "SpansDropped"));
            rig.close();
            assertTrue(server.queryNames(name, null).isEmpty());
        }
    }
}
