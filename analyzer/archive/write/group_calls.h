/* The calls of a group, for the archive's visitor of stored calls. */
#pragma once

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/index/postings.h"
#include "analyzer/archive/stored_calls.h"
#include "analyzer/calltree/process_cache.h"

typedef struct GroupCalls {
    const StoredCallsVisitor *visitor; /* its visit is NULL: nothing is noted */
    StoredCalls calls;
    ProcessCache processes;
} GroupCalls;
void group_calls_init(GroupCalls *calls, const Archive *archive);
void group_calls_clear(GroupCalls *calls);

/* Calls of a trace that failed (guint32: nodes). counted, when not NULL: of each node, not 0 when it was stored
 * before. */
void group_calls_add_errors(GroupCalls *calls, const CallTree *tree, const GArray *failed, const guint8 *counted);
/* A new record of a trace. */
void group_calls_add_examples(GroupCalls *calls, guint64 trace_id, const CallTree *tree);
/* The group is written: all is told, and forgotten. */
void group_calls_tell(GroupCalls *calls);
/* For StatsSealed. */
const StatsCounts *group_calls_counts(const GroupCalls *calls);
