#include "analyzer/query/spark/diagnosis.h"

#include <math.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"

/* ---- options ---- */

gboolean asked_bigroots(const Asked *asked, BigRootsOptions *options, GError **error) {
    static const char *const figures[] = {"median", "mean", NULL}, *const kept[] = {"causes", "near", "all", NULL};
    const QueryParams *params = asked->params;
    gboolean edge = TRUE;
    if (!params_flag(params, "edge", &edge, error)) return FALSE;

    BigRootsOptions result = bigroots_options(edge);
    guint figure = result.peers, keep = result.keep;
    gint64 window_ns = result.window_ms * NS_PER_MS;

    if (!params_real(params, "lambda_p", &result.lambda_p, error) ||
        !params_real(params, "lambda_q", &result.lambda_q, error) ||
        !params_real(params, "lambda_t", &result.lambda_t, error) ||
        !params_real(params, "lambda_e", &result.lambda_e, error) ||
        !params_real(params, "lambda_w", &result.lambda_w, error) ||
        !params_duration(params, "window", &window_ns, error) ||
        !params_choice(params, "peers", figures, &figure, error) ||
        !params_choice(params, "evidence", kept, &keep, error))
        return FALSE;
    if (result.lambda_q > 1) return fail(error, PLUMB_ERROR_INPUT, "lambda_q is a quantile: give 0 to 1");

    result.window_ms = window_ns / NS_PER_MS;
    result.peers = (PeerFigure)figure;
    result.keep = (EvidenceKept)keep;
    *options = result;
    return TRUE;
}

json_t *json_bigroots_options(const BigRootsOptions *options) {
    json_t *object = json_object();
    json_set_number(object, "lambda_p", options->lambda_p);
    json_set_number(object, "lambda_q", options->lambda_q);
    json_set_number(object, "lambda_t", options->lambda_t);
    json_set_number(object, "lambda_e", options->lambda_e);
    json_set_number(object, "lambda_w", options->lambda_w);
    json_object_set_new(object, "window_ns", json_integer(options->window_ms * NS_PER_MS));
    json_object_set_new(object, "edge", json_boolean(options->edge_detection));
    json_object_set_new(object, "peers", json_string(options->peers == PEER_MEAN ? "mean" : "median"));
    return object;
}

/* ---- JSON ---- */

json_t *json_blame(const TaskTable *table, const Blame *blame) {
    json_t *object = json_object();
    if (blame->feature < 0) {
        json_object_set_new(object, "feature", json_string("machine"));
    } else {
        const Feature *feature = task_feature(table, (guint)blame->feature);
        json_object_set_new(object, "feature", json_string(feature->name));
        json_object_set_new(object, "kind", json_string(feature_kind_name(feature->kind)));
        json_object_set_new(object, "topic", json_string(feature_topic_name(feature->topic)));
        json_object_set_new(object, "unit", json_string(feature->unit));
    }
    json_object_set_new(object, "verdict", json_string(verdict_name(VERDICT_CAUSE)));
    json_set_number(object, "measured", blame->raw);
    json_set_number(object, "value", blame->value);
    json_set_number(object, "bound", blame->bound);
    json_set_number(object, "correlation", blame->correlation);
    return object;
}

/* ---- by straggler ---- */

static guint32 straggler_at(const char *item) {
    guint32 straggler;
    memcpy(&straggler, item, sizeof straggler);
    return straggler;
}

guint32 *sort_by_straggler(GArray *items, guint32 n_stragglers) {
    const gsize size = g_array_get_element_size(items), bytes = size * items->len;
    g_autofree char *before = g_memdup2(items->data, bytes);
    guint32 *first = g_new0(guint32, (gsize)n_stragglers + 1);
    for (gsize at = 0; at < bytes; at += size) first[straggler_at(before + at) + 1]++;
    for (guint32 i = 0; i < n_stragglers; i++) first[i + 1] += first[i];
    g_autofree guint32 *next = g_memdup2(first, sizeof *first * ((gsize)n_stragglers + 1));
    for (gsize at = 0; at < bytes; at += size)
        memcpy(items->data + size * next[straggler_at(before + at)]++, before + at, size);
    return first;
}
