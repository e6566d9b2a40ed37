package io.plumbline.htrace;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.MilliSpan;
import org.apache.htrace.core.SpanId;

/** A span receiver under test, whose rests before retries are recorded and take no time. */
final class Rig implements AutoCloseable {
    final List<Long> rests = new CopyOnWriteArrayList<>();
    final BlockingQueue<Long> restBegun = new LinkedBlockingQueue<>();
    final Host host = new Host();
    private final Map<String, String> settings = new HashMap<>();
    private PlumbSpanReceiver receiver;

    Rig(String addresses) {
        set("plumb.receiver.addresses", addresses);
        set("plumb.flush.interval.ms", "1");
        set("plumb.shutdown.timeout.ms", "30000");
        host.pid = "4242";
        Pause real = Pause.real();
        host.pause = new Pause() {
            @Override
            public void idle(long ms) {
                real.idle(ms);
            }

            @Override
            public void rest(long ms) {
                rests.add(ms);
                restBegun.add(ms);
                Thread.yield();
            }

            @Override
            public void wake() {
                real.wake();
            }

            @Override
            public void cut() {
                real.cut();
            }
        };
    }

    Rig set(String key, String value) {
        settings.put(key, value);
        return this;
    }

    Rig start() {
        receiver = new PlumbSpanReceiver(HTraceConfiguration.fromMap(settings), host);
        return this;
    }

    PlumbSpanReceiver receiver() {
        return receiver;
    }

    SpanReceiverMXBean stats() {
        return receiver.stats();
    }

    void send(int from, int to) {
        for (int i = from; i < to; i++) {
            receiver.receiveSpan(span(i).build());
        }
    }

    /** Waits for a retry to be due. */
    void awaitRest() throws InterruptedException {
        if (restBegun.poll(ThriftReceiver.WAIT_SECONDS, TimeUnit.SECONDS) == null) {
            throw new AssertionError("no retry");
        }
    }

    static MilliSpan.Builder span(int i) {
        return new MilliSpan.Builder().spanId(new SpanId(1, 1 + i)).begin(1000 + i).end(1007 + i).description("f" + i)
                .tracerId("FSClient/10.0.0.5");
    }

    @Override
    public void close() {
        if (receiver != null) {
            receiver.close();
        }
    }
}
