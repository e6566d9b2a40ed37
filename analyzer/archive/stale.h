/* The marks of FAMILY_DIRTY in memory: which rows of statistics are stale, and what has to be taken back from them. */
#pragma once

#include "analyzer/archive/layout.h"
#include "analyzer/archive/rowmap.h"
#include "common/store/store.h"

/* The stored row of one pattern in one bucket, of all hosts together. */
typedef struct PatternRows {
    StatsLevel level;
    guint32 bucket;
    guint32 pattern;
} PatternRows;

typedef struct StaleSet {
    GArray *marks;    /* DirtyMark, in stored order */
    GHashTable *rows; /* StaleRow: the marked minutes, and hours and days around them */
    RowMap *replaced; /* minute rows to take back: the sum of all marks */
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
/* Position of the first mark of a minute and pattern, or where it would be. */
guint stale_set_first(const StaleSet *set, guint32 minute, guint32 pattern);
/* Takes what the marks of a minute and pattern say away from the row with this key. FALSE:
 * what is left cannot be told, and the rows are of no use any more. */
gboolean stale_set_subtract(const StaleSet *set, const PatternRows *minute, const StatsKey *as, RowMap *rows);

/* Length of a level's bucket in minutes, and in buckets of the next finer level. */
guint32 level_minutes(StatsLevel level);
guint32 level_children(StatsLevel level);
