#include "bench/frame.h"

#include <string.h>

#include "common/base/bytes.h"
#include "common/model/id_place.h"
#include "common/wire/message.h"

/* Heads of compact fields and list elements: type in the lower half. */
enum { COMPACT_I32 = 5, COMPACT_I64 = 6, COMPACT_STRING = 8, COMPACT_LIST = 9, COMPACT_STRUCT = 12 };
#define FIRST_BYTES      4096u
#define SHORT_LIST       15u
#define MAX_VARINT_BYTES 10u
/* The version of the wire that brought packs as they are written here. */
#define PACKS_SINCE 3

static inline guint64 zigzag(gint64 value) { return (guint64)value << 1 ^ (guint64)(value >> 63); }

static inline guint8 *put_varint(guint8 *at, guint64 value) {
    for (; value >= 0x80; value >>= 7) *at++ = (guint8)(value | 0x80);
    *at++ = (guint8)value;
    return at;
}

/* Times since the epoch and random ids take 9 or 10 bytes: eight of them are made at once. */
static inline guint8 *put_long_varint(guint8 *at, guint64 value) {
    if (value >> 56 == 0) return put_varint(at, value);
    guint64 x = value & G_GUINT64_CONSTANT(0x00ffffffffffffff);
    x = (x & 0x0fffffff) | (x & G_GUINT64_CONSTANT(0x00fffffff0000000)) << 4;
    x = (x & G_GUINT64_CONSTANT(0x00003fff00003fff)) | (x & G_GUINT64_CONSTANT(0x0fffc0000fffc000)) << 2;
    x = (x & G_GUINT64_CONSTANT(0x007f007f007f007f)) | (x & G_GUINT64_CONSTANT(0x3f803f803f803f80)) << 1;
    x = GUINT64_TO_LE(x | G_GUINT64_CONSTANT(0x8080808080808080));
    memcpy(at, &x, sizeof x);
    at += 8;
    value >>= 56;
    if (value >= 0x80) *at++ = (guint8)(value | 0x80);
    *at++ = (guint8)(value >= 0x80 ? 1 : value);
    return at;
}

Frame *frame_new(FramePool *pool, guint32 kind, gboolean packed) {
    if (pool->free[kind] == NULL) pool->free[kind] = g_ptr_array_new();
    GPtrArray *free = pool->free[kind];
    Frame *frame = free->len > 0 ? g_ptr_array_steal_index_fast(free, free->len - 1) : NULL;

    if (frame == NULL) {
        frame = g_new0(Frame, 1);
        frame->strings = g_malloc(FIRST_BYTES);
        frame->strings_capacity = FIRST_BYTES;
        frame->head = g_byte_array_new();
        frame->spans = g_malloc(FIRST_BYTES);
        frame->capacity_bytes = FIRST_BYTES;
        frame->kind = kind;
    }

    frame->spans_bytes = frame->strings_bytes = frame->n_strings = frame->n_spans = 0;
    frame->mark.place = 0;
    frame->packed = packed;
    frame->n_shapes = 0;
    frame->last_trace = frame->last_place = frame->last_parent = frame->last_begin = 0;
    frame->refs = 1;
    frame->acknowledged = 0;
    frame->late = FALSE;
    return frame;
}

static void frame_destroy(Frame *frame) {
    g_free(frame->strings);
    g_byte_array_unref(frame->head);
    g_free(frame->spans);
    g_free(frame);
}

void frame_release(FramePool *pool, Frame *frame) {
    if (--frame->refs == 0) g_ptr_array_add(pool->free[frame->kind], frame);
}

void frame_pool_clear(FramePool *pool) {
    for (guint kind = 0; kind < FRAME_KINDS; kind++) {
        if (pool->free[kind] == NULL) continue;
        for (guint i = 0; i < pool->free[kind]->len; i++) frame_destroy(pool->free[kind]->pdata[i]);
        g_ptr_array_free(g_steal_pointer(&pool->free[kind]), TRUE);
    }
}

guint32 frame_add_string(Frame *frame, const char *text, guint32 length, guint64 number) {
    const guint32 n_digits = number != 0 ? 10 : 0, most = length + n_digits + 5;
    if (frame->strings_bytes + most > frame->strings_capacity) {
        frame->strings_capacity = 2 * (frame->strings_bytes + most);
        frame->strings = g_realloc(frame->strings, frame->strings_capacity);
    }
    guint8 *at = put_varint(frame->strings + frame->strings_bytes, length + n_digits);
    memcpy(at, text, length);
    at += length;
    for (guint i = n_digits; i > 0; i--, number /= 10) at[i - 1] = (guint8)('0' + number % 10);
    frame->strings_bytes = (guint32)(at + n_digits - frame->strings);
    return frame->n_strings++;
}

/* Room for a span: its own fields, and what each value and note takes at most. */
#define SPAN_MOST_BYTES  192u
#define ENTRY_MOST_BYTES 320u

static guint8 *reserve(Frame *frame, const FrameSpan *span) {
    const guint32 most = SPAN_MOST_BYTES + (span->n_values + span->n_notes) * ENTRY_MOST_BYTES;
    if (frame->spans_bytes + most > frame->capacity_bytes) {
        frame->capacity_bytes = MAX(frame->capacity_bytes + frame->capacity_bytes / 2, frame->spans_bytes + most);
        frame->spans = g_realloc(frame->spans, frame->capacity_bytes);
    }
    return frame->spans + frame->spans_bytes;
}

static guint8 *put_list_head(guint8 *at, guint32 n, guint8 type) {
    if (n < SHORT_LIST) {
        *at++ = (guint8)(n << 4 | type);
        return at;
    }
    *at++ = (guint8)(SHORT_LIST << 4 | type);
    return put_varint(at, n);
}

static guint8 *put_bytes(guint8 *at, const char *text, guint32 length) {
    at = put_varint(at, length);
    memcpy(at, text, length);
    return at + length;
}

static guint8 *put_text(guint8 *at, const char *text, guint32 length) {
    *at++ = 1 << 4 | COMPACT_STRING;
    return put_bytes(at, text, length);
}

/* ---- as structs ---- */

static guint8 *put_long_field(guint8 *at, gint64 value) {
    *at++ = 1 << 4 | COMPACT_I64;
    return put_long_varint(at, zigzag(value));
}

static guint8 *put_list(guint8 *at, guint field, guint *last, guint n) {
    *at++ = (guint8)((field - *last) << 4 | COMPACT_LIST);
    *last = field;
    return put_list_head(at, n, COMPACT_STRUCT);
}

static guint8 *put_fixed(guint8 *at, const FrameSpan *span, guint *last) {
    at = put_long_field(at, (gint64)id_at_place(span->trace));
    at = put_long_field(at, (gint64)id_at_place(span->place));
    at = put_long_field(at, span->begin_ns);
    at = put_long_field(at, span->duration_ns);
    *at++ = 1 << 4 | COMPACT_I32;
    at = put_varint(at, zigzag(span->name));
    *at++ = 1 << 4 | COMPACT_I32;
    at = put_varint(at, zigzag(span->tracer));
    *last = span->parent != 0 ? 7 : 6;
    return span->parent != 0 ? put_long_field(at, (gint64)id_at_place(span->parent)) : at;
}

static guint8 *put_struct(guint8 *at, const FrameSpan *span) {
    guint last;
    at = put_fixed(at, span, &last);

    if (span->n_values > 0) at = put_list(at, 9, &last, span->n_values);
    for (guint i = 0; i < span->n_values; i++) {
        const FrameValue *value = &span->values[i];
        const char digit = (char)('0' + value->number);
        *at++ = 1 << 4 | COMPACT_I32;
        at = put_varint(at, zigzag(value->key));
        at = value->is_number ? put_text(at, &digit, 1) : put_text(at, value->text, value->length);
        *at++ = 0;
    }

    if (span->n_notes > 0) at = put_list(at, 10, &last, span->n_notes);
    for (guint i = 0; i < span->n_notes; i++) {
        at = put_long_field(at, span->notes[i].time_ns);
        at = put_text(at, span->notes[i].text, span->notes[i].length);
        *at++ = 0;
    }

    if (span->milliseconds) {
        *at++ = (guint8)((11 - last) << 4 | COMPACT_I32);
        at = put_varint(at, zigzag(SPAN_MILLISECONDS));
    }

    *at++ = 0;
    return at;
}

/* ---- as a pack (idl/plumb.thrift) ---- */

enum {
    SAME_TRACE = 1,
    SAME_PARENT = 2,
    ONE_PARENT = 4,
    PARENT_NEAR = 6,
    LISTS = 8,
    MILLISECONDS = 16,
    SPAN_NEAR = 32,
    TRACE_NEAR = 64
};
/* Places are near when their difference is shorter than an id. */
#define NEAR_MOST ((guint64)1 << 49)

static guint8 *put_u64le(guint8 *at, guint64 value) {
    value = GUINT64_TO_LE(value);
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

/* The names of the pack are the batch's strings, in their order. */
static guint8 *put_definition(guint8 *at, const FrameSpan *span) {
    if (span->shape != NULL) {
        at = put_varint(at, span->name + 1);
    } else {
        guint64 number = span->number;
        *at++ = 0;
        at = put_varint(at, span->block->length + 10u);
        memcpy(at, span->block->text, span->block->length);
        at += span->block->length + 10;
        for (guint i = 1; i <= 10; i++, number /= 10) at[-(gint)i] = (guint8)('0' + number % 10);
    }
    at = put_varint(at, span->tracer + 1);
    at = put_varint(at, span->n_values);
    for (guint i = 0; i < span->n_values; i++) {
        *at++ = span->values[i].is_number ? 1 : 0;
        at = put_varint(at, span->values[i].key + 1);
    }
    return at;
}

static guint8 *put_shape(Frame *frame, guint8 *at, const FrameSpan *span) {
    if (span->shape != NULL && *span->shape != 0) return put_varint(at, *span->shape);
    if (span->shape != NULL) *span->shape = (guint16)++frame->n_shapes;
    return put_definition(put_varint(at, span->shape != NULL ? frame->n_shapes : 0), span);
}

/* The bit when the id is near the other place, and the id. */
static inline guint8 put_id(guint8 **at, guint64 place, guint64 other, guint8 bit) {
    const guint64 difference = zigzag((gint64)(place - other));
    if (difference < NEAR_MOST) {
        *at = put_varint(*at, difference);
        return bit;
    }
    *at = put_u64le(*at, id_at_place(place));
    return 0;
}

static guint8 *put_ids(Frame *frame, guint8 *at, const FrameSpan *span) {
    guint8 *const start = at++;
    guint8 bits = span->milliseconds ? MILLISECONDS : 0;

    if (frame->last_trace == span->trace)
        bits |= SAME_TRACE;
    else
        bits |= put_id(&at, span->trace, frame->last_place, TRACE_NEAR);
    bits |= put_id(&at, span->place, frame->last_place, SPAN_NEAR);

    if (span->parent == 0) {
        if (span->n_notes > 0) *at++ = 0;
    } else if (span->parent == frame->last_parent) {
        bits |= SAME_PARENT;
    } else {
        bits |= ONE_PARENT | put_id(&at, span->parent, span->place, PARENT_NEAR);
        frame->last_parent = span->parent;
    }

    frame->last_trace = span->trace;
    frame->last_place = span->place;
    *start = span->n_notes > 0 ? bits | LISTS : bits;
    return at;
}

static guint8 *put_packed(Frame *frame, guint8 *at, const FrameSpan *span) {
    const gboolean first = span->shape == NULL || *span->shape == 0;

    at = put_shape(frame, at, span);
    at = put_ids(frame, at, span);
    at = put_varint(at, zigzag((gint64)((guint64)span->begin_ns - frame->last_begin)));
    at = put_varint(at, zigzag(span->duration_ns));
    frame->last_begin = (guint64)span->begin_ns;

    for (guint i = 0; i < span->n_values; i++) {
        const FrameValue *value = &span->values[i];
        if (value->is_number) {
            at = put_varint(at, zigzag(value->number - (first ? 0 : value->before)));
        } else if (value->same && !first) {
            *at++ = 0;
        } else {
            at = put_varint(at, value->length + 1);
            memcpy(at, value->text, value->length);
            at += value->length;
        }
    }

    if (span->n_notes > 0) at = put_varint(at, span->n_notes);
    for (guint i = 0; i < span->n_notes; i++) {
        at = put_varint(at, zigzag(span->notes[i].time_ns - span->begin_ns));
        at = put_bytes(at, span->notes[i].text, span->notes[i].length);
    }
    return at;
}

void frame_add_span(Frame *frame, const FrameSpan *span) {
    guint8 *at = reserve(frame, span);
    at = frame->packed ? put_packed(frame, at, span) : put_struct(at, span);
    frame->spans_bytes = (guint32)(at - frame->spans);
    /* One without texts may be said twice; not always the first. */
    if (span->n_values + span->n_notes == 0 && span->shape != NULL &&
        (frame->mark.place == 0 || frame->n_spans % 37 == 5))
        frame->mark = *span;
    frame->n_spans++;
}

guint frame_repeat_one(Frame *frame, guint n) {
    if (frame->mark.place == 0) return 0;
    const FrameSpan again = frame->mark;
    for (guint i = 0; i < n; i++) frame_add_span(frame, &again);
    return n;
}

static guint8 *put_i64(guint8 *at, guint64 value) {
    *at++ = 1 << 4 | COMPACT_I64;
    return put_varint(at, zigzag((gint64)value));
}

/* Sender and drops: field 5, in a short head after the spans and in a long one after the packs. */
static void close_tail(Frame *frame, const FrameSender *sender) {
    guint8 *at = frame->tail;
    *at++ = frame->packed ? COMPACT_STRUCT : 1 << 4 | COMPACT_STRUCT;
    if (frame->packed) at = put_varint(at, zigzag(5));
    at = put_text(at, sender->id, (guint32)strlen(sender->id));
    at = put_i64(at, sender->sequence);
    at = put_i64(at, sender->spans_sent);
    at = put_i64(at, sender->spans_queued);
    if (sender->dropped > 0) {
        *at++ = 1 << 4 | COMPACT_LIST;
        at = put_list_head(at, 1, COMPACT_STRUCT);
        at = put_text(at, "queue full", 10);
        at = put_i64(at, sender->dropped);
        *at++ = 0;
    }
    memset(at, 0, 3); /* ends of sender, batch and arguments */
    frame->tail_bytes = (guint32)(at + 3 - frame->tail);
}

static void append_to_head(Frame *frame, const guint8 *from, const guint8 *until) {
    g_byte_array_append(frame->head, from, (guint)(until - from));
}

/* An empty list of structs, a list of one pack, and the pack's numbers of spans and names. */
static void append_pack_head(Frame *frame) {
    g_autofree guint8 *names = g_malloc(2 * MAX_VARINT_BYTES + (gsize)frame->n_strings * MAX_VARINT_BYTES);
    guint8 *at = put_varint(put_varint(names, frame->n_spans), frame->n_strings);
    for (guint32 i = 0; i < frame->n_strings; i++) at = put_varint(at, i);
    guint8 start[32], *head = start;
    *head++ = 1 << 4 | COMPACT_LIST;
    *head++ = COMPACT_STRUCT;
    *head++ = 2 << 4 | COMPACT_LIST;
    *head++ = 1 << 4 | COMPACT_STRING;
    head = put_varint(head, (guint64)(at - names) + frame->spans_bytes);
    append_to_head(frame, start, head);
    append_to_head(frame, names, at);
}

void frame_close_batch(Frame *frame, const FrameSender *sender) {
    guint8 start[64] = {0}, *at = start + FRAME_HEADER_BYTES;
    *at++ = 0x82;
    *at++ = 1 << 5 | 1; /* a call, version 1 */
    at = put_bytes(put_varint(at, (guint32)sender->sequence), "submit", 6);
    *at++ = 1 << 4 | COMPACT_STRUCT;
    *at++ = 1 << 4 | COMPACT_I32;
    at = put_varint(at, zigzag(WIRE_VERSION));

    if (frame->packed) {
        *at++ = 1 << 4 | COMPACT_I32;
        at = put_varint(at, zigzag(PACKS_SINCE));
    }
    *at++ = (guint8)((frame->packed ? 1 : 2) << 4 | COMPACT_LIST);
    at = put_list_head(at, frame->n_strings, COMPACT_STRING);

    g_byte_array_set_size(frame->head, 0);
    append_to_head(frame, start, at);
    append_to_head(frame, frame->strings, frame->strings + frame->strings_bytes);

    at = start;
    *at++ = 1 << 4 | COMPACT_LIST;
    at = put_list_head(at, frame->n_spans, COMPACT_STRUCT);
    if (frame->packed)
        append_pack_head(frame);
    else
        append_to_head(frame, start, at);

    frame->sequence = sender->sequence;
    close_tail(frame, sender);
    const guint32 length = GUINT32_TO_BE((guint32)(frame_bytes(frame) - FRAME_HEADER_BYTES));
    memcpy(frame->head->data, &length, sizeof length);
}
