package io.plumbline.send;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What became of every span, since the start; the queue counts those it took. Exact: received = acknowledged + dropped
 * + queued + in flight, whenever no thread is between two of these. Any thread.
 */
final class Counters {
    /** Spans that the queue did not take: dropped at once. */
    final AtomicLong turnedAway = new AtomicLong();
    /** Spans of batches that were written to a receiver at least once; counted once per batch. */
    final AtomicLong sent = new AtomicLong();
    final AtomicLong acknowledged = new AtomicLong();
    final AtomicLong inFlight = new AtomicLong();
    final AtomicLong batchesSent = new AtomicLong();
    final AtomicLong batchesResent = new AtomicLong();
    final AtomicLong failures = new AtomicLong();
    /** A listener threw. */
    final AtomicLong samplingFailures = new AtomicLong();
    /** Texts, and lists of parents and annotations, that were cut to the receivers' limits. */
    final AtomicLong shortened = new AtomicLong();
    private final AtomicLongArray drops = new AtomicLongArray(DropReason.values().length);

    void drop(DropReason reason, long spans) {
        if (spans > 0) {
            drops.addAndGet(reason.ordinal(), spans);
        }
    }

    long dropped(DropReason reason) {
        return drops.get(reason.ordinal());
    }

    long dropped() {
        long sum = 0;
        for (int i = 0; i < drops.length(); i++) {
            sum += drops.get(i);
        }
        return sum;
    }

    /** Reasons that occurred, in the order of {@link DropReason}. */
    Map<String, Long> dropsByReason() {
        Map<String, Long> byReason = new LinkedHashMap<>();
        for (DropReason reason : DropReason.values()) {
            long spans = dropped(reason);
            if (spans > 0) {
                byReason.put(reason.text(), spans);
            }
        }
        return byReason;
    }
}
