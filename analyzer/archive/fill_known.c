#include "analyzer/archive/fill_known.h"

#include "analyzer/archive/archive_inside.h"
#include "common/base/error.h"

gsize archive_known_bytes(const Archive *archive) { return known_traces_size_bytes(archive->known); }

gboolean archive_fill_known(Archive *archive, guint most, gboolean *done, GError **error) {
    *done = known_traces_is_complete(archive->known);
    if (*done) return TRUE;
    LayoutKey from = trace_id_key(archive->known_upto);
    g_autoptr(StoreIter) iter = store_iter_new(archive->store, FAMILY_TRACE_ID);
    for (gboolean more = iter_seek_key(iter, from); more; more = store_iter_next(iter)) {
        guint64 trace_id;
        if (!trace_id_key_parse(store_iter_key(iter), &trace_id))
            return fail(error, PLUMB_ERROR_CORRUPT, "a key of the trace index is malformed");
        archive->known_upto = trace_id;
        if (most-- == 0) return TRUE;
        known_traces_add(archive->known, trace_id);
    }
    if (!iter_finished(iter, error)) return FALSE;
    known_traces_complete(archive->known);
    *done = TRUE;
    return TRUE;
}
