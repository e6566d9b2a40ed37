/* What the questions about Spark's tasks and operations share: options of the methods, and what they say as JSON. */
#pragma once

#include "analyzer/core/baselines.h"
#include "analyzer/core/bigroots.h"
#include "analyzer/query/question.h"

/* "lambda_p", "lambda_q", "lambda_t", "lambda_e", "lambda_w", "window", "peers", "edge", "evidence"; where nothing is
 * given the defaults of bigroots_options(). INPUT. */
gboolean asked_bigroots(const Asked *asked, BigRootsOptions *options, GError **error);
json_t *json_bigroots_options(const BigRootsOptions *options);

/* {"feature", "kind", "topic", "unit", "verdict", "measured", "value", "bound", "correlation"}. */
json_t *json_blame(const TaskTable *table, const Blame *blame);

/* Evidence or blames (structs whose first field is the straggler's number) by straggler: result[first[i]..first[i + 1])
 * are the indices of those of straggler i, in their order. */
typedef struct ByStraggler {
    guint32 *first, *indices;
} ByStraggler;
ByStraggler by_straggler(const GArray *items, guint32 n_stragglers);
void by_straggler_clear(ByStraggler *by);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ByStraggler, by_straggler_clear)

/* Rounded to six significant digits; nothing of NAN and the like. */
void json_set_number(json_t *object, const char *name, double value);
