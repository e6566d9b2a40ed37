/* The rounds of jobs of a simulation (analyzer/diagnosis/advise/simulate.h); private to app_facts.c. */
#pragma once

#include "analyzer/diagnosis/advise/facts.h"
#include "analyzer/diagnosis/advise/simulate.h"
#include "analyzer/query/spark/tasks/app_plans.h"

/* sim has all stages with their tasks, in any order: gives them parents, rounds and offsets, and sets driver_ms. Stages
 * of no job go. jobs: has the application's jobs. */
void sim_facts_order(SimApp *sim, const AdviseFacts *facts, const SparkRecords *jobs, const AppPlans *plans);
