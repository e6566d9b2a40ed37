package io.plumbline.send;

import java.io.Closeable;
import java.util.function.Consumer;

/**
 * Delivers spans to plumbd. One daemon thread sends; the queue before it is bounded; losses are counted by reason and
 * go along with each batch. Any thread.
 */
public final class SpanSender implements Closeable {
    /**
     * Starts the thread. Connecting is its business: no receiver need be there.
     *
     * @param options addresses and limits
     */
    public SpanSender(SenderOptions options) {
        throw new UnsupportedOperationException();
    }

    /** Takes a copy and returns: never blocks, never throws, takes no lock. {@code span} is the caller's again. */
    public void send(SpanData span) {
        throw new UnsupportedOperationException();
    }

    /** A span that was lost before it came here. */
    public void countDropped(DropReason reason) {
        throw new UnsupportedOperationException();
    }

    /** Called in the sender's thread with what the receiver's answers say of sampling, when it changes; null: nothing. */
    public void onSampling(Consumer<String> listener) {
        throw new UnsupportedOperationException();
    }

    /** Sends what is queued, for at most the time configured, and counts what was left. Called again, does nothing. */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
