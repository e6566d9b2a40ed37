/* Ids that a splitmix64 sequence gave, as places in it: what looks random is often next to another.
 *
 * Our agent takes a span's id from such a sequence of its process (SpanIds.java): id = mix(place * GOLDEN), with places
 * that follow each other within a thread. Both steps can be undone, so the places of neighbours differ by little, and a
 * difference takes a byte where an id takes eight. Any other id has a place, too, but a random one. (The constants
 * of the way back are the inverses of those of mix64.h, modulo 2^64.) */
#pragma once

#include "common/base/mix64.h"

static inline guint64 id_at_place(guint64 place) { return mix64(place * MIX64_GOLDEN); }

/* id_at_place(id_place(id)) is the id. */
static inline guint64 id_place(guint64 id) {
    guint64 z = (id ^ id >> 31 ^ id >> 62) * G_GUINT64_CONSTANT(0x319642b2d24d8ec3);
    z = (z ^ z >> 27 ^ z >> 54) * G_GUINT64_CONSTANT(0x96de1b173f119089);
    return (z ^ z >> 30 ^ z >> 60) * G_GUINT64_CONSTANT(0xf1de83e19937733d);
}
