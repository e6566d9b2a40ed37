#include "analyzer/diagnosis/nodes/node_grid.h"

#include <string.h>

#include "common/base/allowance.h"

NodeGrid *node_grid_new(gint64 window_ns) {
    NodeGrid *grid = g_new0(NodeGrid, 1);
    grid->window_ns = window_ns;
    grid->observations = g_array_new(FALSE, FALSE, sizeof(Observation));
    grid->jobs = g_array_new(FALSE, FALSE, sizeof(GridJob));
    grid->windows = g_array_new(FALSE, FALSE, sizeof(gint64));
    grid->waits = g_array_new(FALSE, TRUE, sizeof(WindowWaits));
    grid->failures = g_array_new(FALSE, FALSE, sizeof(Failures));
    grid->heard = g_array_new(FALSE, FALSE, sizeof(Heard));
    grid->heard_last = g_array_new(FALSE, TRUE, sizeof(guint32));
    return grid;
}

static void index_clear(GridIndex *index) {
    g_free(index->start);
    g_free(index->order);
}

void node_grid_free(NodeGrid *grid) {
    if (!grid) return;
    index_clear(&grid->by_node);
    index_clear(&grid->by_cell);
    index_clear(&grid->by_moment);
    g_array_unref(grid->observations);
    g_array_unref(grid->jobs);
    g_array_unref(grid->windows);
    g_array_unref(grid->waits);
    g_array_unref(grid->failures);
    g_array_unref(grid->heard);
    g_array_unref(grid->heard_last);
    g_free(grid);
}

guint32 node_grid_job(NodeGrid *grid, WorkClass class) {
    const GridJob job = {.class = class};
    g_array_append_val(grid->jobs, job);
    return grid->n_jobs++;
}

void node_grid_beside(NodeGrid *grid, guint32 job) {
    g_return_if_fail(job < grid->n_jobs);
    g_array_index(grid->jobs, GridJob, job).beside = TRUE;
}

guint32 node_grid_node(NodeGrid *grid) {
    g_array_set_size(grid->heard_last, grid->n_nodes + 1);
    return grid->n_nodes++;
}

guint32 node_grid_window(NodeGrid *grid, gint64 begin_ns) {
    g_return_val_if_fail(grid->n_windows == 0 || begin_ns > grid_window_ns(grid, grid->n_windows - 1), 0);
    g_array_append_val(grid->windows, begin_ns);
    g_array_set_size(grid->waits, grid->n_windows + 1);
    return grid->n_windows++;
}

void node_grid_add(NodeGrid *grid, const Observation *observation) {
    g_return_if_fail(observation->job < grid->n_jobs && observation->node < grid->n_nodes);
    g_return_if_fail(observation->window + 1 == grid->n_windows);
    g_array_append_vals(grid->observations, observation, 1);
}

void node_grid_fail(NodeGrid *grid, const Failures *failures) {
    g_return_if_fail(failures->node < grid->n_nodes && failures->class < WORK_CLASSES && grid->n_windows > 0);
    g_array_append_vals(grid->failures, failures, 1);
    g_array_index(grid->failures, Failures, grid->failures->len - 1).window = grid->n_windows - 1;
}

void node_grid_hear(NodeGrid *grid, guint32 node, guint32 calls) {
    g_return_if_fail(node < grid->n_nodes && grid->n_windows > 0);
    guint32 *last = &g_array_index(grid->heard_last, guint32, node);
    const guint32 window = grid->n_windows - 1;
    if (*last == 0 || g_array_index(grid->heard, Heard, *last - 1).window != window) {
        const Heard heard = {node, window, 0};
        g_array_append_val(grid->heard, heard);
        *last = grid->heard->len;
    }
    g_array_index(grid->heard, Heard, *last - 1).calls += calls;
}

void node_grid_wait(NodeGrid *grid, gint64 waited_ns, guint32 calls) {
    g_return_if_fail(grid->n_windows > 0);
    WindowWaits *waits = grid_waits(grid, grid->n_windows - 1);
    waits->waited_ns += waited_ns;
    waits->calls += calls;
}

typedef guint32 (*KeyOf)(const NodeGrid *grid, const Observation *observation);

static guint32 node_key(const NodeGrid *grid, const Observation *observation) {
    (void)grid;
    return observation->node;
}

static guint32 cell_key(const NodeGrid *grid, const Observation *observation) {
    return observation->job * grid->n_nodes + observation->node;
}

static guint32 moment_key(const NodeGrid *grid, const Observation *observation) {
    return observation->job * grid->n_windows + observation->window;
}

static void index_make(const NodeGrid *grid, GridIndex *index, guint32 n_keys, KeyOf key_of) {
    const guint32 n = grid_size(grid);
    guint32 *start = g_new0(guint32, (gsize)n_keys + 1), *order = g_new(guint32, n);

    for (guint32 i = 0; i < n && allowance_goes_on(); i++) start[key_of(grid, grid_at(grid, i))]++;
    guint32 sum = 0;
    for (guint32 key = 0; key <= n_keys && allowance_goes_on(); key++) {
        const guint32 count = start[key];
        start[key] = sum;
        sum += count;
    }

    for (guint32 i = 0; i < n && allowance_goes_on(); i++) order[start[key_of(grid, grid_at(grid, i))]++] = i;
    memmove(start + 1, start, (gsize)n_keys * sizeof *start);
    start[0] = 0;
    /* Of an index that is not whole no key may lead anywhere. */
    if (!allowance_goes_on()) memset(start, 0, ((gsize)n_keys + 1) * sizeof *start);

    index_clear(index);
    *index = (GridIndex){start, order, n_keys};
}

static gint by_node(gconstpointer left, gconstpointer right, gpointer unused) {
    const Heard *a = left, *b = right;
    (void)unused;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return (a->window > b->window) - (a->window < b->window);
}

void node_grid_index(NodeGrid *grid) {
    index_make(grid, &grid->by_node, grid->n_nodes, node_key);
    index_make(grid, &grid->by_cell, grid->n_jobs * grid->n_nodes, cell_key);
    index_make(grid, &grid->by_moment, grid->n_jobs * grid->n_windows, moment_key);
    allowance_sort(grid->heard->data, grid->heard->len, sizeof(Heard), by_node, NULL);
}

gsize node_grid_bytes(const NodeGrid *grid) {
    /* Beside itself an observation has three entries in indices, and two residuals and a mark while it is judged; each
     * place, whether something was observed there or not, one in an index, and two numbers of the model. */
    const gsize places = (gsize)grid->n_jobs * ((gsize)grid->n_nodes + grid->n_windows);
    return (gsize)grid_size(grid) * (sizeof(Observation) + 3 * sizeof(guint32) + 2 * sizeof(float) + 1) +
           places * (sizeof(guint32) + 2 * sizeof(float)) + grid->heard->len * sizeof(Heard) +
           grid->failures->len * sizeof(Failures);
}
