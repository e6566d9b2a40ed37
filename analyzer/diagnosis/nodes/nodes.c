#include "analyzer/diagnosis/nodes/nodes.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/nodes/consequences.h"
#include "analyzer/diagnosis/nodes/losses.h"
#include "analyzer/diagnosis/nodes/median.h"
#include "analyzer/diagnosis/nodes/onset.h"
#include "analyzer/diagnosis/nodes/other_methods.h"
#include "analyzer/diagnosis/nodes/silence.h"
#include "common/base/allowance.h"

/* The model is learned again when there are so many times as many windows. */
#define LEARN_AGAIN 1.5

/* ---- the model ---- */

static NodesReport *report_new(const NodeGrid *grid) {
    const gsize n = MAX(grid_size(grid), 1);
    NodesReport *report = g_new0(NodesReport, 1);
    report->grid = grid;
    report->used = g_malloc(n);
    memset(report->used, 1, n);
    for (guint m = 0; m < MEASURES; m++) {
        report->polish[m] = polish_new(grid, (NodeMeasure)m);
        report->residuals.of[m] = g_new(float, n);
        set_nan(report->residuals.of[m], n);
    }
    report->residuals.alone = g_malloc0(n);
    report->residuals.used = report->used;
    report->residuals.all_ill = g_malloc0((gsize)WORK_CLASSES * MAX(grid->n_windows, 1));
    report->spells = g_array_new(FALSE, FALSE, sizeof(Spell));
    return report;
}

void nodes_report_free(NodesReport *report) {
    if (!report) return;
    for (guint m = 0; m < MEASURES; m++) {
        polish_free(report->polish[m]);
        g_free(report->residuals.of[m]);
    }
    g_free(report->residuals.alone);
    g_free(report->residuals.blamed);
    g_free(report->residuals.all_ill);
    g_free(report->used);
    all_series_free(report->all);
    g_array_unref(report->spells);
    g_free(report);
}

/* What was suspected is not learned. */
static void leave_out(NodesReport *report, const Spell *spell) {
    const NodeGrid *grid = report->grid;
    if (spell->node >= grid->n_nodes) {
        memset(report->residuals.all_ill + spell->class * grid->n_windows + spell->first, 1,
               spell->last - spell->first + 1);
        return;
    }
    const guint32 end = grid->by_node.start[spell->node + 1];
    for (guint32 at = grid->by_node.start[spell->node]; at < end && allowance_goes_on(); at++) {
        const guint32 i = grid->by_node.order[at];
        const Observation *observation = grid_at(grid, i);
        if (observation->window < spell->first || observation->window > spell->last) continue;
        if (grid_class(grid, observation->job) == spell->class) report->used[i] = FALSE;
    }
}

/* Judges the windows before 'end' by what was learned of those before 'until'. */
static void judge(NodesReport *report, guint32 until, guint32 end, gboolean blamed) {
    all_series_free(report->all);
    report->all = all_series_new(report->grid, &report->residuals, blamed ? NULL : report->polish, end);
    g_array_set_size(report->spells, 0);
    for (guint i = 0; i < report->all->series->len && allowance_goes_on(); i++)
        series_judge(report->all, &g_array_index(report->all->series, ClassSeries, i), until, blamed, report->spells);
}

static void learn(NodesReport *report, guint32 since) {
    const NodeGrid *grid = report->grid;
    guint32 until = MIN(MAX(since, LEARN_LEAST), grid->n_windows), end = 0;

    do {
        end = MIN(grid->n_windows, MAX(until + 1, (guint32)(until * LEARN_AGAIN)));
        for (guint m = 0; m < MEASURES; m++) {
            polish_fit(report->polish[m], grid, report->used, until);
            /* Again of those that were judged before: what was learned since tells them better. */
            polish_residuals(report->polish[m], grid, end, report->residuals.of[m], report->residuals.alone);
        }

        judge(report, until, end, FALSE);
        memset(report->used, 1, grid_size(grid));
        memset(report->residuals.all_ill, 0, (gsize)WORK_CLASSES * grid->n_windows);
        for (guint i = 0; i < report->spells->len; i++) leave_out(report, &g_array_index(report->spells, Spell, i));

        report->learned = until;
        until = end;
    } while (end < grid->n_windows && allowance_goes_on());
}

/* ---- the whole ---- */

static void find_begins(NodesReport *report, NodesMethod method) {
    for (guint i = 0; i < report->spells->len && allowance_goes_on(); i++) {
        Spell *spell = &g_array_index(report->spells, Spell, i);
        spell->begin_ns = grid_window_ns(report->grid, spell->first);
        if (method == NODES_OURS) onset_find(report->grid, &report->residuals, report->polish, spell);
    }
}

/* Causes before what follows from them, and before what the own load explains; then by what they cost. */
static gint by_cost(gconstpointer left, gconstpointer right, gpointer unused) {
    const Spell *a = left, *b = right;
    (void)unused;
    const guint a_rank = (a->busy ? 2u : 0) + (a->part_of != WORK_NONE),
                b_rank = (b->busy ? 2u : 0) + (b->part_of != WORK_NONE);
    if (a_rank != b_rank) return a_rank < b_rank ? -1 : 1;
    if (a->open != b->open) return a->open ? -1 : 1;
    if (a->lost_critical_ns != b->lost_critical_ns) return a->lost_critical_ns > b->lost_critical_ns ? -1 : 1;
    if (a->lost_ns != b->lost_ns) return a->lost_ns > b->lost_ns ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

NodesReport *nodes_judge(const NodeGrid *grid, NodesMethod method, guint32 since) {
    NodesReport *report = report_new(grid);
    learn(report, since);

    if (method != NODES_OURS) {
        report->residuals.blamed = g_malloc0(MAX(grid_size(grid), 1));
        if (method == NODES_PAPER)
            method_paper(grid, MIN(MAX(since, LEARN_LEAST), grid->n_windows), &report->residuals);
        else
            method_peers(grid, &report->residuals);
        judge(report, report->learned, grid->n_windows, TRUE);
    }
    find_begins(report, method);
    if (method == NODES_OURS) {
        silence_find(grid, report->spells);
        losses_drop_nodes(grid, report->spells);
        consequences_find(report->spells, grid->n_nodes);
        losses_drop(grid, report->spells);
    }

    allowance_sort(report->spells->data, report->spells->len, sizeof(Spell), by_cost, NULL);
    return report;
}

/* ---- constants ---- */

static float calls_of(const NodeGrid *grid, guint32 cell) {
    float calls = 0;
    for (guint32 at = grid->by_cell.start[cell]; at < grid->by_cell.start[cell + 1]; at++)
        calls += (float)grid_at(grid, grid->by_cell.order[at])->calls;
    return calls;
}

/* What most nodes take for a job, ln. NAN: too few know it. */
static double usual_constant(const NodesReport *report, guint32 job, float *scratch) {
    const guint32 n_nodes = report->grid->n_nodes;
    const float *of_job = report->polish[MEASURE_MEAN]->node + (gsize)job * n_nodes;
    gsize n = 0;
    for (guint32 node = 0; node < n_nodes && allowance_goes_on(); node++)
        if (!isnan(of_job[node])) scratch[n++] = of_job[node];
    return n >= POLISH_PEERS ? median_of(scratch, n) : NAN;
}

typedef struct UsualJob {
    guint32 job;
    double constant;
} UsualJob;

void node_constants(const NodesReport *report, WorkClass class, double *constants) {
    const NodeGrid *grid = report->grid;
    g_autofree float *scratch = g_new(float, MAX(grid->n_nodes, 1));
    g_autofree UsualJob *usual = g_new(UsualJob, MAX(grid->n_jobs, 1));
    g_autofree WeightedValue *values = g_new(WeightedValue, MAX(grid->n_jobs, 1));
    guint32 n_usual = 0;
    for (guint32 job = 0; job < grid->n_jobs && allowance_goes_on(); job++) {
        const double constant = grid_class(grid, job) == class ? usual_constant(report, job, scratch) : NAN;
        if (!isnan(constant)) usual[n_usual++] = (UsualJob){job, constant};
    }

    for (guint32 node = 0; node < grid->n_nodes; node++) {
        gsize n = 0;
        for (guint32 i = 0; i < n_usual && allowance_goes_on(); i++) {
            const guint32 cell = usual[i].job * grid->n_nodes + node;
            const float constant = report->polish[MEASURE_MEAN]->node[cell];
            if (isnan(constant)) continue;
            values[n++] = (WeightedValue){(float)(constant - usual[i].constant), calls_of(grid, cell)};
        }
        constants[node] = allowance_goes_on() ? exp(median_weighted(values, n)) : NAN;
    }
}
