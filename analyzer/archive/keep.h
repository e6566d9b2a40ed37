/* What records are stored without, because the operator chose so: ids of spans, annotations, notes. Statistics are
 * taken before and lose nothing; so the annotation "bytes", from which they can be computed anew, always stays.
 *
 * Ids are left out of the record, but lie beside it (family 'ids') for as long as late spans must find their parents,
 * and repeated ones, or a journal that is replayed, must be recognised. archive_forget_ids() ends that. From then on a
 * late span of the trace becomes a part of its own, whether it is new or came before. */
#pragma once

#include "analyzer/calltree/record/record.h"

typedef struct ArchiveKeep {
    guint32 dropped; /* DroppedColumns */
    char **keys;     /* with DROPPED_ANNOTATIONS: keys that stay nonetheless; may be NULL */
} ArchiveKeep;

/* From a list of "ids", "annotations", "annotation:KEY" and "notes". CONFIG: something else is in it. */
gboolean archive_keep_parse(const char *const *entries, ArchiveKeep *keep, GError **error);
void archive_keep_clear(ArchiveKeep *keep);

struct Archive;

/* Records that are kept without ids lose them for good if they were written before; until then late spans join them,
 * and repeated ones change nothing. plumbd calls it when nothing of that time can be replayed any more. */
gboolean archive_forget_ids(struct Archive *archive, gint64 before_ns, GError **error);
/* Are there ids to forget? */
gboolean archive_ids_due(struct Archive *archive, gint64 before_ns, gboolean *due, GError **error);

/* What a record has lost: the bits of its summary, but for ids that still lie beside it. */
gboolean archive_dropped(struct Archive *archive, guint64 trace_id, const TraceSummary *summary, guint32 *dropped,
                         GError **error);
/* What the records of a trace have lost, all together; 0 when there is no such trace. */
gboolean archive_trace_dropped(struct Archive *archive, guint64 trace_id, guint32 *dropped, GError **error);
