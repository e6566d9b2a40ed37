package io.plumbline.send;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Where one application thread puts its spans. The chunk is in the reference while nobody works on it; who takes it out
 * (the thread itself for each span, the sender's thread when it has waited long enough) owns it. Neither ever waits for
 * the other: a thread that finds none gets another chunk.
 *
 * <p>A thread's local variables keep this alive, so it refers to no sender.
 */
final class ThreadBuffer extends AtomicReference<Chunk> {
    private static final long serialVersionUID = 1;
    private static final AtomicLongFieldUpdater<ThreadBuffer> ACCEPTED =
            AtomicLongFieldUpdater.newUpdater(ThreadBuffer.class, "accepted");

    final transient Thread thread = Thread.currentThread();
    /** Of {@link Chunk#SIZES}, for the next chunk. Only the thread itself uses it, like the next one. */
    int level;
    boolean registered;
    private volatile long accepted;

    /** The thread itself. */
    void countAccepted() {
        ACCEPTED.lazySet(this, accepted + 1);
    }

    /** Spans that were put into the queue by this thread. Any thread. */
    long accepted() {
        return accepted;
    }

    /** The chunk was full before the sender came for it. */
    void grow() {
        level = Math.min(level + 1, Chunk.SIZES.length - 1);
    }

    /** The sender came first. */
    void shrink() {
        level = Math.max(level - 1, 0);
    }
}
