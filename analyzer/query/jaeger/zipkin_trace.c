/* Stored traces in Zipkin's form, written as text. */
#include <arpa/inet.h>
#include <string.h>

#include "analyzer/query/jaeger/zipkin_inside.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

#define RESOURCE     "resource."
#define SERVICE_NAME "service.name"
#define TRACE_HIGH   "trace_id.high"
#define SPAN_KIND    "span.kind"
#define PEER_SERVICE "peer.service"

static void put(JsonText *out, const char *literal) { json_put_bytes(out, literal, strlen(literal)); }

static void put_member(JsonText *out, const char *name, const char *text, gsize length) {
    put(out, name);
    json_put_text(out, text, length);
}

/* ---- endpoints ---- */

static void put_local(JsonText *out, BatchString service, const TracerId *tracer) {
    put_member(out, ",\"localEndpoint\":{\"serviceName\":", service.data, service.length);
    g_autofree char *host = g_strndup(tracer->host, tracer->host_length);
    guint8 address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1) put_member(out, ",\"ipv4\":", host, tracer->host_length);
    if (inet_pton(AF_INET6, host, address) == 1) put_member(out, ",\"ipv6\":", host, tracer->host_length);
    put(out, "}");
}

/* Of those that Zipkin has; others stay tags. */
static const char *kind_of(const SpanAnnotation *annotation) {
    static const char *const kinds[] = {"client", "server", "producer", "consumer"};
    static const char *const names[] = {"CLIENT", "SERVER", "PRODUCER", "CONSUMER"};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strlen(kinds[i]) == annotation->length && memcmp(kinds[i], annotation->value, annotation->length) == 0)
            return names[i];
    return NULL;
}

/* ---- tags and notes ---- */

typedef struct Tags {
    JsonText *out;
    GHashTable *keys; /* a JSON object has each once: the first */
} Tags;

static void put_tag(Tags *tags, const char *key, const char *value, gsize length) {
    if (g_hash_table_contains(tags->keys, key)) return;
    put(tags->out, g_hash_table_size(tags->keys) > 0 ? "," : "");
    g_hash_table_add(tags->keys, g_strdup(key));
    put_member(tags->out, "", key, strlen(key));
    put_member(tags->out, ":", value, length);
}

/* What is said elsewhere in the form. */
static gboolean is_told(const char *key, const SpanAnnotation *annotation) {
    return strcmp(key, TRACE_HIGH) == 0 || strcmp(key, RESOURCE SERVICE_NAME) == 0 || strcmp(key, PEER_SERVICE) == 0 ||
           (strcmp(key, SPAN_KIND) == 0 && kind_of(annotation) != NULL);
}

static void put_tags(Archive *archive, JsonText *out, const SpanRec *span, const TracerId *tracer) {
    Tags tags = {out, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    SpanAnnotation failure = {.key = 0};
    SpanCursor cursor = span_cursor(span);
    put(out, ",\"tags\":{");
    for (SpanAnnotation next; span_next_annotation(&cursor, &next);) {
        const char *key = dict_text(archive_dict(archive), next.key, NULL);
        if (is_told(key, &next)) continue;
        if (strcmp(key, "exception") == 0) failure = next;
        put_tag(&tags, g_str_has_prefix(key, RESOURCE) ? key + strlen(RESOURCE) : key, next.value, next.length);
    }
    /* Zipkin's page shows spans with this tag as failed. */
    if (failure.key != 0) put_tag(&tags, "error", failure.value, failure.length);
    put_tag(&tags, "process", tracer->process, tracer->process_length);
    if (tracer->host_length > 0) put_tag(&tags, "hostname", tracer->host, tracer->host_length);
    g_autofree char *pid = g_strdup_printf("%" G_GINT64_FORMAT, tracer->pid);
    if (tracer->pid >= 0) put_tag(&tags, "pid", pid, strlen(pid));
    put(out, "}");
    g_hash_table_unref(tags.keys);
}

static void put_notes(JsonText *out, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanNote note;
    const char *before = ",\"annotations\":[{\"timestamp\":";
    if (span->n_notes == 0) return;
    while (span_next_note(&cursor, &note)) {
        put(out, before);
        json_put_integer(out, note.time_ns / NS_PER_US);
        put_member(out, ",\"value\":", note.message, note.length);
        before = "},{\"timestamp\":";
    }
    put(out, "}]");
}

/* ---- spans ---- */

/* Kind and the other end of the call. */
static void put_call(Archive *archive, JsonText *out, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    const char *kind = NULL;
    SpanAnnotation peer = {.value = NULL};
    for (SpanAnnotation next; span_next_annotation(&cursor, &next);) {
        const char *key = dict_text(archive_dict(archive), next.key, NULL);
        if (strcmp(key, SPAN_KIND) == 0) kind = kind_of(&next);
        if (strcmp(key, PEER_SERVICE) == 0) peer = next;
    }
    if (kind != NULL) put_member(out, ",\"kind\":", kind, strlen(kind));
    if (peer.value == NULL) return;
    put_member(out, ",\"remoteEndpoint\":{\"serviceName\":", peer.value, peer.length);
    put(out, "}");
}

/* The first parent that is in the trace: the form has one. */
static void put_parent(JsonText *out, const SpanRec *span, guint64 trace_id) {
    for (guint i = 0; i < span->n_parents; i++) {
        const SpanId parent = span_parents(span)[i];
        if (parent.trace != trace_id || parent.span == span->id.span) continue;
        g_autofree char *text = g_strdup_printf(",\"parentId\":\"%016" G_GINT64_MODIFIER "x\"", parent.span);
        put(out, text);
        return;
    }
}

static void put_span(Archive *archive, JsonText *out, const SpanRec *span, const char *trace_id) {
    Role role;
    guint32 host;
    gsize length, tracer_length;
    const Lookup *lookup = archive_lookup(archive);
    lookup->process(lookup->arg, span->tracer, &role, &host);
    const char *function = dict_text(archive_dict(archive), span->name, &length);
    const JaegerName name = jaeger_name(function, length, role);
    const char *tracer_text = dict_text(archive_dict(archive), span->tracer, &tracer_length);
    const TracerId tracer = tracer_id_parse(tracer_text, tracer_length);

    /* A duration of 0 means in Zipkin that none is known; those below a microsecond are 1. */
    const gint64 duration_us = MAX(span->duration_ns / NS_PER_US, 1);
    g_autofree char *begin =
        g_strdup_printf("{\"traceId\":\"%s\",\"id\":\"%016" G_GINT64_MODIFIER "x\",\"timestamp\":%" G_GINT64_FORMAT
                        ",\"duration\":%" G_GINT64_FORMAT ",\"name\":",
                        trace_id, span->id.span, span->begin_ns / NS_PER_US, duration_us);
    put(out, begin);
    json_put_text(out, name.operation.data, name.operation.length);
    put_parent(out, span, span->id.trace);
    put_call(archive, out, span);
    put_local(out, name.service, &tracer);
    put_notes(out, span);
    put_tags(archive, out, span, &tracer);
    put(out, "}");
}

static void add_trace(JaegerTraces *traces, const TraceView *view) {
    Archive *archive = traces->asked->archive;
    char trace_id[33];
    jaeger_format_id(jaeger_trace_high(archive, view), view->trace_id, trace_id);
    put(traces->text, traces->traces++ > 0 ? ",[" : "[");
    gboolean first = TRUE;
    for (guint32 i = 1; i < view->tree->n_nodes && traces->spans < JAEGER_SPANS; i++) {
        const SpanRec *span = view->tree->span[i];
        if (span == NULL) continue;
        if (!allowance_goes_on_with(span->size_bytes)) break;
        if (!first) put(traces->text, ",");
        put_span(archive, traces->text, span, trace_id);
        first = FALSE;
        traces->spans++;
    }
    put(traces->text, "]");
    traces->full = traces->spans >= JAEGER_SPANS; /* an empty list would be a trace without a root */
}

/* ---- answers ---- */

void zipkin_traces_begin(JaegerTraces *traces, const Asked *asked, gboolean many) {
    *traces = (JaegerTraces){.asked = asked, .add = add_trace};
    traces->text = asked->rows != NULL ? &asked->rows->text : &traces->own;
    if (many) put(traces->text, "[");
}

json_t *zipkin_traces_end(JaegerTraces *traces, gboolean many, GError **error) {
    if (many) put(traces->text, "]");
    g_auto(JsonText) own = traces->own;
    if (!allowance_check(error)) return NULL;
    if (traces->asked->rows != NULL) {
        traces->asked->rows->member = JSON_ROWS_ALL;
        return json_array();
    }

    json_error_t why;
    json_t *list = json_loadb(own.data, own.used, JSON_ALLOW_NUL, &why);
    if (list == NULL) fail(error, PLUMB_ERROR_CORRUPT, "the spans are no JSON at byte %d: %s", why.position, why.text);
    return list;
}
