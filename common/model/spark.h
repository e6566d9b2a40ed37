/* The records of Spark and of hosts: what event logs, operation logs, samples of the operating system and executor logs
 * say, in one form for readers, wire, store and diagnoses.
 *
 * Texts and lists are borrowed from the SparkRecords that holds the record (model/spark_records.h). What is unknown is
 * NULL for texts, -1 for numbers, empty for lists, 0 for enums. Times are ms since the epoch where event logs have ms,
 * else ns, and named so.
 *
 * 'app' of every record is the application's key: its id, for a further attempt of the driver followed by "_<attempt>"
 * (spark_app_key()), since task attempt ids begin again with every attempt. */
#pragma once

#include "common/model/spark_given.h"
#include "common/model/spark_hosts.h"
#include "common/model/spark_peaks.h"
#include "common/model/spark_plan.h"

typedef enum {
    SPARK_APP,
    SPARK_EXECUTOR,
    SPARK_JOB,
    SPARK_STAGE,
    SPARK_TASK,
    SPARK_OPERATION,
    SPARK_SAMPLE,
    SPARK_SPLIT,
    SPARK_LINK,
    SPARK_QUERY,
    SPARK_MARK,
    SPARK_PROFILE,
    SPARK_EXCLUSION,
    SPARK_KIND_COUNT
} SparkKind;

typedef struct SparkApp {
    const char *app;     /* key */
    const char *id;      /* "app-20260101120000-0001", "application_1700000000000_0001", "local-..." */
    const char *attempt; /* of the driver; NULL when the log names none */
    const char *name, *user, *version, *driver_host;
    gint64 start_ms, end_ms; /* end -1: running, or its log has no end */
    gint64 last_event_ms;    /* newest time that its log names: what an application without end is aged by */
    gint64 log_complete;     /* 1: the log has its end; 0: it has not yet; -1: unknown */
    SparkPairs properties;   /* selected ones of the environment, sorted by key */
} SparkApp;

typedef struct SparkExecutor {
    const char *app, *id, *host; /* id "driver" is the driver */
    gint32 cores;
    gint64 added_ms, removed_ms;
    const char *reason;                         /* of the removal */
    gint64 memory_bytes;                        /* that its block manager may use, for execution and storage */
    gint64 profile, peaks[EXECUTOR_PEAK_COUNT]; /* profile of resources */
    gint64 excluded_ms;                         /* as bridges told it before there were records of exclusions */
} SparkExecutor;

typedef struct SparkJob {
    const char *app;
    gint64 job;
    gint64 submitted_ms, completed_ms;
    JobResult result;
    SparkNumbers stages; /* ids */
    const char *description, *call_site;
    const char *error;
    gint64 query; /* of Spark SQL that it is part of; -1: none */
} SparkJob;

typedef struct SparkStage {
    const char *app;
    gint64 stage;
    gint32 attempt;
    gint32 tasks; /* as planned */
    const char *name, *details;
    SparkNumbers parents; /* stage ids */
    gint64 submitted_ms, completed_ms;
    const char *failure;
    SparkRdds rdds;
    SparkNumbers values; /* accumulator, value, ... at its end: of the nodes of queries that it worked for */
    gint64 profile;      /* of resources */
} SparkStage;

typedef struct SparkTask {
    const char *app;
    gint64 stage;
    gint64 task; /* task attempt id ("Task ID", TID): unique in the application's attempt */
    gint32 stage_attempt, partition, attempt;
    gint32 speculative; /* 0, 1, -1 */
    const char *executor, *host;
    gint64 launch_ms, finish_ms, getting_result_ms; /* getting_result_ms 0 or -1: it was not fetched separately */
    TaskLocality locality;
    TaskStatus status;
    const char *reason; /* of its failure: class and first line */
    gint64 metrics[TASK_METRIC_COUNT];
} SparkTask;

/* One instance of an operation: one RDD computed by one task. */
typedef struct SparkOperation {
    const char *app;
    gint64 stage, task;
    gint32 stage_attempt, partition;
    gint64 rdd;             /* id; -1 when the log names none */
    gint64 instance;        /* tells the instances of a task apart: in order of begin from 0, or the span's lower id */
    const char *class_name; /* "org.apache.spark.rdd.HadoopRDD" */
    const char *rdd_text;   /* as the executor shows the RDD: "HadoopRDD[0] at", ... */
    const char *executor, *host;
    gint64 thread;
    gint64 begin_ns, end_ns, exclusive_ns;
    gint64 gc_ms; /* exclusive of nested operations */
    gint64 records;
    OperationSource source;
    double at_start[JVM_FEATURE_COUNT], at_end[JVM_FEATURE_COUNT]; /* -1: absent */
} SparkOperation;

typedef struct SparkSplit {
    const char *app;
    gint64 task; /* -1 when the executor's log has no task on that line */
    const char *executor, *host, *path;
    gint64 start, length;
    gint64 time_ms;
} SparkSplit;

/* From a task (or an operation of it) to a trace of HDFS. */
typedef struct SparkLink {
    const char *app;
    gint64 task;
    gint64 operation; /* SparkOperation.instance, -1: of the task as a whole */
    gint64 trace;     /* bits of the trace id */
    gint64 span;      /* lower half of the span below which the calls lie; 0: the whole trace */
    LinkKind kind;
    double confidence; /* 0 .. 1 */
} SparkLink;

/* "id" for no attempt and the first, "id_2", ... Free with g_free(). */
char *spark_app_key(const char *id, const char *attempt);

/* Trace id of a task, which the agent gives its root span: FNV-1a, 64 bits, of the UTF-8 bytes of "<app id>/<task
 * attempt id in decimal>", then splitmix64's finaliser (z ^= z >> 30; z *= bf58476d1ce4e5b9; z ^= z >> 27;
 * z *= 94d049bb133111eb; z ^= z >> 31); 0 becomes 1. The id, not the key: executors do not know the attempt. */
guint64 task_trace_id(const char *app_id, gint64 task);

/* From launch to finish; -1 while it runs, or if unknown. */
static inline gint64 spark_task_duration_ms(const SparkTask *task) {
    return task->launch_ms < 0 || task->finish_ms < task->launch_ms ? -1 : task->finish_ms - task->launch_ms;
}
