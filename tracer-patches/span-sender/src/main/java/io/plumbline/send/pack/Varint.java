package io.plumbline.send.pack;

/** Numbers in as many bytes as they need: seven bits each, the lowest first; the top bit says that more follow. */
final class Varint {
    /** Bytes of the greatest one. */
    static final int MOST = 10;

    private Varint() {
    }

    /** Unsigned. Needs room for {@link #MOST} bytes. Returns where it ended. */
    static int put(byte[] to, int at, long number) {
        int next = at;
        long rest = number;
        while ((rest & ~0x7fL) != 0) {
            to[next++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        to[next++] = (byte) rest;
        return next;
    }

    /** Small ones of either sign are short. */
    static int putSigned(byte[] to, int at, long number) {
        return put(to, at, number << 1 ^ number >> 63);
    }

    /** What {@link #putSigned} wrote, read as unsigned. */
    static long signed(long unsigned) {
        return unsigned >>> 1 ^ -(unsigned & 1);
    }

    /** Bytes of it, unsigned. */
    static int size(int number) {
        return (38 - Integer.numberOfLeadingZeros(number | 1)) / 7;
    }
}
