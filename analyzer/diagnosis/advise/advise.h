/* What to change in an application of Spark, worked out from what its tasks did (docs/advise.md has the rules). No I/O:
 * the same facts give the same advice. */
#pragma once

#include "analyzer/diagnosis/advise/finding.h"

/* Less than this is not told: of what was used, and core-ms. */
#define ADVISE_LEAST_SHARE 0.02
#define ADVISE_LEAST_MS    1000.0

/* Findings by what they cost. all: those below the least, too, and what is well. A key that two of them want to set
 * differently is set by the one that costs more; the other's change is marked as a conflict. */
Advice *advise(const AdviseFacts *facts, gboolean all);

/* What --conf prints: changes that are not in conflict, each key once. Borrowed; free the array. */
GPtrArray *advice_changes(const Advice *advice);
Severity advice_severity(const Advice *advice);
