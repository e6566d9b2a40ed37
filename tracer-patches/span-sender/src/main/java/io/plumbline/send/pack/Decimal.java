package io.plumbline.send.pack;

/** A number as text, in one array that is used again and again. One thread. */
final class Decimal {
    private static final int MAX_CHARS = 20;

    final byte[] digits = new byte[MAX_CHARS];

    /** Writes it to the end of {@link #digits}. Returns where it starts. */
    int put(long number) {
        int at = MAX_CHARS;
        long rest = number < 0 ? number : -number; // the negative range holds one more
        while (rest < -Integer.MAX_VALUE) {
            digits[--at] = (byte) ('0' - rest % 10);
            rest /= 10;
        }
        int small = (int) -rest; // divided in a third of the time
        do {
            digits[--at] = (byte) ('0' + small % 10);
            small /= 10;
        } while (small != 0);
        if (number < 0) {
            digits[--at] = '-';
        }
        return at;
    }
}
