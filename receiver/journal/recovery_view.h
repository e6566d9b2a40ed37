/* How far the replay of what the journal held at the start has come. Written by its thread (recovery.h), read by
 * any. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

typedef struct RecoveryView {
    atomic_bool goes_on; /* something of the journal is still to be replayed */
    _Atomic guint64 total_bytes, done_bytes;
} RecoveryView;

/* From 0 to 1. */
static inline double recovery_share(const RecoveryView *view) {
    if (!atomic_load(&view->goes_on)) return 1;
    const guint64 total_bytes = atomic_load(&view->total_bytes);
    return total_bytes > 0 ? (double)atomic_load(&view->done_bytes) / (double)total_bytes : 0;
}
