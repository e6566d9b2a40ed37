/* What the tasks of an application would take on another host: their time is split by host and function as it was
 * measured, and each part scaled by how fast the other host is at it (docs/nodes.md). */
#include <math.h>
#include <string.h>

#include "analyzer/query/spark/predict/host_model.h"
#include "analyzer/query/spark/predict/predict_answers.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define DEFAULT_LIMIT 20u

static gint fastest_first(gconstpointer a, gconstpointer b) {
    const Prediction *x = a, *y = b;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* ---- JSON ---- */

static json_t *prediction_json(const HostModel *model, const Prediction *prediction, double seen_ns) {
    json_t *object = json_object();
    json_object_set_new(object, "host",
                        json_name(model->cluster->archive, cluster_host(model->cluster, prediction->node)));
    json_object_set_new(object, "predicted_ns", json_integer(llround(prediction->ns)));
    json_object_set_new(object, "times", json_ratio(seen_ns > 0 ? prediction->ns / seen_ns : 1));
    json_object_set_new(object, "known_share", json_ratio(seen_ns > 0 ? prediction->known_ns / seen_ns : 0));
    return object;
}

static json_t *stage_json(const Run *run, const RunStage *stage, const HostModel *model, guint32 on, guint most) {
    const AppStage *known = app_stage(run->tasks, stage->number);
    const double seen_ns = (double)stage->duration_ns / stage->tasks_read;
    g_autoptr(GArray) predictions = g_array_new(FALSE, FALSE, sizeof(Prediction));
    for (guint32 node = 0; node < model->cluster->grid->n_nodes; node++) {
        const Prediction prediction = host_model_predict(model, stage, node);
        const gboolean wanted = on == G_MAXUINT32 ? prediction.known_ns > 0 : node == on;
        if (wanted) g_array_append_val(predictions, prediction);
    }
    g_array_sort(predictions, fastest_first);

    json_t *object = json_object(), *hosts = json_array();
    json_object_set_new(object, "stage", json_integer(known->stage));
    json_object_set_new(object, "stage_attempt", json_integer(known->attempt));
    if (stage->name[0]) json_add_text(object, "name", stage->name);
    json_object_set_new(object, "tasks", json_count(stage->tasks));
    json_object_set_new(object, "tasks_read", json_count(stage->tasks_read));
    json_object_set_new(object, "seen_ns", json_integer(llround(seen_ns)));
    json_object_set_new(object, "hosts", hosts);
    for (guint i = 0; i < predictions->len && i < most; i++)
        json_array_append_new(hosts, prediction_json(model, &g_array_index(predictions, Prediction, i), seen_ns));
    return object;
}

/* The node that was asked for; G_MAXUINT32: all. */
static gboolean find_on(const Asked *asked, const HostModel *model, guint32 *on, GError **error) {
    const guint32 host = asked_name(asked, "on");
    *on = host_model_node(model, host == G_MAXUINT32 ? 0 : host);
    if (host == 0 || *on != G_MAXUINT32) return TRUE;
    return fail(error, PLUMB_ERROR_NOT_FOUND,
                "nothing is known of how fast host \"%s\" is in that time: plumb nodes lists those that are known",
                params_text(asked->params, "on"));
}

json_t *answer_predict(const Asked *asked, GError **error) {
    gint64 number, attempt;
    guint32 on;
    guint64 limit = DEFAULT_LIMIT;
    g_auto(HostModel) model = {.cluster = NULL};
    if (!params_count(asked->params, "limit", &limit, error) || !asked_stage(asked, &number, &attempt, error))
        return NULL;
    g_autofree char *key = asked_app(asked, error);
    g_autoptr(Run) run = key ? run_load(asked, key, error) : NULL;
    if (!run || !host_model_load(asked, &model, error) || !find_on(asked, &model, &on, error)) return NULL;

    json_auto_t *answer = json_object();
    json_t *stages = json_array();
    json_object_set_new(answer, "app", json_string(key));
    json_add_text(answer, "name", run->tasks->app.name);
    json_object_set_new(answer, "stages", stages);
    cluster_json(model.cluster, model.report, answer);
    for (guint i = 0; i < run->stages->len; i++) {
        RunStage *stage = run_stage(run, i);
        const AppStage *known = app_stage(run->tasks, stage->number);
        if ((number >= 0 && known->stage != number) || (attempt >= 0 && known->attempt != attempt)) continue;
        if (!run_stage_read(run, stage, error)) return NULL;
        const guint most = limit ? (guint)MIN(limit, (guint64)asked->rows_max) : asked->rows_max;
        if (stage->tasks_read > 0) json_array_append_new(stages, stage_json(run, stage, &model, on, most));
    }
    return allowance_check(error) ? g_steal_pointer(&answer) : NULL;
}
