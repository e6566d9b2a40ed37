/* Leaving out what is not to be kept (keep.h), and finding ids that lie beside their record. */
#pragma once

#include "analyzer/archive/archive_inside.h"

/* What to leave out of a record, worked out for one tree. */
typedef struct KeepCut {
    guint32 dropped;       /* DroppedColumns of annotations and notes that were there, and are not in 'bytes' */
    const SpanRec **spans; /* what the tree had; NULL: nothing was cut */
    guint32 n_nodes;
    GByteArray *bytes;
} KeepCut;

/* Puts shortened copies in the place of the tree's spans, until keep_restore(). */
void keep_cut(Archive *archive, CallTree *tree, KeepCut *cut);
void keep_restore(CallTree *tree, KeepCut *cut);

/* The minute by the archive's clock, as ids_at of what is written now. */
guint32 keep_minute(Archive *archive);

/* Ids that lie beside a record: *ids NULL when there are none, or the record has its own. */
gboolean keep_ids(Archive *archive, const TraceSummary *summary, guint64 trace_id, GBytes **ids, GError **error);
/* Has the record lost its ids for good? */
gboolean keep_ids_gone(Archive *archive, const TraceSummary *summary, guint64 trace_id, gboolean *gone, GError **error);
