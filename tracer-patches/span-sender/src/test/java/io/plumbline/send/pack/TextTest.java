package io.plumbline.send.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

public class TextTest {
    private static String put(String text, int maxBytes) {
        byte[] to = new byte[3 * text.length() + 10];
        int end = Utf8.put(text, maxBytes, to, 5);
        return new String(to, 5, end - 5, StandardCharsets.UTF_8);
    }

    /** The JDK's encoder is the reference, but for zero bytes. */
    public static byte[] reference(String text) {
        return text.replace('\0', '\uFFFD').getBytes(StandardCharsets.UTF_8);
    }

    /** Any characters, halves of characters and zeros among them. */
    public static String randomText(Random random, int maxChars) {
        int n = random.nextInt(maxChars + 1);
        StringBuilder text = new StringBuilder();
        int[] ranges = {0x7f, 0x100, 0x900, 0x10000};
        for (int i = 0; i < n; i++) {
            int kind = random.nextInt(10);
            if (kind == 9) {
                text.appendCodePoint(0x10000 + random.nextInt(0x100000));
            } else {
                text.append((char) random.nextInt(ranges[Math.max(0, kind - 5)]));
            }
        }
        return text.toString();
    }

    @Test
    void sameBytesAsTheJdk() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            String text = randomText(random, 40);
            byte[] expected = reference(text);
            assertEquals(expected.length, Utf8.length(text));
            byte[] exact = new byte[expected.length];
            assertEquals(expected.length, Utf8.put(text, Utf8.MAX_VALUE_BYTES, exact, 0), "just enough room");
            assertEquals(new String(expected, StandardCharsets.UTF_8), new String(exact, StandardCharsets.UTF_8));
            if (expected.length > 0) {
                assertEquals(-1, Utf8.put(text, Utf8.MAX_VALUE_BYTES, new byte[expected.length - 1], 0));
            }
        }
    }

    @Test
    void cutAtTheEndOfACharacter() {
        Random random = new Random(8);
        for (int i = 0; i < 20_000; i++) {
            String text = randomText(random, 40);
            int max = random.nextInt(60);
            String whole = new String(reference(text), StandardCharsets.UTF_8);
            String cut = put(text, max);
            assertTrue(whole.startsWith(cut), "a beginning of it");
            int bytes = cut.getBytes(StandardCharsets.UTF_8).length;
            assertTrue(bytes <= max);
            if (cut.length() < whole.length()) {
                int next = new String(Character.toChars(whole.codePointAt(cut.length())))
                        .getBytes(StandardCharsets.UTF_8).length;
                assertTrue(bytes + next > max, "no more would have fitted");
                assertTrue(Utf8.exceeds(text, max));
            } else {
                assertFalse(Utf8.exceeds(text, max));
            }
        }
    }

    @Test
    void limits() {
        String longest = "\u00e4".repeat(Utf8.MAX_NAME_BYTES / 2);
        assertEquals(longest, put(longest, Utf8.MAX_NAME_BYTES));
        assertEquals(longest, put(longest + "x", Utf8.MAX_NAME_BYTES));
        assertEquals("a\uFFFDb", put("a\0b", Utf8.MAX_NAME_BYTES));
        String emoji = put("a" + "\uD83D\uDE00".repeat(300), Utf8.MAX_NAME_BYTES);
        assertEquals(1021, emoji.getBytes(StandardCharsets.UTF_8).length, "no half characters");
        assertEquals(Utf8.MAX_VALUE_BYTES, put("x".repeat(70_000), Utf8.MAX_VALUE_BYTES).length());
    }

    @Test
    void numbers() {
        Decimal decimal = new Decimal();
        Random random = new Random(9);
        for (int i = 0; i < 10_000; i++) {
            long number = i == 0 ? Long.MIN_VALUE : i == 1 ? Long.MAX_VALUE : random.nextLong() >> random.nextInt(64);
            int start = decimal.put(number);
            assertEquals(Long.toString(number),
                    new String(decimal.digits, start, decimal.digits.length - start, StandardCharsets.US_ASCII));
        }
    }
}
