/* Which traces of HDFS served which tasks of Spark. (docs/spark.md, "Links".)
 *
 * Kinds, the most trusted first; a trace is linked by the first that says anything about it:
 *   exact-scope     the task's own trace, whose id follows from the task (task_trace_id())
 *   caller-context  a span of the trace recorded the context that Spark gives HDFS: it names the task
 *   split           the trace reads a path, at a place and time, that a task's executor said is its input
 *   time-host       the trace began on the task's host while the task ran
 * Of the last two several tasks may be meant: each gets its share of the confidence. */
#pragma once

#include "analyzer/archive/archive.h"
#include "common/model/spark_records.h"

/* No more tasks than this are linked to one trace by guessing: what runs beside so many others is nobody's. */
#define LINK_CANDIDATES_MAX 16u

typedef struct LinkAsk {
    const char *app;             /* key */
    const char *app_id;          /* for trace ids and caller contexts */
    const SparkRecords *records; /* the tasks to be linked, all of those that ran meanwhile, and splits */
    guint32 kinds;               /* bits 1 << LinkKind */
    gint64 slack_ns;             /* by how much the clocks of hosts may differ */
} LinkAsk;

#define LINK_KINDS_ALL (1u << LINK_SCOPE | 1u << LINK_CALLER_CONTEXT | 1u << LINK_SPLIT | 1u << LINK_TIME_HOST)
#define LINK_SLACK_NS  (G_GINT64_CONSTANT(50000000)) /* what NTP keeps with ease */

/* Appends SparkLinks. */
gboolean task_links_find(Archive *archive, const LinkAsk *ask, SparkRecords *links, GError **error);

/* The task attempt id in a caller context of this application: "SPARK_TASK_<app id>[_<attempt>]_JId_<job>_SId_<stage>_
 * <attempt>_TId_<task>_<attempt>", maybe within others, separated by commas. -1: of none. */
gint64 caller_context_task(const char *text, gsize length, const char *app_id); /* for tests */
/* "/a/b" of "hdfs://host:8020/a/b" and of "/a/b"; borrowed. */
const char *hdfs_path_of(const char *text); /* for tests */
