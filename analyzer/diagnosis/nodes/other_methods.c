#include "analyzer/diagnosis/nodes/other_methods.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/median.h"
#include "common/base/allowance.h"

#define MUCH_LESS        0.01 /* of density */
#define MAD_TO_DEVIATION 1.4826
#define PEERS_DEVIATIONS 3.0

static void set_residual(Residuals *residuals, guint32 i, double ln_slowdown) {
    for (guint m = 0; m < MEASURES; m++) residuals->of[m][i] = (float)ln_slowdown;
}

static void forget(const NodeGrid *grid, Residuals *residuals) {
    for (guint32 i = 0; i < grid_size(grid) && allowance_goes_on(); i++) {
        set_residual(residuals, i, NAN);
        residuals->blamed[i] = FALSE;
        residuals->alone[i] = FALSE;
    }
}

/* ---- the paper's ---- */

typedef struct Base {
    double mean, deviation; /* of one call, ns; mean 0: unknown */
} Base;

static Base base_of(const NodeGrid *grid, guint32 cell, guint32 base) {
    double calls = 0, sum = 0, variance = 0;
    for (guint32 at = grid->by_cell.start[cell]; at < grid->by_cell.start[cell + 1]; at++) {
        const Observation *observation = grid_at(grid, grid->by_cell.order[at]);
        if (observation->window >= base) break;
        const double mean = exp(observation->mean);
        calls += observation->calls;
        sum += observation->calls * mean;
        variance += observation->calls * observation->spread * mean * mean;
    }
    return calls > 0 ? (Base){sum / calls, sqrt(variance / calls)} : (Base){0, 0};
}

static double density(double x, double mean, double deviation) {
    const double z = (x - mean) / deviation;
    return exp(-z * z / 2) / (deviation * sqrt(2 * G_PI));
}

/* One node at a moment. */
typedef struct PaperNode {
    guint32 index; /* of the observation */
    Base base;
    double time, alpha, predicted, density;
} PaperNode;

static void paper_judge(PaperNode *nodes, guint32 n, Residuals *residuals) {
    double alphas = 0, densities = 0;
    for (guint32 k = 0; k < n; k++) alphas += nodes[k].alpha;
    for (guint32 k = 0; k < n; k++) {
        const double alpha = (alphas - nodes[k].alpha) / (n - 1);
        const double deviation = MAX(nodes[k].base.deviation, nodes[k].base.mean * 0.001);
        nodes[k].predicted = alpha * nodes[k].base.mean;
        nodes[k].density = density(nodes[k].time, nodes[k].predicted, alpha * deviation);
        densities += nodes[k].density;
    }

    for (guint32 k = 0; k < n; k++) {
        const double others = (densities - nodes[k].density) / (n - 1);
        set_residual(residuals, nodes[k].index, log(nodes[k].time / nodes[k].predicted));
        residuals->blamed[nodes[k].index] = nodes[k].time > nodes[k].predicted && nodes[k].density < MUCH_LESS * others;
    }
}

void method_paper(const NodeGrid *grid, guint32 base, Residuals *residuals) {
    const gsize n_cells = (gsize)grid->n_jobs * grid->n_nodes;
    g_autofree Base *bases = g_new(Base, MAX(n_cells, 1));
    g_autofree PaperNode *nodes = g_new(PaperNode, MAX(grid->n_nodes, 1));
    forget(grid, residuals);
    for (guint32 cell = 0; cell < n_cells && allowance_goes_on(); cell++) bases[cell] = base_of(grid, cell, base);

    for (guint32 key = 0; key < grid->by_moment.n_keys && allowance_goes_on(); key++) {
        guint32 n = 0;
        for (guint32 at = grid->by_moment.start[key]; at < grid->by_moment.start[key + 1]; at++) {
            const guint32 i = grid->by_moment.order[at];
            const Observation *observation = grid_at(grid, i);
            const Base *known = &bases[observation->job * grid->n_nodes + observation->node];
            if (known->mean <= 0) continue;
            const double time = exp(observation->mean);
            nodes[n++] = (PaperNode){i, *known, time, time / known->mean, 0, 0};
        }
        if (n >= POLISH_PEERS) paper_judge(nodes, n, residuals);
    }
}

/* ---- peers ---- */

void method_peers(const NodeGrid *grid, Residuals *residuals) {
    g_autofree float *times = g_new(float, MAX(grid->n_nodes, 1));
    forget(grid, residuals);

    for (guint32 key = 0; key < grid->by_moment.n_keys && allowance_goes_on(); key++) {
        const guint32 first = grid->by_moment.start[key], end = grid->by_moment.start[key + 1];
        if (end - first < POLISH_PEERS) continue;
        const guint32 *order = grid->by_moment.order;
        for (guint32 at = first; at < end; at++) times[at - first] = expf(grid_at(grid, order[at])->mean);
        const double median = median_of(times, end - first);
        for (guint32 at = first; at < end; at++)
            times[at - first] = (float)fabs(exp(grid_at(grid, order[at])->mean) - median);
        const double limit = median + PEERS_DEVIATIONS * MAD_TO_DEVIATION * median_of(times, end - first);

        for (guint32 at = first; at < end; at++) {
            const double time = exp(grid_at(grid, order[at])->mean);
            set_residual(residuals, order[at], log(time / median));
            residuals->blamed[order[at]] = time > limit;
        }
    }
}
