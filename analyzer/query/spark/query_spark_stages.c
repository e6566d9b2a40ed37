/* The stages of an application: how long their tasks took, and what these read, wrote and spilled. */
#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/order.h"
#include "analyzer/diagnosis/stragglers.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/app_plans.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/clamped.h"
#include "common/base/clock.h"

typedef struct StageSum {
    gint64 stage; /* with the attempt, the key */
    gint64 attempt;
    const SparkStage *record; /* NULL: only its tasks are known */
    guint64 tasks[TASK_STATUS_COUNT];
    guint64 speculative;
    GArray *durations; /* double, ms, of tasks that ended well */
    gint64 sums[TASK_METRIC_COUNT];
    gint64 first_ms, last_ms; /* of its tasks; -1: unknown */
    double median_ms, p95_ms, max_ms;
    guint64 stragglers;
} StageSum;

typedef struct StageSums {
    GHashTable *by_id; /* StageSum -> itself */
    StageSum *last;
    const AppPlans *plans;
} StageSums;

static guint sum_hash(gconstpointer key) {
    const StageSum *sum = key;
    return (guint)((guint64)sum->stage * 31 + (guint64)sum->attempt);
}

static gboolean sum_equal(gconstpointer a, gconstpointer b) {
    return ((const StageSum *)a)->stage == ((const StageSum *)b)->stage &&
           ((const StageSum *)a)->attempt == ((const StageSum *)b)->attempt;
}

static void sum_free(gpointer data) {
    StageSum *sum = data;
    g_array_unref(sum->durations);
    g_free(sum);
}

static StageSum *sum_of(StageSums *sums, gint64 stage, gint64 attempt) {
    const StageSum wanted = {.stage = stage, .attempt = attempt};
    if (sums->last != NULL && sum_equal(sums->last, &wanted)) return sums->last;
    StageSum *sum = g_hash_table_lookup(sums->by_id, &wanted);
    if (sum == NULL) {
        sum = g_new0(StageSum, 1);
        *sum = wanted;
        sum->first_ms = sum->last_ms = -1;
        sum->durations = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_add(sums->by_id, sum);
    }
    sums->last = sum;
    return sum;
}

static gboolean add_task(void *arg, const void *record) {
    const SparkTask *task = record;
    StageSum *sum = sum_of(arg, task->stage, task->stage_attempt);
    const gint64 duration_ms = spark_task_duration_ms(task);
    sum->tasks[task->status]++;
    sum->speculative += task->speculative == 1;
    for (guint i = 0; i < TASK_METRIC_COUNT; i++)
        if (task->metrics[i] > 0) sum->sums[i] = clamped_add(sum->sums[i], task->metrics[i]);
    if (task->launch_ms >= 0 && (sum->first_ms < 0 || task->launch_ms < sum->first_ms)) sum->first_ms = task->launch_ms;
    sum->last_ms = MAX(sum->last_ms, task->finish_ms);
    if (task->status != TASK_SUCCESS || duration_ms < 0) return TRUE;
    const double ms = (double)duration_ms;
    g_array_append_val(sum->durations, ms);
    return TRUE;
}

static void measure(StageSum *sum) {
    const double *values = (const double *)(gconstpointer)sum->durations->data;
    const guint n = sum->durations->len;
    if (n == 0) return;
    sum->median_ms = order_median(values, n);
    sum->p95_ms = order_quantile(values, n, 0.95);
    for (guint i = 0; i < n; i++) {
        sum->max_ms = MAX(sum->max_ms, values[i]);
        if (sum->median_ms > 0 ? values[i] >= STRAGGLER_RATIO * sum->median_ms : values[i] > 0) sum->stragglers++;
    }
}

/* ---- the answer ---- */

static const char *state_of(const StageSum *sum) {
    if (sum->record == NULL) return "unknown";
    if (sum->record->failure != NULL) return "failed";
    return sum->record->completed_ms >= 0 ? "complete" : "running";
}

static void add_times(json_t *row, const StageSum *sum) {
    const gint64 begin_ms =
        sum->record != NULL && sum->record->submitted_ms >= 0 ? sum->record->submitted_ms : sum->first_ms;
    const gint64 end_ms =
        sum->record != NULL && sum->record->completed_ms >= 0 ? sum->record->completed_ms : sum->last_ms;
    json_add_ms(row, "begin_time_ns", begin_ms);
    if (begin_ms >= 0 && end_ms >= begin_ms) json_add_ms(row, "duration_ns", end_ms - begin_ms);
}

static void add_tasks(json_t *row, const StageSum *sum) {
    json_t *states = json_object();
    guint64 all = 0;
    for (guint i = 0; i < TASK_STATUS_COUNT; i++) {
        all += sum->tasks[i];
        if (sum->tasks[i] > 0) json_object_set_new(states, task_status_name((TaskStatus)i), json_count(sum->tasks[i]));
    }
    json_object_set_new(row, "tasks", json_count(all));
    if (sum->record != NULL && sum->record->tasks >= 0)
        json_object_set_new(row, "planned_tasks", json_integer(sum->record->tasks));
    json_object_set_new(row, "task_states", states);
    json_object_set_new(row, "speculative_tasks", json_count(sum->speculative));
    if (sum->durations->len == 0) return;
    json_object_set_new(row, "median_ns", json_integer((json_int_t)llround(sum->median_ms * (double)NS_PER_MS)));
    json_object_set_new(row, "p95_ns", json_integer((json_int_t)llround(sum->p95_ms * (double)NS_PER_MS)));
    json_object_set_new(row, "max_ns", json_integer((json_int_t)llround(sum->max_ms * (double)NS_PER_MS)));
    json_object_set_new(row, "stragglers", json_count(sum->stragglers));
}

static void add_amounts(json_t *row, const StageSum *sum) {
    const gint64 *sums = sum->sums;
    const struct {
        const char *name;
        gint64 value;
    } amounts[] = {
        {"input_bytes", sums[METRIC_INPUT_BYTES]},
        {"input_records", sums[METRIC_INPUT_RECORDS]},
        {"output_bytes", sums[METRIC_OUTPUT_BYTES]},
        {"shuffle_read_bytes", clamped_add(sums[METRIC_SHUFFLE_REMOTE_BYTES], sums[METRIC_SHUFFLE_LOCAL_BYTES])},
        {"shuffle_write_bytes", sums[METRIC_SHUFFLE_WRITE_BYTES]},
        {"memory_spilled_bytes", sums[METRIC_MEMORY_SPILLED_BYTES]},
        {"disk_spilled_bytes", sums[METRIC_DISK_SPILLED_BYTES]},
        {"run_ns", clamped_mul(sums[METRIC_RUN_MS], NS_PER_MS)},
        {"cpu_ns", sums[METRIC_CPU_NS]},
        {"gc_ns", clamped_mul(sums[METRIC_GC_MS], NS_PER_MS)},
    };
    for (guint i = 0; i < G_N_ELEMENTS(amounts); i++)
        json_object_set_new(row, amounts[i].name, json_integer(amounts[i].value));
}

static json_t *rdds_of(const SparkStage *stage) {
    json_t *list = json_array();
    for (guint32 i = 0; i < stage->rdds.n; i++) {
        const SparkRdd *rdd = &stage->rdds.items[i];
        json_t *object = json_pack("{s:I}", "id", (json_int_t)rdd->id);
        json_add_text(object, "name", rdd->name);
        json_add_text(object, "scope", rdd->scope);
        json_add_text(object, "call_site", rdd->call_site);
        json_add_text(object, "storage_level", rdd->storage_level);
        json_array_append_new(list, object);
    }
    return list;
}

/* "name", and Spark's own where that is another; of a query its number and what it is called. */
static void add_names(json_t *row, const AppPlans *plans, const SparkStage *record) {
    g_autofree char *name = app_plans_stage_name(plans, record);
    const SparkQuery *query = app_plans_query_of(plans, record);
    json_add_text(row, "name", name);
    if (g_strcmp0(name, record->name) != 0) json_add_text(row, "spark_name", record->name);
    if (query == NULL) return;
    json_object_set_new(row, "query", json_integer(query->query));
    json_add_text(row, "query_name", query->description);
}

static json_t *row_of(const StageSum *sum, const AppPlans *plans, gboolean one) {
    json_t *row = json_pack("{s:I, s:I, s:s}", "stage", (json_int_t)sum->stage, "attempt", (json_int_t)sum->attempt,
                            "state", state_of(sum));
    if (sum->record != NULL) add_names(row, plans, sum->record);
    if (sum->record != NULL) json_add_text(row, "failure", sum->record->failure);
    if (sum->record != NULL && sum->record->profile > 0)
        json_object_set_new(row, "profile", json_integer(sum->record->profile));
    add_times(row, sum);
    add_tasks(row, sum);
    add_amounts(row, sum);
    if (!one || sum->record == NULL) return row;
    json_add_text(row, "details", sum->record->details);
    json_object_set_new(row, "rdds", rdds_of(sum->record));
    return row;
}

static const char *const sorts[] = {"stage", "duration", "tasks", "median", "stragglers", "input", "shuffle", NULL};
enum { SORT_STAGE, SORT_DURATION, SORT_TASKS, SORT_MEDIAN, SORT_STRAGGLERS, SORT_INPUT, SORT_SHUFFLE };

static double sort_value(const StageSum *sum, guint by) {
    switch (by) {
    case SORT_DURATION: return (double)sum->last_ms - (double)sum->first_ms;
    case SORT_TASKS: return (double)sum->durations->len;
    case SORT_MEDIAN: return sum->median_ms;
    case SORT_STRAGGLERS: return (double)sum->stragglers;
    case SORT_INPUT: return (double)sum->sums[METRIC_INPUT_BYTES];
    case SORT_SHUFFLE:
        return (double)sum->sums[METRIC_SHUFFLE_REMOTE_BYTES] + (double)sum->sums[METRIC_SHUFFLE_LOCAL_BYTES] +
               (double)sum->sums[METRIC_SHUFFLE_WRITE_BYTES];
    default: return 0;
    }
}

static int compare(gconstpointer a, gconstpointer b, gpointer by) {
    const StageSum *x = *(StageSum *const *)a, *y = *(StageSum *const *)b;
    const double left = sort_value(x, GPOINTER_TO_UINT(by)), right = sort_value(y, GPOINTER_TO_UINT(by));
    if (left != right) return left > right ? -1 : 1;
    if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
    return x->attempt < y->attempt ? -1 : x->attempt > y->attempt;
}

static gboolean collect(const Asked *asked, const char *key, SparkRecords *records, StageSums *sums, GError **error) {
    SparkSelect stages = SPARK_SELECT(SPARK_STAGE, key), tasks = SPARK_SELECT(SPARK_TASK, key);
    gint64 attempt;
    if (!asked_stage(asked, &stages.stage, &attempt, error)) return FALSE;
    stages.attempt = tasks.attempt = (gint32)attempt;
    tasks.stage = stages.stage;
    if (!archive_spark_load(asked->archive, &stages, records, error)) return FALSE;
    for (guint i = 0; i < records->of[SPARK_STAGE]->len; i++) {
        const SparkStage *stage = spark_stage(records, i);
        sum_of(sums, stage->stage, stage->attempt)->record = stage;
    }
    return archive_spark_visit(asked->archive, &tasks, records, (SparkVisitor){add_task, sums}, error);
}

static json_t *answer_of(const Asked *asked, const AppEntry *entry, StageSums *sums, GError **error) {
    guint64 limit = 0;
    guint by = SORT_STAGE;
    if (!params_count(asked->params, "limit", &limit, error) ||
        !params_choice(asked->params, "sort", sorts, &by, error))
        return NULL;

    g_autoptr(GPtrArray) order = g_ptr_array_new();
    GHashTableIter iter;
    gpointer sum;
    g_hash_table_iter_init(&iter, sums->by_id);
    while (g_hash_table_iter_next(&iter, &sum, NULL)) {
        measure(sum);
        g_ptr_array_add(order, sum);
    }
    g_ptr_array_sort_with_data(order, compare, GUINT_TO_POINTER(by));

    json_t *answer = json_object(), *rows = json_array();
    json_add_app(asked, answer, entry);
    const guint n = answer_rows(asked, limit, order->len, answer);
    const gboolean one = params_text(asked->params, "stage") != NULL;

    for (guint i = 0; i < n; i++) json_array_append_new(rows, row_of(g_ptr_array_index(order, i), sums->plans, one));
    json_object_set_new(answer, "stages", rows);
    return answer;
}

json_t *answer_stages(const Asked *asked, GError **error) {
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    const AppEntry *entry = list != NULL ? asked_app_entry(asked, list, error) : NULL;
    if (entry == NULL) return NULL;
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autoptr(GHashTable) by_id = g_hash_table_new_full(sum_hash, sum_equal, sum_free, NULL);
    g_autoptr(AppPlans) plans = app_plans_load(asked->archive, entry->key, error);
    if (plans == NULL) return NULL;
    StageSums sums = {by_id, NULL, plans};
    return collect(asked, entry->key, records, &sums, error) ? answer_of(asked, entry, &sums, error) : NULL;
}
