package io.plumbline.trace;

import io.plumbline.send.SpanSender;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import io.plumbline.trace.report.Trouble;
import io.plumbline.trace.settings.Settings;
import java.util.function.Consumer;

/** Where finished spans go: the sender of the process, started with the first span. Any thread. */
public final class Delivery {
    /** After the sender could not be started (its settings contradict each other): to try with later settings. */
    private static final long RETRY_NANOS = 10_000_000_000L;

    /** A test's own; null: the sender of the process. */
    static volatile Consumer<SpanData> other;
    private static volatile SpanSender sender;
    private static volatile long retryAt;

    private Delivery() {
    }

    /** Takes a copy. Never throws. */
    public static void send(SpanData span) {
        try {
            Consumer<SpanData> instead = other;
            SpanSender to = instead == null ? sender() : null;
            if (to != null) {
                to.send(span);
            } else if (instead != null) {
                instead.accept(span);
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.ENGINE, e);
        }
    }

    /**
     * Lets the receiver turn on a process that samples nothing and so would never speak to it. Does nothing where spans
     * will come by themselves, or where the receiver has no say. Never throws.
     */
    static void askIfSilent() {
        try {
            if (Sampling.current().never() && Settings.current().on("sampling.receiver")) {
                SpanSender asking = sender();
                if (asking != null) {
                    asking.introduce(Tracers.ofRole(""));
                }
            }
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.SETTING, e);
        }
    }

    /** Null when it cannot be started. */
    private static SpanSender sender() {
        SpanSender known = sender;
        return known != null ? known : start();
    }

    private static synchronized SpanSender start() {
        long now = System.nanoTime();
        if (sender == null && (retryAt == 0 || now - retryAt > 0)) {
            retryAt = now + RETRY_NANOS;
            SpanSender started = SpanSender.process(() -> new SenderOptions(Settings.current()::get));
            started.onSampling(Sampling.current()::fromReceiver);
            sender = started;
        }
        return sender;
    }
}
