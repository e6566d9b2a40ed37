package io.plumbline.send.pack;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Where one application thread puts its spans. The chunk is in the reference while nobody works on it; who takes it out
 * (the thread itself for each span, the sender's thread when it has waited long enough) owns it. Neither ever waits for
 * the other: a thread that finds none gets another chunk.
 */
final class ThreadBuffer extends AtomicReference<Chunk> {
    private static final long serialVersionUID = 1;
    private static final AtomicLongFieldUpdater<ThreadBuffer> ACCEPTED =
            AtomicLongFieldUpdater.newUpdater(ThreadBuffer.class, "accepted");

    /** Of {@link Chunk#SIZES}, for the next chunk. Only the thread itself uses it, like the next two. */
    int level;
    boolean registered;
    /** At hand while another chunk or more room is looked for: still here where the thread's stack ended in that. */
    transient Chunk atHand;
    private volatile long accepted;
    private final transient WeakReference<Owner> owner;

    private ThreadBuffer(Owner owner) {
        this.owner = new WeakReference<>(owner);
    }

    /**
     * What a thread holds, among its local variables. It goes with the thread, or when somebody clears these; the
     * buffer is then nobody's, and the queue forgets it after it has taken the last chunk.
     */
    static final class Owner {
        final ThreadBuffer buffer = new ThreadBuffer(this);
    }

    boolean orphaned() {
        return owner.get() == null;
    }

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
