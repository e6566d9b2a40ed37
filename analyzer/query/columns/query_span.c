/* All that is stored of one span, without the tree that it is in: a trace of any size is read one part at a time. */
#include "analyzer/query/columns/column_answers.h"
#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/traces/trace_rows.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

static const SpanRec *find_span(const GByteArray *bytes, SpanId id) {
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(bytes, &at)) != NULL && allowance_goes_on_with(span->size_bytes);)
        if (span_id_equal(span->id, id)) return span;
    return NULL;
}

static json_t *span_json(Archive *archive, const SpanRec *span, GError **error) {
    g_auto(JsonText) text = {NULL, 0, 0};
    g_auto(TraceRows) rows = {archive, NULL, &text, g_string_new(NULL)};
    json_error_t why;
    trace_rows_add_span(&rows, span);
    json_t *object = json_loadb(text.data, text.used, JSON_ALLOW_NUL, &why);
    if (object == NULL) fail(error, PLUMB_ERROR_CORRUPT, "the span is no JSON at byte %d: %s", why.position, why.text);
    return object;
}

/* Looks through the parts until one has it. NULL without an error: none has. */
static json_t *find_in_parts(const Asked *asked, SpanId id, guint *part, GError **error) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    gsize charged = 0;
    json_t *found = NULL;
    gboolean good = TRUE;
    for (guint parts = 1; *part < parts && good && found == NULL; *part += 1) {
        ArchiveLoad load = {.first_part = *part, .max_spans = 1, .max_bytes = trace_view_room()};
        g_byte_array_set_size(bytes, 0);
        good = archive_load_parts(asked->archive, id.trace, &load, bytes, error);
        if (!good) break;
        parts = load.parts;
        allowance_hold(&charged, bytes->len);
        const SpanRec *span = find_span(bytes, id);
        if (span != NULL) found = span_json(asked->archive, span, error);
        good = (span == NULL || found != NULL) && allowance_check(error);
    }

    allowance_hold(&charged, 0);
    if (good) return found;
    json_decref(found);
    return NULL;
}

json_t *answer_span(const Asked *asked, GError **error) {
    SpanId id;
    gboolean one_span = FALSE;
    guint part = 0;
    if (!asked_trace(asked, "id", &id, &one_span, error)) return NULL;
    if (!one_span) {
        fail(error, PLUMB_ERROR_INPUT, "id is that of a trace: give the 32 hex digits of a span");
        return NULL;
    }

    g_autoptr(GError) failure = NULL;
    json_auto_t *span = find_in_parts(asked, id, &part, &failure);
    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
    if (span == NULL) {
        fail(error, PLUMB_ERROR_NOT_FOUND, "trace %016" G_GINT64_MODIFIER "x is there, but has no span %s", id.trace,
             params_text(asked->params, "id"));
        return NULL;
    }
    json_auto_t *answer = json_object();
    json_object_set_new(answer, "trace", json_trace_id(id.trace));
    json_object_set_new(answer, "part", json_integer(part));
    json_object_set(answer, "row", span);
    return g_steal_pointer(&answer);
}
