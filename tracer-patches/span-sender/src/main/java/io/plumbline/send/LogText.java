package io.plumbline.send;

/**
 * Text of a peer, made fit for a log and a terminal: one line, of bounded length, without characters that command a
 * terminal or turn the direction of what follows.
 */
final class LogText {
    /** A reply may carry 64 KB; a person reads a line. */
    static final int MAX_CHARS = 500;
    private static final String CUT = "...";
    private static final char BAD_BECOMES = '?';

    private LogText() {
    }

    /** Control and format characters and lone halves of characters become "?"; "..." marks the cut. */
    static String clean(String text) {
        StringBuilder clean = new StringBuilder();
        int at = 0;
        while (at < text.length() && clean.length() < MAX_CHARS) {
            int c = text.codePointAt(at);
            clean.appendCodePoint(isHarmless(c) ? c : BAD_BECOMES);
            at += Character.charCount(c);
        }
        return at < text.length() ? clean + CUT : clean.toString();
    }

    private static boolean isHarmless(int c) {
        switch (Character.getType(c)) {
            case Character.CONTROL:
            case Character.FORMAT:
            case Character.LINE_SEPARATOR:
            case Character.PARAGRAPH_SEPARATOR:
            case Character.SURROGATE:
                return false;
            default:
                return true;
        }
    }
}
