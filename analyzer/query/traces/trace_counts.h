/* How many traces match, by begin and duration: counted while they are looked for, whatever is listed of them. */
#pragma once

#include "analyzer/query/shared/question.h"

typedef struct TraceCounts TraceCounts;
/* Over the period that is asked for. NULL with *error. */
TraceCounts *trace_counts_new(const Asked *asked, GError **error);
void trace_counts_free(TraceCounts *counts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceCounts, trace_counts_free)

void trace_counts_add(TraceCounts *counts, const TraceSummary *summary);
/* {"traces", "since_time_ns", "until_time_ns", "step_ns", "edges", "columns"} */
json_t *trace_counts_json(const TraceCounts *counts);
