package io.plumbline.trace;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * So many roots go below the span that a process was started for, and no more: a server that is not known as one would
 * put all its calls into one trace for as long as it runs, past all sampling. Any thread.
 *
 * <p>A step of a workflow ends within a day, and its commit, which comes last, is what it is looked at for: an hour
 * would lose that. Of calls in a day it may make very many; a hundred thousand of them, each with what it calls, are
 * as many as one trace can be looked at with.
 */
final class RootBound {
    static final int MOST_ROOTS = 100_000;
    static final long MOST_NANOS = TimeUnit.DAYS.toNanos(1);

    private final LongSupplier nanos;
    private final Runnable onEnd;
    private final long begin;
    private final AtomicInteger roots = new AtomicInteger();
    private volatile boolean over;

    /** @param onEnd called once, when there is no more */
    RootBound(LongSupplier nanos, Runnable onEnd) {
        this.nanos = nanos;
        this.onEnd = onEnd;
        begin = nanos.getAsLong();
    }

    /** May one more? Counts it then. */
    boolean take() {
        if (over) {
            return false;
        }
        if (roots.incrementAndGet() <= MOST_ROOTS && nanos.getAsLong() - begin < MOST_NANOS) {
            return true;
        }
        end();
        return false;
    }

    private void end() {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
        }
        onEnd.run();
    }
}
