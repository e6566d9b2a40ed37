package io.plumbline.trace.own;

import io.plumbline.send.base.IdPlace;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ids of traces and spans: numbers of one splitmix64 sequence of the process, which begins at a random place. They look
 * random, but whoever knows the sequence finds the place of an id in it, and the places of a thread's ids follow each
 * other: a store keeps a byte of most ids, where it would keep all eight.
 *
 * <p>No two ids of a process are equal: each place is taken once, and places and ids are one to one. Two ids of
 * different processes are equal with a chance of 1 to 2^64, as if all had been drawn, for processes begin anywhere,
 * independently of each other. Only do equal ones come as a run, where the ranges of two processes overlap: among 6,000
 * processes with 2^32 ids each two do with a chance of 1 to 120. Trace ids of the overlap are equal where both took a
 * place for one, which is no more often than with drawn ids; span ids have to differ within a trace only.
 *
 * <p>One thread.
 */
final class SpanIds {
    /**
     * Places that a thread takes at once: what it shares with other threads is touched once in so many ids. More would
     * be wasted by threads that make few spans and end, as a DataNode's do with each block, and neighbours in time
     * would be further apart.
     */
    static final long BLOCK = 64;

    private static final AtomicLong BLOCKS = new AtomicLong(new SecureRandom().nextLong() & -BLOCK);

    /** The next one; at the begin of a block: none is left. */
    private long place;

    /** Never 0: that is no id. */
    long next() {
        long id;
        do {
            if (place % BLOCK == 0) {
                place = BLOCKS.getAndAdd(BLOCK);
            }
            id = IdPlace.idAt(place++);
        } while (id == 0);
        return id;
    }
}
