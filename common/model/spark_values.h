/* What records of Spark (model/spark.h) are made of: enums with their names, the numbers of a task, small lists. */
#pragma once

#include "common/model/task_metrics.h"

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
