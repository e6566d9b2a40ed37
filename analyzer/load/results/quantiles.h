/* Quantiles of times, and how sure they are.
 *
 * The interval of a quantile is between two of the times themselves (Woodruff, 1952): how many of the times lie below
 * the quantile varies from one sample to the next, and its deviation says how many ranks the true quantile may be away.
 * Requests that are due in the same second suffer together, so the deviation is that of the sums of seconds; it is at
 * least that of independent requests. 95 %. */
#pragma once

#include "analyzer/load/results/result.h"

/* Sorts, upwards. */
void times_sort(guint64 *times, gsize n);

typedef struct Quantile {
    gint64 value_ns;
    gint64 low_ns, high_ns; /* low_ns 0, high_ns -1: there are too few times to say */
} Quantile;

/* Times by seconds. seconds: one more than the greatest of the samples. */
typedef struct Quantiles {
    const LoadSample *samples;
    gsize n;
    guint64 *sorted; /* latencies */
    guint seconds;
} Quantiles;

/* Borrows the samples. */
void quantiles_init(Quantiles *quantiles, const GArray *samples);
void quantiles_clear(Quantiles *quantiles);
#define QUANTILES_MOST 8u
/* At n_p probabilities, upwards, QUANTILES_MOST at most, into found. There must be times. */
void quantiles_get(const Quantiles *quantiles, const double *p, guint n_p, Quantile *found);
/* The time at this quantile, of sorted times. */
gint64 times_quantile(const guint64 *sorted, gsize n, double p);
