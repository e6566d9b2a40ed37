/* The questions about traces, in the way of ../spans/span_answers.h. */
#pragma once

#include "analyzer/query/shared/question.h"

/* A new reference, or NULL with *error. */
json_t *answer_traces(const Asked *asked, GError **error);
json_t *answer_contrast(const Asked *asked, GError **error);
json_t *answer_trace(const Asked *asked, GError **error);
json_t *answer_skew(const Asked *asked, GError **error);
