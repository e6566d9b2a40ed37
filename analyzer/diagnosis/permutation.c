#include "analyzer/diagnosis/permutation.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/order.h"
#include "common/base/mix64.h"

typedef struct Stratum {
    guint32 *rows; /* those that are chosen first, to begin with */
    guint32 n, n_chosen;
} Stratum;

typedef struct Test {
    const PermutationInput *input;
    double *centred; /* rows less their stratum's mean */
    Stratum strata[PERMUTATION_STRATA];
    guint64 state;
} Test;

/* ---- strata ---- */

/* Of the chosen at most PERMUTED_CHOSEN_MAX, in even steps. */
static gboolean takes_part(const PermutationInput *input, gsize row) {
    if (row >= input->n_chosen || input->n_chosen <= PERMUTED_CHOSEN_MAX) return TRUE;
    return row * PERMUTED_CHOSEN_MAX / input->n_chosen != (row + 1) * PERMUTED_CHOSEN_MAX / input->n_chosen;
}

static void fill_strata(Test *test) {
    const PermutationInput *input = test->input;
    for (guint s = 0; s < PERMUTATION_STRATA; s++) test->strata[s].rows = g_new(guint32, input->n + 1);
    for (gsize row = 0; row < input->n; row++) {
        if (!takes_part(input, row)) continue;
        Stratum *stratum = &test->strata[MIN(input->strata[row], PERMUTATION_STRATA - 1)];
        stratum->rows[stratum->n++] = (guint32)row;
        stratum->n_chosen += row < input->n_chosen;
    }
}

static double known_mean(const PermutationInput *input, guint feature) {
    double sum = 0;
    gsize known = 0;
    for (gsize row = 0; row < input->n; row++) {
        const double value = input->vectors[row * input->n_features + feature];
        if (!isfinite(value)) continue;
        sum += value;
        known++;
    }
    return known > 0 ? sum / (double)known : 0;
}

/* Fills the feature's column of 'centred', in which a stratum that has but one kind of vectors stays 0. Does the
 * feature vary in any other? */
static gboolean centre_feature(Test *test, guint feature) {
    const PermutationInput *input = test->input;
    const double instead = known_mean(input, feature);
    gboolean varies = FALSE;

    for (guint s = 0; s < PERMUTATION_STRATA; s++) {
        const Stratum *stratum = &test->strata[s];
        if (stratum->n_chosen == 0 || stratum->n_chosen == stratum->n) continue;
        double sum = 0, first = NAN;
        for (guint32 i = 0; i < stratum->n; i++) {
            const double value = input->vectors[(gsize)stratum->rows[i] * input->n_features + feature];
            const double used = isfinite(value) ? value : instead;
            test->centred[(gsize)stratum->rows[i] * input->n_features + feature] = used;
            sum += used;
            varies = varies || (i > 0 && used != first);
            if (i == 0) first = used;
        }
        for (guint32 i = 0; i < stratum->n; i++)
            test->centred[(gsize)stratum->rows[i] * input->n_features + feature] -= sum / stratum->n;
    }
    return varies;
}

/* ---- permutations ---- */

static void add_row(const Test *test, guint32 row, double *sums) {
    const double *values = test->centred + (gsize)row * test->input->n_features;
    for (guint f = 0; f < test->input->n_features; f++) sums[f] += values[f];
}

static void sum_chosen(const Test *test, double *sums) {
    memset(sums, 0, sizeof *sums * test->input->n_features);
    for (guint s = 0; s < PERMUTATION_STRATA; s++)
        for (guint32 i = 0; i < test->strata[s].n_chosen; i++) add_row(test, test->strata[s].rows[i], sums);
}

/* As many of each stratum as were chosen, drawn without replacement, come first in it. */
static void draw(Test *test) {
    for (guint s = 0; s < PERMUTATION_STRATA; s++) {
        Stratum *stratum = &test->strata[s];
        if (stratum->n_chosen == stratum->n) continue;
        for (guint32 i = 0; i < stratum->n_chosen; i++) {
            const guint64 left = stratum->n - i;
            const guint32 other = i + (guint32)(((mix64_next(&test->state) >> 32) * left) >> 32);
            const guint32 row = stratum->rows[i];
            stratum->rows[i] = stratum->rows[other];
            stratum->rows[other] = row;
        }
    }
}

static void count_reached(Test *test, guint32 *reached) {
    const guint n_features = test->input->n_features;
    g_autofree double *seen = g_new(double, n_features + 1), *sums = g_new(double, n_features + 1);
    sum_chosen(test, seen);
    for (guint i = 0; i < PERMUTATIONS; i++) {
        draw(test);
        sum_chosen(test, sums);
        for (guint f = 0; f < n_features; f++) reached[f] += !order_above(fabs(seen[f]), fabs(sums[f]));
    }
}

double *permutation_p(const PermutationInput *input) {
    Test test = {.input = input, .state = input->seed};
    double *p = g_new(double, input->n_features + 1);
    g_autofree gboolean *varies = g_new0(gboolean, input->n_features + 1);
    g_autofree guint32 *reached = g_new0(guint32, input->n_features + 1);

    fill_strata(&test);
    test.centred = g_new0(double, input->n * input->n_features + 1);
    gboolean any = FALSE;
    for (guint f = 0; f < input->n_features; f++) any = (varies[f] = centre_feature(&test, f)) || any;
    if (any) count_reached(&test, reached);
    for (guint f = 0; f < input->n_features; f++) p[f] = varies[f] ? (1.0 + reached[f]) / (1.0 + PERMUTATIONS) : NAN;
    holm_correct(p, input->n_features);

    for (guint s = 0; s < PERMUTATION_STRATA; s++) g_free(test.strata[s].rows);
    g_free(test.centred);
    return p;
}

void holm_correct(double *p, guint n) {
    g_autofree OrderItem *items = g_new(OrderItem, n + 1), *scratch = g_new(OrderItem, n + 1);
    guint known = 0;
    for (guint i = 0; i < n; i++)
        if (!isnan(p[i])) items[known++] = (OrderItem){p[i], i};
    order_sort(items, scratch, known);

    double greatest = 0;
    for (guint i = 0; i < known; i++) {
        greatest = MAX(greatest, MIN(1, items[i].value * (known - i)));
        p[items[i].index] = greatest;
    }
}
