/* BigRoots: which features made a straggler slow. Every feature is tested on its own; several can be causes.
 *
 * With F a task's value (FeatureKind says as what it is compared), a feature is a cause when
 *   NUMERIC   F > quantile of all tasks of the application at lambda_q, and F > lambda_p * peers   (eq. 3.3)
 *   TIME      the same, and F > lambda_t: it must be a real part of the task
 *   RESOURCE  the same, and not both of the means over 'window' before and after the task are < lambda_e * F: then
 *             the load came and went with the task, which made it itself                           (eq. 3.4)
 *   DISCRETE  F = 2 (not local), and the values of the stage's normal tasks add up to less than half their number (3.5)
 *   WAIT      F > lambda_p * peers, and F less the peers' is at least lambda_w of what the task took longer than its
 *             stage's median. No quantile: a wait that was measured in the task itself needs no correlation, and when
 *             one DataNode in four is slow, a quarter of all tasks are its victims
 * Peers are the other counted tasks of the stage: those of other hosts and those of the same host, each tested
 * alone; either is enough. docs/spark.md says more, and where this differs from what was published. */
#pragma once

#include "analyzer/diagnosis/peers.h"
#include "analyzer/diagnosis/stragglers.h"

typedef enum PeerFigure { PEER_MEDIAN, PEER_MEAN } PeerFigure;

/* Which evidence is kept. */
typedef enum EvidenceKept {
    KEEP_CAUSES,
    KEEP_NEAR, /* and what passed the quantile, but was dropped by a later rule */
    KEEP_ALL,
} EvidenceKept;

typedef struct BigRootsOptions {
    double lambda_p, lambda_q, lambda_t, lambda_e, lambda_w;
    gint64 window_ms;
    gboolean edge_detection;
    PeerFigure peers;
    EvidenceKept keep;
} BigRootsOptions;

/* lambda_p 1.6 with edge detection, 2.2 without; the others 0.9, 0.2, 0.7, 0.5, 5 s, the median, KEEP_NEAR. */
BigRootsOptions bigroots_options(gboolean edge_detection);

/* In the order of the tests; the first that fails says why a feature is no cause. */
typedef enum Verdict {
    VERDICT_CAUSE,
    VERDICT_QUANTILE,   /* not above the application's quantile */
    VERDICT_SHARE,      /* too small a part of the task's time */
    VERDICT_NO_PEERS,   /* nothing to compare with */
    VERDICT_PEERS,      /* not above the peers' */
    VERDICT_EDGE,       /* the task made the load itself */
    VERDICT_LOCAL,      /* the task was local enough */
    VERDICT_NORMAL_TOO, /* so were normal tasks */
    VERDICT_SMALL,      /* too little of what the task took longer */
    VERDICT_COUNT,
} Verdict;

const char *verdict_name(Verdict verdict); /* "cause", "quantile", "share", "no-peers", "peers", "edge", ... */

typedef struct Evidence {
    guint32 straggler; /* index into Stragglers.list */
    guint16 feature;
    guint8 verdict;
    gboolean over_others, over_same_host; /* which of the two let it through */
    double raw;                           /* as measured, in the feature's unit */
    double value;                         /* F */
    double quantile;                      /* of the application at lambda_q */
    PeerFigures others, same_host;        /* of F; DISCRETE: others are the stage's normal tasks */
    double excess_ms;                     /* the task's duration less its stage's median */
    double head, tail;                    /* RESOURCE: the means around the task; NAN: no samples */
} Evidence;

/* The peers' figure that the value is above, of both the lower; 0 when it is above none. */
double evidence_usual(const Evidence *evidence, const BigRootsOptions *options);

/* Pure: the verdict on figures that were gathered; sets over_others and over_same_host. */
Verdict bigroots_decide(Evidence *evidence, FeatureKind kind, const BigRootsOptions *options);

/* Evidence by feature, then straggler. A new array of Evidence. */
GArray *bigroots_run(const TaskTable *table, const Stragglers *stragglers, const BigRootsOptions *options);
