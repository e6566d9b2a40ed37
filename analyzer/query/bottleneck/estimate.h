/* Ratios of sums with intervals: a mean (time by calls), a share (time by all time).
 *
 * Requests of the same second suffer together, so seconds are the units, as in the reports of loads. The interval is
 * that of a ratio estimate over clusters (Cochran, Sampling Techniques, 6.3), with Student's t. */
#pragma once

#include <glib.h>

/* In fewer seconds nothing is said of an interval. */
#define ESTIMATE_SECONDS_LEAST 5u

typedef struct Estimate {
    double value, low, high;
    gboolean bounded; /* there are low and high */
} Estimate;

/* The sum of part by the sum of whole, n of each; seconds without a whole do not count. The sum is not 0. */
Estimate estimate_ratio(const double *part, const double *whole, guint n);
