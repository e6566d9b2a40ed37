package io.plumbline.send.mask;

import io.plumbline.send.pack.Utf8;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * {@code ~} and 16 digits of HMAC-SHA256(key, text). Remembers some: names of folders and files come again and again.
 * Any thread.
 */
final class Hashes {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int DIGITS = 16;
    private static final int REMEMBERED = 65536;
    /** Characters; longer texts are hashed each time. */
    private static final int REMEMBERED_LENGTH = 256;
    private static final char[] HEX = "0123456789abcdef".toCharArray();
    /** Bytes of UTF-8 for one UTF-16 unit, at most. */
    private static final int WORST = 3;

    private final SecretKeySpec key;
    private final ConcurrentHashMap<String, String> known = new ConcurrentHashMap<>();
    private final ThreadLocal<Mac> macs = ThreadLocal.withInitial(this::mac);

    Hashes(byte[] key) {
        this.key = new SecretKeySpec(key, ALGORITHM);
        mac(); // a JVM without it says so now
    }

    private Mac mac() {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("this JVM cannot hash by " + ALGORITHM + ": " + e.getMessage(), e);
        }
    }

    /** A text that is a hash stays as it is. */
    String of(String text) {
        if (isHash(text)) {
            return text;
        }
        if (text.length() > REMEMBERED_LENGTH) {
            return hash(text);
        }
        String hash = known.get(text);
        if (hash == null) {
            hash = hash(text);
            if (known.size() >= REMEMBERED) {
                known.clear();
            }
            known.put(text, hash);
        }
        return hash;
    }

    /** Of the bytes that would be sent. */
    private String hash(String text) {
        byte[] bytes = new byte[text.length() * WORST];
        int end = Utf8.put(text, bytes.length, bytes, 0);
        byte[] digest = macs.get().doFinal(Arrays.copyOf(bytes, end));
        char[] out = new char[1 + DIGITS];
        out[0] = '~';
        for (int i = 0; i < DIGITS; i++) {
            out[1 + i] = HEX[digest[i / 2] >> (i % 2 == 0 ? 4 : 0) & 0xf];
        }
        return new String(out);
    }

    private static boolean isHash(String text) {
        if (text.length() != 1 + DIGITS || text.charAt(0) != '~') {
            return false;
        }
        for (int i = 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return true;
    }
}
