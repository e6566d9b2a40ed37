package io.plumbline.send.mask;

/** Masks paths, and paths inside of other texts, as common/model/mask.c does. Any thread. */
final class PathMask {
    private static final String ENDS = "\"'`,;()[]{}<>| \t\n\f\r";
    private static final String IN_SCHEMES = "+-.";

    private final Hashes hashes;

    PathMask(Hashes hashes) {
        this.hashes = hashes;
    }

    /** Each component but the first ones is hashed by itself; all past {@link MaskRules#COMPONENTS_MAX} as one. */
    void path(StringBuilder out, String text, int keep) {
        int n = 0;
        int at = 0;
        while (at < text.length()) {
            if (text.charAt(at) == '/') {
                out.append('/');
                at++;
                continue;
            }
            int slash = n >= MaskRules.COMPONENTS_MAX ? -1 : text.indexOf('/', at);
            String component = text.substring(at, slash < 0 ? text.length() : slash);
            out.append(n < keep || component.equals("*") ? component : hashes.of(component));
            n++;
            at += component.length();
        }
    }

    /** A text that begins with a path. */
    void withScheme(StringBuilder out, String text, int keep) {
        int scheme = scheme(text);
        out.append(text, 0, scheme);
        path(out, text.substring(scheme), keep);
    }

    static boolean isPath(String text) {
        return !text.isEmpty() && (text.charAt(0) == '/' || scheme(text) > 0);
    }

    /** The paths in it: "cannot open 'hdfs://nn/a': src=/b". */
    void words(StringBuilder out, String text, int keep) {
        int at = 0;
        while (at < text.length()) {
            int next = at;
            while (next < text.length() && ENDS.indexOf(text.charAt(next)) < 0) {
                next++;
            }
            word(out, text.substring(at, next), keep);
            if (next < text.length()) {
                out.append(text.charAt(next++));
            }
            at = next;
        }
    }

    /** Without blanks: "hdfs://nn/a/b", "src=/a/b", "jar:file:/a/b", "nn:8020:/a/b", "Client/10.0.0.1". */
    private void word(StringBuilder out, String word, int keep) {
        int at = 0;
        while (at < word.length()) {
            String rest = word.substring(at);
            if (isPath(rest)) {
                withScheme(out, rest, keep);
                return;
            }
            int next = 0;
            while (next < rest.length() && rest.charAt(next) != '=' && rest.charAt(next) != ':') {
                next++;
            }
            next = Math.min(next + 1, rest.length());
            out.append(rest, 0, next);
            at += next;
        }
    }

    /** The length of "hdfs://nn:8020", what stands before the path; 0: nothing. */
    private static int scheme(String text) {
        int length = text.length();
        int n = 0;
        while (n < length && (isLetter(text.charAt(n)) || isDigit(text.charAt(n))
                || IN_SCHEMES.indexOf(text.charAt(n)) >= 0)) {
            n++;
        }
        if (n == 0 || !isLetter(text.charAt(0)) || !text.startsWith(":/", n)) {
            return 0;
        }
        if (!text.startsWith("//", n + 1)) {
            return n + 1; // "file:/tmp"
        }
        int path = text.indexOf('/', n + 3);
        return path >= 0 ? path : length;
    }

    private static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
