/* The questions about hosts that are slow: which of them, and what of all is slow. Statistics of functions by minute
 * and host are all that they need; analyzer/diagnosis/nodes/ judges them. */
#pragma once

#include "analyzer/query/shared/question.h"

/* One per question (query_<name>.c): a new reference, or NULL with *error. query.c has the table of their
 * parameters. */
json_t *answer_nodes(const Asked *asked, GError **error);
json_t *answer_slow(const Asked *asked, GError **error);
