/* The operations of one stage attempt, read from the store: pipelines, instances, and what each operation is called. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/diagnosis/inefficiency.h"
#include "analyzer/diagnosis/stage_pattern.h"
#include "common/model/spark_records.h"

/* Operations of a stage past this many are one, "(others)": a stage of Spark has tens. */
#define STAGE_OPERATIONS_MAX 64u

typedef struct StageOperation {
    gint64 rdd;                   /* -1: told by its class alone */
    const char *class_name;       /* "org.apache.spark.rdd.HadoopRDD"; NULL: unknown */
    const char *name, *call_site; /* from the event log's RDD; NULL: unknown */
    guint32 instances;
} StageOperation;

/* One instance beside its OpSpan. */
typedef struct OpInstance {
    gint64 id, begin_ns, end_ns, records; /* SparkOperation.instance, ... */
} OpInstance;

typedef struct Pipeline {
    gint64 task;
    gint32 partition;
    guint32 host;               /* index into hosts */
    double begin_ms;            /* since the epoch; of the first operation, where the event log has no such task */
    double duration_ms, run_ms; /* run_ms -1: the event log has no such task */
    double covered_ms;          /* of operations that tell their time */
} Pipeline;

typedef struct StageOperations {
    gint64 stage;
    gint32 attempt;
    GArray *operations; /* StageOperation, in the order of the pipeline: parents first */
    GArray *pipelines;  /* Pipeline */
    GArray *spans;      /* OpSpan */
    GArray *instances;  /* OpInstance, one a span */
    GPtrArray *hosts;
    OperationSource source; /* of the first instance */
    GArray *vectors;        /* of traced instances: JVM_FEATURE_COUNT doubles each; NULL: they lie in the store */
    guint32 not_read;       /* tasks whose traces were not looked for */
    double resolution_ms;
    SparkRecords *texts;
} StageOperations;

typedef struct StageChoice {
    const char *app, *app_id; /* key, and what trace ids are made of */
    gint64 stage;
    gint32 attempt;
    gboolean last; /* the stage's last attempt: operations of no known attempt are counted here */
} StageChoice;

/* Of a stage's tasks, so many traces are read for their operations: those of all tasks in even steps. */
#define STAGE_TRACES_MAX 5000u

/* From records, where operation logs or a bridge gave some; else from the traces of the stage's tasks. Empty lists when
 * there are neither. */
StageOperations *stage_operations_load(Archive *archive, const StageChoice *choice, GError **error);
void stage_operations_free(StageOperations *operations);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StageOperations, stage_operations_free)

/* JVM features of the instances in 'first' (indices), then of at most 'others' of the rest, in even steps: rows of
 * JVM_FEATURE_COUNT, NAN where absent. Levels are those at the end; what only grows (compilation, GC) is what it grew
 * by meanwhile, NAN where the begin is not known. *n rows; free with g_free(). */
typedef struct JvmChoice {
    const StageChoice *stage;
    const StageOperations *loaded;
    const guint32 *first;
    gsize n_first, others;
} JvmChoice;
double *stage_jvm_vectors(Archive *archive, const JvmChoice *choice, gsize *n, GError **error);
/* Of the same rows the tenth of the stage's time, from the first end of an instance to the last, in which the instance
 * ended, which is when its state was read: 0 to 9. A new array, for g_free(). */
guint8 *stage_jvm_tenths(const JvmChoice *choice);
