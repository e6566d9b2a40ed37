/* One run of an application, as two of them are compared: how long the tasks of each stage took, and whom they waited
 * for in HDFS. */
#pragma once

#include "analyzer/query/spark/tasks/asked_app.h"
#include "analyzer/query/spark/tasks/task_hdfs.h"

/* Of a stage so many tasks are read, evenly; of a run no more than that in all. */
#define RUN_TASKS_READ     32u
#define RUN_TASKS_READ_ALL 2000u

/* What the tasks that were read waited for one resource of one host, in one function. */
typedef struct RunWait {
    guint32 host, function; /* dictionary ids; host 0: unknown */
    Role role;
    HdfsResource resource; /* network and socket are one: HDFS_NETWORK */
    gint64 ns;
    guint64 trace; /* of the task that waited longest for it: */
    gint64 task, most_ns;
} RunWait;

typedef struct RunStage {
    guint32 number; /* in the table */
    const char *name;
    guint32 nth;                 /* of the stages with that name */
    gint64 query;                /* number of the one that it worked for; -1: none */
    struct RunStage *other;      /* the same in the run that this one is compared with; NULL: there is none */
    guint32 tasks;               /* that ended well */
    double mean_ms, variance_ms; /* of a task; the variance of one */
    gboolean read;
    guint32 tasks_read; /* that have traces */
    gint64 duration_ns, hdfs_ns;
    GArray *waits; /* RunWait */
    GArray *own;   /* RunWait: by host of the executor, the time that was not HDFS */
} RunStage;

typedef struct Run {
    const Asked *asked; /* lent */
    AppTasks *tasks;
    Stragglers *stragglers;
    AppHdfs *hdfs;
    SparkRecords *records;
    GArray *stages; /* RunStage, in the order of their numbers */
    guint32 tasks_read;
} Run;

/* key: of the application. NULL with *error. */
Run *run_load(const Asked *asked, const char *key, GError **error);
void run_free(Run *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)

static inline RunStage *run_stage(const Run *run, guint i) { return &g_array_index(run->stages, RunStage, i); }
/* Whom its tasks waited for, read from their traces when first asked for. */
gboolean run_stage_read(Run *run, RunStage *stage, GError **error);
/* The mean of a feature over the tasks that ended well; NAN where it is not known. */
double run_stage_mean(const Run *run, const RunStage *stage, const char *feature);
