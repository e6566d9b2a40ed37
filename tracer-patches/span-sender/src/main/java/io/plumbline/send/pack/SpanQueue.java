package io.plumbline.send.pack;

import io.plumbline.send.base.Counters;
import io.plumbline.send.base.DropReason;
import io.plumbline.send.base.SenderOptions;
import io.plumbline.send.base.SpanData;
import java.util.Iterator;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * From the application's threads to the sender's thread, bounded in spans and in bytes. A thread writes into a chunk of
 * its own ({@link ThreadBuffer}) and hands it over when it is full; the sender's thread collects the others when they
 * are old. {@link #offer} never blocks, takes no lock and, in a steady flow, allocates nothing.
 *
 * <p>Room for spans is reserved some at a time and goes with the chunk, so the bound is never passed; near it, one at a
 * time. Each chunk is taken out by an atomic exchange, wherever it is: whoever gets it accounts for its spans.
 */
public final class SpanQueue {
    /** Spans that a thread reserves room for at once: at most, and as a part of the room there is. */
    private static final int CREDITS = 64;
    private static final int CREDITS_PART = 16;
    /** So many new threads since the sender looked are a reason to look: threads that end leave chunks behind. */
    private static final int MANY_THREADS = 1024;
    /**
     * A chunk with so many names of its own is handed over: receivers take 200,000 in a batch, and one span adds 4,098.
     */
    private static final int MANY_NAMES = 50_000;
    /** Instead of the bytes that a span needs. */
    private static final int TOO_LARGE = -1;
    private static final int WRITTEN = 0;

    private final int batchSpans;
    private final int batchBytes;
    private final long halfSpans;
    private final Runnable wake;
    private final SpanWriter writer;
    private final ChunkPool pool;
    private final ThreadLocal<ThreadBuffer.Owner> owners =
            ThreadLocal.withInitial(ThreadBuffer.Owner::new);
    /** Buffers that had a chunk. */
    private final ConcurrentLinkedQueue<ThreadBuffer> registered = new ConcurrentLinkedQueue<>();
    private final AtomicLong newThreads = new AtomicLong();
    private final AtomicLong spansLeft;
    /** Chunks handed over, the last one first. */
    private final AtomicReference<Chunk> inbox = new AtomicReference<>();
    /** Chunks that the sender's thread goes through, the oldest first. */
    private final AtomicReference<Chunk> outbox = new AtomicReference<>();
    /** Of the chunks in both. */
    private final AtomicLong readySpans = new AtomicLong();
    private final AtomicLong readyBytes = new AtomicLong();
    /** Spans taken out of the queue, in whatever way. */
    private final AtomicLong removed = new AtomicLong();
    /** Spans of buffers that are forgotten; under its own lock with their removal. */
    private final AtomicLong acceptedBefore = new AtomicLong();

    /** @param wake called when a batch is there, or much of the room is used; any thread, must not block */
    public SpanQueue(SenderOptions options, Counters counters, Runnable wake) {
        this.batchSpans = options.batchSpans;
        this.batchBytes = options.batchBytes;
        this.halfSpans = options.queueSpans / 2;
        this.wake = wake;
        this.writer = new SpanWriter(counters);
        this.pool = new ChunkPool(options.queueBytes);
        this.spansLeft = new AtomicLong(options.queueSpans);
    }

    /** Null when the span was taken, else why not. Any thread. */
    public DropReason offer(SpanData span) {
        ThreadBuffer own = owners.get().buffer;
        Chunk chunk = own.getAndSet(null);
        int need;
        try {
            boolean written = chunk != null && chunk.credits > 0 && writer.write(span, chunk);
            need = written ? WRITTEN : need(span);
        } catch (RuntimeException | StackOverflowError e) {
            putBack(own, chunk);
            return DropReason.UNREADABLE;
        }
        if (need == WRITTEN) {
            keep(own, chunk);
            return null;
        }
        if (need == TOO_LARGE) {
            putBack(own, chunk);
            return DropReason.OVERSIZED;
        }
        return offerSlowly(span, need, own, chunk);
    }

    private static int need(SpanData span) {
        return SpanWriter.weight(span) > SpanWriter.MAX_WEIGHT ? TOO_LARGE : SpanWriter.need(span);
    }

    /** The chunk, if any, has no room or no credits left. */
    private DropReason offerSlowly(SpanData span, int need, ThreadBuffer own, Chunk given) {
        Chunk chunk = given != null ? given : own.atHand;
        own.atHand = chunk;
        int credits = chunk == null || chunk.credits == 0 ? reserve() : chunk.credits;
        if (credits == 0) {
            own.atHand = null;
            putBack(own, chunk);
            wake.run();
            return DropReason.QUEUE_SPANS;
        }
        boolean fits = chunk != null && chunk.room() >= need;
        Chunk target = fits ? chunk : another(own, chunk, need);
        own.atHand = target;
        if (target == null) {
            spansLeft.addAndGet(credits);
            wake.run();
            return DropReason.QUEUE_BYTES;
        }
        target.credits = credits;
        boolean written = writer.write(span, target);
        own.atHand = null;
        if (!written) {
            putBack(own, target); // the span was changed meanwhile
            return DropReason.UNREADABLE;
        }
        keep(own, target);
        return null;
    }

    /** In place of a full chunk, which is handed over, or of none. Null when there are no more bytes. */
    private Chunk another(ThreadBuffer own, Chunk full, int need) {
        if (full != null) {
            full.credits = 0; // they go with the next
            own.atHand = null;
            handOver(full);
            own.grow();
        } else {
            own.shrink();
        }
        Chunk chunk = pool.take(own.level, need);
        if (chunk != null && !own.registered) {
            own.registered = true;
            registered.add(own);
            if (newThreads.incrementAndGet() % MANY_THREADS == 0) {
                wake.run();
            }
        }
        if (pool.halfUsed() || spansLeft.get() < halfSpans) {
            wake.run();
        }
        return chunk;
    }

    /** Room for some spans; 0 when there is none. */
    private int reserve() {
        int wanted = (int) Math.max(1, Math.min(Math.min(CREDITS, batchSpans), spansLeft.get() / CREDITS_PART));
        if (spansLeft.addAndGet(-wanted) >= 0) {
            return wanted;
        }
        spansLeft.addAndGet(wanted);
        return 0;
    }

    /** After a span was written. The chunk finds a place even where the stack of an application ends right here. */
    private void keep(ThreadBuffer own, Chunk chunk) {
        boolean full = false;
        try {
            chunk.credits--;
            own.countAccepted();
            full = chunk.spans >= batchSpans || chunk.weight >= batchBytes || chunk.writtenOut >= MANY_NAMES;
        } finally {
            if (!full) {
                own.set(chunk);
            }
        }
        if (full) {
            handOver(chunk);
        }
    }

    private static void putBack(ThreadBuffer own, Chunk chunk) {
        if (chunk != null) {
            own.set(chunk);
        }
    }

    private void handOver(Chunk chunk) {
        if (chunk.credits > 0) {
            spansLeft.addAndGet(chunk.credits);
            chunk.credits = 0;
        }
        int spans = chunk.spans;
        long bytes = chunk.weight;
        Chunk head;
        do {
            head = inbox.get();
            chunk.next = head;
        } while (!inbox.compareAndSet(head, chunk));
        boolean enough = readySpans.addAndGet(spans) >= batchSpans;
        if (readyBytes.addAndGet(bytes) >= batchBytes || enough) {
            wake.run();
        }
    }

    /** Makes what threads have written so far ready. The sender's thread. */
    public void collect() {
        for (Iterator<ThreadBuffer> all = registered.iterator(); all.hasNext();) {
            ThreadBuffer buffer = all.next();
            boolean orphaned = buffer.orphaned();
            handOverIfAny(buffer);
            if (orphaned) {
                synchronized (acceptedBefore) {
                    acceptedBefore.addAndGet(buffer.accepted());
                    all.remove();
                }
            }
        }
    }

    private void handOverIfAny(ThreadBuffer buffer) {
        Chunk chunk = buffer.get() == null ? null : buffer.getAndSet(null);
        if (chunk != null) {
            handOver(chunk);
        }
    }

    /** Does it hold a full batch, apart from what threads are at? */
    public boolean batchReady() {
        return readySpans.get() >= batchSpans || readyBytes.get() >= batchBytes;
    }

    /** Chunks in the order in which they were handed over, linked; null when nothing is ready. The sender's thread. */
    public Chunk takeChunks() {
        Chunk older = outbox.get() == null ? null : outbox.getAndSet(null);
        return older != null ? older : reverse(inbox.getAndSet(null));
    }

    /** What is left of {@link #takeChunks} after a batch. */
    public void putBackChunks(Chunk rest) {
        outbox.set(rest);
    }

    private static Chunk reverse(Chunk list) {
        Chunk reversed = null;
        for (Chunk chunk = list; chunk != null;) {
            Chunk next = chunk.next;
            chunk.next = reversed;
            reversed = chunk;
            chunk = next;
        }
        return reversed;
    }

    /** The spans of a chunk were read. @param bytes its weight. The sender's thread. */
    public void countRemoved(int spans, long bytes) {
        removed.addAndGet(spans);
        readySpans.addAndGet(-spans);
        readyBytes.addAndGet(-bytes);
        spansLeft.addAndGet(spans);
    }

    /** A chunk was read to its end. Returns the one after it. */
    public Chunk done(Chunk chunk) {
        Chunk next = chunk.next;
        pool.give(chunk);
        return next;
    }

    /** Throws away all spans. Any thread. Returns how many there were. */
    public long clear() {
        for (ThreadBuffer buffer : registered) {
            handOverIfAny(buffer);
        }
        return clear(outbox.getAndSet(null)) + clear(inbox.getAndSet(null));
    }

    private long clear(Chunk list) {
        long spans = 0;
        for (Chunk chunk = list; chunk != null;) {
            spans += chunk.spans;
            countRemoved(chunk.spans, chunk.weight);
            chunk = done(chunk);
        }
        return spans;
    }

    /** Called now and then while little goes on. The sender's thread. */
    public void trim() {
        pool.trim();
    }

    /** Threads that there are buffers of. Any thread. */
    public int threads() {
        return registered.size();
    }

    /** Spans ever taken in. Any thread. */
    public long accepted() {
        synchronized (acceptedBefore) {
            long sum = acceptedBefore.get();
            for (ThreadBuffer buffer : registered) {
                sum += buffer.accepted();
            }
            return sum;
        }
    }

    /** Spans in the queue. Any thread. */
    public long size() {
        long out = removed.get();
        return Math.max(0, accepted() - out);
    }
}
