/* What records are stored without, because the operator chose so: ids of spans, annotations, notes. Statistics are
 * taken before and lose nothing; so the annotations "bytes", "stream", "exclusiveNs", "exception" and "error", from
 * which they can be computed anew, always stay.
 *
 * Ids are left out of the record, but lie beside it (family 'ids') for as long as late spans must find their parents,
 * and repeated ones, or a journal that is replayed, must be recognised. kept_ids.h ends that. From then on a
 * late span of the trace becomes a part of its own, whether it is new or came before. */
#pragma once

#include "analyzer/calltree/record/record.h"

typedef struct KeptColumns {
    guint32 dropped; /* DroppedColumns */
    char **keys;     /* with DROPPED_ANNOTATIONS: keys that stay nonetheless; may be NULL */
} KeptColumns;

/* From a list of "ids", "annotations", "annotation:KEY" and "notes". CONFIG: something else is in it. */
gboolean kept_columns_parse(const char *const *entries, KeptColumns *keep, GError **error);
void kept_columns_clear(KeptColumns *keep);
