#include "analyzer/diagnosis/kmeans.h"

#include <math.h>
#include <string.h>

#include "common/base/mix64.h"

#define ITERATIONS_MAX 300
#define RESTARTS       8 /* of which the one with the least objective is taken */

static double next_share(guint64 *state) { return (double)(mix64_next(state) >> 11) * 0x1p-53; }

typedef struct Work {
    double *scaled; /* n rows */
    gsize n;        /* clustered */
    guint features, k;
    double *centres;
    guint32 *owner, *sizes;
    double *nearest; /* squared distance of each vector to the nearest centre so far */
    double objective;
    guint iterations;
} Work;

static double distance2(const double *a, const double *b, guint n) {
    double sum = 0;
    for (guint i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* ---- scaling ---- */

static void scale_feature(const KMeansInput *input, guint f, double *scaled) {
    double least = HUGE_VAL, most = -HUGE_VAL, sum = 0;
    gsize known = 0;
    for (gsize i = 0; i < input->n; i++) {
        const double value = input->vectors[i * input->n_features + f];
        if (!isfinite(value)) continue;
        least = MIN(least, value);
        most = MAX(most, value);
        sum += value;
        known++;
    }
    if (input->scale_by_most) least = 0;
    const double range = most - least;
    for (gsize i = 0; i < input->n; i++) {
        double value = input->vectors[i * input->n_features + f];
        if (!isfinite(value)) value = known > 0 ? sum / (double)known : 0;
        scaled[i * input->n_features + f] = known > 0 && range > 0 ? MAX(0, value - least) / range : 0;
    }
}

/* ---- seeding ---- */

/* Takes the vector as the next centre. */
static void take_centre(Work *work, gsize vector) {
    double *centre = work->centres + (gsize)work->k++ * work->features;
    memcpy(centre, work->scaled + vector * work->features, sizeof *centre * work->features);
    for (gsize i = 0; i < work->n; i++) {
        const double d = distance2(work->scaled + i * work->features, centre, work->features);
        work->nearest[i] = work->k == 1 ? d : MIN(work->nearest[i], d);
    }
}

/* Vectors are drawn in proportion to their squared distance from the nearest centre; so no vector is taken twice. */
static void seed_centres(Work *work, guint k, guint64 *state) {
    work->k = 0;
    take_centre(work, (gsize)(next_share(state) * (double)work->n));
    while (work->k < k) {
        double sum = 0;
        gsize last = 0;
        for (gsize i = 0; i < work->n; i++) {
            sum += work->nearest[i];
            if (work->nearest[i] > 0) last = i;
        }
        if (sum <= 0) return; /* there are no more distinct vectors */
        double left = next_share(state) * sum;
        gsize chosen = 0;
        for (; chosen < last && (work->nearest[chosen] <= 0 || left >= work->nearest[chosen]); chosen++)
            left -= work->nearest[chosen];
        take_centre(work, chosen);
    }
}

/* ---- Lloyd's iteration ---- */

/* TRUE when a vector changed its centre. */
static gboolean assign(Work *work) {
    gboolean changed = FALSE;
    work->objective = 0;
    for (gsize i = 0; i < work->n; i++) {
        guint32 best = 0;
        double least = HUGE_VAL;
        for (guint c = 0; c < work->k; c++) {
            const double d =
                distance2(work->scaled + i * work->features, work->centres + (gsize)c * work->features, work->features);
            if (d >= least) continue;
            least = d;
            best = c;
        }
        changed = changed || work->owner[i] != best;
        work->owner[i] = best;
        work->objective += least;
    }
    return changed;
}

/* A centre that lost its members stays where it is. */
static void move_centres(Work *work) {
    g_autofree double *sums = g_new0(double, (gsize)work->k * work->features);
    memset(work->sizes, 0, sizeof *work->sizes * work->k);
    for (gsize i = 0; i < work->n; i++) {
        double *sum = sums + (gsize)work->owner[i] * work->features;
        for (guint f = 0; f < work->features; f++) sum[f] += work->scaled[i * work->features + f];
        work->sizes[work->owner[i]]++;
    }
    for (guint c = 0; c < work->k; c++) {
        if (work->sizes[c] == 0) continue;
        for (guint f = 0; f < work->features; f++)
            work->centres[(gsize)c * work->features + f] = sums[(gsize)c * work->features + f] / work->sizes[c];
    }
}

static void cluster(Work *work) {
    for (gsize i = 0; i < work->n; i++) work->owner[i] = G_MAXUINT32;
    for (work->iterations = 0; assign(work) && work->iterations < ITERATIONS_MAX; work->iterations++)
        move_centres(work);
}

/* ---- result ---- */

static void copy_centres(const Work *work, KMeans *result) {
    g_autofree gboolean *taken = g_new0(gboolean, work->k);
    for (guint at = 0; at < work->k; at++) {
        gint largest = -1;
        for (guint c = 0; c < work->k; c++)
            if (!taken[c] && (largest < 0 || work->sizes[c] > work->sizes[largest])) largest = (gint)c;
        taken[largest] = TRUE;
        result->sizes[at] = work->sizes[largest];
        memcpy(result->centres + (gsize)at * work->features, work->centres + (gsize)largest * work->features,
               sizeof *result->centres * work->features);
    }
}

static void keep_result(const Work *work, KMeans *result) {
    if (result->k > 0 && work->objective >= result->objective) return;
    result->k = work->k;
    result->objective = work->objective;
    result->iterations = work->iterations;
    copy_centres(work, result);
}

static double *column_means(const double *rows, gsize n, guint features) {
    double *means = g_new0(double, features);
    for (gsize i = 0; i < n; i++)
        for (guint f = 0; f < features; f++) means[f] += rows[i * features + f];
    for (guint f = 0; f < features; f++) means[f] /= (double)n;
    return means;
}

static void compare_with_others(const Work *work, gsize n_others, KMeans *result) {
    if (n_others == 0) return;
    g_autofree double *own = column_means(work->scaled, work->n, work->features);
    result->others = column_means(work->scaled + work->n * work->features, n_others, work->features);
    result->apart = g_new(double, work->features);
    for (guint f = 0; f < work->features; f++) result->apart[f] = fabs(own[f] - result->others[f]);
}

static double silhouette_of(const Work *work, const KMeans *result) {
    double sum = 0;
    if (result->k < 2) return NAN;
    for (gsize i = 0; i < work->n; i++) {
        double own = HUGE_VAL, next = HUGE_VAL;
        for (guint c = 0; c < result->k; c++) {
            const double *centre = result->centres + (gsize)c * work->features;
            const double d = sqrt(distance2(work->scaled + i * work->features, centre, work->features));
            next = MIN(next, MAX(own, d));
            own = MIN(own, d);
        }
        sum += next > 0 ? (next - own) / next : 0;
    }
    return sum / (double)work->n;
}

KMeans *kmeans_run(const KMeansInput *input) {
    if (input->n_clustered == 0 || input->k == 0 || input->n_features == 0) return NULL;

    g_autofree double *scaled = g_new(double, input->n * input->n_features);
    g_autofree double *centres = g_new(double, (gsize)input->k * input->n_features);
    g_autofree double *nearest = g_new(double, input->n_clustered);
    g_autofree guint32 *owner = g_new(guint32, input->n_clustered), *sizes = g_new0(guint32, input->k);
    for (guint f = 0; f < input->n_features; f++) scale_feature(input, f, scaled);

    Work work = {.scaled = scaled,
                 .n = input->n_clustered,
                 .features = input->n_features,
                 .centres = centres,
                 .owner = owner,
                 .sizes = sizes,
                 .nearest = nearest};

    KMeans *result = g_new0(KMeans, 1);
    result->n_features = input->n_features;
    result->centres = g_new0(double, (gsize)input->k * input->n_features);
    result->sizes = g_new0(guint32, input->k);

    guint64 state = input->seed;
    for (guint i = 0; i < RESTARTS; i++) {
        seed_centres(&work, input->k, &state);
        cluster(&work);
        keep_result(&work, result);
    }

    result->silhouette = silhouette_of(&work, result);
    compare_with_others(&work, input->n - input->n_clustered, result);
    return result;
}

void kmeans_free(KMeans *result) {
    if (result == NULL) return;
    g_free(result->centres);
    g_free(result->sizes);
    g_free(result->others);
    g_free(result->apart);
    g_free(result);
}
