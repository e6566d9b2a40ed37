/* Whom the requests of a load waited for: the answer of "bottleneck". docs/load.md says what it is read for. */
#pragma once

#include "analyzer/query/shared/question.h"

json_t *answer_bottleneck(const Asked *asked, GError **error);
