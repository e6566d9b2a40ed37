/* The facts that advice on an application is worked out from (analyzer/diagnosis/advise/facts.h), read from the store:
 * tasks are visited, and of each only a few numbers are kept. */
#pragma once

#include "analyzer/archive/spark/spark.h"
#include "analyzer/diagnosis/advise/facts.h"

/* app: its record, whose texts outlive the facts. texts: takes those of the other records. now_ms: what still runs
 * lasts until then. Without "nodes", which are found in another way. NULL with *error. */
AdviseFacts *app_facts_load(Archive *archive, const SparkApp *app, SparkRecords *texts, gint64 now_ms, GError **error);
