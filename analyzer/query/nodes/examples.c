#include "analyzer/query/nodes/examples.h"

#include <string.h>

#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/traces/trace_answers.h"
#include "common/base/clock.h"

/* So many traces tell where transfers wait. */
#define TRACES            "8"
#define NEWEST_TRACES     "32"
#define TRANSFER_FUNCTION "FileIoProvider#transferToSocketFully"

static void add_time(QueryParams *params, const char *name, gint64 time_ns) {
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, MAX(time_ns, 0));
    query_params_add(params, name, text);
}

json_t *example_traces(const Asked *asked, const ExampleOf *of, GError **error) {
    Dict *dict = archive_dict(asked->archive);
    g_autoptr(QueryParams) params = query_params_new();
    query_params_add(params, "function", dict_text(dict, of->job->function, NULL));
    if (of->host != 0) query_params_add(params, "host", dict_text(dict, of->host, NULL));
    /* A trace begins before the call does. */
    add_time(params, "since", of->minute_ns - NS_PER_MINUTE);
    add_time(params, "until", of->minute_ns + NS_PER_MINUTE);
    if (!of->newest) query_params_add(params, "sort", "duration_ns");
    query_params_add(params, "limit", of->newest ? NEWEST_TRACES : TRACES);
    const Asked traces = {asked->archive, params, asked->now_ns, asked->rows_max, NULL, NULL};
    return answer_traces(&traces, error);
}

typedef struct Split {
    guint32 function, host, socket, transfer; /* dictionary ids */
    Example *example;
} Split;

static void add_span(const Split *split, Archive *archive, const SpanRec *span) {
    const Lookup *lookup = archive_lookup(archive);
    Role role;
    guint32 host;
    if (span->name != split->function) return;
    lookup->process(lookup->arg, span->tracer, &role, &host);
    if (host != split->host) return;

    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    gint64 ns;
    while (span_next_annotation(&cursor, &annotation)) {
        if (annotation.key == split->socket && annotation_number(&annotation, &ns)) split->example->socket_ns += ns;
        if (annotation.key == split->transfer && annotation_number(&annotation, &ns)) split->example->transfer_ns += ns;
    }
}

static gboolean add_split(const Asked *asked, guint64 trace_id, const Split *split, GError **error) {
    gboolean gone;
    g_autoptr(TraceView) view = trace_view_load_found(asked->archive, trace_id, &gone, error);
    if (!view) return gone;
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(view->bytes, &at)) != NULL;) add_span(split, asked->archive, span);
    return TRUE;
}

guint64 example_trace_id(const json_t *row) {
    return g_ascii_strtoull(json_string_value(json_object_get(row, "trace")), NULL, 16);
}

gboolean example_find(const Asked *asked, const ExampleOf *of, Example *example, GError **error) {
    *example = (Example){.trace = 0};
    json_auto_t *found = example_traces(asked, of, error);
    if (!found) return FALSE;
    const json_t *rows = json_object_get(found, "traces"), *first = json_array_get(rows, 0);
    if (!first) return TRUE;

    example->trace = example_trace_id(first);
    example->begin_ns = json_integer_value(json_object_get(first, "begin_time_ns"));
    example->duration_ns = json_integer_value(json_object_get(first, "duration_ns"));

    Dict *dict = archive_dict(asked->archive);
    if (of->host == 0 || strcmp(dict_text(dict, of->job->function, NULL), TRANSFER_FUNCTION) != 0) return TRUE;
    const Split split = {of->job->function, of->host, dict_find(dict, "waitNanos", strlen("waitNanos")),
                         dict_find(dict, "transferNanos", strlen("transferNanos")), example};
    gsize i;
    json_t *row;
    json_array_foreach(rows, i, row) if (!add_split(asked, example_trace_id(row), &split, error)) return FALSE;
    return TRUE;
}
