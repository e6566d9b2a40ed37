#include "analyzer/archive/part.h"

#include <string.h>

#include "analyzer/archive/kept_ids.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

gboolean spans_point(guint64 trace_id, Bytes spans, GPtrArray *list, GError **error) {
    const guint8 *at = spans.data;
    const guint8 *end = at + spans.size_bytes;
    const guint before = list->len;
    guint n = before;
    g_ptr_array_set_size(list, (gint)(before + spans.size_bytes / sizeof(SpanRec))); /* no more than that */
    while (at < end) {
        const SpanRec *span = (const SpanRec *)at;
        gsize left = (gsize)(end - at);
        if (left < sizeof *span || span->size_bytes < sizeof *span || span->size_bytes % 8 != 0 ||
            span->size_bytes > left || span->id.trace != trace_id) {
            g_ptr_array_set_size(list, (gint)before);
            return fail(error, PLUMB_ERROR_INPUT, "malformed span record, or of another trace");
        }
        list->pdata[n++] = (gpointer)span;
        at += span->size_bytes;
    }
    g_ptr_array_set_size(list, (gint)n);
    return TRUE;
}

Pattern *record_pattern(Archive *archive, Bytes record, const TraceSummary *summary, GError **error) {
    Pattern *within = NULL;
    if (!record_shape(record, &within, error) || within != NULL) return within;
    const Pattern *pattern = archive_pattern(archive, summary->pattern);
    if (pattern != NULL) return pattern_ref(pattern);
    fail(error, PLUMB_ERROR_CORRUPT, "a trace record has pattern %u, which is not stored", summary->pattern);
    return NULL;
}

/* The allowance must have so much before a record is decoded: a whole one is made at once. */
static gboolean may_decode(Bytes record, GError **error) {
    allowance_charge(record.size_bytes);
    allowance_goes_on_with(record.size_bytes);
    const gboolean good = allowance_check(error);
    allowance_release(record.size_bytes);
    return good;
}

gboolean part_decode_tree(Archive *archive, Bytes record, guint64 trace_id, PartTree *part, GError **error) {
    TraceSummary summary;
    if (!may_decode(record, error) || !record_summary(record, &summary, error)) return FALSE;
    g_autoptr(Pattern) pattern = record_pattern(archive, record, &summary, error);
    if (pattern == NULL) {
        g_prefix_error(error, "trace %016" G_GINT64_MODIFIER "x: ", trace_id);
        return FALSE;
    }
    g_autoptr(GBytes) ids = NULL;
    if (!kept_ids_get(archive, &summary, trace_id, &ids, error)) return FALSE;
    const RecordSource source = {record, ids != NULL ? bytes_view(ids) : (Bytes){NULL, 0}, pattern, trace_id};
    if (!record_decode_places(&source, part->spans, part->places, error)) return FALSE;
    part->pattern = g_steal_pointer(&pattern);
    return TRUE;
}

gboolean part_decode(Archive *archive, Bytes record, guint64 trace_id, GByteArray *spans, GError **error) {
    PartTree part = {.spans = spans};
    if (!part_decode_tree(archive, record, trace_id, &part, error)) return FALSE;
    pattern_unref(part.pattern);
    return TRUE;
}

gboolean part_load(Archive *archive, const TraceKey *key, GByteArray *spans, TraceSummary *summary, GError **error) {
    LayoutKey stored = trace_key(key);
    g_autoptr(GBytes) record = NULL;
    if (!store_get(archive->store, FAMILY_TRACE, key_bytes(&stored), &record, error)) return FALSE;
    if (record == NULL)
        return fail(error, PLUMB_ERROR_NOT_FOUND, "trace %016" G_GINT64_MODIFIER "x lacks its part %u", key->trace_id,
                    key->part);
    TraceSummary read;
    if (!record_summary(bytes_view(record), &read, error)) return FALSE;
    if (!part_decode(archive, bytes_view(record), key->trace_id, spans, error)) return FALSE;
    *summary = read;
    return TRUE;
}
