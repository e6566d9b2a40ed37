/* What is slower than it usually is, or than its peers, by the time that somebody waited for it: no Spark needed. */
#include "analyzer/query/nodes/failing_rows.h"
#include "analyzer/query/nodes/link_traces.h"
#include "analyzer/query/nodes/node_answers.h"
#include "analyzer/query/nodes/spell_rows.h"
#include "analyzer/query/nodes/weak.h"

#define DEFAULT_LIMIT 5u /* fits a screen */

static json_t *weak_json(const Cluster *cluster, const WeakNode *weak) {
    json_t *object = json_object();
    json_object_set_new(object, "host", json_name(cluster->archive, cluster_host(cluster, weak->node)));
    json_object_set_new(object, "class", json_string(work_class_name(weak->class)));
    json_object_set_new(object, "layer", json_string(work_class_layer(weak->class)));
    json_object_set_new(object, "constant", json_ratio(weak->constant));
    json_object_set_new(object, "calls", json_count(weak->calls));
    json_object_set_new(object, "lost_ns", json_integer(weak->lost_ns));
    json_object_set_new(object, "waited_ns", json_integer(weak->lost_critical_ns));
    return object;
}

static json_t *weak_list(const Cluster *cluster, const NodesReport *report) {
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(WeakNode));
    json_t *list = json_array();
    weak_nodes_find(cluster, report, found);
    for (guint i = 0; i < MIN(found->len, DEFAULT_LIMIT); i++)
        json_array_append_new(list, weak_json(cluster, &g_array_index(found, WeakNode, i)));
    return list;
}

typedef struct Found {
    json_t *slow, *busier;
    guint all;     /* that are slow */
    guint follows; /* consequences of others, not listed */
} Found;

/* A slow link shows at both of its ends: it is told at the first. */
static gboolean is_told(const json_t *rows, const json_t *object) {
    const json_t *link = json_object_get(object, "link");
    for (gsize i = 0; link != NULL && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (row != object && link_is_same(json_object_get(row, "link"), link)) return TRUE;
    }
    return FALSE;
}

static gboolean add_spells(const Cluster *cluster, const NodesReport *report, guint most, Found *found,
                           GError **error) {
    for (guint i = 0; i < report->spells->len; i++) {
        const Spell *spell = &g_array_index(report->spells, Spell, i);
        if (!spell_fits(cluster, spell)) continue;
        if (spell->part_of != WORK_NONE) {
            found->follows++;
            continue;
        }
        if (!spell->busy && ++found->all > most) continue;
        if (spell->busy && json_array_size(found->busier) >= most) continue;
        json_t *object = spell_json(cluster, report, spell);
        json_array_append_new(spell->busy ? found->busier : found->slow, object);
        if (spell->busy) continue;
        if (!spell_add_example(cluster, report, spell, object, error)) return FALSE;
        if (!is_told(found->slow, object)) continue;
        json_array_remove(found->slow, json_array_size(found->slow) - 1);
        found->all--;
        found->follows++;
    }
    return TRUE;
}

json_t *answer_slow(const Asked *asked, GError **error) {
    guint64 limit = DEFAULT_LIMIT;
    if (!params_count(asked->params, "limit", &limit, error)) return NULL;
    g_autoptr(Cluster) cluster = cluster_load(asked, error);
    if (!cluster) return NULL;
    g_autoptr(NodesReport) report = nodes_judge(cluster->grid, NODES_OURS, cluster->since);

    json_auto_t *answer = json_object();
    const guint most = limit ? (guint)MIN(limit, (guint64)asked->rows_max) : asked->rows_max;
    Found found = {json_array(), json_array(), 0, 0};
    cluster_json(cluster, report, answer);
    json_object_set_new(answer, "slow", found.slow);
    json_object_set_new(answer, "busier", found.busier);
    if (!add_spells(cluster, report, most, &found, error)) return NULL;
    json_t *failing = failing_json(cluster, G_MAXUINT32, DEFAULT_LIMIT, error);
    if (!failing) return NULL;
    json_object_set_new(answer, "failing", failing);
    json_object_set_new(answer, "follows", json_count(found.follows));
    json_object_set_new(answer, "weak", weak_list(cluster, report));
    json_object_set_new(answer, "more", json_boolean(found.all > most));
    return g_steal_pointer(&answer);
}
