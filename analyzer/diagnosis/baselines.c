#include "analyzer/diagnosis/baselines.h"

#include <math.h>

#include "analyzer/diagnosis/order.h"
#include "analyzer/diagnosis/scale.h"

static GArray *blames_new(void) { return g_array_new(FALSE, FALSE, sizeof(Blame)); }

/* ---- PCC ---- */

PccOptions pcc_options(void) { return (PccOptions){.lambda_ca = 0.30, .lambda_cq = 0.9, .whole_application = FALSE}; }

/* The counted tasks among rows that have a value: their values and durations side by side. */
typedef struct Pairs {
    double *values, *durations;
    gsize n;
} Pairs;

static void pairs_clear(Pairs *pairs) {
    g_free(pairs->values);
    g_free(pairs->durations);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pairs, pairs_clear)

static Pairs pairs_of(const TaskTable *table, const guint32 *rows, guint32 n, const double *values) {
    Pairs pairs = {g_new(double, n), g_new(double, n), 0};
    for (guint32 i = 0; i < n; i++) {
        if (!(table->flags[rows[i]] & ROW_COUNTED) || isnan(values[rows[i]])) continue;
        pairs.values[pairs.n] = values[rows[i]];
        pairs.durations[pairs.n++] = task_duration_ms(table, rows[i]);
    }
    return pairs;
}

typedef struct Pcc {
    const TaskTable *table;
    const Stragglers *stragglers;
    const PccOptions *options;
    GArray *found;
} Pcc;

/* The stragglers list[first..first + n), against what the rows tell. */
static void pcc_group(Pcc *pcc, guint feature, const double *values, const StageTasks *group) {
    if (group->n_stragglers == 0) return;
    g_auto(Pairs) pairs = pairs_of(pcc->table, pcc->stragglers->order + group->first, group->n, values);
    const double correlation = order_pearson(pairs.values, pairs.durations, pairs.n);
    if (!(fabs(correlation) > pcc->options->lambda_ca)) return;
    const double bound = order_quantile(pairs.values, pairs.n, pcc->options->lambda_cq);
    for (guint32 i = 0; i < group->n_stragglers; i++) {
        const guint32 straggler = group->first_straggler + i, task = pcc->stragglers->list[straggler].task;
        if (!order_above(values[task], bound)) continue;
        const double raw = task_feature(pcc->table, feature)->values[task];
        const Blame blame = {straggler, (gint16)feature, raw, values[task], bound, correlation};
        g_array_append_val(pcc->found, blame);
    }
}

GArray *pcc_run(const TaskTable *table, const Stragglers *stragglers, const PccOptions *options) {
    Pcc pcc = {table, stragglers, options, blames_new()};
    const StageTasks all = {.n = table->count, .n_stragglers = stragglers->count};
    for (guint f = 0; f < table->features->len; f++) {
        g_autofree double *values = feature_scaled(table, stragglers, f);
        if (options->whole_application) pcc_group(&pcc, f, values, &all);
        for (guint32 s = 0; s < stragglers->n_stages && !options->whole_application; s++)
            pcc_group(&pcc, f, values, &stragglers->stages[s]);
    }
    return pcc.found;
}

/* ---- Mantri ---- */

static double stage_median(const TaskTable *table, const Stragglers *stragglers, const StageTasks *stage,
                           const double *values) {
    g_auto(Pairs) pairs = pairs_of(table, stragglers->order + stage->first, stage->n, values);
    return pairs.n > 0 ? order_median(pairs.values, pairs.n) : NAN;
}

/* The machine's resources in a stage: medians of the processor's and the disk's features. */
typedef struct Machine {
    guint features[2];
    double medians[2];
    guint n;
} Machine;

static Machine machine_of(const TaskTable *table, const Stragglers *stragglers, const StageTasks *stage) {
    Machine machine = {.n = 0};
    for (guint f = 0; f < table->features->len && machine.n < G_N_ELEMENTS(machine.features); f++) {
        const Feature *feature = task_feature(table, f);
        if (feature->kind != FEATURE_RESOURCE || (feature->topic != TOPIC_CPU && feature->topic != TOPIC_DISK))
            continue;
        machine.features[machine.n] = f;
        machine.medians[machine.n++] = stage_median(table, stragglers, stage, feature->values);
    }
    return machine;
}

static Blame blame_machine(const TaskTable *table, const Machine *machine, guint32 task) {
    Blame blame = {.feature = BLAME_MACHINE, .raw = NAN, .value = NAN, .bound = NAN, .correlation = NAN};
    double most = 0;
    for (guint i = 0; i < machine->n; i++) {
        const double value = task_feature(table, machine->features[i])->values[task];
        const double bound = machine->medians[i] * STRAGGLER_RATIO;
        if (!(value > 0) || !(value >= bound)) continue;
        const double times = bound > 0 ? value / bound : HUGE_VAL;
        if (times <= most) continue;
        most = times;
        blame = (Blame){0, (gint16)machine->features[i], value, value, bound, NAN};
    }
    return blame;
}

static gboolean blame_amount(const double *amounts, guint32 task, double median, Blame *blame) {
    const double bound = median * STRAGGLER_RATIO;
    if (!(amounts[task] > 0) || !(amounts[task] >= bound)) return FALSE;
    blame->raw = blame->value = amounts[task];
    blame->bound = bound;
    return TRUE;
}

GArray *mantri_run(const TaskTable *table, const Stragglers *stragglers, const MantriAmounts *amounts) {
    GArray *found = blames_new();

    for (guint32 s = 0; s < stragglers->n_stages; s++) {
        const StageTasks *stage = &stragglers->stages[s];
        if (stage->n_stragglers == 0) continue;

        const double read = stage_median(table, stragglers, stage, amounts->read_bytes);
        const double afar = stage_median(table, stragglers, stage, amounts->cross_rack_bytes);
        const Machine machine = machine_of(table, stragglers, stage);

        for (guint32 i = 0; i < stage->n_stragglers; i++) {
            const guint32 straggler = stage->first_straggler + i, task = stragglers->list[straggler].task;
            Blame blame = {.feature = (gint16)amounts->read_feature, .correlation = NAN};
            if (!blame_amount(amounts->read_bytes, task, read, &blame)) {
                blame.feature = (gint16)amounts->cross_rack_feature;
                if (!blame_amount(amounts->cross_rack_bytes, task, afar, &blame))
                    blame = blame_machine(table, &machine, task);
            }

            blame.straggler = straggler;
            g_array_append_val(found, blame);
        }
    }

    return found;
}

/* ---- Xue ---- */

static gboolean seen_by_xue(FeatureTopic topic) {
    return topic == TOPIC_DATA || topic == TOPIC_SPILL || topic == TOPIC_JVM || topic == TOPIC_CPU ||
           topic == TOPIC_DISK;
}

static void xue_feature(const TaskTable *table, const Stragglers *stragglers, guint feature, GArray *found) {
    g_autofree double *values = feature_scaled(table, stragglers, feature);
    g_autofree guint8 *straggles = g_new0(guint8, table->count);
    g_autofree double *known = g_new(double, table->count), *slow = g_new(double, table->count);
    for (guint32 i = 0; i < stragglers->count; i++) straggles[stragglers->list[i].task] = 1;

    gsize n = 0;
    double sum = 0;
    for (guint32 i = 0; i < table->count; i++) {
        if (!(table->flags[i] & ROW_COUNTED) || isnan(values[i])) continue;
        known[n] = values[i];
        slow[n++] = straggles[i];
        sum += values[i];
    }

    const double correlation = order_pearson(known, slow, n);
    if (!(correlation > XUE_CORRELATION)) return;

    const double mean = sum / (double)n;
    for (guint32 i = 0; i < stragglers->count; i++) {
        const guint32 task = stragglers->list[i].task;
        if (!order_above(values[task], mean)) continue;
        const double raw = task_feature(table, feature)->values[task];
        const Blame blame = {i, (gint16)feature, raw, values[task], mean, correlation};
        g_array_append_val(found, blame);
    }
}

GArray *xue_run(const TaskTable *table, const Stragglers *stragglers) {
    GArray *found = blames_new();
    for (guint f = 0; f < table->features->len; f++) {
        const Feature *feature = task_feature(table, f);
        if (feature->kind != FEATURE_DISCRETE && seen_by_xue(feature->topic)) xue_feature(table, stragglers, f, found);
    }
    return found;
}
