/* Traces of a service. What the question "traces" can tell is asked of it; the rest is looked for in the traces found,
 * and more are asked for while too few are right. */
#include <math.h>
#include <string.h>

#include "analyzer/query/jaeger/jaeger_inside.h"
#include "analyzer/query/traces/trace_answers.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

#define DEFAULT_LOOKBACK_NS (48 * 3600 * NS_PER_SEC)
#define DEFAULT_LIMIT       100
/* So many traces are looked into for one that is right. */
#define LOOKED_INTO 20

void search_clear(TraceSearch *wanted) {
    if (wanted->annotations) g_ptr_array_unref(wanted->annotations);
    g_free(wanted->kept);
}

/* ---- parameters ---- */

gboolean search_duration(const char *name, const char *text, gint64 *ns, GError **error) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    const char *at = text;
    double sum = 0;
    if (text == NULL || text[0] == '\0') return TRUE;
    while (*at != '\0') {
        char *end;
        const double number = g_ascii_strtod(at, &end);
        const gsize length = strcspn(end, "0123456789.-+");
        double unit_ns = 0;
        for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
            if (strlen(units[i].unit) == length && strncmp(units[i].unit, end, length) == 0) unit_ns = units[i].ns;
        if (end == at || unit_ns == 0 || !(number >= 0)) break;
        sum += number * unit_ns;
        at = end + length;
    }

    if (*at != '\0' || !(sum < (double)G_MAXINT64))
        return fail(error, PLUMB_ERROR_INPUT, "%s = '%s': must be a duration: 1.2s, 100ms, 500us", name, text);
    *ns = (gint64)sum;
    return TRUE;
}

/* "key:value", any number of times. */
static gboolean parse_tag(const Asked *asked, TraceSearch *wanted, GError **error) {
    const char *text;
    for (guint i = 0; (text = params_nth(asked->params, "tag", i)) != NULL; i++) {
        const char *colon = strchr(text, ':');
        if (colon == NULL) return fail(error, PLUMB_ERROR_INPUT, "tag = '%s': must be key:value", text);
        g_autofree char *key = g_strndup(text, (gsize)(colon - text));
        g_ptr_array_add(wanted->annotations, g_strconcat(key, "=", colon + 1, NULL));
    }
    return TRUE;
}

gboolean search_tags(const char *name, const char *text, TraceSearch *wanted, GError **error) {
    const char *key;
    if (text == NULL || text[0] == '\0') return TRUE;
    json_auto_t *tags = json_loads(text, 0, NULL);
    json_t *value;
    if (!json_is_object(tags)) return fail(error, PLUMB_ERROR_INPUT, "%s = '%s': must be a JSON object", name, text);
    json_object_foreach(tags, key, value) {
        if (!json_is_string(value))
            return fail(error, PLUMB_ERROR_INPUT, "%s: the value of '%s' must be a text", name, key);
        g_ptr_array_add(wanted->annotations, g_strconcat(key, "=", json_string_value(value), NULL));
    }
    return TRUE;
}

static const char *text_or_null(const Asked *asked, const char *name) {
    const char *text = params_text(asked->params, name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static gboolean parse(const Asked *asked, TraceSearch *wanted, GError **error) {
    wanted->service = text_or_null(asked, "service");
    wanted->operation = text_or_null(asked, "operation");
    wanted->until_ns = asked->now_ns;
    wanted->since_ns = asked->now_ns - DEFAULT_LOOKBACK_NS;
    wanted->max_ns = G_MAXINT64;
    wanted->limit = DEFAULT_LIMIT;
    wanted->annotations = g_ptr_array_new_with_free_func(g_free);
    if (wanted->service == NULL) return fail(error, PLUMB_ERROR_INPUT, "parameter 'service' is required");
    wanted->own_service = !jaeger_role(wanted->service, &wanted->role);
    if (!jaeger_number(asked, "start", NS_PER_US, &wanted->since_ns, error) ||
        !jaeger_number(asked, "end", NS_PER_US, &wanted->until_ns, error) ||
        !jaeger_number(asked, "limit", 1, &wanted->limit, error) ||
        !search_duration("minDuration", params_text(asked->params, "minDuration"), &wanted->min_ns, error) ||
        !search_duration("maxDuration", params_text(asked->params, "maxDuration"), &wanted->max_ns, error) ||
        !parse_tag(asked, wanted, error) || !search_tags("tags", params_text(asked->params, "tags"), wanted, error))
        return FALSE;
    wanted->limit = CLAMP(wanted->limit, 1, SEARCH_LIMIT_MOST);
    return TRUE;
}

/* ---- the question "traces" ---- */

static void add_duration(QueryParams *params, const char *name, gint64 ns) {
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT "ns", ns);
    query_params_add(params, name, text);
}

/* Of the calls that the other parameters say. */
static void add_call_durations(QueryParams *params, const TraceSearch *wanted) {
    if (wanted->min_ns > 0) add_duration(params, "call_min_duration", wanted->min_ns);
    if (wanted->max_ns < G_MAXINT64) add_duration(params, "call_max_duration", wanted->max_ns);
}

static QueryParams *traces_params(const TraceSearch *wanted, gint64 limit) {
    QueryParams *params = query_params_new();
    g_autofree char *since = g_strdup_printf("%" G_GINT64_FORMAT, wanted->since_ns);
    g_autofree char *until = g_strdup_printf("%" G_GINT64_FORMAT, MAX(wanted->until_ns, wanted->since_ns));
    g_autofree char *most = g_strdup_printf("%" G_GINT64_FORMAT, limit);
    query_params_add(params, "since", since);
    query_params_add(params, "until", until);
    query_params_add(params, "limit", most);
    for (guint i = 0; i < wanted->annotations->len; i++)
        query_params_add(params, "annotation", g_ptr_array_index(wanted->annotations, i));
    /* No span lasts longer than its trace. */
    if (wanted->min_ns > 0) add_duration(params, "min_duration", wanted->min_ns);

    if (wanted->service == NULL) return params;
    if (!wanted->own_service) query_params_add(params, "role", role_name(wanted->role));
    if (!wanted->own_service || wanted->operation != NULL) add_call_durations(params, wanted);
    if (wanted->operation != NULL) {
        g_autofree char *function = wanted->own_service
                                        ? g_strconcat(wanted->service, SERVICE_NAME_END, wanted->operation, NULL)
                                        : g_strdup(wanted->operation);
        query_params_add(params, "function", function);
    } else if (wanted->own_service) {
        g_auto(GStrv) parts = g_strsplit(wanted->service, "\xe2\x88\x95", -1); /* as the resource has it */
        g_autofree char *name = g_strjoinv("/", parts);
        g_autofree char *resource = g_strconcat("resource.service.name=", name, NULL);
        query_params_add(params, "annotation", resource);
    }
    return params;
}

/* Has the trace a span of the service and operation, of such a duration? */
static gboolean is_right(const Asked *asked, const TraceSearch *wanted, const TraceView *view) {
    const Lookup *lookup = archive_lookup(asked->archive);
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(view->bytes, &at)) != NULL && allowance_goes_on();) {
        Role role;
        guint32 host;
        gsize length;
        const gint64 duration_ns = MAX(span->duration_ns, 0);
        if (duration_ns < wanted->min_ns || duration_ns > wanted->max_ns) continue;
        lookup->process(lookup->arg, span->tracer, &role, &host);
        const char *function = dict_text(archive_dict(asked->archive), span->name, &length);
        const JaegerName name = jaeger_name(function, length, role);
        const gboolean of_service =
            wanted->service == NULL || (strlen(wanted->service) == name.service.length &&
                                        memcmp(wanted->service, name.service.data, name.service.length) == 0);
        if (!of_service) continue;
        if (wanted->operation == NULL || strcmp(wanted->operation, name.operation.data) == 0) return TRUE;
    }
    return FALSE;
}

gboolean search_add(JaegerTraces *traces, const TraceSearch *wanted, const char *id, GError **error) {
    g_autoptr(GError) failure = NULL;
    guint64 high, low;
    if (!jaeger_trace_id(id, &high, &low, error)) return FALSE;
    g_autoptr(TraceView) view = trace_view_load(traces->asked->archive, low, &failure);
    if (view == NULL && g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) return TRUE;
    if (view == NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    if (wanted == NULL || is_right(traces->asked, wanted, view)) traces->add(traces, view);
    return allowance_check(error);
}

static gboolean is_over(const JaegerTraces *traces, const TraceSearch *wanted) {
    return traces->full || traces->traces >= wanted->limit;
}

gboolean search_traces(JaegerTraces *traces, const TraceSearch *wanted, GError **error) {
    const gint64 most = MIN(wanted->limit * LOOKED_INTO, SEARCH_LIMIT_MOST);
    gsize seen = 0;
    gint64 limit = wanted->limit;
    for (gboolean more = TRUE; more && !is_over(traces, wanted); limit *= 4) {
        g_autoptr(QueryParams) params = traces_params(wanted, MIN(limit, most));
        const Asked question = {.archive = traces->asked->archive,
                                .params = params,
                                .now_ns = traces->asked->now_ns,
                                .rows_max = traces->asked->rows_max};
        json_auto_t *answer = answer_traces(&question, error);
        if (answer == NULL) return FALSE;

        const json_t *list = json_object_get(answer, "traces");
        /* Newest first, so those that were looked into are the first of these. */
        for (; seen < json_array_size(list) && !is_over(traces, wanted); seen++) {
            const char *id = json_string_value(json_object_get(json_array_get(list, seen), "trace"));
            if (!search_add(traces, wanted, id, error)) return FALSE;
        }
        more = json_is_true(json_object_get(answer, "more")) && limit < most;
    }
    return TRUE;
}

/* "traceID", any number of times: these traces, as the page's comparison asks for them. */
static gboolean add_named(JaegerTraces *traces, GError **error) {
    const char *id;
    for (guint i = 0; (id = params_nth(traces->asked->params, "traceID", i)) != NULL; i++)
        if (!search_add(traces, NULL, id, error)) return FALSE;
    return TRUE;
}

json_t *jaeger_search(const Asked *asked, GError **error) {
    const gboolean named = params_text(asked->params, "traceID") != NULL;
    g_auto(TraceSearch) wanted = {0};
    JaegerTraces traces;
    if (!named && !parse(asked, &wanted, error)) return NULL;
    jaeger_traces_begin(&traces, asked);
    if (named ? add_named(&traces, error) : search_traces(&traces, &wanted, error))
        return jaeger_traces_end(&traces, error);
    json_text_clear(&traces.own);
    return NULL;
}
