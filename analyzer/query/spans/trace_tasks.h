/* From a trace to the tasks of Spark that it belongs to. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"

/* Adds "tasks" to the answer: the task whose own trace it is, told by the trace's root, and those that stored links
 * tell of. Nothing where there are none. */
gboolean trace_tasks_add(json_t *answer, const Asked *asked, const TraceView *view, GError **error);
