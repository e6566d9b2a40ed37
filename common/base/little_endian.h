/* Numbers in files of ours: little-endian, at any place. */
#pragma once

#include <glib.h>
#include <string.h>

static inline void put_u32_le(guint8 *at, guint32 value) {
    value = GUINT32_TO_LE(value);
    memcpy(at, &value, sizeof value);
}

static inline void put_u64_le(guint8 *at, guint64 value) {
    value = GUINT64_TO_LE(value);
    memcpy(at, &value, sizeof value);
}

static inline guint16 get_u16_le(const guint8 *at) {
    guint16 value;
    memcpy(&value, at, sizeof value);
    return GUINT16_FROM_LE(value);
}

static inline guint32 get_u32_le(const guint8 *at) {
    guint32 value;
    memcpy(&value, at, sizeof value);
    return GUINT32_FROM_LE(value);
}

static inline guint64 get_u64_le(const guint8 *at) {
    guint64 value;
    memcpy(&value, at, sizeof value);
    return GUINT64_FROM_LE(value);
}
