/* Minutes of which traces were removed: their statistics cannot be computed anew, but what is stored and what was
 * removed must add up to what they count, trace by trace and call by call. So verify tells thinned and expired from
 * lost. */
#pragma once

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/retention/removed_counts.h"

typedef struct RemovedCheck RemovedCheck;
/* meta, stats: iterators over one state of the store; stats nobody else's, both outlive the check. */
RemovedCheck *removed_check_new(Archive *archive, StoreIter *meta, StoreIter *stats, GError **error);
void removed_check_free(RemovedCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RemovedCheck, removed_check_free)

/* A record that is there. */
void removed_check_note(RemovedCheck *check, const TraceSummary *summary, const GPtrArray *spans);
/* May this row differ from what is stored, since traces behind it, or rows it could be compared with, were removed? */
gboolean removed_check_explains(const RemovedCheck *check, const StatsKey *key);
gboolean removed_check_any(const RemovedCheck *check);

typedef void (*RemovedDiffers)(void *arg, const char *what);
/* Compares the counts. */
gboolean removed_check_finish(RemovedCheck *check, RemovedDiffers differs, void *arg, GError **error);
