package io.plumbline.send;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.DropReason;
import io.plumbline.send.base.SpanData;
import io.plumbline.send.net.Connection;
import io.plumbline.send.pack.SpanWriter;
import io.plumbline.wire.Batch;
import io.plumbline.wire.Reply;
import io.plumbline.wire.SpanReceiver;
import io.plumbline.wire.Status;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TSerializable;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.transport.TMemoryBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Peers that behave badly, full queues, and the end. */
@Timeout(120)
class FailureTest {
    private static byte[] reply(String method, byte type, int id, TSerializable body) throws Exception {
        TMemoryBuffer buffer = new TMemoryBuffer(256);
        TCompactProtocol out = new TCompactProtocol(buffer);
        out.writeMessageBegin(new TMessage(method, type, id));
        body.write(out);
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        new DataOutputStream(frame).writeInt(buffer.length());
        frame.write(buffer.getArray(), 0, buffer.length());
        return frame.toByteArray();
    }

    private static TBase<?, ?> result(Reply reply) {
        SpanReceiver.submit_result result = new SpanReceiver.submit_result();
        return reply == null ? result : result.setSuccess(reply);
    }

    static byte[] good(int id) throws Exception {
        return good(id, 1);
    }

    static byte[] good(int id, int accepted) throws Exception {
        return reply("submit", TMessageType.REPLY, id, result(new Reply(Status.OK, accepted, 0, 0, 1)));
    }

    private static byte[] cut(byte[] bytes, int length) {
        byte[] cut = new byte[length];
        System.arraycopy(bytes, 0, cut, 0, length);
        return cut;
    }

    static Stream<Arguments> badReplies() throws Exception {
        Reply ok = new Reply(Status.OK, 1, 0, 0, 1);
        return Stream.of(
                Arguments.of("nothing, closed", new byte[0]),
                Arguments.of("half a length", new byte[] {0, 0}),
                Arguments.of("negative length", new byte[] {-1, -1, -1, -1}),
                Arguments.of("length of 2 GB", new byte[] {0x7f, -1, -1, -1}),
                Arguments.of("just over the limit", new byte[] {0, 1, 0, 1}),
                Arguments.of("empty frame", new byte[4]),
                Arguments.of("text", "\0\0\0\u000fHTTP/1.1 400 No".getBytes("ISO-8859-1")),
                Arguments.of("frame that ends early", cut(good(1), 10)),
                Arguments.of("no result", reply("submit", TMessageType.REPLY, 1, result(null))),
                Arguments.of("another call's id", good(2)),
                Arguments.of("another method", reply("submitPlain", TMessageType.REPLY, 1, result(ok))),
                Arguments.of("a call, no reply", reply("submit", TMessageType.CALL, 1, result(ok))),
                Arguments.of("no status", reply("submit", TMessageType.REPLY, 1, result(new Reply().setAccepted(1)))),
                Arguments.of("unknown method", reply("submit", TMessageType.EXCEPTION, 1,
                        new TApplicationException(TApplicationException.UNKNOWN_METHOD, "who?"))));
    }

    /** Whatever comes back: the same bytes are sent again, on a new connection, until there is an answer. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("badReplies")
    void badReplyMeansAgain(String name, byte[] bad) throws Exception {
        try (RawReceiver server = new RawReceiver(); Rig rig = new Rig(server.address()).start()) {
            server.answer((frame, socket, out) -> {
                out.write(bad);
                out.flush();
                socket.close();
            }).answer((frame, socket, out) -> out.write(good(1)));
            rig.send(0, 1);
            byte[] first = server.next();
            assertArrayEquals(first, server.next());
            rig.close();
            assertEquals(1, rig.stats().getSpansAcknowledged());
            assertEquals(0, rig.stats().getSpansDropped());
            assertEquals(1, rig.stats().getFailures());
            assertEquals(1, rig.rests.size());
        }
    }

    /** Receivers close connections that were idle for long: no failure, and nothing to wait for. */
    @Test
    void idleConnectionThatWasClosed() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        try (RawReceiver server = new RawReceiver(); Rig rig = new Rig(server.address()).start()) {
            server.answer((frame, socket, out) -> {
                out.write(good(1));
                out.flush();
                socket.setSoLinger(true, (int) ThriftReceiver.WAIT_SECONDS); // closed when the sender can see it
                socket.close();
                closed.countDown();
            }).answer((frame, socket, out) -> out.write(good(2)));
            rig.send(0, 1);
            server.next();
            closed.await();
            while (rig.stats().getSpansAcknowledged() == 0) {
                Thread.onSpinWait();
            }
            rig.send(1, 2);
            server.next();
            rig.close();
            assertEquals(2, rig.stats().getSpansAcknowledged());
            assertEquals(0, rig.stats().getFailures());
            assertEquals(List.of(), rig.rests);
        }
    }

    @Test
    void malformedArgumentsMeanRefused() throws Exception {
        try (RawReceiver server = new RawReceiver(); Rig rig = new Rig(server.address()).start()) {
            byte[] exception = reply("submit", TMessageType.EXCEPTION, 1,
                    new TApplicationException(TApplicationException.PROTOCOL_ERROR, "cannot parse"));
            server.answer((frame, socket, out) -> out.write(exception))
                    .answer((frame, socket, out) -> out.write(good(2)));
            rig.send(0, 1);
            server.next();
            rig.close();
            assertEquals(Map.of("refused by receiver", 1L), rig.stats().getDrops());
        }
    }

    /**
     * What a receiver says stands in the application's log and in JMX: one short line, without commands to a terminal.
     */
    @Test
    void textOfAReceiverIsMadeHarmless() throws Exception {
        String bad = "a\nb\u001b[2Jc\u0085\u009bd\u202ee\u2066f\u007f\uD800" + "x".repeat(59_000);
        byte[] exception = reply("submit", TMessageType.EXCEPTION, 1,
                new TApplicationException(TApplicationException.INTERNAL_ERROR, bad));
        byte[] refused = reply("submit", TMessageType.REPLY, 1,
                result(new Reply(Status.REFUSED, 0, 0, 0, 1).setMessage(bad)));
        for (byte[] answer : List.of(exception, refused)) {
            try (RawReceiver server = new RawReceiver(); Rig rig = new Rig(server.address()).start()) {
                CountDownLatch read = new CountDownLatch(1); // until then no other error takes its place
                server.answer((frame, socket, out) -> out.write(answer)).answer((frame, socket, out) -> {
                    read.await();
                    out.write(good(2));
                });
                rig.send(0, 1);
                server.next();
                while (rig.stats().getLastError().isEmpty()) {
                    Thread.onSpinWait();
                }
                String said = rig.stats().getLastError();
                read.countDown();
                assertTrue(said.contains("a?b?[2Jc??d?e?f??xxx"), said);
                assertTrue(said.endsWith("xxx...") && said.length() <= LogText.MAX_CHARS + 3,
                        said.length() + " characters");
            }
        }
    }

    @Test
    void slowReceiverCostsATimeoutAndNoSpan() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (RawReceiver hung = new RawReceiver(); ThriftReceiver spare = new ThriftReceiver();
                Rig rig = new Rig(hung.address() + "," + spare.address()).set("io.timeout.ms", "50")
                        .set("receiver.wait.ms", "0").start()) {
            hung.answer((frame, socket, out) -> over.await());
            rig.send(0, 1);
            hung.next();
            assertEquals(List.of("f0"), spare.nextNames(1));
            over.countDown();
            rig.close();
            assertEquals(1, rig.stats().getSpansAcknowledged());
        }
    }

    /** A byte now and then must not hold the sender longer than the whole exchange may take. */
    @Test
    void dripOfBytesIsATimeout() throws Exception {
        try (RawReceiver drip = new RawReceiver(); ThriftReceiver spare = new ThriftReceiver();
                Rig rig = new Rig(drip.address() + "," + spare.address()).set("io.timeout.ms", "100")
                        .set("receiver.wait.ms", "0").start()) {
            drip.answer((frame, socket, out) -> {
                out.writeInt(Connection.MAX_REPLY_BYTES);
                for (int i = 0; i < Connection.MAX_REPLY_BYTES; i++) {
                    out.write(0);
                    LockSupport.parkNanos(5_000_000);
                }
            });
            rig.send(0, 1);
            assertEquals(List.of("f0"), spare.nextNames(1));
            rig.close();
            assertEquals(1, rig.stats().getSpansAcknowledged());
        }
    }

    @Test
    void fullQueueDropsCountsAndTells() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (ThriftReceiver server = new ThriftReceiver().answer(batch -> held(batch, release));
                Rig rig = new Rig(server.address()).set("queue.spans", "10").set("batch.spans", "1")
                        .start()) {
            rig.send(0, 1);
            server.next(); // is held by the server: from now on nothing leaves the queue
            rig.send(1, 100_001);
            assertEquals(10, rig.stats().getSpansQueued());
            assertEquals(Map.of("queue full", 99_990L), rig.stats().getDrops());
            release.countDown();
            Batch batch = server.next();
            assertEquals("queue full", batch.getSender().getDrops().get(0).getReason());
            assertEquals(99_990, batch.getSender().getDrops().get(0).getSpans());
            rig.close();
            assertEquals(11, rig.stats().getSpansAcknowledged());
            assertEquals(100_001, rig.stats().getSpansReceived());
        }
    }

    @Test
    void lossIsReportedWhenNoSpanFollows() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address()).start()) {
            rig.send(0, 1);
            server.next();
            rig.sender().countDropped(DropReason.UNREADABLE);
            Batch report = server.next();
            assertEquals(0, report.getSpansSize());
            assertEquals("span unreadable", report.getSender().getDrops().get(0).getReason());
            assertEquals(1, rig.stats().getSpansDropped());
        }
    }

    @Test
    void queueIsBoundedInBytes() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        String text = "x".repeat(10_000);
        try (ThriftReceiver server = new ThriftReceiver().answer(batch -> held(batch, release));
                Rig rig = new Rig(server.address()).set("queue.bytes", "65536").set("batch.spans", "1")
                        .start()) {
            rig.send(0, 1);
            server.next();
            for (int i = 1; i <= 10; i++) {
                SpanData span = Rig.span(i);
                span.annotate("k", text);
                rig.sender().send(span);
            }
            assertEquals(3, rig.stats().getSpansQueued());
            assertEquals(Map.of("queue bytes full", 7L), rig.stats().getDrops());
            SpanData huge = Rig.span(11);
            huge.annotate("k", "x".repeat((int) SpanWriter.MAX_WEIGHT));
            rig.sender().send(huge);
            assertEquals(1L, rig.stats().getDrops().get("span too large"));
            release.countDown();
        }
    }

    private static Reply held(Batch batch, CountDownLatch release) {
        try {
            release.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return ThriftReceiver.ok(batch);
    }

    @Test
    void closeSendsWhatIsQueued() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (ThriftReceiver server = new ThriftReceiver().answer(batch -> held(batch, release));
                Rig rig = new Rig(server.address()).set("batch.spans", "10").start()) {
            rig.send(0, 10);
            server.next();
            rig.send(10, 1234);
            Thread closer = new Thread(rig::close);
            closer.start();
            release.countDown();
            closer.join();
            assertEquals(1234, rig.stats().getSpansAcknowledged());
            assertEquals(0, rig.stats().getSpansQueued());
            rig.send(0, 7);
            assertEquals(Map.of("ended after close", 7L), rig.stats().getDrops());
        }
    }

    @Test
    void closeCountsWhatItCouldNotSend() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (RawReceiver hung = new RawReceiver();
                Rig rig = new Rig(hung.address()).set("shutdown.timeout.ms", "50").start()) {
            hung.answer((frame, socket, out) -> over.await());
            rig.send(0, 1);
            hung.next();
            rig.send(1, 20);
            rig.close();
            over.countDown();
            assertEquals(Map.of("not sent at close", 20L), rig.stats().getDrops());
            assertEquals(0, rig.stats().getSpansQueued() + rig.stats().getSpansInFlight());
        }
    }

    @Test
    void closeGivesUpWhenNobodyListens() throws Exception {
        try (Rig rig = new Rig("127.0.0.1:1").set("shutdown.timeout.ms", "0").start()) {
            rig.send(0, 20);
            rig.close();
            assertEquals(20, rig.stats().getSpansDropped());
            assertTrue(rig.stats().getDrops().containsKey("not sent at close"));
        }
    }

    @Test
    void closeKeepsTheInterruptOfItsThread() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (RawReceiver hung = new RawReceiver(); Rig rig = new Rig(hung.address()).start()) {
            hung.answer((frame, socket, out) -> over.await());
            rig.send(0, 1);
            hung.next();
            Thread.currentThread().interrupt();
            rig.close();
            assertTrue(Thread.interrupted());
            over.countDown();
            assertEquals(1, rig.stats().getSpansReceived());
        }
    }
}
