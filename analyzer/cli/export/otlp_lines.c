#include "analyzer/cli/export/otlp_lines.h"

#include "analyzer/cli/show/show.h"
#include "common/model/role.h"
#include "common/wire/json/span_json.h"

/* A line ends with a trace, once it has so many spans; one with more than MOST is in several lines. Bodies of several
 * MiB are what receivers take. */
#define SPANS_LEAST 1000u
#define SPANS_MOST  5000u

struct OtlpLines {
    SpanJsonReader *reader;
    SpanBatch *batch;
    json_t *spans; /* rows, as the question "trace" has them */
    guint64 trace; /* of the last */
};

OtlpLines *otlp_lines_new(void) {
    OtlpLines *lines = g_new0(OtlpLines, 1);
    lines->reader = span_json_reader_new();
    lines->batch = batch_new();
    lines->spans = json_array();
    return lines;
}

void otlp_lines_free(OtlpLines *lines) {
    if (lines == NULL) return;
    span_json_reader_free(lines->reader);
    batch_free(lines->batch);
    json_decref(lines->spans);
    g_free(lines);
}

static json_t *text_of(BatchString text) { return json_stringn(text.data, text.length); }

static json_t *id_of(SpanId id) {
    char text[SPAN_ID_TEXT_BYTES];
    span_id_format(id, text);
    return json_string(text);
}

/* Several values of one key become a list. */
static void add_annotation(json_t *annotations, const char *key, json_t *value) {
    json_t *there = json_object_get(annotations, key);
    if (there == NULL)
        json_object_set_new(annotations, key, value);
    else if (json_is_array(there))
        json_array_append_new(there, value);
    else
        json_object_set_new(annotations, key, json_pack("[O, o]", there, value));
}

static void set_process(json_t *row, BatchString tracer) {
    const TracerId id = tracer_id_parse(tracer.data, tracer.length);
    json_object_set_new(row, "process", json_stringn(id.process, id.process_length));
    json_object_set_new(row, "host", json_stringn(id.host, id.host_length));
    if (id.pid >= 0) json_object_set_new(row, "pid", json_integer(id.pid));
}

static json_t *row_of(const SpanBatch *batch, const BatchSpan *span) {
    json_t *row = json_object(), *parents = json_array(), *annotations = json_object(), *notes = json_array();
    json_object_set_new(row, "span", id_of(span->id));
    json_object_set_new(row, "function", text_of(batch_string(batch, span->name)));
    json_object_set_new(row, "begin_time_ns", json_integer(span->begin_ns));
    json_object_set_new(row, "duration_ns", json_integer(span->duration_ns));
    set_process(row, batch_string(batch, span->tracer));

    for (guint i = 0; i < span->n_parents; i++)
        json_array_append_new(parents, id_of(g_array_index(batch->parents, SpanId, span->parents_at + i)));
    for (guint i = 0; i < span->n_annotations; i++) {
        const BatchAnnotation *one = &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at + i);
        const BatchString key = batch_string(batch, one->key);
        g_autofree char *name = g_strndup(key.data, key.length);
        add_annotation(annotations, name, text_of(one->value));
    }
    for (guint i = 0; i < span->n_notes; i++) {
        const BatchNote *note = &g_array_index(batch->notes, BatchNote, span->notes_at + i);
        json_t *object = json_object();
        json_object_set_new(object, "time_ns", json_integer(note->time_ns));
        json_object_set_new(object, "message", text_of(note->message));
        json_array_append_new(notes, object);
    }

    json_object_set_new(row, "parents", parents);
    json_object_set_new(row, "annotations", annotations);
    json_object_set_new(row, "notes", notes);
    return row;
}

void otlp_lines_flush(OtlpLines *lines, GString *out) {
    if (json_array_size(lines->spans) == 0) return;
    json_auto_t *document = json_pack("{s:O}", "spans", lines->spans);
    const ShowOptions options = {.ids = TRUE};
    show_trace_otlp(document, &options, out);
    json_array_clear(lines->spans);
}

static guint64 take_batch(OtlpLines *lines, GString *out) {
    const guint64 taken = lines->batch->spans->len;
    for (guint i = 0; i < lines->batch->spans->len; i++) {
        const BatchSpan *span = batch_span(lines->batch, i);
        const gsize n = json_array_size(lines->spans);
        if (n >= SPANS_MOST || (n >= SPANS_LEAST && span->id.trace != lines->trace)) otlp_lines_flush(lines, out);
        json_array_append_new(lines->spans, row_of(lines->batch, span));
        lines->trace = span->id.trace;
    }
    batch_clear(lines->batch);
    return taken;
}

guint64 otlp_lines_feed(OtlpLines *lines, Bytes piece, GString *out) {
    guint64 taken = 0;
    while (piece.size_bytes > 0) {
        gsize consumed;
        span_json_feed(lines->reader, piece, SPANS_LEAST, lines->batch, &consumed);
        taken += take_batch(lines, out);
        piece = (Bytes){(const guint8 *)piece.data + consumed, piece.size_bytes - consumed};
    }
    return taken;
}

gboolean otlp_lines_add(OtlpLines *lines, const json_t *document, gsize *at, GString *out) {
    const json_t *rows = field_list(document, "spans");
    const gsize n = json_array_size(rows);
    for (; *at < n && json_array_size(lines->spans) < SPANS_MOST; ++*at)
        json_array_append(lines->spans, json_array_get(rows, *at));
    if (json_array_size(lines->spans) < SPANS_LEAST) return FALSE;
    otlp_lines_flush(lines, out);
    return TRUE;
}

guint64 otlp_lines_gathered(const OtlpLines *lines) { return json_array_size(lines->spans); }

void otlp_lines_clear(OtlpLines *lines) { json_array_clear(lines->spans); }

guint64 otlp_lines_finish(OtlpLines *lines, GString *out) {
    span_json_finish(lines->reader);
    const guint64 taken = take_batch(lines, out);
    otlp_lines_flush(lines, out);
    return taken;
}
