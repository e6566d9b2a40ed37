/* The questions about Spark: applications, stages, tasks, and what made them slow. This folder gathers facts from the
 * archive (records of Spark, traces of tasks); analyzer/diagnosis/ judges them, without I/O. */
#pragma once

#include "analyzer/query/shared/question.h"

/* A new reference, or NULL with *error. */
json_t *answer_advise(const Asked *asked, GError **error);
json_t *answer_apps(const Asked *asked, GError **error);
json_t *answer_stages(const Asked *asked, GError **error);
json_t *answer_jobs(const Asked *asked, GError **error);
json_t *answer_executors(const Asked *asked, GError **error);
json_t *answer_tasks(const Asked *asked, GError **error);
json_t *answer_hosts(const Asked *asked, GError **error);
json_t *answer_runs(const Asked *asked, GError **error);
json_t *answer_why(const Asked *asked, GError **error);
json_t *answer_stragglers(const Asked *asked, GError **error);
json_t *answer_operations(const Asked *asked, GError **error);
json_t *answer_pipelines(const Asked *asked, GError **error);
json_t *answer_samples(const Asked *asked, GError **error);
