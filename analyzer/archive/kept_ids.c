#include "analyzer/archive/kept_ids.h"

#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "common/base/clock.h"

guint32 kept_ids_minute(Archive *archive) {
    const Clock *clock = archive->options.clock;
    return (guint32)CLAMP(clock_wall_ns(clock) / NS_PER_MINUTE, 0, G_MAXUINT32);
}

gboolean kept_ids_get(Archive *archive, const TraceSummary *summary, guint64 trace_id, GBytes **ids, GError **error) {
    *ids = NULL;
    if (!(summary->dropped & DROPPED_IDS)) return TRUE;
    LayoutKey key = ids_key(summary->ids_at, trace_id, (guint16)summary->part);
    return store_get(archive->store, FAMILY_IDS, key_bytes(&key), ids, error);
}

gboolean kept_ids_forgotten(Archive *archive, const TraceSummary *summary, guint64 trace_id, gboolean *gone,
                            GError **error) {
    g_autoptr(GBytes) ids = NULL;
    if (!kept_ids_get(archive, summary, trace_id, &ids, error)) return FALSE;
    *gone = (summary->dropped & DROPPED_IDS) && ids == NULL;
    return TRUE;
}

gboolean archive_dropped(Archive *archive, guint64 trace_id, const TraceSummary *summary, guint32 *dropped,
                         GError **error) {
    gboolean gone;
    if (!kept_ids_forgotten(archive, summary, trace_id, &gone, error)) return FALSE;
    *dropped = gone ? summary->dropped : summary->dropped & ~(guint32)DROPPED_IDS;
    return TRUE;
}

static gboolean part_kept(Archive *archive, const TraceKey *key, TraceKept *kept, GError **error) {
    g_autoptr(GBytes) record = NULL;
    LayoutKey stored = trace_key(key);
    TraceSummary summary;
    *kept = (TraceKept){0};
    if (!store_get(archive->store, FAMILY_TRACE, key_bytes(&stored), &record, error)) return FALSE;
    if (record == NULL) return TRUE; /* it moved, or went: then it is no matter */
    if (!record_summary(bytes_view(record), &summary, error)) return FALSE;
    kept->pattern = summary.pattern;
    return archive_dropped(archive, key->trace_id, &summary, &kept->dropped, error);
}

gboolean archive_trace_kept(Archive *archive, guint64 trace_id, TraceKept *kept, GError **error) {
    g_autoptr(GBytes) index = NULL;
    TraceKept all = {0};
    if (!trace_index_get(archive, trace_id, &index, error)) return FALSE;
    const guint parts = index != NULL ? trace_index_parts(bytes_view(index)) : 0;
    for (guint part = 0; part < parts; part++) {
        TraceKept own;
        TraceKey key = {trace_index_second(bytes_view(index), part), trace_id, (guint16)part};
        if (!part_kept(archive, &key, &own, error)) return FALSE;
        all.dropped |= own.dropped;
        if (parts == 1) all.pattern = own.pattern;
    }
    *kept = all;
    return TRUE;
}

static guint32 minute_before(gint64 before_ns) { return (guint32)CLAMP(before_ns / NS_PER_MINUTE, 0, G_MAXUINT32); }

gboolean archive_ids_due(Archive *archive, gint64 before_ns, gboolean *due, GError **error) {
    const LayoutKey from = ids_key(0, 0, 0), until = ids_key(minute_before(before_ns), 0, 0);
    g_autoptr(StoreIter) iter = store_iter_new(archive->store, FAMILY_IDS);
    *due = FALSE;
    if (!store_iter_seek(iter, key_bytes(&from))) return iter_finished(iter, error);
    const Bytes first = store_iter_key(iter);
    *due = first.size_bytes == until.size_bytes && memcmp(first.data, until.bytes, until.size_bytes) < 0;
    return TRUE;
}

gboolean archive_forget_ids(Archive *archive, gint64 before_ns, GError **error) {
    const LayoutKey from = ids_key(0, 0, 0), until = ids_key(minute_before(before_ns), 0, 0);
    gboolean due;
    if (!archive_ids_due(archive, before_ns, &due, error)) return FALSE;
    if (!due) return TRUE;
    g_autoptr(StoreBatch) batch = store_batch_new(archive->store);
    store_batch_delete_range(batch, FAMILY_IDS, key_bytes(&from), key_bytes(&until));
    return store_write(archive->store, batch, FALSE, error);
}
