/* What a run of a load was like, as a JSON document (docs/load.md), and what two runs differ in. */
#pragma once

#include <jansson.h>

#include "analyzer/load/results/result.h"

/* slowest: how many of the slowest operations are named, LOAD_SLOWEST at most. A new document. */
json_t *load_report(const LoadRun *run, const char *name, guint slowest);
/* Of two reports: "before" and "after", and under "changes" what may be said of the quantiles. Takes both. */
json_t *load_compare(json_t *before, json_t *after);
