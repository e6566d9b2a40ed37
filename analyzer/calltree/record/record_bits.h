/* Streams of bits in trace records: low bits first, padded with zeros to whole bytes.
 *
 * A value is written as its width (the number of its bits without leading zeros), and the bits below the highest one.
 * The width is written as its zig-zag difference z to an expected one: z / 2 ones, a zero, and the lowest bit of z;
 * from 2 * WIDTH_ESCAPE on WIDTH_ESCAPE ones and the width itself in seven bits. */
#pragma once

#include <string.h>

#include "common/base/bytes.h"

#define WIDTH_ESCAPE 10u
#define VALUE_BITS   (WIDTH_ESCAPE + 7 + 63) /* the longest value */

static inline guint width_of(guint64 value) { return value == 0 ? 0 : 64u - (guint)__builtin_clzll(value); }

typedef struct BitWriter {
    guint8 *at; /* eight bytes more than needed must be there */
    guint64 pending;
    guint n_pending; /* < 8 */
} BitWriter;

/* n <= 56; value < 2^n */
G_ALWAYS_INLINE static inline void bits_put(BitWriter *writer, guint64 value, guint n) {
    writer->pending |= value << writer->n_pending;
    writer->n_pending += n;
    guint64 coded = GUINT64_TO_LE(writer->pending);
    memcpy(writer->at, &coded, sizeof coded);
    writer->at += writer->n_pending >> 3;
    writer->pending >>= writer->n_pending & 56;
    writer->n_pending &= 7;
}

static inline void bits_put_u64(BitWriter *writer, guint64 value) {
    bits_put(writer, value & G_MAXUINT32, 32);
    bits_put(writer, value >> 32, 32);
}

/* The first byte after the stream. */
static inline guint8 *bits_end(const BitWriter *writer) { return writer->at + (writer->n_pending > 0); }

/* Where it does not fit 56 bits. */
G_GNUC_UNUSED G_NO_INLINE static void bits_put_wide(BitWriter *writer, guint64 value, guint width, guint z) {
    guint below = width > 1 ? width - 1 : 0, ones = z / 2;
    guint64 low = value & ((G_GUINT64_CONSTANT(1) << below) - 1);
    if (ones < WIDTH_ESCAPE) {
        bits_put(writer, ((1u << ones) - 1) | (guint64)(z & 1) << (ones + 1), ones + 2);
    } else {
        bits_put(writer, ((1u << WIDTH_ESCAPE) - 1) | width << WIDTH_ESCAPE, WIDTH_ESCAPE + 7);
    }
    bits_put(writer, low & G_MAXUINT32, MIN(below, 32));
    if (below > 32) bits_put(writer, low >> 32, below - 32);
}

/* Returns the width. */
G_ALWAYS_INLINE static inline guint bits_put_value(BitWriter *writer, guint64 value, guint expected) {
    guint width = width_of(value), below = width - (width > 0);
    gint step = (gint)width - (gint)expected;
    guint z = (guint)step << 1 ^ (guint)(step >> 31), ones = z / 2;
    if (ones >= WIDTH_ESCAPE || below > 56 - WIDTH_ESCAPE - 1) {
        BitWriter copy = *writer; /* which needs an address: the writer itself may stay in registers */
        bits_put_wide(&copy, value, width, z);
        *writer = copy;
        return width;
    }
    guint64 code = ((1u << ones) - 1) | (z & 1) << (ones + 1);
    guint64 low = value & ((G_GUINT64_CONSTANT(1) << below) - 1);
    bits_put(writer, code | low << (ones + 2), ones + 2 + below);
    return width;
}

typedef struct BitReader {
    const guint8 *at;
    const guint8 *end;
    guint n_read; /* bits of *at, < 8 */
    gboolean failed;
} BitReader;

static inline BitReader bit_reader(const guint8 *at, const guint8 *end) { return (BitReader){at, end, 0, FALSE}; }

/* The next bits, 57 at least; zeros where there are none. */
static inline guint64 bits_peek(const BitReader *reader) {
    guint64 coded = 0;
    gsize left = (gsize)(reader->end - reader->at);
    memcpy(&coded, reader->at, left < sizeof coded ? left : sizeof coded);
    return GUINT64_FROM_LE(coded) >> reader->n_read;
}

static inline void bits_skip(BitReader *reader, guint n) {
    guint to = reader->n_read + n;
    if ((to + 7) / 8 > (gsize)(reader->end - reader->at)) {
        reader->failed = TRUE;
        reader->at = reader->end;
        reader->n_read = 0;
        return;
    }
    reader->at += to / 8;
    reader->n_read = to % 8;
}

/* n <= 56 */
static inline guint64 bits_get(BitReader *reader, guint n) {
    guint64 value = bits_peek(reader) & ((G_GUINT64_CONSTANT(1) << n) - 1);
    bits_skip(reader, n);
    return value;
}

static inline guint64 bits_get_u64(BitReader *reader) {
    guint64 low = bits_get(reader, 32);
    return low | bits_get(reader, 32) << 32;
}

/* The first byte after the stream. */
static inline const guint8 *bits_read_end(const BitReader *reader) { return reader->at + (reader->n_read > 0); }

static inline guint64 bits_get_value(BitReader *reader, guint expected, guint *width) {
    guint64 next = bits_peek(reader);
    guint ones = (guint)__builtin_ctzll(~next | 1u << WIDTH_ESCAPE), found;
    if (ones < WIDTH_ESCAPE) {
        guint z = 2 * ones + (guint)(next >> (ones + 1) & 1);
        found = z & 1 ? expected - z / 2 - 1 : expected + z / 2;
        bits_skip(reader, ones + 2);
    } else {
        found = (guint)(next >> WIDTH_ESCAPE & 127);
        bits_skip(reader, WIDTH_ESCAPE + 7);
    }
    if (found > 64) reader->failed = TRUE;
    *width = reader->failed ? 0 : found;
    if (*width < 2) return *width;
    guint below = *width - 1;
    guint64 low = bits_get(reader, MIN(below, 32));
    if (below > 32) low |= bits_get(reader, below - 32) << 32;
    return low | G_GUINT64_CONSTANT(1) << below;
}
