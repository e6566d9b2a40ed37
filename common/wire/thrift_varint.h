/* Varints where it is known that ten bytes can be read. */
#pragma once

#include <glib.h>
#include <string.h>

#define THRIFT_VARINT_BYTES 10u

/* Eight groups of seven bits, one in each byte, become 56 bits. */
static inline guint64 varint_join(guint64 word) {
    word &= G_GUINT64_CONSTANT(0x7f7f7f7f7f7f7f7f);
    word = (word & G_GUINT64_CONSTANT(0x007f007f007f007f)) | (word & G_GUINT64_CONSTANT(0x7f007f007f007f00)) >> 1;
    word = (word & G_GUINT64_CONSTANT(0x00003fff00003fff)) | (word & G_GUINT64_CONSTANT(0x3fff00003fff0000)) >> 2;
    return (word & G_GUINT64_CONSTANT(0x000000000fffffff)) | (word & G_GUINT64_CONSTANT(0x0fffffff00000000)) >> 4;
}

/* How many bytes it has; 0: it is over-long. Ids and times take eight to ten: worth to take eight at once. */
static inline guint varint_at(const guint8 *at, guint64 *value) {
    guint64 word;
    memcpy(&word, at, sizeof word);
    word = GUINT64_FROM_LE(word);
    const guint64 ends = ~word & G_GUINT64_CONSTANT(0x8080808080808080);
    if (ends != 0) {
        const guint64 last = ends & -ends; /* high bit of the byte that ends the number */
        *value = varint_join(word & (last | (last - 1)));
        return (guint)__builtin_ctzll(last) / 8 + 1;
    }
    const guint8 ninth = at[8], tenth = at[9];
    *value = varint_join(word) | (guint64)(ninth & 0x7f) << 56;
    if (ninth < 0x80) return 9;
    *value |= (guint64)tenth << 63;
    return tenth > 1 ? 0 : 10; /* the tenth byte holds the last bit only */
}
