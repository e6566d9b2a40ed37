package io.plumbline.send;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.DropReason;
import io.plumbline.send.base.SpanData;
import io.plumbline.wire.Batch;
import io.plumbline.wire.Reply;
import io.plumbline.wire.Status;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The application's side: whatever state its threads are in and whatever the receiver does, it is not disturbed. */
@Timeout(120)
class HarmlessTest {
    private static long accountedFor(SenderMXBean stats) {
        return stats.getSpansAcknowledged() + stats.getSpansDropped() + stats.getSpansQueued()
                + stats.getSpansInFlight();
    }

    @Test
    void interruptedThreadStaysInterrupted() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address()).start()) {
            Thread.currentThread().interrupt();
            rig.send(0, 100);
            rig.sender().countDropped(DropReason.UNREADABLE);
            assertTrue(Thread.interrupted());
            assertEquals(100, server.nextNames(100).size());
        }
    }

    /**
     * Sends from every depth of a stack that ends: what fails harms no other span. (Where even counting finds no stack,
     * a few are counted wrong.)
     */
    @Test
    void stackThatEnds() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver();
                Rig rig = new Rig(server.address()).set("queue.spans", "10000000").set("queue.bytes", "1000000000")
                        .start()) {
            rig.send(0, 1000); // linked and compiled
            int rounds = 20;
            Thread deep = new Thread(null, () -> {
                for (int round = 0; round < rounds; round++) {
                    try {
                        descend(rig.sender(), Rig.span(1000));
                    } catch (StackOverflowError e) {
                        // the application's own
                    }
                }
            }, "deep", 256 << 10);
            deep.start();
            deep.join();
            rig.send(1001, 1002);
            rig.close();
            SenderMXBean stats = rig.stats();
            assertEquals(stats.getSpansReceived(), accountedFor(stats), 20 * rounds);
            Set<String> names = new HashSet<>();
            long spans = 0;
            while (server.waitingBatches() > 0) {
                Batch batch = server.next();
                spans += batch.getSpansSize();
                batch.getSpans().forEach(span -> names.add(batch.getStrings().get(span.getName())));
            }
            assertEquals(stats.getSpansAcknowledged(), spans);
            assertEquals(1002, names.size(), () -> stats.getDrops().toString());
        }
    }

    private static int descend(SpanSender sender, SpanData span) {
        sender.send(span);
        int below = descend(sender, span);
        sender.send(span);
        return below + 1;
    }

    /** Each thread leaves something of its own behind; what it sent arrives nevertheless, and nothing stays. */
    @Test
    void thousandsOfThreadsThatEnd() throws Exception {
        int threads = 4000;
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address()).start()) {
            List<Thread> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int from = 3 * i;
                Thread thread = new Thread(null, () -> rig.send(from, from + 3), "t" + i, 128 << 10);
                thread.start();
                running.add(thread);
                if (running.size() == 200) {
                    for (Thread started : running) {
                        started.join();
                    }
                    running.clear();
                }
            }
            rig.close();
            assertEquals(3 * threads, rig.stats().getSpansAcknowledged());
            assertEquals(0, rig.stats().getSpansDropped());
        }
    }

    /** A receiver that is always busy and asks for a minute holds the end of the process for the time configured. */
    @Test
    void busyForever() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver()) {
            for (int i = 0; i < 100; i++) {
                server.answer(Status.TRY_LATER, 60_000);
            }
            Rig rig = new Rig(server.address()).set("shutdown.timeout.ms", "200");
            rig.host.pause = Pause.real();
            rig.start();
            rig.send(0, 10);
            server.next();
            long before = System.nanoTime();
            rig.close();
            long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before);
            assertTrue(ms < 20_000, ms + " ms"); // far less than the minute that it was told to wait
            assertEquals(10L, rig.stats().getDrops().get("not sent at close"));
        }
    }

    /** The end of a command, and no plumbd anywhere: its time to drain is for receivers that there are. */
    @Test
    void nobodyEverAnswered() throws Exception {
        Rig rig = new Rig("127.0.0.1:1,127.0.0.1:2").set("retry.min.ms", "10000");
        rig.host.pause = Pause.real();
        rig.start();
        rig.send(0, 10);
        long before = System.nanoTime();
        rig.close();
        long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before);
        assertTrue(ms < 5000, ms + " ms");
        assertEquals(10L, rig.stats().getDrops().get("not sent at close"));
    }

    /**
     * Answers with a few bytes changed, cut, or doubled. Some mean something: every span is accounted for all the same.
     */
    @Test
    void answersOfNoise() throws Exception {
        Random random = new Random(7);
        int answers = 3000;
        try (RawReceiver server = new RawReceiver();
                Rig rig = new Rig(server.address()).set("batch.spans", "1").set("io.timeout.ms", "20")
                        .set("shutdown.timeout.ms", "100").start()) {
            CountDownLatch given = new CountDownLatch(answers);
            for (int i = 0; i < answers; i++) {
                int id = 1 + i;
                server.answer((frame, socket, out) -> {
                    given.countDown();
                    out.write(noise(random, FailureTest.good(id)));
                    out.flush();
                    socket.close();
                });
            }
            for (int i = 0; given.getCount() > 0; i++) {
                rig.send(i, i + 1);
                given.await(1, TimeUnit.MILLISECONDS);
            }
            for (int i = 0; i < 10; i++) {
                server.answer((frame, socket, out) -> socket.close());
            }
            rig.sender().countDropped(DropReason.UNREADABLE);
            assertEquals(rig.stats().getSpansReceived(), settled(rig.stats()));
        }
    }

    private static long settled(SenderMXBean stats) {
        while (accountedFor(stats) != stats.getSpansReceived()) {
            Thread.onSpinWait();
        }
        return accountedFor(stats);
    }

    private static byte[] noise(Random random, byte[] good) {
        byte[] bytes = good.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        if (random.nextInt(4) == 0) {
            return java.util.Arrays.copyOf(bytes, random.nextInt(2 * bytes.length));
        }
        return bytes;
    }

    /** What a listener does is not the sender's business. */
    @Test
    void listenerThatThrows() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address()).start()) {
            server.answer(batch -> new Reply(Status.OK, batch.getSpansSize(), 0, 0, 1).setSampling("never"));
            rig.sender().onSampling(policy -> {
                throw new StackOverflowError(policy);
            });
            rig.send(0, 1);
            server.next();
            rig.send(1, 2);
            server.next();
            rig.close();
            assertEquals(2, rig.stats().getSpansAcknowledged());
        }
    }
}
