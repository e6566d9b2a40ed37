/* A distribution of non-negative integers: exact count, sum, sum of squares, min, max; quantiles exact up to
 * DIST_EXACT_MAX values and within DIST_RELATIVE_ERROR beyond.
 *
 * The sketch is log-linear on integers: values below 128 have a bucket each, above that every power of two is cut into
 * 64 equal buckets, so a bucket's middle is off by at most 1/128 = 0.8 % of the value. Bucket numbers are computed from
 * bits alone: the same on every machine. What a Dist encodes to is a function of the multiset of its values only (of
 * neither order nor grouping), so merging is associative and commutative to the byte. */
#pragma once

#include "common/base/bytes.h"

#define DIST_EXACT_MAX      64
#define DIST_RELATIVE_ERROR 0.0079
/* Larger values are counted as this one (2^52 ns are 52 days; 2^52 bytes 4 PiB): sums of squares then fit 128 bits. */
#define DIST_VALUE_MAX (G_GUINT64_CONSTANT(1) << 52)

typedef struct Dist {
    guint64 count;
    guint64 sum;                    /* saturates */
    guint64 squares_hi, squares_lo; /* 128-bit sum of squares, saturates */
    guint64 min, max;               /* of count > 0 */
    guint64 min_count, max_count;   /* how many values are the minimum, the maximum */
    struct DistValues *values;      /* owned; NULL: none, or of count > 0: */
} Dist;

/* A summary knows count, sum and sum of squares, but neither extremes nor quantiles (which are told as 0), and has no
 * stored form. What a summary is merged with becomes one. */
static inline gboolean dist_is_summary(const Dist *dist) { return dist->count > 0 && dist->values == NULL; }

void dist_init(Dist *dist);
void dist_clear(Dist *dist);
void dist_add(Dist *dist, guint64 value); /* for tests */
void dist_merge(Dist *into, const Dist *from);
/* Takes away values that were merged in. Number, sum and deviation are exact then. The others are when at most
 * DIST_EXACT_MAX values were merged in; else quantiles are within DIST_RELATIVE_ERROR, and so are the least and the
 * greatest value when the last of them was taken. What is left has no stored form. FALSE, and the values are of no use:
 * they were never in it. */
gboolean dist_take(Dist *from, const Dist *what);

/* Are all values there, so that quantiles are exact? */
gboolean dist_is_exact(const Dist *dist);
/* Memory beside the struct itself; roughly. */
gsize dist_bytes(const Dist *dist);
double dist_mean(const Dist *dist);   /* 0 of nothing */
double dist_stddev(const Dist *dist); /* of the population */
/* The value at rank ceil(q * count), 0 < q <= 1 (q = 0: the minimum): exact, or the middle of its bucket kept inside
 * [min, max]. */
double dist_quantile(Dist *dist, double q);

/* Every value with its number, in no order: exact, or the middle of its bucket kept inside [min, max]. Nothing of a
 * summary. */
typedef void (*DistVisit)(void *arg, guint64 value, guint64 count);
void dist_each(const Dist *dist, DistVisit visit, void *arg);

void dist_encode(Dist *dist, GByteArray *out);
/* Adds an encoded distribution to *into. FALSE: malformed. */
gboolean dist_merge_encoded(Dist *into, ByteReader *reader); /* for tests */
