#include "analyzer/archive/retention/remove.h"

#include "analyzer/archive/removed_traces.h"
#include "common/base/error.h"

void remover_init(Remover *remover, Archive *archive, AccountField why) {
    *remover = (Remover){.archive = archive, .why = why};
    remover->writer = archive_writer_new(archive);
    remover->removed = removed_set_new();
    remover->places = g_array_new(FALSE, FALSE, sizeof(RecordPlace));
}

void remover_clear(Remover *remover) {
    g_clear_pointer(&remover->writer, archive_writer_free);
    g_clear_pointer(&remover->removed, removed_set_free);
    g_clear_pointer(&remover->places, g_array_unref);
}

/* Whose spans they are, and in which minutes their calls count. */
static gboolean count_record(Remover *remover, Bytes record, const TraceSummary *summary, GError **error) {
    g_autoptr(Pattern) pattern = record_pattern(remover->archive, record, summary, error);
    if (pattern == NULL) return FALSE;
    g_array_set_size(remover->places, 0);
    if (!record_places(record, pattern, TRUE, remover->places, error)) return FALSE;
    for (guint i = 0; i < remover->places->len; i++) {
        const RecordPlace *place = &g_array_index(remover->places, RecordPlace, i);
        if (!place->is_span) continue;
        account_draft_add(&remover->writer->draft, place->tracer, remover->why, 1);
        removed_set_add_call(remover->removed, stats_bucket(LEVEL_MINUTE, place->begin_ns));
    }
    removed_set_add_trace(remover->removed, stats_bucket(LEVEL_MINUTE, summary->begin_ns), summary->pattern,
                          summary->n_spans);
    return TRUE;
}

static gboolean take_record(Remover *remover, const TraceKey *key, Bytes record, TraceSummary *summary,
                            GError **error) {
    if (!record_summary(record, summary, error) || !count_record(remover, record, summary, error)) return FALSE;
    ArchiveWriter *writer = remover->writer;
    LayoutKey stored = trace_key(key);
    store_batch_delete(writer->batch, FAMILY_TRACE, key_bytes(&stored));
    writer->change.spans -= summary->n_spans;
    writer->any = TRUE;
    writer->sealed = FALSE;
    remover->records++;
    remover->group_spans += summary->n_spans;
    return TRUE;
}

static void take_trace(Remover *remover, guint64 trace_id, gboolean incomplete) {
    ArchiveWriter *writer = remover->writer;
    LayoutKey id = trace_id_key(trace_id);
    store_batch_delete(writer->batch, FAMILY_TRACE_ID, key_bytes(&id));
    removed_traces_put(remover->archive, trace_id, writer->batch);
    writer->change.traces--;
    writer->change.incomplete_traces -= incomplete ? 1 : 0;
    remover->group_traces++;
}

gboolean remover_take(Remover *remover, const TraceKey *key, Bytes record, GError **error) {
    TraceSummary summary;
    if (!take_record(remover, key, record, &summary, error)) return FALSE;
    take_trace(remover, key->trace_id, (summary.flags & TRACE_INCOMPLETE) != 0);
    return TRUE;
}

gboolean remover_take_parts(Remover *remover, guint64 trace_id, Bytes index, GError **error) {
    gboolean incomplete = FALSE;
    for (guint part = 0; part < trace_index_parts(index); part++) {
        TraceKey key = {trace_index_second(index, part), trace_id, (guint16)part};
        LayoutKey stored = trace_key(&key);
        g_autoptr(GBytes) record = NULL;
        TraceSummary summary;
        if (!store_get(remover->archive->store, FAMILY_TRACE, key_bytes(&stored), &record, error)) return FALSE;
        if (record == NULL)
            return fail(error, PLUMB_ERROR_CORRUPT, "trace %016" G_GINT64_MODIFIER "x lacks its part %u", trace_id,
                        part);
        if (!take_record(remover, &key, bytes_view(record), &summary, error)) return FALSE;
        incomplete |= (summary.flags & TRACE_INCOMPLETE) != 0;
    }
    take_trace(remover, trace_id, incomplete);
    return TRUE;
}

static void forget_group(Remover *remover) {
    removed_set_free(remover->removed);
    remover->removed = removed_set_new();
    remover->records = 0;
    remover->group_traces = remover->group_spans = 0;
}

gboolean remover_commit(Remover *remover, GError **error) {
    if (remover->records == 0) return TRUE;
    ArchiveWriter *writer = remover->writer;
    gboolean ok = removed_set_put(remover->removed, remover->archive->store, writer->batch, error) &&
                  archive_writer_commit(writer, FALSE, error);
    if (ok) {
        remover->traces += remover->group_traces;
        remover->spans += remover->group_spans;
    } else {
        /* A new writer takes the same share of the totals: nothing of the group is in it. */
        archive_writer_free(writer);
        remover->writer = archive_writer_new(remover->archive);
    }
    forget_group(remover);
    return ok;
}
