/* How long cores stood idle while a stage ran: neither its own tasks nor those of stages beside it had them. */
#pragma once

#include "analyzer/diagnosis/advise/facts.h"

/* Of all stages; free with g_array_unref(). */
GArray *busy_times(const AdviseFacts *facts);
/* From the stage's begin to its end, in ms of cores that may run its tasks. A stage's task time counts as spread evenly
 * over it. */
double idle_beside(const AdviseFacts *facts, const GArray *busy, const AdviseStage *stage);
