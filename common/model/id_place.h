/* Ids that a splitmix64 sequence gave, as places in it: what looks random is often next to another.
 *
 * Our agent takes a span's id from such a sequence of its process (SpanIds.java): id = mix(place * GOLDEN), with places
 * that follow each other within a thread. Both steps can be undone, so the places of neighbours differ by little, and a
 * difference takes a byte where an id takes eight. Any other id has a place, too, but a random one. (The finaliser's
 * constants are those of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014, variant 13 of
 * Stafford; the others are their inverses modulo 2^64.) */
#pragma once

#include <glib.h>

static inline guint64 id_at_place(guint64 place) {
    guint64 z = place * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* id_at_place(id_place(id)) is the id. */
static inline guint64 id_place(guint64 id) {
    guint64 z = (id ^ id >> 31 ^ id >> 62) * G_GUINT64_CONSTANT(0x319642b2d24d8ec3);
    z = (z ^ z >> 27 ^ z >> 54) * G_GUINT64_CONSTANT(0x96de1b173f119089);
    return (z ^ z >> 30 ^ z >> 60) * G_GUINT64_CONSTANT(0xf1de83e19937733d);
}
