#include "analyzer/archive/read/load.h"

#include "analyzer/archive/late.h"
#include "analyzer/archive/part.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

/* How often archive_load_parts() looks again when a writer has moved a record between two of its reads. */
#define LOAD_ATTEMPTS 100

typedef struct LoadFrom {
    guint64 trace_id;
    GBytes *index;
} LoadFrom;

static gboolean is_enough(const ArchiveLoad *load, guint64 n_spans, gsize bytes) {
    return (load->max_spans > 0 && n_spans >= load->max_spans) || (load->max_bytes > 0 && bytes >= load->max_bytes);
}

static gboolean load_parts(Archive *archive, const LoadFrom *from, ArchiveLoad *load, GByteArray *spans,
                           GError **error) {
    Bytes parts = bytes_view(from->index);
    guint before = spans->len;
    guint64 n_spans = 0;
    gsize charged = 0;
    gboolean good = TRUE;

    load->parts = trace_index_parts(parts);
    load->loaded = 0;
    if (load->first_part >= load->parts)
        return fail(error, PLUMB_ERROR_INPUT, "trace %016" G_GINT64_MODIFIER "x has %u parts", from->trace_id,
                    load->parts);

    for (guint part = load->first_part; part < load->parts; part++, load->loaded++) {
        TraceKey key = {trace_index_second(parts, part), from->trace_id, (guint16)part};
        TraceSummary summary;
        if (load->loaded > 0 && is_enough(load, n_spans, spans->len - before)) break;
        good = part_load(archive, &key, spans, &summary, error);
        if (!good) break;
        n_spans += summary.n_spans;
        allowance_hold(&charged, spans->len - before);
    }

    allowance_release(charged); /* who goes on with it charges it */
    if (!good) g_byte_array_set_size(spans, before);
    return good;
}

/* Comes with the last part, from a state of the store before its parts were read: what joins the trace meanwhile is
 * there as well, and known. */
static gboolean load_late(StoreIter *waiting, guint64 trace_id, ArchiveLoad *load, GByteArray *late, GError **error) {
    if (waiting == NULL || load->first_part + load->loaded < load->parts) return TRUE;
    LateWanted wanted = {.trace_id = trace_id, .most_bytes = load->max_bytes};
    if (!late_collect(waiting, &wanted, late, error)) return FALSE;
    load->late_left = wanted.more;
    return TRUE;
}

gboolean archive_load_parts(Archive *archive, guint64 trace_id, ArchiveLoad *load, GByteArray *spans, GError **error) {
    g_autoptr(GBytes) seen = NULL;
    g_autoptr(GByteArray) late = g_byte_array_new();
    g_autoptr(StoreIter) waiting = late_any(archive) ? store_iter_new(archive->store, FAMILY_LATE) : NULL;
    guint before = spans->len;
    load->late_left = FALSE;

    for (guint attempt = 0; attempt < LOAD_ATTEMPTS; attempt++) {
        g_autoptr(GBytes) index = NULL;
        g_autoptr(GError) local = NULL;
        if (!trace_index_get(archive, trace_id, &index, error)) return FALSE;
        if (index == NULL) return fail(error, PLUMB_ERROR_NOT_FOUND, "no trace %016" G_GINT64_MODIFIER "x", trace_id);

        const LoadFrom from = {trace_id, index};
        if (load_parts(archive, &from, load, spans, &local)) {
            if (!load_late(waiting, trace_id, load, late, error)) {
                g_byte_array_set_size(spans, before);
                return FALSE;
            }
            if (late->len > 0) late_add_unknown(archive, spans, before, late);
            return TRUE;
        }

        if (!g_error_matches(local, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) {
            g_propagate_error(error, g_steal_pointer(&local));
            return FALSE;
        }

        if (seen != NULL && g_bytes_equal(seen, index)) break; /* nobody moved it: it is not there */
        g_clear_pointer(&seen, g_bytes_unref);
        seen = g_steal_pointer(&index);
    }
    return fail(error, PLUMB_ERROR_CORRUPT, "the index knows trace %016" G_GINT64_MODIFIER "x, but its record is gone",
                trace_id);
}

gboolean archive_has_trace(Archive *archive, guint64 trace_id, gboolean *has, GError **error) {
    g_autoptr(GBytes) index = NULL;
    if (!trace_index_get(archive, trace_id, &index, error)) return FALSE;
    *has = index != NULL;
    return TRUE;
}
