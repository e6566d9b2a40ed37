#include "analyzer/diagnosis/stage_pattern.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/order.h"

#define HEAVY_CV         3.0
#define NEARLY_ALL       0.95
#define DOMINATES        0.8
#define HALF             0.5
#define OF_WEIGHT        0.1
#define EVEN_CV          0.65
#define FLUCTUATES_CV    0.5
#define ALL_VARY_CV      0.25
#define PROPORTION_CV    0.35
#define ROUNDING_CV      0.01
#define MOVES_TOGETHER   0.6
#define KEEPS_STEP       0.8
#define PROPORTION_TREND 0.5

/* ---- figures ---- */

/* Of the values that are there (not NAN); how many these are. */
static guint32 mean_and_deviation(const double *values, guint32 n, guint32 step, double *mean, double *deviation) {
    double sum = 0, squares = 0;
    guint32 known = 0;
    for (guint32 i = 0; i < n; i++) {
        const double value = values[(gsize)i * step];
        if (isnan(value)) continue;
        sum += value;
        known++;
    }

    *mean = known > 0 ? sum / known : 0;
    for (guint32 i = 0; i < n; i++) {
        const double d = values[(gsize)i * step] - *mean;
        if (!isnan(d)) squares += d * d;
    }
    *deviation = known > 0 ? sqrt(squares / known) : 0;
    return known;
}

static double cv_of(double mean, double deviation) { return mean > 0 ? deviation / mean : 0; }

void stage_figures_derive(guint32 n_ops, OpFigures *ops, StageFigures *figures) {
    double sum = 0, variance = 0;
    for (guint32 j = 0; j < n_ops; j++) {
        if (ops[j].part <= 0) ops[j].part = 1;
        sum += ops[j].mean_ms * ops[j].part;
        variance += ops[j].deviation_ms * ops[j].deviation_ms;
    }
    figures->n_ops = n_ops;
    figures->ops = ops;
    figures->dominant = -1;
    for (guint32 j = 0; j < n_ops; j++) {
        OpFigures *op = &ops[j];
        op->share = sum > 0 ? op->mean_ms * op->part / sum : 0;
        op->cv = cv_of(op->mean_ms, op->deviation_ms);
        op->variance_share = variance > 0 ? op->deviation_ms * op->deviation_ms / variance : 0;
        if (op->share > 0 && (figures->dominant < 0 || op->share > ops[figures->dominant].share))
            figures->dominant = (gint)j;
    }
}

/* Correlation of n shares, 'step' apart and NAN where the pipeline has no such operation, with the pipelines' sums. */
static double trend_of(const double *shares, guint32 step, const double *sums, guint32 n) {
    g_autofree double *x = g_new(double, n), *y = g_new(double, n);
    gsize known = 0;
    for (guint32 i = 0; i < n; i++) {
        if (isnan(shares[(gsize)i * step])) continue;
        x[known] = shares[(gsize)i * step];
        y[known++] = sums[i];
    }
    const double trend = known > 0 ? order_pearson(x, y, known) : NAN;
    return isnan(trend) ? 0 : trend;
}

/* How each operation's share of its pipeline varies, and whether it goes with the pipeline's time. */
static void proportions(const double *times_ms, guint32 n_pipelines, guint32 n_ops, OpFigures *ops) {
    g_autofree double *shares = g_new0(double, (gsize)n_pipelines *n_ops);
    g_autofree double *sums = g_new0(double, n_pipelines + 1);
    guint32 n = 0; /* pipelines that took time */
    for (guint32 i = 0; i < n_pipelines; i++) {
        const double *row = times_ms + (gsize)i * n_ops;
        double sum = 0;
        for (guint32 j = 0; j < n_ops; j++) sum += isnan(row[j]) ? 0 : row[j];
        if (sum <= 0) continue;
        for (guint32 j = 0; j < n_ops; j++) shares[(gsize)n * n_ops + j] = row[j] / sum;
        sums[n++] = sum;
    }
    for (guint32 j = 0; j < n_ops && n > 0; j++) {
        double mean, deviation;
        mean_and_deviation(shares + j, n, n_ops, &mean, &deviation);
        ops[j].share_cv = cv_of(mean, deviation);
        ops[j].share_trend = trend_of(shares + j, n_ops, sums, n);
    }
}

/* Of the pipelines that have both. */
static double correlation_of(const double *times_ms, guint32 n_pipelines, guint32 n_ops, guint32 a, guint32 b) {
    g_autofree double *x = g_new(double, n_pipelines), *y = g_new(double, n_pipelines);
    gsize n = 0;
    for (guint32 i = 0; i < n_pipelines; i++) {
        const double *row = times_ms + (gsize)i * n_ops;
        if (isnan(row[a]) || isnan(row[b])) continue;
        x[n] = row[a];
        y[n++] = row[b];
    }
    return n > 0 ? order_pearson(x, y, n) : NAN;
}

/* How the time of all but the dominant operation together varies. */
static double others_cv(const double *times_ms, const StageFigures *figures) {
    g_autofree double *others = g_new0(double, figures->n_pipelines);
    for (guint32 i = 0; i < figures->n_pipelines; i++) {
        const double *row = times_ms + (gsize)i * figures->n_ops;
        for (guint32 j = 0; j < figures->n_ops; j++)
            if ((gint)j != figures->dominant && !isnan(row[j])) others[i] += row[j];
    }
    double mean, deviation;
    mean_and_deviation(others, figures->n_pipelines, 1, &mean, &deviation);
    return cv_of(mean, deviation);
}

void stage_figures(const double *times_ms, guint32 n_pipelines, guint32 n_ops, OpFigures *ops, StageFigures *figures) {
    *figures = (StageFigures){.n_pipelines = n_pipelines, .ops = ops, .n_ops = n_ops, .dominant = -1};
    figures->correlations = g_new0(double, (gsize)n_ops *n_ops);
    if (n_pipelines == 0) return;
    for (guint32 j = 0; j < n_ops; j++) {
        OpFigures *op = &ops[j];
        const guint32 n = mean_and_deviation(times_ms + j, n_pipelines, n_ops, &op->mean_ms, &op->deviation_ms);
        op->part = (double)n / n_pipelines;
    }

    stage_figures_derive(n_ops, ops, figures);
    proportions(times_ms, n_pipelines, n_ops, ops);
    for (guint32 a = 0; a < n_ops; a++)
        for (guint32 b = 0; b < n_ops; b++)
            figures->correlations[(gsize)a * n_ops + b] = correlation_of(times_ms, n_pipelines, n_ops, a, b);
    if (figures->dominant >= 0) figures->others_cv = others_cv(times_ms, figures);
}

void stage_figures_clear(StageFigures *figures) {
    g_free(figures->correlations);
    figures->correlations = NULL;
}

/* ---- rules ---- */

static gboolean takes_time(const OpFigures *op) { return op->mean_ms > 0; }

/* A heavy operation other than 'but'; only join-like ones when asked. */
static gboolean any_heavy(const StageFigures *figures, gint but, gboolean join_like) {
    for (guint32 j = 0; j < figures->n_ops; j++) {
        const OpFigures *op = &figures->ops[j];
        if ((gint)j != but && takes_time(op) && op->cv >= HEAVY_CV && (!join_like || op->join_like)) return TRUE;
    }
    return FALSE;
}

static gboolean all_vary(const StageFigures *figures) {
    for (guint32 j = 0; j < figures->n_ops; j++)
        if (takes_time(&figures->ops[j]) && figures->ops[j].cv < ALL_VARY_CV) return FALSE;
    return TRUE;
}

/* Do all operations with at least that share correlate so much? FALSE when there are fewer than two. */
static gboolean correlated(const StageFigures *figures, double share, double least) {
    guint n = 0;
    for (guint32 a = 0; a < figures->n_ops; a++) {
        if (!takes_time(&figures->ops[a]) || figures->ops[a].share < share) continue;
        n++;
        for (guint32 b = a + 1; b < figures->n_ops; b++) {
            if (!takes_time(&figures->ops[b]) || figures->ops[b].share < share) continue;
            if (!(figures->correlations[(gsize)a * figures->n_ops + b] >= least)) return FALSE;
        }
    }
    return n >= 2;
}

static gboolean keeps_proportions(const StageFigures *figures) {
    for (guint32 j = 0; j < figures->n_ops; j++) {
        const OpFigures *op = &figures->ops[j];
        if (!takes_time(op)) continue;
        /* Shares that are all but even have no trend, whatever the rounding of their last digits correlates with. */
        if (op->share_cv > PROPORTION_CV || (op->share_cv > ROUNDING_CV && fabs(op->share_trend) > PROPORTION_TREND))
            return FALSE;
    }
    return correlated(figures, 0, KEEPS_STEP);
}

static gboolean varies_at_the_end(const StageFigures *figures) {
    if (figures->n_ops < 2 || figures->ops[figures->n_ops - 1].variance_share < DOMINATES) return FALSE;
    for (guint32 j = 0; j + 1 < figures->n_ops; j++)
        if (figures->ops[j].share >= OF_WEIGHT && figures->ops[j].cv > EVEN_CV) return FALSE;
    return TRUE;
}

StagePattern stage_pattern(const StageFigures *figures) {
    if (figures->n_pipelines < 2 || figures->dominant < 0) return STAGE_PATTERN_NONE;
    const double share = figures->ops[figures->dominant].share;
    if (any_heavy(figures, -1, TRUE) && all_vary(figures)) return STAGE_PATTERN_F;
    if (share >= DOMINATES && any_heavy(figures, figures->dominant, FALSE)) return STAGE_PATTERN_E;
    if (share >= NEARLY_ALL) return STAGE_PATTERN_A;
    if (keeps_proportions(figures)) return STAGE_PATTERN_G;
    if (varies_at_the_end(figures)) return STAGE_PATTERN_C;
    if (correlated(figures, OF_WEIGHT, MOVES_TOGETHER)) return STAGE_PATTERN_D;
    if (share >= HALF && figures->others_cv >= FLUCTUATES_CV) return STAGE_PATTERN_B;
    return STAGE_PATTERN_NONE;
}

const char *stage_pattern_name(StagePattern pattern) {
    static const char *const names[] = {"none", "A", "B", "C", "D", "E", "F", "G"};
    return names[pattern];
}

const char *stage_pattern_meaning(StagePattern pattern) {
    static const char *const meanings[] = {
        "no pattern: its operations are even, or too few",
        "one operation takes nearly all of every pipeline: look at the tasks rather than at operations",
        "one operation dominates, but the others fluctuate strongly: what they wait for (disk, network) is uneven",
        "the first operations are even, the fluctuation comes from the last: look at the user's function",
        "several operations move together: they wait for the same thing",
        "one operation dominates, but single instances of small ones make whole pipelines slow",
        "single instances of an operation that joins make whole pipelines slow: repartition what is expensive",
        "all operations keep their proportions along every pipeline: the data are skewed",
    };
    return meanings[pattern];
}

gboolean operation_is_join_like(const char *class_name) {
    static const char *const beginnings[] = {"CoGrouped", "ZippedPartitions", "Cartesian", "ZippedWith", "Subtracted"};
    const char *simple = class_name != NULL ? strrchr(class_name, '.') : NULL;
    simple = simple != NULL ? simple + 1 : class_name;
    for (guint i = 0; i < G_N_ELEMENTS(beginnings) && simple != NULL; i++)
        if (g_str_has_prefix(simple, beginnings[i])) return TRUE;
    return FALSE;
}
