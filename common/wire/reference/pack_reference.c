#include "common/wire/reference/pack_reference.h"

#include <string.h>

#include "common/model/id_place.h"
#include "common/model/span.h"

/* One annotation of a shape: its key, and the last value, a number or a text. */
typedef struct Value {
    guint32 key;
    gboolean is_number;
    gint64 number;
    char *text;
} Value;

typedef struct Shape {
    guint32 name, tracer;
    GArray *values; /* Value */
} Shape;

typedef struct Cursor {
    const guint8 *at, *end;
    SpanBatch *batch;
    GArray *names;     /* guint32 */
    GPtrArray *shapes; /* Shape; owned */
} Cursor;

static guint8 take_byte(Cursor *c) { return c->at < c->end ? *c->at++ : 0; }

static guint64 take_varint(Cursor *c) {
    guint64 sum = 0;
    for (guint shift = 0; shift < 70; shift += 7) {
        const guint8 byte = take_byte(c);
        if (shift < 64) sum |= (guint64)(byte & 0x7f) << shift;
        if (byte < 0x80) break;
    }
    return sum;
}

/* 0, -1, 1, -2, ... */
static gint64 take_signed(Cursor *c) {
    const guint64 coded = take_varint(c);
    return coded % 2 == 0 ? (gint64)(coded / 2) : -(gint64)(coded / 2) - 1;
}

static gint64 wrapped_sum(gint64 a, gint64 b) { return (gint64)((guint64)a + (guint64)b); }

static guint64 take_u64(Cursor *c) {
    guint64 value = 0;
    for (guint i = 0; i < 8; i++) value |= (guint64)take_byte(c) << 8 * i;
    return value;
}

static char *take_text(Cursor *c, guint64 length) {
    GString *text = g_string_new(NULL);
    for (guint64 i = 0; i < length && c->at < c->end; i++) g_string_append_c(text, (char)take_byte(c));
    return g_string_free(text, FALSE);
}

static guint32 take_name(Cursor *c) {
    const guint64 number = take_varint(c);
    if (number > 0 && number <= c->names->len) return g_array_index(c->names, guint32, number - 1);
    g_autofree char *text = take_text(c, take_varint(c));
    const BatchString string = batch_copy(c->batch, text, strlen(text));
    g_array_append_val(c->batch->strings, string);
    return c->batch->strings->len - 1;
}

static void clear_value(gpointer data) { g_free(((Value *)data)->text); }

static void shape_free(gpointer data) {
    Shape *shape = data;
    g_array_unref(shape->values);
    g_free(shape);
}

static Shape *take_definition(Cursor *c) {
    Shape *shape = g_new0(Shape, 1);
    shape->values = g_array_new(FALSE, TRUE, sizeof(Value));
    g_array_set_clear_func(shape->values, clear_value);
    shape->name = take_name(c);
    shape->tracer = take_name(c);
    for (guint64 n = take_varint(c); n > 0 && c->at < c->end; n--) {
        Value value = {.is_number = take_byte(c) == 1};
        value.key = take_name(c);
        g_array_append_val(shape->values, value);
    }
    return shape;
}

static void take_value(Cursor *c, Value *value) {
    if (value->is_number) {
        value->number = wrapped_sum(value->number, take_signed(c));
        g_free(value->text);
        value->text = g_strdup_printf("%" G_GINT64_FORMAT, value->number);
    } else {
        const guint64 length = take_varint(c);
        if (length > 0) {
            g_free(value->text);
            value->text = take_text(c, length - 1);
        }
    }
    const char *text = value->text != NULL ? value->text : "";
    batch_add_annotation(c->batch, value->key, batch_copy(c->batch, text, strlen(text)));
}

typedef struct Last {
    guint64 trace, span, parent;
    gint64 begin_ns;
} Last;

static guint64 take_id(Cursor *c, gboolean near, guint64 other) {
    return near ? id_at_place(id_place(other) + (guint64)take_signed(c)) : take_u64(c);
}

static void take_span(Cursor *c, const Shape *shape, Last *last) {
    const guint8 bits = take_byte(c);
    if (!(bits & 1)) last->trace = take_id(c, bits & 64, last->span);
    last->span = take_id(c, bits & 32, last->span);

    BatchSpan *span = batch_begin_span(c->batch, (SpanId){last->trace, last->span});
    span->name = shape->name;
    span->tracer = shape->tracer;
    span->flags = bits & 16 ? SPAN_MILLISECONDS : 0;

    if (bits & 4) last->parent = take_id(c, bits & 2, last->span);
    if (bits & (2 | 4)) batch_add_parent(c->batch, (SpanId){last->trace, last->parent});
    for (guint64 n = (bits & (2 | 4 | 8)) == 8 ? take_varint(c) : 0; n > 0 && c->at < c->end; n--) {
        const guint64 trace = take_u64(c);
        batch_add_parent(c->batch, (SpanId){trace, take_u64(c)});
    }

    last->begin_ns = wrapped_sum(last->begin_ns, take_signed(c));
    span->begin_ns = last->begin_ns;
    span->duration_ns = take_signed(c);

    for (guint i = 0; i < shape->values->len; i++) take_value(c, &g_array_index(shape->values, Value, i));
    for (guint64 n = bits & 8 ? take_varint(c) : 0; n > 0 && c->at < c->end; n--) {
        const gint64 time_ns = wrapped_sum(last->begin_ns, take_signed(c));
        g_autofree char *text = take_text(c, take_varint(c));
        batch_add_note(c->batch, time_ns, batch_copy(c->batch, text, strlen(text)));
    }
}

void pack_reference(Bytes pack, SpanBatch *batch) {
    Cursor c = {.at = pack.data, .end = (const guint8 *)pack.data + pack.size_bytes, .batch = batch};
    Last last = {0, 0, 0, 0};
    c.names = g_array_new(FALSE, FALSE, sizeof(guint32));
    c.shapes = g_ptr_array_new_with_free_func(shape_free);

    guint64 n_spans = take_varint(&c);
    for (guint64 n = take_varint(&c); n > 0 && c.at < c.end; n--) {
        const guint32 index = (guint32)take_varint(&c);
        g_array_append_val(c.names, index);
    }

    for (; n_spans > 0 && c.at < c.end; n_spans--) {
        const guint64 number = take_varint(&c);
        if (number > 0 && number <= c.shapes->len) {
            take_span(&c, g_ptr_array_index(c.shapes, number - 1), &last);
            continue;
        }
        Shape *shape = take_definition(&c);
        take_span(&c, shape, &last);
        if (number > 0)
            g_ptr_array_add(c.shapes, shape);
        else
            shape_free(shape);
    }

    g_array_unref(c.names);
    g_ptr_array_unref(c.shapes);
}
