/* The marks of FAMILY_DIRTY in memory, and the question whether a row of statistics is stale: has it a mark inside? */
#pragma once

#include "analyzer/archive/layout.h"
#include "common/store/store.h"

/* Stored rows of one pattern in one bucket (one row a host). */
typedef struct PatternRows {
    StatsLevel level;
    guint32 bucket;
    guint32 pattern;
} PatternRows;

typedef struct StaleSet {
    GArray *marks;    /* DirtyMark, in stored order */
    GHashTable *rows; /* StaleRow: the marked minutes, and hours and days around them */
} StaleSet;

typedef struct StaleRow {
    PatternRows row;
    gboolean done; /* for whoever goes through the marks and wants to see each row once */
} StaleRow;

void stale_set_init(StaleSet *set);
void stale_set_clear(StaleSet *set);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StaleSet, stale_set_clear)
/* Reads the marks of the minutes [from, until), of one pattern or (0) of all. */
gboolean stale_set_load(StaleSet *set, StoreIter *dirty, const guint32 minutes[2], guint32 pattern, GError **error);
StaleRow *stale_set_find(const StaleSet *set, const PatternRows *row); /* NULL: not stale */

/* Length of a level's bucket in minutes, and in buckets of the next finer level. */
guint32 level_minutes(StatsLevel level);
guint32 level_children(StatsLevel level);
