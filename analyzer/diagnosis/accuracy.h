/* How good a method is: its causes against injections that were recorded, per straggler and resource. For measurements
 * (bench_accuracy): no program uses it. */
#pragma once

#include "analyzer/diagnosis/baselines.h"
#include "analyzer/diagnosis/bigroots.h"

typedef struct Injection {
    guint32 host;
    FeatureTopic topic; /* of the resource that was loaded */
    gint64 begin_ms, end_ms;
} Injection;

/* A set of topics: bit 1 << FeatureTopic. */
#define TOPIC_BIT(topic) (1u << (topic))
#define TOPICS_JUDGED    (TOPIC_BIT(TOPIC_CPU) | TOPIC_BIT(TOPIC_DISK) | TOPIC_BIT(TOPIC_NETWORK))

/* Of each straggler the topics of the injections that its run overlaps, on its host. A new array. */
guint32 *accuracy_truth(const TaskTable *table, const Stragglers *stragglers, const Injection *injections, gsize n);
/* Of each straggler the topics of the features that were found causes. A new array. */
guint32 *accuracy_evidence(const TaskTable *table, const Stragglers *stragglers, const GArray *evidence);
guint32 *accuracy_blames(const TaskTable *table, const Stragglers *stragglers, const GArray *blames);

typedef struct Confusion {
    guint64 tp, fp, tn, fn;
} Confusion;

/* One count for each straggler and each topic in 'topics'. */
Confusion accuracy_count(const guint32 *truth, const guint32 *said, guint32 n, guint32 topics);
/* Shares from 0 to 1; NAN where there is nothing to share. */
double confusion_tpr(const Confusion *counts);
double confusion_fpr(const Confusion *counts);
double confusion_acc(const Confusion *counts);

/* ---- search of parameters ---- */

typedef struct SearchPoint {
    double p, q; /* BigRoots: lambda_p, lambda_q; PCC: lambda_ca, lambda_cq */
    Confusion counts;
} SearchPoint;

typedef struct AccuracyCase {
    const TaskTable *table;
    const Stragglers *stragglers;
    const guint32 *truth;
    guint32 topics;
} AccuracyCase;

/* lambda_p 0..4 by 0.2 and lambda_q 0.1..1 by 0.1; the other options as given. A new array of SearchPoint. */
GArray *accuracy_search_bigroots(const AccuracyCase *judged, const BigRootsOptions *options);
/* lambda_ca 0..1 by 0.05 and lambda_cq 0..1 by 0.1. */
GArray *accuracy_search_pcc(const AccuracyCase *judged);

/* The point with the greatest TPR + 1 - FPR, of equal ones that with the least FPR, then the first. */
const SearchPoint *accuracy_best(const GArray *points);
/* The area under the curve through (0, 0), the best TPR up to each FPR, and (1, 1). */
double accuracy_auc(const GArray *points);
