#include "analyzer/query/spark/tasks/stage_ops.h"

#include <math.h>
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/tasks/task_operations.h"
#include "common/base/clamped.h"
#include "common/base/clock.h"

/* What the clocks of the two sources tell apart. */
#define RESOLUTION_RULES_MS 1.0
#define RESOLUTION_AGENT_MS 0.001

typedef struct Loading {
    StageOperations *result;
    const StageChoice *choice;
    GHashTable *by_task;      /* gint64 -> index of the pipeline + 1 */
    GHashTable *by_partition; /* number -> the same */
    GHashTable *by_name;      /* text -> index of the operation + 1 */
    GHashTable *by_host;      /* text -> index + 1 */
} Loading;

static SparkSelect select_of(SparkKind kind, const StageChoice *choice) {
    SparkSelect select = SPARK_SELECT(kind, choice->app);
    select.stage = choice->stage;
    select.attempt = kind == SPARK_OPERATION ? -1 : choice->attempt;
    return select;
}

/* Operation logs of the old form know neither attempt nor task. */
static gboolean belongs(const StageChoice *choice, const SparkOperation *operation) {
    return operation->stage_attempt < 0 ? choice->last : operation->stage_attempt == choice->attempt;
}

static guint32 host_number(Loading *loading, const char *host) {
    if (!host) host = "";
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(loading->by_host, host));
    if (known == 0) {
        char *own = g_strdup(host);
        g_ptr_array_add(loading->result->hosts, own);
        known = loading->result->hosts->len;
        g_hash_table_insert(loading->by_host, own, GUINT_TO_POINTER(known));
    }
    return known - 1;
}

/* ---- pipelines ---- */

static guint32 add_pipeline(Loading *loading, const Pipeline *pipeline) {
    g_array_append_val(loading->result->pipelines, *pipeline);
    const gpointer number = GUINT_TO_POINTER(loading->result->pipelines->len);
    gint64 *key = g_new(gint64, 1);
    *key = pipeline->task;
    g_hash_table_insert(loading->by_task, key, number);
    g_hash_table_insert(loading->by_partition, GINT_TO_POINTER(pipeline->partition), number);
    return loading->result->pipelines->len - 1;
}

static gboolean take_task(void *arg, const void *record) {
    Loading *loading = arg;
    const SparkTask *task = record;
    const gint64 duration_ms = spark_task_duration_ms(task);
    if (task->status != TASK_SUCCESS || duration_ms < 0) return TRUE;
    const Pipeline pipeline = {
        .task = task->task,
        .partition = task->partition,
        .host = host_number(loading, task->host),
        .begin_ms = (double)task->launch_ms,
        .duration_ms = (double)duration_ms,
        .run_ms = (double)task->metrics[METRIC_RUN_MS],
    };
    add_pipeline(loading, &pipeline);
    return TRUE;
}

/* A task that the event log does not have lasts as long as its operations. Where the operation log does not name the
 * task, it is the one of that partition. */
static guint32 pipeline_of(Loading *loading, const SparkOperation *operation) {
    const guint known = GPOINTER_TO_UINT(
        operation->task >= 0 ? g_hash_table_lookup(loading->by_task, &operation->task)
                             : g_hash_table_lookup(loading->by_partition, GINT_TO_POINTER(operation->partition)));
    if (known > 0) return known - 1;
    const Pipeline pipeline = {.task = operation->task,
                               .partition = operation->partition,
                               .host = host_number(loading, operation->host),
                               .begin_ms = (double)operation->begin_ns / NS_PER_MS,
                               .run_ms = -1};
    return add_pipeline(loading, &pipeline);
}

/* ---- operations ---- */

static guint32 operation_number(Loading *loading, const SparkOperation *operation) {
    StageOperations *result = loading->result;
    g_autofree char *key = operation->rdd >= 0
                               ? g_strdup_printf("%" G_GINT64_FORMAT, operation->rdd)
                               : g_strdup_printf("%s %s", operation->class_name ? operation->class_name : "",
                                                 operation->rdd_text ? operation->rdd_text : "");
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(loading->by_name, key));
    if (known == 0 && result->operations->len >= STAGE_OPERATIONS_MAX) known = STAGE_OPERATIONS_MAX;
    if (known == 0) {
        StageOperation made = {.rdd = operation->rdd, .class_name = operation->class_name};
        if (result->operations->len == STAGE_OPERATIONS_MAX - 1)
            made = (StageOperation){.rdd = -1, .class_name = "(others)"};
        g_array_append_val(result->operations, made);
        known = result->operations->len;
        g_hash_table_insert(loading->by_name, g_steal_pointer(&key), GUINT_TO_POINTER(known));
    }
    return known - 1;
}

static double span_ms(const SparkOperation *operation) {
    if (operation->exclusive_ns >= 0) return (double)operation->exclusive_ns / NS_PER_MS;
    const gint64 ns = clamped_sub(operation->end_ns, operation->begin_ns);
    return operation->begin_ns >= 0 && ns > 0 ? (double)ns / NS_PER_MS : 0;
}

/* FALSE: there is no room for more. */
static gboolean add_instance(Loading *loading, const SparkOperation *operation) {
    StageOperations *result = loading->result;
    if (result->spans->len == G_MAXUINT32 / 2) return FALSE;
    if (result->spans->len == 0) result->source = operation->source;
    const OpSpan span = {pipeline_of(loading, operation), operation_number(loading, operation), span_ms(operation)};
    const OpInstance instance = {operation->instance, operation->begin_ns, operation->end_ns, operation->records};
    Pipeline *pipeline = &g_array_index(result->pipelines, Pipeline, span.pipeline);
    pipeline->covered_ms += span.span_ms;
    if (pipeline->run_ms < 0) pipeline->begin_ms = MIN(pipeline->begin_ms, (double)operation->begin_ns / NS_PER_MS);
    g_array_index(result->operations, StageOperation, span.operation).instances++;
    g_array_append_val(result->spans, span);
    g_array_append_val(result->instances, instance);
    return TRUE;
}

static gboolean take_operation(void *arg, const void *record) {
    Loading *loading = arg;
    return !belongs(loading->choice, record) || add_instance(loading, record);
}

/* ---- the state of the JVM ---- */

static gboolean only_grows(guint feature) {
    return feature == JVM_COMPILATION_MS || feature == JVM_GC_COUNT || feature == JVM_GC_MS;
}

/* NAN: not known. */
static double feature_value(const SparkOperation *operation, guint feature) {
    const double start = operation->at_start[feature], end = operation->at_end[feature];
    if (only_grows(feature)) return start >= 0 && end >= start ? end - start : NAN;
    return end >= 0 ? end : start >= 0 ? start : NAN;
}

/* ---- operations that were traced ---- */

static void keep_vector(StageOperations *result, const SparkOperation *operation) {
    double vector[JVM_FEATURE_COUNT];
    for (guint f = 0; f < JVM_FEATURE_COUNT; f++) vector[f] = feature_value(operation, f);
    g_array_append_vals(result->vectors, vector, JVM_FEATURE_COUNT);
}

static gboolean read_trace(Loading *loading, OperationReader *reader, guint32 pipeline, GError **error) {
    StageOperations *result = loading->result;
    const gint64 task = g_array_index(result->pipelines, Pipeline, pipeline).task;
    g_autoptr(SparkRecords) records = spark_records_new();
    if (!operation_reader_add(reader, task_trace_id(loading->choice->app_id, task), records, error)) return FALSE;
    for (guint i = 0; i < records->of[SPARK_OPERATION]->len; i++) {
        SparkOperation operation = *spark_operation(records, i);
        operation.task = task;
        operation.class_name = spark_text_shared(result->texts, operation.class_name, strlen(operation.class_name));
        if (!add_instance(loading, &operation)) return TRUE;
        keep_vector(result, &operation);
    }
    return TRUE;
}

static gboolean read_traces(Archive *archive, Loading *loading, GError **error) {
    StageOperations *result = loading->result;
    const guint32 n = result->pipelines->len, read = MIN(n, STAGE_TRACES_MAX);
    g_autoptr(OperationReader) reader = operation_reader_new(archive);
    result->vectors = g_array_new(FALSE, FALSE, sizeof(double));
    result->not_read = n - read;
    for (guint32 i = 0; i < read; i++)
        if (!read_trace(loading, reader, (guint32)((guint64)i * n / read), error)) return FALSE;
    return TRUE;
}

/* Parents have lower RDD ids than what is made of them; operations without an id come last. */
static gint by_rdd(gconstpointer left, gconstpointer right, gpointer arg) {
    const GArray *operations = arg;
    const guint32 a = *(const guint32 *)left, b = *(const guint32 *)right;
    const gint64 x = g_array_index(operations, StageOperation, a).rdd,
                 y = g_array_index(operations, StageOperation, b).rdd;
    if ((x < 0) != (y < 0)) return x < 0 ? 1 : -1;
    if (x != y) return x < y ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void sort_operations(StageOperations *result) {
    const guint n = result->operations->len;
    g_autofree guint32 *order = g_new(guint32, n + 1), *place = g_new(guint32, n + 1);
    for (guint i = 0; i < n; i++) order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof *order, by_rdd, result->operations);
    GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(StageOperation), n);
    for (guint i = 0; i < n; i++) {
        place[order[i]] = i;
        g_array_append_val(sorted, g_array_index(result->operations, StageOperation, order[i]));
    }
    for (guint i = 0; i < result->spans->len; i++) {
        OpSpan *span = &g_array_index(result->spans, OpSpan, i);
        span->operation = place[span->operation];
    }
    g_array_unref(result->operations);
    result->operations = sorted;
}

/* Names and call sites are the event log's: executors do not know them. */
static gboolean name_operations(void *arg, const void *record) {
    StageOperations *result = arg;
    const SparkStage *stage = record;
    for (guint i = 0; i < result->operations->len; i++) {
        StageOperation *operation = &g_array_index(result->operations, StageOperation, i);
        for (guint32 k = 0; k < stage->rdds.n && operation->rdd >= 0; k++) {
            if (stage->rdds.items[k].id != operation->rdd) continue;
            operation->name = stage->rdds.items[k].name;
            operation->call_site = stage->rdds.items[k].call_site;
        }
    }
    return TRUE;
}

/* Pipelines in which no operation was seen are left out: nothing was traced there. */
static void finish_pipelines(StageOperations *result) {
    const guint n = result->pipelines->len;
    g_autofree guint32 *place = g_new0(guint32, n + 1);
    for (guint i = 0; i < result->spans->len; i++) place[g_array_index(result->spans, OpSpan, i).pipeline] = 1;
    guint kept = 0;
    for (guint i = 0; i < n; i++) {
        if (place[i] == 0) continue;
        Pipeline pipeline = g_array_index(result->pipelines, Pipeline, i);
        if (pipeline.duration_ms <= 0) pipeline.duration_ms = pipeline.covered_ms;
        g_array_index(result->pipelines, Pipeline, kept) = pipeline;
        place[i] = kept++;
    }
    g_array_set_size(result->pipelines, kept);
    for (guint i = 0; i < result->spans->len; i++) {
        OpSpan *span = &g_array_index(result->spans, OpSpan, i);
        span->pipeline = place[span->pipeline];
    }
    result->resolution_ms = result->source == OPERATION_RULES ? RESOLUTION_RULES_MS : RESOLUTION_AGENT_MS;
}

StageOperations *stage_operations_load(Archive *archive, const StageChoice *choice, GError **error) {
    g_autoptr(StageOperations) result = g_new0(StageOperations, 1);
    result->stage = choice->stage;
    result->attempt = choice->attempt;
    result->operations = g_array_new(FALSE, FALSE, sizeof(StageOperation));
    result->pipelines = g_array_new(FALSE, FALSE, sizeof(Pipeline));
    result->spans = g_array_new(FALSE, FALSE, sizeof(OpSpan));
    result->instances = g_array_new(FALSE, FALSE, sizeof(OpInstance));
    result->hosts = g_ptr_array_new_with_free_func(g_free);
    result->texts = spark_records_new();

    g_autoptr(GHashTable) by_task = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(GHashTable) by_partition = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) by_host = g_hash_table_new(g_str_hash, g_str_equal);
    Loading loading = {result, choice, by_task, by_partition, by_name, by_host};

    const SparkSelect tasks = select_of(SPARK_TASK, choice), operations = select_of(SPARK_OPERATION, choice);
    const SparkSelect stages = select_of(SPARK_STAGE, choice);
    g_autoptr(SparkRecords) passing = spark_records_new(); /* texts of tasks are of no use */

    if (!archive_spark_visit(archive, &tasks, passing, (SparkVisitor){take_task, &loading}, error) ||
        !archive_spark_visit(archive, &operations, result->texts, (SparkVisitor){take_operation, &loading}, error))
        return NULL;

    if (result->spans->len == 0 && !read_traces(archive, &loading, error)) return NULL;
    finish_pipelines(result);
    sort_operations(result);

    if (!archive_spark_visit(archive, &stages, result->texts, (SparkVisitor){name_operations, result}, error))
        return NULL;
    return g_steal_pointer(&result);
}

void stage_operations_free(StageOperations *operations) {
    if (!operations) return;
    g_array_unref(operations->operations);
    g_array_unref(operations->pipelines);
    g_array_unref(operations->spans);
    g_array_unref(operations->instances);
    g_ptr_array_unref(operations->hosts);
    if (operations->vectors) g_array_unref(operations->vectors);
    spark_records_free(operations->texts);
    g_free(operations);
}

/* ---- JVM features ---- */

typedef struct Vectors {
    const StageChoice *choice;
    double *rows;
    guint32 *row_of; /* of each instance: + 1; 0: not wanted */
    gsize at, n_all;
} Vectors;

static gboolean take_vector(void *arg, const void *record) {
    Vectors *vectors = arg;
    const SparkOperation *operation = record;
    if (!belongs(vectors->choice, operation)) return TRUE;
    if (vectors->at >= vectors->n_all) return FALSE;
    const guint32 row = vectors->row_of[vectors->at++];
    for (guint f = 0; row > 0 && f < JVM_FEATURE_COUNT; f++)
        vectors->rows[(gsize)(row - 1) * JVM_FEATURE_COUNT + f] = feature_value(operation, f);
    return TRUE;
}

/* From the store, in the order in which the instances were read from there. */
static gboolean read_vectors(Archive *archive, Vectors *vectors, GError **error) {
    const SparkSelect select = select_of(SPARK_OPERATION, vectors->choice);
    g_autoptr(SparkRecords) passing = spark_records_new();
    return archive_spark_visit(archive, &select, passing, (SparkVisitor){take_vector, vectors}, error);
}

static void copy_vectors(const StageOperations *loaded, Vectors *vectors) {
    for (gsize i = 0; i < vectors->n_all; i++)
        if (vectors->row_of[i] > 0)
            memcpy(vectors->rows + (gsize)(vectors->row_of[i] - 1) * JVM_FEATURE_COUNT,
                   (const double *)loaded->vectors->data + i * JVM_FEATURE_COUNT, sizeof(double) * JVM_FEATURE_COUNT);
}

/* Which row each instance gets; how many rows there are. */
static gsize choose_rows(const JvmChoice *choice, guint32 *row_of) {
    const gsize n_all = choice->loaded->spans->len, rest = n_all - choice->n_first;
    const gsize others = MIN(choice->others, rest);
    gsize passed = 0, taken = 0;
    for (gsize i = 0; i < choice->n_first; i++) row_of[choice->first[i]] = (guint32)i + 1;
    for (gsize i = 0; i < n_all && taken < others; i++) {
        if (row_of[i] > 0) continue;
        if (passed++ * others / rest < taken) continue; /* in even steps */
        row_of[i] = (guint32)(choice->n_first + taken++) + 1;
    }
    return choice->n_first + taken;
}

double *stage_jvm_vectors(Archive *archive, const JvmChoice *choice, gsize *n, GError **error) {
    Vectors vectors = {.choice = choice->stage, .n_all = choice->loaded->spans->len};
    g_autofree guint32 *row_of = vectors.row_of = g_new0(guint32, vectors.n_all + 1);
    const gsize n_rows = choose_rows(choice, row_of);
    g_autofree double *rows = vectors.rows = g_new(double, (n_rows + 1) * JVM_FEATURE_COUNT);
    for (gsize i = 0; i < n_rows * JVM_FEATURE_COUNT; i++) rows[i] = NAN;
    if (choice->loaded->vectors)
        copy_vectors(choice->loaded, &vectors);
    else if (!read_vectors(archive, &vectors, error))
        return NULL;
    *n = n_rows;
    return g_steal_pointer(&rows);
}

guint8 *stage_jvm_tenths(const JvmChoice *choice) {
    const GArray *instances = choice->loaded->instances;
    g_autofree guint32 *row_of = g_new0(guint32, instances->len + 1);
    guint8 *tenths = g_new0(guint8, choose_rows(choice, row_of) + 1);
    gint64 first = G_MAXINT64, last = G_MININT64;
    for (guint i = 0; i < instances->len; i++) {
        const gint64 end = g_array_index(instances, OpInstance, i).end_ns;
        first = MIN(first, end);
        last = MAX(last, end);
    }

    const double span = MAX(1, (double)last - (double)first);
    for (guint i = 0; i < instances->len; i++) {
        const double after = (double)g_array_index(instances, OpInstance, i).end_ns - (double)first;
        if (row_of[i] > 0) tenths[row_of[i] - 1] = (guint8)MIN(9, 10 * after / span);
    }
    return tenths;
}
