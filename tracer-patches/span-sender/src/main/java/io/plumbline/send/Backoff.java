package io.plumbline.send;

import java.util.function.DoubleSupplier;

/** Waits between failed tries: doubled each time, within bounds, less up to a quarter lest senders march in step. */
final class Backoff {
    private final int minMs;
    private final int maxMs;
    private final DoubleSupplier random;
    private long nextMs;

    /** @param random numbers in [0, 1) */
    Backoff(int minMs, int maxMs, DoubleSupplier random) {
        this.minMs = minMs;
        this.maxMs = maxMs;
        this.random = random;
        this.nextMs = minMs;
    }

    long nextMs() {
        long wait = nextMs;
        nextMs = Math.min(maxMs, nextMs * 2);
        return Math.max(1, wait - (long) (random.getAsDouble() * wait / 4));
    }

    void reset() {
        nextMs = minMs;
    }
}
