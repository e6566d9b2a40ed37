/* The tasks of an application as columns: what the diagnoses read.
 *
 * A row is a task attempt. Stages are stage attempts: those of a stage that was tried again are not each other's
 * peers. A column is a feature; which there are is the caller's choice: those of event logs, of host samples, of HDFS
 * traces. docs/spark.md defines them. */
#pragma once

#include <glib.h>

#include "analyzer/diagnosis/usage.h"

typedef enum FeatureKind {
    FEATURE_NUMERIC,  /* an amount; compared as a multiple of the stage's mean */
    FEATURE_TIME,     /* ms of the task's time; compared as a share of its duration */
    FEATURE_RESOURCE, /* how busy the host was while the task ran; compared as it is */
    FEATURE_DISCRETE, /* locality */
    FEATURE_WAIT,     /* ms for which the task itself is known to have waited; compared as they are */
} FeatureKind;

/* What a feature speaks of when causes are judged against injections, and in advice. */
typedef enum FeatureTopic {
    TOPIC_DATA,
    TOPIC_SPILL,
    TOPIC_JVM,
    TOPIC_LOCALITY,
    TOPIC_CPU,
    TOPIC_DISK,
    TOPIC_NETWORK,
    TOPIC_HDFS,
    TOPIC_COUNT,
} FeatureTopic;

const char *feature_kind_name(FeatureKind kind);    /* "numeric", "time", "resource", "locality", "wait" */
const char *feature_topic_name(FeatureTopic topic); /* "data", "spill", "jvm", "locality", "cpu", "disk", ... */

typedef struct Feature {
    char *name;
    const char *unit; /* of the values: "bytes", "ms", "share", "bytes/s", "count", ""; static */
    FeatureKind kind;
    FeatureTopic topic;
    double *values;             /* one a task; NAN: not known, and then neither judged nor a peer */
    const UsageSeries **series; /* RESOURCE: one a host, NULL where there are no samples; borrowed */
} Feature;

enum {
    ROW_COUNTED = 1, /* ended well: counts in medians, quantiles and as a peer */
    ROW_JUDGED = 2,  /* may be found a straggler (a running task may, with its time so far) */
    ROW_FIRST = 4,   /* of the first of its stage on its executor (executor_start.h) */
};

typedef struct TaskTable {
    guint32 count, n_stages, n_hosts;
    guint32 *stage, *host; /* numbers below n_stages, n_hosts */
    gint64 *begin_ms, *end_ms;
    guint8 *flags;
    GArray *features; /* Feature */
} TaskTable;

/* Rows are all 0 and without flags; the caller fills them. */
TaskTable *task_table_new(guint32 count, guint32 n_stages, guint32 n_hosts);
void task_table_free(TaskTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TaskTable, task_table_free)

/* A column of NANs; copies the name. The pointer holds until the next one is added; the number for good. */
guint task_table_add(TaskTable *table, const Feature *like);
static inline Feature *task_feature(const TaskTable *table, guint feature) {
    return &g_array_index(table->features, Feature, feature);
}
/* The feature's number, or -1. */
gint task_table_find(const TaskTable *table, const char *name);

/* Not below 0, whatever the clocks said. */
static inline double task_duration_ms(const TaskTable *table, guint32 task) {
    return table->end_ms[task] > table->begin_ms[task] ? (double)(table->end_ms[task] - table->begin_ms[task]) : 0;
}

/* Fills a RESOURCE column from its series: the mean over each task's run on its host (eq. 3.1). */
void task_table_fill_resource(TaskTable *table, guint feature);
