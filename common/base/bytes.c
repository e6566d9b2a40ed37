#include "common/base/bytes.h"

static const guint8 *take(ByteReader *r, gsize size_bytes) {
    if (r->failed || reader_left(r) < size_bytes) {
        r->failed = TRUE;
        return NULL;
    }
    const guint8 *at = r->at;
    r->at += size_bytes;
    return at;
}

guint64 read_varint(ByteReader *r) {
    guint64 value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const guint8 *byte = take(r, 1);
        if (byte == NULL) return 0;
        /* The tenth byte holds the last bit only. */
        if (shift == 63 && *byte > 1) break;
        value |= (guint64)(*byte & 0x7f) << shift;
        if ((*byte & 0x80) == 0) return value;
    }
    r->failed = TRUE;
    return 0;
}

gint64 read_zigzag(ByteReader *r) {
    guint64 coded = read_varint(r);
    return (gint64)(coded >> 1) ^ -(gint64)(coded & 1);
}

static guint64 read_be(ByteReader *r, gsize size_bytes) {
    const guint8 *at = take(r, size_bytes);
    if (at == NULL) return 0;
    guint64 value = 0;
    for (gsize i = 0; i < size_bytes; i++) value = value << 8 | at[i];
    return value;
}

guint8 read_u8(ByteReader *r) { return (guint8)read_be(r, 1); }
guint16 read_u16be(ByteReader *r) { return (guint16)read_be(r, 2); }
guint32 read_u32be(ByteReader *r) { return (guint32)read_be(r, 4); }
guint64 read_u64be(ByteReader *r) { return read_be(r, 8); }
const guint8 *read_bytes(ByteReader *r, gsize size_bytes) { return take(r, size_bytes); }

void append_bytes(GByteArray *out, const void *data, gsize size_bytes) {
    g_byte_array_append(out, data, (guint)size_bytes);
}

void append_varint(GByteArray *out, guint64 value) {
    guint8 coded[10];
    guint size = 0;
    while (value >= 0x80) {
        coded[size++] = (guint8)(value | 0x80);
        value >>= 7;
    }
    coded[size++] = (guint8)value;
    g_byte_array_append(out, coded, size);
}

void append_zigzag(GByteArray *out, gint64 value) { append_varint(out, (guint64)value << 1 ^ (guint64)(value >> 63)); }

static void append_be(GByteArray *out, guint64 value, guint size_bytes) {
    guint8 coded[8];
    for (guint i = 0; i < size_bytes; i++) coded[i] = (guint8)(value >> (8 * (size_bytes - 1 - i)));
    g_byte_array_append(out, coded, size_bytes);
}

void append_u8(GByteArray *out, guint8 value) { append_be(out, value, 1); }
void append_u16be(GByteArray *out, guint16 value) { append_be(out, value, 2); }
void append_u32be(GByteArray *out, guint32 value) { append_be(out, value, 4); }
void append_u64be(GByteArray *out, guint64 value) { append_be(out, value, 8); }
