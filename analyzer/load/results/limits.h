/* What a load must hold: "p99<=50ms", "read:p90<=20ms,errors<=0.5%,lag<=10ms"; and whether a run did.
 *
 * A quantile holds when the upper end of its interval of 95 % is within the bound, and fails when the lower end is
 * above it. Between them the run does not say. Errors, unfinished operations included, may be 1 % where nothing else is
 * said. */
#pragma once

#include <jansson.h>

#include "analyzer/load/plan/kinds.h"

#define LOAD_TERMS_MOST 8u

typedef enum { TERM_QUANTILE, TERM_ERRORS, TERM_LAG } LoadTermKind;

typedef struct LoadTerm {
    LoadTermKind what;
    LoadKind kind;        /* LOAD_KINDS: all operations */
    const char *quantile; /* "p99", as reports name it */
    gint64 most_ns;
    double most_percent; /* of errors */
} LoadTerm;

typedef struct LoadLimits {
    LoadTerm terms[LOAD_TERMS_MOST];
    guint n;
} LoadLimits;

/* Errors are CONFIG and say what may stand there. There is a quantile in it at least. */
gboolean load_limits_parse(const char *text, LoadLimits *limits, GError **error);
/* The first quantile's bound: what the curve is drawn with. */
const LoadTerm *load_limits_first(const LoadLimits *limits);
/* The longest time that a term of all operations allows their p99, or their p999, which is no shorter. A p99 above it
 * breaks that term, whatever the other terms say. 0: no term is of these. */
gint64 load_limits_p99_most_ns(const LoadLimits *limits);

typedef enum { STEP_HOLDS, STEP_FAILS, STEP_UNDECIDED, STEP_GENERATOR } LoadVerdict;
const char *load_verdict_name(LoadVerdict verdict);

/* Of the document of a report. */
typedef struct LoadJudgement {
    LoadVerdict verdict;
    gboolean within; /* by the values themselves, whatever the intervals are */
    char *why;       /* the term that decided, in words; a new string */
} LoadJudgement;

/* What a report says of a kind; of LOAD_KINDS: its last row, which is of all kinds or of the only one. NULL: nothing.
 * It belongs to the report. */
const json_t *load_kind_row(const json_t *report, LoadKind kind);

/* GENERATOR: it fails, and the generator was late by more than a tenth of the latencies: HDFS may not be to blame.
 * A report without an operation that ended well fails. */
LoadJudgement load_judge(const LoadLimits *limits, const json_t *report);
