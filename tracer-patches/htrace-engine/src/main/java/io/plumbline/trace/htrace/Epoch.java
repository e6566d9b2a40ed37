package io.plumbline.trace.htrace;

/**
 * System.nanoTime() as nanoseconds since the epoch. The distance between the two is looked at again once a second and
 * follows the system's clock when that has been set or has drifted away by a millisecond. Any thread, no lock.
 */
final class Epoch {
    private static final long NS_PER_MS = 1_000_000;
    private static final long AGAIN_NS = 1_000_000_000;
    /** System.currentTimeMillis() is that coarse: smaller differences are no drift. */
    private static final long TOLERATED_NS = NS_PER_MS;

    private static volatile long offset = measure();
    private static volatile long measuredAt = System.nanoTime();

    private Epoch() {
    }

    static long ofNanoTime(long nanos) {
        if (nanos - measuredAt > AGAIN_NS) {
            long now = measure();
            if (Math.abs(now - offset) > TOLERATED_NS) {
                offset = now;
            }
            measuredAt = nanos;
        }
        return nanos + offset;
    }

    /** Half a millisecond is added because the milliseconds are cut off, not rounded. */
    private static long measure() {
        return System.currentTimeMillis() * NS_PER_MS + NS_PER_MS / 2 - System.nanoTime();
    }
}
