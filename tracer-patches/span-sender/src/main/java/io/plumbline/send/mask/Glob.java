package io.plumbline.send.mask;

/** Patterns in which {@code *} stands for any text and {@code ?} for any character, as GLib has them. */
final class Glob {
    private Glob() {
    }

    /** In a time of pattern times text, whatever they are. */
    static boolean matches(String pattern, String text) {
        int p = 0;
        int t = 0;
        int star = -1;
        int retry = 0;
        while (t < text.length()) {
            int step = Character.charCount(text.codePointAt(t));
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                retry = t;
            } else if (p < pattern.length() && pattern.charAt(p) == '?') {
                p++;
                t += step;
            } else if (p < pattern.length() && pattern.codePointAt(p) == text.codePointAt(t)) {
                p += step;
                t += step;
            } else if (star >= 0) {
                retry += Character.charCount(text.codePointAt(retry));
                t = retry;
                p = star + 1;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }
}
