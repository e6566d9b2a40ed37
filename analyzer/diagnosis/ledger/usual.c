#include "analyzer/diagnosis/ledger/usual.h"

#include <math.h>

#include "analyzer/diagnosis/ledger/robust.h"
#include "analyzer/diagnosis/order.h"
#include "analyzer/diagnosis/student.h"
#include "common/base/allowance.h"

#define NS_PER_MS_REAL 1e6
/* What is looked at of a stage: all pairs of points. */
#define WORK_BYTES (SLOPE_POINTS * SLOPE_POINTS * sizeof(double))
/* Amounts that differ by less tell nothing of what an amount costs. */
#define DIFFERENT 0.1

/* The stage's normal tasks whose times are known, by duration. */
typedef struct Normals {
    OrderItem *items; /* value: duration in ms; index: row */
    guint32 n;
} Normals;

static gboolean is_normal(const TaskTable *table, const StageTasks *stage, const Stragglers *stragglers, guint32 row,
                          guint32 *next) {
    const guint32 end = stage->first_straggler + stage->n_stragglers;
    const gboolean straggles = *next < end && stragglers->list[*next].task == row;
    *next += straggles; /* stragglers come in the order of the tasks */
    return !straggles && (table->flags[row] & ROW_COUNTED);
}

static Normals normals_of(const TaskTable *table, const Stragglers *stragglers, const LedgerTimes *times,
                          const StageTasks *stage, LedgerTraced traced) {
    Normals normals = {g_new(OrderItem, (gsize)stage->n + 1), 0};
    g_autofree OrderItem *scratch = g_new(OrderItem, (gsize)stage->n + 1);
    guint32 next = stage->first_straggler;
    for (guint32 i = 0; i < stage->n; i++) {
        const guint32 row = stragglers->order[stage->first + i];
        if (!is_normal(table, stage, stragglers, row, &next)) continue;
        const TaskTimes *its = ledger_times_at(times, row);
        if (its && task_times_traced(its) >= traced)
            normals.items[normals.n++] = (OrderItem){task_duration_ms(table, row), row};
    }
    order_sort(normals.items, scratch, normals.n);
    return normals;
}

static gint64 ns_of(double ms) {
    const double ns = ms * NS_PER_MS_REAL;
    return ns < (double)G_MAXINT64 ? (gint64)llround(ns) : G_MAXINT64;
}

static void set_parts(StageUsual *usual, const LedgerTimes *times, const Normals *normals, LedgerTraced traced) {
    double sums[LEDGER_PART_COUNT] = {0}, whole = 0;
    const guint32 cut = normals->n / 4;
    for (guint32 i = cut; i < normals->n - cut; i++) {
        gint64 parts_ns[LEDGER_PART_COUNT];
        ledger_split(ledger_times_at(times, normals->items[i].index), ns_of(normals->items[i].value), traced, parts_ns);
        for (guint k = 0; k < LEDGER_PART_COUNT; k++) sums[k] += (double)parts_ns[k];
        whole += normals->items[i].value * NS_PER_MS_REAL;
    }

    gint64 left_ns = usual->duration_ns;
    for (guint k = 0; k < LEDGER_UNEXPLAINED; k++) {
        const double part_ns = whole > 0 ? floor(sums[k] / whole * (double)usual->duration_ns) : 0;
        usual->parts_ns[k] = MIN((gint64)part_ns, left_ns);
        left_ns -= usual->parts_ns[k];
    }
    usual->parts_ns[LEDGER_UNEXPLAINED] = left_ns;
}

/* ---- how much accounts vary ---- */

/* The time at that rank of n, from 1. */
static double ranked(const double *times, guint32 n, double rank) {
    return order_quantile(times, n, (rank - 1) / MAX(n - 1, 1));
}

/* Up to here a normal task may have of an account, of which two normal tasks or more have these times, in any order. */
static double account_bound(const double *times, guint32 n, double least) {
    if (n >= USUAL_RANKED) return ranked(times, n, ceil(USUAL_LEVEL * (n + 1)));
    g_autofree double *logs = g_new(double, (gsize)n + 1);
    for (guint32 i = 0; i < n; i++) logs[i] = log(times[i] + least);
    const double width = student_quantile(USUAL_LEVEL_NORMAL, n - 1) * robust_spread(logs, n) * sqrt(1 + 1.0 / n);
    return MAX(ranked(times, n, n - 1), exp(order_median(logs, n) + width) - least);
}

static void set_varies(StageUsual *usual, const LedgerTimes *times, const Normals *normals, LedgerTraced traced) {
    const gsize n = normals->n;
    const double least = MAX(NS_PER_MS_REAL, USUAL_TIME_LEAST * (double)usual->duration_ns);
    g_autofree double *all = g_new(double, n *ACCOUNT_COUNT); /* those of one account together */
    gint64 parts_ns[LEDGER_PART_COUNT], its_ns[ACCOUNT_COUNT];
    for (guint32 i = 0; i < n; i++) {
        ledger_split(ledger_times_at(times, normals->items[i].index), ns_of(normals->items[i].value), traced, parts_ns);
        ledger_accounts(parts_ns, its_ns);
        for (guint k = 0; k < ACCOUNT_COUNT; k++) all[k * n + i] = (double)its_ns[k];
    }

    ledger_accounts(usual->parts_ns, its_ns);
    for (guint k = ACCOUNT_DATA + 1; k < ACCOUNT_COUNT; k++) {
        usual->varies_ns[k] = USUAL_ANYTHING;
        if (n < 2) continue;
        const gint64 bound_ns = ns_of(account_bound(all + k * n, normals->n, least) / NS_PER_MS_REAL);
        usual->varies_ns[k] = MAX(0, bound_ns - its_ns[k]);
    }
}

/* ---- the line ---- */

static double amount_of(const StageUsual *usual, const TaskTimes *times) {
    return usual->by_records ? times->records : times->bytes;
}

/* The median of what is known; 0 when that is nothing. */
static double usual_amount(const StageUsual *usual, const LedgerTimes *times, const Normals *normals) {
    g_autofree double *known = g_new(double, (gsize)normals->n + 1);
    guint32 n = 0;
    for (guint32 i = 0; i < normals->n; i++) {
        const double amount = amount_of(usual, ledger_times_at(times, normals->items[i].index));
        if (isfinite(amount)) known[n++] = amount;
    }
    return MAX(0, order_median(known, n));
}

static void set_deviation(StageUsual *usual, double *amounts, double *durations, guint32 n) {
    for (guint32 i = 0; i < n; i++) usual->middle += amounts[i] / n;
    for (guint32 i = 0; i < n; i++) {
        const double away = amounts[i] - usual->middle;
        usual->spread += away * away;
        durations[i] -= usual->ns_per_unit * (amounts[i] - usual->amount);
    }
    usual->deviation_ns = robust_deviation(durations, n);
}

static void set_line(StageUsual *usual, const LedgerTimes *times, const Normals *normals) {
    usual->amount = usual_amount(usual, times, normals);
    if (usual->amount <= 0) {
        usual->by_records = TRUE;
        usual->amount = usual_amount(usual, times, normals);
    }
    if (usual->amount <= 0) return;

    g_autofree double *amounts = g_new(double, (gsize)normals->n + 1);
    g_autofree double *durations = g_new(double, (gsize)normals->n + 1);
    guint32 n = 0;
    for (guint32 i = 0; i < normals->n; i++) {
        const double amount = amount_of(usual, ledger_times_at(times, normals->items[i].index));
        if (!isfinite(amount)) continue;
        amounts[n] = amount;
        durations[n++] = normals->items[i].value * NS_PER_MS_REAL;
    }

    const double proportion = (double)usual->duration_ns / usual->amount;
    double low, high;
    slope_interval((Points){amounts, durations, n}, DIFFERENT * usual->amount, &low, &high);
    usual->ns_per_unit = CLAMP(MIN(proportion, high), 0, proportion);
    set_deviation(usual, amounts, durations, n);
}

StageUsual stage_usual(const TaskTable *table, const Stragglers *stragglers, const LedgerTimes *times, guint32 stage,
                       LedgerTraced traced) {
    const StageTasks *tasks = &stragglers->stages[stage];
    if (!allowance_goes_on_with(WORK_BYTES)) return (StageUsual){.duration_ns = ns_of(tasks->median_ms)};
    const Normals normals = normals_of(table, stragglers, times, tasks, traced);
    StageUsual usual = {.n = normals.n, .duration_ns = ns_of(tasks->median_ms)};
    set_parts(&usual, times, &normals, traced);
    if (normals.n > 0) {
        set_varies(&usual, times, &normals, traced);
        set_line(&usual, times, &normals);
    }
    g_free(normals.items);
    return usual;
}

gint64 usual_more_ns(const StageUsual *usual, const TaskTimes *times) {
    const double more = amount_of(usual, times) - usual->amount;
    if (usual->amount <= 0 || !(more > 0)) return 0;
    const double ns = more * usual->ns_per_unit;
    return ns < (double)(G_MAXINT64 / 4) ? (gint64)ns : G_MAXINT64 / 4;
}

gint64 usual_bound_ns(const StageUsual *usual, const TaskTimes *times) {
    const double away = amount_of(usual, times) - usual->middle;
    if (usual->amount <= 0 || !isfinite(away)) return 0;
    const double far = usual->spread > 0 ? away * away / usual->spread : 0;
    const double width_ns = USUAL_BOUND * usual->deviation_ns * sqrt(1 + 1.0 / usual->n + far);
    const double bound_ns = (double)usual->duration_ns + (double)usual_more_ns(usual, times) + width_ns;
    return bound_ns < (double)G_MAXINT64 ? (gint64)bound_ns : G_MAXINT64;
}
