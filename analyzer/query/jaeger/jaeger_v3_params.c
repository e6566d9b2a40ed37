#include <string.h>

#include "analyzer/query/jaeger/jaeger_v3.h"
#include "common/base/error.h"

#define DEFAULT_DEPTH 100

const char *jaeger_v3_text(const Asked *asked, const char *name, const char *snake) {
    const char *text = params_text(asked->params, name);
    if (text == NULL || *text == '\0') text = params_text(asked->params, snake);
    return text != NULL && *text != '\0' ? text : NULL;
}

static gboolean malformed(const char *name, const char *text, const char *what, GError **error) {
    return fail(error, PLUMB_ERROR_INPUT, "malformed parameter %s: '%s' is no %s", name, text, what);
}

/* RFC 3339, with or without nanoseconds; nothing that our own parameters take beyond that. */
static gboolean parse_time(const char *name, const char *text, gint64 *ns, GError **error) {
    const char *zone = strlen(text) > 19 ? text + 19 + strspn(text + 19, ".0123456789") : "";
    const gboolean good = *zone != '\0' && text[10] == 'T' && text_to_time(text, 0, ns);
    return good || malformed(name, text, "time as RFC 3339 writes it", error);
}

static gboolean parse_flag(const Asked *asked, const char *name, const char *snake, GError **error) {
    static const char *const known[] = {"1", "t", "T",     "true",  "TRUE",  "True", "0",
                                        "f", "F", "false", "FALSE", "False", NULL};
    const char *text = jaeger_v3_text(asked, name, snake);
    return text == NULL || g_strv_contains(known, text) || malformed(name, text, "truth value", error);
}

gboolean jaeger_v3_check_trace(const Asked *asked, GError **error) {
    const char *start = jaeger_v3_text(asked, "startTime", "start_time");
    const char *end = jaeger_v3_text(asked, "endTime", "end_time");
    gint64 ns;
    return (start == NULL || parse_time("startTime", start, &ns, error)) &&
           (end == NULL || parse_time("endTime", end, &ns, error)) &&
           parse_flag(asked, "rawTraces", "raw_traces", error);
}

static gboolean parse_period(const Asked *asked, TraceSearch *search, GError **error) {
    const char *min = jaeger_v3_text(asked, "query.startTimeMin", "query.start_time_min");
    const char *max = jaeger_v3_text(asked, "query.startTimeMax", "query.start_time_max");
    if (min == NULL || max == NULL)
        return fail(error, PLUMB_ERROR_INPUT, "query.startTimeMin and query.startTimeMax are required");
    if (!parse_time("query.startTimeMin", min, &search->since_ns, error) ||
        !parse_time("query.startTimeMax", max, &search->until_ns, error))
        return FALSE;
    if (search->since_ns >= search->until_ns)
        return fail(error, PLUMB_ERROR_INPUT, "query.startTimeMin must be before query.startTimeMax");
    search->since_ns = MAX(search->since_ns, 0);
    search->until_ns = MAX(search->until_ns, 0);
    return TRUE;
}

static gboolean parse_depth(const Asked *asked, gint64 *depth, GError **error) {
    const char *text = jaeger_v3_text(asked, "query.searchDepth", "query.search_depth");
    if (text == NULL) text = jaeger_v3_text(asked, "query.num_traces", "query.num_traces");
    if (text == NULL) return TRUE;
    if (!g_ascii_string_to_signed(text, 10, G_MININT32, G_MAXINT32, depth, NULL))
        return malformed("query.searchDepth", text, "whole number", error);
    return TRUE;
}

gboolean jaeger_v3_search(const Asked *asked, TraceSearch *search, GError **error) {
    const char *service = jaeger_v3_text(asked, "query.serviceName", "query.service_name");
    search->annotations = g_ptr_array_new_with_free_func(g_free);
    search->max_ns = G_MAXINT64;
    search->limit = DEFAULT_DEPTH;
    search->operation = jaeger_v3_text(asked, "query.operationName", "query.operation_name");
    if (service != NULL) search->service = search->kept = jaeger_v3_service(service);
    search->own_service = service == NULL || !jaeger_role(search->service, &search->role);
    if (jaeger_v3_text(asked, "query.filter", "query.filter") != NULL)
        return fail(error, PLUMB_ERROR_INPUT,
                    "query.filter is not supported: ask by service, operation, attributes and durations");

    const char *min = jaeger_v3_text(asked, "query.durationMin", "query.duration_min");
    const char *max = jaeger_v3_text(asked, "query.durationMax", "query.duration_max");
    if (!search_tags("query.attributes", params_text(asked->params, "query.attributes"), search, error) ||
        !parse_period(asked, search, error) || !parse_depth(asked, &search->limit, error) ||
        !search_duration("query.durationMin", min, &search->min_ns, error) ||
        !search_duration("query.durationMax", max, &search->max_ns, error) ||
        !parse_flag(asked, "query.rawTraces", "query.raw_traces", error))
        return FALSE;
    search->limit = CLAMP(search->limit, 1, SEARCH_LIMIT_MOST);
    return TRUE;
}
