#include "analyzer/archive/write/column_cut.h"

#include <string.h>

/* What is cut, and by what it is told what stays. */
typedef struct Cutting {
    Archive *archive;
    const FailureKeys *failures;
} Cutting;

static gboolean key_stays(const Cutting *cutting, guint32 key) {
    Archive *archive = cutting->archive;
    const KeptColumns *keep = &archive->options.keep;
    if (!(keep->dropped & DROPPED_ANNOTATIONS) || key == archive->lookup.bytes_key(archive)) return TRUE;
    if (wait_table_needs(archive->waits, key)) return TRUE;
    if (failure_keys_has(cutting->failures, key)) return TRUE;
    const char *text = dict_text(archive->dict, key, NULL);
    return keep->keys != NULL && g_strv_contains((const char *const *)keep->keys, text);
}

/* What of the span would have to go. */
static guint32 excess(const Cutting *cutting, const SpanRec *span) {
    guint32 dropped = span->n_notes > 0 ? cutting->archive->options.keep.dropped & DROPPED_NOTES : 0;
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (!(dropped & DROPPED_ANNOTATIONS) && span_next_annotation(&cursor, &annotation)) {
        if (!key_stays(cutting, annotation.key)) dropped |= DROPPED_ANNOTATIONS;
    }
    return dropped;
}

static void append_short(const Cutting *cutting, const SpanRec *span, GByteArray *bytes) {
    SpanBuilder builder = span_builder_begin(bytes, span);
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    SpanNote note;
    for (guint i = 0; i < span->n_parents; i++) span_builder_parent(&builder, span_parents(span)[i]);
    while (span_next_annotation(&cursor, &annotation)) {
        if (key_stays(cutting, annotation.key))
            span_builder_annotation(&builder, annotation.key, annotation.value, annotation.length);
    }
    while (!(cutting->archive->options.keep.dropped & DROPPED_NOTES) && span_next_note(&cursor, &note))
        span_builder_note(&builder, note.time_ns, note.message, note.length);
    span_builder_end(&builder);
}

void columns_cut(Archive *archive, const FailureKeys *failures, CallTree *tree, ColumnCut *cut) {
    const Cutting cutting = {archive, failures};
    *cut = (ColumnCut){.n_nodes = tree->n_nodes};
    if (!(archive->options.keep.dropped & (DROPPED_ANNOTATIONS | DROPPED_NOTES))) return;
    g_autofree gsize *at = g_new(gsize, tree->n_nodes);
    cut->bytes = g_byte_array_new();
    for (guint32 i = 0; i < tree->n_nodes; i++) {
        guint32 dropped = tree->span[i] != NULL ? excess(&cutting, tree->span[i]) : 0;
        at[i] = G_MAXSIZE;
        if (dropped == 0) continue;
        cut->dropped |= dropped;
        at[i] = cut->bytes->len;
        append_short(&cutting, tree->span[i], cut->bytes);
    }
    if (cut->dropped == 0) return;
    cut->spans = g_memdup2(tree->span, tree->n_nodes * sizeof *tree->span);
    for (guint32 i = 0; i < tree->n_nodes; i++) {
        if (at[i] != G_MAXSIZE) tree->span[i] = (const SpanRec *)(gconstpointer)(cut->bytes->data + at[i]);
    }
}

void columns_restore(CallTree *tree, ColumnCut *cut) {
    if (cut->spans != NULL) memcpy(tree->span, cut->spans, cut->n_nodes * sizeof *tree->span);
    g_clear_pointer(&cut->spans, g_free);
    g_clear_pointer(&cut->bytes, g_byte_array_unref);
}
