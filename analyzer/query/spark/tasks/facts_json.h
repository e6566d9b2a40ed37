/* Time in HDFS as JSON: what docs/api.md calls "hdfs" and "shares". */
#pragma once

#include "analyzer/diagnosis/hdfs_facts.h"
#include "analyzer/query/shared/question.h"

/* Of shares so many are told one by one. */
#define SHARES_SHOWN 8u

/* Whom, at what, how long. */
json_t *waited_json(Archive *archive, const HdfsShare *share);
/* And how many calls. */
json_t *share_json(Archive *archive, const HdfsShare *share);
/* Adds "time_ns", "resources_ns", "shares", ... of finished facts. */
void json_add_facts(json_t *object, Archive *archive, const HdfsFacts *facts);
