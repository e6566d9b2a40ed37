package io.plumbline.trace.own;

import java.time.Instant;

/**
 * Wall-clock time of System.nanoTime() readings, so that begins of all spans of a host agree to well below a
 * millisecond while durations come from the monotonic clock alone. Looks at the wall clock once a second, and moves
 * only by as much as the two clocks disagree beyond what the wall clock can tell. Any thread.
 */
public final class SpanClock {
    private static final long CHECK_NANOS = 1_000_000_000;
    /** Below this the two differ by how long it took to read them. */
    private static final long NOISE_NANOS = 100_000;
    private static final long MILLISECOND = 1_000_000;
    /** Java 8 tells the wall clock in milliseconds: the true time lies up to that much later. */
    private static final long RESOLUTION = "1.8".equals(System.getProperty("java.specification.version"))
            ? MILLISECOND : NOISE_NANOS;
    private static final int TRIES = 5;

    private static volatile long offset;
    private static volatile long checkAfter;

    static {
        long before = System.nanoTime();
        offset = wall() - before;
        check(before);
    }

    private SpanClock() {
    }

    /** Nanoseconds since the epoch at a recent reading of System.nanoTime(). */
    public static long epoch(long nano) {
        if (nano - checkAfter > 0) {
            check(nano);
        }
        return nano + offset;
    }

    /** Several threads may do it at once: each leaves an offset that is right. */
    private static void check(long now) {
        checkAfter = now + CHECK_NANOS;
        for (int i = 0; i < TRIES; i++) {
            long before = System.nanoTime();
            long wall = wall();
            long after = System.nanoTime();
            if (after - before < NOISE_NANOS || i == TRIES - 1) {
                offset = corrected(offset, wall, before, after);
                return;
            }
        }
    }

    /**
     * The offset nearest to {@code offset} that the readings allow: nano was between before and after when it was wall.
     */
    static long corrected(long offset, long wall, long before, long after) {
        long least = wall - after;
        long greatest = wall + RESOLUTION - before;
        return Math.max(least, Math.min(greatest, offset));
    }

    private static long wall() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }
}
