package io.plumbline.send;

import io.plumbline.send.base.Counters;
import io.plumbline.send.base.DropReason;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import io.plumbline.send.mask.Mask;
import io.plumbline.send.pack.SpanQueue;
import java.io.Closeable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Delivers spans to plumbd. One daemon thread sends; the queue before it is bounded; losses are counted by reason and
 * go along with each batch. Any thread.
 */
public final class SpanSender implements Closeable {
    private static final Logger LOG = Logger.getLogger("io.plumbline.send");
    /** Past the time to drain: for the thread to notice that it was aborted. */
    private static final long ABORT_MS = 2_000;

    private final SenderOptions options;
    /** Null: none. */
    private final Mask mask;
    private final Counters counters = new Counters();
    private final SpanQueue queue;
    private final BatchSender sender;
    private final Thread thread;
    private final SenderStats stats;
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean closed;
    /** Set when the thread has ended: what comes into the queue from then on is nobody's. */
    private volatile boolean ended;

    /**
     * Starts the thread. Connecting is its business: no receiver need be there.
     *
     * @param options addresses and limits
     * @param id of {@code io.plumbline:type=SpanReceiver,id=N} in JMX ({@link SenderMXBean}); from 1
     * @throws IllegalArgumentException when spans cannot be masked as the options say
     */
    public SpanSender(SenderOptions options, long id) {
        this(options, id, new Host());
    }

    SpanSender(SenderOptions options, long id, Host host) {
        this.options = options;
        mask = Mask.of(options);
        queue = new SpanQueue(options, counters, host.pause::wake);
        sender = new BatchSender(options, queue, counters, host);
        stats = new SenderStats(counters, queue, sender);
        thread = new Thread(() -> run(id), "plumb-span-sender-" + id);
        thread.setDaemon(true);
        thread.setContextClassLoader(null); // do not keep an application's class loader alive
        thread.start();
    }

    /** JMX is met here, not in the application's thread: a first look at it takes tens of milliseconds. */
    private void run(long id) {
        stats.register(id);
        sender.run();
    }

    /**
     * The one of the process, id 0 in JMX. Made at the first call; drains when the JVM ends.
     *
     * @throws IllegalArgumentException by the options; the next call tries again
     */
    public static SpanSender process(Supplier<SenderOptions> options) {
        return ProcessSender.get(options);
    }

    /**
     * Takes a copy and returns: never blocks, never throws, takes no lock. {@code span} is the caller's again; with
     * rules for it, what is secret in it is masked.
     */
    public void send(SpanData span) {
        if (closed) {
            turnAway(DropReason.CLOSED);
            return;
        }
        DropReason reason;
        try {
            if (mask != null) {
                mask.apply(span);
            }
            reason = queue.offer(span);
        } catch (Throwable e) {
            reason = DropReason.UNREADABLE;
        }
        if (reason != null) {
            turnAway(reason);
        }
        if (ended) {
            counters.drop(DropReason.CLOSED, queue.clear());
        }
    }

    /** A span that was lost before it came here. */
    public void countDropped(DropReason reason) {
        turnAway(closed ? DropReason.CLOSED : reason);
    }

    private void turnAway(DropReason reason) {
        counters.turnedAway.incrementAndGet();
        counters.drop(reason, 1);
    }

    /**
     * Called in the sender's thread with what the receiver's answers say of sampling, when it changes; null: nothing.
     * One listener: a second takes the place of the first.
     */
    public void onSampling(Consumer<String> listener) {
        sender.onSampling(listener);
    }

    /**
     * Lets a process that has sent nothing yet ask the receiver what it wants sampled; without this it is heard of, and
     * hears, with its first span.
     *
     * @param tracer a tracer id of the process, as its spans would have it
     */
    public void introduce(String tracer) {
        sender.introduce(tracer);
    }

    /** Sends what is queued, for at most the time configured, and counts what was left. Called again, does nothing. */
    @Override
    public void close() {
        if (drain()) {
            LOG.log(counters.dropped() > 0 ? Level.WARNING : Level.FINE, "closed: {0}", summary());
        }
    }

    /**
     * As {@link #close}, when the JVM ends. Its loggers may have been closed before, so a loss is said on standard
     * error: else a command with a wrong address would lose its spans without a word.
     */
    void closeAtExit() {
        if (drain() && counters.dropped() > 0) {
            String why = sender.lastError();
            System.err.println("plumb: spans of this process were lost: " + summary()
                    + (why.isEmpty() ? "" : "; the last error: " + why));
        }
    }

    /** FALSE when it was done before. */
    private boolean drain() {
        if (!closing.compareAndSet(false, true)) {
            return false;
        }
        closed = true;
        sender.close(options.drainMs);
        boolean interrupted = !join(options.drainMs);
        if (thread.isAlive()) {
            sender.abort();
            interrupted |= !join(ABORT_MS);
        }
        ended = true;
        counters.drop(DropReason.NOT_SENT, queue.clear());
        stats.unregister();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
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

    /** The counters, as in JMX. */
    public SenderMXBean stats() {
        return stats;
    }

    private String summary() {
        return "spans received " + stats.getSpansReceived() + ", acknowledged " + counters.acknowledged + ", dropped "
                + counters.dropsByReason();
    }

    @Override
    public String toString() {
        return "SpanSender(" + options + ")";
    }
}
