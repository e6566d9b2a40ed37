#include "analyzer/diagnosis/accuracy.h"

#include <math.h>

#include "analyzer/diagnosis/order.h"
#include "analyzer/diagnosis/scale.h"

/* ---- what was, what was said ---- */

guint32 *accuracy_truth(const TaskTable *table, const Stragglers *stragglers, const Injection *injections, gsize n) {
    guint32 *truth = g_new0(guint32, stragglers->count);
    for (guint32 i = 0; i < stragglers->count; i++) {
        const guint32 task = stragglers->list[i].task;
        for (gsize k = 0; k < n; k++) {
            const Injection *injection = &injections[k];
            if (injection->host == table->host[task] && table->begin_ms[task] < injection->end_ms &&
                table->end_ms[task] > injection->begin_ms)
                truth[i] |= TOPIC_BIT(injection->topic);
        }
    }
    return truth;
}

guint32 *accuracy_evidence(const TaskTable *table, const Stragglers *stragglers, const GArray *evidence) {
    guint32 *said = g_new0(guint32, stragglers->count);
    for (guint i = 0; i < evidence->len; i++) {
        const Evidence *item = &g_array_index(evidence, Evidence, i);
        if (item->verdict == VERDICT_CAUSE)
            said[item->straggler] |= TOPIC_BIT(task_feature(table, item->feature)->topic);
    }
    return said;
}

guint32 *accuracy_blames(const TaskTable *table, const Stragglers *stragglers, const GArray *blames) {
    guint32 *said = g_new0(guint32, stragglers->count);
    for (guint i = 0; i < blames->len; i++) {
        const Blame *blame = &g_array_index(blames, Blame, i);
        if (blame->feature >= 0) said[blame->straggler] |= TOPIC_BIT(task_feature(table, (guint)blame->feature)->topic);
    }
    return said;
}

/* ---- figures ---- */

Confusion accuracy_count(const guint32 *truth, const guint32 *said, guint32 n, guint32 topics) {
    Confusion counts = {0};
    for (guint32 i = 0; i < n; i++) {
        const guint32 was = truth[i] & topics, told = said[i] & topics;
        counts.tp += (guint)__builtin_popcount(was & told);
        counts.fp += (guint)__builtin_popcount(told & ~was);
        counts.fn += (guint)__builtin_popcount(was & ~told);
        counts.tn += (guint)__builtin_popcount(topics & ~was & ~told);
    }
    return counts;
}

static double share(guint64 part, guint64 rest) { return part + rest > 0 ? (double)part / (double)(part + rest) : NAN; }

double confusion_tpr(const Confusion *counts) { return share(counts->tp, counts->fn); }
double confusion_fpr(const Confusion *counts) { return share(counts->fp, counts->tn); }
double confusion_acc(const Confusion *counts) { return share(counts->tp + counts->tn, counts->fp + counts->fn); }

/* ---- search ---- */

static gboolean is_judged(const AccuracyCase *judged, guint feature) {
    return judged->topics & TOPIC_BIT(task_feature(judged->table, feature)->topic);
}

/* For each feature the quantile of the application; features that are not judged are left alone. */
static void set_quantiles(const AccuracyCase *judged, double **known, const gsize *n_known, double q,
                          double *quantiles) {
    for (guint f = 0; f < judged->table->features->len; f++)
        if (known[f] != NULL) quantiles[f] = order_quantile(known[f], n_known[f], q);
}

static void add_point(const AccuracyCase *judged, const guint32 *said, double p, double q, GArray *points) {
    const SearchPoint point = {p, q, accuracy_count(judged->truth, said, judged->stragglers->count, judged->topics)};
    g_array_append_val(points, point);
}

static void try_bigroots(const AccuracyCase *judged, GArray *evidence, const BigRootsOptions *options,
                         const double *quantiles, guint32 *said) {
    for (guint32 i = 0; i < judged->stragglers->count; i++) said[i] = 0;
    for (guint i = 0; i < evidence->len; i++) {
        Evidence *item = &g_array_index(evidence, Evidence, i);
        const Feature *feature = task_feature(judged->table, item->feature);
        if (!(judged->topics & TOPIC_BIT(feature->topic))) continue;
        item->quantile = quantiles[item->feature];
        if (bigroots_decide(item, feature->kind, options) == VERDICT_CAUSE)
            said[item->straggler] |= TOPIC_BIT(feature->topic);
    }
}

/* Known values of each judged feature; NULL for the others. */
static double **known_values(const AccuracyCase *judged, gsize *n_known) {
    const guint n = judged->table->features->len;
    double **known = g_new0(double *, n + 1);
    for (guint f = 0; f < n; f++) {
        if (!is_judged(judged, f)) continue;
        g_autofree double *values = feature_scaled(judged->table, judged->stragglers, f);
        known[f] = feature_known(judged->table, values, &n_known[f]);
    }
    return known;
}

static void known_free(double **known, guint n) {
    for (guint f = 0; f < n; f++) g_free(known[f]);
    g_free(known);
}

GArray *accuracy_search_bigroots(const AccuracyCase *judged, const BigRootsOptions *options) {
    const guint n = judged->table->features->len;
    BigRootsOptions tried = *options;
    tried.keep = KEEP_ALL;
    g_autoptr(GArray) evidence = bigroots_run(judged->table, judged->stragglers, &tried);

    g_autofree gsize *n_known = g_new0(gsize, n + 1);
    g_autofree double *quantiles = g_new0(double, n + 1);
    g_autofree guint32 *said = g_new0(guint32, judged->stragglers->count);
    double **known = known_values(judged, n_known);

    GArray *points = g_array_new(FALSE, FALSE, sizeof(SearchPoint));
    for (guint q = 1; q <= 10; q++) {
        tried.lambda_q = q / 10.0;
        set_quantiles(judged, known, n_known, tried.lambda_q, quantiles);
        for (guint p = 0; p <= 20; p++) {
            tried.lambda_p = p / 5.0;
            try_bigroots(judged, evidence, &tried, quantiles, said);
            add_point(judged, said, tried.lambda_p, tried.lambda_q, points);
        }
    }

    known_free(known, n);
    return points;
}

GArray *accuracy_search_pcc(const AccuracyCase *judged) {
    GArray *points = g_array_new(FALSE, FALSE, sizeof(SearchPoint));
    for (guint a = 0; a <= 20; a++) {
        for (guint q = 0; q <= 10; q++) {
            const PccOptions options = {.lambda_ca = a / 20.0, .lambda_cq = q / 10.0};
            g_autoptr(GArray) blames = pcc_run(judged->table, judged->stragglers, &options);
            g_autofree guint32 *said = accuracy_blames(judged->table, judged->stragglers, blames);
            add_point(judged, said, options.lambda_ca, options.lambda_cq, points);
        }
    }
    return points;
}

static double or_zero(double value) { return isnan(value) ? 0 : value; }

const SearchPoint *accuracy_best(const GArray *points) {
    const SearchPoint *best = NULL;
    double best_score = -HUGE_VAL, best_fpr = HUGE_VAL;
    for (guint i = 0; i < points->len; i++) {
        const SearchPoint *point = &g_array_index(points, SearchPoint, i);
        const double fpr = or_zero(confusion_fpr(&point->counts));
        const double score = or_zero(confusion_tpr(&point->counts)) + 1 - fpr;
        if (score < best_score || (score == best_score && fpr >= best_fpr)) continue;
        best = point;
        best_score = score;
        best_fpr = fpr;
    }
    return best;
}

double accuracy_auc(const GArray *points) {
    g_autofree OrderItem *sorted = g_new(OrderItem, points->len), *scratch = g_new(OrderItem, points->len);
    for (guint i = 0; i < points->len; i++)
        sorted[i] = (OrderItem){or_zero(confusion_fpr(&g_array_index(points, SearchPoint, i).counts)), i};
    order_sort(sorted, scratch, points->len);
    double area = 0, fpr = 0, tpr = 0;
    for (guint i = 0; i < points->len; i++) {
        const SearchPoint *point = &g_array_index(points, SearchPoint, sorted[i].index);
        const double next = MAX(tpr, or_zero(confusion_tpr(&point->counts)));
        area += (sorted[i].value - fpr) * (tpr + next) / 2;
        fpr = sorted[i].value;
        tpr = next;
    }
    return area + (1 - fpr) * (tpr + 1) / 2;
}
