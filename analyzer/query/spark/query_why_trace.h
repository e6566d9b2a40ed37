/* Where the time of one trace went, whatever client of HDFS it is of: the answer of "why" to a trace's id. */
#pragma once

#include "analyzer/query/shared/question.h"

json_t *answer_why_trace(const Asked *asked, GError **error);
