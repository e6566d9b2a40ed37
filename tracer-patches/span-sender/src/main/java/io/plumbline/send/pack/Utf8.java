package io.plumbline.send.pack;

import java.nio.charset.StandardCharsets;

/**
 * Strings as receivers take them: UTF-8 without zero bytes (U+FFFD stands in their place) and without halves of
 * characters ("?"), cut at a character's end to a greatest length.
 */
public final class Utf8 {
    /** Of names: functions, tracer ids, annotation keys. */
    public static final int MAX_NAME_BYTES = 1024;
    /** Of annotation values and timeline messages. */
    public static final int MAX_VALUE_BYTES = 65536;
    /** The greatest number of bytes of a UTF-16 unit. */
    private static final int WORST = 3;
    private static final char ZERO_BECOMES = '\uFFFD';

    private Utf8() {
    }

    /** Bytes of the whole text. */
    static long length(String text) {
        int n = text.length();
        long bytes = n;
        for (int i = 0; i < n; i++) {
            char c = text.charAt(i);
            if (c == 0) {
                bytes += 2;
            } else if (c >= 0x80) {
                if (isPair(text, i)) {
                    i++;
                    bytes += 2;
                } else if (!Character.isSurrogate(c)) {
                    bytes += c < 0x800 ? 1 : 2;
                }
            }
        }
        return bytes;
    }

    public static boolean exceeds(String text, int maxBytes) {
        return text.length() * (long) WORST > maxBytes && length(text) > maxBytes;
    }

    /** The text as {@link #put} would write it. The same object where that is the text itself. */
    public static String clean(String text, int maxBytes) {
        boolean good = !exceeds(text, maxBytes);
        for (int i = 0; good && i < text.length(); i++) {
            char c = text.charAt(i);
            good = c != 0 && !Character.isSurrogate(c);
        }
        if (good) {
            return text;
        }
        byte[] bytes = new byte[(int) Math.min(maxBytes, text.length() * (long) WORST)];
        return new String(bytes, 0, put(text, bytes.length, bytes, 0), StandardCharsets.UTF_8);
    }

    /**
     * Writes as many characters as maxBytes take.
     *
     * @return where it ended; -1 when there was no room
     */
    public static int put(String text, int maxBytes, byte[] to, int at) {
        long room = to.length - at;
        if (room < Math.min(text.length() * (long) WORST, maxBytes) && room < Math.min(length(text), maxBytes)) {
            return -1;
        }
        int n = Math.min(text.length(), maxBytes);
        for (int i = 0; i < n; i++) {
            char c = text.charAt(i);
            if (c == 0 || c >= 0x80) {
                return putRest(text, i, at - i + maxBytes, to, at);
            }
            to[at++] = (byte) c;
        }
        return at;
    }

    /** @param end one past the last place to write to */
    private static int putRest(String text, int from, int end, byte[] to, int at) {
        int n = text.length();
        for (int i = from; i < n; i++) {
            char c = text.charAt(i) == 0 ? ZERO_BECOMES : text.charAt(i);
            if (isPair(text, i)) {
                if (end - at < 4) {
                    return at;
                }
                int point = text.codePointAt(i++);
                to[at++] = (byte) (0xf0 | point >> 18);
                to[at++] = (byte) (0x80 | point >> 12 & 0x3f);
                to[at++] = (byte) (0x80 | point >> 6 & 0x3f);
                to[at++] = (byte) (0x80 | point & 0x3f);
                continue;
            }
            c = Character.isSurrogate(c) ? '?' : c;
            if (end - at < (c < 0x80 ? 1 : c < 0x800 ? 2 : WORST)) {
                return at;
            }
            at = putOne(c, to, at);
        }
        return at;
    }

    private static int putOne(char c, byte[] to, int at) {
        if (c < 0x80) {
            to[at++] = (byte) c;
        } else if (c < 0x800) {
            to[at++] = (byte) (0xc0 | c >> 6);
            to[at++] = (byte) (0x80 | c & 0x3f);
        } else {
            to[at++] = (byte) (0xe0 | c >> 12);
            to[at++] = (byte) (0x80 | c >> 6 & 0x3f);
            to[at++] = (byte) (0x80 | c & 0x3f);
        }
        return at;
    }

    private static boolean isPair(String text, int i) {
        return Character.isHighSurrogate(text.charAt(i)) && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
    }
}
