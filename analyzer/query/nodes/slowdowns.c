#include "analyzer/query/nodes/slowdowns.h"

#include "analyzer/query/nodes/cluster.h"
#include "analyzer/query/nodes/node_rows.h"
#include "analyzer/query/nodes/spell_rows.h"
#include "common/base/allowance.h"

static void visit_counts(guint counts[WORK_CLASSES][NODE_STATES], const SlowdownVisitor *visitor) {
    for (guint class = 0; class < WORK_CLASSES; class ++) {
        guint hosts = 0;
        for (guint state = 0; state < NODE_STATES; state++) hosts += counts[class][state];
        for (guint state = 0; state < NODE_STATES && hosts > 0; state++)
            visitor->count(visitor->arg, work_class_name((WorkClass) class), node_state_name((NodeState)state),
                           counts[class][state]);
    }
}

gboolean slowdowns_find(Archive *archive, gint64 now_ns, const SlowdownVisitor *visitor, GError **error) {
    g_autoptr(QueryParams) params = query_params_new();
    const Asked asked = {archive, params, now_ns, ANSWER_ROWS_MAX, NULL, NULL};
    g_autoptr(Cluster) cluster = cluster_load(&asked, error);
    if (!cluster) return FALSE;

    g_autoptr(NodesReport) report = nodes_judge(cluster->grid, NODES_OURS, cluster->since);
    guint counts[WORK_CLASSES][NODE_STATES] = {{0}};
    node_rows_count(cluster, report, counts);
    if (!allowance_check(error)) return FALSE;

    visit_counts(counts, visitor);
    for (guint i = 0; i < report->spells->len; i++) {
        const Spell *spell = &g_array_index(report->spells, Spell, i);
        if (!spell->open || !spell_suspects(spell) || spell->node >= cluster->grid->n_nodes) continue;
        visitor->slow(visitor->arg, dict_text(archive_dict(archive), cluster_host(cluster, spell->node), NULL),
                      work_class_name(spell->class), spell->slowdown);
    }
    return TRUE;
}
