package io.plumbline.send;

import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A sender under test, whose rests before retries are recorded and take no time. */
final class Rig implements AutoCloseable {
    static final long ID = 4711;

    final List<Long> rests = new CopyOnWriteArrayList<>();
    final BlockingQueue<Long> restBegun = new LinkedBlockingQueue<>();
    final Host host = new Host();
    private final Map<String, String> settings = new HashMap<>();
    private SpanSender sender;

    Rig(String addresses) {
        set("receivers", addresses);
        set("flush.interval.ms", "1");
        set("shutdown.timeout.ms", "30000");
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
        sender = new SpanSender(new SenderOptions(settings::get), ID, host);
        return this;
    }

    SpanSender sender() {
        return sender;
    }

    SenderMXBean stats() {
        return sender.stats();
    }

    void send(int from, int to) {
        for (int i = from; i < to; i++) {
            sender.send(span(i));
        }
    }

    /** Waits for a retry to be due. */
    void awaitRest() throws InterruptedException {
        if (restBegun.poll(ThriftReceiver.WAIT_SECONDS, TimeUnit.SECONDS) == null) {
            throw new AssertionError("no retry");
        }
    }

    static SpanData span(int i) {
        SpanData span = new SpanData();
        span.trace = 1;
        span.span = 1 + i;
        span.beginNs = 1_000_000_000L + i;
        span.durationNs = 7_000_001;
        span.name = "f" + i;
        span.tracer = "FSClient/10.0.0.5/4242";
        return span;
    }

    @Override
    public void close() {
        if (sender != null) {
            sender.close();
        }
    }
}
