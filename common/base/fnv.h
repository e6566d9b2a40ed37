/* FNV-1a of 64 bits (Fowler, Noll and Vo): for hashes that others must be able to compute, or that a key holds. */
#pragma once

#include <glib.h>

#define FNV64_BASIS G_GUINT64_CONSTANT(0xcbf29ce484222325)

/* Of what came before, FNV64_BASIS at first, and these bytes. */
static inline guint64 fnv64(guint64 hash, const void *data, gsize size_bytes) {
    const guint8 *bytes = data;
    for (gsize i = 0; i < size_bytes; i++) hash = (hash ^ bytes[i]) * G_GUINT64_CONSTANT(0x100000001b3);
    return hash;
}
