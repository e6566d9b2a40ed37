#include "analyzer/archive/tables/rowmap.h"

#include "analyzer/archive/tables/layout.h"

struct RowMap {
    GTree *rows; /* StatsKey -> StatsRow */
};

static int compare_keys(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    return stats_key_compare(a, b);
}

RowMap *row_map_new(void) {
    RowMap *map = g_new0(RowMap, 1);
    map->rows = g_tree_new_full(compare_keys, NULL, g_free, (GDestroyNotify)stats_row_free);
    return map;
}

void row_map_free(RowMap *map) {
    if (map == NULL) return;
    g_tree_unref(map->rows);
    g_free(map);
}

guint row_map_size(const RowMap *map) { return (guint)g_tree_nnodes(map->rows); }

StatsRow *row_map_get(RowMap *map, const StatsKey *key) {
    StatsRow *row = g_tree_lookup(map->rows, key);
    if (row != NULL) return row;
    StatsKey *copy = g_new(StatsKey, 1);
    *copy = *key;
    row = stats_row_new();
    g_tree_insert(map->rows, copy, row);
    return row;
}

static gboolean node_out(GTreeNode *node, StatsKey *key, StatsRow **row) {
    if (node == NULL) return FALSE;
    *key = *(const StatsKey *)g_tree_node_key(node);
    *row = g_tree_node_value(node);
    return TRUE;
}

gboolean row_map_seek(RowMap *map, const StatsKey *from, StatsKey *key, StatsRow **row) {
    return node_out(g_tree_lower_bound(map->rows, from), key, row);
}

gboolean row_map_next(RowMap *map, StatsKey *key, StatsRow **row) {
    StatsKey last = *key;
    return node_out(g_tree_upper_bound(map->rows, &last), key, row);
}

void row_map_remove(RowMap *map, const StatsKey *key) { g_tree_remove(map->rows, key); }
