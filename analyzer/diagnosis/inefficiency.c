#include "analyzer/diagnosis/inefficiency.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/diagnosis/order.h"

void pipeline_factors(const double *durations_ms, guint32 n, double *out) {
    g_autofree OrderItem *sorted = g_new(OrderItem, n), *scratch = g_new(OrderItem, n);
    for (guint32 i = 0; i < n; i++) sorted[i] = (OrderItem){durations_ms[i], i};
    order_sort(sorted, scratch, n);
    double factor = 0, before = 0;
    for (guint32 i = 0; i < n; i++) {
        factor += (sorted[i].value - before) / (double)(n - i);
        before = sorted[i].value;
        out[sorted[i].index] = factor;
    }
}

void operation_medians(const StageOps *ops, double *out) {
    g_autofree gsize *first = g_new0(gsize, (gsize)ops->n_operations + 1);
    g_autofree double *grouped = g_new(double, ops->n_spans);
    for (gsize i = 0; i < ops->n_spans; i++) first[ops->spans[i].operation + 1]++;
    for (guint32 op = 1; op <= ops->n_operations; op++) first[op] += first[op - 1];
    g_autofree gsize *next = g_memdup2(first, sizeof *first * ((gsize)ops->n_operations + 1));
    for (gsize i = 0; i < ops->n_spans; i++) grouped[next[ops->spans[i].operation]++] = ops->spans[i].span_ms;
    for (guint32 op = 0; op < ops->n_operations; op++)
        out[op] = order_median(grouped + first[op], first[op + 1] - first[op]);
}

typedef struct Ranked {
    OpScore score;
    double span_ms;
} Ranked;

static int by_score(const void *left, const void *right) {
    const Ranked *a = left, *b = right;
    if (a->score.is_ms2 != b->score.is_ms2) return a->score.is_ms2 > b->score.is_ms2 ? -1 : 1;
    if (a->span_ms != b->span_ms) return a->span_ms > b->span_ms ? -1 : 1;
    return a->score.instance < b->score.instance ? -1 : 1;
}

OpScore *operation_scores(const StageOps *ops) {
    g_autofree double *factors = g_new0(double, ops->n_pipelines), *medians = g_new0(double, ops->n_operations);
    pipeline_factors(ops->durations_ms, ops->n_pipelines, factors);
    operation_medians(ops, medians);
    g_autofree Ranked *ranked = g_new(Ranked, ops->n_spans);
    for (gsize i = 0; i < ops->n_spans; i++) {
        const OpSpan *op = &ops->spans[i];
        const double pf = factors[op->pipeline];
        const double ss = op->span_ms / MAX(medians[op->operation], ops->resolution_ms);
        ranked[i] = (Ranked){{(guint32)i, pf, ss, pf * op->span_ms * ss}, op->span_ms};
    }
    qsort(ranked, ops->n_spans, sizeof *ranked, by_score);
    OpScore *scores = g_new(OpScore, ops->n_spans);
    for (gsize i = 0; i < ops->n_spans; i++) scores[i] = ranked[i].score;
    return scores;
}

gsize top_count(gsize n, double share) {
    /* 0.1 * 30 is 3.0000000000000004 in doubles: not four. */
    const double exact = CLAMP(share, 0, 1) * (double)n;
    const gsize count = (gsize)ceil(exact - 1e-9 * (1 + exact));
    return n == 0 ? 0 : CLAMP(count, 1, n);
}
