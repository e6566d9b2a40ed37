/* Figures that a minority of values cannot move far. */
#pragma once

#include <glib.h>

/* The standard deviation that normally distributed values with this median of absolute deviations have; of n values,
 * in any order; which become these deviations. 0 of none. */
double robust_deviation(double *values, guint32 n);

/* The same from the median of the distances of all pairs (Shamos), which tells more of few values. Holds while less
 * than 29 % of them are off. */
double robust_spread(const double *values, guint32 n);

typedef struct Points {
    const double *x, *y;
    guint32 n;
} Points;

/* Of more points as many, in even steps: the pairs are its square. */
#define SLOPE_POINTS 128u

/* How steeply y goes with x: the median of the slopes of all pairs of points whose x differ (Theil and Sen). Holds
 * while less than 29 % of the points are off. 0 of none. */
double slope_median(Points points);
/* The 95 % interval of that (Sen), of pairs whose x differ by least_dx at least; infinite of too few. */
void slope_interval(Points points, double least_dx, double *low, double *high);
