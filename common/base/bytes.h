/* Byte buffers: bounds-checked reading and appending of fixed and variable-length integers.
 *
 * Varints are LEB128 (7 bits a byte, low first, at most 10 bytes); signed ones are zig-zag coded first. Big-endian
 * fixed integers are for keys, whose byte order must be their numeric order. A reader that runs past its end or meets
 * an over-long varint sets 'failed' and returns 0 from then on: check once, at the end. */
#pragma once

#include <glib.h>
#include <string.h>

/* A borrowed view of memory. */
typedef struct Bytes {
    const void *data;
    gsize size_bytes;
} Bytes;

typedef struct ByteReader {
    const guint8 *at;
    const guint8 *end;
    gboolean failed;
} ByteReader;

static inline ByteReader byte_reader(const void *data, gsize size_bytes) {
    const guint8 *at = (const guint8 *)data;
    return (ByteReader){at, size_bytes > 0 ? at + size_bytes : at, FALSE}; /* no bytes may lie nowhere */
}
static inline gsize reader_left(const ByteReader *r) { return (gsize)(r->end - r->at); }

guint64 read_varint(ByteReader *r);
gint64 read_zigzag(ByteReader *r);
guint8 read_u8(ByteReader *r);
guint16 read_u16be(ByteReader *r);
guint32 read_u32be(ByteReader *r);
guint64 read_u64be(ByteReader *r);
/* Borrowed view of the next size_bytes, or NULL (and failed) when fewer are left. */
const guint8 *read_bytes(ByteReader *r, gsize size_bytes);

/* Appending never fails but by lack of memory, which ends the process (GLib). */
void append_varint(GByteArray *out, guint64 value);
void append_zigzag(GByteArray *out, gint64 value);
void append_u8(GByteArray *out, guint8 value);
void append_u16be(GByteArray *out, guint16 value);
void append_u32be(GByteArray *out, guint32 value);
void append_u64be(GByteArray *out, guint64 value);
void append_bytes(GByteArray *out, const void *data, gsize size_bytes);

/* How many of the first 'most' bytes of two texts are the same. */
static inline gsize text_common_prefix(const char *a, const char *b, gsize most) {
    gsize same = 0;
    for (; same + sizeof(guint64) <= most; same += sizeof(guint64))
        if (memcmp(a + same, b + same, sizeof(guint64)) != 0) break;
    while (same < most && a[same] == b[same]) same++;
    return same;
}
