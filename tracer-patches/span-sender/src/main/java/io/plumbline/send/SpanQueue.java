package io.plumbline.send;

import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * From the application's threads to the sender's thread, bounded in spans and in bytes. {@link #offer} never blocks and
 * takes no lock: room is reserved with atomic counters first. (Two threads that fight for the last room may both be
 * turned away; the bound itself is never passed.)
 */
final class SpanQueue {
    private final ConcurrentLinkedQueue<SpanCopy> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong spans = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final SenderOptions options;

    SpanQueue(SenderOptions options) {
        this.options = options;
    }

    /** Null when the span was taken, else why not. Any thread. */
    DropReason offer(SpanCopy span) {
        if (spans.incrementAndGet() > options.queueSpans) {
            spans.decrementAndGet();
            return DropReason.QUEUE_SPANS;
        }
        if (bytes.addAndGet(span.bytes) > options.queueBytes) {
            bytes.addAndGet(-span.bytes);
            spans.decrementAndGet();
            return DropReason.QUEUE_BYTES;
        }
        queue.add(span);
        return null;
    }

    /** Null when empty. Any thread. */
    SpanCopy poll() {
        SpanCopy span = queue.poll();
        if (span != null) {
            bytes.addAndGet(-span.bytes);
            spans.decrementAndGet();
        }
        return span;
    }

    /** Moves up to a batch's worth into 'batch'. */
    void drainBatch(List<SpanCopy> batch) {
        long batchBytes = 0;
        while (batch.size() < options.batchSpans && batchBytes < options.batchBytes) {
            SpanCopy span = poll();
            if (span == null) {
                return;
            }
            batch.add(span);
            batchBytes += span.bytes;
        }
    }

    /** Does it hold a full batch? */
    boolean batchReady() {
        return spans.get() >= options.batchSpans || bytes.get() >= options.batchBytes;
    }

    long size() {
        return spans.get();
    }
}
