/* What a run of a load was like, as a JSON document (docs/load.md), and what two runs differ in. */
#pragma once

#include <jansson.h>

#include "analyzer/load/results/result.h"

typedef struct LoadReportOptions {
    guint slowest;     /* how many of the slowest operations are named, LOAD_SLOWEST at most */
    gboolean pictures; /* with what pictures are drawn of: "timeline", and "curve" of each kind */
} LoadReportOptions;

/* A new document. name: of the result. */
json_t *load_report(const LoadRun *run, const char *name, const LoadReportOptions *options);
/* Of two reports: "before" and "after", and under "changes" what may be said of the quantiles. Takes both. */
json_t *load_compare(json_t *before, json_t *after);
