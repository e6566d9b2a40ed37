#include "bench/frame.h"

#include <string.h>

#include "common/base/bytes.h"
#include "common/wire/message.h"

/* Heads of compact fields and list elements: type in the lower half. */
enum { COMPACT_I32 = 5, COMPACT_I64 = 6, COMPACT_STRING = 8, COMPACT_LIST = 9, COMPACT_STRUCT = 12 };
#define FIRST_BYTES 4096u
#define SHORT_LIST  15u

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

EncodedId encoded_id(guint64 id) {
    EncodedId encoded = {.length = 0};
    encoded.length = (guint8)(put_long_varint(encoded.bytes, zigzag((gint64)id)) - encoded.bytes);
    return encoded;
}

Frame *frame_new(FramePool *pool, guint32 kind) {
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
    frame->spans_bytes = frame->strings_bytes = frame->n_strings = frame->n_spans = frame->mark_bytes = 0;
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

guint8 *frame_reserve(Frame *frame, guint32 most) {
    if (frame->spans_bytes + most > frame->capacity_bytes) {
        frame->capacity_bytes = MAX(frame->capacity_bytes + frame->capacity_bytes / 2, frame->spans_bytes + most);
        frame->spans = g_realloc(frame->spans, frame->capacity_bytes);
    }
    return frame->spans + frame->spans_bytes;
}

static inline guint8 *put_encoded(guint8 *at, const EncodedId *id) {
    memcpy(at, id->bytes, sizeof id->bytes);
    return at + id->length;
}

guint8 *frame_put_span(guint8 *at, const FrameSpan *span, guint *last) {
    *at++ = 1 << 4 | COMPACT_I64;
    at = put_encoded(at, span->trace);
    *at++ = 1 << 4 | COMPACT_I64;
    at = put_encoded(at, span->id);
    *at++ = 1 << 4 | COMPACT_I64;
    at = put_long_varint(at, zigzag(span->begin_ns));
    *at++ = 1 << 4 | COMPACT_I64;
    at = put_varint(at, zigzag(span->duration_ns));
    *at++ = 1 << 4 | COMPACT_I32;
    at = put_varint(at, zigzag(span->name));
    *at++ = 1 << 4 | COMPACT_I32;
    at = put_varint(at, zigzag(span->tracer));
    *last = 6;
    if (span->parent->length == 0) return at;
    *at++ = 1 << 4 | COMPACT_I64;
    *last = 7;
    return put_encoded(at, span->parent);
}

static guint8 *put_list_head(guint8 *at, guint32 n, guint8 type) {
    if (n < SHORT_LIST) {
        *at++ = (guint8)(n << 4 | type);
        return at;
    }
    *at++ = (guint8)(SHORT_LIST << 4 | type);
    return put_varint(at, n);
}

guint8 *frame_put_list(guint8 *at, guint field, guint *last, guint n) {
    *at++ = (guint8)((field - *last) << 4 | COMPACT_LIST);
    *last = field;
    return put_list_head(at, n, COMPACT_STRUCT);
}

static guint8 *put_text(guint8 *at, const char *text, guint32 length) {
    *at++ = 1 << 4 | COMPACT_STRING;
    at = put_varint(at, length);
    memcpy(at, text, length);
    return at + length;
}

guint8 *frame_put_value(guint8 *at, guint32 key, const char *text, guint32 length) {
    *at++ = 1 << 4 | COMPACT_I32;
    at = put_varint(at, zigzag(key));
    at = put_text(at, text, length);
    *at++ = 0;
    return at;
}

guint8 *frame_put_note(guint8 *at, gint64 time_ns, const char *text, guint32 length) {
    *at++ = 1 << 4 | COMPACT_I64;
    at = put_long_varint(at, zigzag(time_ns));
    at = put_text(at, text, length);
    *at++ = 0;
    return at;
}

void frame_end_span(Frame *frame, guint8 *at, guint last, gboolean milliseconds) {
    if (milliseconds) {
        *at++ = (guint8)((11 - last) << 4 | COMPACT_I32);
        at = put_varint(at, zigzag(SPAN_MILLISECONDS));
    }
    *at++ = 0;
    const guint32 end = (guint32)(at - frame->spans);
    /* Any but the first will do, as long as it is not always the same. */
    if (frame->mark_bytes == 0 || frame->n_spans % 37 == 5) {
        frame->mark_at = frame->spans_bytes;
        frame->mark_bytes = end - frame->spans_bytes;
    }
    frame->spans_bytes = end;
    frame->n_spans++;
}

void frame_repeat_marked(Frame *frame, guint n) {
    for (guint i = 0; i < n; i++) {
        guint8 *at = frame_reserve(frame, frame->mark_bytes);
        memcpy(at, frame->spans + frame->mark_at, frame->mark_bytes);
        frame->spans_bytes += frame->mark_bytes;
        frame->n_spans++;
    }
}

static guint8 *put_i64(guint8 *at, guint64 value) {
    *at++ = 1 << 4 | COMPACT_I64;
    return put_varint(at, zigzag((gint64)value));
}

static void close_tail(Frame *frame, const FrameSender *sender) {
    guint8 *at = frame->tail;
    *at++ = 1 << 4 | COMPACT_STRUCT; /* field 5, after the spans */
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

void frame_close_batch(Frame *frame, const FrameSender *sender) {
    guint8 start[64] = {0}, *at = start + FRAME_HEADER_BYTES;
    *at++ = 0x82;
    *at++ = 1 << 5 | 1; /* a call, version 1 */
    at = put_varint(at, (guint32)sender->sequence);
    at = put_varint(at, 6);
    memcpy(at, "submit", 6);
    at += 6;
    *at++ = 1 << 4 | COMPACT_STRUCT;
    *at++ = 1 << 4 | COMPACT_I32;
    at = put_varint(at, zigzag(WIRE_VERSION));
    *at++ = 2 << 4 | COMPACT_LIST;
    at = put_list_head(at, frame->n_strings, COMPACT_STRING);
    g_byte_array_set_size(frame->head, 0);
    g_byte_array_append(frame->head, start, (guint)(at - start));
    g_byte_array_append(frame->head, frame->strings, frame->strings_bytes);
    at = start;
    *at++ = 1 << 4 | COMPACT_LIST;
    at = put_list_head(at, frame->n_spans, COMPACT_STRUCT);
    g_byte_array_append(frame->head, start, (guint)(at - start));
    frame->sequence = sender->sequence;
    close_tail(frame, sender);
    const guint32 length = GUINT32_TO_BE((guint32)(frame_bytes(frame) - FRAME_HEADER_BYTES));
    memcpy(frame->head->data, &length, sizeof length);
}
