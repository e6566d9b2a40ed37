/* How long an application would take with more or fewer executors, as JSON. */
#pragma once

#include "analyzer/diagnosis/advise/finding.h"
#include "analyzer/diagnosis/advise/simulate.h"
#include "analyzer/query/shared/question.h"

/* Adds "simulation". advice: with the findings of all stages. */
void json_add_simulation(json_t *answer, const AdviseFacts *facts, const SimApp *sim, const Advice *advice);
