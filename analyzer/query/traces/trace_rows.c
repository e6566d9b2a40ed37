#include "analyzer/query/traces/trace_rows.h"

#include <string.h>

#include "common/base/clock.h"

/* With more annotations than these, or keys that are not simply so, a span has its lists made as documents. */
#define PLAIN_ANNOTATIONS 16

static void put_literal(JsonText *out, const char *literal) { json_put_bytes(out, literal, strlen(literal)); }

static void put_number(JsonText *out, const char *before, gint64 value) {
    put_literal(out, before);
    json_put_integer(out, value);
}

static void put_span_id(JsonText *out, SpanId id) {
    char text[SPAN_ID_TEXT_BYTES];
    span_id_format(id, text);
    json_put_string(out, text, strlen(text));
}

/* HTrace's keys are unique, other senders' need not be: a key that comes again makes its value a list. */
static void set_annotation(json_t *object, const char *key, json_t *value) {
    json_t *known = json_object_get(object, key);
    if (!known) {
        json_object_set_new(object, key, value);
        return;
    }
    if (!json_is_array(known)) {
        json_t *list = json_array();
        json_array_append(list, known);
        json_object_set_new(object, key, list);
        known = list;
    }
    json_array_append_new(known, value);
}

static gboolean plain_key(const char *text, gsize length) {
    for (gsize i = 0; i < length; i++)
        if ((guint8)text[i] >= 0x80 || text[i] == '\0') return FALSE;
    return TRUE;
}

/* FALSE: some key comes twice, or is not simply text; nothing is written then. */
static gboolean put_plain_annotations(const TraceRows *rows, SpanCursor *cursor, guint skip) {
    SpanAnnotation list[PLAIN_ANNOTATIONS];
    guint n = 0;

    for (SpanAnnotation next; span_next_annotation(cursor, &next);) {
        if (skip > 0) {
            skip--;
            continue;
        }
        gsize length;
        const char *key = dict_text(archive_dict(rows->archive), next.key, &length);
        if (n == PLAIN_ANNOTATIONS || !plain_key(key, length)) return FALSE;
        for (guint i = 0; i < n; i++)
            if (list[i].key == next.key) return FALSE;
        list[n++] = next;
    }

    for (guint i = 0; i < n; i++) {
        gsize length;
        const char *key = dict_text(archive_dict(rows->archive), list[i].key, &length);
        put_literal(rows->out, i == 0 ? ",\"annotations\":{" : ",");
        json_put_string(rows->out, key, length);
        put_literal(rows->out, ":");
        json_put_text(rows->out, list[i].value, list[i].length);
    }

    if (n > 0) put_literal(rows->out, "}");
    return TRUE;
}

static void put_any_annotations(const TraceRows *rows, SpanCursor *cursor, guint skip) {
    SpanAnnotation annotation;
    json_auto_t *annotations = json_object();
    while (span_next_annotation(cursor, &annotation)) {
        if (skip > 0) {
            skip--;
            continue;
        }
        json_t *value = json_text(annotation.value, annotation.length);
        set_annotation(annotations, dict_text(archive_dict(rows->archive), annotation.key, NULL), value);
    }
    if (json_object_size(annotations) == 0) return;
    put_literal(rows->out, ",\"annotations\":");
    json_put_value(rows->out, annotations);
}

static void put_lists(const TraceRows *rows, const SpanRec *span, guint skip) {
    SpanCursor cursor = span_cursor(span);
    if (!put_plain_annotations(rows, &cursor, skip)) {
        cursor = span_cursor(span);
        put_any_annotations(rows, &cursor, skip);
    }
    SpanNote note;
    const char *before = ",\"notes\":[";
    while (span_next_note(&cursor, &note)) {
        put_literal(rows->out, before);
        put_number(rows->out, "{\"time_ns\":", note.time_ns);
        put_literal(rows->out, ",\"message\":");
        json_put_text(rows->out, note.message, note.length);
        put_literal(rows->out, "}");
        before = ",";
    }
    if (before[1] == '\0') put_literal(rows->out, "]");
}

static void put_process(const TraceRows *rows, const SpanRec *span) {
    gsize length;
    const char *text = dict_text(archive_dict(rows->archive), span->tracer, &length);
    TracerId tracer = tracer_id_parse(text, length);
    const char *role = role_name(tracer.role);
    put_literal(rows->out, ",\"role\":");
    json_put_string(rows->out, role, strlen(role));
    put_literal(rows->out, ",\"process\":");
    json_put_text(rows->out, tracer.process, tracer.process_length);
    if (tracer.host_length) {
        put_literal(rows->out, ",\"host\":");
        json_put_text(rows->out, tracer.host, tracer.host_length);
    }
    if (tracer.pid >= 0) put_number(rows->out, ",\"pid\":", tracer.pid);
}

static void put_flags(JsonText *out, guint8 flags) {
    static const struct {
        NodeFlags flag;
        const char *name;
    } names[] = {{NODE_ORPHAN, "\"orphan\""},
                 {NODE_CYCLE_CUT, "\"cycle\""},
                 {NODE_REVERSED, "\"reversed\""},
                 {NODE_OUTSIDE_PARENT, "\"outside parent\""}};
    const char *before = ",\"flags\":[";
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!(flags & names[i].flag)) continue;
        put_literal(out, before);
        put_literal(out, names[i].name);
        before = ",";
    }
    if (before[1] == '\0') put_literal(out, "]");
}

static void put_parents(JsonText *out, const SpanRec *span) {
    put_literal(out, ",\"parents\":[");
    for (guint i = 0; i < span->n_parents; i++) {
        if (i > 0) put_literal(out, ",");
        put_span_id(out, span_parents(span)[i]);
    }
    put_literal(out, "]");
}

void trace_rows_begin(TraceRows *rows) { put_literal(rows->out, "["); }

void trace_rows_end(TraceRows *rows) { put_literal(rows->out, "]"); }

/* What a row begins with. Returns how many of its annotations are part of the description. */
static guint put_names(TraceRows *rows, const SpanRec *span, gint64 depth) {
    JsonText *out = rows->out;
    gsize length;
    guint skip = 0;
    g_string_truncate(rows->description, 0);
    span_description(rows->archive, span, rows->description, &skip);
    const char *name = dict_text(archive_dict(rows->archive), span->name, &length);

    put_literal(out, "{\"span\":");
    put_span_id(out, span->id);
    put_parents(out, span);
    if (depth >= 0) put_number(out, ",\"depth\":", depth);
    put_literal(out, ",\"function\":");
    json_put_text(out, name, length);
    put_literal(out, ",\"description\":");
    json_put_text(out, rows->description->str, rows->description->len);
    put_process(rows, span);
    put_number(out, ",\"begin_time_ns\":", span->begin_ns);
    put_number(out, ",\"duration_ns\":", span->duration_ns);
    return skip;
}

static void put_resolution(JsonText *out, const SpanRec *span) {
    put_number(out, ",\"resolution_ns\":", span->flags & SPAN_MILLISECONDS ? NS_PER_MS : 1);
}

void trace_rows_add(TraceRows *rows, guint32 node, guint32 depth) {
    JsonText *out = rows->out;
    const SpanRec *span = rows->view->tree->span[node];
    if (out->data[out->used - 1] != '[') put_literal(out, ",");
    const guint skip = put_names(rows, span, depth);
    put_number(out, ",\"self_ns\":", rows->view->times->self_ns[node]);
    put_number(out, ",\"critical_ns\":", rows->view->times->critical_ns[node]);
    put_resolution(out, span);
    put_lists(rows, span, skip);
    put_flags(out, rows->view->tree->flags[node]);
    put_literal(out, "}");
}

void trace_rows_add_span(TraceRows *rows, const SpanRec *span) {
    const guint skip = put_names(rows, span, -1);
    put_resolution(rows->out, span);
    put_lists(rows, span, skip);
    put_literal(rows->out, "}");
}
