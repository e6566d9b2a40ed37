/* Questions that are answered in columns, and those that go with them: for a trace of millions of spans, of which a
 * document would be some 400 bytes each. docs/api.md describes the answers; ../query.c has the table. */
#pragma once

#include "analyzer/query/shared/question.h"

/* A new reference, or NULL with *error. */
json_t *answer_trace_columns(const Asked *asked, GError **error);
json_t *answer_trace_notes(const Asked *asked, GError **error);
json_t *answer_trace_find(const Asked *asked, GError **error);
json_t *answer_task_columns(const Asked *asked, GError **error);
json_t *answer_series_columns(const Asked *asked, GError **error);
json_t *answer_span(const Asked *asked, GError **error);
