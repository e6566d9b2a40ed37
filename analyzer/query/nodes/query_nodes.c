/* Which hosts are slower than they should be, in which class of work, since when; of one host, each of its functions.
 */
#include <string.h>

#include "analyzer/query/nodes/failing_rows.h"
#include "analyzer/query/nodes/hints.h"
#include "analyzer/query/nodes/node_answers.h"
#include "analyzer/query/nodes/node_rows.h"
#include "analyzer/query/nodes/spell_rows.h"
#include "common/base/allowance.h"
#include "common/base/nearest.h"

#define DEFAULT_LIMIT 20u

typedef struct NodesAsked {
    NodesMethod method;
    guint64 limit;
    guint32 host; /* dictionary id; 0: all */
    gboolean hint;
} NodesAsked;

static const char *const methods[] = {"plumb", "paper", "peers", NULL};

static gboolean parse(const Asked *asked, NodesAsked *what, GError **error) {
    guint method = NODES_OURS;
    if (!params_choice(asked->params, "method", methods, &method, error) ||
        !params_flag(asked->params, "hint", &what->hint, error) ||
        !params_count(asked->params, "limit", &what->limit, error))
        return FALSE;
    what->method = (NodesMethod)method;
    what->host = asked_name(asked, "host");
    return TRUE;
}

/* NULL: none is close enough to be meant. */
static const char *nearest_node(const Cluster *cluster, const char *host) {
    const char *nearest = NULL;
    for (guint32 i = 0; i < cluster->grid->n_nodes && allowance_goes_on(); i++) {
        const char *const both[] = {dict_text(archive_dict(cluster->archive), cluster_host(cluster, i), NULL), nearest,
                                    NULL};
        const char *nearer = nearest_name(host, both);
        if (nearer) nearest = nearer;
    }
    return nearest;
}

static gboolean find_node(const Asked *asked, const Cluster *cluster, guint32 host, guint32 *node, GError **error) {
    *node = G_MAXUINT32;
    if (host == 0) return TRUE;
    for (guint32 i = 0; i < cluster->grid->n_nodes && *node == G_MAXUINT32; i++)
        if (cluster_host(cluster, i) == host) *node = i;
    if (*node != G_MAXUINT32) return TRUE;
    const char *name = params_text(asked->params, "host"), *nearest = nearest_node(cluster, name);
    if (nearest)
        return fail(error, PLUMB_ERROR_NOT_FOUND,
                    "no call that tells of the health of host \"%s\" is known in that time: did you mean \"%s\"?", name,
                    nearest);
    return fail(
        error, PLUMB_ERROR_NOT_FOUND,
        "no call that tells of the health of host \"%s\" is known in that time: ask without a host to see which "
        "there are",
        name);
}

static gboolean add_spells(const Cluster *cluster, const NodesReport *report, guint32 node, json_t *list,
                           GError **error) {
    guint examples = 0;
    for (guint i = 0; i < report->spells->len; i++) {
        const Spell *spell = &g_array_index(report->spells, Spell, i);
        if (!spell_fits(cluster, spell) || (node != G_MAXUINT32 && spell->node != node)) continue;
        json_t *object = spell_json(cluster, report, spell);
        json_array_append_new(list, object);
        if (!spell_suspects(spell) || examples++ >= DEFAULT_LIMIT) continue;
        if (!spell_add_example(cluster, report, spell, object, error)) return FALSE;
    }
    return TRUE;
}

json_t *answer_nodes(const Asked *asked, GError **error) {
    NodesAsked what = {.limit = DEFAULT_LIMIT};
    guint32 node;
    if (!parse(asked, &what, error)) return NULL;
    g_autoptr(Cluster) cluster = cluster_load(asked, error);
    if (!cluster || !find_node(asked, cluster, what.host, &node, error)) return NULL;
    g_autoptr(NodesReport) report = nodes_judge(cluster->grid, what.method, cluster->since);

    json_auto_t *answer = json_object();
    cluster_json(cluster, report, answer);
    json_object_set_new(answer, "method", json_string(methods[what.method]));

    json_t *spells = json_array(), *rows = json_array();
    json_object_set_new(answer, "spells", spells);
    json_object_set_new(answer, "nodes", rows);
    if (!add_spells(cluster, report, node, spells, error)) return NULL;
    json_t *failing = failing_json(cluster, node, DEFAULT_LIMIT, error);
    if (!failing) return NULL;
    json_object_set_new(answer, "failing", failing);

    const guint most = what.limit ? (guint)MIN(what.limit, (guint64)asked->rows_max) : asked->rows_max;
    const guint all = node_rows_json(cluster, report, node, most, rows);
    json_object_set_new(answer, "more", json_boolean(all > most));
    if (what.hint) {
        json_t *hints = hints_json(cluster, report, error);
        if (!hints) return NULL;
        json_object_set_new(answer, "hints", hints);
    }
    if (node == G_MAXUINT32) return g_steal_pointer(&answer);
    json_object_set_new(answer, "functions", node_functions_json(cluster, report, node));
    json_object_set_new(answer, "timeline", node_timeline_json(cluster, report, node));
    return g_steal_pointer(&answer);
}
