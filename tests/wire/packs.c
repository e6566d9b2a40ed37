#include "tests/wire/packs.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/model/id_place.h"

typedef struct Value {
    guint32 key;
    gboolean is_number;
    gint64 number;
    BatchString text;
} Value;

typedef struct Shape {
    guint32 name, tracer;
    GArray *values; /* Value */
} Shape;

typedef struct Writer {
    GRand *rand;
    const SpanBatch *batch;
    GByteArray *out;
    guint n_names;     /* of the batch's strings, the first so many are the pack's names, in reverse */
    GPtrArray *shapes; /* Shape */
    guint64 trace, span, parent;
    gint64 begin_ns;
    gboolean near; /* may ids be near, and parents beside lists? */
} Writer;

void pack_varint(GByteArray *out, guint64 value) {
    for (; value >= 0x80; value >>= 7) append_u8(out, (guint8)(value | 0x80));
    append_u8(out, (guint8)value);
}

void pack_signed(GByteArray *out, gint64 value) { pack_varint(out, (guint64)value << 1 ^ (guint64)(value >> 63)); }

void pack_u64(GByteArray *out, guint64 value) {
    const guint64 little = GUINT64_TO_LE(value);
    append_bytes(out, &little, sizeof little);
}

static gint64 wrapped(gint64 a, gint64 b) { return (gint64)((guint64)a - (guint64)b); }

static gboolean chance(Writer *w, gint32 one_in) { return g_rand_int_range(w->rand, 0, one_in) == 0; }

static void put_text(Writer *w, BatchString text, guint plus) {
    pack_varint(w->out, (guint64)text.length + plus);
    append_bytes(w->out, text.data, text.length);
}

static void put_name(Writer *w, guint32 index) {
    if (index < w->n_names && !chance(w, 20)) {
        pack_varint(w->out, w->n_names - index);
        return;
    }
    pack_varint(w->out, 0);
    put_text(w, batch_string(w->batch, index), 0);
}

/* Exactly what the digits of a number would be? */
static gboolean as_number(BatchString text, gint64 *number) {
    if (text.length == 0 || text.length > 20) return FALSE;
    g_autofree char *copy = g_strndup(text.data, text.length);
    *number = g_ascii_strtoll(copy, NULL, 10);
    g_autofree char *again = g_strdup_printf("%" G_GINT64_FORMAT, *number);
    return strcmp(copy, again) == 0;
}

static void shape_free(gpointer data) {
    Shape *shape = data;
    g_array_unref(shape->values);
    g_free(shape);
}

static Shape *shape_of(Writer *w, const BatchSpan *span) {
    Shape *shape = g_new0(Shape, 1);
    shape->name = span->name;
    shape->tracer = span->tracer;
    shape->values = g_array_new(FALSE, FALSE, sizeof(Value));
    for (guint32 i = 0; i < span->n_annotations; i++) {
        const BatchAnnotation *a = &g_array_index(w->batch->annotations, BatchAnnotation, span->annotations_at + i);
        gint64 number;
        const Value value = {.key = a->key, .is_number = as_number(a->value, &number) && !chance(w, 5)};
        g_array_append_val(shape->values, value);
    }
    return shape;
}

static gboolean shape_fits(Writer *w, const Shape *shape, const BatchSpan *span) {
    if (shape->name != span->name || shape->tracer != span->tracer || shape->values->len != span->n_annotations)
        return FALSE;
    for (guint32 i = 0; i < span->n_annotations; i++) {
        const BatchAnnotation *a = &g_array_index(w->batch->annotations, BatchAnnotation, span->annotations_at + i);
        const Value *value = &g_array_index(shape->values, Value, i);
        gint64 number;
        if (value->key != a->key || (value->is_number && !as_number(a->value, &number))) return FALSE;
    }
    return TRUE;
}

static Shape *put_shape(Writer *w, const BatchSpan *span, gboolean *alone) {
    *alone = chance(w, 6);
    for (guint i = 0; i < w->shapes->len && !*alone; i++) {
        Shape *known = g_ptr_array_index(w->shapes, i);
        if (!shape_fits(w, known, span)) continue;
        pack_varint(w->out, i + 1);
        return known;
    }

    Shape *shape = shape_of(w, span);
    if (!*alone) g_ptr_array_add(w->shapes, shape);
    pack_varint(w->out, *alone ? 0 : w->shapes->len);
    put_name(w, shape->name);
    put_name(w, shape->tracer);
    pack_varint(w->out, shape->values->len);

    for (guint i = 0; i < shape->values->len; i++) {
        const Value *value = &g_array_index(shape->values, Value, i);
        append_u8(w->out, value->is_number ? 1 : 0);
        put_name(w, value->key);
    }
    return shape;
}

static void put_parents(Writer *w, const BatchSpan *span) {
    pack_varint(w->out, span->n_parents);
    for (guint32 i = 0; i < span->n_parents; i++) {
        const SpanId parent = g_array_index(w->batch->parents, SpanId, span->parents_at + i);
        pack_u64(w->out, parent.trace);
        pack_u64(w->out, parent.span);
    }
}

/* An id that is near another only now and then: both forms say any id. */
static guint8 choose_near(Writer *w, guint8 bit) { return w->near && g_rand_boolean(w->rand) ? bit : 0; }

static void put_id(Writer *w, guint64 id, guint8 near, guint64 other) {
    if (near != 0)
        pack_signed(w->out, (gint64)(id_place(id) - id_place(other)));
    else
        pack_u64(w->out, id);
}

/* Returns the bits. */
static guint8 put_ids(Writer *w, const BatchSpan *span) {
    const SpanId *first = &g_array_index(w->batch->parents, SpanId, span->parents_at);
    const gboolean one = span->n_parents == 1 && first->trace == span->id.trace;
    guint8 bits = span->flags != 0 ? 16 : 0;

    bits |= span->id.trace == w->trace && !chance(w, 9) ? 1 : choose_near(w, 64);
    if (span->n_notes > 0 || (span->n_parents > 0 && !one) || chance(w, 30)) bits |= 8;
    if (one && ((bits & 8) == 0 || choose_near(w, 1) != 0))
        bits |= first->span == w->parent ? 2 : 4 | choose_near(w, 2);
    bits |= choose_near(w, 32);

    append_u8(w->out, bits);
    if ((bits & 1) == 0) put_id(w, span->id.trace, bits & 64, w->span);
    put_id(w, span->id.span, bits & 32, w->span);
    if ((bits & 4) != 0) {
        put_id(w, first->span, bits & 2, span->id.span);
        w->parent = first->span;
    }
    if ((bits & (2 | 4 | 8)) == 8) put_parents(w, span);

    w->trace = span->id.trace;
    w->span = span->id.span;
    return bits;
}

static void put_value(Writer *w, Value *value, BatchString text) {
    gint64 number;
    if (value->is_number && as_number(text, &number)) {
        pack_signed(w->out, wrapped(number, value->number));
        value->number = number;
        return;
    }
    const gboolean same = value->text.data != NULL && value->text.length == text.length &&
                          memcmp(value->text.data, text.data, text.length) == 0;
    if (same && !chance(w, 5))
        pack_varint(w->out, 0);
    else
        put_text(w, text, 1);
    value->text = text;
}

static void put_span(Writer *w, const BatchSpan *span) {
    gboolean alone;
    Shape *shape = put_shape(w, span, &alone);
    const guint8 bits = put_ids(w, span);
    pack_signed(w->out, wrapped(span->begin_ns, w->begin_ns));
    pack_signed(w->out, span->duration_ns);
    w->begin_ns = span->begin_ns;
    for (guint32 i = 0; i < span->n_annotations; i++) {
        const BatchAnnotation *a = &g_array_index(w->batch->annotations, BatchAnnotation, span->annotations_at + i);
        put_value(w, &g_array_index(shape->values, Value, i), a->value);
    }
    if ((bits & 8) != 0) pack_varint(w->out, span->n_notes);
    for (guint32 i = 0; i < span->n_notes; i++) {
        const BatchNote *note = &g_array_index(w->batch->notes, BatchNote, span->notes_at + i);
        pack_signed(w->out, wrapped(note->time_ns, span->begin_ns));
        put_text(w, note->message, 0);
    }
    if (alone) shape_free(shape);
}

static GByteArray *pack_of(GRand *rand, const SpanBatch *batch, guint from, guint to, gboolean near) {
    Writer w = {.rand = rand, .batch = batch, .out = g_byte_array_new(), .near = near};
    w.shapes = g_ptr_array_new_with_free_func(shape_free);
    w.n_names = (guint)g_rand_int_range(rand, 0, (gint32)batch->strings->len + 1);
    pack_varint(w.out, to - from);
    pack_varint(w.out, w.n_names);
    for (guint i = w.n_names; i > 0; i--) pack_varint(w.out, i - 1);
    for (guint i = from; i < to; i++) put_span(&w, batch_span(batch, i));
    g_ptr_array_unref(w.shapes);
    return w.out;
}

GPtrArray *packs_random(GRand *rand, const SpanBatch *batch, gint32 version) {
    GPtrArray *packs = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    for (guint from = 0; from < batch->spans->len;) {
        const guint to = (guint)g_rand_int_range(rand, (gint32)from, (gint32)batch->spans->len + 1);
        g_ptr_array_add(packs, pack_of(rand, batch, from, to, version > 2));
        from = to;
    }
    return packs;
}
