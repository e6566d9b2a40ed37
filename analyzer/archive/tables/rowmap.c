#include "analyzer/archive/tables/rowmap.h"

#include "analyzer/archive/tables/layout.h"
#include "common/base/allowance.h"

/* A key, a node of the tree, and what the allocator takes for them. */
#define ENTRY_BYTES (sizeof(StatsKey) + 96u)

struct RowMap {
    GTree *rows; /* StatsKey -> StatsRow */
    gsize bytes; /* charged */
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
    allowance_release(map->bytes);
    g_tree_unref(map->rows);
    g_free(map);
}

guint row_map_size(const RowMap *map) { return (guint)g_tree_nnodes(map->rows); }

gsize row_map_bytes(const RowMap *map) { return map->bytes; }

void row_map_changed(RowMap *map, const StatsRow *row, gsize bytes_before) {
    allowance_hold(&map->bytes, map->bytes + stats_row_bytes(row) - bytes_before);
}

StatsRow *row_map_get(RowMap *map, const StatsKey *key) {
    StatsRow *row = g_tree_lookup(map->rows, key);
    if (row != NULL) return row;
    StatsKey *copy = g_new(StatsKey, 1);
    *copy = *key;
    row = stats_row_new();
    g_tree_insert(map->rows, copy, row);
    allowance_hold(&map->bytes, map->bytes + ENTRY_BYTES + stats_row_bytes(row));
    return row;
}

static gboolean node_out(GTreeNode *node, StatsKey *key, StatsRow **row) {
    if (node == NULL) return FALSE;
    *key = *(const StatsKey *)g_tree_node_key(node);
    *row = g_tree_node_value(node);
    return TRUE;
}

gboolean row_map_seek(RowMap *map, const StatsKey *from, StatsKey *key, StatsRow **row) {
    return allowance_goes_on() && node_out(g_tree_lower_bound(map->rows, from), key, row);
}

gboolean row_map_next(RowMap *map, StatsKey *key, StatsRow **row) {
    StatsKey last = *key;
    return allowance_goes_on() && node_out(g_tree_upper_bound(map->rows, &last), key, row);
}

void row_map_remove(RowMap *map, const StatsKey *key) {
    const StatsRow *row = g_tree_lookup(map->rows, key);
    if (row == NULL) return;
    const gsize bytes = ENTRY_BYTES + stats_row_bytes(row);
    g_tree_remove(map->rows, key);
    allowance_hold(&map->bytes, map->bytes - bytes);
}

void row_map_remove_from(RowMap *map, const StatsKey *key) {
    StatsKey next;
    StatsRow *row;
    while (row_map_seek(map, key, &next, &row)) row_map_remove(map, &next);
}
