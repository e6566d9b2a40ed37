#include "analyzer/archive/removed_traces.h"

#include <string.h>

#include "analyzer/archive/archive_inside.h"

#define PREFIX_BYTES (sizeof GONE_PREFIX - 1)
#define KEY_BYTES    (PREFIX_BYTES + 4 + 8)

static gboolean read_generation(Bytes key, guint32 *generation) {
    if (key.size_bytes != KEY_BYTES || memcmp(key.data, GONE_PREFIX, PREFIX_BYTES) != 0) return FALSE;
    ByteReader r = byte_reader((const guint8 *)key.data + PREFIX_BYTES, 4);
    *generation = read_u32be(&r);
    return TRUE;
}

gboolean removed_traces_load(Archive *archive, GError **error) {
    g_autoptr(StoreIter) meta = store_iter_new(archive->store, FAMILY_META);
    RemovedTraces *gone = &archive->gone;
    guint32 generation;
    if (iter_seek_key(meta, removed_traces_key(0, 0)) && read_generation(store_iter_key(meta), &generation)) {
        gone->first = gone->current = generation;
        gone->any = gone->noted = TRUE;
    }
    const LayoutKey end = removed_traces_key(G_MAXUINT32, G_MAXUINT64);
    if (gone->any && store_iter_seek_before(meta, key_bytes(&end)) &&
        read_generation(store_iter_key(meta), &generation))
        gone->current = generation;
    return iter_finished(meta, error);
}

void removed_traces_put(Archive *archive, guint64 trace_id, StoreBatch *batch) {
    RemovedTraces *gone = &archive->gone;
    LayoutKey key = removed_traces_key(atomic_load_explicit(&gone->current, memory_order_relaxed), trace_id);
    store_batch_put(batch, FAMILY_META, key_bytes(&key), (Bytes){"", 0});
    gone->noted = TRUE;
    atomic_store_explicit(&gone->any, TRUE, memory_order_release);
}

gboolean removed_traces_has(Archive *archive, guint64 trace_id, gboolean *has, GError **error) {
    const RemovedTraces *gone = &archive->gone;
    *has = FALSE;
    if (!archive_removed_traces_any(archive)) return TRUE;
    guint32 from = atomic_load_explicit(&gone->first, memory_order_relaxed);
    guint32 last = atomic_load_explicit(&gone->current, memory_order_relaxed);
    for (guint32 generation = from; generation <= last && !*has; generation++) {
        LayoutKey key = removed_traces_key(generation, trace_id);
        g_autoptr(GBytes) value = NULL;
        if (!store_get(archive->store, FAMILY_META, key_bytes(&key), &value, error)) return FALSE;
        *has = value != NULL;
    }
    return TRUE;
}

gboolean archive_removed_traces_any(Archive *archive) {
    return atomic_load_explicit(&archive->gone.any, memory_order_acquire);
}

guint32 archive_removed_traces_close(Archive *archive) {
    RemovedTraces *gone = &archive->gone;
    pthread_mutex_lock(&archive->settle_lock); /* no group is under way */
    guint32 closed = gone->current;
    atomic_store_explicit(&gone->current, closed + 1, memory_order_relaxed);
    gone->noted = FALSE;
    pthread_mutex_unlock(&archive->settle_lock);
    return closed;
}

gboolean archive_removed_traces_forget(Archive *archive, guint32 generation, GError **error) {
    RemovedTraces *gone = &archive->gone;
    LayoutKey from = removed_traces_key(0, 0), until = removed_traces_key(generation + 1, 0);
    g_autoptr(StoreBatch) batch = store_batch_new(archive->store);
    store_batch_delete_range(batch, FAMILY_META, key_bytes(&from), key_bytes(&until));
    pthread_mutex_lock(&archive->settle_lock);
    gboolean ok = store_write(archive->store, batch, FALSE, error);
    if (ok) {
        atomic_store_explicit(&gone->first, generation + 1, memory_order_relaxed);
        atomic_store_explicit(&gone->any, gone->noted, memory_order_release);
    }
    pthread_mutex_unlock(&archive->settle_lock);
    return ok;
}
