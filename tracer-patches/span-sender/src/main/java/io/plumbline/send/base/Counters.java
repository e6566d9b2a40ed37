package io.plumbline.send.base;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What became of every span, since the start; the queue counts those it took. Exact: received = acknowledged + dropped
 * + queued + in flight, whenever no thread is between two of these. Any thread.
 */
public final class Counters {
    /** Spans that the queue did not take: dropped at once. */
    public final AtomicLong turnedAway = new AtomicLong();
    /** Spans of batches that were written to a receiver at least once; counted once per batch. */
    public final AtomicLong sent = new AtomicLong();
    public final AtomicLong acknowledged = new AtomicLong();
    public final AtomicLong inFlight = new AtomicLong();
    public final AtomicLong batchesSent = new AtomicLong();
    public final AtomicLong batchesResent = new AtomicLong();
    public final AtomicLong failures = new AtomicLong();
    /** A listener threw. */
    public final AtomicLong samplingFailures = new AtomicLong();
    /** Texts, and lists of parents and annotations, that were cut to the receivers' limits. */
    public final AtomicLong shortened = new AtomicLong();
    private final AtomicLongArray drops = new AtomicLongArray(DropReason.values().length);

    public void drop(DropReason reason, long spans) {
        if (spans > 0) {
            drops.addAndGet(reason.ordinal(), spans);
        }
    }

    public long dropped(DropReason reason) {
        return drops.get(reason.ordinal());
    }

    public long dropped() {
        long sum = 0;
        for (int i = 0; i < drops.length(); i++) {
            sum += drops.get(i);
        }
        return sum;
    }

    /** Reasons that occurred, in the order of {@link DropReason}. */
    public Map<String, Long> dropsByReason() {
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
