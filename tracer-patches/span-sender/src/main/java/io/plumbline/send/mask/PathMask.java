package io.plumbline.send.mask;

/** Masks paths, and paths inside of other texts, as common/model/mask.c does. Any thread. */
final class PathMask {
    private static final String ENDS = "\"'`,;()[]{}<>| \t\n\f\r";
    private static final String IN_SCHEMES = "+-.";

    private final Hashes hashes;

    PathMask(Hashes hashes) {
        this.hashes = hashes;
    }

    /** The text from at to end; none of the methods here copies more of it than components. */
    private void path(StringBuilder out, String text, int from, int end, int keep) {
        int n = 0;
        int at = from;
        while (at < end) {
            if (text.charAt(at) == '/') {
                out.append('/');
                at++;
                continue;
            }
            int next = n >= MaskRules.COMPONENTS_MAX ? end : slash(text, at, end);
            String component = text.substring(at, next);
            out.append(n < keep || component.equals("*") ? component : hashes.of(component));
            n++;
            at = next;
        }
    }

    /** Each component but the first ones is hashed by itself; all past {@link MaskRules#COMPONENTS_MAX} as one. */
    void path(StringBuilder out, String text, int keep) {
        path(out, text, 0, text.length(), keep);
    }

    /** A text that begins with a path. */
    void withScheme(StringBuilder out, String text, int keep) {
        int path = scheme(text, 0, text.length());
        out.append(text, 0, path);
        path(out, text, path, text.length(), keep);
    }

    static boolean isPath(String text) {
        return !text.isEmpty() && (text.charAt(0) == '/' || scheme(text, 0, text.length()) > 0);
    }

    /** The paths in it: "cannot open 'hdfs://nn/a': src=/b". */
    void words(StringBuilder out, String text, int keep) {
        int at = 0;
        while (at < text.length()) {
            int next = at;
            while (next < text.length() && ENDS.indexOf(text.charAt(next)) < 0) {
                next++;
            }
            word(out, text, at, next, keep);
            if (next < text.length()) {
                out.append(text.charAt(next++));
            }
            at = next;
        }
    }

    /** Without blanks: "hdfs://nn/a/b", "src=/a/b", "jar:file:/a/b", "nn:8020:/a/b", "Client/10.0.0.1". */
    private void word(StringBuilder out, String text, int from, int end, int keep) {
        int at = from;
        while (at < end) {
            int path = scheme(text, at, end);
            if (path > at || text.charAt(at) == '/') {
                out.append(text, at, path);
                path(out, text, path, end, keep);
                return;
            }
            int next = at;
            while (next < end && text.charAt(next) != '=' && text.charAt(next) != ':') {
                next++;
            }
            next = Math.min(next + 1, end);
            out.append(text, at, next);
            at = next;
        }
    }

    /** Where "hdfs://nn:8020" ends, which stands before the path; from: there is no such thing. */
    private static int scheme(String text, int from, int end) {
        int colon = from;
        while (colon < end && (isLetter(text.charAt(colon)) || isDigit(text.charAt(colon))
                || IN_SCHEMES.indexOf(text.charAt(colon)) >= 0)) {
            colon++;
        }
        if (colon == from || !isLetter(text.charAt(from)) || colon + 1 >= end || !text.startsWith(":/", colon)) {
            return from;
        }
        if (colon + 2 >= end || text.charAt(colon + 2) != '/') {
            return colon + 1; // "file:/tmp"
        }
        return slash(text, colon + 3, end);
    }

    /** The next one; end: none. */
    private static int slash(String text, int from, int end) {
        int at = from;
        while (at < end && text.charAt(at) != '/') {
            at++;
        }
        return at;
    }

    private static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
