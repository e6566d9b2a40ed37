#include "analyzer/query/jaeger/zipkin.h"

#include <string.h>

#include "analyzer/query/jaeger/zipkin_inside.h"
#include "common/base/clock.h"

#define DEFAULT_LIMIT       10
#define DEFAULT_LOOKBACK_NS (24 * 3600 * NS_PER_SEC)
/* Ids in one question. */
#define TRACES_MOST 100u

/* ---- lists of names ---- */

/* What Jaeger's document has, in the same order. */
static json_t *data_of(json_t *document) {
    json_auto_t *answer = document;
    return answer != NULL ? json_incref(json_object_get(answer, "data")) : NULL;
}

static const char *service_of(const Asked *asked, GError **error) {
    const char *service = params_text(asked->params, "serviceName");
    if (service == NULL || service[0] == '\0') fail(error, PLUMB_ERROR_INPUT, "parameter 'serviceName' is required");
    return service != NULL && service[0] != '\0' ? service : NULL;
}

static json_t *answer_span_names(const Asked *asked, GError **error) {
    const char *service = service_of(asked, error);
    return service != NULL ? data_of(jaeger_operations(asked, service, FALSE, error)) : NULL;
}

/* Whom the service called in the last day. */
static json_t *answer_remote(const Asked *asked, GError **error) {
    const char *service = service_of(asked, error);
    json_auto_t *links = service != NULL ? data_of(jaeger_dependencies(asked, error)) : NULL;
    if (links == NULL) return NULL;
    json_t *names = json_array(), *link;
    size_t i;
    json_array_foreach(links, i, link) {
        if (g_strcmp0(json_string_value(json_object_get(link, "parent")), service) == 0)
            json_array_append(names, json_object_get(link, "child"));
    }
    return names;
}

/* ---- one trace ---- */

static json_t *answer_trace(const Asked *asked, const char *id, GError **error) {
    g_autoptr(TraceView) view = jaeger_trace_view(asked, id, error);
    if (view == NULL) return NULL;
    JaegerTraces traces;
    zipkin_traces_begin(&traces, asked, FALSE);
    traces.add(&traces, view);
    return zipkin_traces_end(&traces, FALSE, error);
}

gboolean zipkin_asks_for(const char *question, guint64 *trace_id) {
    static const char of_trace[] = ZIPKIN_QUESTIONS "trace/";
    guint64 high;
    return g_str_has_prefix(question, of_trace) && jaeger_trace_id(question + strlen(of_trace), &high, trace_id, NULL);
}

/* ---- several ---- */

static gboolean add_many(JaegerTraces *traces, char **ids, GError **error) {
    for (guint i = 0; ids[i] != NULL && !traces->full; i++)
        if (!search_add(traces, NULL, ids[i], error)) return FALSE;
    return TRUE;
}

static json_t *answer_many(const Asked *asked, GError **error) {
    const char *text = params_text(asked->params, "traceIds");
    if (text == NULL || text[0] == '\0') {
        fail(error, PLUMB_ERROR_INPUT, "parameter 'traceIds' is required");
        return NULL;
    }
    g_auto(GStrv) ids = g_strsplit(text, ",", TRACES_MOST + 1);
    if (g_strv_length(ids) > TRACES_MOST) {
        fail(error, PLUMB_ERROR_INPUT, "traceIds: %u at most", TRACES_MOST);
        return NULL;
    }
    JaegerTraces traces;
    zipkin_traces_begin(&traces, asked, TRUE);
    if (add_many(&traces, ids, error)) return zipkin_traces_end(&traces, TRUE, error);
    json_text_clear(&traces.own);
    return NULL;
}

/* ---- searches ---- */

/* "error and http.path=/cart": as annotations are asked for here. */
static GPtrArray *parse_annotations(const char *text) {
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    if (text == NULL) return list;
    g_auto(GStrv) terms = g_strsplit(text, " and ", -1);
    for (guint i = 0; terms[i] != NULL; i++) {
        const char *term = g_strstrip(terms[i]);
        if (term[0] != '\0') g_ptr_array_add(list, g_strdup(term));
    }
    return list;
}

/* "all" is what Zipkin's old page sends for none. */
static const char *name_or_null(const Asked *asked, const char *name) {
    const char *text = params_text(asked->params, name);
    return text != NULL && text[0] != '\0' && strcmp(text, "all") != 0 ? text : NULL;
}

static gboolean parse(const Asked *asked, TraceSearch *search, GError **error) {
    gint64 lookback_ns = DEFAULT_LOOKBACK_NS;
    search->service = name_or_null(asked, "serviceName");
    search->operation = name_or_null(asked, "spanName");
    search->own_service = search->service == NULL || !jaeger_role(search->service, &search->role);
    search->until_ns = asked->now_ns;
    search->max_ns = G_MAXINT64;
    search->limit = DEFAULT_LIMIT;
    search->annotations = parse_annotations(params_text(asked->params, "annotationQuery"));
    if (!jaeger_number(asked, "endTs", NS_PER_MS, &search->until_ns, error) ||
        !jaeger_number(asked, "lookback", NS_PER_MS, &lookback_ns, error) ||
        !jaeger_number(asked, "minDuration", NS_PER_US, &search->min_ns, error) ||
        !jaeger_number(asked, "maxDuration", NS_PER_US, &search->max_ns, error) ||
        !jaeger_number(asked, "limit", 1, &search->limit, error))
        return FALSE;
    search->since_ns = MAX(search->until_ns - lookback_ns, 0);
    search->limit = CLAMP(search->limit, 1, SEARCH_LIMIT_MOST);
    return TRUE;
}

static json_t *answer_traces(const Asked *asked, GError **error) {
    g_auto(TraceSearch) search = {0};
    if (!parse(asked, &search, error)) return NULL;
    JaegerTraces traces;
    zipkin_traces_begin(&traces, asked, TRUE);
    if (search_traces(&traces, &search, error)) return zipkin_traces_end(&traces, TRUE, error);
    json_text_clear(&traces.own);
    return NULL;
}

/* ---- all ---- */

/* Names and values for its page to offer: there is no list of them here. */
static json_t *answer_nothing(const Asked *asked, GError **error) {
    (void)asked, (void)error;
    return json_array();
}

static json_t *answer_services(const Asked *asked, GError **error) { return data_of(jaeger_services(asked, error)); }

static json_t *answer_links(const Asked *asked, GError **error) { return data_of(jaeger_dependencies(asked, error)); }

static const struct {
    const char *path;
    json_t *(*answer)(const Asked *asked, GError **error);
} paths[] = {
    {"services", answer_services},        {"spans", answer_span_names},
    {"remoteServices", answer_remote},    {"traces", answer_traces},
    {"traceMany", answer_many},           {"dependencies", answer_links},
    {"autocompleteKeys", answer_nothing}, {"autocompleteValues", answer_nothing},
};

json_t *zipkin_answer(const Asked *asked, const char *question, GError **error) {
    const char *path = question + strlen(ZIPKIN_QUESTIONS);
    if (!params_check_text(asked->params, error)) return NULL;
    if (!g_utf8_validate(path, -1, NULL)) {
        fail(error, PLUMB_ERROR_INPUT, "the path is not UTF-8");
        return NULL;
    }

    if (g_str_has_prefix(path, "trace/")) return answer_trace(asked, path + strlen("trace/"), error);
    for (gsize i = 0; i < G_N_ELEMENTS(paths); i++)
        if (strcmp(paths[i].path, path) == 0) return paths[i].answer(asked, error);
    fail(error, PLUMB_ERROR_NOT_FOUND, "there is no such path: docs/ecosystem.md has those of Zipkin");
    return NULL;
}
