/* The finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014, with
 * variant 13 of Stafford): spreads what is in a number over all 64 bits. One to one; 0 stays 0. */
#pragma once

#include <glib.h>

/* By which the generator's state grows. */
#define MIX64_GOLDEN G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

static inline guint64 mix64(guint64 z) {
    z = (z ^ z >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The generator's next number. */
static inline guint64 mix64_next(guint64 *state) { return mix64(*state += MIX64_GOLDEN); }
