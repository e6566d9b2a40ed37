/* The numbers that event logs have of one task attempt. */
#pragma once

#include <glib.h>

/* Spark's names are in the table task_metrics. Kept in stores and sent: only add at the end. */
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
    METRIC_HEAP_PEAK_BYTES, /* of the executor while the task ran, until METRIC_CONCURRENT_GC_MS; 0: not measured */
    METRIC_OFF_HEAP_PEAK_BYTES,
    METRIC_MINOR_GC_COUNT,
    METRIC_MINOR_GC_MS,
    METRIC_MAJOR_GC_COUNT,
    METRIC_MAJOR_GC_MS,
    METRIC_EXECUTION_PEAK_BYTES, /* on the heap, as Spark's memory manager counts it */
    METRIC_EXECUTION_OFF_HEAP_PEAK_BYTES,
    METRIC_STORAGE_PEAK_BYTES,
    METRIC_STORAGE_OFF_HEAP_PEAK_BYTES,
    METRIC_UNIFIED_PEAK_BYTES, /* execution and storage together */
    METRIC_UNIFIED_OFF_HEAP_PEAK_BYTES,
    METRIC_DIRECT_PEAK_BYTES,
    METRIC_MAPPED_PEAK_BYTES,
    METRIC_JVM_VIRTUAL_PEAK_BYTES, /* of its processes, with spark.executor.processTreeMetrics.enabled */
    METRIC_JVM_RSS_PEAK_BYTES,
    METRIC_PYTHON_VIRTUAL_PEAK_BYTES,
    METRIC_PYTHON_RSS_PEAK_BYTES,
    METRIC_OTHER_VIRTUAL_PEAK_BYTES,
    METRIC_OTHER_RSS_PEAK_BYTES,
    METRIC_ALL_GC_MS,
    METRIC_CONCURRENT_GC_COUNT,
    METRIC_CONCURRENT_GC_MS,
    METRIC_PEAK_ON_HEAP_BYTES, /* the parts of METRIC_PEAK_MEMORY_BYTES, of the task, since 4.0 */
    METRIC_PEAK_OFF_HEAP_BYTES,
    METRIC_BLOCKS_KEPT,    /* of RDDs, with spark.taskMetrics.trackUpdatedBlockStatuses: it computed and kept them */
    METRIC_BLOCKS_EVICTED, /* they had to go, for others that it kept or for its own work */
    TASK_METRIC_COUNT
} TaskMetric;

typedef struct TaskMetricInfo {
    const char *name;  /* in JSON and tables: "inputBytes" */
    const char *unit;  /* "ms", "ns", "bytes", "records", "count" */
    const char *group; /* object of the event log that holds it: "Input Metrics"; NULL: Task Metrics itself */
    const char *spark; /* its key there: "Bytes Read"; of "Updated Blocks", a list: what of its items is counted */
} TaskMetricInfo;
extern const TaskMetricInfo task_metrics[TASK_METRIC_COUNT];
