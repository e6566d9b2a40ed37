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
    guint32 dict_size; /* when the keys of errors were looked for last */
    guint32 error_keys[POSTINGS_ERROR_KEYS];
} GroupCalls;
void group_calls_init(GroupCalls *calls, const Archive *archive);
void group_calls_clear(GroupCalls *calls);

/* Before a record's postings are added. */
void group_calls_watch(GroupCalls *calls, const Archive *archive, Postings *postings);
/* After it: takes the errors that were found. counted, when not NULL: of each node, not 0 when it was stored before. */
void group_calls_take_errors(GroupCalls *calls, Postings *postings, const guint8 *counted);
/* Instead: they were stored before. */
void group_calls_drop_errors(Postings *postings);
/* A new record of a trace. */
void group_calls_add_examples(GroupCalls *calls, guint64 trace_id, const CallTree *tree);
/* The group is written: all is told, and forgotten. */
void group_calls_tell(GroupCalls *calls);
/* For StatsSealed. */
const StatsCounts *group_calls_counts(const GroupCalls *calls);
