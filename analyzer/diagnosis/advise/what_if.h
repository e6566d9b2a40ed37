/* How long an application would have taken without what a rule found: its stages are scheduled again, with other times
 * of their tasks. No I/O.
 *
 * Where tasks are skewed or too few, the stage's time is spread over its cores evenly, in as
 * many waves as it had. What slow hosts cost a stage is
 * taken off its longest tasks. For all other rules tasks take less by what the finding saves of their stages' time. */
#pragma once

#include "analyzer/diagnosis/advise/finding.h"
#include "analyzer/diagnosis/advise/simulate.h"

typedef struct WhatIf {
    const char *rule;
    guint32 stages; /* that would have been otherwise */
    double time_ms;
} WhatIf;

/* WhatIf, one for each rule without whose findings it would have ended earlier; the most of them first. advice: with
 * the findings of all stages, not only those that are worth telling. */
GArray *what_ifs(const SimApp *sim, const AdviseFacts *facts, const Advice *advice, guint32 slots);
