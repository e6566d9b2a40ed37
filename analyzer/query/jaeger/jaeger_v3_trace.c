/* Traces in the forms of version 3: OTLP, and summaries. */
#include <string.h>

#include "analyzer/otlp/otlp_request.h"
#include "analyzer/query/jaeger/jaeger_v3.h"
#include "analyzer/query/traces/trace_rows.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

#define RESULT_SPANS 20000u
#define ROWS_AT_ONCE 1000u
#define TRACE_HIGH   "trace_id.high"
#define WARNINGS     "@jaeger@warnings" /* the attribute that Jaeger's page shows as such */

static void put(JsonText *out, const char *literal) { json_put_bytes(out, literal, strlen(literal)); }

/* ---- spans ---- */

static json_t *annotations_of(json_t *row) {
    if (json_object_get(row, "annotations") == NULL) json_object_set_new(row, "annotations", json_object());
    return json_object_get(row, "annotations");
}

/* Spans of HDFS have the service that they are listed by; what the process says of itself stays. */
static void set_service(json_t *row) {
    const char *function = json_string_value(json_object_get(row, "function"));
    const char *role_text = json_string_value(json_object_get(row, "role"));
    Role role;
    if (function == NULL || role_text == NULL || !role_parse(role_text, &role)) return;
    const JaegerName name = jaeger_name(function, strlen(function), role);
    const json_t *process = json_object_get(row, "process");
    if (strlen(json_string_value(process)) == name.service.length &&
        memcmp(json_string_value(process), name.service.data, name.service.length) == 0)
        return;
    json_object_set(annotations_of(row), "process", (json_t *)process);
    json_object_set_new(row, "process", json_text(name.service.data, name.service.length));
}

static void warn(json_t *row, guint shown, guint all) {
    g_autofree char *text = g_strdup_printf("%u of %u spans: the rest is in plumb trace", shown, all);
    json_object_set_new(annotations_of(row), WARNINGS, json_string(text));
}

/* Some rows of a trace, as the question "trace" has them. Documents of them take ten times their text. */
typedef struct Rows {
    JsonText text;
    guint n;
    guint shown, all; /* of the trace, to say which are left out; equal: none */
    char high[17];    /* upper half of its id */
} Rows;

static void put_resources(JaegerTraces *traces, Rows *some) {
    put(&some->text, "]");
    json_auto_t *list = json_loadb(some->text.data, some->text.used, JSON_ALLOW_NUL, NULL);
    json_t *row, *first = json_array_get(list, 0);
    size_t i;
    json_array_foreach(list, i, row) set_service(row);
    if (some->shown < some->all) warn(first, some->shown, some->all);
    some->shown = some->all;
    json_object_set_new(annotations_of(first), TRACE_HIGH, json_string(some->high));

    json_auto_t *request = otlp_request(list);
    json_array_foreach(json_object_get(request, "resourceSpans"), i, row) {
        if (!allowance_goes_on()) break;
        put(traces->text, traces->text->used > 0 ? "," : "");
        json_put_value(traces->text, row);
    }
    json_text_clear(&some->text);
    some->n = 0;
}

void jaeger_v3_add_spans(JaegerTraces *traces, const TraceView *view) {
    const guint room = RESULT_SPANS - traces->spans, all = view->tree->n_spans;
    Rows some = {.shown = MIN(room, all), .all = all};
    g_auto(TraceRows) rows = {traces->asked->archive, view, &some.text, g_string_new(NULL)};
    const guint64 high = jaeger_trace_high(traces->asked->archive, view);
    g_snprintf(some.high, sizeof some.high, "%016" G_GINT64_MODIFIER "x", high);

    for (guint32 i = 1; i < view->tree->n_nodes && traces->spans < RESULT_SPANS; i++) {
        const SpanRec *span = view->tree->span[i];
        if (span == NULL) continue;
        if (!allowance_goes_on_with(span->size_bytes)) break;
        put(&some.text, some.n++ > 0 ? "," : "[");
        trace_rows_add_span(&rows, span);
        traces->spans++;
        if (some.n == ROWS_AT_ONCE) put_resources(traces, &some);
    }
    if (some.n > 0) put_resources(traces, &some);
    traces->traces++;
    traces->full = traces->spans >= RESULT_SPANS;
}

/* The text is the value of "result" or of "summaries". */
static json_t *end(JaegerTraces *traces, const char *member, const char *begin, const char *last, GError **error) {
    g_auto(JsonText) own = traces->own;
    g_auto(JsonText) whole = {NULL, 0, 0};
    if (!allowance_check(error)) return NULL;
    JsonText *out = traces->asked->rows != NULL ? &traces->asked->rows->text : &whole;
    put(out, begin);
    json_put_bytes(out, own.data, own.used);
    put(out, last);

    json_t *answer = json_object();
    if (traces->asked->rows != NULL) {
        traces->asked->rows->member = member;
        json_object_set_new(answer, member, json_null());
    } else {
        json_object_set_new(answer, member, json_loadb(whole.data, whole.used, JSON_ALLOW_NUL, NULL));
    }
    return answer;
}

json_t *jaeger_v3_spans_end(JaegerTraces *traces, GError **error) {
    if (traces->traces > 0) return end(traces, "result", "{\"resourceSpans\":[", "]}", error);
    json_text_clear(&traces->own);
    fail(error, PLUMB_ERROR_NOT_FOUND, "No traces found");
    return NULL;
}

json_t *jaeger_v3_summaries_end(JaegerTraces *traces, GError **error) {
    return end(traces, "summaries", "[", "]", error);
}

/* ---- summaries ---- */

typedef struct ServiceSum {
    guint spans, errors;
} ServiceSum;

typedef struct Summary {
    Archive *archive;
    GHashTable *services; /* name -> ServiceSum */
    const SpanRec *root;  /* the first without parents in the trace, in order of the tree */
    guint spans, errors;
} Summary;

static JaegerName name_of(Archive *archive, const SpanRec *span) {
    Role role;
    guint32 host;
    gsize length;
    const Lookup *lookup = archive_lookup(archive);
    lookup->process(lookup->arg, span->tracer, &role, &host);
    const char *function = dict_text(archive_dict(archive), span->name, &length);
    return jaeger_name(function, length, role);
}

static gboolean is_failed(Archive *archive, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    g_autofree char *code = NULL, *exception = NULL;
    for (SpanAnnotation next; span_next_annotation(&cursor, &next);) {
        const char *key = dict_text(archive_dict(archive), next.key, NULL);
        char **kept = strcmp(key, "otel.status_code") == 0 ? &code : strcmp(key, "exception") == 0 ? &exception : NULL;
        if (kept == NULL) continue;
        g_free(*kept);
        *kept = g_strndup(next.value, next.length);
    }
    return otlp_failed(code != NULL ? code : "", exception != NULL ? exception : "");
}

static char *service_text(BatchString service) {
    g_autofree char *text = g_strndup(service.data, service.length);
    g_auto(GStrv) parts = g_strsplit(text, "\xe2\x88\x95", -1);
    return g_strjoinv("/", parts);
}

static void add_span(Summary *summary, const SpanRec *span) {
    const gboolean failed = is_failed(summary->archive, span);
    char *service = service_text(name_of(summary->archive, span).service);
    ServiceSum *sum = g_hash_table_lookup(summary->services, service);
    if (sum == NULL) {
        sum = g_new0(ServiceSum, 1);
        g_hash_table_insert(summary->services, service, sum);
    } else {
        g_free(service);
    }
    sum->spans++;
    sum->errors += failed;
    summary->spans++;
    summary->errors += failed;
}

static gint by_text(gconstpointer a, gconstpointer b) { return strcmp(a, b); }

static json_t *services_json(const Summary *summary) {
    GList *names = g_list_sort(g_hash_table_get_keys(summary->services), by_text);
    json_t *list = json_array();
    for (GList *at = names; at != NULL; at = at->next) {
        const ServiceSum *sum = g_hash_table_lookup(summary->services, at->data);
        json_t *service = json_object();
        json_object_set_new(service, "name", json_text(at->data, strlen(at->data)));
        json_object_set_new(service, "spanCount", json_count(sum->spans));
        json_object_set_new(service, "errorSpanCount", json_count(sum->errors));
        json_array_append_new(list, service);
    }
    g_list_free(names);
    return list;
}

/* 64 bits are a text in proto3's JSON. */
static void set_ns(json_t *object, const char *name, gint64 ns) {
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, MAX(ns, 0));
    json_object_set_new(object, name, json_string(text));
}

static json_t *summary_json(const Summary *summary, const TraceView *view) {
    json_t *object = json_object();
    g_autofree char *id = g_strdup_printf("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
                                          jaeger_trace_high(summary->archive, view), view->trace_id);
    json_object_set_new(object, "traceId", json_string(id));
    if (summary->root != NULL) {
        const JaegerName name = name_of(summary->archive, summary->root);
        g_autofree char *service = service_text(name.service);
        json_object_set_new(object, "rootServiceName", json_text(service, strlen(service)));
        json_object_set_new(object, "rootOperationName", json_text(name.operation.data, name.operation.length));
    }
    set_ns(object, "minStartTimeUnixNano", view->tree->begin_ns);
    set_ns(object, "maxEndTimeUnixNano", view->tree->end_ns);
    json_object_set_new(object, "spanCount", json_count(summary->spans));
    json_object_set_new(object, "errorSpanCount", json_count(summary->errors));
    json_object_set_new(object, "orphanSpanCount", json_count(view->tree->counts.orphans));
    json_object_set_new(object, "services", services_json(summary));
    return object;
}

void jaeger_v3_add_summary(JaegerTraces *traces, const TraceView *view) {
    g_autoptr(GHashTable) services = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    Summary summary = {.archive = traces->asked->archive, .services = services};
    for (guint32 i = 1; i < view->tree->n_nodes; i++) {
        const SpanRec *span = view->tree->span[i];
        if (span == NULL) continue;
        if (!allowance_goes_on()) return;
        if (summary.root == NULL && span->n_parents == 0) summary.root = span;
        add_span(&summary, span);
    }
    json_auto_t *object = summary_json(&summary, view);
    put(traces->text, traces->traces++ > 0 ? "," : "");
    json_put_value(traces->text, object);
}
