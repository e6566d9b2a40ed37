package io.plumbline.send;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.Counters;
import io.plumbline.send.base.SenderOptions;
import java.io.File;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the receiver asks for, and the sender that a process shares. */
@Timeout(120)
class SamplingTest {
    private static ThriftReceiver asking(ThriftReceiver server, String policy) {
        return server.answer(batch -> ThriftReceiver.ok(batch).setSampling(policy));
    }

    @Test
    void changesReachTheListener() throws Exception {
        BlockingQueue<Optional<String>> heard = new LinkedBlockingQueue<>();
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address())) {
            for (String policy : new String[] {"0.01", "0.01", "never", null, null, "always"}) {
                asking(server, policy);
            }
            rig.set("batch.spans", "1").start();
            rig.sender().onSampling(policy -> {
                heard.add(Optional.ofNullable(policy));
                assertTrue(Thread.currentThread().getName().startsWith("plumb-span-sender"));
            });
            rig.send(0, 6);
            rig.close();
            assertEquals(List.of(Optional.of("0.01"), Optional.of("never"), Optional.empty(), Optional.of("always")),
                    List.copyOf(heard));
            assertEquals(0, rig.stats().getSamplingFailures());
        }
    }

    @Test
    void listenerThatThrowsIsCounted() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address())) {
            asking(asking(server, "a"), "b");
            rig.set("batch.spans", "1").start();
            rig.sender().onSampling(policy -> {
                throw new LinkageError(policy);
            });
            rig.send(0, 3); // the third answer takes the policy back: that is news, too
            rig.close();
            assertEquals(3, rig.stats().getSamplingFailures());
            assertEquals(3, rig.stats().getSpansAcknowledged());
        }
    }

    @Test
    void listenerThatComesLateHearsWhatHolds() {
        Counters counters = new Counters();
        SamplingNews news = new SamplingNews(counters);
        BlockingQueue<Optional<String>> heard = new LinkedBlockingQueue<>();
        news.take("x");
        news.listener(policy -> heard.add(Optional.ofNullable(policy)));
        news.take("x");
        news.take("x");
        assertEquals(List.of(Optional.of("x")), List.copyOf(heard));
        news.listener(null);
        news.take("y");
        assertEquals(1, heard.size());
    }

    /** A process that samples nothing from the start is turned on by what the receiver answers. */
    @Test
    void askedWithoutAnySpan() throws Exception {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address())) {
            asking(server, "always");
            rig.start();
            rig.sender().onSampling(heard::add);
            rig.sender().introduce("FSClient/10.0.0.5/4242");
            assertEquals("always", heard.poll(ThriftReceiver.WAIT_SECONDS, TimeUnit.SECONDS));
            assertEquals(0, server.next().getSpansSize());
            assertTrue(rig.stats().getSenderId().contains("/10.0.0.5/4242@"), rig.stats().getSenderId());
        }
    }

    /** Told to sample nothing, a process sends nothing: it asks, or would never hear of anything else. */
    @Test
    void senderWithNothingToSendAsks() throws Exception {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address())) {
            asking(asking(asking(server, "never"), "never"), "always");
            rig.host.askMs = 5;
            rig.start();
            rig.sender().onSampling(heard::add);
            rig.send(0, 1);
            assertEquals("never", heard.poll(ThriftReceiver.WAIT_SECONDS, TimeUnit.SECONDS));
            assertEquals("always", heard.poll(ThriftReceiver.WAIT_SECONDS, TimeUnit.SECONDS));
            assertEquals(1, server.next().getSpansSize());
            assertEquals(0, server.next().getSpansSize());
            assertEquals(1, rig.stats().getSpansAcknowledged());
        }
    }

    /** Another JVM, as an application would be: it sends and ends, and nothing is lost. */
    @Test
    void processSenderDrainsAtExit() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver()) {
            Process process = new ProcessBuilder(System.getProperty("java.home") + File.separator + "bin/java", "-cp",
                    System.getProperty("java.class.path"), Application.class.getName(), server.address())
                    .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue());
            assertEquals(200, server.nextNames(200).size());
        }
    }

    /** Ends by System.exit while spans of two threads are queued. */
    public static final class Application {
        private Application() {
        }

        public static void main(String[] arguments) throws Exception {
            assertThrows(IllegalArgumentException.class,
                    () -> SpanSender.process(() -> new SenderOptions(key -> key.equals("protocol") ? "x" : null)));
            Map<String, String> settings = Map.of("receivers", arguments[0], "flush.interval.ms", "3600000",
                    "shutdown.timeout.ms", "30000");
            SpanSender sender = SpanSender.process(() -> new SenderOptions(settings::get));
            assertSame(sender, SpanSender.process(() -> null));
            assertNull(send(sender));
            Thread other = new Thread(() -> send(sender));
            other.start();
            other.join();
            System.exit(0);
        }

        private static Object send(SpanSender sender) {
            for (int i = 0; i < 100; i++) {
                sender.send(Rig.span(i));
            }
            return null;
        }
    }
}
