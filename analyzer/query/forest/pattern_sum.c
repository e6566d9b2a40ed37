#include "analyzer/query/forest/pattern_sum.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/query/shared/measure.h"
#include "analyzer/query/shared/question.h"
#include "common/base/allowance.h"

PatternSum *pattern_sum_new(const Pattern *pattern) {
    PatternSum *sum = g_new0(PatternSum, 1);
    sum->pattern = pattern_ref(pattern);
    sum->nodes = g_new0(NodeSum, pattern->n_nodes);
    for (guint32 i = 0; i < pattern->n_nodes; i++) node_stats_init(&sum->nodes[i].stats);
    allowance_hold(&sum->charged, pattern->n_nodes * sizeof *sum->nodes);
    return sum;
}

void pattern_sum_free(PatternSum *sum) {
    if (!sum) return;
    allowance_release(sum->charged);
    for (guint32 i = 0; i < sum->pattern->n_nodes; i++) node_stats_clear(&sum->nodes[i].stats);
    g_free(sum->nodes);
    pattern_unref(sum->pattern);
    g_free(sum);
}

/* FALSE: it is there already, or enough are. */
static gboolean add_host(NodeSum *node, guint32 host) {
    if (host == 0 || node->n_hosts == NODE_HOSTS_MAX) return FALSE;
    for (guint i = 0; i < node->n_hosts; i++) {
        if (node->hosts[i] == host) return FALSE;
    }
    node->hosts[node->n_hosts++] = host;
    return TRUE;
}

static gboolean is_virtual(const Pattern *pattern, guint32 node) {
    return node == 0 || pattern->nodes[node].name == NAME_MISSING;
}

void pattern_sum_add(PatternSum *sum, const NodeMap *map, StatsRow *row, gboolean virtual_only) {
    for (guint i = 0; i < stats_row_size(row) && allowance_goes_on(); i++) {
        guint32 number;
        NodeStats *stats = stats_row_at(row, i, &number);
        number = node_map_get(map, number);
        if (number >= sum->pattern->n_nodes || (virtual_only && !is_virtual(sum->pattern, number))) continue;
        const gsize bytes = node_stats_bytes(&sum->nodes[number].stats);
        node_stats_merge(&sum->nodes[number].stats, stats);
        allowance_hold(&sum->charged, sum->charged + node_stats_bytes(&sum->nodes[number].stats) - bytes);
    }
}

void pattern_sum_add_host(PatternSum *sum, const NodeMap *map, guint32 host, StatsRow *row) {
    for (guint i = 0; i < stats_row_size(row) && allowance_goes_on(); i++) {
        guint32 number;
        const NodeStats *stats = stats_row_at(row, i, &number);
        number = node_map_get(map, number);
        if (stats->duration.count > 0) pattern_sum_note_host(sum, number, host);
    }
}

gboolean pattern_sum_note_host(PatternSum *sum, guint32 node, guint32 host) {
    return node > 0 && node < sum->pattern->n_nodes && add_host(&sum->nodes[node], host);
}

gboolean pattern_sum_hosts_full(const PatternSum *sum) {
    for (guint32 i = 1; i < sum->pattern->n_nodes; i++) {
        if (sum->nodes[i].n_hosts < NODE_HOSTS_MAX && !is_virtual(sum->pattern, i)) return FALSE;
    }
    return TRUE;
}

PatternSum *pattern_sum_filter(PatternSum *sum, const Pattern *filtered, const guint32 *map) {
    PatternSum *result = pattern_sum_new(filtered);
    for (guint32 i = 0; i < sum->pattern->n_nodes; i++) {
        guint32 number = map ? map[i] : i;
        if (number >= filtered->n_nodes) continue;
        node_stats_merge(&result->nodes[number].stats, &sum->nodes[i].stats);
        for (guint h = 0; h < sum->nodes[i].n_hosts; h++) add_host(&result->nodes[number], sum->nodes[i].hosts[h]);
    }
    return result;
}

static void add_group_row(void *arg, const StatsKey *key, StatsRow *row) {
    if (key->cell == 0)
        pattern_sum_add(arg, NULL, row, FALSE);
    else
        pattern_sum_add_host(arg, NULL, key->host, row);
}

PatternSum *pattern_sum_of_trace(Archive *archive, Compressor *compressor, const CallTree *tree,
                                 const TreeTimes *times) {
    g_autofree guint32 *node_of = g_new(guint32, tree->n_nodes);
    g_autoptr(Pattern) pattern = compressor_tree(compressor, tree, node_of);
    g_autoptr(StatsGroup) group = stats_group_new(archive_lookup(archive), TRUE);
    PatternSum *sum = pattern_sum_new(pattern);
    const StatsTrace trace = {tree, times, node_of, 1, NULL, NULL};
    stats_group_add_pattern(group, &trace);
    stats_group_foreach(group, add_group_row, sum);
    return sum;
}

/* Depths of the pattern's nodes: 0 for roots, G_MAXUINT32 for the trace. Freed by the caller. */
static guint32 *pattern_depths(const Pattern *pattern) {
    guint32 *depths = g_new(guint32, pattern->n_nodes);
    depths[0] = G_MAXUINT32;
    for (guint32 i = 1; i < pattern->n_nodes; i++) depths[i] = depths[pattern->nodes[i].parent] + 1;
    return depths;
}

static gint compare_names(gconstpointer a, gconstpointer b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static json_t *hosts_json(const NodeSum *node, Archive *archive) {
    const char *names[NODE_HOSTS_MAX];
    for (guint i = 0; i < node->n_hosts; i++) names[i] = dict_text(archive_dict(archive), node->hosts[i], NULL);
    qsort(names, node->n_hosts, sizeof names[0], compare_names);
    json_t *list = json_array();
    for (guint i = 0; i < node->n_hosts; i++) json_array_append_new(list, json_text(names[i], strlen(names[i])));
    return list;
}

json_t *pattern_sum_json(PatternSum *sum, Archive *archive) {
    g_autofree guint32 *depths = pattern_depths(sum->pattern);
    json_t *list = json_array();
    for (guint32 i = 1; i < sum->pattern->n_nodes && allowance_goes_on(); i++) {
        const PatternNode *node = &sum->pattern->nodes[i];
        const char *name = node_text(archive, node->name);
        json_t *row = json_object();
        json_object_set_new(row, "depth", json_integer(depths[i]));
        json_object_set_new(row, "function", json_text(name, strlen(name)));
        json_object_set_new(row, "role", json_string(role_name(node->role)));
        json_object_set_new(row, "hosts", hosts_json(&sum->nodes[i], archive));
        measure_add(row, &sum->nodes[i].stats);
        json_array_append_new(list, row);
    }
    return list;
}
