#include "common/model/span.h"

#include <string.h>

#include "common/base/limits.h"

G_STATIC_ASSERT(sizeof(SpanId) == 16);
/* Counts are 16 bits wide. */
G_STATIC_ASSERT(LIMIT_SPAN_PARENTS <= G_MAXUINT16 && LIMIT_SPAN_ANNOTATIONS <= G_MAXUINT16);

static void format_half(guint64 half, char *text) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 15; i >= 0; i--, half >>= 4) text[i] = digits[half & 15];
}

void span_id_format(SpanId id, char text[SPAN_ID_TEXT_BYTES]) {
    format_half(id.trace, text);
    format_half(id.span, text + 16);
    text[32] = 0;
}

static gboolean parse_half(const char *text, guint64 *half) {
    guint64 value = 0;
    for (int i = 0; i < 16; i++) {
        int digit = g_ascii_xdigit_value(text[i]);
        if (digit < 0) return FALSE;
        value = value << 4 | (guint64)digit;
    }
    *half = value;
    return TRUE;
}

gboolean span_id_parse(const char *text, gsize length, SpanId *id) {
    SpanId parsed;
    if (length != 32 || !parse_half(text, &parsed.trace) || !parse_half(text + 16, &parsed.span)) return FALSE;
    *id = parsed;
    return TRUE;
}

static gsize padded(gsize size, gsize to) { return (size + to - 1) & ~(to - 1); }

static guint32 load_u32(const guint8 *at) {
    guint32 value;
    memcpy(&value, at, sizeof value);
    return value;
}

gboolean span_next_note(SpanCursor *cursor, SpanNote *note) {
    SpanAnnotation skipped;
    while (span_next_annotation(cursor, &skipped)) continue;
    if (cursor->notes_left == 0) return FALSE;
    cursor->notes_left--;
    note->time_ns = (gint64)((guint64)load_u32(cursor->at + 4) << 32 | load_u32(cursor->at));
    note->length = load_u32(cursor->at + 8);
    note->message = (const char *)cursor->at + 12;
    cursor->at += 12 + padded(note->length, 4);
    return TRUE;
}

SpanBuilder span_builder_begin(GByteArray *out, const SpanRec *head) {
    g_assert(out->len % 8 == 0);
    SpanRec blank = *head;
    blank.size_bytes = 0;
    blank.n_parents = blank.n_annotations = blank.n_notes = 0;
    blank.reserved = 0;
    SpanBuilder builder = {out, out->len};
    g_byte_array_append(out, (const guint8 *)&blank, sizeof blank);
    return builder;
}

/* Appending moves the array: never keep this pointer over an append. */
static SpanRec *head_of(const SpanBuilder *builder) { return (SpanRec *)(void *)(builder->out->data + builder->start); }

static void append_padded(GByteArray *out, const void *data, gsize length) {
    static const guint8 zeros[8];
    if (length > 0) g_byte_array_append(out, data, (guint)length);
    g_byte_array_append(out, zeros, (guint)(padded(length, 4) - length));
}

void span_builder_parent(SpanBuilder *builder, SpanId parent) {
    SpanRec *head = head_of(builder);
    g_assert(head->n_parents < G_MAXUINT16 && head->n_annotations == 0 && head->n_notes == 0);
    head->n_parents++;
    g_byte_array_append(builder->out, (const guint8 *)&parent, sizeof parent);
}

void span_builder_annotation(SpanBuilder *builder, guint32 key, const char *value, guint32 length) {
    SpanRec *head = head_of(builder);
    g_assert(head->n_annotations < G_MAXUINT16 && head->n_notes == 0);
    head->n_annotations++;
    const guint32 fixed[2] = {key, length};
    g_byte_array_append(builder->out, (const guint8 *)fixed, sizeof fixed);
    append_padded(builder->out, value, length);
}

void span_builder_note(SpanBuilder *builder, gint64 time_ns, const char *message, guint32 length) {
    SpanRec *head = head_of(builder);
    g_assert(head->n_notes < G_MAXUINT16);
    head->n_notes++;
    const guint32 fixed[3] = {(guint32)(guint64)time_ns, (guint32)((guint64)time_ns >> 32), length};
    g_byte_array_append(builder->out, (const guint8 *)fixed, sizeof fixed);
    append_padded(builder->out, message, length);
}

void span_builder_end(SpanBuilder *builder) {
    static const guint8 zeros[8];
    GByteArray *out = builder->out;
    gsize size = out->len - builder->start;
    g_byte_array_append(out, zeros, (guint)(padded(size, 8) - size));
    head_of(builder)->size_bytes = out->len - builder->start;
}

gboolean span_annotation_number(const SpanAnnotation *annotation, guint64 *number) {
    guint64 value = 0;
    if (annotation->length == 0) return FALSE;
    for (guint32 i = 0; i < annotation->length; i++) {
        guint digit = (guint)(guint8)annotation->value[i] - '0';
        if (digit > 9) return FALSE;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value)) {
            value = G_MAXUINT64 / 10; /* stays too large, whatever follows */
        }
    }
    *number = value;
    return TRUE;
}

static int order(gint64 a, gint64 b) { return (a > b) - (a < b); }

static int order_of_bytes(const char *a, gsize a_length, const char *b, gsize b_length) {
    int by_bytes = memcmp(a, b, MIN(a_length, b_length));
    return by_bytes != 0 ? by_bytes : (a_length > b_length) - (a_length < b_length);
}

static int order_of_texts(guint32 a, guint32 b, const SpanTexts *texts) {
    if (a == b || texts == NULL) return order(a, b);
    gsize a_length, b_length;
    const char *a_text = texts->text(texts->arg, a, &a_length), *b_text = texts->text(texts->arg, b, &b_length);
    return order_of_bytes(a_text, a_length, b_text, b_length);
}

static int compare_heads(const SpanRec *a, const SpanRec *b, const SpanTexts *texts) {
    int by_head = order(a->begin_ns, b->begin_ns);
    if (by_head == 0) by_head = order(a->duration_ns, b->duration_ns);
    if (by_head == 0) by_head = order_of_texts(a->name, b->name, texts);
    if (by_head == 0) by_head = order_of_texts(a->tracer, b->tracer, texts);
    if (by_head == 0) by_head = order(a->flags, b->flags);
    if (by_head == 0) by_head = order(a->n_parents, b->n_parents);
    if (by_head == 0) by_head = order(a->n_annotations, b->n_annotations);
    if (by_head == 0) by_head = order(a->n_notes, b->n_notes);
    return by_head;
}

/* Of records with equal heads. */
static int compare_rests(const SpanRec *a, const SpanRec *b, const SpanTexts *texts) {
    int by_rest = 0;
    for (guint i = 0; i < a->n_parents && by_rest == 0; i++)
        by_rest = span_id_compare(span_parents(a)[i], span_parents(b)[i]);

    SpanCursor at_a = span_cursor(a), at_b = span_cursor(b);
    SpanAnnotation x, y;
    while (by_rest == 0 && span_next_annotation(&at_a, &x) && span_next_annotation(&at_b, &y)) {
        by_rest = order_of_texts(x.key, y.key, texts);
        if (by_rest == 0) by_rest = order_of_bytes(x.value, x.length, y.value, y.length);
    }

    SpanNote m, n;
    while (by_rest == 0 && span_next_note(&at_a, &m) && span_next_note(&at_b, &n)) {
        by_rest = order(m.time_ns, n.time_ns);
        if (by_rest == 0) by_rest = order_of_bytes(m.message, m.length, n.message, n.length);
    }
    return by_rest;
}

int span_rec_compare(const SpanRec *a, const SpanRec *b, const SpanTexts *texts) {
    int by_id = span_id_compare(a->id, b->id);
    if (by_id != 0) return by_id;
    /* One content has one form, and most records that come twice are equal. */
    if (a->size_bytes == b->size_bytes && memcmp(a, b, a->size_bytes) == 0) return 0;
    int by_head = compare_heads(a, b, texts);
    return by_head != 0 ? by_head : compare_rests(a, b, texts);
}
