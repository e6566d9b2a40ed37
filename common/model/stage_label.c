#include "common/model/stage_label.h"

#include <string.h>

/* Of a stage so many nodes are named: the first ones and the last. */
#define NODES_MOST 4u

static gboolean is_node(const char *scope) { return scope != NULL && g_ascii_isupper(scope[0]); }

gboolean spark_stage_is_sql(const SparkStage *stage) {
    for (guint32 i = 0; i < stage->rdds.n; i++)
        if (is_node(stage->rdds.items[i].scope)) return TRUE;
    return FALSE;
}

static gint by_id(gconstpointer a, gconstpointer b) {
    const SparkRdd *x = *(const SparkRdd *const *)a, *y = *(const SparkRdd *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* "WholeStageCodegen (3)" says nothing but for the join that may be in it. */
static const char *node_of(const SparkRdd *rdd) {
    if (rdd->name != NULL && g_str_has_prefix(rdd->name, "ZippedPartitionsRDD")) return "Join";
    if (!is_node(rdd->scope) || g_str_has_prefix(rdd->scope, "WholeStageCodegen")) return NULL;
    if (rdd->name != NULL && strcmp(rdd->name, "ShuffledRowRDD") == 0) return "Shuffle read";
    return rdd->scope;
}

static void add_node(GPtrArray *nodes, const char *text) {
    g_autofree char *node = g_strstrip(g_strdup(text));
    for (guint i = 0; i < nodes->len; i++)
        if (strcmp(g_ptr_array_index(nodes, i), node) == 0) return;
    if (node[0] != '\0') g_ptr_array_add(nodes, g_steal_pointer(&node));
}

/* RDDs are numbered in the order in which they are made: parents first. */
static GPtrArray *nodes_of(const SparkStage *stage) {
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    GPtrArray *nodes = g_ptr_array_new_with_free_func(g_free);
    for (guint32 i = 0; i < stage->rdds.n; i++) g_ptr_array_add(order, (gpointer)&stage->rdds.items[i]);
    g_ptr_array_sort(order, by_id);
    for (guint i = 0; i < order->len; i++) {
        const char *node = node_of(g_ptr_array_index(order, i));
        if (node != NULL) add_node(nodes, node);
    }
    return nodes;
}

char *spark_stage_label(const SparkStage *stage) {
    if (!spark_stage_is_sql(stage)) return g_strdup(stage->name);
    g_autoptr(GPtrArray) nodes = nodes_of(stage);
    if (nodes->len == 0) return g_strdup("Query");
    GString *label = g_string_new(NULL);
    for (guint i = 0; i < nodes->len; i++) {
        if (nodes->len > NODES_MOST && i == NODES_MOST - 1) {
            g_string_append(label, " > ...");
            i = nodes->len - 1;
        }
        g_string_append_printf(label, "%s%s", i > 0 ? " > " : "", (const char *)g_ptr_array_index(nodes, i));
    }
    return g_string_free(label, FALSE);
}
