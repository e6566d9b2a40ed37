package io.plumbline.send;

import java.nio.ByteBuffer;

/** Numbers as text, in one buffer that is used again and again. One thread. */
final class Decimal {
    private static final int MAX_CHARS = 20;

    private final byte[] digits = new byte[MAX_CHARS];
    private final ByteBuffer view = ByteBuffer.wrap(digits);

    /** Valid until the next call. */
    ByteBuffer of(long number) {
        int at = MAX_CHARS;
        long rest = number < 0 ? number : -number; // the negative range holds one more
        do {
            digits[--at] = (byte) ('0' - rest % 10);
            rest /= 10;
        } while (rest != 0);
        if (number < 0) {
            digits[--at] = '-';
        }
        view.position(at);
        return view;
    }
}
