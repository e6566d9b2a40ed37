#include "analyzer/query/nodes/weak.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/losses.h"
#include "analyzer/diagnosis/nodes/median.h"
#include "common/base/allowance.h"

#define WEAK_LEAST       2.0
#define WEAK_DEVIATIONS  3.0
#define MAD_TO_DEVIATION 1.4826

/* What a node with that constant would have saved, were it as its peers. Is it worth telling (losses.h)? */
static gboolean add_cost(const Cluster *cluster, WeakNode *weak) {
    const NodeGrid *grid = cluster->grid;
    double self = 0, critical = 0, all_critical = 0;
    const guint32 end = grid->by_node.start[weak->node + 1];
    for (guint32 at = grid->by_node.start[weak->node]; at < end && allowance_goes_on(); at++) {
        const Observation *observation = grid_at(grid, grid->by_node.order[at]);
        if (observation->window < cluster->since) continue;
        all_critical += (double)observation->critical_ns;
        if (grid_class(grid, observation->job) != weak->class) continue;
        weak->calls += observation->calls;
        self += (double)observation->self_ns;
        critical += (double)observation->critical_ns;
    }
    const double lost = 1 - 1 / weak->constant;
    weak->lost_ns = (gint64)(self * lost);
    weak->lost_critical_ns = (gint64)(critical * lost);
    return weak->calls >= CLASS_CALLS_LEAST && weak->lost_critical_ns >= WAITED_LEAST_NS &&
           critical * lost >= WAITED_LEAST_SHARE * all_critical;
}

/* Of one class: constants of all nodes. */
static void find_class(const Cluster *cluster, const NodesReport *report, WorkClass class, GArray *found) {
    const guint32 n_nodes = cluster->grid->n_nodes;
    g_autofree double *constants = g_new(double, MAX(n_nodes, 1));
    g_autofree float *values = g_new(float, MAX(n_nodes, 1));
    node_constants(report, class, constants);

    gsize n = 0;
    for (guint32 node = 0; node < n_nodes && allowance_goes_on(); node++)
        if (!isnan(constants[node])) values[n++] = (float)log(constants[node]);
    if (n < POLISH_PEERS) return;
    const double centre = median_of(values, n);
    for (gsize i = 0; i < n; i++) values[i] = (float)fabs(values[i] - centre);
    const double limit = centre + WEAK_DEVIATIONS * MAD_TO_DEVIATION * median_of(values, n);

    for (guint32 node = 0; node < n_nodes && allowance_goes_on(); node++) {
        if (isnan(constants[node]) || constants[node] < WEAK_LEAST || log(constants[node]) <= limit) continue;
        WeakNode weak = {.node = node, .class = class, .constant = constants[node]};
        if (add_cost(cluster, &weak)) g_array_append_val(found, weak);
    }
}

static gint by_cost(gconstpointer left, gconstpointer right) {
    const WeakNode *a = left, *b = right;
    if (a->lost_critical_ns != b->lost_critical_ns) return a->lost_critical_ns > b->lost_critical_ns ? -1 : 1;
    if (a->lost_ns != b->lost_ns) return a->lost_ns > b->lost_ns ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return (a->class > b->class) - (a->class < b->class);
}

void weak_nodes_find(const Cluster *cluster, const NodesReport *report, GArray *found) {
    for (guint class = WORK_NONE + 1; class < WORK_CLASSES; class ++)
        if (!work_class_is_clients((WorkClass) class)) find_class(cluster, report, (WorkClass) class, found);
    g_array_sort(found, by_cost);
}
