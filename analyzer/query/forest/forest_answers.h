/* The questions about compressed trees, in the way of ../spans/span_answers.h. */
#pragma once

#include "analyzer/query/shared/question.h"

/* A new reference, or NULL with *error. */
json_t *answer_forest(const Asked *asked, GError **error);
json_t *answer_diff(const Asked *asked, GError **error);
