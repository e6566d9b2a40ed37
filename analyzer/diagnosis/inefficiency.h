/* Inefficiency scores of the operations of a stage (eq. 4.1, 4.2).
 *
 * The pipelines are the stage's tasks, sorted by duration d(1) <= ... <= d(N), d(0) = 0:
 *   S_j   = d(j) - d(j-1)
 *   PF_i  = sum over j = 1..rank(i) of S_j / (N - j + 1)
 *   SS_ij = span_ij / median of the spans of the same operation over the stage
 *   IS_ij = PF_i * span_ij * SS_ij
 * A median below the resolution that spans were measured with counts as that resolution: 0 would make every other
 * instance infinitely bad, and a clock that counts milliseconds says 0 of everything below one. */
#pragma once

#include <glib.h>

typedef struct OpSpan {
    guint32 pipeline;  /* below the number of pipelines */
    guint32 operation; /* below the number of operations */
    double span_ms;    /* exclusive time; not below 0 */
} OpSpan;

typedef struct OpScore {
    guint32 instance; /* index into the spans */
    double pf_ms, ss, is_ms2;
} OpScore;

typedef struct StageOps {
    const double *durations_ms; /* one a pipeline */
    guint32 n_pipelines, n_operations;
    const OpSpan *spans;
    gsize n_spans;
    double resolution_ms; /* above 0 */
} StageOps;

/* PF of each pipeline; out: n_pipelines. Pipelines of equal duration have equal ones. */
void pipeline_factors(const double *durations_ms, guint32 n, double *out); /* for tests */
/* The median span of each operation; out: n_operations, 0 of operations without instances. */
void operation_medians(const StageOps *ops, double *out);

/* All instances of a stage, the greatest IS first; of equal ones the longer span, then the first in the spans. A new
 * array of n_spans. */
OpScore *operation_scores(const StageOps *ops);

/* How many are in the top share of n: share * n, rounded up; at least one of any. */
gsize top_count(gsize n, double share);
