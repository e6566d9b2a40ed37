#include "common/base/nearest.h"

#include <string.h>

#define MAX_BYTES 64

guint nearest_distance(const char *a, const char *b) {
    gsize n = MIN(strlen(a), MAX_BYTES), m = MIN(strlen(b), MAX_BYTES);
    /* Rows i-2, i-1 and i of the table of Damerau's distance (adjacent swaps only). */
    guint rows[3][MAX_BYTES + 1];
    for (gsize j = 0; j <= m; j++) rows[0][j] = (guint)j;
    for (gsize i = 1; i <= n; i++) {
        guint *row = rows[i % 3];
        const guint *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (guint)i;
        for (gsize j = 1; j <= m; j++) {
            guint best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = MIN(best, above[j] + 1);
            best = MIN(best, row[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) best = MIN(best, two_above[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *nearest_name(const char *name, const char *const *known) {
    const char *best = NULL;
    guint best_distance = G_MAXUINT;
    for (; *known != NULL; known++) {
        guint distance = nearest_distance(name, *known);
        gsize longer = MAX(strlen(name), strlen(*known));
        gboolean begins = strlen(name) >= 2 && (g_str_has_prefix(*known, name) || g_str_has_prefix(name, *known));
        if (distance * 3 > longer + 1 && !begins) continue;
        if (distance < best_distance) {
            best = *known;
            best_distance = distance;
        }
    }
    return best;
}
