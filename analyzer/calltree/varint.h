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
    if (!reader->failed && reader->at < reader->end && *reader->at < 0x80) return *reader->at++;
    return read_varint(reader);
}
