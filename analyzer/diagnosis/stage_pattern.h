/* What kind of slowness a stage shows: patterns A to G of its operations' times, by numeric rules.
 *
 * Operations stand in the order of the pipeline, parents first. Of each, over the pipelines that have it: mean and
 * standard deviation (of the population) of its time; cv = deviation / mean; share of deviation, of the sum of the
 * variances; correlation with another one, over the pipelines that have both. Its share is of the time of all
 * pipelines. Heavy: cv >= 3, single instances far above the others. The first that holds,
 * in this order:
 *   F  a heavy join-like operation, and cv >= 0.25 of every operation that takes any time
 *   E  one operation has >= 0.8 of the time, and another one is heavy
 *   A  one operation has >= 0.95 of the time
 *   G  every two operations correlate >= 0.8, and each one's share of its pipeline varies little (cv <= 0.35) and
 *      does not go with the pipeline's time (correlation of at most 0.5): what waits for one thing keeps a part of
 *      its own, so that its share grows or shrinks with the wait
 *   C  the last operation has >= 0.8 of the variance, and the others that have >= 0.1 of the time are even: cv <= 0.65
 *   D  two operations or more have >= 0.1 of the time, and every two of those correlate >= 0.6
 *   B  one operation has >= 0.5 of the time, and the others together, by pipeline, have cv >= 0.5
 * Operations of mean 0 take no part. The bounds of C and F are what table 11 prints for their stages (0.46, 0.39), and
 * what 24 tasks may be off by. */
#pragma once

#include <glib.h>

typedef enum StagePattern {
    STAGE_PATTERN_NONE, /* no rule holds, or fewer than two pipelines: nothing can be said */
    STAGE_PATTERN_A,
    STAGE_PATTERN_B,
    STAGE_PATTERN_C,
    STAGE_PATTERN_D,
    STAGE_PATTERN_E,
    STAGE_PATTERN_F,
    STAGE_PATTERN_G,
} StagePattern;

typedef struct OpFigures {
    gboolean join_like;           /* set by the caller: CoGroupedRDD, ZippedPartitionsRDD, CartesianRDD, ... */
    double mean_ms, deviation_ms; /* of the pipelines that have it: */
    double part;                  /* this share of them; 0 where it is not known: all */
    double share, cv, variance_share;
    double share_cv;    /* of its share of the pipeline */
    double share_trend; /* correlation of that share with the pipeline's time; 0 where it does not vary */
} OpFigures;

typedef struct StageFigures {
    guint32 n_pipelines, n_ops;
    const OpFigures *ops;
    double *correlations; /* n_ops x n_ops; NAN where one of the two does not vary */
    gint dominant;        /* the operation with the greatest share; -1: none takes time */
    double others_cv;     /* of all but the dominant one together */
} StageFigures;

/* times_ms: a row of n_ops for each pipeline, NAN where it has no such operation. ops: the caller's, join_like set; the
 * rest is filled in. *figures borrows ops; clear it. */
void stage_figures(const double *times_ms, guint32 n_pipelines, guint32 n_ops, OpFigures *ops, StageFigures *figures);
void stage_figures_clear(StageFigures *figures);
/* share, cv, variance_share and dominant from mean and deviation: for figures that were published without the times. */
void stage_figures_derive(guint32 n_ops, OpFigures *ops, StageFigures *figures); /* for tests */

StagePattern stage_pattern(const StageFigures *figures);
const char *stage_pattern_name(StagePattern pattern); /* "A" ...; "none" */
/* One sentence on what the pattern means for whoever wants the stage faster. */
const char *stage_pattern_meaning(StagePattern pattern);

/* Is it an operation that brings several parents together? By the class's simple name. */
gboolean operation_is_join_like(const char *class_name);
