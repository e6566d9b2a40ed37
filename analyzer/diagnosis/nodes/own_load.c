#include "analyzer/diagnosis/nodes/own_load.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/median.h"

/* 128 points are 8,128 pairs. */
#define POINTS_MAX 128u
/* ln: points closer than that would tell a slope out of noise. */
#define CLOSE 0.02

double theil_sen(const float *x, const float *y, gsize n) {
    if (n < OWN_LOAD_POINTS) return 0;
    const gsize step = (n + POINTS_MAX - 1) / POINTS_MAX;
    g_autoptr(GArray) slopes = g_array_new(FALSE, FALSE, sizeof(float));

    for (gsize i = 0; i < n; i += step) {
        for (gsize k = i + step; k < n; k += step) {
            if (fabs((double)x[k] - x[i]) < CLOSE) continue;
            const float slope = (y[k] - y[i]) / (x[k] - x[i]);
            g_array_append_val(slopes, slope);
        }
    }

    if (slopes->len < OWN_LOAD_POINTS) return 0;
    return median_of(&g_array_index(slopes, float, 0), slopes->len);
}
