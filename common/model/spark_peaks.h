/* The greatest use of memory of an executor, as Spark logs it at the end of each stage, where it is told to
 * (spark.eventLog.logStageExecutorMetrics). Bytes. */
#pragma once

#include <glib.h>

/* Kept in stores and sent: only add at the end. */
typedef enum {
    PEAK_HEAP,
    PEAK_OFF_HEAP, /* of the JVM, beside its heap: classes, code */
    PEAK_EXECUTION,
    PEAK_EXECUTION_OFF_HEAP,
    PEAK_STORAGE,
    PEAK_STORAGE_OFF_HEAP,
    PEAK_UNIFIED, /* execution and storage together, on the heap */
    PEAK_DIRECT,
    PEAK_JVM_RSS, /* resident, from here on: with spark.executor.processTreeMetrics.enabled */
    PEAK_PYTHON_RSS,
    PEAK_OTHER_RSS,
    EXECUTOR_PEAK_COUNT
} ExecutorPeak;

typedef struct ExecutorPeakInfo {
    const char *name;  /* in JSON: "heap_bytes" */
    const char *spark; /* "JVMHeapMemory" */
} ExecutorPeakInfo;
extern const ExecutorPeakInfo executor_peaks[EXECUTOR_PEAK_COUNT];
