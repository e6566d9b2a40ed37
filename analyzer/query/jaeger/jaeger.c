#include "analyzer/query/jaeger/jaeger.h"

#include <string.h>

#include "analyzer/query/jaeger/jaeger_inside.h"

json_t *jaeger_document(json_t *data, guint total) {
    json_t *document = json_object();
    json_object_set_new(document, "data", data);
    json_object_set_new(document, "total", json_count(total));
    json_object_set_new(document, "limit", json_integer(0));
    json_object_set_new(document, "offset", json_integer(0));
    json_object_set_new(document, "errors", json_null());
    return document;
}

gboolean jaeger_number(const Asked *asked, const char *name, gint64 scale, gint64 *value, GError **error) {
    const char *text = params_text(asked->params, name);
    char *end;
    if (text == NULL || text[0] == '\0') return TRUE;
    const gint64 number = g_ascii_strtoll(text, &end, 10);
    if (*end != '\0' || number < 0 || number > G_MAXINT64 / scale)
        return fail(error, PLUMB_ERROR_INPUT, "%s = '%s': must be a whole number", name, text);
    *value = number * scale;
    return TRUE;
}

gboolean jaeger_trace_id(const char *text, guint64 *high, guint64 *low, GError **error) {
    const gsize length = strlen(text);
    if (length == 0 || length > 32 || strspn(text, "0123456789abcdefABCDEF") != length)
        return fail(error, PLUMB_ERROR_INPUT, "'%s' is no trace id: it has 1 to 32 hexadecimal digits", text);
    const gsize of_high = length > 16 ? length - 16 : 0;
    g_autofree char *first = g_strndup(text, of_high);
    *high = g_ascii_strtoull(first, NULL, 16);
    *low = g_ascii_strtoull(text + of_high, NULL, 16);
    return TRUE;
}

gboolean jaeger_asks_for(const char *question, guint64 *trace_id) {
    static const char *const of_trace[] = {JAEGER_QUESTIONS "traces/", JAEGER_QUESTIONS JAEGER_V3 "traces/"};
    guint64 high;
    for (gsize i = 0; i < G_N_ELEMENTS(of_trace); i++)
        if (g_str_has_prefix(question, of_trace[i]))
            return jaeger_trace_id(question + strlen(of_trace[i]), &high, trace_id, NULL);
    return FALSE;
}

json_t *jaeger_error(const char *question, int code, const char *message) {
    if (g_str_has_prefix(question, JAEGER_QUESTIONS JAEGER_V3))
        return json_pack("{s:{s:i, s:s}}", "error", "httpCode", code, "message", message);
    return json_pack("{s:n, s:[{s:i, s:s}]}", "data", "errors", "code", code, "msg", message);
}

static json_t *of_service(const Asked *asked, const char *rest, GError **error) {
    static const char tail[] = "/operations";
    const gsize length = strlen(rest) - MIN(strlen(rest), sizeof tail - 1);
    g_autofree char *service = g_str_has_suffix(rest, tail) ? g_uri_unescape_segment(rest, rest + length, NULL) : NULL;
    if (service != NULL && g_utf8_validate(service, -1, NULL)) return jaeger_operations(asked, service, FALSE, error);
    fail(error, PLUMB_ERROR_NOT_FOUND, "there is no such path: docs/ecosystem.md has those of Jaeger");
    return NULL;
}

json_t *jaeger_answer(const Asked *asked, const char *question, GError **error) {
    const char *path = question + strlen(JAEGER_QUESTIONS);
    if (!params_check_text(asked->params, error)) return NULL;
    if (!g_utf8_validate(path, -1, NULL)) {
        fail(error, PLUMB_ERROR_INPUT, "the path is not UTF-8");
        return NULL;
    }

    if (g_str_has_prefix(path, JAEGER_V3)) return jaeger_v3_answer(asked, path + strlen(JAEGER_V3), error);
    if (strcmp(path, "services") == 0) return jaeger_services(asked, error);
    if (strcmp(path, "dependencies") == 0) return jaeger_dependencies(asked, error);
    if (strcmp(path, "traces") == 0) return jaeger_search(asked, error);
    if (g_str_has_prefix(path, "traces/")) return jaeger_trace(asked, path + strlen("traces/"), error);
    if (g_str_has_prefix(path, "services/")) return of_service(asked, path + strlen("services/"), error);
    const char *service = params_text(asked->params, "service");
    if (strcmp(path, "operations") == 0 && service != NULL) return jaeger_operations(asked, service, TRUE, error);
    fail(error, PLUMB_ERROR_INPUT, "parameter 'service' is required");
    return NULL;
}
