/* All tasks of one stage of Spark as columns: what is drawn of them, of which a document would be 500 bytes each. */
#include <string.h>

#include "analyzer/query/columns/column_answers.h"
#include "analyzer/query/columns/column_block.h"
#include "analyzer/query/spark/app_causes.h"
#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/allowance.h"
#include "common/base/clamped.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* As many at most are in one answer, as spans of a trace. */
#define TASKS_MAX 4000000u
/* Texts of tasks (reasons above all) that are read at once. */
#define TEXTS_BYTES (1024u * 1024)
/* Of an entry of a hash table, beside its key; roughly. */
#define ENTRY_BYTES 48u

enum { TASK, BEGIN, DURATION, INPUT, SHUFFLE, PARTITION, EXECUTOR, STATUS, CAUSE, N_COLUMNS };

/* What is kept of a task until the last attempt of the stage is known. */
typedef struct Row {
    gint64 task, launch_ms, duration_ms, input_bytes, shuffle_bytes;
    gint32 attempt, partition;
    guint32 executor; /* index into executors */
    guint8 status, cause;
} Row;

typedef struct Rows {
    GArray *rows; /* Row, by attempt, then task */
    gint32 attempt;
    GHashTable *numbers; /* "executor\nhost" -> number + 1 */
    gsize number_bytes;
    json_t *executors;
    SparkRecords *texts; /* of the task that is taken */
    gsize charged;
} Rows;

static void rows_clear(Rows *rows) {
    if (rows->rows != NULL) g_array_unref(rows->rows);
    if (rows->numbers != NULL) g_hash_table_unref(rows->numbers);
    json_decref(rows->executors);
    spark_records_free(rows->texts);
    allowance_hold(&rows->charged, 0);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rows, rows_clear)

static guint32 executor_of(Rows *rows, const SparkTask *task) {
    const char *executor = task->executor != NULL ? task->executor : "", *host = task->host != NULL ? task->host : "";
    g_autofree char *key = g_strconcat(executor, "\n", host, NULL);
    guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(rows->numbers, key));
    if (number > 0) return number - 1;
    number = g_hash_table_size(rows->numbers) + 1;
    rows->number_bytes += strlen(key) + ENTRY_BYTES;
    g_hash_table_insert(rows->numbers, g_steal_pointer(&key), GUINT_TO_POINTER(number));
    json_t *object = json_object();
    json_object_set_new(object, "executor", json_text(executor, strlen(executor)));
    json_object_set_new(object, "host", json_text(host, strlen(host)));
    json_array_append_new(rows->executors, object);
    return number - 1;
}

/* Of blocks of its own host and of others; -1: neither is known. */
static gint64 shuffle_bytes_of(const SparkTask *task) {
    const gint64 remote = task->metrics[METRIC_SHUFFLE_REMOTE_BYTES], local = task->metrics[METRIC_SHUFFLE_LOCAL_BYTES];
    return remote < 0 && local < 0 ? -1 : clamped_add(MAX(remote, 0), MAX(local, 0));
}

/* Attempts lie in order: a later one has those before it forgotten. */
static gboolean take_task(void *arg, const void *record) {
    Rows *rows = arg;
    const SparkTask *task = record;
    if (task->stage_attempt != rows->attempt) g_array_set_size(rows->rows, 0);
    rows->attempt = task->stage_attempt;
    const Row row = {.task = task->task,
                     .launch_ms = task->launch_ms,
                     .duration_ms = spark_task_duration_ms(task),
                     .input_bytes = task->metrics[METRIC_INPUT_BYTES],
                     .shuffle_bytes = shuffle_bytes_of(task),
                     .attempt = task->stage_attempt,
                     .partition = task->partition,
                     .executor = executor_of(rows, task),
                     .status = (guint8)task->status};
    g_array_append_val(rows->rows, row);
    if (spark_records_bytes(rows->texts) > TEXTS_BYTES) spark_records_clear(rows->texts);
    allowance_hold(&rows->charged,
                   (gsize)rows->rows->len * sizeof row + rows->number_bytes + spark_records_bytes(rows->texts));
    return rows->rows->len <= TASKS_MAX && allowance_goes_on();
}

static gboolean load_rows(const Asked *asked, const char *app, Rows *rows, GError **error) {
    SparkSelect select = SPARK_SELECT(SPARK_TASK, app);
    gint64 attempt;
    if (!asked_stage(asked, &select.stage, &attempt, error)) return FALSE;
    if (select.stage < 0) return fail(error, PLUMB_ERROR_INPUT, "of which stage? Give stage=N, or stage=N.ATTEMPT");
    select.attempt = (gint32)attempt;
    *rows = (Rows){.rows = g_array_new(FALSE, FALSE, sizeof(Row)),
                   .attempt = select.attempt,
                   .numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                   .executors = json_array(),
                   .texts = spark_records_new()};
    if (!archive_spark_visit(asked->archive, &select, rows->texts, (SparkVisitor){take_task, rows}, error))
        return FALSE;
    if (rows->rows->len == 0)
        return fail(error, PLUMB_ERROR_NOT_FOUND,
                    "application %s has no tasks of this stage: plumb stages %s lists them", app, app);
    if (rows->rows->len <= TASKS_MAX) return TRUE;
    return fail(error, PLUMB_ERROR_LIMIT, "the stage has more than %u tasks: `plumb tasks` lists some", TASKS_MAX);
}

/* The main cause of each straggler, as `why` names it. */
static gboolean add_causes(const Asked *asked, const char *app, Rows *rows, GError **error) {
    BigRootsOptions options;
    if (!asked_bigroots(asked, &options, error)) return FALSE;
    g_autoptr(AppCauses) causes = app_causes_load(asked, app, &options, error);
    if (causes == NULL) return FALSE;

    g_autoptr(GHashTable) topics = g_hash_table_new(g_int64_hash, g_int64_equal); /* task -> topic + 1 */
    for (guint i = 0; i < causes->causes->len && allowance_goes_on(); i++) {
        const StragglerCause *cause = &g_array_index(causes->causes, StragglerCause, i);
        if (!cause_known(cause)) continue;
        const Evidence *evidence = cause->start ? NULL : &g_array_index(causes->evidence, Evidence, cause->evidence);
        const FeatureTopic topic =
            evidence != NULL ? task_feature(causes->tasks->table, evidence->feature)->topic : TOPIC_JVM;
        g_hash_table_insert(topics, &causes->tasks->tasks[cause_row(causes, cause)].task, GUINT_TO_POINTER(topic + 1));
    }
    for (guint i = 0; i < rows->rows->len && allowance_goes_on(); i++) {
        Row *row = &g_array_index(rows->rows, Row, i);
        row->cause = (guint8)GPOINTER_TO_UINT(g_hash_table_lookup(topics, &row->task));
    }
    return TRUE;
}

/* ---- columns ---- */

static gint64 begin_ms_of(const Rows *rows) {
    gint64 begin_ms = G_MAXINT64;
    for (guint i = 0; i < rows->rows->len; i++) {
        const Row *row = &g_array_index(rows->rows, Row, i);
        if (row->launch_ms >= 0) begin_ms = MIN(begin_ms, row->launch_ms);
    }
    return begin_ms == G_MAXINT64 ? 0 : begin_ms;
}

static double ns_of(gint64 ms) { return ms < 0 ? -1 : (double)ms * NS_PER_MS; }

static void fill(const Rows *rows, gint64 begin_ms, const Column *columns) {
    for (guint32 i = 0; i < rows->rows->len && allowance_goes_on(); i++) {
        const Row *row = &g_array_index(rows->rows, Row, i);
        ((double *)columns[TASK].values)[i] = (double)row->task;
        ((double *)columns[BEGIN].values)[i] = row->launch_ms < 0 ? -1 : ns_of(row->launch_ms - begin_ms);
        ((double *)columns[DURATION].values)[i] = ns_of(row->duration_ms);
        ((double *)columns[INPUT].values)[i] = row->input_bytes < 0 ? -1 : (double)row->input_bytes;
        ((double *)columns[SHUFFLE].values)[i] = (double)row->shuffle_bytes;
        ((gint32 *)columns[PARTITION].values)[i] = row->partition;
        column_set(&columns[EXECUTOR], i, row->executor);
        ((guint8 *)columns[STATUS].values)[i] = row->status;
        ((guint8 *)columns[CAUSE].values)[i] = row->cause;
    }
}

static json_t *statuses_json(void) {
    json_t *list = json_array();
    for (guint i = 0; i < TASK_STATUS_COUNT; i++)
        json_array_append_new(list, json_string(task_status_name((TaskStatus)i)));
    return list;
}

static json_t *topics_json(void) {
    json_t *list = json_pack("[s]", "");
    for (guint i = 0; i < TOPIC_COUNT; i++)
        json_array_append_new(list, json_string(feature_topic_name((FeatureTopic)i)));
    return list;
}

static json_t *head_json(const AppEntry *entry, gint64 stage, const Rows *rows, gint64 begin_ms) {
    json_t *head = json_pack("{s:I, s:i, s:I}", "stage", (json_int_t)stage, "stage_attempt", rows->attempt,
                             "tasks_total", (json_int_t)rows->rows->len);
    json_object_set_new(head, "app", json_text(entry->key, strlen(entry->key)));
    json_add_ms(head, "begin_time_ns", begin_ms);
    json_object_set(head, "executors", rows->executors);
    json_object_set_new(head, "statuses", statuses_json());
    json_object_set_new(head, "causes", topics_json());
    return head;
}

json_t *answer_task_columns(const Asked *asked, GError **error) {
    gboolean causes = FALSE;
    gint64 stage, attempt;
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    const AppEntry *entry = list != NULL ? asked_app_entry(asked, list, error) : NULL;
    g_auto(Rows) rows = {0};
    if (entry == NULL || !asked_stage(asked, &stage, &attempt, error) ||
        !params_flag(asked->params, "causes", &causes, error) || !load_rows(asked, entry->key, &rows, error) ||
        (causes && !add_causes(asked, entry->key, &rows, error)))
        return NULL;
    if (asked->columns == NULL && rows.rows->len > asked->rows_max) {
        fail(error, PLUMB_ERROR_LIMIT, "the stage has %u tasks, and a document no more than %u: ask plumbd over HTTP",
             rows.rows->len, asked->rows_max);
        return NULL;
    }

    Column columns[N_COLUMNS] = {[TASK] = {"task", COLUMN_F64, NULL},
                                 [BEGIN] = {"begin", COLUMN_F64, NULL},
                                 [DURATION] = {"duration", COLUMN_F64, NULL},
                                 [INPUT] = {"input", COLUMN_F64, NULL},
                                 [SHUFFLE] = {"shuffle_read", COLUMN_F64, NULL},
                                 [PARTITION] = {"partition", COLUMN_I32, NULL},
                                 [EXECUTOR] = {"executor", column_type_for(g_hash_table_size(rows.numbers)), NULL},
                                 [STATUS] = {"status", COLUMN_U8, NULL},
                                 [CAUSE] = {"cause", COLUMN_U8, NULL}};
    g_auto(ColumnBlock) block = {.columns = columns, .n_columns = N_COLUMNS, .rows = rows.rows->len};
    if (!column_block_open(&block, error)) return NULL;
    const gint64 begin_ms = begin_ms_of(&rows);
    fill(&rows, begin_ms, columns);

    json_auto_t *answer = head_json(entry, stage, &rows, begin_ms);
    if (asked->columns != NULL)
        *asked->columns = column_block_take(&block, answer);
    else
        column_block_add_json(&block, answer);
    return g_steal_pointer(&answer);
}
