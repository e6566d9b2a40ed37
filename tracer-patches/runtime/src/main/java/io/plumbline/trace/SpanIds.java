package io.plumbline.trace;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Random numbers for ids of traces and spans: a splitmix64 sequence per thread, all seeded from one secret of the
 * process, so that no two processes or threads run through the same numbers. One thread.
 */
final class SpanIds {
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;
    private static final AtomicLong SEEDS = new AtomicLong(new SecureRandom().nextLong());

    private final long increment;
    private long state;

    SpanIds() {
        state = mix(SEEDS.addAndGet(GOLDEN));
        increment = mix(SEEDS.addAndGet(GOLDEN)) | 1;
    }

    /** Never 0: that is no id. */
    long next() {
        long id;
        do {
            state += increment;
            id = mix(state);
        } while (id == 0);
        return id;
    }

    private static long mix(long z) {
        long y = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        y = (y ^ (y >>> 27)) * 0x94d049bb133111ebL;
        return y ^ (y >>> 31);
    }
}
