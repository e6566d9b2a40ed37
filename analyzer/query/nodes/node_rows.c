#include "analyzer/query/nodes/node_rows.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/failing.h"
#include "analyzer/diagnosis/nodes/median.h"
#include "analyzer/query/nodes/spell_rows.h"
#include "common/base/allowance.h"

/* How a node is now: the median of so many windows. */
#define WINDOWS_NOW 5u

typedef struct NodeRow {
    const ClassSeries *series;
    const Spell *spell; /* that has not ended; NULL: none */
    double slowdown, z;
    guint64 calls;
    gboolean judged;
} NodeRow;

static const Spell *open_spell(const NodesReport *report, const ClassSeries *series) {
    for (guint i = 0; i < report->spells->len && allowance_goes_on(); i++) {
        const Spell *spell = &g_array_index(report->spells, Spell, i);
        if (spell->open && spell->node == series->node && spell->class == series->class) return spell;
    }
    return NULL;
}

static NodeRow row_of(const Cluster *cluster, const NodesReport *report, const ClassSeries *series) {
    const ClassWindow *windows = series_windows(report->all, series);
    const Usual usual = usual_of(report->all, series, report->learned);
    const guint32 first = series->n > WINDOWS_NOW ? series->n - WINDOWS_NOW : 0;
    float now[WINDOWS_NOW], deviations[WINDOWS_NOW];
    NodeRow row = {.series = series, .spell = open_spell(report, series), .judged = usual.known};

    for (guint32 i = first; i < series->n; i++) {
        now[i - first] = windows[i].residual[MEASURE_MEAN];
        deviations[i - first] = row.judged ? (float)usual_z(&usual, &windows[i], MEASURE_MEAN) : 0;
    }
    row.slowdown = exp(median_of(now, series->n - first));
    row.z = median_of(deviations, series->n - first);

    for (guint32 i = 0; i < series->n; i++)
        if (windows[i].last >= cluster->since) row.calls += windows[i].calls;
    return row;
}

static gint by_slowdown(gconstpointer left, gconstpointer right, gpointer unused) {
    const NodeRow *a = left, *b = right;
    (void)unused;
    const gboolean a_ill = a->spell && spell_suspects(a->spell), b_ill = b->spell && spell_suspects(b->spell);
    if (a_ill != b_ill) return a_ill ? -1 : 1;
    if (a->slowdown != b->slowdown) return a->slowdown > b->slowdown ? -1 : 1;
    if (a->series->node != b->series->node) return a->series->node < b->series->node ? -1 : 1;
    return (a->series->class > b->series->class) - (a->series->class < b->series->class);
}

const char *node_state_name(NodeState state) {
    static const char *const names[] = {"learning", "well", "busier", "follows", "suspected"};
    G_STATIC_ASSERT(G_N_ELEMENTS(names) == NODE_STATES);
    return names[state];
}

static NodeState state_of(const NodeRow *row) {
    if (!row->judged) return NODE_LEARNING;
    if (!row->spell) return NODE_WELL;
    return row->spell->busy ? NODE_BUSIER : row->spell->part_of != WORK_NONE ? NODE_FOLLOWS : NODE_SUSPECTED;
}

/* What is known of each node beside its windows: by class, then node. */
typedef struct NodeFacts {
    double *constants;
    FailedShare *failed;
} NodeFacts;

static json_t *row_json(const Cluster *cluster, const NodeRow *row, const NodeFacts *facts) {
    const ClassSeries *series = row->series;
    const gsize at = (gsize)series->class * cluster->grid->n_nodes + series->node;
    const FailedShare *failed = &facts->failed[at];
    json_t *object = json_object();
    json_object_set_new(object, "host", json_name(cluster->archive, cluster_host(cluster, series->node)));
    json_object_set_new(object, "class", json_string(work_class_name(series->class)));
    json_object_set_new(object, "state", json_string(node_state_name(state_of(row))));
    json_object_set_new(object, "slowdown", json_ratio(row->slowdown));
    json_object_set_new(object, "z", json_ratio(row->z));
    if (!isnan(facts->constants[at])) json_object_set_new(object, "constant", json_ratio(facts->constants[at]));
    json_object_set_new(object, "calls", json_count(row->calls));
    json_object_set_new(object, "failed", json_count(failed->failed));
    json_object_set_new(object, "failed_share", json_ratio((double)failed->failed / (double)MAX(failed->calls, 1)));
    return object;
}

/* By class, then node. */
static double *all_constants(const NodesReport *report) {
    double *constants = g_new(double, MAX((gsize)WORK_CLASSES * report->grid->n_nodes, 1));
    for (guint class = 0; class < WORK_CLASSES; class ++)
        node_constants(report, (WorkClass) class, constants + (gsize) class * report->grid->n_nodes);
    return constants;
}

guint node_rows_json(const Cluster *cluster, const NodesReport *report, guint32 node, guint most, json_t *list) {
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(NodeRow));
    for (guint i = 0; i < report->all->series->len && allowance_goes_on(); i++) {
        const ClassSeries *series = &g_array_index(report->all->series, ClassSeries, i);
        if (series->node >= cluster->grid->n_nodes || (node != G_MAXUINT32 && series->node != node)) continue;
        const NodeRow row = row_of(cluster, report, series);
        if (row.calls > 0) g_array_append_val(rows, row);
    }
    allowance_sort(rows->data, rows->len, sizeof(NodeRow), by_slowdown, NULL);
    const gsize bytes = (gsize)WORK_CLASSES * cluster->grid->n_nodes * (sizeof(double) + sizeof(FailedShare));
    allowance_charge(bytes);
    g_autofree double *constants = all_constants(report);
    g_autofree FailedShare *failed = failed_shares(cluster->grid, cluster->since);
    const NodeFacts facts = {constants, failed};
    for (guint i = 0; i < MIN(rows->len, most); i++)
        json_array_append_new(list, row_json(cluster, &g_array_index(rows, NodeRow, i), &facts));
    allowance_release(bytes);
    return rows->len;
}

void node_rows_count(const Cluster *cluster, const NodesReport *report, guint counts[WORK_CLASSES][NODE_STATES]) {
    for (guint i = 0; i < report->all->series->len && allowance_goes_on(); i++) {
        const ClassSeries *series = &g_array_index(report->all->series, ClassSeries, i);
        if (series->node >= cluster->grid->n_nodes) continue;
        const NodeRow row = row_of(cluster, report, series);
        if (row.calls > 0) counts[series->class][state_of(&row)]++;
    }
}

/* ---- one host ---- */

typedef struct FunctionSum {
    guint32 job;
    guint64 calls;
    double seen_ns, predicted_ns;
} FunctionSum;

static gint by_lost(gconstpointer left, gconstpointer right) {
    const FunctionSum *a = left, *b = right;
    const double a_lost = a->seen_ns - a->predicted_ns, b_lost = b->seen_ns - b->predicted_ns;
    if (a_lost != b_lost) return a_lost > b_lost ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

static json_t *function_json(const Cluster *cluster, const FunctionSum *sum) {
    const ClusterJob *job = cluster_job(cluster, sum->job);
    const double calls = (double)sum->calls;
    json_t *object = json_object();
    json_object_set_new(object, "function", json_name(cluster->archive, job->function));
    json_object_set_new(object, "role", json_string(role_name(job->role)));
    json_object_set_new(object, "class", json_string(work_class_name(grid_class(cluster->grid, sum->job))));
    if (job->size_power >= 0)
        json_object_set_new(object, "size_bytes", json_count(G_GUINT64_CONSTANT(1) << job->size_power));
    json_object_set_new(object, "calls", json_count(sum->calls));
    json_object_set_new(object, "predicted_ns", json_integer((gint64)(sum->predicted_ns / calls)));
    json_object_set_new(object, "seen_ns", json_integer((gint64)(sum->seen_ns / calls)));
    json_object_set_new(object, "slowdown", json_ratio(sum->predicted_ns > 0 ? sum->seen_ns / sum->predicted_ns : 1));
    return object;
}

json_t *node_functions_json(const Cluster *cluster, const NodesReport *report, guint32 node) {
    const NodeGrid *grid = cluster->grid;
    g_autoptr(GArray) sums = g_array_new(FALSE, TRUE, sizeof(FunctionSum));

    for (guint32 job = 0; job < grid->n_jobs && allowance_goes_on(); job++) {
        const guint32 cell = job * grid->n_nodes + node;
        FunctionSum sum = {.job = job};
        for (guint32 at = grid->by_cell.start[cell]; at < grid->by_cell.start[cell + 1]; at++) {
            const guint32 i = grid->by_cell.order[at];
            const Observation *observation = grid_at(grid, i);
            const float residual = report->residuals.of[MEASURE_MEAN][i];
            if (observation->window < cluster->since || isnan(residual)) continue;
            sum.calls += observation->calls;
            sum.seen_ns += (double)observation->self_ns;
            sum.predicted_ns += (double)observation->self_ns * exp(-(double)residual);
        }
        if (sum.calls > 0 && sum.seen_ns > 0) g_array_append_val(sums, sum);
    }

    g_array_sort(sums, by_lost);
    json_t *list = json_array();
    for (guint i = 0; i < sums->len; i++)
        json_array_append_new(list, function_json(cluster, &g_array_index(sums, FunctionSum, i)));
    return list;
}

static json_t *point_json(const Cluster *cluster, const ClassWindow *window) {
    json_t *object = json_object();
    json_object_set_new(object, "time_ns", json_integer(grid_window_ns(cluster->grid, window->first)));
    json_object_set_new(object, "slowdown", json_ratio(exp(window->residual[MEASURE_MEAN])));
    json_object_set_new(object, "tail_slowdown", json_ratio(exp(window->residual[MEASURE_TAIL])));
    json_object_set_new(object, "calls", json_count(window->calls));
    if (window->bad) json_object_set_new(object, "bad", json_true());
    return object;
}

json_t *node_timeline_json(const Cluster *cluster, const NodesReport *report, guint32 node) {
    json_t *list = json_array();
    for (guint i = 0; i < report->all->series->len; i++) {
        const ClassSeries *series = &g_array_index(report->all->series, ClassSeries, i);
        if (series->node != node || !allowance_goes_on()) continue;
        const ClassWindow *windows = series_windows(report->all, series);
        json_t *points = json_array(), *object = json_object();
        for (guint32 k = 0; k < series->n; k++)
            if (windows[k].last >= cluster->since) json_array_append_new(points, point_json(cluster, &windows[k]));
        json_object_set_new(object, "class", json_string(work_class_name(series->class)));
        json_object_set_new(object, "points", points);
        json_array_append_new(list, object);
    }
    return list;
}
