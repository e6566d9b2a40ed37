/* The questions about how long tasks will take: on other hosts, and until their stage ends. */
#pragma once

#include "analyzer/query/shared/question.h"

/* A new reference, or NULL with *error. */
json_t *answer_ends(const Asked *asked, GError **error);
json_t *answer_predict(const Asked *asked, GError **error);
