package io.plumbline.send;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import io.plumbline.send.wire.WireProtocol;
import io.plumbline.wire.Batch;
import io.plumbline.wire.Note;
import io.plumbline.wire.Reply;
import io.plumbline.wire.Span;
import io.plumbline.wire.Status;
import io.plumbline.wire.plumbConstants;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class DeliveryTest {
    private static List<String> names(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "f" + i).collect(Collectors.toList());
    }

    @ParameterizedTest
    @EnumSource(WireProtocol.class)
    void everyFieldArrives(WireProtocol protocol) throws Exception {
        SpanData span = Rig.span(0);
        span.parent(1, 77);
        span.parent(9, 78);
        span.annotate("path", "/a/\u00e4\uD83D\uDE00");
        span.annotate("bytes", Long.MIN_VALUE);
        span.note(1_000_000_003L, "called");
        SpanData foreign = Rig.span(1);
        foreign.parent(5, 6);
        foreign.milliseconds = true;
        try (ThriftReceiver server = new ThriftReceiver(protocol, 0);
                Rig rig = new Rig(server.address()).set("protocol", protocol.text()).set("batch.spans", "2")
                        .set("flush.interval.ms", "60000").start()) {
            rig.sender().send(span);
            rig.sender().send(foreign);
            Batch batch = server.next();
            Span first = batch.getSpans().get(0);
            List<String> strings = batch.getStrings();
            assertEquals(plumbConstants.WIRE_VERSION, batch.getVersion());
            assertEquals(1, first.getTrace());
            assertEquals(1, first.getSpan());
            assertEquals(1_000_000_000L, first.getBeginNs());
            assertEquals(7_000_001L, first.getDurationNs());
            assertEquals("f0", strings.get(first.getName()));
            assertEquals("FSClient/10.0.0.5/4242", strings.get(first.getTracer()));
            assertFalse(first.isSetFlags());
            assertEquals(77, first.getFirstParent());
            assertEquals(List.of(new io.plumbline.wire.SpanId(9, 78)), first.getParents());
            assertEquals("path", strings.get(first.getAnnotations().get(0).getKey()));
            assertEquals("/a/\u00e4\uD83D\uDE00", first.getAnnotations().get(0).getValue());
            assertEquals("bytes", strings.get(first.getAnnotations().get(1).getKey()));
            assertEquals("-9223372036854775808", first.getAnnotations().get(1).getValue());
            assertEquals(List.of(new Note(1_000_000_003L, "called")), first.getNotes());
            Span second = batch.getSpans().get(1);
            assertEquals(plumbConstants.FLAG_MILLISECONDS, second.getFlags());
            assertFalse(second.isSetFirstParent());
            assertEquals(List.of(new io.plumbline.wire.SpanId(5, 6)), second.getParents());
            assertFalse(second.isSetAnnotations() || second.isSetNotes());
            assertEquals(new HashSet<>(strings).size(), strings.size(), "each string once");
        }
    }

    @Test
    void downThenUp() throws Exception {
        int port;
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = probe.getLocalPort();
        }
        try (Rig rig = new Rig("127.0.0.1:" + port).set("retry.min.ms", "100").set("retry.max.ms", "400")
                .start()) {
            rig.send(0, 50);
            for (int i = 0; i < 6; i++) {
                rig.awaitRest();
            }
            assertTrue(rig.stats().getFailures() >= 6);
            assertEquals(0, rig.stats().getSpansAcknowledged());
            assertFalse(rig.stats().getLastError().isEmpty());
            try (ThriftReceiver server = new ThriftReceiver(WireProtocol.COMPACT, port)) {
                assertEquals(names(0, 50), server.nextNames(50));
                rig.close();
                assertEquals(50, rig.stats().getSpansAcknowledged());
                assertEquals(0, rig.stats().getSpansDropped());
            }
            for (int i = 0; i < 6; i++) {
                long whole = Math.min(400, 100L << i);
                long rest = rig.rests.get(i);
                assertTrue(rest <= whole && rest > whole * 3 / 4 - 1, "rest " + i + " of " + rest + " ms");
            }
        }
    }

    /** Takes two batches and dies with the second, for which it has not answered. */
    private static Batch takeOneAndDieWithTheNext(ThriftReceiver first, Rig rig) throws Exception {
        first.answer(ThriftReceiver::ok).answer(batch -> {
            first.kill();
            return ThriftReceiver.ok(batch);
        });
        rig.send(0, 1);
        assertEquals(names(0, 1), first.nextNames(1));
        rig.send(1, 2);
        Batch unanswered = first.next();
        assertEquals(2, unanswered.getSender().getSequence());
        return unanswered;
    }

    @Test
    void failover() throws Exception {
        try (ThriftReceiver spare = new ThriftReceiver(); ThriftReceiver first = new ThriftReceiver();
                Rig rig = new Rig(first.address() + ", " + spare.address()).set("receiver.wait.ms", "0").start()) {
            assertEquals(takeOneAndDieWithTheNext(first, rig), spare.next());
            rig.send(2, 9);
            assertEquals(names(2, 9), spare.nextNames(7));
            rig.close();
            assertEquals(9, rig.stats().getSpansAcknowledged());
            assertEquals(List.of(), rig.rests, "the spare is asked at once");
        }
    }

    /** Both would count it: what the first one may have is sent to that one when it is back, and what follows, too. */
    @Test
    void batchThatMayHaveBeenTakenStaysWithItsReceiver() throws Exception {
        try (ThriftReceiver spare = new ThriftReceiver(); ThriftReceiver first = new ThriftReceiver();
                Rig rig = new Rig(first.address() + ", " + spare.address()).start()) {
            int port = first.port();
            Batch unanswered = takeOneAndDieWithTheNext(first, rig);
            for (int i = 0; i < 3; i++) {
                rig.awaitRest();
            }
            try (ThriftReceiver back = new ThriftReceiver(WireProtocol.COMPACT, port)) {
                assertEquals(unanswered, back.next());
                rig.send(2, 9);
                assertEquals(names(2, 9), back.nextNames(7));
                rig.close();
            }
            assertEquals(9, rig.stats().getSpansAcknowledged());
            assertEquals(0, spare.waitingBatches());
        }
    }

    @Test
    void receiverThatDoesNotComeBackIsLeftInTime() throws Exception {
        try (ThriftReceiver spare = new ThriftReceiver(); ThriftReceiver first = new ThriftReceiver();
                Rig rig = new Rig(first.address() + ", " + spare.address()).set("receiver.wait.ms", "50").start()) {
            Batch unanswered = takeOneAndDieWithTheNext(first, rig);
            rig.awaitRest();
            assertEquals(unanswered, spare.next());
            rig.close();
            assertEquals(2, rig.stats().getSpansAcknowledged());
        }
    }

    /** The end of the process leaves no time to wait. */
    @Test
    void closeDoesNotWaitForAReceiverThatMayComeBack() throws Exception {
        try (ThriftReceiver spare = new ThriftReceiver(); ThriftReceiver first = new ThriftReceiver();
                Rig rig = new Rig(first.address() + ", " + spare.address()).start()) {
            Batch unanswered = takeOneAndDieWithTheNext(first, rig);
            rig.awaitRest();
            rig.close();
            assertEquals(unanswered, spare.next());
            assertEquals(2, rig.stats().getSpansAcknowledged());
        }
    }

    @Test
    void batchThatNoReceiverGotGoesToTheNextAtOnce() throws Exception {
        try (ThriftReceiver spare = new ThriftReceiver();
                Rig rig = new Rig("127.0.0.1:1," + spare.address()).start()) {
            rig.send(0, 1);
            assertEquals(names(0, 1), spare.nextNames(1));
            rig.close();
            assertEquals(List.of(), rig.rests);
        }
    }

    @Test
    void tryLaterSendsTheSameBatchAgain() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver().answer(Status.TRY_LATER, 250).answer(Status.TRY_LATER, 0)
                .answer(Status.TRY_LATER, Integer.MAX_VALUE);
                Rig rig = new Rig(server.address()).start()) {
            rig.send(0, 1);
            Batch batch = server.next();
            for (int i = 0; i < 3; i++) {
                assertEquals(batch, server.next());
            }
            rig.close();
            assertEquals(Arrays.asList(250L, 100L, (long) BatchSender.MAX_WAIT_MS), rig.rests);
            assertEquals(1, rig.stats().getSpansSent());
            assertEquals(1, rig.stats().getSpansAcknowledged());
            assertEquals(3, rig.stats().getBatchesResent());
        }
    }

    @Test
    void receiverThatPutsOffAndOffIsLeft() throws Exception {
        try (ThriftReceiver full = new ThriftReceiver(); ThriftReceiver spare = new ThriftReceiver();
                Rig rig = new Rig(full.address() + "," + spare.address())) {
            for (int i = 0; i < BatchSender.LATERS_BEFORE_NEXT; i++) {
                full.answer(Status.TRY_LATER, 100);
            }
            rig.start();
            rig.send(0, 1);
            Batch batch = full.next();
            assertEquals(batch, spare.next());
            rig.close();
            assertEquals(BatchSender.LATERS_BEFORE_NEXT, rig.rests.size());
            assertEquals(1, rig.stats().getSpansAcknowledged());
            assertEquals(0, rig.stats().getFailures());
        }
    }

    /** The real pauses: a sender that rests for an hour before its next try does try once more when it is closed. */
    @Test
    void closeCutsARestShort() throws Exception {
        int port;
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = probe.getLocalPort();
        }
        Map<String, String> settings = Map.of("receivers", "127.0.0.1:" + port, "flush.interval.ms", "1",
                "retry.min.ms", "3600000", "retry.max.ms", "3600000", "shutdown.timeout.ms", "30000");
        SpanSender sender = new SpanSender(new SenderOptions(settings::get), Rig.ID);
        sender.send(Rig.span(0));
        while (sender.stats().getFailures() == 0) {
            Thread.onSpinWait();
        }
        try (ThriftReceiver server = new ThriftReceiver(WireProtocol.COMPACT, port)) {
            sender.close();
            assertEquals(names(0, 1), server.nextNames(1));
        }
        assertEquals(1, sender.stats().getSpansAcknowledged());
    }

    @Test
    void waitsBeforeTheNextBatchWhenAskedTo() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver()
                .answer(batch -> new Reply(Status.OK, batch.getSpansSize(), 0, 321, 1));
                Rig rig = new Rig(server.address()).start()) {
            rig.send(0, 1);
            rig.awaitRest();
            assertEquals(List.of(321L), rig.rests);
            assertEquals(1, rig.stats().getSpansAcknowledged());
            assertEquals(0, rig.stats().getSpansInFlight());
            rig.send(1, 2);
            assertEquals(names(0, 2), server.nextNames(2));
        }
    }

    @Test
    void refusedBatchIsCountedAndTheNextOneGoes() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver().answer(Status.REFUSED, 0);
                Rig rig = new Rig(server.address()).start()) {
            rig.send(0, 1);
            assertEquals(names(0, 1), server.nextNames(1));
            rig.send(1, 2);
            Batch second = server.next();
            while (second.getSpansSize() == 0) {
                second = server.next(); // a report of the loss may come first
            }
            assertEquals("refused by receiver", second.getSender().getDrops().get(0).getReason());
            assertEquals(1, second.getSender().getDrops().get(0).getSpans());
            rig.close();
            assertEquals(Map.of("refused by receiver", 1L), rig.stats().getDrops());
            assertEquals(1, rig.stats().getSpansAcknowledged());
        }
    }

    @Test
    void refusedSpansOfABatchAreCounted() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver()
                .answer(batch -> new Reply(Status.OK, batch.getSpansSize() - 1, 1, 0, 1));
                Rig rig = new Rig(server.address()).set("batch.spans", "5")
                        .set("flush.interval.ms", "60000").start()) {
            rig.send(0, 5);
            server.next();
            rig.close();
            assertEquals(Map.of("refused by receiver", 1L), rig.stats().getDrops());
            assertEquals(4, rig.stats().getSpansAcknowledged());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void speaksTheVersionOfAnOlderReceiver(int version) throws Exception {
        try (ThriftReceiver server = new ThriftReceiver()
                .answer(batch -> new Reply(Status.VERSION, 0, 0, 0, version));
                Rig rig = new Rig(server.address())) {
            rig.start();
            rig.send(0, 1);
            Batch first = server.next();
            Batch again = server.next();
            assertEquals(3, first.getVersion());
            assertEquals(version, again.getVersion());
            assertEquals(3, first.getNeeds());
            assertFalse(again.isSetNeeds());
            assertEquals(first.getSender(), again.getSender());
            assertEquals(first.getSpans(), again.getSpans());
            assertEquals(1, again.getSpansSize());
            rig.send(1, 2);
            assertEquals(version, server.next().getVersion(), "from here on");
        }
    }

    /** Whether the old one had a batch when it went does not matter: none waits for it. */
    @Test
    void speaksItsOwnVersionAgainAfterTheReceiverHasGone() throws Exception {
        try (ThriftReceiver old = new ThriftReceiver().answer(Status.VERSION, 0);
                ThriftReceiver other = new ThriftReceiver();
                Rig rig = new Rig(old.address() + "," + other.address()).set("receiver.wait.ms", "0").start()) {
            rig.send(0, 1);
            old.next();
            assertEquals(1, old.next().getVersion());
            old.kill();
            rig.send(1, 2);
            other.next();
            rig.send(2, 3);
            assertEquals(3, other.next().getVersion());
        }
    }

    @Test
    void noVersionInCommon() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver().answer(batch -> new Reply(Status.VERSION, 0, 0, 0, 0));
                Rig rig = new Rig(server.address()).start()) {
            rig.send(0, 1);
            server.next();
            rig.close();
            assertEquals(Map.of("receiver too old", 1L), rig.stats().getDrops());
        }
    }

    @Test
    void manyThreadsLoseNothing() throws Exception {
        int threads = 8;
        int each = 5000;
        try (ThriftReceiver server = new ThriftReceiver();
                Rig rig = new Rig(server.address()).set("batch.spans", "700").start()) {
            List<Thread> running = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int from = t * each;
                Thread thread = new Thread(() -> rig.send(from, from + each));
                thread.start();
                running.add(thread);
            }
            for (Thread thread : running) {
                thread.join();
            }
            rig.close();
            Set<String> arrived = new HashSet<>(server.nextNames(threads * each));
            assertEquals(threads * each, arrived.size());
            assertEquals(threads * each, rig.stats().getSpansAcknowledged());
            assertEquals(0, rig.stats().getSpansDropped());
        }
    }

    @Test
    void countersGoAlong() throws Exception {
        try (ThriftReceiver server = new ThriftReceiver(); Rig rig = new Rig(server.address()).start()) {
            String id = "";
            long sequence = 0;
            for (int i = 0; i < 3; i++) {
                rig.send(i, i + 1);
                Batch batch = server.next();
                assertEquals(++sequence, batch.getSender().getSequence());
                assertEquals(i + 1, batch.getSender().getSpansSent());
                assertTrue(i == 0 || id.equals(batch.getSender().getId()));
                id = batch.getSender().getId();
            }
            assertTrue(id.endsWith("/10.0.0.5/4242@" + rig.host.startedAt), id);
            assertEquals(id, rig.stats().getSenderId());
        }
    }

    @Test
    void sendersOfOneProcessHaveDifferentIds() {
        long ids = IntStream.range(0, 100).mapToObj(i -> new Host().startedAt).distinct().count();
        assertEquals(100, ids);
        assertArrayEquals(new String[] {"DataNode/10.0.3.17/9", "app-1.0/h/9", "FSClient/h/9", "plain"}, new String[] {
            TracerNames.senderName("FSClient/10.0.3.17/9", "org.apache.hadoop.hdfs.server.datanode.DataNode -D x=y"),
            TracerNames.senderName("FSClient/h/9", "/opt/app-1.0.jar x"),
            TracerNames.senderName("FSClient/h/9", ""),
            TracerNames.senderName("plain", "Main")});
    }
}
