package io.plumbline.send.pack;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Chunks, as long as the queue's bytes last, and a few kept for their next use, so that a steady flow of spans
 * allocates nothing. Any thread; no locks.
 */
final class ChunkPool {
    /** The part of the queue's bytes that may be kept, besides those in use. */
    private static final int KEPT_PART = 8;

    private final AtomicLong left;
    private final AtomicLong keepable;
    private final long half;
    private final ConcurrentLinkedQueue<Chunk>[] kept = queues();

    @SuppressWarnings("unchecked")
    private static ConcurrentLinkedQueue<Chunk>[] queues() {
        ConcurrentLinkedQueue<Chunk>[] queues = new ConcurrentLinkedQueue[Chunk.SIZES.length];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new ConcurrentLinkedQueue<>();
        }
        return queues;
    }

    ChunkPool(long bytes) {
        left = new AtomicLong(bytes);
        keepable = new AtomicLong(bytes / KEPT_PART);
        half = bytes / 2;
    }

    /** A chunk of that level if it can be had, else one that just holds the bytes; null when there is none. */
    Chunk take(int level, int bytes) {
        int wanted = level;
        while (wanted < Chunk.LARGE && Chunk.SIZES[wanted] < bytes) {
            wanted++;
        }
        Chunk chunk = takeExactly(wanted, bytes);
        for (int smaller = 0; chunk == null && smaller < wanted; smaller++) {
            chunk = smaller < Chunk.LARGE && Chunk.SIZES[smaller] >= bytes ? takeExactly(smaller, bytes) : null;
        }
        return chunk;
    }

    private Chunk takeExactly(int level, int bytes) {
        int capacity = level == Chunk.LARGE ? bytes : Chunk.SIZES[level];
        long cost = Chunk.cost(level, capacity);
        if (left.addAndGet(-cost) < 0) {
            left.addAndGet(cost);
            return null;
        }
        Chunk chunk = level == Chunk.LARGE ? null : kept[level].poll();
        if (chunk == null) {
            return new Chunk(level, capacity);
        }
        keepable.addAndGet(cost);
        return chunk;
    }

    /** Gives back a chunk that nobody reads any more. */
    void give(Chunk chunk) {
        long cost = chunk.cost();
        left.addAndGet(cost);
        if (chunk.level == Chunk.LARGE) {
            return;
        }
        if (keepable.addAndGet(-cost) < 0) {
            keepable.addAndGet(cost);
            return;
        }
        chunk.clear();
        kept[chunk.level].add(chunk);
    }

    /** Leaves a chunk of each size to the garbage collector: what a rush once needed does not stay for ever. */
    void trim() {
        for (ConcurrentLinkedQueue<Chunk> queue : kept) {
            Chunk chunk = queue.poll();
            if (chunk != null) {
                keepable.addAndGet(chunk.cost());
            }
        }
    }

    boolean halfUsed() {
        return left.get() < half;
    }
}
