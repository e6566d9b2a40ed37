/* Hashing of span ids, which peers choose: a secret of the process keeps them from choosing ids that fall together. */
#pragma once

#include "common/model/span.h"

static inline guint64 span_id_secret(void) {
    static gsize secret;
    if (g_once_init_enter(&secret)) {
        g_once_init_leave(&secret, (gsize)((guint64)g_random_int() << 32 | g_random_int()) | 1);
    }
    return secret;
}

static inline guint32 span_id_hash(SpanId id, guint64 secret) {
    guint64 h = (id.span ^ secret) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    h ^= h >> 32;
    h = (h ^ id.trace) * (secret | 1);
    return (guint32)(h >> 32);
}
