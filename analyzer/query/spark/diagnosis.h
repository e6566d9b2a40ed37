/* What the questions about Spark's tasks and operations share: options of the methods, and what they say as JSON. */
#pragma once

#include "analyzer/diagnosis/baselines.h"
#include "analyzer/diagnosis/bigroots.h"
#include "analyzer/query/shared/question.h"

/* "lambda_p", "lambda_q", "lambda_t", "lambda_e", "lambda_w", "window", "peers", "edge", "evidence"; where nothing is
 * given the defaults of bigroots_options(). INPUT. */
gboolean asked_bigroots(const Asked *asked, BigRootsOptions *options, GError **error);
json_t *json_bigroots_options(const BigRootsOptions *options);

/* {"feature", "kind", "topic", "unit", "verdict", "measured", "value", "bound", "correlation"}. */
json_t *json_blame(const TaskTable *table, const Blame *blame);

/* Sorts evidence or blames (structs whose first field is the straggler's number) by straggler; those of one stay in
 * their order, which is that of the features. Those of straggler i are [first[i], first[i + 1]) of the n_stragglers + 1
 * numbers returned; free with g_free(). */
guint32 *sort_by_straggler(GArray *items, guint32 n_stragglers);
