/* The inside of a StatsRow. A function's row has one node, most patterns' rows have few: the first lies in the row
 * itself, and only rows with more than ROW_LINEAR nodes are indexed. */
#pragma once

#include "analyzer/calltree/stats/stats.h"

#define ROW_LINEAR 8u

typedef struct RowEntry {
    NodeStats stats;
    guint32 node;
} RowEntry;

struct StatsRow {
    RowEntry *entries;
    guint n, room;
    gboolean unsorted;
    guint32 *table; /* open addressing: node -> index + 1; NULL: few nodes */
    guint32 table_size;
    RowEntry single;
};

static inline guint32 row_hash(guint32 node) { return (node * 0x9e3779b1u) >> 7; }

static inline RowEntry *row_find(StatsRow *row, guint32 node) {
    if (row->table == NULL) {
        for (guint i = 0; i < row->n; i++) {
            if (row->entries[i].node == node) return &row->entries[i];
        }
        return NULL;
    }
    guint32 at = row_hash(node) & (row->table_size - 1);
    for (; row->table[at] != 0; at = (at + 1) & (row->table_size - 1)) {
        RowEntry *entry = &row->entries[row->table[at] - 1];
        if (entry->node == node) return entry;
    }
    return NULL;
}
