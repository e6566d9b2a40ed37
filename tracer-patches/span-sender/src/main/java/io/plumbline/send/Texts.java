package io.plumbline.send;

import java.nio.charset.StandardCharsets;

/** Brings strings into the form and size that receivers take, who refuse others for good. */
final class Texts {
    /** Function names, tracer ids, annotation keys, in UTF-8. */
    static final int MAX_NAME_BYTES = 1024;
    /** Annotation values and timeline messages, in UTF-8. */
    static final int MAX_VALUE_BYTES = 65536;

    private final Counters counters;

    Texts(Counters counters) {
        this.counters = counters;
    }

    String name(String text) {
        return fit(text, MAX_NAME_BYTES);
    }

    String value(String text) {
        return fit(text, MAX_VALUE_BYTES);
    }

    void countShortened() {
        counters.shortened.incrementAndGet();
    }

    /** Zero characters become U+FFFD; what is longer than maxBytes in UTF-8 is cut at a character's end and counted. */
    private String fit(String text, int maxBytes) {
        String clean = text.indexOf('\0') < 0 ? text : text.replace('\0', '\uFFFD');
        if (clean.length() * 3L <= maxBytes || clean.getBytes(StandardCharsets.UTF_8).length <= maxBytes) {
            return clean;
        }
        countShortened();
        int bytes = 0;
        int end = 0;
        while (end < clean.length()) {
            int point = clean.codePointAt(end);
            bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
            if (bytes > maxBytes) {
                break;
            }
            end += Character.charCount(point);
        }
        return clean.substring(0, end);
    }
}
