/* What of an application's tasks was HDFS: facts read from the traces that are linked to them. */
#pragma once

#include "analyzer/query/spark/tasks/app_tasks.h"
#include "analyzer/query/spark/tasks/hdfs_nodes.h"

/* Of links that are guesses, those that are rather right than wrong. */
#define LINK_CONFIDENCE_MIN 0.5

typedef struct TaskHdfs {
    LinkKind kind;     /* the least trusted of its links */
    double confidence; /* the least of its links */
    guint traces;
    guint64 trace;   /* the one with the most time in HDFS */
    gint64 trace_ns; /* its time in HDFS */
    gint64 trace_begin_ns;
    HdfsFacts facts;
} TaskHdfs;

/* Finds the links of all tasks (task_links.h), appended as SparkLinks. */
gboolean app_links_find(Archive *archive, const AppTasks *tasks, SparkRecords *links, GError **error);

typedef struct AppHdfs AppHdfs;
/* With the links that are stored (trace_linker.h) or, when none are, those it finds; reads no trace yet. Both must
 * outlive it. */
AppHdfs *app_hdfs_new(Archive *archive, const AppTasks *tasks, GError **error);
void app_hdfs_free(AppHdfs *hdfs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AppHdfs, app_hdfs_free)

/* Facts of a row of the table, read when first asked for. *facts NULL: no trace is linked to it. */
gboolean app_hdfs_task(AppHdfs *hdfs, guint32 row, const TaskHdfs **facts, GError **error);
/* The same, as far as they were read; NULL: they were not, or there are none. */
const TaskHdfs *app_hdfs_known(const AppHdfs *hdfs, guint32 row);

typedef struct TaskHdfsVisitor {
    void (*visit)(void *arg, guint32 row, const TaskHdfs *facts);
    void *arg;
    guint32 most; /* tasks of a stage to be read */
} TaskHdfsVisitor;
/* Facts of tasks of a stage that ended well, evenly; of those that have some. */
gboolean app_hdfs_visit_stage(AppHdfs *hdfs, const Stragglers *stragglers, guint32 stage, TaskHdfsVisitor visitor,
                              GError **error);

/* Of how many tasks links were found, by kind; and of how many facts were read. */
typedef struct AppHdfsCounts {
    guint32 linked[LINK_KIND_COUNT];
    guint32 read;
} AppHdfsCounts;
AppHdfsCounts app_hdfs_counts(const AppHdfs *hdfs);

/* What the tasks whose facts were read spent in HDFS, by function, role and resource (HdfsShare with tracer 0), the
 * greatest first. shares: an empty array of HdfsShare. */
typedef struct AppHdfsSum {
    guint32 tasks;
    gint64 duration_ns, hdfs_ns;
} AppHdfsSum;
AppHdfsSum app_hdfs_sum(const AppHdfs *hdfs, GArray *shares);

/* Adds the columns of HDFS to the table: for every straggler and for some of its peers, spread evenly over its stage,
 * since a median needs no more. What a task waited is scaled down where it read more from HDFS than its peers did: that
 * it waited for more bytes is the data's doing. */
#define HDFS_PEERS_MAX      64u
#define HDFS_STRAGGLERS_MAX 2000u
/* The resources (1 << HdfsResource) that a column is about; 0 of one that is about a server, or none of these. */
guint32 hdfs_column_resources(const char *name);
gboolean app_hdfs_add_columns(AppHdfs *hdfs, AppTasks *tasks, const Stragglers *stragglers, GError **error);
