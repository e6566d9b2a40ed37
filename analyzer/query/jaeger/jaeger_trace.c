/* One stored trace in Jaeger's form, written as text. */
#include <string.h>

#include "analyzer/query/jaeger/jaeger_inside.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

#define RESOURCE   "resource."
#define TRACE_HIGH "trace_id.high"
#define LINK       "link"

typedef struct Process {
    guint number;
    guint32 tracer;
    char *service;
    GString *tags; /* of its resource: JSON, each behind a comma */
} Process;

/* One trace on its way out. */
typedef struct Writer {
    Archive *archive;
    JsonText *out;
    guint64 trace;
    char id[33];
    GHashTable *processes; /* "tracer service" -> Process */
    GPtrArray *ordered;    /* Process */
    GString *text;
} Writer;

static void put(JsonText *out, const char *literal) { json_put_bytes(out, literal, strlen(literal)); }

static void process_free(gpointer data) {
    Process *process = data;
    g_free(process->service);
    g_string_free(process->tags, TRUE);
    g_free(process);
}

static void writer_clear(Writer *writer) {
    g_hash_table_unref(writer->processes);
    g_ptr_array_unref(writer->ordered);
    g_string_free(writer->text, TRUE);
}

/* ---- ids ---- */

guint64 jaeger_trace_high(Archive *archive, const TraceView *view) {
    const guint32 key = dict_find(archive_dict(archive), TRACE_HIGH, strlen(TRACE_HIGH));
    if (key == 0) return 0;
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(view->bytes, &at)) != NULL && allowance_goes_on();) {
        SpanCursor cursor = span_cursor(span);
        for (SpanAnnotation next; span_next_annotation(&cursor, &next);) {
            if (next.key != key || next.length != 16) continue;
            g_autofree char *digits = g_strndup(next.value, next.length);
            return g_ascii_strtoull(digits, NULL, 16);
        }
    }
    return 0;
}

gboolean jaeger_same_trace(Archive *archive, const TraceView *view, guint64 high) {
    const guint64 own = high != 0 ? jaeger_trace_high(archive, view) : 0;
    return own == 0 || own == high;
}

TraceView *jaeger_trace_view(const Asked *asked, const char *id, GError **error) {
    guint64 high, low;
    if (!jaeger_trace_id(id, &high, &low, error)) return NULL;
    g_autoptr(TraceView) view = trace_view_load(asked->archive, low, error);
    if (view == NULL || jaeger_same_trace(asked->archive, view, high)) return g_steal_pointer(&view);
    fail(error, PLUMB_ERROR_NOT_FOUND, "there is no trace %s", id);
    return NULL;
}

void jaeger_format_id(guint64 high, guint64 low, char id[33]) {
    if (high != 0)
        g_snprintf(id, 33, "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", high, low);
    else
        g_snprintf(id, 33, "%016" G_GINT64_MODIFIER "x", low);
}

/* ---- processes ---- */

static Process *process_of(Writer *writer, const SpanRec *span, BatchString service) {
    g_autofree char *key = g_strdup_printf("%u %.*s", span->tracer, (int)service.length, service.data);
    Process *known = g_hash_table_lookup(writer->processes, key);
    if (known != NULL) return known;
    Process *process = g_new0(Process, 1);
    process->number = writer->ordered->len + 1;
    process->tracer = span->tracer;
    process->service = g_strndup(service.data, service.length);
    process->tags = g_string_new(NULL);
    g_ptr_array_add(writer->ordered, process);
    g_hash_table_insert(writer->processes, g_steal_pointer(&key), process);
    return process;
}

static void put_tag(JsonText *out, const char *key, gsize key_length, BatchString value) {
    put(out, "{\"key\":");
    json_put_text(out, key, key_length);
    if (key_length == 5 && memcmp(key, "error", 5) == 0 && value.length == 4 && memcmp(value.data, "true", 4) == 0) {
        put(out, ",\"type\":\"bool\",\"value\":true}");
        return;
    }
    put(out, ",\"type\":\"string\",\"value\":");
    json_put_text(out, value.data, value.length);
    put(out, "}");
}

static void put_word(JsonText *out, const char *key, const char *value, gsize length) {
    put_tag(out, key, strlen(key), (BatchString){value, (guint32)length});
}

static void put_process(Writer *writer, const Process *process) {
    gsize length;
    const char *text = dict_text(archive_dict(writer->archive), process->tracer, &length);
    const TracerId tracer = tracer_id_parse(text, length);
    JsonText *out = writer->out;
    g_autofree char *begin =
        g_strdup_printf("%s\"p%u\":{\"serviceName\":", process->number > 1 ? "," : "", process->number);
    put(out, begin);
    json_put_text(out, process->service, strlen(process->service));
    put(out, ",\"tags\":[");
    put_word(out, "process", tracer.process, tracer.process_length);
    if (tracer.host_length > 0) {
        put(out, ",");
        put_word(out, "hostname", tracer.host, tracer.host_length);
    }
    if (tracer.pid >= 0) {
        g_autofree char *pid =
            g_strdup_printf(",{\"key\":\"pid\",\"type\":\"int64\",\"value\":%" G_GINT64_FORMAT "}", tracer.pid);
        put(out, pid);
    }
    json_put_bytes(out, process->tags->str, process->tags->len);
    put(out, "]}");
}

/* What a resource says is its process's. */
static void keep_resource(Process *process, const char *key, gsize length, BatchString value) {
    g_auto(JsonText) tag = {NULL, 0, 0};
    put(&tag, ",");
    put_tag(&tag, key, length, value);
    g_string_append_len(process->tags, tag.data, (gssize)tag.used);
}

/* ---- spans ---- */

static void put_reference(JsonText *out, gboolean first, const char *type, const char *trace, const char *span) {
    put(out, first ? "{\"refType\":\"" : ",{\"refType\":\"");
    put(out, type);
    put(out, "\",\"traceID\":\"");
    put(out, trace);
    put(out, "\",\"spanID\":\"");
    put(out, span);
    put(out, "\"}");
}

static void put_references(Writer *writer, const SpanRec *span, const GPtrArray *links) {
    put(writer->out, ",\"references\":[");
    for (guint i = 0; i < span->n_parents; i++) {
        const SpanId parent = span_parents(span)[i];
        const gboolean own = parent.trace == writer->trace;
        char trace[33], id[17];
        jaeger_format_id(0, parent.trace, trace);
        g_snprintf(id, sizeof id, "%016" G_GINT64_MODIFIER "x", parent.span);
        put_reference(writer->out, i == 0, own ? "CHILD_OF" : "FOLLOWS_FROM", own ? writer->id : trace, id);
    }
    for (guint i = 0; i < links->len; i++) {
        char **words = g_ptr_array_index(links, i);
        put_reference(writer->out, span->n_parents + i == 0, "FOLLOWS_FROM", words[0], words[1]);
    }
    put(writer->out, "]");
}

/* The two ids of a link, for g_strfreev(); NULL: it is none. */
static char **link_words(const SpanAnnotation *annotation) {
    g_autofree char *text = g_strndup(annotation->value, annotation->length);
    char **words = g_strsplit(text, " ", 3);
    const gboolean good = g_strv_length(words) >= 2 && strlen(words[0]) == 32 && strlen(words[1]) == 16 &&
                          strspn(words[0], "0123456789abcdef") == 32 && strspn(words[1], "0123456789abcdef") == 16;
    if (good) return words;
    g_strfreev(words);
    return NULL;
}

static void free_words(gpointer words) { g_strfreev(words); }

/* All tags but those that are told otherwise: the id's half, links, the resource. */
static SpanCursor put_tags(Writer *writer, const SpanRec *span, Process *process, GPtrArray *links) {
    SpanCursor cursor = span_cursor(span);
    guint skip = 0;
    gboolean first = TRUE;

    span_description(writer->archive, span, writer->text, &skip);
    put(writer->out, ",\"tags\":[");
    for (SpanAnnotation next; span_next_annotation(&cursor, &next);) {
        if (skip > 0 && skip-- > 0) continue;
        gsize length;
        const char *key = dict_text(archive_dict(writer->archive), next.key, &length);
        const BatchString value = {next.value, next.length};
        char **words = strcmp(key, LINK) == 0 ? link_words(&next) : NULL;
        if (words != NULL) g_ptr_array_add(links, words);
        if (words != NULL || strcmp(key, TRACE_HIGH) == 0) continue;
        if (g_str_has_prefix(key, RESOURCE)) {
            keep_resource(process, key + strlen(RESOURCE), length - strlen(RESOURCE), value);
            continue;
        }
        if (!first) put(writer->out, ",");
        put_tag(writer->out, key, length, value);
        first = FALSE;
    }
    put(writer->out, "]");
    return cursor;
}

static void put_logs(Writer *writer, SpanCursor *cursor) {
    SpanNote note;
    const char *before = "";
    put(writer->out, ",\"logs\":[");
    while (span_next_note(cursor, &note)) {
        put(writer->out, before);
        put(writer->out, "{\"timestamp\":");
        json_put_integer(writer->out, note.time_ns / NS_PER_US);
        put(writer->out, ",\"fields\":[");
        put_word(writer->out, "event", note.message, note.length);
        put(writer->out, "]}");
        before = ",";
    }
    put(writer->out, "]");
}

static void put_span(Writer *writer, const SpanRec *span, gboolean first) {
    JsonText *out = writer->out;
    Role role;
    guint32 host;
    gsize length;
    const Lookup *lookup = archive_lookup(writer->archive);
    lookup->process(lookup->arg, span->tracer, &role, &host);
    const char *function = dict_text(archive_dict(writer->archive), span->name, &length);
    const JaegerName name = jaeger_name(function, length, role);
    Process *process = process_of(writer, span, name.service);
    g_autoptr(GPtrArray) links = g_ptr_array_new_with_free_func(free_words);
    g_autofree char *begin = g_strdup_printf(
        "%s{\"traceID\":\"%s\",\"spanID\":\"%016" G_GINT64_MODIFIER "x\",\"processID\":\"p%u\",\"flags\":1,"
        "\"startTime\":%" G_GINT64_FORMAT ",\"duration\":%" G_GINT64_FORMAT ",\"operationName\":",
        first ? "" : ",", writer->id, span->id.span, process->number, span->begin_ns / NS_PER_US,
        MAX(span->duration_ns, 0) / NS_PER_US);
    put(out, begin);
    json_put_text(out, name.operation.data, name.operation.length);

    g_string_truncate(writer->text, 0);
    SpanCursor cursor = put_tags(writer, span, process, links);
    put_logs(writer, &cursor);
    put_references(writer, span, links);
    put(out, ",\"warnings\":null}");
}

void jaeger_traces_begin(JaegerTraces *traces, const Asked *asked) {
    *traces = (JaegerTraces){.asked = asked, .add = jaeger_traces_add};
    traces->text = asked->rows != NULL ? &asked->rows->text : &traces->own;
    put(traces->text, "[");
}

static void put_warnings(JsonText *out, guint shown, guint all) {
    if (shown == all) {
        put(out, ",\"warnings\":null}");
        return;
    }
    g_autofree char *text =
        g_strdup_printf(",\"warnings\":[\"%u of %u spans: the rest is in plumb trace\"]}", shown, all);
    put(out, text);
}

void jaeger_traces_add(JaegerTraces *traces, const TraceView *view) {
    Writer writer = {.archive = traces->asked->archive, .out = traces->text, .trace = view->trace_id};
    writer.processes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    writer.ordered = g_ptr_array_new_with_free_func(process_free);
    writer.text = g_string_new(NULL);
    jaeger_format_id(jaeger_trace_high(writer.archive, view), view->trace_id, writer.id);

    put(traces->text, traces->traces++ > 0 ? ",{\"traceID\":\"" : "{\"traceID\":\"");
    put(traces->text, writer.id);
    put(traces->text, "\",\"spans\":[");
    guint shown = 0;
    for (guint32 i = 1; i < view->tree->n_nodes && traces->spans < JAEGER_SPANS; i++) {
        const SpanRec *span = view->tree->span[i];
        if (span == NULL) continue;
        if (!allowance_goes_on_with(span->size_bytes)) break;
        put_span(&writer, span, shown == 0);
        traces->spans++;
        shown++;
    }
    put(traces->text, "],\"processes\":{");
    for (guint i = 0; i < writer.ordered->len; i++) put_process(&writer, g_ptr_array_index(writer.ordered, i));
    put(traces->text, "}");
    put_warnings(traces->text, shown, view->tree->n_spans);
    writer_clear(&writer);
}

json_t *jaeger_traces_end(JaegerTraces *traces, GError **error) {
    put(traces->text, "]");
    g_auto(JsonText) own = traces->own;
    if (!allowance_check(error)) return NULL;
    if (traces->asked->rows != NULL) {
        traces->asked->rows->member = "data";
        return jaeger_document(json_null(), traces->traces);
    }

    json_error_t why;
    json_t *data = json_loadb(own.data, own.used, JSON_ALLOW_NUL, &why);
    if (data != NULL) return jaeger_document(data, traces->traces);
    fail(error, PLUMB_ERROR_CORRUPT, "the spans are no JSON at byte %d: %s", why.position, why.text);
    return NULL;
}

json_t *jaeger_trace(const Asked *asked, const char *id, GError **error) {
    g_autoptr(TraceView) view = jaeger_trace_view(asked, id, error);
    if (view == NULL) return NULL;
    JaegerTraces traces;
    jaeger_traces_begin(&traces, asked);
    jaeger_traces_add(&traces, view);
    return jaeger_traces_end(&traces, error);
}
