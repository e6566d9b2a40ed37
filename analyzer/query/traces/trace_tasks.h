/* From a trace to the tasks of Spark that it belongs to. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"

/* Adds "tasks" to the answer: the task whose own trace it is, told by the trace's root, and those that stored links
 * tell of. Nothing where there are none. */
gboolean trace_tasks_add(json_t *answer, const Asked *asked, const TraceView *view, GError **error);
/* The same in two steps, for who has no view: the task that a root says itself that the trace is of is appended to
 * 'tasks', then what stored links tell of follows. */
void trace_task_add_own(json_t *tasks, Archive *archive, guint64 trace_id, const SpanRec *root);
gboolean trace_tasks_add_to(json_t *answer, const Asked *asked, guint64 trace_id, json_t *tasks, GError **error);
