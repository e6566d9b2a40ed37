/* The task attempts of an application, or of one of its stages. */
#include <string.h>

#include "analyzer/diagnosis/order.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* What is kept of a task until it is known which ones are shown: an application may have a million. */
typedef struct Brief {
    gint64 stage, task;
    gint32 attempt, status;
    gint64 launch_ms, duration_ms;
    double value; /* to sort by, the largest first */
} Brief;

typedef struct Collect {
    guint by;
    gint64 task;      /* only this one; -1: all */
    gint status;      /* only these; -1: all */
    const char *host; /* only what ran there; NULL: all */
    GArray *briefs;
} Collect;

static const char *const sorts[] = {"task", "duration", "begin", "gc", "input", "shuffle", NULL};
enum { SORT_TASK, SORT_DURATION, SORT_BEGIN, SORT_GC, SORT_INPUT, SORT_SHUFFLE };

static double sort_value(const SparkTask *task, guint by) {
    switch (by) {
    case SORT_DURATION: return (double)spark_task_duration_ms(task);
    case SORT_BEGIN: return -(double)task->launch_ms;
    case SORT_GC: return (double)task->metrics[METRIC_GC_MS];
    case SORT_INPUT: return (double)task->metrics[METRIC_INPUT_BYTES];
    case SORT_SHUFFLE:
        return (double)(MAX(task->metrics[METRIC_SHUFFLE_REMOTE_BYTES], 0) +
                        MAX(task->metrics[METRIC_SHUFFLE_LOCAL_BYTES], 0));
    default: return 0;
    }
}

/* Medians are of all tasks of a stage, so what is filtered out is only marked. */
#define NOT_SHOWN G_MININT32

static gboolean add_task(void *arg, const void *record) {
    const SparkTask *task = record;
    const Collect *collect = arg;
    const gboolean fits = (collect->task < 0 || task->task == collect->task) &&
                          (collect->status < 0 || (gint)task->status == collect->status) &&
                          (collect->host == NULL || g_strcmp0(task->host, collect->host) == 0);
    const Brief brief = {.stage = task->stage,
                         .task = task->task,
                         .attempt = task->stage_attempt,
                         .status = fits ? (gint32)task->status : NOT_SHOWN,
                         .launch_ms = task->status == TASK_SUCCESS ? task->launch_ms : -1,
                         .duration_ms = spark_task_duration_ms(task),
                         .value = sort_value(task, collect->by)};
    g_array_append_val(collect->briefs, brief);
    return TRUE;
}

/* ---- the answer ---- */

typedef struct StageMedian {
    gint64 stage;
    gint32 attempt;
    double median_ms;
} StageMedian;

/* Tasks come stage by stage, as their keys lie. */
static GArray *medians_of(const GArray *briefs) {
    GArray *medians = g_array_new(FALSE, FALSE, sizeof(StageMedian));
    g_autofree double *values = g_new(double, briefs->len + 1);
    for (guint i = 0, end = 0; i < briefs->len; i = end) {
        const Brief *first = &g_array_index(briefs, Brief, i);
        gsize n = 0;
        for (end = i; end < briefs->len; end++) {
            const Brief *brief = &g_array_index(briefs, Brief, end);
            if (brief->stage != first->stage || brief->attempt != first->attempt) break;
            if (brief->launch_ms >= 0 && brief->duration_ms >= 0) values[n++] = (double)brief->duration_ms;
        }
        const StageMedian median = {first->stage, first->attempt, order_median(values, n)};
        g_array_append_val(medians, median);
    }
    return medians;
}

static double median_of(const GArray *medians, const SparkTask *task) {
    for (guint i = 0; i < medians->len; i++) {
        const StageMedian *median = &g_array_index(medians, StageMedian, i);
        if (median->stage == task->stage && median->attempt == task->stage_attempt) return median->median_ms;
    }
    return 0;
}

static json_t *metrics_of(const SparkTask *task) {
    json_t *metrics = json_object();
    for (guint i = 0; i < TASK_METRIC_COUNT; i++)
        if (task->metrics[i] >= 0) json_object_set_new(metrics, task_metrics[i].name, json_integer(task->metrics[i]));
    return metrics;
}

static json_t *row_of(const SparkTask *task, const char *app_id, double median_ms) {
    json_t *row =
        json_pack("{s:I, s:I, s:i, s:i, s:i}", "task", (json_int_t)task->task, "stage", (json_int_t)task->stage,
                  "stage_attempt", task->stage_attempt, "partition", task->partition, "attempt", task->attempt);
    const gint64 duration_ms = spark_task_duration_ms(task);
    json_object_set_new(row, "status", json_string(task_status_name(task->status)));
    json_add_text(row, "host", task->host);
    json_add_text(row, "executor", task->executor);
    json_object_set_new(row, "locality", json_string(task_locality_name(task->locality)));
    if (task->speculative >= 0) json_object_set_new(row, "speculative", json_boolean(task->speculative));
    json_add_ms(row, "begin_time_ns", task->launch_ms);
    json_add_ms(row, "duration_ns", duration_ms);
    if (duration_ms >= 0 && median_ms > 0)
        json_object_set_new(row, "times_median", json_real((double)duration_ms / median_ms));
    json_object_set_new(row, "trace", json_trace_id(task_trace_id(app_id, task->task)));
    json_add_text(row, "reason", task->reason);
    json_object_set_new(row, "metrics", metrics_of(task));
    return row;
}

static int compare(gconstpointer a, gconstpointer b) {
    const Brief *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
    if (x->attempt != y->attempt) return x->attempt < y->attempt ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static void keep_shown(GArray *briefs) {
    guint n = 0;
    for (guint i = 0; i < briefs->len; i++) {
        const Brief brief = g_array_index(briefs, Brief, i);
        if (brief.status != NOT_SHOWN) g_array_index(briefs, Brief, n++) = brief;
    }
    g_array_set_size(briefs, n);
}

typedef struct Found {
    const GArray *briefs; /* in the order of the answer */
    const GArray *medians;
} Found;

/* Each of the rows that are shown is read again, by its key. */
static gboolean add_rows(const Asked *asked, const AppEntry *entry, const Found *found, json_t *answer,
                         GError **error) {
    const GArray *briefs = found->briefs;
    guint64 limit = 100;
    if (!params_count(asked->params, "limit", &limit, error)) return FALSE;

    const guint n = answer_rows(asked, limit, briefs->len, answer);
    json_t *rows = json_array();
    json_object_set_new(answer, "tasks", rows);
    g_autoptr(SparkRecords) records = spark_records_new();

    for (guint i = 0; i < n; i++) {
        const Brief *brief = &g_array_index(briefs, Brief, i);
        SparkSelect select = SPARK_SELECT(SPARK_TASK, entry->key);
        select.stage = brief->stage;
        select.attempt = brief->attempt;
        select.task = brief->task;

        spark_records_clear(records);
        if (!archive_spark_load(asked->archive, &select, records, error)) return FALSE;
        if (records->of[SPARK_TASK]->len == 0) continue; /* removed meanwhile */

        const SparkTask *task = spark_task(records, 0);
        json_array_append_new(rows, row_of(task, app_entry_id(entry), median_of(found->medians, task)));
    }
    return TRUE;
}

static gboolean asked_filter(const Asked *asked, Collect *collect, GError **error) {
    const char *statuses[TASK_STATUS_COUNT + 1] = {NULL};
    for (guint i = 0; i < TASK_STATUS_COUNT; i++) statuses[i] = task_status_name((TaskStatus)i);
    guint status = TASK_STATUS_COUNT;
    guint64 task = G_MAXUINT64;
    *collect = (Collect){.by = SORT_TASK, .task = -1, .status = -1, .host = params_text(asked->params, "host")};
    if (!params_choice(asked->params, "sort", sorts, &collect->by, error) ||
        !params_choice(asked->params, "status", statuses, &status, error) ||
        !params_count(asked->params, "task", &task, error))
        return FALSE;
    if (status < TASK_STATUS_COUNT) collect->status = (gint)status;
    if (task <= G_MAXINT64) collect->task = (gint64)task;
    return TRUE;
}

json_t *answer_tasks(const Asked *asked, GError **error) {
    Collect collect;
    if (!asked_filter(asked, &collect, error)) return NULL;

    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    const AppEntry *entry = list != NULL ? asked_app_entry(asked, list, error) : NULL;
    if (entry == NULL) return NULL;

    SparkSelect select = SPARK_SELECT(SPARK_TASK, entry->key);
    gint64 attempt;
    if (!asked_stage(asked, &select.stage, &attempt, error)) return NULL;
    select.attempt = (gint32)attempt;

    g_autoptr(SparkRecords) texts = spark_records_new();
    g_autoptr(GArray) briefs = g_array_new(FALSE, FALSE, sizeof(Brief));
    collect.briefs = briefs;
    if (!archive_spark_visit(asked->archive, &select, texts, (SparkVisitor){add_task, &collect}, error)) return NULL;

    g_autoptr(GArray) medians = medians_of(briefs);
    keep_shown(briefs);
    g_array_sort(briefs, compare);

    json_auto_t *answer = json_object();
    json_add_app(asked, answer, entry);
    json_object_set_new(answer, "fitting_tasks", json_count(briefs->len));
    if (!add_rows(asked, entry, &(Found){briefs, medians}, answer, error)) return NULL;
    return json_incref(answer);
}
