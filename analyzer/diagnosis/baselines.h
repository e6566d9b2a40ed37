/* The methods that BigRoots is compared with, on the same stragglers and features. docs/spark.md has their rules. */
#pragma once

#include "analyzer/diagnosis/stragglers.h"

#define BLAME_MACHINE (-1)

typedef struct Blame {
    guint32 straggler; /* index into Stragglers.list */
    gint16 feature;    /* or BLAME_MACHINE: no feature says more than that */
    double raw;        /* as measured; Mantri: the amount */
    double value;      /* F as it is compared */
    double bound;      /* what it is above: PCC the quantile, Mantri the stage's median times the ratio, Xue the mean */
    double correlation; /* PCC, Xue; else NAN */
} Blame;

typedef struct PccOptions {
    double lambda_ca, lambda_cq;
    gboolean whole_application; /* correlation and quantile over all tasks in place of the stage's */
} PccOptions;

/* 0.30, 0.9, the stage. */
PccOptions pcc_options(void);

/* |Pearson correlation of F and duration| > lambda_ca, and F > quantile at lambda_cq (eq. 3.6). A new array of Blame,
 * by feature, then straggler. Locality is a feature like the others to it. */
GArray *pcc_run(const TaskTable *table, const Stragglers *stragglers, const PccOptions *options);

/* What Mantri looks at, one a task, NAN: not known. */
typedef struct MantriAmounts {
    const double *read_bytes;              /* input and shuffle */
    const double *cross_rack_bytes;        /* what of it came from afar */
    gint read_feature, cross_rack_feature; /* what to blame then */
} MantriAmounts;

/* By order: the amount of data read is at least STRAGGLER_RATIO times the stage's median; else that of bytes from afar
 * is (and above 0); else the machine: the processor's or the disk's feature, whichever is the more times its
 * stage's median, if at least STRAGGLER_RATIO; else BLAME_MACHINE. Exactly one for each straggler, by straggler. */
GArray *mantri_run(const TaskTable *table, const Stragglers *stragglers, const MantriAmounts *amounts);

/* A feature of the data, spills, JVM, processor or disk (never of the network) whose correlation with being a straggler
 * is above XUE_CORRELATION over the application's tasks, where F is above the mean of all tasks. By feature, then
 * straggler. */
#define XUE_CORRELATION 0.1
GArray *xue_run(const TaskTable *table, const Stragglers *stragglers);
