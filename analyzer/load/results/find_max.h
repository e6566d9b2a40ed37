/* The greatest rate that a cluster bears within limits: which rate is tried next, and what came out.
 *
 * A search begins at a rate, doubles or halves it until one rate held and one failed, and then tries their geometric
 * mean until they are close enough. A rate that a run does not decide is tried again, three times at most; then most of
 * the values themselves decide. Clusters differ from one minute to the next, so there are several searches, each with
 * random numbers of its own; the later ones begin where the first ended. */
#pragma once

#include "analyzer/load/results/limits.h"

#define FIND_STEPS_MOST    200u
#define FIND_SEARCHES_MOST 20u

typedef struct FindStep {
    guint search; /* from 1 on */
    double rate;  /* operations a second that were planned */
    LoadVerdict verdict;
    gboolean within;
} FindStep;

typedef struct FindSettings {
    double start;     /* rate */
    double precision; /* 0.1: the rate that failed is at most 10 % above the one that held */
    guint searches;
} FindSettings;

/* What is tried after these steps. FALSE: nothing, it is done. */
gboolean find_next(const FindSettings *settings, const FindStep *steps, guint n_steps, FindStep *next);

/* What a search came to; 0: no rate held, or none failed. */
typedef struct FindBracket {
    double held, failed;
    gboolean generator; /* the rate that failed did so with the generator late */
} FindBracket;
FindBracket find_bracket(const FindStep *steps, guint n_steps, guint search);

/* The document of `plumb load report FOLDER` (docs/load.md). Its latencies are of the kind that the first quantile of
 * the limits is of. add: one step more, with its report, which it borrows; the limits are those of the document.
 * ended: the search was not cut short. */
json_t *find_report_new(const char *folder, const char *limit_text, const LoadLimits *limits,
                        const FindSettings *settings);
void find_report_add(json_t *document, const LoadLimits *limits, const FindStep *step, const char *why,
                     const json_t *report);
void find_report_end(json_t *document, const FindStep *steps, guint n_steps, gboolean ended);
