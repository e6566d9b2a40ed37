/* The column of annotations: what repeats within a trace is written once. */
#include "analyzer/calltree/record/record_encode.h"

typedef struct Column {
    const guint8 *start; /* of the column in the record */
    guint64 copied;      /* bytes that references stand for */
    RecentTexts texts;
    const SpanRec *list[RECENT_LISTS]; /* the i-th ever at i % RECENT_LISTS */
    guint32 n_lists;                   /* ever */
} Column;

static gboolean may_copy(const Encoder *e, Column *column, gsize size_bytes) {
    if (!record_may_copy(column->copied, size_bytes, (gsize)(e->at - column->start))) return FALSE;
    column->copied += size_bytes;
    return TRUE;
}

/* ---- values ---- */

static inline void put_token(Encoder *e, guint64 token, guint kind) { put(e, token << VALUE_KIND_BITS | kind); }

static gboolean same_text(const char *a, guint32 a_length, const char *b, guint32 b_length) {
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

static gboolean put_recent(Encoder *e, Column *column, const char *text, guint32 length) {
    const RecentTexts *texts = &column->texts;
    for (guint32 back = 1; back <= recent_known(texts); back++) {
        guint32 at = (texts->n - back) % RECENT_TEXTS;
        if (!same_text(texts->text[at], texts->length[at], text, length) || !may_copy(e, column, length)) continue;
        put_token(e, back, VALUE_RECENT);
        return TRUE;
    }
    return FALSE;
}

/* A path in the folder of the one written before it. */
static guint32 common_prefix(const Column *column, const char *text, guint32 length) {
    const RecentTexts *texts = &column->texts;
    if (texts->n == 0) return 0;
    guint32 at = (texts->n - 1) % RECENT_TEXTS;
    return (guint32)text_common_prefix(texts->text[at], text, MIN(texts->length[at], length));
}

static void put_text(Encoder *e, Column *column, const char *text, guint32 length) {
    if (put_recent(e, column, text, length)) return;
    guint32 prefix = common_prefix(column, text, length);
    if (prefix < RECENT_MIN_BYTES || !may_copy(e, column, prefix)) prefix = 0;
    if (prefix > 0) put_token(e, prefix, VALUE_PREFIX);
    put_token(e, length - prefix, VALUE_TEXT);
    memcpy(e->at, text + prefix, length - prefix);
    e->at += length - prefix;
    recent_add(&column->texts, text, length);
}

/* before: NULL when there is no value to refer to. */
static void put_value(Encoder *e, Column *column, const SpanAnnotation *value, const SpanAnnotation *before) {
    gint64 number, number_before;
    if (before != NULL && same_text(before->value, before->length, value->value, value->length) &&
        may_copy(e, column, value->length)) {
        put_token(e, 0, VALUE_RECENT);
        return;
    }
    if (!number_of_text(value->value, value->length, &number)) {
        put_text(e, column, value->value, value->length);
        return;
    }
    if (before != NULL && number_of_text(before->value, before->length, &number_before)) {
        guint64 step = zigzag_of(number - number_before);
        if (step < (guint64)number) {
            put_token(e, step, VALUE_STEP);
            return;
        }
    }
    put_token(e, (guint64)number, VALUE_NUMBER);
}

/* ---- lists ---- */

static gboolean same_keys(const SpanRec *a, const SpanRec *b) {
    if (a->n_annotations != b->n_annotations) return FALSE;
    SpanCursor at_a = span_cursor(a), at_b = span_cursor(b);
    SpanAnnotation of_a, of_b;
    while (span_next_annotation(&at_a, &of_a) && span_next_annotation(&at_b, &of_b)) {
        if (of_a.key != of_b.key) return FALSE;
    }
    return TRUE;
}

static gboolean same_annotations(Encoder *e, Column *column, const SpanRec *span, const SpanRec *other) {
    if (other->n_annotations != span->n_annotations) return FALSE;
    gboolean padded = span->n_notes == 0 && other->n_notes == 0;
    Bytes own = annotations_of(span, padded), others = annotations_of(other, padded);
    if (own.size_bytes != others.size_bytes || memcmp(own.data, others.data, own.size_bytes) != 0) return FALSE;
    return may_copy(e, column, own.size_bytes);
}

static inline const SpanRec *recent_list(const Column *column, guint32 k) {
    return column->list[(column->n_lists - 1 - k) % RECENT_LISTS];
}

static gboolean put_whole_list(Encoder *e, Column *column, const SpanRec *span) {
    for (guint32 k = 0; k < MIN(column->n_lists, RECENT_LISTS); k++) {
        if (!same_annotations(e, column, span, recent_list(column, k))) continue;
        put(e, KEYS_RECENT + 2 * k + 1);
        return TRUE;
    }
    return FALSE;
}

/* Writes the keys; returns the span with the same ones whose values are referred to, or NULL. */
static const SpanRec *put_keys(Encoder *e, Column *column, const SpanRec *span, const SpanRec *before) {
    if (before != NULL && same_keys(span, before)) {
        put(e, KEYS_AS_BEFORE);
        return before;
    }
    for (guint32 k = 0; k < MIN(column->n_lists, RECENT_LISTS); k++) {
        const SpanRec *other = recent_list(column, k);
        if (!same_keys(span, other)) continue;
        put(e, KEYS_RECENT + 2 * k);
        column->list[(column->n_lists - 1 - k) % RECENT_LISTS] = span;
        return other;
    }
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation own;
    put(e, KEYS_OWN + (guint64)span->n_annotations);
    while (span_next_annotation(&cursor, &own)) put(e, own.key);
    column->list[column->n_lists++ % RECENT_LISTS] = span;
    return NULL;
}

static void put_list(Encoder *e, Column *column, const SpanRec *span, const SpanRec *before) {
    if (span->n_annotations == 0) {
        put(e, before == NULL || before->n_annotations == 0 ? KEYS_AS_BEFORE : KEYS_OWN);
        return;
    }
    if (put_whole_list(e, column, span)) return;
    const SpanRec *other = put_keys(e, column, span, before);
    SpanCursor cursor = span_cursor(span), others = span_cursor(other != NULL ? other : span);
    SpanAnnotation own, there;
    while (span_next_annotation(&cursor, &own)) {
        gboolean refers = other != NULL && span_next_annotation(&others, &there);
        put_value(e, column, &own, refers ? &there : NULL);
    }
}

/* ---- spans ---- */

static void put_notes(Encoder *e, Column *column, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanNote note;
    put(e, span->n_notes);
    while (span_next_note(&cursor, &note)) {
        put(e, zigzag_of(wrapping_sub(units_of(e, note.time_ns), units_of(e, span->begin_ns))));
        const SpanAnnotation message = {.value = note.message, .length = note.length};
        put_value(e, column, &message, NULL);
    }
}

static gboolean all_as_before(Encoder *e, Column *column, const SpanRec *span, const SpanRec *before) {
    if (span->n_notes > 0) return FALSE;
    if (span->n_annotations == 0) return before == NULL || before->n_annotations == 0;
    return before != NULL && same_annotations(e, column, span, before);
}

void record_put_annotations(Encoder *e) {
    Column column = {.start = e->at};
    for (guint32 q = 1; q < e->pattern->n_nodes; q++) {
        if (is_placeholder(e->pattern, q)) continue;
        const SpanRec *before = NULL;
        for (guint32 place = e->first[q]; place < e->first[q + 1]; place++) {
            const SpanRec *span = span_at(e, place);
            expect_place(e, place + SPANS_AHEAD);
            if (all_as_before(e, &column, span, before)) {
                e->run++;
            } else {
                run_break(e);
                put_list(e, &column, span, before);
                if (e->bits & RECORD_NOTES) put_notes(e, &column, span);
            }
            before = span;
        }
    }
    run_end(e);
}
