package io.plumbline.send.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.transport.TTransport;

/** Memory that a Thrift protocol writes into; kept from batch to batch. One thread. */
public final class FrameBuffer extends TTransport {
    private static final int INITIAL_BYTES = 16 << 10;
    /** A buffer that a rare large span made larger than this is let go. */
    private static final int KEPT_BYTES = 4 << 20;
    static final int MAX_VARINT = 10;
    private static final int EIGHT_SEPTETS = 56;
    private static final long MORE_FOLLOW = 0x8080808080808080L;

    public byte[] bytes = new byte[INITIAL_BYTES];
    public int length;
    /** Of the same bytes. */
    private ByteBuffer littleEndian = view(bytes);

    public void reset() {
        length = 0;
        if (bytes.length > KEPT_BYTES) {
            bytes = new byte[INITIAL_BYTES];
            littleEndian = view(bytes);
        }
    }

    /** For so many bytes of the puts that follow. */
    public void makeRoom(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
            littleEndian = view(bytes);
        }
    }

    private static ByteBuffer view(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Needs room for it. */
    void put(int number) {
        bytes[length++] = (byte) number;
    }

    /** Big-endian; needs room for it. */
    void putInt(int number) {
        littleEndian.putInt(length, Integer.reverseBytes(number));
        length += 4;
    }

    /** Seven bits a byte, the lowest first; unsigned. Needs room for {@link #MAX_VARINT} bytes. */
    public void putVarint(long number) {
        long rest = number;
        if (rest >>> EIGHT_SEPTETS != 0) { // ids and times
            littleEndian.putLong(length, septets(rest) | MORE_FOLLOW);
            length += 8;
            rest >>>= EIGHT_SEPTETS;
        }
        byte[] to = bytes;
        int at = length;
        while ((rest & ~0x7fL) != 0) {
            to[at++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        to[at++] = (byte) rest;
        length = at;
    }

    /** The lowest 56 bits, seven in each byte: halves are moved apart, then quarters, then eighths. */
    private static long septets(long number) {
        long x = number & 0xfffffffL | (number & 0xfffffff0000000L) << 4;
        x = x & 0x3fff00003fffL | (x & 0xfffc0000fffc000L) << 2;
        return x & 0x7f007f007f007fL | (x & 0x3f803f803f803f80L) << 1;
    }

    @Override
    public void write(byte[] from, int offset, int count) {
        makeRoom(count);
        System.arraycopy(from, offset, bytes, length, count);
        length += count;
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
