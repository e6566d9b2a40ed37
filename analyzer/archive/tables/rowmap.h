/* Statistics rows by key, in the order of the stored keys. */
#pragma once

#include "analyzer/calltree/stats/stats.h"

typedef struct RowMap RowMap;
RowMap *row_map_new(void);
void row_map_free(RowMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RowMap, row_map_free)
guint row_map_size(const RowMap *map);
/* Of memory, roughly; the thread's allowance (common/base/allowance.h) is charged with it. */
gsize row_map_bytes(const RowMap *map);
/* A row was changed that had so many bytes (stats_row_bytes()). */
void row_map_changed(RowMap *map, const StatsRow *row, gsize bytes_before);
/* Made when missing. */
StatsRow *row_map_get(RowMap *map, const StatsKey *key);
/* The first entry with a key >= *from; FALSE when there is none, or when the thread's allowance is used up. *key and
 * *row may be used until the map changes. */
gboolean row_map_seek(RowMap *map, const StatsKey *from, StatsKey *key, StatsRow **row);
gboolean row_map_next(RowMap *map, StatsKey *key, StatsRow **row); /* *key: the last one seen */
void row_map_remove(RowMap *map, const StatsKey *key);
/* Removes what does not lie before the key. */
void row_map_remove_from(RowMap *map, const StatsKey *key);
