/* Varints of common/base/bytes.h for inner loops: written without growing anything, read without a call when they have
 * one byte, as most have. */
#pragma once

#include <string.h>

#include "common/base/bytes.h"

#define VARINT_MAX_BYTES 10u

static inline guint8 *put_varint(guint8 *at, guint64 value) {
    for (; value >= 0x80; value >>= 7) *at++ = (guint8)(value | 0x80);
    *at++ = (guint8)value;
    return at;
}

/* The low 56 bits, seven in each byte. */
static inline guint64 spread_sevens(guint64 value) {
    value = (value & 0x0fffffff) | (value & G_GUINT64_CONSTANT(0x00fffffff0000000)) << 4;
    value = (value & G_GUINT64_CONSTANT(0x00003fff00003fff)) | (value & G_GUINT64_CONSTANT(0x0fffc0000fffc000)) << 2;
    return (value & G_GUINT64_CONSTANT(0x007f007f007f007f)) | (value & G_GUINT64_CONSTANT(0x3f803f803f803f80)) << 1;
}

/* The same for numbers of which no one knows how large the next is, as times are: without a loop, whose end the
 * processor would guess wrong. VARINT_MAX_BYTES may be written, however many count. */
static inline guint8 *put_varint_wide(guint8 *at, guint64 value) {
    if (value < 0x80) {
        *at = (guint8)value;
        return at + 1;
    }
    guint64 bytes = spread_sevens(value), more = G_GUINT64_CONSTANT(0x8080808080808080);
    if (G_UNLIKELY(value >> 56 != 0)) {
        bytes = GUINT64_TO_LE(bytes | more);
        memcpy(at, &bytes, sizeof bytes);
        return put_varint(at + sizeof bytes, value >> 56);
    }
    guint last = (63u - (guint)__builtin_clzll(value)) / 7; /* the number of the last byte */
    bytes = GUINT64_TO_LE(bytes | (more & (((guint64)1 << 8 * last) - 1)));
    memcpy(at, &bytes, sizeof bytes);
    return at + last + 1;
}

/* The seven low bits of each byte. */
static inline guint64 gather_sevens(guint64 bytes) {
    bytes = (bytes & G_GUINT64_CONSTANT(0x007f007f007f007f)) | (bytes & G_GUINT64_CONSTANT(0x7f007f007f007f00)) >> 1;
    bytes = (bytes & G_GUINT64_CONSTANT(0x00003fff00003fff)) | (bytes & G_GUINT64_CONSTANT(0x3fff00003fff0000)) >> 2;
    return (bytes & 0x0fffffff) | (bytes & G_GUINT64_CONSTANT(0x0fffffff00000000)) >> 4;
}

/* Of VARINT_MAX_BYTES that can be read: does a varint, of however many bits, end within the first eight? */
static inline gboolean varint_is_short(const guint8 *at) {
    guint64 bytes;
    memcpy(&bytes, at, sizeof bytes);
    return (~bytes & G_GUINT64_CONSTANT(0x8080808080808080)) != 0;
}

static inline guint64 get_varint(ByteReader *reader) {
    const guint8 *at = reader->at;
    if (G_UNLIKELY(reader->failed || reader->end - at < (gssize)VARINT_MAX_BYTES)) {
        if (!reader->failed && at < reader->end && *at < 0x80) return *reader->at++;
        return read_varint(reader);
    }
    if (*at < 0x80) {
        reader->at = at + 1;
        return *at;
    }
    guint64 bytes;
    memcpy(&bytes, at, sizeof bytes);
    bytes = GUINT64_FROM_LE(bytes);
    guint64 ends = ~bytes & G_GUINT64_CONSTANT(0x8080808080808080);
    if (G_UNLIKELY(ends == 0)) return read_varint(reader);
    guint end = (guint)__builtin_ctzll(ends) / 8; /* the number of the last byte */
    reader->at = at + end + 1;
    return gather_sevens(bytes & G_MAXUINT64 >> (56 - 8 * end));
}

/* Passes n of them over, whatever they hold. */
static inline void skip_varints(ByteReader *reader, guint64 n) {
    while (n >= 8 && !reader->failed && reader->end - reader->at >= 8) {
        guint64 bytes;
        memcpy(&bytes, reader->at, sizeof bytes);
        guint64 ends = ~bytes >> 7 & G_GUINT64_CONSTANT(0x0101010101010101); /* a one in each last byte */
        n -= ends * G_GUINT64_CONSTANT(0x0101010101010101) >> 56;            /* their sum */
        reader->at += sizeof bytes;
    }
    for (; n > 0 && !reader->failed; n--) get_varint(reader);
}

/* Fails when get_varint() would. */
static inline void skip_varint(ByteReader *reader) {
    if (G_LIKELY(!reader->failed && reader->end - reader->at >= (gssize)VARINT_MAX_BYTES &&
                 varint_is_short(reader->at))) {
        guint64 bytes;
        memcpy(&bytes, reader->at, sizeof bytes);
        guint64 ends = ~GUINT64_FROM_LE(bytes) & G_GUINT64_CONSTANT(0x8080808080808080);
        reader->at += (guint)__builtin_ctzll(ends) / 8 + 1;
        return;
    }
    get_varint(reader);
}
