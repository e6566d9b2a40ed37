/* Writing Thrift's binary and compact protocol through a pointer. Private to common/wire.
 *
 * The room is made first: writer_begin() for the most that will be written, writer_end() gives back the rest. Inline,
 * as reading is. */
#pragma once

#include "common/wire/codec.h"

/* No field takes more, its value's text aside: head (3) and a varint of 64 bits (10). */
#define FIELD_BYTES 13u

typedef struct ThriftWriter {
    guint8 *at;
    gboolean compact;
    gint16 last; /* number of the field before, in the struct being written */
} ThriftWriter;

static inline ThriftWriter writer_begin(GByteArray *out, gsize most_bytes, WireProtocol protocol) {
    const guint length = out->len;
    g_assert(most_bytes <= G_MAXUINT - length);
    g_byte_array_set_size(out, length + (guint)most_bytes);
    return (ThriftWriter){.at = out->data + length, .compact = protocol == PROTOCOL_COMPACT};
}

static inline void writer_end(const ThriftWriter *w, GByteArray *out) {
    g_byte_array_set_size(out, (guint)(w->at - out->data));
}

static inline void put_be(ThriftWriter *w, guint64 value, guint size_bytes) {
    const guint64 big = GUINT64_TO_BE(value << (64 - 8 * size_bytes));
    memcpy(w->at, &big, size_bytes);
    w->at += size_bytes;
}

static inline void put_varint(ThriftWriter *w, guint64 value) {
    for (; value >= 0x80; value >>= 7) *w->at++ = (guint8)(value | 0x80);
    *w->at++ = (guint8)value;
}

static inline void put_size(ThriftWriter *w, guint32 size) {
    if (w->compact)
        put_varint(w, size);
    else
        put_be(w, size, 4);
}

static inline guint8 compact_type(ThriftTypeCode type) {
    switch (type) {
    case TYPE_I32: return 5;
    case TYPE_I64: return 6;
    case TYPE_DOUBLE: return 7;
    case TYPE_STRING: return 8;
    case TYPE_LIST: return 9;
    default: return 12; /* TYPE_STRUCT */
    }
}

/* Fields are written in ascending order and less than 16 apart, so the compact head is one byte. */
static inline void put_field(ThriftWriter *w, gint16 id, ThriftTypeCode type) {
    if (w->compact) {
        *w->at++ = (guint8)((id - w->last) << 4 | compact_type(type));
        w->last = id;
        return;
    }
    *w->at++ = (guint8)type;
    put_be(w, (guint16)id, 2);
}

static inline void put_stop(ThriftWriter *w) { *w->at++ = TYPE_STOP; }

static inline void put_i64(ThriftWriter *w, gint16 id, gint64 value) {
    put_field(w, id, TYPE_I64);
    if (w->compact)
        put_varint(w, (guint64)value << 1 ^ (guint64)(value >> 63));
    else
        put_be(w, (guint64)value, 8);
}

static inline void put_i32(ThriftWriter *w, gint16 id, gint32 value) {
    put_field(w, id, TYPE_I32);
    if (w->compact)
        put_varint(w, (guint32)value << 1 ^ (guint32)(value >> 31));
    else
        put_be(w, (guint32)value, 4);
}

static inline void put_text(ThriftWriter *w, BatchString text) {
    put_size(w, text.length);
    memcpy(w->at, text.data, text.length);
    w->at += text.length;
}

/* Type and number of a list's elements. */
static inline void put_elements(ThriftWriter *w, ThriftTypeCode type, guint32 n) {
    if (!w->compact) {
        *w->at++ = (guint8)type;
        put_be(w, n, 4);
    } else if (n < 15) {
        *w->at++ = (guint8)(n << 4 | compact_type(type));
    } else {
        *w->at++ = (guint8)(15 << 4 | compact_type(type));
        put_varint(w, n);
    }
}

static inline void put_list(ThriftWriter *w, gint16 id, ThriftTypeCode type, guint32 n) {
    put_field(w, id, TYPE_LIST);
    put_elements(w, type, n);
}

/* The place of a frame's length, and a message's head. */
static inline void put_head(ThriftWriter *w, const ThriftHead *head) {
    w->at += FRAME_HEADER_BYTES;
    if (w->compact) {
        *w->at++ = THRIFT_COMPACT_MARK;
        *w->at++ = (guint8)(head->kind << 5 | 1); /* version 1 */
        put_varint(w, (guint32)head->sequence);
        put_text(w, head->method);
    } else {
        put_be(w, 0x80010000 | head->kind, 4); /* version 1 */
        put_text(w, head->method);
        put_be(w, (guint32)head->sequence, 4);
    }
}

/* Fills in the length of the frame that begins there and ends where 'out' ends. */
static inline void frame_close(GByteArray *out, guint begin) {
    const guint32 length = GUINT32_TO_BE(out->len - begin - FRAME_HEADER_BYTES);
    memcpy(out->data + begin, &length, sizeof length);
}
