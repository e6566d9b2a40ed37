/* What was removed of the traces of each minute, so that what is left can be told from what was: answers say how many
 * traces of a pattern were kept, and verify compares statistics with what is stored and what was removed together.
 *
 *   family  key                      value
 *   meta    "removed/", minute u32   calls varint; then for each pattern, ascending: difference of its number to the
 *                                    one before, traces, spans, all varints
 *
 * A trace counts in the minute of its begin, a call in that of its own, as in statistics. Written by one thread at a
 * time (Archive.maintenance_lock). */
#pragma once

#include "analyzer/archive/tables/layout.h"
#include "analyzer/archive/tables/pattern_numbers.h"
#include "common/store/store.h"

#define REMOVED_COUNTS_PREFIX "removed/"

typedef struct RemovedPattern {
    guint32 pattern;
    guint64 traces, spans;
} RemovedPattern;

typedef struct RemovedMinute {
    guint64 calls;
    GArray *patterns; /* RemovedPattern, ascending */
} RemovedMinute;

typedef struct RemovedSet RemovedSet;
RemovedSet *removed_set_new(void);
void removed_set_free(RemovedSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RemovedSet, removed_set_free)
void removed_set_add_trace(RemovedSet *set, guint32 minute, guint32 pattern, guint64 spans);
void removed_set_add_call(RemovedSet *set, guint32 minute);
/* NULL: nothing was removed of it. */
const RemovedMinute *removed_set_find(const RemovedSet *set, guint32 minute);
guint removed_set_size(const RemovedSet *set); /* minutes */
typedef void (*RemovedVisit)(void *arg, guint32 minute, const RemovedMinute *removed);
void removed_set_foreach(const RemovedSet *set, RemovedVisit visit, void *arg); /* in no order */

/* Adds what is stored of the minutes [from, until). CORRUPT, IO. */
gboolean removed_set_load(RemovedSet *set, StoreIter *meta, guint32 from, guint32 until, GError **error);
/* Adds the set to what is stored of its minutes, in the batch. */
gboolean removed_set_put(const RemovedSet *set, Store *store, StoreBatch *batch, GError **error);
/* What was removed of [since_ns, until_ns), widened to whole minutes, one minute after the other: nothing of those
 * whose statistics by the minute are gone. CORRUPT, IO. */
typedef struct RemovedPeriod {
    gint64 since_ns, until_ns;
    RemovedVisit visit;
    void *arg;
} RemovedPeriod;
gboolean archive_removed(Archive *archive, const RemovedPeriod *period, GError **error);
/* Forgets the minutes below 'until'. */
void removed_delete(guint32 until, StoreBatch *batch);
