/* Arithmetic with numbers that peers send: a result that gint64 has no room for becomes the nearest end of gint64. */
#pragma once

#include <glib.h>

static inline gint64 clamped_add(gint64 a, gint64 b) {
    gint64 sum;
    if (G_LIKELY(!__builtin_add_overflow(a, b, &sum))) return sum;
    return b < 0 ? G_MININT64 : G_MAXINT64;
}

static inline gint64 clamped_sub(gint64 a, gint64 b) {
    gint64 difference;
    if (G_LIKELY(!__builtin_sub_overflow(a, b, &difference))) return difference;
    return b > 0 ? G_MININT64 : G_MAXINT64;
}

static inline gint64 clamped_mul(gint64 a, gint64 b) {
    gint64 product;
    if (G_LIKELY(!__builtin_mul_overflow(a, b, &product))) return product;
    return (a < 0) == (b < 0) ? G_MAXINT64 : G_MININT64;
}
