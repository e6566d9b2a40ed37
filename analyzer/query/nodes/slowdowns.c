#include "analyzer/query/nodes/slowdowns.h"

#include "analyzer/query/nodes/cluster.h"
#include "analyzer/query/nodes/spell_rows.h"
#include "common/base/allowance.h"

gboolean slowdowns_find(Archive *archive, gint64 now_ns, SlowdownVisit visit, void *arg, GError **error) {
    g_autoptr(QueryParams) params = query_params_new();
    const Asked asked = {archive, params, now_ns, ANSWER_ROWS_MAX, NULL, NULL};
    g_autoptr(Cluster) cluster = cluster_load(&asked, error);
    if (!cluster) return FALSE;

    g_autoptr(NodesReport) report = nodes_judge(cluster->grid, NODES_OURS, cluster->since);
    if (!allowance_check(error)) return FALSE;
    for (guint i = 0; i < report->spells->len; i++) {
        const Spell *spell = &g_array_index(report->spells, Spell, i);
        if (!spell->open || !spell_suspects(spell) || spell->node >= cluster->grid->n_nodes) continue;
        visit(arg, dict_text(archive_dict(archive), cluster_host(cluster, spell->node), NULL),
              work_class_name(spell->class), spell->slowdown);
    }
    return TRUE;
}
