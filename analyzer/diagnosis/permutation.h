/* Do chosen vectors differ from the others beyond chance? A permutation test of each feature, two-sided.
 *
 * Vectors lie in strata (tenths of a stage's time, say). Under the null hypothesis the labels "chosen" and "other" may
 * be exchanged within a stratum. With c the values less their stratum's mean, the statistic is |sum of c over the
 * chosen|, and p = (1 + permutations that reach it) / (1 + permutations) (Phipson and Smyth, "Permutation p-values
 * should never be zero", 2010). So what merely changes from stratum to stratum is not apart. The p of all features that
 * vary within a stratum are corrected by Holm's step-down method: it is they of which at most a share of p is wrong.
 *
 * 2,000 permutations: the least p is 1/2001, and times the 19 features of a JVM that is below 0.01. With 1,000 no
 * feature among more than ten could ever be. Vectors of one task are taken as independent, which they are not quite:
 * p is a little too small where one task has many of the chosen. */
#pragma once

#include <glib.h>

#define PERMUTATIONS        2000u
#define PERMUTED_CHOSEN_MAX ((gsize)2000) /* of more, as many in even steps: what the test costs is bounded */
#define PERMUTATION_STRATA  10u

typedef struct PermutationInput {
    const double *vectors; /* n rows of n_features; the first n_chosen are chosen; NAN: not known, the feature's mean */
    gsize n, n_chosen;
    guint n_features;
    const guint8 *strata; /* one a row, below PERMUTATION_STRATA */
    guint64 seed;
} PermutationInput;

/* A p of each feature, corrected; NAN of one that varies in no stratum which has both kinds of vectors. A new array of
 * n_features, for g_free(). The same on every run. */
double *permutation_p(const PermutationInput *input);

/* The p's in place: p(i) of the sorted becomes the greatest of (m - j + 1) p(j), j <= i, at most 1. NANs stay and do
 * not count. */
void holm_correct(double *p, guint n); /* for tests */
