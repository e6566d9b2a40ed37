#include "common/model/spark.h"

#include <stdio.h>
#include <string.h>

#include "common/base/fnv.h"
#include "common/base/mix64.h"

static const char *name_of(const char *const *names, guint count, guint value) {
    g_return_val_if_fail(value < count, names[0]);
    return names[value];
}

const char *task_status_name(TaskStatus status) {
    static const char *const names[] = {"running", "success", "failed", "killed", "lost"};
    return name_of(names, TASK_STATUS_COUNT, (guint)status);
}

static const char *const localities[LOCALITY_COUNT] = {"UNKNOWN", "PROCESS_LOCAL", "NODE_LOCAL",
                                                       "NO_PREF", "RACK_LOCAL",    "ANY"};

const char *task_locality_name(TaskLocality locality) { return name_of(localities, LOCALITY_COUNT, (guint)locality); }

TaskLocality task_locality_parse(const char *text, gsize length) {
    for (guint i = 1; i < LOCALITY_COUNT; i++) {
        if (strlen(localities[i]) == length && memcmp(localities[i], text, length) == 0) return (TaskLocality)i;
    }
    return LOCALITY_UNKNOWN;
}

const char *job_result_name(JobResult result) {
    static const char *const names[] = {"running", "succeeded", "failed"};
    return name_of(names, JOB_RESULT_COUNT, (guint)result);
}

const char *operation_source_name(OperationSource source) {
    static const char *const names[] = {"unknown", "rules", "agent"};
    return name_of(names, OPERATION_SOURCE_COUNT, (guint)source);
}

const char *link_kind_name(LinkKind kind) {
    static const char *const names[] = {"none", "exact-scope", "caller-context", "split", "time-host"};
    return name_of(names, LINK_KIND_COUNT, (guint)kind);
}

#define SHUFFLE_READ  "Shuffle Read Metrics"
#define SHUFFLE_WRITE "Shuffle Write Metrics"
#define EXECUTOR      "Task Executor Metrics"
#define BLOCKS        "Updated Blocks"

const TaskMetricInfo task_metrics[TASK_METRIC_COUNT] = {
    [METRIC_DESERIALIZE_MS] = {"deserializeMs", "ms", NULL, "Executor Deserialize Time"},
    [METRIC_DESERIALIZE_CPU_NS] = {"deserializeCpuNs", "ns", NULL, "Executor Deserialize CPU Time"},
    [METRIC_RUN_MS] = {"runMs", "ms", NULL, "Executor Run Time"},
    [METRIC_CPU_NS] = {"cpuNs", "ns", NULL, "Executor CPU Time"},
    [METRIC_RESULT_BYTES] = {"resultBytes", "bytes", NULL, "Result Size"},
    [METRIC_GC_MS] = {"gcMs", "ms", NULL, "JVM GC Time"},
    [METRIC_SERIALIZE_MS] = {"serializeMs", "ms", NULL, "Result Serialization Time"},
    [METRIC_MEMORY_SPILLED_BYTES] = {"memorySpilledBytes", "bytes", NULL, "Memory Bytes Spilled"},
    [METRIC_DISK_SPILLED_BYTES] = {"diskSpilledBytes", "bytes", NULL, "Disk Bytes Spilled"},
    [METRIC_PEAK_MEMORY_BYTES] = {"peakMemoryBytes", "bytes", NULL, "Peak Execution Memory"},
    [METRIC_INPUT_BYTES] = {"inputBytes", "bytes", "Input Metrics", "Bytes Read"},
    [METRIC_INPUT_RECORDS] = {"inputRecords", "records", "Input Metrics", "Records Read"},
    [METRIC_OUTPUT_BYTES] = {"outputBytes", "bytes", "Output Metrics", "Bytes Written"},
    [METRIC_OUTPUT_RECORDS] = {"outputRecords", "records", "Output Metrics", "Records Written"},
    [METRIC_SHUFFLE_REMOTE_BLOCKS] = {"shuffleRemoteBlocks", "count", SHUFFLE_READ, "Remote Blocks Fetched"},
    [METRIC_SHUFFLE_LOCAL_BLOCKS] = {"shuffleLocalBlocks", "count", SHUFFLE_READ, "Local Blocks Fetched"},
    [METRIC_SHUFFLE_REMOTE_BYTES] = {"shuffleRemoteBytes", "bytes", SHUFFLE_READ, "Remote Bytes Read"},
    [METRIC_SHUFFLE_REMOTE_DISK_BYTES] = {"shuffleRemoteDiskBytes", "bytes", SHUFFLE_READ, "Remote Bytes Read To Disk"},
    [METRIC_SHUFFLE_LOCAL_BYTES] = {"shuffleLocalBytes", "bytes", SHUFFLE_READ, "Local Bytes Read"},
    [METRIC_SHUFFLE_READ_RECORDS] = {"shuffleReadRecords", "records", SHUFFLE_READ, "Total Records Read"},
    [METRIC_SHUFFLE_FETCH_WAIT_MS] = {"shuffleFetchWaitMs", "ms", SHUFFLE_READ, "Fetch Wait Time"},
    [METRIC_SHUFFLE_REQUESTS_MS] = {"shuffleRequestsMs", "ms", SHUFFLE_READ, "Remote Requests Duration"},
    [METRIC_SHUFFLE_WRITE_BYTES] = {"shuffleWriteBytes", "bytes", SHUFFLE_WRITE, "Shuffle Bytes Written"},
    [METRIC_SHUFFLE_WRITE_RECORDS] = {"shuffleWriteRecords", "records", SHUFFLE_WRITE, "Shuffle Records Written"},
    [METRIC_SHUFFLE_WRITE_NS] = {"shuffleWriteNs", "ns", SHUFFLE_WRITE, "Shuffle Write Time"},
    [METRIC_HEAP_PEAK_BYTES] = {"heapPeakBytes", "bytes", EXECUTOR, "JVMHeapMemory"},
    [METRIC_OFF_HEAP_PEAK_BYTES] = {"offHeapPeakBytes", "bytes", EXECUTOR, "JVMOffHeapMemory"},
    [METRIC_MINOR_GC_COUNT] = {"minorGcCount", "count", EXECUTOR, "MinorGCCount"},
    [METRIC_MINOR_GC_MS] = {"minorGcMs", "ms", EXECUTOR, "MinorGCTime"},
    [METRIC_MAJOR_GC_COUNT] = {"majorGcCount", "count", EXECUTOR, "MajorGCCount"},
    [METRIC_MAJOR_GC_MS] = {"majorGcMs", "ms", EXECUTOR, "MajorGCTime"},
    [METRIC_EXECUTION_PEAK_BYTES] = {"executionPeakBytes", "bytes", EXECUTOR, "OnHeapExecutionMemory"},
    [METRIC_EXECUTION_OFF_HEAP_PEAK_BYTES] = {"executionOffHeapPeakBytes", "bytes", EXECUTOR, "OffHeapExecutionMemory"},
    [METRIC_STORAGE_PEAK_BYTES] = {"storagePeakBytes", "bytes", EXECUTOR, "OnHeapStorageMemory"},
    [METRIC_STORAGE_OFF_HEAP_PEAK_BYTES] = {"storageOffHeapPeakBytes", "bytes", EXECUTOR, "OffHeapStorageMemory"},
    [METRIC_UNIFIED_PEAK_BYTES] = {"unifiedPeakBytes", "bytes", EXECUTOR, "OnHeapUnifiedMemory"},
    [METRIC_UNIFIED_OFF_HEAP_PEAK_BYTES] = {"unifiedOffHeapPeakBytes", "bytes", EXECUTOR, "OffHeapUnifiedMemory"},
    [METRIC_DIRECT_PEAK_BYTES] = {"directPeakBytes", "bytes", EXECUTOR, "DirectPoolMemory"},
    [METRIC_MAPPED_PEAK_BYTES] = {"mappedPeakBytes", "bytes", EXECUTOR, "MappedPoolMemory"},
    [METRIC_JVM_VIRTUAL_PEAK_BYTES] = {"jvmVirtualPeakBytes", "bytes", EXECUTOR, "ProcessTreeJVMVMemory"},
    [METRIC_JVM_RSS_PEAK_BYTES] = {"jvmRssPeakBytes", "bytes", EXECUTOR, "ProcessTreeJVMRSSMemory"},
    [METRIC_PYTHON_VIRTUAL_PEAK_BYTES] = {"pythonVirtualPeakBytes", "bytes", EXECUTOR, "ProcessTreePythonVMemory"},
    [METRIC_PYTHON_RSS_PEAK_BYTES] = {"pythonRssPeakBytes", "bytes", EXECUTOR, "ProcessTreePythonRSSMemory"},
    [METRIC_OTHER_VIRTUAL_PEAK_BYTES] = {"otherVirtualPeakBytes", "bytes", EXECUTOR, "ProcessTreeOtherVMemory"},
    [METRIC_OTHER_RSS_PEAK_BYTES] = {"otherRssPeakBytes", "bytes", EXECUTOR, "ProcessTreeOtherRSSMemory"},
    [METRIC_ALL_GC_MS] = {"allGcMs", "ms", EXECUTOR, "TotalGCTime"},
    [METRIC_CONCURRENT_GC_COUNT] = {"concurrentGcCount", "count", EXECUTOR, "ConcurrentGCCount"},
    [METRIC_CONCURRENT_GC_MS] = {"concurrentGcMs", "ms", EXECUTOR, "ConcurrentGCTime"},
    [METRIC_PEAK_ON_HEAP_BYTES] = {"peakOnHeapBytes", "bytes", NULL, "Peak On Heap Execution Memory"},
    [METRIC_PEAK_OFF_HEAP_BYTES] = {"peakOffHeapBytes", "bytes", NULL, "Peak Off Heap Execution Memory"},
    [METRIC_BLOCKS_KEPT] = {"blocksKept", "count", BLOCKS, "with a size"},
    [METRIC_BLOCKS_EVICTED] = {"blocksEvicted", "count", BLOCKS, "without"},
};

const ExecutorPeakInfo executor_peaks[EXECUTOR_PEAK_COUNT] = {
    [PEAK_HEAP] = {"heap_bytes", "JVMHeapMemory"},
    [PEAK_OFF_HEAP] = {"off_heap_bytes", "JVMOffHeapMemory"},
    [PEAK_EXECUTION] = {"execution_bytes", "OnHeapExecutionMemory"},
    [PEAK_EXECUTION_OFF_HEAP] = {"execution_off_heap_bytes", "OffHeapExecutionMemory"},
    [PEAK_STORAGE] = {"storage_bytes", "OnHeapStorageMemory"},
    [PEAK_STORAGE_OFF_HEAP] = {"storage_off_heap_bytes", "OffHeapStorageMemory"},
    [PEAK_UNIFIED] = {"unified_bytes", "OnHeapUnifiedMemory"},
    [PEAK_DIRECT] = {"direct_bytes", "DirectPoolMemory"},
    [PEAK_JVM_RSS] = {"jvm_rss_bytes", "ProcessTreeJVMRSSMemory"},
    [PEAK_PYTHON_RSS] = {"python_rss_bytes", "ProcessTreePythonRSSMemory"},
    [PEAK_OTHER_RSS] = {"other_rss_bytes", "ProcessTreeOtherRSSMemory"},
};

const JvmFeatureInfo jvm_features[JVM_FEATURE_COUNT] = {
    [JVM_LOADED_CLASSES] = {"LoadedClassCount", "count"},
    [JVM_PENDING_FINALIZATION] = {"ObjectPendingFinalizationCount", "count"},
    [JVM_HEAP_USED] = {"HeapUsed", "bytes"},
    [JVM_HEAP_COMMITTED] = {"HeapCommitted", "bytes"},
    [JVM_HEAP_RATE] = {"HeapOccupationRate", "share"},
    [JVM_NON_HEAP_USED] = {"NonHeapUsed", "bytes"},
    [JVM_NON_HEAP_COMMITTED] = {"NonHeapCommitted", "bytes"},
    [JVM_NON_HEAP_RATE] = {"NonHeapOccupationRate", "share"},
    [JVM_THREADS] = {"ThreadNum", "count"},
    [JVM_DEADLOCKED] = {"DeadLockedNum", "count"},
    [JVM_THREAD_CPU_NS] = {"CurrentThreadCPUTime", "ns"},
    [JVM_THREAD_USER_NS] = {"CurrentThreadUserTime", "ns"},
    [JVM_USER_CPU_RATE] = {"UserCPURate", "share"},
    [JVM_DAEMON_THREADS] = {"DaemonThreadCount", "count"},
    [JVM_COMPILATION_MS] = {"CompilationTime", "ms"},
    [JVM_GC_COUNT] = {"GCCount", "count"},
    [JVM_GC_MS] = {"GCTime", "ms"},
    [JVM_BUFFER_POOLS] = {"BufferPoolCount", "count"},
    [JVM_BUFFER_BYTES] = {"BufferMemory", "bytes"},
};

char *spark_exclusion_text(const SparkExclusion *exclusion) {
    const gboolean host = exclusion->executor == NULL;
    g_autoptr(GString) text = g_string_new(host ? "host " : "executor ");
    const char *name = host ? exclusion->host : exclusion->executor;
    g_string_append_printf(text, "%s was excluded", name != NULL ? name : "unknown");
    if (exclusion->stage >= 0) g_string_append_printf(text, " from stage %" G_GINT64_FORMAT, exclusion->stage);
    if (exclusion->failures > 0)
        g_string_append_printf(text, " after %" G_GINT64_FORMAT " %s", exclusion->failures,
                               host                       ? "of its executors"
                               : exclusion->failures == 1 ? "failure"
                                                          : "failures");
    if (exclusion->back_ms >= exclusion->time_ms && exclusion->back_ms >= 0)
        g_string_append(text, ", and let in again");
    return g_string_free(g_steal_pointer(&text), FALSE);
}

char *spark_app_key(const char *id, const char *attempt) {
    if (attempt == NULL || *attempt == '\0' || strcmp(attempt, "1") == 0) return g_strdup(id);
    return g_strdup_printf("%s_%s", id, attempt);
}

guint64 task_trace_id(const char *app_id, gint64 task) {
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "/%" G_GINT64_FORMAT, task);
    guint64 z = fnv64(fnv64(FNV64_BASIS, app_id, strlen(app_id)), digits, (gsize)n);
    z = mix64(z);
    return z == 0 ? 1 : z;
}
