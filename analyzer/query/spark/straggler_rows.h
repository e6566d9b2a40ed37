/* Stragglers and the evidence on them as JSON, the same in every answer that lists them. */
#pragma once

#include "analyzer/diagnosis/bigroots.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/spark/tasks/app_tasks.h"

/* A task attempt: "stage", "task", "host", times, "scale" (times the stage's median) and "stage_median_ns". */
json_t *task_row_json(const AppTasks *tasks, const Stragglers *stragglers, guint32 row);
/* straggler: index into the list. */
json_t *straggler_json(const AppTasks *tasks, const Stragglers *stragglers, guint32 straggler);
/* Why a feature is a cause, or is none: value, peers, quantile, verdict. */
json_t *evidence_json(const TaskTable *table, const Evidence *evidence);
