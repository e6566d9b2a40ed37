#include "analyzer/archive/removed_traces.h"

#include <string.h>

#include "analyzer/archive/archive_inside.h"

#define PREFIX_BYTES (sizeof REMOVED_TRACES_PREFIX - 1)
#define KEY_BYTES    (PREFIX_BYTES + 4 + 8)

static gboolean read_generation(Bytes key, guint32 *generation) {
    if (key.size_bytes != KEY_BYTES || memcmp(key.data, REMOVED_TRACES_PREFIX, PREFIX_BYTES) != 0) return FALSE;
    ByteReader r = byte_reader((const guint8 *)key.data + PREFIX_BYTES, 4);
    *generation = read_u32be(&r);
    return TRUE;
}

gboolean removed_traces_load(Archive *archive, GError **error) {
    g_autoptr(StoreIter) meta = store_iter_new(archive->store, FAMILY_META);
    RemovedTraces *removed = &archive->removed;
    guint32 generation;
    if (iter_seek_key(meta, removed_traces_key(0, 0)) && read_generation(store_iter_key(meta), &generation)) {
        removed->first = removed->current = generation;
        removed->any = removed->noted = TRUE;
    }
    const LayoutKey end = removed_traces_key(G_MAXUINT32, G_MAXUINT64);
    if (removed->any && store_iter_seek_before(meta, key_bytes(&end)) &&
        read_generation(store_iter_key(meta), &generation))
        removed->current = generation;
    return iter_finished(meta, error);
}

void removed_traces_put(Archive *archive, guint64 trace_id, StoreBatch *batch) {
    RemovedTraces *removed = &archive->removed;
    LayoutKey key = removed_traces_key(atomic_load_explicit(&removed->current, memory_order_relaxed), trace_id);
    store_batch_put(batch, FAMILY_META, key_bytes(&key), (Bytes){"", 0});
    removed->noted = TRUE;
    atomic_store_explicit(&removed->any, TRUE, memory_order_release);
}

gboolean removed_traces_has(Archive *archive, guint64 trace_id, gboolean *has, GError **error) {
    const RemovedTraces *removed = &archive->removed;
    *has = FALSE;
    if (!archive_removed_traces_any(archive)) return TRUE;
    guint32 from = atomic_load_explicit(&removed->first, memory_order_relaxed);
    guint32 last = atomic_load_explicit(&removed->current, memory_order_relaxed);
    for (guint32 generation = from; generation <= last && !*has; generation++) {
        LayoutKey key = removed_traces_key(generation, trace_id);
        g_autoptr(GBytes) value = NULL;
        if (!store_get(archive->store, FAMILY_META, key_bytes(&key), &value, error)) return FALSE;
        *has = value != NULL;
    }
    return TRUE;
}

gboolean archive_removed_traces_any(Archive *archive) {
    return atomic_load_explicit(&archive->removed.any, memory_order_acquire);
}

guint32 archive_removed_traces_close(Archive *archive) {
    RemovedTraces *removed = &archive->removed;
    pthread_mutex_lock(&archive->maintenance_lock); /* no group is under way */
    guint32 closed = removed->current;
    atomic_store_explicit(&removed->current, closed + 1, memory_order_relaxed);
    removed->noted = FALSE;
    pthread_mutex_unlock(&archive->maintenance_lock);
    return closed;
}

gboolean archive_removed_traces_forget(Archive *archive, guint32 generation, GError **error) {
    RemovedTraces *removed = &archive->removed;
    LayoutKey from = removed_traces_key(0, 0), until = removed_traces_key(generation + 1, 0);
    g_autoptr(StoreBatch) batch = store_batch_new(archive->store);
    store_batch_delete_range(batch, FAMILY_META, key_bytes(&from), key_bytes(&until));
    pthread_mutex_lock(&archive->maintenance_lock);
    gboolean ok = store_write(archive->store, batch, FALSE, error);
    if (ok) {
        atomic_store_explicit(&removed->first, generation + 1, memory_order_relaxed);
        atomic_store_explicit(&removed->any, removed->noted, memory_order_release);
    }
    pthread_mutex_unlock(&archive->maintenance_lock);
    return ok;
}
