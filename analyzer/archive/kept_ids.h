/* Ids of records that are kept without (kept_columns.h): when they are forgotten, and what a record has lost. */
#pragma once

#include "analyzer/archive/archive.h"

/* Records that are kept without ids lose them for good if they were written before; until then late spans join them,
 * and repeated ones change nothing. plumbd calls it when nothing of that time can be replayed any more. */
gboolean archive_forget_ids(Archive *archive, gint64 before_ns, GError **error);
/* Are there ids to forget? */
gboolean archive_ids_due(Archive *archive, gint64 before_ns, gboolean *due, GError **error);

/* What a record has lost: the bits of its summary, but for ids that still lie beside it. */
gboolean archive_dropped(Archive *archive, guint64 trace_id, const TraceSummary *summary, guint32 *dropped,
                         GError **error);
/* What is known of a trace without its spans. */
typedef struct TraceKept {
    guint32 dropped; /* what its records have lost, all together; 0 when there is no such trace */
    guint32 pattern; /* the number; 0: of a trace in several parts, which have one each */
} TraceKept;
gboolean archive_trace_kept(Archive *archive, guint64 trace_id, TraceKept *kept, GError **error);

/* The minute by the archive's clock, as ids_at of what is written now. */
guint32 kept_ids_minute(Archive *archive);
/* Ids that lie beside a record: *ids NULL when there are none, or the record has its own. */
gboolean kept_ids_get(Archive *archive, const TraceSummary *summary, guint64 trace_id, GBytes **ids, GError **error);
/* Has the record lost its ids for good? */
gboolean kept_ids_forgotten(Archive *archive, const TraceSummary *summary, guint64 trace_id, gboolean *gone,
                            GError **error);
