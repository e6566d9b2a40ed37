/* What plans of queries tell for advice; private to app_facts.c. */
#pragma once

#include "analyzer/diagnosis/advise/facts.h"
#include "analyzer/query/spark/tasks/app_plans.h"

/* Sets the facts' scans, joins and program. texts: takes names. */
void plan_facts_add(AdviseFacts *facts, const AppPlans *plans, SparkRecords *texts);
/* Sets the stage's query and what spilled in it. */
void plan_facts_stage(AdviseStage *stage, const AppPlans *plans, const SparkStage *record, SparkRecords *texts);
