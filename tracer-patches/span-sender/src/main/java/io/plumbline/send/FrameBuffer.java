package io.plumbline.send;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.transport.TTransport;

/** Memory that a Thrift protocol writes into; kept from batch to batch. One thread. */
final class FrameBuffer extends TTransport {
    private static final int INITIAL_BYTES = 16 << 10;
    /** A buffer that a rare large span made larger than this is let go. */
    private static final int KEPT_BYTES = 4 << 20;
    private static final int MAX_VARINT = 10;

    byte[] bytes = new byte[INITIAL_BYTES];
    int length;

    void reset() {
        length = 0;
        if (bytes.length > KEPT_BYTES) {
            bytes = new byte[INITIAL_BYTES];
        }
    }

    private void makeRoom(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
        }
    }

    void put(int number) {
        makeRoom(1);
        bytes[length++] = (byte) number;
    }

    /** Seven bits a byte, the lowest first; unsigned. */
    void putVarint(long number) {
        makeRoom(MAX_VARINT);
        byte[] to = bytes;
        int at = length;
        long rest = number;
        while ((rest & ~0x7fL) != 0) {
            to[at++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        to[at++] = (byte) rest;
        length = at;
    }

    @Override
    public void write(byte[] from, int offset, int count) {
        makeRoom(count);
        System.arraycopy(from, offset, bytes, length, count);
        length += count;
    }

    @Override
    public int write(ByteBuffer from) {
        int count = from.remaining();
        makeRoom(count);
        from.get(bytes, length, count);
        length += count;
        return count;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void open() {
        // memory is there
    }

    @Override
    public void close() {
        // and stays
    }

    @Override
    public int read(byte[] to, int offset, int count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public TConfiguration getConfiguration() {
        return TConfiguration.DEFAULT;
    }

    @Override
    public void updateKnownMessageSize(long size) {
        // concerns reading
    }

    @Override
    public void checkReadBytesAvailable(long bytes) {
        // concerns reading
    }
}
