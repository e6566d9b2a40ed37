/* The executors of an application: when they came and went, and what their tasks took. */
#include <string.h>

#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/app_given.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/allowance.h"
#include "common/base/clamped.h"
#include "common/base/clock.h"

typedef struct ExecutorSum {
    char *id;                    /* the key */
    const SparkExecutor *record; /* NULL: only its tasks are known */
    char *host;                  /* of its tasks, where there is no record */
    guint64 tasks[TASK_STATUS_COUNT];
    gint64 task_ms;
    gint64 sums[TASK_METRIC_COUNT];
} ExecutorSum;

static void sum_free(gpointer data) {
    ExecutorSum *sum = data;
    g_free(sum->id);
    g_free(sum->host);
    g_free(sum);
}

static ExecutorSum *sum_of(GHashTable *sums, const char *id) {
    ExecutorSum *sum = g_hash_table_lookup(sums, id);
    if (sum != NULL) return sum;
    sum = g_new0(ExecutorSum, 1);
    sum->id = g_strdup(id);
    g_hash_table_insert(sums, sum->id, sum);
    return sum;
}

static gboolean add_task(void *arg, const void *record) {
    const SparkTask *task = record;
    if (task->executor == NULL) return TRUE;
    ExecutorSum *sum = sum_of(arg, task->executor);
    sum->tasks[task->status]++;
    sum->task_ms = clamped_add(sum->task_ms, MAX(spark_task_duration_ms(task), 0));
    for (guint i = 0; i < TASK_METRIC_COUNT; i++)
        if (task->metrics[i] > 0) sum->sums[i] = clamped_add(sum->sums[i], task->metrics[i]);
    if (sum->host == NULL) sum->host = g_strdup(task->host);
    return TRUE;
}

/* ---- the answer ---- */

static gint64 end_of(const SparkExecutor *executor, const AppEntry *entry) {
    if (executor->removed_ms >= 0 || entry->app == NULL) return executor->removed_ms;
    return entry->app->end_ms >= 0 ? entry->app->end_ms : entry->app->last_event_ms;
}

static const char *state_of(const SparkExecutor *executor, const AppEntry *entry) {
    if (executor == NULL) return "unknown";
    if (executor->removed_ms >= 0) return "removed";
    return entry->app != NULL && entry->app->end_ms >= 0 ? "ended" : "running";
}

/* Cores that a task takes. */
static double task_cpus(const SparkApp *app) {
    const SparkPairs all = app != NULL ? app->properties : (SparkPairs){NULL, 0};
    for (guint32 i = 0; i < all.n; i++) {
        const SparkPair *pair = &all.items[i];
        if (g_strcmp0(pair->key, "spark.task.cpus") != 0 || pair->value == NULL) continue;
        const double cpus = g_ascii_strtod(pair->value, NULL);
        return cpus >= 1 && cpus <= 4096 ? cpus : 1;
    }
    return 1;
}

/* What it was measured to have had of memory, at most. */
static void add_memory(json_t *row, const SparkExecutor *executor) {
    json_t *peaks = json_object();
    if (executor->memory_bytes >= 0) json_object_set_new(row, "memory_bytes", json_integer(executor->memory_bytes));
    for (guint i = 0; i < EXECUTOR_PEAK_COUNT; i++)
        if (executor->peaks[i] >= 0)
            json_object_set_new(peaks, executor_peaks[i].name, json_integer(executor->peaks[i]));
    if (json_object_size(peaks) > 0)
        json_object_set_new(row, "peaks", peaks);
    else
        json_decref(peaks);
}

static void add_life(json_t *row, const ExecutorSum *sum, const AppEntry *entry) {
    const SparkExecutor *executor = sum->record;
    json_object_set_new(row, "state", json_string(state_of(executor, entry)));
    json_add_text(row, "host", executor != NULL && executor->host != NULL ? executor->host : sum->host);
    if (executor == NULL) return;
    const gint64 end_ms = end_of(executor, entry);
    if (executor->cores >= 0) json_object_set_new(row, "cores", json_integer(executor->cores));
    if (executor->profile > 0) json_object_set_new(row, "profile", json_integer(executor->profile));
    json_add_ms(row, "begin_time_ns", executor->added_ms);
    json_add_ms(row, "removed_time_ns", executor->removed_ms);
    json_add_text(row, "reason", executor->reason);
    add_memory(row, executor);
    if (executor->added_ms < 0 || end_ms <= executor->added_ms) return;
    const gint64 lived_ms = end_ms - executor->added_ms;
    json_add_ms(row, "duration_ns", lived_ms);
    if (executor->cores <= 0) return;
    const double busy_ms = (double)sum->task_ms * task_cpus(entry->app);
    json_object_set_new(row, "busy_share", json_real(busy_ms / ((double)lived_ms * (double)executor->cores)));
}

static void add_tasks(json_t *row, const ExecutorSum *sum) {
    const gint64 *sums = sum->sums;
    json_t *states = json_object();
    guint64 all = 0;
    for (guint i = 0; i < TASK_STATUS_COUNT; i++) {
        all += sum->tasks[i];
        if (sum->tasks[i] > 0) json_object_set_new(states, task_status_name((TaskStatus)i), json_count(sum->tasks[i]));
    }
    json_object_set_new(row, "tasks", json_count(all));
    json_object_set_new(row, "task_states", states);
    json_add_ms(row, "tasks_ns", sum->task_ms);
    json_add_ms(row, "gc_ns", sums[METRIC_GC_MS]);
    json_object_set_new(row, "input_bytes", json_integer(sums[METRIC_INPUT_BYTES]));
    json_object_set_new(row, "shuffle_read_bytes",
                        json_integer(clamped_add(sums[METRIC_SHUFFLE_REMOTE_BYTES], sums[METRIC_SHUFFLE_LOCAL_BYTES])));
    json_object_set_new(row, "shuffle_write_bytes", json_integer(sums[METRIC_SHUFFLE_WRITE_BYTES]));
    json_object_set_new(row, "disk_spilled_bytes", json_integer(sums[METRIC_DISK_SPILLED_BYTES]));
}

static const char *const sorts[] = {"executor", "tasks", "time", "gc", NULL};
enum { SORT_EXECUTOR, SORT_TASKS, SORT_TIME, SORT_GC };

static double sort_value(const ExecutorSum *sum, guint by) {
    guint64 tasks = 0;
    for (guint i = 0; i < TASK_STATUS_COUNT; i++) tasks += sum->tasks[i];
    return by == SORT_TASKS  ? (double)tasks
           : by == SORT_TIME ? (double)sum->task_ms
           : by == SORT_GC   ? (double)sum->sums[METRIC_GC_MS]
                             : 0;
}

/* "2" before "10", which both are before "driver". */
static int compare(gconstpointer a, gconstpointer b, gpointer by) {
    const ExecutorSum *x = *(ExecutorSum *const *)a, *y = *(ExecutorSum *const *)b;
    const double left = sort_value(x, GPOINTER_TO_UINT(by)), right = sort_value(y, GPOINTER_TO_UINT(by));
    if (left != right) return left > right ? -1 : 1;
    guint64 m = G_MAXUINT64, n = G_MAXUINT64;
    g_ascii_string_to_unsigned(x->id, 10, 0, G_MAXINT64, &m, NULL);
    g_ascii_string_to_unsigned(y->id, 10, 0, G_MAXINT64, &n, NULL);
    return m != n ? (m < n ? -1 : 1) : strcmp(x->id, y->id);
}

static json_t *answer_of(const Asked *asked, const AppEntry *entry, GHashTable *sums, GError **error) {
    guint64 limit = 0;
    guint by = SORT_EXECUTOR;
    if (!params_count(asked->params, "limit", &limit, error) ||
        !params_choice(asked->params, "sort", sorts, &by, error))
        return NULL;

    g_autoptr(GPtrArray) order = g_ptr_array_new();
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, sums);
    while (g_hash_table_iter_next(&iter, NULL, &value)) g_ptr_array_add(order, value);
    g_ptr_array_sort_with_data(order, compare, GUINT_TO_POINTER(by));
    json_t *answer = json_object(), *rows = json_array();
    json_add_app(asked, answer, entry);

    const guint n = answer_rows(asked, limit, order->len, answer);
    for (guint i = 0; i < n && allowance_goes_on(); i++) {
        const ExecutorSum *sum = g_ptr_array_index(order, i);
        json_t *row = json_object();
        json_add_text(row, "executor", sum->id);
        add_life(row, sum, entry);
        add_tasks(row, sum);
        json_array_append_new(rows, row);
    }
    json_object_set_new(answer, "executors", rows);
    if (app_given_add(asked->archive, entry->key, answer, error)) return answer;
    json_decref(answer);
    return NULL;
}

json_t *answer_executors(const Asked *asked, GError **error) {
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    const AppEntry *entry = list != NULL ? asked_app_entry(asked, list, error) : NULL;
    if (entry == NULL) return NULL;
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, sum_free);
    const SparkSelect executors = SPARK_SELECT(SPARK_EXECUTOR, entry->key),
                      tasks = SPARK_SELECT(SPARK_TASK, entry->key);
    if (!archive_spark_load(asked->archive, &executors, records, error)) return NULL;
    for (guint i = 0; i < records->of[SPARK_EXECUTOR]->len && allowance_goes_on(); i++) {
        const SparkExecutor *executor = spark_executor(records, i);
        sum_of(sums, executor->id)->record = executor;
    }
    if (!archive_spark_visit(asked->archive, &tasks, records, (SparkVisitor){add_task, sums}, error)) return NULL;
    return answer_of(asked, entry, sums, error);
}
