package io.plumbline.send;

import java.nio.ByteBuffer;

/** One batch as bytes, to be sent as often as it takes. */
final class EncodedBatch {
    final long sequence;
    final int spans;
    private final byte[] frame;
    private final int length;

    EncodedBatch(long sequence, int spans, byte[] frame, int length) {
        this.sequence = sequence;
        this.spans = spans;
        this.frame = frame;
        this.length = length;
    }

    /** The sequence number of the Thrift message, which the reply repeats. */
    int messageId() {
        return (int) sequence;
    }

    /** The frame, its length in front. */
    ByteBuffer bytes() {
        return ByteBuffer.wrap(frame, 0, length);
    }
}
