#include "analyzer/diagnosis/ledger/robust.h"

#include <math.h>

#include "analyzer/diagnosis/order.h"

/* The standard deviation of a normal distribution, in medians of the absolute deviation. */
#define MAD_TIMES 1.4826
/* The same, in medians of the distance of two. */
#define PAIR_TIMES 1.0483
#define Z95        1.96

double robust_deviation(double *values, guint32 n) {
    const double middle = order_median(values, n);
    for (guint32 i = 0; i < n; i++) values[i] = fabs(values[i] - middle);
    return MAD_TIMES * order_median(values, n);
}

double robust_spread(const double *values, guint32 n) {
    g_autofree double *distances = g_new(double, (gsize)n *n / 2 + 1);
    guint32 found = 0;
    for (guint32 i = 0; i < n; i++)
        for (guint32 k = i + 1; k < n; k++) distances[found++] = fabs(values[i] - values[k]);
    return PAIR_TIMES * order_median(distances, found);
}

/* Slopes of the pairs, *n of them. A new array. */
static double *slopes_of(Points points, guint32 taken, double least_dx, guint32 *n) {
    double *slopes = g_new(double, (gsize)taken *taken / 2 + 1);
    guint32 found = 0;
    for (guint32 i = 0; i < taken; i++) {
        const guint32 a = (guint32)((guint64)i * points.n / taken);
        for (guint32 k = i + 1; k < taken; k++) {
            const guint32 b = (guint32)((guint64)k * points.n / taken);
            const double dx = points.x[b] - points.x[a], far = fabs(dx);
            if (far > 0 && far >= least_dx) slopes[found++] = (points.y[b] - points.y[a]) / dx;
        }
    }
    *n = found;
    return slopes;
}

double slope_median(Points points) {
    guint32 n;
    g_autofree double *slopes = slopes_of(points, MIN(points.n, SLOPE_POINTS), 0, &n);
    return order_median(slopes, n);
}

void slope_interval(Points points, double least_dx, double *low, double *high) {
    const guint32 taken = MIN(points.n, SLOPE_POINTS);
    guint32 n;
    g_autofree double *slopes = slopes_of(points, taken, least_dx, &n);

    /* Half of the interval, as a share of the pairs: Kendall's S of so many points has this deviation. */
    const double pairs = (double)taken * (taken - 1.0);
    const double half = pairs > 0 ? Z95 * sqrt(pairs * (2.0 * taken + 5) / 18) / pairs : 1;
    *low = -INFINITY;
    *high = INFINITY;
    if (n == 0 || half >= 0.5) return;
    *low = order_quantile(slopes, n, 0.5 - half);
    *high = order_quantile(slopes, n, 0.5 + half);
}
