#include "analyzer/query/shared/trace_view.h"

#include <string.h>

#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/pack/pack.h"

const SpanRec *spans_next(const GByteArray *bytes, gsize *at) {
    if (*at >= bytes->len) return NULL;
    const SpanRec *span = (const SpanRec *)(bytes->data + *at);
    *at += span->size_bytes;
    return span;
}

/* Of a span while the tree is built, beside its record; roughly. */
#define NODE_BYTES 128u

/* Charges what that will take. */
static gboolean may_assemble(TraceView *view, GError **error) {
    const SpanRec *span;
    gsize n = 0;
    for (gsize at = 0; (span = spans_next(view->bytes, &at)) != NULL && allowance_goes_on();) n++;
    allowance_hold(&view->charged, view->bytes->len + n * NODE_BYTES);
    return allowance_check(error);
}

static TraceView *view_load(Archive *archive, guint64 trace_id, const ArchiveLoad *load, GError **error) {
    g_autoptr(TraceView) view = g_new0(TraceView, 1);
    view->trace_id = trace_id;
    view->bytes = g_byte_array_new();
    view->load = *load;
    if (!archive_load_parts(archive, trace_id, &view->load, view->bytes, error) || !may_assemble(view, error))
        return NULL;
    g_autoptr(GPtrArray) records = g_ptr_array_new();
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(view->bytes, &at)) != NULL;) g_ptr_array_add(records, (gpointer)span);
    const SpanTexts texts = lookup_texts(archive_lookup(archive));
    view->tree =
        tree_build((const SpanRec *const *)records->pdata, records->len, archive_clock_tolerance_ns(archive), &texts);
    if (!allowance_check(error)) return NULL;
    const Measured measured = {.tree = view->tree};
    gboolean differs;
    view->times = times_by_rule(&measured, archive_waits(archive), TIMES_NOW, &differs);
    allowance_hold(&view->charged, view->bytes->len + tree_bytes(view->tree) + view->tree->n_nodes * TIMES_NODE_BYTES);
    return allowance_check(error) ? g_steal_pointer(&view) : NULL;
}

TraceView *trace_view_load(Archive *archive, guint64 trace_id, GError **error) {
    const ArchiveLoad load = {.max_spans = TRACE_VIEW_SPANS};
    return view_load(archive, trace_id, &load, error);
}

TraceView *trace_view_load_found(Archive *archive, guint64 trace_id, gboolean *gone, GError **error) {
    g_autoptr(GError) failure = NULL;
    TraceView *view = trace_view_load(archive, trace_id, &failure);
    *gone = g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    if (failure != NULL && !*gone) g_propagate_error(error, g_steal_pointer(&failure));
    return view;
}

gsize trace_view_room(void) {
    const gsize left = allowance_left();
    return left == G_MAXSIZE ? 0 : left / 4 + 1;
}

/* Beside its bytes a span takes 300 until its tree has been measured (tests/query/test_columns.c). Twice that is left
 * for each: a part is loaded whole. */
static guint64 spans_room(void) { return MIN(TRACE_VIEW_SPANS, allowance_left() / 640 + 1); }

TraceView *trace_view_load_from(Archive *archive, guint64 trace_id, guint first_part, GError **error) {
    const ArchiveLoad load = {
        .first_part = first_part,
        .max_spans = spans_room(),
        .max_bytes = trace_view_room(),
    };
    return view_load(archive, trace_id, &load, error);
}

gboolean trace_view_has_all(const ArchiveLoad *load) {
    return load->first_part == 0 && load->loaded == load->parts && !load->late_left;
}

void trace_view_free(TraceView *view) {
    if (!view) return;
    allowance_release(view->charged);
    times_free(view->times);
    tree_free(view->tree);
    g_byte_array_unref(view->bytes);
    g_free(view);
}

gboolean annotation_number(const SpanAnnotation *annotation, gint64 *number) {
    char text[24];
    if (annotation->length >= sizeof text) return FALSE;
    memcpy(text, annotation->value, annotation->length);
    text[annotation->length] = '\0';
    return g_ascii_string_to_signed(text, 10, G_MININT64, G_MAXINT64, number, NULL);
}

void span_description(Archive *archive, const SpanRec *span, GString *out, guint *first) {
    Dict *dict = archive_dict(archive);
    SpanAnnotation annotation;
    PackedName kind = pack_name_annotation(dict, span, &annotation);
    *first = kind == NAME_AS_SENT ? 0 : 1;
    gsize length;
    if (kind == NAME_NORMALISED) {
        const char *key = dict_text(dict, annotation.key, &length);
        if (naming_restore(key, length, annotation.value, annotation.length, out)) return;
        *first = 0;
    }
    const char *name = dict_text(dict, span->name, &length);
    g_string_append_len(out, name, (gssize)length);
}

static guint32 add_text(SpanBatch *batch, BatchString text) {
    g_array_append_val(batch->strings, text);
    return batch->strings->len - 1;
}

static guint32 add_entry(Archive *archive, SpanBatch *batch, guint32 id) {
    gsize length;
    const char *text = dict_text(archive_dict(archive), id, &length);
    return add_text(batch, (BatchString){text, (guint32)length});
}

static guint32 add_name(Archive *archive, const SpanRec *span, SpanBatch *batch, guint *first) {
    SpanAnnotation annotation;
    if (pack_name_annotation(archive_dict(archive), span, &annotation) == NAME_AS_SENT) {
        *first = 0;
        return add_entry(archive, batch, span->name);
    }
    g_autoptr(GString) name = g_string_new(NULL);
    span_description(archive, span, name, first);
    return add_text(batch, batch_copy(batch, name->str, name->len));
}

void query_span_to_batch(Archive *archive, const SpanRec *span, SpanBatch *batch) {
    guint skip = 0;
    const guint32 name = add_name(archive, span, batch, &skip), tracer = add_entry(archive, batch, span->tracer);

    BatchSpan *target = batch_begin_span(batch, span->id);
    target->begin_ns = span->begin_ns;
    target->duration_ns = span->duration_ns;
    target->name = name;
    target->tracer = tracer;
    target->flags = span->flags;
    for (guint i = 0; i < span->n_parents; i++) batch_add_parent(batch, span_parents(span)[i]);

    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    SpanNote note;
    while (span_next_annotation(&cursor, &annotation)) {
        if (skip > 0) {
            skip--;
            continue;
        }
        const guint32 key = add_entry(archive, batch, annotation.key);
        batch_add_annotation(batch, key, (BatchString){annotation.value, annotation.length});
    }
    while (span_next_note(&cursor, &note))
        batch_add_note(batch, note.time_ns, (BatchString){note.message, note.length});
}
