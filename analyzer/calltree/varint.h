/* Varints of common/base/bytes.h for inner loops: written without growing anything, read without a call when they have
 * one byte, as most have. */
#pragma once

#include "common/base/bytes.h"

#define VARINT_MAX_BYTES 10u

static inline guint8 *put_varint(guint8 *at, guint64 value) {
    for (; value >= 0x80; value >>= 7) *at++ = (guint8)(value | 0x80);
    *at++ = (guint8)value;
    return at;
}

static inline guint64 get_varint(ByteReader *reader) {
    const guint8 *at = reader->at;
    if (G_UNLIKELY(reader->failed || reader->end - at < (gssize)VARINT_MAX_BYTES)) {
        if (!reader->failed && at < reader->end && *at < 0x80) return *reader->at++;
        return read_varint(reader);
    }
    guint64 value = *at & 0x7f;
    for (guint shift = 7; *at++ >= 0x80; shift += 7) {
        if (G_UNLIKELY(shift == 63)) return read_varint(reader); /* a tenth byte is not whole */
        value |= (guint64)(*at & 0x7f) << shift;
    }
    reader->at = at;
    return value;
}
