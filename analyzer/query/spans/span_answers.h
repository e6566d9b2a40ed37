/* The questions about functions, senders and the store. Each answer_NAME() is in query_NAME.c and makes the document
 * that docs/api.md describes; ../query.c has the table that names it and checks its parameters. */
#pragma once

#include "analyzer/query/shared/question.h"

/* A new reference, or NULL with *error. */
json_t *answer_status(const Asked *asked, GError **error);
json_t *answer_senders(const Asked *asked, GError **error);
json_t *answer_functions(const Asked *asked, GError **error);
json_t *answer_series(const Asked *asked, GError **error);
json_t *answer_distribution(const Asked *asked, GError **error);
json_t *answer_names(const Asked *asked, GError **error);
json_t *answer_verify(const Asked *asked, GError **error);
