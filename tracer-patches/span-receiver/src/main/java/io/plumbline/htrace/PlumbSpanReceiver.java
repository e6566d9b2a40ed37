package io.plumbline.htrace;

import io.plumbline.send.SenderMXBean;
import io.plumbline.send.SpanSender;
import io.plumbline.send.TracerNames;
import io.plumbline.send.base.DropReason;
import io.plumbline.send.base.SenderOptions;
import java.util.function.Consumer;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanReceiver;

/**
 * Sends the spans of HTrace 4 (Hadoop 2.8 to 3.3.1) to plumbd.
 *
 * <p>{@link #receiveSpan} runs in the application's threads: it copies the span for the {@link SpanSender}, never
 * blocks and never throws. Configuration: docs/tracing.md.
 */
public class PlumbSpanReceiver extends SpanReceiver {
    /** Before HTrace's own prefixes have their turn: {@code hadoop.htrace.plumb.queue.spans}. */
    private static final String PREFIX = "plumb.";
    static final String ADDRESSES_KEY = PREFIX + "receiver.addresses";

    /** Of the whole process: a thread ends one span at a time, whatever receivers it has. */
    private static final ThreadLocal<SpanReader.Copy> COPY = ThreadLocal.withInitial(SpanReader.Copy::new);

    private final SpanReader reader;
    private final SpanSender sender;
    private final boolean ownSender;

    /**
     * Called by HTrace: a receiver with a sender of its own.
     *
     * @throws IllegalArgumentException when a value is out of bounds; HTrace logs it and goes without
     */
    public PlumbSpanReceiver(HTraceConfiguration conf) {
        sender = new SpanSender(options(conf), getId());
        reader = new SpanReader(new TracerNames(TracerNames.ownPid()));
        ownSender = true;
    }

    /** A receiver that shares a sender, and leaves it open when it is closed itself. */
    public PlumbSpanReceiver(SpanSender shared) {
        sender = shared;
        reader = new SpanReader(new TracerNames(TracerNames.ownPid()));
        ownSender = false;
    }

    static SenderOptions options(HTraceConfiguration conf) {
        return new SenderOptions(key -> conf.get(shown(key)), PlumbSpanReceiver::shown);
    }

    /** What a key of the sender is called in HTrace's configuration. */
    static String shown(String key) {
        return key.equals(SenderOptions.RECEIVERS_KEY) ? ADDRESSES_KEY : PREFIX + key;
    }

    @Override
    public void receiveSpan(Span span) {
        try {
            SpanReader.Copy copy = COPY.get();
            if (reader.read(span, copy)) {
                sender.send(copy.data);
            } else {
                sender.countDropped(DropReason.UNREADABLE);
            }
        } catch (Throwable e) {
            sender.countDropped(DropReason.UNREADABLE);
        }
    }

    /** Called with what the answers to its batches say of sampling; the agent beside it calls this by its name. */
    public void onSampling(Consumer<String> listener) {
        sender.onSampling(listener);
    }

    /** Sends what is queued, for at most the time configured, and counts what was left. Called again, does nothing. */
    @Override
    public void close() {
        if (ownSender) {
            sender.close();
        }
    }

    /** The counters, in tests. */
    SenderMXBean stats() {
        return sender.stats();
    }

    @Override
    public String toString() {
        return "PlumbSpanReceiver(" + sender + ")";
    }
}
