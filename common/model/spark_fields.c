#include "common/model/spark_fields.h"

#include <string.h>

#define AT(Type, member) (guint16) offsetof(Type, member)
#define I64(Type, n, member, label)                                                                                    \
    { .number = n, .type = FIELD_I64, .offset = AT(Type, member), .name = label }
#define I32(Type, n, member, label)                                                                                    \
    { .number = n, .type = FIELD_I32, .offset = AT(Type, member), .name = label }
#define TEXT(Type, n, member, label)                                                                                   \
    { .number = n, .type = FIELD_TEXT, .offset = AT(Type, member), .name = label }
#define REAL(Type, n, member, label)                                                                                   \
    { .number = n, .type = FIELD_DOUBLE, .offset = AT(Type, member), .name = label }
#define NUMS(Type, n, member, label)                                                                                   \
    { .number = n, .type = FIELD_NUMBERS, .offset = AT(Type, member), .name = label }
#define ENUM(Type, n, member, values, label)                                                                           \
    { .number = n, .type = FIELD_ENUM, .offset = AT(Type, member), .count = values, .name = label }
#define LIST(Type, n, member, form, label)                                                                             \
    { .number = n, .type = FIELD_LIST, .offset = AT(Type, member), .name = label, .items = &form }
/* What tells records of the kind apart. */
#define KEY_I64(Type, n, member, label)                                                                                \
    { .number = n, .type = FIELD_I64, .offset = AT(Type, member), .key = TRUE, .name = label }
#define KEY_I32(Type, n, member, label)                                                                                \
    { .number = n, .type = FIELD_I32, .offset = AT(Type, member), .key = TRUE, .name = label }
#define KEY_TEXT(Type, n, member, label)                                                                               \
    { .number = n, .type = FIELD_TEXT, .offset = AT(Type, member), .key = TRUE, .name = label }
#define KEY_ENUM(Type, n, member, values, label)                                                                       \
    { .number = n, .type = FIELD_ENUM, .offset = AT(Type, member), .count = values, .key = TRUE, .name = label }
#define NEED_I64(Type, n, member, label)                                                                               \
    { .number = n, .type = FIELD_I64, .offset = AT(Type, member), .key = TRUE, .needed = TRUE, .name = label }
#define NEED_I32(Type, n, member, label)                                                                               \
    { .number = n, .type = FIELD_I32, .offset = AT(Type, member), .key = TRUE, .needed = TRUE, .name = label }
#define NEED_TEXT(Type, n, member, label)                                                                              \
    { .number = n, .type = FIELD_TEXT, .offset = AT(Type, member), .key = TRUE, .needed = TRUE, .name = label }
#define GROWS(Type, n, member, label)                                                                                  \
    { .number = n, .type = FIELD_I64, .offset = AT(Type, member), .most = SPARK_MOST_MS, .grows = TRUE, .name = label }
/* Times and amounts of ms. */
#define MS(Type, n, member, label)                                                                                     \
    { .number = n, .type = FIELD_I64, .offset = AT(Type, member), .most = SPARK_MOST_MS, .name = label }
#define FORM(Type, table)                                                                                              \
    { table, G_N_ELEMENTS(table), sizeof(Type) }

static const SparkField pair_fields[] = {
    TEXT(SparkPair, 1, key, "key"),
    TEXT(SparkPair, 2, value, "value"),
};
static const SparkForm pair_form = FORM(SparkPair, pair_fields);

const SparkForm *spark_pair_form(void) { return &pair_form; }

static const SparkField rdd_fields[] = {
    I64(SparkRdd, 1, id, "id"),
    TEXT(SparkRdd, 2, name, "name"),
    TEXT(SparkRdd, 3, scope, "scope"),
    TEXT(SparkRdd, 4, call_site, "callSite"),
    NUMS(SparkRdd, 5, parents, "parents"),
    TEXT(SparkRdd, 6, storage_level, "storageLevel"),
    I64(SparkRdd, 7, partitions, "partitions"),
};
static const SparkForm rdd_form = FORM(SparkRdd, rdd_fields);

static const SparkField disk_fields[] = {
    TEXT(HostDisk, 1, device, "device"),        REAL(HostDisk, 2, util, "util"),
    REAL(HostDisk, 3, read_bytes, "readBytes"), REAL(HostDisk, 4, write_bytes, "writeBytes"),
    REAL(HostDisk, 5, await_ms, "awaitMs"),     REAL(HostDisk, 6, queue, "queue"),
};
static const SparkForm disk_form = FORM(HostDisk, disk_fields);

static const SparkField net_fields[] = {
    TEXT(HostNet, 1, interface, "interface"),
    REAL(HostNet, 2, rx_bytes, "rxBytes"),
    REAL(HostNet, 3, tx_bytes, "txBytes"),
};
static const SparkForm net_form = FORM(HostNet, net_fields);

static const SparkField plan_metric_fields[] = {
    TEXT(SparkPlanMetric, 1, name, "name"),
    TEXT(SparkPlanMetric, 2, type, "type"),
    I64(SparkPlanMetric, 3, accumulator, "accumulator"),
};
static const SparkForm plan_metric_form = FORM(SparkPlanMetric, plan_metric_fields);

static const SparkField plan_node_fields[] = {
    TEXT(SparkPlanNode, 1, name, "name"),
    TEXT(SparkPlanNode, 2, text, "text"),
    I64(SparkPlanNode, 3, parent, "parent"),
    LIST(SparkPlanNode, 4, metadata, pair_form, "metadata"),
    LIST(SparkPlanNode, 5, metrics, plan_metric_form, "metrics"),
};
static const SparkForm plan_node_form = FORM(SparkPlanNode, plan_node_fields);

static const SparkField app_fields[] = {
    NEED_TEXT(SparkApp, 1, app, "app"),
    TEXT(SparkApp, 2, id, "id"),
    TEXT(SparkApp, 3, attempt, "attempt"),
    TEXT(SparkApp, 4, name, "name"),
    TEXT(SparkApp, 5, user, "user"),
    TEXT(SparkApp, 6, version, "version"),
    TEXT(SparkApp, 7, driver_host, "driverHost"),
    MS(SparkApp, 8, start_ms, "startMs"),
    MS(SparkApp, 9, end_ms, "endMs"),
    GROWS(SparkApp, 10, last_event_ms, "lastEventMs"),
    GROWS(SparkApp, 11, log_complete, "logComplete"),
    LIST(SparkApp, 12, properties, pair_form, "properties"),
};

static const SparkField executor_fields[] = {
    NEED_TEXT(SparkExecutor, 1, app, "app"),
    NEED_TEXT(SparkExecutor, 2, id, "id"),
    TEXT(SparkExecutor, 3, host, "host"),
    I32(SparkExecutor, 4, cores, "cores"),
    MS(SparkExecutor, 5, added_ms, "addedMs"),
    MS(SparkExecutor, 6, removed_ms, "removedMs"),
    TEXT(SparkExecutor, 7, reason, "reason"),
    I64(SparkExecutor, 8, memory_bytes, "memoryBytes"),
    {.number = 9,
     .type = FIELD_I64S,
     .offset = AT(SparkExecutor, peaks),
     .count = EXECUTOR_PEAK_COUNT,
     .grows = TRUE,
     .name = "peaks"},
    MS(SparkExecutor, 10, excluded_ms, "excludedMs"),
    I64(SparkExecutor, 11, profile, "profile"),
};

static const SparkField job_fields[] = {
    NEED_TEXT(SparkJob, 1, app, "app"),
    NEED_I64(SparkJob, 2, job, "job"),
    MS(SparkJob, 3, submitted_ms, "submittedMs"),
    MS(SparkJob, 4, completed_ms, "completedMs"),
    ENUM(SparkJob, 5, result, JOB_RESULT_COUNT, "result"),
    NUMS(SparkJob, 6, stages, "stages"),
    TEXT(SparkJob, 7, description, "description"),
    TEXT(SparkJob, 8, call_site, "callSite"),
    TEXT(SparkJob, 9, error, "error"),
    I64(SparkJob, 10, query, "query"),
};

static const SparkField stage_fields[] = {
    NEED_TEXT(SparkStage, 1, app, "app"),
    NEED_I64(SparkStage, 2, stage, "stage"),
    NEED_I32(SparkStage, 3, attempt, "attempt"),
    I32(SparkStage, 4, tasks, "tasks"),
    TEXT(SparkStage, 5, name, "name"),
    TEXT(SparkStage, 6, details, "details"),
    NUMS(SparkStage, 7, parents, "parents"),
    MS(SparkStage, 8, submitted_ms, "submittedMs"),
    MS(SparkStage, 9, completed_ms, "completedMs"),
    TEXT(SparkStage, 10, failure, "failure"),
    LIST(SparkStage, 11, rdds, rdd_form, "rdds"),
    NUMS(SparkStage, 12, values, "values"),
    I64(SparkStage, 13, profile, "profile"),
};

static const SparkField task_fields[] = {
    NEED_TEXT(SparkTask, 1, app, "app"),
    NEED_I64(SparkTask, 2, stage, "stage"),
    NEED_I32(SparkTask, 3, stage_attempt, "stageAttempt"),
    NEED_I64(SparkTask, 4, task, "task"),
    I32(SparkTask, 5, partition, "partition"),
    I32(SparkTask, 6, attempt, "attempt"),
    I32(SparkTask, 7, speculative, "speculative"),
    TEXT(SparkTask, 8, executor, "executor"),
    TEXT(SparkTask, 9, host, "host"),
    MS(SparkTask, 10, launch_ms, "launchMs"),
    MS(SparkTask, 11, finish_ms, "finishMs"),
    MS(SparkTask, 12, getting_result_ms, "gettingResultMs"),
    ENUM(SparkTask, 13, locality, LOCALITY_COUNT, "locality"),
    ENUM(SparkTask, 14, status, TASK_STATUS_COUNT, "status"),
    TEXT(SparkTask, 15, reason, "reason"),
    {.number = 16, .type = FIELD_I64S, .offset = AT(SparkTask, metrics), .count = TASK_METRIC_COUNT, .name = "metrics"},
};

static const SparkField operation_fields[] = {
    NEED_TEXT(SparkOperation, 1, app, "app"),
    KEY_I64(SparkOperation, 2, stage, "stage"),
    KEY_I32(SparkOperation, 3, stage_attempt, "stageAttempt"),
    KEY_I64(SparkOperation, 4, task, "task"),
    KEY_I32(SparkOperation, 5, partition, "partition"),
    KEY_I64(SparkOperation, 6, rdd, "rdd"),
    KEY_I64(SparkOperation, 7, instance, "instance"),
    KEY_ENUM(SparkOperation, 8, source, OPERATION_SOURCE_COUNT, "source"),
    KEY_I64(SparkOperation, 9, thread, "thread"),
    TEXT(SparkOperation, 10, class_name, "class"),
    TEXT(SparkOperation, 11, rdd_text, "rddText"),
    TEXT(SparkOperation, 12, executor, "executor"),
    TEXT(SparkOperation, 13, host, "host"),
    I64(SparkOperation, 14, begin_ns, "beginNs"),
    I64(SparkOperation, 15, end_ns, "endNs"),
    I64(SparkOperation, 16, exclusive_ns, "exclusiveNs"),
    MS(SparkOperation, 17, gc_ms, "gcMs"),
    I64(SparkOperation, 18, records, "records"),
    {.number = 19,
     .type = FIELD_DOUBLES,
     .offset = AT(SparkOperation, at_start),
     .count = JVM_FEATURE_COUNT,
     .name = "atStart"},
    {.number = 20,
     .type = FIELD_DOUBLES,
     .offset = AT(SparkOperation, at_end),
     .count = JVM_FEATURE_COUNT,
     .name = "atEnd"},
};

static const SparkField sample_fields[] = {
    NEED_TEXT(HostSample, 1, host, "host"),
    NEED_I64(HostSample, 2, time_ns, "timeNs"),
    KEY_TEXT(HostSample, 3, source, "source"),
    I64(HostSample, 4, interval_ns, "intervalNs"),
    I64(HostSample, 5, zone_offset_s, "zoneOffsetS"),
    REAL(HostSample, 6, user, "user"),
    REAL(HostSample, 7, system, "system"),
    REAL(HostSample, 8, iowait, "iowait"),
    REAL(HostSample, 9, steal, "steal"),
    REAL(HostSample, 10, idle, "idle"),
    LIST(HostSample, 11, disks, disk_form, "disks"),
    LIST(HostSample, 12, nets, net_form, "nets"),
};

static const SparkField split_fields[] = {
    NEED_TEXT(SparkSplit, 1, app, "app"),   KEY_TEXT(SparkSplit, 2, executor, "executor"),
    KEY_I64(SparkSplit, 3, task, "task"),   NEED_TEXT(SparkSplit, 4, path, "path"),
    KEY_I64(SparkSplit, 5, start, "start"), KEY_I64(SparkSplit, 6, time_ms, "timeMs"),
    I64(SparkSplit, 7, length, "length"),   TEXT(SparkSplit, 8, host, "host"),
};

static const SparkField link_fields[] = {
    NEED_TEXT(SparkLink, 1, app, "app"),           NEED_I64(SparkLink, 2, task, "task"),
    KEY_I64(SparkLink, 3, operation, "operation"), KEY_ENUM(SparkLink, 4, kind, LINK_KIND_COUNT, "kind"),
    NEED_I64(SparkLink, 5, trace, "trace"),        KEY_I64(SparkLink, 6, span, "span"),
    REAL(SparkLink, 7, confidence, "confidence"),
};

static const SparkField query_fields[] = {
    NEED_TEXT(SparkQuery, 1, app, "app"),
    NEED_I64(SparkQuery, 2, query, "query"),
    NEED_I64(SparkQuery, 3, part, "part"),
    MS(SparkQuery, 4, submitted_ms, "submittedMs"),
    MS(SparkQuery, 5, completed_ms, "completedMs"),
    TEXT(SparkQuery, 6, description, "description"),
    TEXT(SparkQuery, 7, error, "error"),
    LIST(SparkQuery, 8, settings, pair_form, "settings"),
    LIST(SparkQuery, 9, plan, plan_node_form, "plan"),
    NUMS(SparkQuery, 10, values, "values"),
};

static const SparkField mark_fields[] = {
    NEED_TEXT(HostMark, 1, host, "host"), NEED_I64(HostMark, 2, begin_ns, "beginNs"),
    KEY_TEXT(HostMark, 3, kind, "kind"),  I64(HostMark, 4, end_ns, "endNs"),
    TEXT(HostMark, 5, text, "text"),
};

static const SparkField profile_fields[] = {
    NEED_TEXT(SparkProfile, 1, app, "app"),
    NEED_I64(SparkProfile, 2, profile, "profile"),
    I64(SparkProfile, 3, memory_bytes, "memoryBytes"),
    I64(SparkProfile, 4, overhead_bytes, "overheadBytes"),
    I64(SparkProfile, 5, off_heap_bytes, "offHeapBytes"),
    I64(SparkProfile, 6, python_bytes, "pythonBytes"),
    I32(SparkProfile, 7, cores, "cores"),
    REAL(SparkProfile, 8, task_cpus, "taskCpus"),
    LIST(SparkProfile, 9, others, pair_form, "others"),
};

static const SparkField exclusion_fields[] = {
    NEED_TEXT(SparkExclusion, 1, app, "app"),
    KEY_TEXT(SparkExclusion, 2, executor, "executor"),
    KEY_TEXT(SparkExclusion, 3, host, "host"),
    KEY_I64(SparkExclusion, 4, stage, "stage"),
    KEY_I32(SparkExclusion, 5, stage_attempt, "stageAttempt"),
    MS(SparkExclusion, 6, time_ms, "timeMs"),
    MS(SparkExclusion, 7, back_ms, "backMs"),
    I64(SparkExclusion, 8, failures, "failures"),
};

static const SparkForm forms[SPARK_KIND_COUNT] = {
    [SPARK_APP] = FORM(SparkApp, app_fields),
    [SPARK_EXECUTOR] = FORM(SparkExecutor, executor_fields),
    [SPARK_JOB] = FORM(SparkJob, job_fields),
    [SPARK_STAGE] = FORM(SparkStage, stage_fields),
    [SPARK_TASK] = FORM(SparkTask, task_fields),
    [SPARK_OPERATION] = FORM(SparkOperation, operation_fields),
    [SPARK_SAMPLE] = FORM(HostSample, sample_fields),
    [SPARK_SPLIT] = FORM(SparkSplit, split_fields),
    [SPARK_LINK] = FORM(SparkLink, link_fields),
    [SPARK_QUERY] = FORM(SparkQuery, query_fields),
    [SPARK_PROFILE] = FORM(SparkProfile, profile_fields),
    [SPARK_EXCLUSION] = FORM(SparkExclusion, exclusion_fields),
    [SPARK_MARK] = FORM(HostMark, mark_fields),
};

const SparkForm *spark_form(SparkKind kind) {
    g_return_val_if_fail((guint)kind < SPARK_KIND_COUNT, &forms[0]);
    return &forms[kind];
}
