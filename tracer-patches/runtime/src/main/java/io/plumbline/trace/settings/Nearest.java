package io.plumbline.trace.settings;

import java.util.Collection;

/** Which known name was probably meant. */
public final class Nearest {
    /** Past this, names are compared by their beginnings. */
    private static final int MAX_LENGTH = 64;

    private Nearest() {
    }

    /** Null when none is near: more than a third would have to change, and neither begins with the other. */
    public static String of(String name, Collection<String> known) {
        String best = null;
        int bestDistance = Integer.MAX_VALUE;
        for (String candidate : known) {
            int distance = distance(name, candidate);
            boolean begins = name.length() >= 2 && (candidate.startsWith(name) || name.startsWith(candidate));
            boolean near = distance * 3 <= Math.max(name.length(), candidate.length()) + 1;
            if ((near || begins) && distance < bestDistance) {
                best = candidate;
                bestDistance = distance;
            }
        }
        return best;
    }

    /** Letters to add, leave out, change, or swap with their neighbour. */
    static int distance(String a, String b) {
        int n = Math.min(a.length(), MAX_LENGTH);
        int m = Math.min(b.length(), MAX_LENGTH);
        int[][] rows = new int[n + 1][m + 1];
        for (int i = 0; i <= n; i++) {
            for (int j = 0; j <= m; j++) {
                rows[i][j] = i == 0 || j == 0 ? i + j : cell(rows, a, b, i, j);
            }
        }
        return rows[n][m];
    }

    private static int cell(int[][] rows, String a, String b, int i, int j) {
        int best = rows[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        best = Math.min(best, 1 + Math.min(rows[i - 1][j], rows[i][j - 1]));
        boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(best, rows[i - 2][j - 2] + 1) : best;
    }
}
