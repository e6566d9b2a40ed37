/* What records of Spark (model/spark.h) are made of: enums with their names, the numbers of a task, small lists. */
#pragma once

#include <glib.h>

/* Numbers of these enums are kept in stores and sent: only add at the end. */
typedef enum { TASK_RUNNING, TASK_SUCCESS, TASK_FAILED, TASK_KILLED, TASK_LOST, TASK_STATUS_COUNT } TaskStatus;
typedef enum {
    LOCALITY_UNKNOWN,
    LOCALITY_PROCESS,
    LOCALITY_NODE,
    LOCALITY_NO_PREF,
    LOCALITY_RACK,
    LOCALITY_ANY,
    LOCALITY_COUNT
} TaskLocality;
typedef enum { JOB_RUNNING, JOB_SUCCEEDED, JOB_FAILED, JOB_RESULT_COUNT } JobResult;
typedef enum { OPERATION_UNKNOWN, OPERATION_RULES, OPERATION_AGENT, OPERATION_SOURCE_COUNT } OperationSource;
typedef enum { LINK_NONE, LINK_SCOPE, LINK_CALLER_CONTEXT, LINK_SPLIT, LINK_TIME_HOST, LINK_KIND_COUNT } LinkKind;

const char *task_status_name(TaskStatus status);       /* "running", "success", "failed", "killed", "lost" */
const char *task_locality_name(TaskLocality locality); /* as Spark has it: "PROCESS_LOCAL"; "UNKNOWN" */
TaskLocality task_locality_parse(const char *text, gsize length);
const char *job_result_name(JobResult result);             /* "running", "succeeded", "failed" */
const char *operation_source_name(OperationSource source); /* "unknown", "rules", "agent" */
const char *link_kind_name(LinkKind kind);                 /* "none", "exact-scope", "caller-context", ... */

/* Numbers of one task attempt. Spark's names are in the table task_metrics. */
typedef enum {
    METRIC_DESERIALIZE_MS,
    METRIC_DESERIALIZE_CPU_NS,
    METRIC_RUN_MS,
    METRIC_CPU_NS,
    METRIC_RESULT_BYTES,
    METRIC_GC_MS,
    METRIC_SERIALIZE_MS,
    METRIC_MEMORY_SPILLED_BYTES,
    METRIC_DISK_SPILLED_BYTES,
    METRIC_PEAK_MEMORY_BYTES,
    METRIC_INPUT_BYTES,
    METRIC_INPUT_RECORDS,
    METRIC_OUTPUT_BYTES,
    METRIC_OUTPUT_RECORDS,
    METRIC_SHUFFLE_REMOTE_BLOCKS,
    METRIC_SHUFFLE_LOCAL_BLOCKS,
    METRIC_SHUFFLE_REMOTE_BYTES,
    METRIC_SHUFFLE_REMOTE_DISK_BYTES, /* part of the remote bytes that went to disk */
    METRIC_SHUFFLE_LOCAL_BYTES,
    METRIC_SHUFFLE_READ_RECORDS,
    METRIC_SHUFFLE_FETCH_WAIT_MS,
    METRIC_SHUFFLE_REQUESTS_MS,
    METRIC_SHUFFLE_WRITE_BYTES,
    METRIC_SHUFFLE_WRITE_RECORDS,
    METRIC_SHUFFLE_WRITE_NS,
    METRIC_HEAP_PEAK_BYTES, /* of the executor while the task ran, from here on */
    METRIC_OFF_HEAP_PEAK_BYTES,
    METRIC_MINOR_GC_COUNT,
    METRIC_MINOR_GC_MS,
    METRIC_MAJOR_GC_COUNT,
    METRIC_MAJOR_GC_MS,
    TASK_METRIC_COUNT
} TaskMetric;

typedef struct TaskMetricInfo {
    const char *name;  /* in JSON and tables: "inputBytes" */
    const char *unit;  /* "ms", "ns", "bytes", "records", "count" */
    const char *group; /* object of the event log that holds it: "Input Metrics"; NULL: Task Metrics itself */
    const char *spark; /* its key there: "Bytes Read" */
} TaskMetricInfo;
extern const TaskMetricInfo task_metrics[TASK_METRIC_COUNT];

/* The JVM's state when an operation begins and ends. */
typedef enum {
    JVM_LOADED_CLASSES,
    JVM_PENDING_FINALIZATION,
    JVM_HEAP_USED,
    JVM_HEAP_COMMITTED,
    JVM_HEAP_RATE,
    JVM_NON_HEAP_USED,
    JVM_NON_HEAP_COMMITTED,
    JVM_NON_HEAP_RATE,
    JVM_THREADS,
    JVM_DEADLOCKED,
    JVM_THREAD_CPU_NS,
    JVM_THREAD_USER_NS,
    JVM_USER_CPU_RATE,
    JVM_DAEMON_THREADS,
    JVM_COMPILATION_MS,
    JVM_GC_COUNT,
    JVM_GC_MS,
    JVM_BUFFER_POOLS,
    JVM_BUFFER_BYTES,
    JVM_FEATURE_COUNT
} JvmFeature;

typedef struct JvmFeatureInfo {
    const char *name; /* as operation logs have it: "LoadedClassCount" */
    const char *unit;
} JvmFeatureInfo;
extern const JvmFeatureInfo jvm_features[JVM_FEATURE_COUNT];

typedef struct SparkNumbers {
    const gint64 *items;
    guint32 n;
} SparkNumbers;

typedef struct SparkPair {
    const char *key, *value;
} SparkPair;
typedef struct SparkPairs {
    const SparkPair *items;
    guint32 n;
} SparkPairs;

typedef struct SparkRdd {
    gint64 id;
    const char *name;
    const char *scope; /* its name, taken from the JSON: "map" */
    const char *call_site;
    SparkNumbers parents;      /* RDD ids */
    const char *storage_level; /* "memory", "disk", "memory+disk", ...; NULL when it is not kept */
    gint64 partitions;
} SparkRdd;
typedef struct SparkRdds {
    const SparkRdd *items;
    guint32 n;
} SparkRdds;

typedef struct HostDisk {
    const char *device;
    double util;                    /* share of 1 */
    double read_bytes, write_bytes; /* a second */
    double await_ms, queue;
} HostDisk;
typedef struct SparkDisks {
    const HostDisk *items;
    guint32 n;
} SparkDisks;

typedef struct HostNet {
    const char *interface;
    double rx_bytes, tx_bytes; /* a second */
} HostNet;
typedef struct SparkNets {
    const HostNet *items;
    guint32 n;
} SparkNets;
