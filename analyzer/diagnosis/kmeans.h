/* K-means over feature vectors, the same on every run: the seeding (k-means++) draws from a generator of its own.
 *
 * Features are scaled to 0..1 by their least and greatest values over all vectors, those that do not belong to the
 * clustered set included; a feature that does not vary is 0 everywhere. By the greatest value alone, on demand: that is
 * how the published centres must have been scaled, in which whatever is high everywhere is 0.9 and more. */
#pragma once

#include <glib.h>

typedef struct KMeans {
    guint k, n_features;
    double *centres;  /* k rows of n_features, scaled; by falling size */
    guint32 *sizes;   /* members of each */
    double *others;   /* n_features: the mean of the vectors that were not clustered; NULL when there are none */
    double *apart;    /* n_features: |mean of the clustered - others|; NULL likewise */
    double objective; /* sum of squared distances to the own centre (eq. 4.3) */
    /* Of how good k is, -1 to 1: the mean of (b - a) / b, a a vector's distance from its centre and b from the next one
     * (Vendramin and others, 2010, "simplified silhouette"). NAN with one centre. */
    double silhouette;
    guint iterations;
} KMeans;

typedef struct KMeansInput {
    const double *vectors; /* n rows of n_features; the first n_clustered are clustered */
    gsize n, n_clustered;
    guint n_features;
    guint k;
    guint64 seed;
    gboolean scale_by_most; /* value / greatest; what is below 0 counts as 0 */
} KMeansInput;

/* Missing values (NAN) count as the feature's mean over the others that are known. k is at most the number of distinct
 * vectors; NULL when there are none to cluster. */
KMeans *kmeans_run(const KMeansInput *input);
void kmeans_free(KMeans *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KMeans, kmeans_free)
