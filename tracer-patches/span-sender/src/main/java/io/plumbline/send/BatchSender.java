package io.plumbline.send;

import io.plumbline.send.base.Counters;
import io.plumbline.send.base.DropReason;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.pack.SpanQueue;
import io.plumbline.wire.Reply;
import io.plumbline.wire.Sender;
import io.plumbline.wire.Status;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The sender's thread: takes batches from the queue and delivers one after the other. A batch stays the same, with the
 * same sequence number, until a receiver has answered for it, and stays with the receiver that may have it ({@link
 * Link}), so that a reply lost on the way does no harm.
 */
final class BatchSender implements Runnable {
    private static final Logger LOG = Logger.getLogger("io.plumbline.send");
    /** A receiver may ask for more; it gets this. */
    static final int MAX_WAIT_MS = 60_000;
    /** A receiver that puts off one batch so often (its disk is full, say) is left for the next of the list. */
    static final int LATERS_BEFORE_NEXT = 10;

    private final SenderOptions options;
    private final SpanQueue queue;
    private final Counters counters;
    private final Link link;
    private final Pause pause;
    private final Backoff backoff;
    private final BatchEncoder encoder;
    private final String startedAt;
    private final AtomicReference<String> lastError = new AtomicReference<>("");
    private volatile String senderId = "";
    /** A tracer id by which a process without spans is known; empty: it keeps quiet until it has one. */
    private volatile String introducedAs = "";
    private volatile boolean closing;
    private volatile long closeDeadline;
    private final int ownVersion;
    /** What is spoken: ours, unless the receiver said that it is older. */
    private int version;
    private long sequence;
    private long reportedDrops;
    private int failedReceivers;
    private int failedWhileClosing;
    /** Has any receiver ever? */
    private boolean everAnswered;
    /** Spans of the batch at hand. */
    private int spans;
    private long collectedAt = System.nanoTime();
    /** By the last answer, before the next batch. */
    private int askedWaitMs;
    private final SamplingNews sampling;
    private final long askNanos;
    /** The last answer. */
    private long heardAt;

    BatchSender(SenderOptions options, SpanQueue queue, Counters counters, Host host) {
        this.options = options;
        this.queue = queue;
        this.counters = counters;
        this.sampling = new SamplingNews(counters);
        this.pause = host.pause;
        this.startedAt = host.startedAt;
        this.askNanos = TimeUnit.MILLISECONDS.toNanos(host.askMs);
        this.ownVersion = host.wireVersion;
        this.version = ownVersion;
        this.link = new Link(options);
        this.backoff = new Backoff(options.retryMinMs, options.retryMaxMs, Math::random);
        this.encoder = new BatchEncoder(options);
    }

    @Override
    public void run() {
        try {
            while (!closing) {
                awaitSpans();
                sendOneSafely();
            }
            queue.collect();
            while (sendOneSafely() && !expired()) {
                queue.collect(); // until the queue is empty or the time to drain is over
            }
        } finally {
            link.disconnect();
        }
    }

    /** Until a batch is full, or what there is has waited long enough. */
    private void awaitSpans() {
        if (!queue.batchReady()) {
            pause.idle(options.flushMs);
        }
        long now = System.nanoTime();
        if (!queue.batchReady() || now - collectedAt >= TimeUnit.MILLISECONDS.toNanos(options.flushMs)) {
            collectedAt = now;
            queue.collect();
        }
    }

    /** Starts to drain: the thread ends when the queue is empty, or when the time is over. Any thread. */
    void close(int drainMs) {
        closeDeadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drainMs);
        closing = true;
        pause.wake();
        pause.cut();
    }

    /** After {@link #close}, when the time is over: ends what goes on with a receiver. Any thread. */
    void abort() {
        link.abort();
        pause.cut();
    }

    void onSampling(Consumer<String> listener) {
        sampling.listener(listener);
    }

    /** A process without spans asks too. Any thread. */
    void introduce(String tracer) {
        introducedAs = tracer;
        pause.wake();
    }

    String senderId() {
        return senderId;
    }

    String lastError() {
        return lastError.get();
    }

    String peer() {
        return link.peer();
    }

    /**
     * Past the time to drain; or all were tried once more, and none has ever answered: a command must not end late for
     * a receiver that is not there.
     */
    private boolean expired() {
        boolean hopeless = !everAnswered && failedWhileClosing >= link.receivers();
        return closing && (hopeless || closeDeadline - System.nanoTime() <= 0);
    }

    /** This thread must not die while the application lives: what is unforeseen costs one batch, counted. */
    private boolean sendOneSafely() {
        try {
            return sendOne();
        } catch (Throwable e) {
            fail("batch could not be sent: " + e, e);
            link.disconnect();
            rest(options.retryMinMs);
            return true;
        }
    }

    /** FALSE when there was nothing to send. */
    private boolean sendOne() {
        take();
        boolean somethingToSay = counters.dropped() > reportedDrops || timeToAsk();
        boolean unknown = senderId.isEmpty() && introducedAs.isEmpty();
        if (spans == 0 && (unknown || !somethingToSay)) {
            queue.trim();
            return false;
        }
        askedWaitMs = 0;
        int n = spans;
        counters.inFlight.addAndGet(n);
        boolean answered = false;
        try {
            answered = deliver();
        } finally {
            if (!answered) {
                counters.drop(DropReason.NOT_SENT, n);
            }
            counters.inFlight.addAndGet(-n);
        }
        if (askedWaitMs > 0 && !closing) {
            rest(askedWaitMs);
        }
        return true;
    }

    /** A process that was told to sample nothing has no other way to hear that it may again. */
    private boolean timeToAsk() {
        return !closing && sampling.wanted() && (!everAnswered || System.nanoTime() - heardAt >= askNanos);
    }

    private void take() {
        try {
            spans = encoder.take(queue);
        } catch (RuntimeException | Error e) {
            counters.drop(DropReason.UNREADABLE, encoder.lost());
            throw e;
        }
    }

    private EncodedBatch encode(long drops) {
        if (senderId.isEmpty()) {
            String command = System.getProperty("sun.java.command", "");
            String first = encoder.firstTracer();
            senderId = TracerNames.senderName(first == null ? introducedAs : first, command) + "@" + startedAt;
        }
        long sent = counters.sent.get();
        Sender sender = BatchEncoder.sender(senderId, sequence, sent, queue.size(), counters.dropsByReason());
        EncodedBatch batch = encoder.encode(sender, version);
        reportedDrops = drops;
        return batch;
    }

    /** TRUE when the batch was answered for: taken, or dropped and counted. */
    private boolean deliver() {
        long drops = counters.dropped();
        sequence++;
        counters.sent.addAndGet(spans);
        EncodedBatch batch = encode(drops);
        long laters = 0;
        for (long tries = 0; tries == 0 || !expired(); tries++) {
            Reply reply = exchange(batch, tries);
            if (reply == null) {
                continue;
            }
            if (reply.getStatus() == Status.TRY_LATER) {
                laters++;
                if (laters % LATERS_BEFORE_NEXT == 0) {
                    link.leave(closing);
                }
                rest(Math.max(options.retryMinMs, Math.min(MAX_WAIT_MS, reply.getWaitMs())));
            } else if (reply.getStatus() == Status.VERSION && speakVersion(reply.getVersion())) {
                batch = encode(drops);
            } else {
                settle(reply);
                return true;
            }
        }
        reportedDrops = 0;
        return false;
    }

    /** Null when the exchange failed; a pause was made then if all receivers that may be asked have failed in turn. */
    private Reply exchange(EncodedBatch batch, long tries) {
        counters.batchesSent.incrementAndGet();
        if (tries > 0) {
            counters.batchesResent.incrementAndGet();
        }
        boolean begunWhileClosing = closing;
        try {
            Reply reply = link.exchange(batch, begunWhileClosing);
            sampling.take(reply.getSampling());
            heardAt = System.nanoTime();
            everAnswered = true;
            failedReceivers = 0;
            backoff.reset();
            return reply;
        } catch (IOException e) {
            counters.failures.incrementAndGet();
            version = ownVersion; // it may come back as a newer one
            fail("spans wait for a receiver: " + e.getMessage(), null);
            failedWhileClosing += begunWhileClosing ? 1 : 0;
            failedReceivers += link.stayed() ? 0 : 1;
            boolean allFailed = link.stayed() || failedReceivers % link.receivers() == 0;
            if (allFailed && !expired()) {
                rest(backoff.nextMs());
            }
            return null;
        }
    }

    /** Called with the last answer for the batch in {@code spans}. */
    private void settle(Reply reply) {
        int n = spans;
        switch (reply.getStatus()) {
            case OK:
                int accepted = Math.max(0, Math.min(n, reply.getAccepted()));
                counters.acknowledged.addAndGet(accepted);
                counters.drop(DropReason.REFUSED, n - accepted);
                askedWaitMs = Math.min(MAX_WAIT_MS, reply.getWaitMs());
                recover();
                break;
            case VERSION:
                counters.drop(DropReason.VERSION, n);
                fail(link.peer() + " speaks version " + reply.getVersion() + " only", null);
                break;
            default:
                counters.drop(DropReason.REFUSED, n);
                fail(link.peer() + " refused a batch: " + (reply.isSetMessage() ? reply.getMessage() : ""), null);
                break;
        }
    }

    /** TRUE when another version than now will be spoken from here on. */
    private boolean speakVersion(int theirs) {
        if (theirs < 1 || theirs >= version) {
            return false;
        }
        version = theirs;
        return true;
    }

    /** Never past the deadline of close(). */
    private void rest(long ms) {
        long wait = ms;
        if (closing) {
            wait = Math.min(ms, TimeUnit.NANOSECONDS.toMillis(closeDeadline - System.nanoTime()));
        }
        if (wait > 0) {
            pause.rest(wait);
        }
    }

    private void recover() {
        if (!lastError.getAndSet("").isEmpty()) {
            LOG.info("spans get through again, to " + link.peer());
        }
    }

    /** Says it once per change, not once per try: a receiver may be down for hours. */
    private void fail(String what, Throwable cause) {
        String line = LogText.clean(what); // a receiver may have written part of it
        String before = lastError.getAndSet(line);
        if (before.isEmpty()) {
            LOG.log(Level.WARNING, line, cause);
        }
    }
}
