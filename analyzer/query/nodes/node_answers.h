/* The questions about hosts that are slow: which of them, what of all is slow, and what was done to them.
 * Statistics of functions by minute and host are all that they need; analyzer/diagnosis/nodes/ judges them. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "common/model/spark.h"

/* One per question (query_<name>.c): a new reference, or NULL with *error. query.c has the table of their
 * parameters. */
json_t *answer_nodes(const Asked *asked, GError **error);
json_t *answer_slow(const Asked *asked, GError **error);
json_t *answer_marks(const Asked *asked, GError **error);

/* A row of the question "marks"; a new reference. */
json_t *mark_json(const HostMark *mark);
