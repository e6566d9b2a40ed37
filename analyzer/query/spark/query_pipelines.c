/* The tasks of one stage, each with the time of each of its operations: the longest first. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "analyzer/query/spark/tasks/operation_json.h"
#include "analyzer/query/spark/tasks/stage_choices.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

#define DEFAULT_LIMIT 100u

static gint longest_first(gconstpointer a, gconstpointer b, gpointer arg) {
    const StageOperations *stage = arg;
    const Pipeline *x = &g_array_index(stage->pipelines, Pipeline, *(const guint32 *)a);
    const Pipeline *y = &g_array_index(stage->pipelines, Pipeline, *(const guint32 *)b);
    if (x->duration_ms != y->duration_ms) return x->duration_ms > y->duration_ms ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static guint32 *order_of(StageOperations *stage) {
    guint32 *order = g_new(guint32, stage->pipelines->len + 1);
    for (guint32 i = 0; i < stage->pipelines->len; i++) order[i] = i;
    allowance_sort(order, stage->pipelines->len, sizeof *order, longest_first, stage);
    return order;
}

/* Of each pipeline a row of all operations; 0: it has none of that. */
static double *times_of(const StageOperations *stage) {
    const gsize n_ops = stage->operations->len;
    double *times = g_new0(double, stage->pipelines->len *n_ops + 1);
    for (guint32 i = 0; i < stage->spans->len && allowance_goes_on(); i++) {
        const OpSpan *span = &g_array_index(stage->spans, OpSpan, i);
        times[span->pipeline * n_ops + span->operation] += span->span_ms;
    }
    return times;
}

static json_t *pipeline_json(const StageOperations *stage, guint32 number, const double *times) {
    const Pipeline *pipeline = &g_array_index(stage->pipelines, Pipeline, number);
    json_t *object = json_object(), *list = json_array();
    if (pipeline->task >= 0) json_object_set_new(object, "task", json_integer(pipeline->task));
    json_object_set_new(object, "partition", json_integer(pipeline->partition));
    json_object_set_new(object, "host", json_string(g_ptr_array_index(stage->hosts, pipeline->host)));
    json_set_number(object, "duration_ms", pipeline->duration_ms);
    for (guint32 j = 0; j < stage->operations->len; j++) json_array_append_new(list, json_number(times[j]));
    json_object_set_new(object, "operations_ms", list);
    return object;
}

static json_t *operations_json(const StageOperations *stage) {
    json_t *list = json_array();
    for (guint32 j = 0; j < stage->operations->len; j++) {
        json_t *object = json_object();
        json_add_operation(object, &g_array_index(stage->operations, StageOperation, j));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *stage_json(const Asked *asked, const StageChoice *choice, guint64 limit, GError **error) {
    g_autoptr(StageOperations) stage = stage_operations_load(asked->archive, choice, error);
    if (!stage) return NULL;
    g_autofree guint32 *order = order_of(stage);
    g_autofree double *times = times_of(stage);

    json_t *answer = json_object(), *list = json_array();
    json_object_set_new(answer, "app", json_string(choice->app));
    json_object_set_new(answer, "stage", json_integer(choice->stage));
    json_object_set_new(answer, "stage_attempt", json_integer(choice->attempt));
    json_object_set_new(answer, "pipelines_total", json_count(stage->pipelines->len));
    json_object_set_new(answer, "operations", operations_json(stage));
    const guint n = answer_rows(asked, limit, stage->pipelines->len, answer);
    json_object_set_new(answer, "pipelines", list);
    for (guint i = 0; i < n && allowance_goes_on(); i++)
        json_array_append_new(list, pipeline_json(stage, order[i], &times[(gsize)order[i] * stage->operations->len]));
    return answer;
}

/* The attempt that is asked for, or the last one. */
static const StageChoice *choose(const GArray *stages, gint64 attempt) {
    for (guint i = stages->len; i-- > 0;) {
        const StageChoice *choice = &g_array_index(stages, StageChoice, i);
        if (attempt < 0 || choice->attempt == attempt) return choice;
    }
    return NULL;
}

json_t *answer_pipelines(const Asked *asked, GError **error) {
    gint64 stage, attempt;
    guint64 limit = DEFAULT_LIMIT;
    if (!asked_stage(asked, &stage, &attempt, error) || !params_count(asked->params, "limit", &limit, error))
        return NULL;
    if (stage < 0) {
        fail(error, PLUMB_ERROR_INPUT, "of which stage? Give stage=N or stage=N.ATTEMPT");
        return NULL;
    }
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    const AppEntry *entry = list ? asked_app_entry(asked, list, error) : NULL;
    if (!entry) return NULL;

    const SparkApp bare = {.app = entry->key, .id = entry->key};
    g_autoptr(GArray) stages = stage_choices_load(asked->archive, entry->app ? entry->app : &bare, stage, error);
    if (!stages) return NULL;
    const StageChoice *choice = choose(stages, attempt);
    if (choice) return stage_json(asked, choice, limit, error);
    fail(error, PLUMB_ERROR_NOT_FOUND, "application \"%s\" has no such stage: plumb stages %s shows which there are",
         entry->key, entry->key);
    return NULL;
}
