/* The first tasks of a stage on an executor (ROW_FIRST): the JVM starts, or has to load the classes of that stage, run
 * code that is not compiled yet, to fetch what is broadcast. That they are slow has nothing to do with their data. */
#pragma once

#include "analyzer/diagnosis/stragglers.h"

typedef struct ExecutorStarts ExecutorStarts;
ExecutorStarts *executor_starts_new(const TaskTable *table, const Stragglers *stragglers);
void executor_starts_free(ExecutorStarts *starts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ExecutorStarts, executor_starts_free)

/* Is the start of its executor a cause of a task's excess? When the task is a first one, at most half of the stage's
 * counted tasks are, and the median of these is at least STRAGGLER_RATIO times the stage's. *explains_ms: what that
 * median is above the stage's, at most the excess; 0 of the only first task, of which nothing can be said. */
gboolean executor_starts_explain(const ExecutorStarts *starts, guint32 task, double *explains_ms);
