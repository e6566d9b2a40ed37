/* Takes trace records out of the store, with everything that follows: index entries, totals, the accounts by process,
 * and what is noted of the minute (removed_counts.h). Statistics stay. One group at a time, written whole or not at
 * all; only under Archive.maintenance_lock. */
#pragma once

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/retention/removed_counts.h"
#include "analyzer/archive/write/writer_group.h"

typedef struct Remover {
    Archive *archive;
    ArchiveWriter *writer; /* the group */
    AccountField why;      /* ACCOUNT_THINNED or ACCOUNT_EXPIRED */
    RemovedSet *removed;
    GArray *places;        /* scratch */
    guint records;         /* in the group */
    guint64 traces, spans; /* removed so far, groups that were written only */
    guint64 group_traces, group_spans;
} Remover;

void remover_init(Remover *remover, Archive *archive, AccountField why);
void remover_clear(Remover *remover);
/* Adds a record to the group, and its trace's index entry when it is the trace's only one. A record that is damaged is
 * left where it is: CORRUPT. */
gboolean remover_take(Remover *remover, const TraceKey *key, Bytes record, GError **error);
/* Adds all parts of a trace. */
gboolean remover_take_parts(Remover *remover, guint64 trace_id, Bytes index, GError **error);
/* Writes the group. On error it is forgotten, and all is as before. */
gboolean remover_commit(Remover *remover, GError **error);
