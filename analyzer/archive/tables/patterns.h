/* Numbers of patterns. A pattern gets its number when a writer first meets it and is stored with the first group that
 * is committed after that, together with all lower numbers not yet stored: numbers in the store have no holes, and no
 * record refers to a pattern that a crash has lost.
 *
 * Memory: 32 bytes a pattern for id -> number; the shapes themselves stay in the store until a reader asks. */
#pragma once

#include "analyzer/calltree/pattern.h"
#include "common/store/store.h"

/* Every shape gets a number while those that have one are of so many nodes together; twice this, and it must have been
 * met twice, three times, and it must have been met four times. So their number grows with the logarithm of that of the
 * traces, and what is frequent still gets its own, however much that is rare came before it. */
#define PATTERN_NODES 32768u

typedef struct PatternTable PatternTable;
/* Reads the ids of all stored patterns. nodes_step 0: PATTERN_NODES. */
PatternTable *pattern_table_open(Store *store, guint32 nodes_step, GError **error);
void pattern_table_free(PatternTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PatternTable, pattern_table_free)

/* All of these: any thread. */
/* Made when new, and met often enough. 0: it is rare. */
guint32 pattern_table_number(PatternTable *table, const Pattern *pattern);
guint32 pattern_table_find(PatternTable *table, PatternId id); /* 0: unknown */
guint32 pattern_table_count(PatternTable *table);
/* Borrowed, as long as the table; NULL when unknown or unreadable. */
const Pattern *pattern_table_get(PatternTable *table, guint32 number);

/* Adds what of 1..upto is not stored yet to a batch; when that was written, pattern_table_stored(upto). */
void pattern_table_put(PatternTable *table, guint32 upto, StoreBatch *batch);
void pattern_table_stored(PatternTable *table, guint32 upto);
