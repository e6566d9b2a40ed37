#include "analyzer/query/jaeger/jaeger_v3.h"

#include <string.h>

/* ---- names ---- */

#define SLASH "\xe2\x88\x95" /* stands for '/' in names of functions */

char *jaeger_v3_service(const char *text) {
    g_auto(GStrv) parts = g_strsplit(text, "/", -1);
    return g_strjoinv(SLASH, parts);
}

static json_t *with_slashes(const char *text) {
    g_auto(GStrv) parts = g_strsplit(text, SLASH, -1);
    g_autofree char *service = g_strjoinv("/", parts);
    return json_text(service, strlen(service));
}

static json_t *answer_services(const Asked *asked, GError **error) {
    json_auto_t *known = jaeger_services(asked, error);
    if (known == NULL) return NULL;
    json_t *names = json_array(), *name;
    size_t i;
    json_array_foreach(json_object_get(known, "data"), i, name) {
        json_array_append_new(names, with_slashes(json_string_value(name)));
    }
    json_t *answer = json_object();
    json_object_set_new(answer, "services", names);
    return answer;
}

/* Kinds are not in the statistics: any is asked for, and Jaeger says "internal" of those that it does not know. */
static json_t *answer_operations(const Asked *asked, GError **error) {
    const char *text = jaeger_v3_text(asked, "service", "service");
    g_autofree char *service = jaeger_v3_service(text != NULL ? text : "");
    json_auto_t *known = jaeger_operations(asked, service, FALSE, error);
    if (known == NULL) return NULL;
    json_t *list = json_array(), *name;
    size_t i;
    json_array_foreach(json_object_get(known, "data"), i, name) {
        json_t *operation = json_object();
        json_object_set(operation, "name", name);
        json_object_set_new(operation, "spanKind", json_string("internal"));
        json_array_append_new(list, operation);
    }
    json_t *answer = json_object();
    json_object_set_new(answer, "operations", list);
    return answer;
}

/* ---- traces ---- */

static void traces_begin(JaegerTraces *traces, const Asked *asked,
                         void (*add)(JaegerTraces *traces, const TraceView *view)) {
    *traces = (JaegerTraces){.asked = asked, .add = add};
    traces->text = &traces->own;
}

static json_t *answer_trace(const Asked *asked, const char *id, GError **error) {
    guint64 high, low;
    g_autoptr(GError) why = NULL;
    if (!jaeger_trace_id(id, &high, &low, &why)) {
        fail(error, PLUMB_ERROR_INPUT, "malformed parameter trace_id: %s", why->message);
        return NULL;
    }
    if (!jaeger_v3_check_trace(asked, error)) return NULL;
    g_autoptr(TraceView) view = trace_view_load(asked->archive, low, &why);
    if (view == NULL && !g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) {
        g_propagate_error(error, g_steal_pointer(&why));
        return NULL;
    }
    JaegerTraces traces;
    traces_begin(&traces, asked, jaeger_v3_add_spans);
    if (view != NULL && jaeger_same_trace(asked->archive, view, high)) traces.add(&traces, view);
    return jaeger_v3_spans_end(&traces, error);
}

static json_t *answer_search(const Asked *asked, gboolean summaries, GError **error) {
    g_auto(TraceSearch) search = {0};
    if (!jaeger_v3_search(asked, &search, error)) return NULL;
    JaegerTraces traces;
    traces_begin(&traces, asked, summaries ? jaeger_v3_add_summary : jaeger_v3_add_spans);
    if (search_traces(&traces, &search, error))
        return summaries ? jaeger_v3_summaries_end(&traces, error) : jaeger_v3_spans_end(&traces, error);
    json_text_clear(&traces.own);
    return NULL;
}

json_t *jaeger_v3_answer(const Asked *asked, const char *path, GError **error) {
    if (strcmp(path, "services") == 0) return answer_services(asked, error);
    if (strcmp(path, "operations") == 0) return answer_operations(asked, error);
    if (strcmp(path, "traces") == 0) return answer_search(asked, FALSE, error);
    if (strcmp(path, "trace-summaries") == 0) return answer_search(asked, TRUE, error);
    if (g_str_has_prefix(path, "traces/")) return answer_trace(asked, path + strlen("traces/"), error);
    fail(error, PLUMB_ERROR_NOT_FOUND, "there is no such path: docs/ecosystem.md has those of Jaeger");
    return NULL;
}
