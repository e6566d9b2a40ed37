#include "analyzer/diagnosis/nodes/polish.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/nodes/median.h"
#include "analyzer/diagnosis/order.h"
#include "common/base/allowance.h"

#define ROUNDS_MAX 4u
/* Half a percent: less than any limit could tell. */
#define ROUNDS_UNTIL 0.005

static float value_of(const Polish *polish, const Observation *observation) {
    return polish->measure == MEASURE_MEAN ? observation->mean : observation->tail;
}

static gboolean has_peers(const NodeGrid *grid, guint32 job, gsize nodes) {
    return nodes >= POLISH_PEERS && work_class_has_peers(grid_class(grid, job));
}

static float *nans(gsize n) {
    float *values = g_new(float, MAX(n, 1));
    set_nan(values, n);
    return values;
}

Polish *polish_new(const NodeGrid *grid, NodeMeasure measure) {
    Polish *polish = g_new0(Polish, 1);
    polish->measure = measure;
    polish->level = nans(grid->n_jobs);
    polish->node = nans((gsize)grid->n_jobs * grid->n_nodes);
    polish->moment = nans((gsize)grid->n_jobs * grid->n_windows);
    return polish;
}

void polish_free(Polish *polish) {
    if (!polish) return;
    g_free(polish->level);
    g_free(polish->node);
    g_free(polish->moment);
    g_free(polish);
}

/* ---- fit ---- */

typedef struct Fit {
    Polish *polish;
    const NodeGrid *grid;
    const guint8 *used;
    guint32 until;
    float *scratch; /* as many as a list may have */
} Fit;

static gboolean is_used(const Fit *fit, guint32 i) {
    return fit->used[i] && grid_at(fit->grid, i)->window < fit->until;
}

/* The moment as it is in a window, or as it mostly is. */
static float moment_at(const Polish *polish, const NodeGrid *grid, const Observation *observation) {
    const float moment = polish->moment[(gsize)observation->job * grid->n_windows + observation->window];
    return isnan(moment) ? polish->level[observation->job] : moment;
}

/* Those of the values that are known, in scratch; returns how many. */
static gsize known_values(Fit *fit, const float *values, guint32 n_values) {
    gsize n = 0;
    for (guint32 i = 0; i < n_values && allowance_goes_on(); i++)
        if (!isnan(values[i])) fit->scratch[n++] = values[i];
    return n;
}

static void fit_nodes(Fit *fit, guint32 job, double *change) {
    const NodeGrid *grid = fit->grid;
    for (guint32 node = 0; node < grid->n_nodes && allowance_goes_on(); node++) {
        const guint32 cell = job * grid->n_nodes + node;
        gsize n = 0;
        for (guint32 at = grid->by_cell.start[cell]; at < grid->by_cell.start[cell + 1]; at++) {
            const guint32 i = grid->by_cell.order[at];
            if (!is_used(fit, i)) continue;
            const Observation *observation = grid_at(grid, i);
            fit->scratch[n++] = value_of(fit->polish, observation) - moment_at(fit->polish, grid, observation);
        }
        float *constant = &fit->polish->node[cell];
        const float before = *constant;
        *constant = (float)median_of(fit->scratch, n);
        if (!isnan(*constant) && !isnan(before)) *change = MAX(*change, fabs((double)*constant - before));
    }
}

/* Of the moments that have enough nodes; and what they mostly are. */
static void fit_moments(Fit *fit, guint32 job) {
    const NodeGrid *grid = fit->grid;
    float *moments = fit->polish->moment + (gsize)job * grid->n_windows;

    for (guint32 window = 0; window < fit->until && allowance_goes_on(); window++) {
        const guint32 key = job * grid->n_windows + window;
        gsize n = 0;
        for (guint32 at = grid->by_moment.start[key]; at < grid->by_moment.start[key + 1]; at++) {
            const guint32 i = grid->by_moment.order[at];
            if (!is_used(fit, i)) continue;
            const Observation *observation = grid_at(grid, i);
            const float constant = fit->polish->node[job * grid->n_nodes + observation->node];
            if (!isnan(constant)) fit->scratch[n++] = value_of(fit->polish, observation) - constant;
        }
        moments[window] = has_peers(grid, job, n) ? (float)median_of(fit->scratch, n) : NAN;
    }

    const gsize n = known_values(fit, moments, fit->until);
    fit->polish->level[job] = n > 0 ? (float)median_of(fit->scratch, n) : 0;
}

/* A node of which little is known is taken to be like the others. */
static void fit_shrink(Fit *fit, guint32 job) {
    const NodeGrid *grid = fit->grid;
    float *constants = fit->polish->node + (gsize)job * grid->n_nodes;
    const gsize n = known_values(fit, constants, grid->n_nodes);
    if (!has_peers(grid, job, n)) return;
    const double others = median_of(fit->scratch, n);

    for (guint32 node = 0; node < grid->n_nodes && allowance_goes_on(); node++) {
        const guint32 cell = job * grid->n_nodes + node;
        const guint32 first = grid->by_cell.start[cell], end = grid->by_cell.start[cell + 1];
        double calls = 0;
        for (guint32 at = first; at < end; at++)
            if (is_used(fit, grid->by_cell.order[at])) calls += grid_at(grid, grid->by_cell.order[at])->calls;
        if (first == end) continue;
        const double own = isnan(constants[node]) ? others : constants[node];
        constants[node] = (float)((calls * own + POLISH_PRIOR_CALLS * others) / (calls + POLISH_PRIOR_CALLS));
    }
}

void polish_fit(Polish *polish, const NodeGrid *grid, const guint8 *used, guint32 until) {
    g_autofree float *scratch = g_new(float, MAX(MAX(grid->n_nodes, grid->n_windows), 1));
    Fit fit = {polish, grid, used, until, scratch};

    for (guint32 job = 0; job < grid->n_jobs && allowance_goes_on(); job++) {
        double change = 0;
        polish->level[job] = 0;
        set_nan(polish->moment + (gsize)job * grid->n_windows, until);
        set_nan(polish->node + (gsize)job * grid->n_nodes, grid->n_nodes);
        fit_nodes(&fit, job, &change);

        for (guint round = 0; round < ROUNDS_MAX; round++) {
            change = 0;
            fit_moments(&fit, job);
            fit_nodes(&fit, job, &change);
            if (change < ROUNDS_UNTIL) break;
        }

        fit_shrink(&fit, job);
    }
}

/* ---- residuals ---- */

/* The median of sorted items but for the one at 'without'. */
static double median_without(const OrderItem *sorted, guint32 n, guint32 without) {
    const guint32 others = n - 1, middle = others / 2;
    const double high = sorted[middle < without ? middle : middle + 1].value;
    if (others % 2) return high;
    const guint32 below = middle - 1;
    return (high + sorted[below < without ? below : below + 1].value) / 2;
}

typedef struct Moment {
    OrderItem *items, *scratch; /* value less the node's constant; index of the observation */
    guint32 n;
} Moment;

static void moment_collect(const Polish *polish, const NodeGrid *grid, guint32 key, Moment *moment) {
    moment->n = 0;
    for (guint32 at = grid->by_moment.start[key]; at < grid->by_moment.start[key + 1]; at++) {
        const guint32 i = grid->by_moment.order[at];
        const Observation *observation = grid_at(grid, i);
        const float constant = polish->node[observation->job * grid->n_nodes + observation->node];
        if (isnan(constant)) continue;
        moment->items[moment->n++] = (OrderItem){(double)value_of(polish, observation) - constant, i};
    }
    order_sort(moment->items, moment->scratch, moment->n);
}

void polish_residuals(Polish *polish, const NodeGrid *grid, guint32 until, float *residuals, guint8 *alone) {
    g_autofree OrderItem *items = g_new(OrderItem, 2 * (gsize)MAX(grid->n_nodes, 1));
    Moment moment = {items, items + grid->n_nodes, 0};

    for (guint32 job = 0; job < grid->n_jobs; job++) {
        for (guint32 window = 0; window < until && allowance_goes_on(); window++) {
            const guint32 key = job * grid->n_windows + window;
            moment_collect(polish, grid, key, &moment);
            const gboolean peers = has_peers(grid, job, moment.n);
            polish->moment[key] =
                peers ? (float)((moment.items[(moment.n - 1) / 2].value + moment.items[moment.n / 2].value) / 2) : NAN;

            for (guint32 k = 0; k < moment.n; k++) {
                const double from_others = peers ? median_without(moment.items, moment.n, k) : polish->level[job];
                residuals[moment.items[k].index] = (float)(moment.items[k].value - from_others);
                alone[moment.items[k].index] = !peers;
            }
        }
    }
}
