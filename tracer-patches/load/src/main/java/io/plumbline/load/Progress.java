package io.plumbline.load;

import java.util.Arrays;

/** What a run has come to, by second: for the live line and the rules of stopping. Any thread. */
final class Progress {
    private static final int WINDOW_SECONDS = 10;
    /** Classes of times, 8 for each doubling: 9 % wide. */
    private static final int CLASSES = 8 * 64;

    private final long[] done = new long[WINDOW_SECONDS];
    private final long[] failed = new long[WINDOW_SECONDS];
    private final int[] times = new int[CLASSES];
    private int second;
    private long allDone;
    private long allFailed;
    private long allBytes;
    private long bytes;
    private long lagNs;

    void begun(long lateNs) {
        synchronized (this) {
            lagNs = Math.max(lagNs, lateNs);
        }
    }

    /**
     * @param moved bytes that were read or written
     * @return those of the whole run
     */
    long ended(long latencyNs, long moved, boolean well) {
        synchronized (this) {
            bytes += moved;
            allBytes += moved;
            int slot = second % WINDOW_SECONDS;
            allDone++;
            done[slot]++;
            if (!well) {
                allFailed++;
                failed[slot]++;
            }
            times[classOf(latencyNs)]++;
            return allBytes;
        }
    }

    private static int classOf(long ns) {
        long value = Math.max(ns, 8);
        int log = 63 - Long.numberOfLeadingZeros(value);
        return (log - 3) * 8 + (int) (value >>> (log - 3)) - 8;
    }

    private static long middleOf(int which) {
        return (long) ((which % 8 + 8.5) * (1L << which / 8));
    }

    /** A quantile of this second, about. */
    private long quantile(double p) {
        long n = 0;
        for (int count : times) {
            n += count;
        }
        long rank = (long) Math.ceil(p * n);
        for (int i = 0; i < CLASSES; i++) {
            rank -= times[i];
            if (rank <= 0 && times[i] > 0) {
                return middleOf(i);
            }
        }
        return 0;
    }

    /** What this second was; then a new one begins. */
    Second next() {
        synchronized (this) {
            int slot = second % WINDOW_SECONDS;
            Second now = new Second();
            now.done = done[slot];
            now.failed = failed[slot];
            now.bytes = bytes;
            now.allDone = allDone;
            now.allBytes = allBytes;
            now.allFailed = allFailed;
            now.medianNs = quantile(0.5);
            now.p99Ns = quantile(0.99);
            now.lagNs = lagNs;
            for (int i = 0; i < WINDOW_SECONDS; i++) {
                now.lateDone += done[i];
                now.lateFailed += failed[i];
            }
            second++;
            slot = second % WINDOW_SECONDS;
            done[slot] = 0;
            failed[slot] = 0;
            bytes = 0;
            lagNs = 0;
            Arrays.fill(times, 0);
            return now;
        }
    }

    /** One second. done: all that ended, failed ones, too. */
    static final class Second {
        long done;
        long failed;
        long bytes;
        /** Since the begin. */
        long allDone;
        long allFailed;
        long allBytes;
        /** In the last ten seconds. */
        long lateDone;
        long lateFailed;
        long medianNs;
        long p99Ns;
        long lagNs;
        /** Of the whole run; Watch knows these. */
        long lengthNs;
        int due;
        int allDue;
        int inFlight;
    }
}
