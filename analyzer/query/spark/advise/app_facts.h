/* The facts that advice on an application is worked out from (analyzer/diagnosis/advise/facts.h), read from the store:
 * tasks are visited, and of each only a few numbers are kept. */
#pragma once

#include "analyzer/archive/spark/spark.h"
#include "analyzer/diagnosis/advise/facts.h"
#include "analyzer/diagnosis/advise/simulate.h"
#include "analyzer/query/spark/tasks/app_plans.h"

typedef struct FactsSource {
    Archive *archive;
    const SparkApp *app;   /* its record */
    const AppPlans *plans; /* of it */
    gint64 now_ms;         /* what still runs lasts until then */
    SimApp *sim;           /* takes what a simulation needs; NULL: it is not wanted */
} FactsSource;

/* App and plans must outlive the facts. texts: takes the texts of other records, and must, too. Without "nodes", which
 * are found in another way. NULL with *error. */
AdviseFacts *app_facts_load(const FactsSource *source, SparkRecords *texts, GError **error);
