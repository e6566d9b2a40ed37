/* How an operation of a stage is named in answers. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/spark/tasks/stage_ops.h"

/* Adds "rdd", "class", "rdd_name" and "call_site", as far as they are known. */
void json_add_operation(json_t *object, const StageOperation *operation);
