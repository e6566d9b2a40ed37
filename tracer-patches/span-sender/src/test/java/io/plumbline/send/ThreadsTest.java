package io.plumbline.send;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.plumbline.send.base.Counters;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import io.plumbline.send.pack.Chunk;
import io.plumbline.send.pack.SpanQueue;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ThreadsTest {
    private static void inThreads(int threads, IntConsumer work) throws InterruptedException {
        List<Thread> running = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int number = t;
            Thread thread = new Thread(() -> work.accept(number));
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
    }

    private static void assertExact(SenderMXBean stats, long received) {
        assertEquals(received, stats.getSpansReceived());
        assertEquals(received, stats.getSpansAcknowledged() + stats.getSpansDropped());
        assertEquals(0, stats.getSpansQueued() + stats.getSpansInFlight());
    }

    /** A thread that ends has its spans in a chunk that nobody will fill. */
    @Test
    void threadsThatEndLoseNothing() throws Exception {
        int each = 7;
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address()).start()) {
            for (int round = 0; round < 20; round++) {
                int from = round * 100 * each;
                inThreads(100, t -> rig.send(from + t * each, from + (t + 1) * each));
            }
            rig.close();
            Set<String> arrived = new HashSet<>(server.nextNames(2000 * each));
            assertEquals(2000 * each, arrived.size());
            assertExact(rig.stats(), 2000 * each);
            assertEquals(0, rig.stats().getSpansDropped());
        }
    }

    /** Also where a thread lives on and only its local variables were cleared, as some pools do. */
    @Test
    void buffersOfEndedThreadsAreForgotten() throws Exception {
        SpanQueue queue = new SpanQueue(new SenderOptions(key -> null), new Counters(), () -> {});
        inThreads(500, t -> queue.offer(Rig.span(t)));
        assertEquals(500, queue.threads());
        while (queue.threads() > 0) {
            System.gc();
            queue.collect();
        }
        assertEquals(500, queue.accepted());
        assertEquals(500, queue.size());
        assertEquals(500, queue.clear());
    }

    /** Thousands of threads, and a receiver that does not answer: bounded memory, and every span is accounted for. */
    @Test
    void manyThreadsAndNoReceiver() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (ThriftReceiver server = new ThriftReceiver().answer(batch -> {
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return ThriftReceiver.ok(batch);
        }); Rig rig = new Rig(server.address()).set("queue.bytes", "1000000").start()) {
            rig.send(0, 1);
            server.next();
            for (int round = 0; round < 30; round++) {
                inThreads(100, t -> rig.send(0, 3));
            }
            long queued = rig.stats().getSpansQueued();
            long least = Chunk.cost(0, Chunk.SIZES[0]);
            assertEquals(1 + 3 * 3000, rig.stats().getSpansReceived());
            assertTrue(queued >= 3 * (1_000_000 / least) && queued <= 3 * (1_000_000 / least + 1), queued + " queued");
            assertEquals(9000 - queued, rig.stats().getDrops().get("queue bytes full"));
            release.countDown();
            rig.close();
            assertExact(rig.stats(), 9001);
            assertEquals(queued + 1, rig.stats().getSpansAcknowledged());
        }
    }

    @Test
    void closedWhileThreadsSend() throws Exception {
        for (int round = 0; round < 10; round++) {
            AtomicLong sent = new AtomicLong();
            AtomicBoolean stop = new AtomicBoolean();
            CountDownLatch started = new CountDownLatch(6);
            try (ThriftReceiver server = new ThriftReceiver();
                    Rig rig = new Rig(server.address()).set("queue.spans", "1000").set("batch.spans", "50").start()) {
                Thread closer = new Thread(() -> {
                    try {
                        started.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    rig.close();
                    stop.set(true);
                });
                closer.start();
                inThreads(6, t -> {
                    SpanData span = Rig.span(t);
                    for (int i = 0; !stop.get(); i++) {
                        rig.sender().send(span);
                        sent.incrementAndGet();
                        if (i == 100) {
                            started.countDown();
                        }
                    }
                });
                closer.join();
                assertExact(rig.stats(), sent.get());
            }
        }
    }

    /** What the application's threads pay in memory, once the queue has its chunks and its code is compiled. */
    @Test
    void sendingAllocatesNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int spans = 50_000;
        try (RawReceiver server = new RawReceiver();
                Rig rig = new Rig(server.address()).set("queue.bytes", "64000000").set("batch.spans", "10000")
                        .set("flush.interval.ms", "60000").start()) {
            for (int id = 1; id <= 100; id++) {
                int message = id;
                server.answer((frame, socket, out) -> out.write(FailureTest.good(message, spans)));
            }
            SpanData span = Rig.span(0);
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 10; round++) {
                long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
                for (int i = 0; i < spans; i++) {
                    fill(span, i);
                    rig.sender().send(span);
                }
                least = Math.min(least, threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before);
                while (rig.stats().getSpansQueued() >= 10_000 || rig.stats().getSpansInFlight() > 0) {
                    Thread.onSpinWait();
                }
            }
            assertTrue(least < spans / 10, least + " bytes for " + spans + " spans");
            rig.close();
            assertEquals(10 * spans, rig.stats().getSpansAcknowledged());
        }
    }

    private static void fill(SpanData span, int i) {
        span.clear();
        span.span = i;
        span.beginNs += 1000;
        span.parent(1, i - 1);
        span.annotate("requested", 4096L + i);
        span.annotate("src", "/user/someone/table/part-00000.parquet");
    }
}
