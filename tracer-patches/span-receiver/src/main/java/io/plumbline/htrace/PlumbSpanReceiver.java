package io.plumbline.htrace;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanReceiver;

/**
 * Sends the spans of HTrace 4 (Hadoop 2.8 to 3.3.1) to plumbd.
 *
 * <p>{@link #receiveSpan} runs in the application's threads: it copies the span into a bounded queue, never blocks and
 * never throws. One daemon thread sends batches. What cannot be delivered is counted by reason; the counters go along
 * with each batch and are in JMX ({@link SpanReceiverMXBean}). Configuration: {@link Options}, docs/tracing.md.
 */
public class PlumbSpanReceiver extends SpanReceiver {
    private static final Logger LOG = Logger.getLogger("io.plumbline.htrace");
    /** Past the time to drain: for the thread to notice that it was aborted. */
    private static final long ABORT_MS = 2_000;

    private final Options options;
    private final TracerNames names;
    private final Counters counters = new Counters();
    private final SpanQueue queue;
    private final BatchSender sender;
    private final Thread thread;
    private final ReceiverStats stats;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Set when the thread has ended: what comes into the queue from then on is nobody's. */
    private volatile boolean ended;

    /**
     * Called by HTrace.
     *
     * @throws IllegalArgumentException when a value is out of bounds; HTrace logs it and goes without
     */
    public PlumbSpanReceiver(HTraceConfiguration conf) {
        this(conf, new Host());
    }

    PlumbSpanReceiver(HTraceConfiguration conf, Host host) {
        options = new Options(conf);
        names = new TracerNames(host.pid);
        queue = new SpanQueue(options);
        sender = new BatchSender(options, queue, counters, host);
        stats = new ReceiverStats(counters, queue, sender);
        stats.register(getId());
        thread = new Thread(sender, "plumb-span-sender-" + getId());
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // do not keep an application's class loader alive
        thread.start();
    }

    @Override
    public void receiveSpan(Span span) {
        try {
            counters.received.incrementAndGet();
            DropReason reason = take(span);
            if (reason != null) {
                counters.drop(reason, 1);
            }
        } catch (Throwable e) {
            counters.drop(DropReason.UNREADABLE, 1);
        }
    }

    private DropReason take(Span span) {
        if (closed.get()) {
            return DropReason.CLOSED;
        }
        SpanCopy copy = SpanCopy.of(span, names);
        if (copy == null) {
            return DropReason.UNREADABLE;
        }
        if (copy.bytes > SpanCopy.MAX_BYTES) {
            return DropReason.OVERSIZED;
        }
        DropReason reason = queue.offer(copy);
        if (queue.batchReady()) {
            sender.wake();
        }
        if (ended) {
            dropQueued(DropReason.CLOSED);
        }
        return reason;
    }

    private void dropQueued(DropReason reason) {
        while (queue.poll() != null) {
            counters.drop(reason, 1);
        }
    }

    /** Sends what is queued, for at most the time configured, and counts what was left. Called again, does nothing. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        sender.close(options.drainMs);
        boolean interrupted = !join(options.drainMs);
        if (thread.isAlive()) {
            sender.abort();
            interrupted |= !join(ABORT_MS);
        }
        ended = true;
        dropQueued(DropReason.NOT_SENT);
        stats.unregister();
        LOG.log(counters.dropped() > 0 ? Level.WARNING : Level.FINE, "closed: {0}", summary());
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** FALSE when this thread was interrupted while it waited. */
    private boolean join(long ms) {
        try {
            TimeUnit.MILLISECONDS.timedJoin(thread, ms);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** The counters, in tests. */
    SpanReceiverMXBean stats() {
        return stats;
    }

    private String summary() {
        return "spans received " + counters.received + ", acknowledged " + counters.acknowledged + ", dropped "
                + counters.dropsByReason();
    }

    @Override
    public String toString() {
        return "PlumbSpanReceiver(" + options.addresses + ")";
    }
}
