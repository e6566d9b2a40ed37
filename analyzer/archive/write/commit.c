#include <string.h>

#include "analyzer/archive/write/writer_group.h"

/* Rows of hours and days come from the roll-up; those that are there already get their share at once. */
static void merge_row(ArchiveWriter *writer, const StatsKey *key, Bytes value) {
    const guint32 *added_below = writer->archive->roll_up.added_below;
    StatsKey to = *key;
    for (StatsLevel level = LEVEL_MINUTE; level < LEVEL_COUNT; level++) {
        to.level = level;
        to.bucket = key->bucket / level_minutes(level);
        if (level != LEVEL_MINUTE && to.bucket >= added_below[level]) return;
        LayoutKey stored = stats_key(&to);
        store_batch_merge_lent(writer->batch, FAMILY_STATS, key_bytes(&stored), value);
    }
}

static void seal_row(void *arg, const StatsKey *key, Bytes value) {
    ArchiveWriter *writer = arg;
    merge_row(writer, key, value);
    if (key->kind == STATS_FUNCTION && key->cell == 0) g_array_append_val(writer->functions, key->object);
}

static void seal_taken(void *arg, const StatsKey *key, Bytes value) {
    StatsKey taken = *key;
    taken.kind = STATS_TAKEN;
    merge_row(arg, &taken, value);
}

static void note_host(void *arg, guint32 host) {
    ArchiveWriter *writer = arg;
    g_array_append_val(writer->hosts, host);
}

static void seal_stats(ArchiveWriter *writer) {
    stats_group_seal_lent(writer->stats,
                          &(StatsSealed){seal_row, writer, &writer->values, group_calls_counts(&writer->calls)});
    stats_group_hosts(writer->stats, note_host, writer);
    stats_group_clear(writer->stats);
    stats_group_seal_lent(writer->taken, &(StatsSealed){seal_taken, writer, &writer->values, NULL});
    stats_group_clear(writer->taken);
    writer->stats_idle_bytes = stats_group_size_bytes(writer->stats) + stats_group_size_bytes(writer->taken);
}

static void seal_tolerance(ArchiveWriter *writer) {
    if (atomic_load_explicit(&writer->archive->tolerance_stored, memory_order_relaxed)) return;
    g_autoptr(GByteArray) value = g_byte_array_new();
    append_zigzag(value, writer->archive->options.clock_tolerance_ns);
    store_batch_put(writer->batch, FAMILY_META, (Bytes){TOLERANCE_KEY, strlen(TOLERANCE_KEY)},
                    (Bytes){value->data, value->len});
}

static StoredTotals slot_totals(ArchiveWriter *writer) {
    pthread_mutex_lock(&writer->archive->totals_lock);
    StoredTotals totals = g_array_index(writer->archive->slots, TotalsSlot, writer->slot).totals;
    pthread_mutex_unlock(&writer->archive->totals_lock);
    stored_totals_add(&totals, &writer->change);
    totals.late_next = atomic_load_explicit(&writer->archive->late_next, memory_order_relaxed);
    return totals;
}

/* Brings everything that follows from the traces of the group into the batch. May happen again when traces were added
 * after a failed write: what was sealed then stays, the totals are put anew. */
static void group_seal(ArchiveWriter *writer) {
    puts_move(&writer->records, writer->batch);
    puts_move(&writer->index_entries, writer->batch);
    postings_move(writer->postings, writer->batch);
    seal_stats(writer);
    pattern_table_put(writer->archive->patterns, writer->max_pattern, writer->batch);
    writer->mixed_upto = mixed_table_put(writer->archive->mixed, writer->batch);
    seal_tolerance(writer);
    StoredTotals totals = slot_totals(writer);
    g_autoptr(GByteArray) value = g_byte_array_new();
    stored_totals_encode(&totals, value);
    LayoutKey key = totals_key(writer->slot);
    store_batch_put(writer->batch, FAMILY_META, key_bytes(&key), (Bytes){value->data, value->len});
    account_draft_put(&writer->draft, writer->accounts, writer->slot, writer->batch);
    writer->sealed = TRUE;
}

static void group_clear(ArchiveWriter *writer) {
    puts_returned(&writer->records);
    puts_returned(&writer->index_entries);
    region_clear(&writer->values);
    id_set_empty(&writer->traces);
    writer->change = (StoredTotals){.traces = 0};
    g_array_set_size(writer->functions, 0);
    g_array_set_size(writer->hosts, 0);
    writer->max_pattern = 0;
    writer->any = FALSE;
    writer->pending_spans = 0;
    writer->sealed = FALSE;
}

static gboolean group_write(ArchiveWriter *writer, gboolean sync, GError **error) {
    Archive *archive = writer->archive;
    pthread_rwlock_rdlock(&archive->commit_lock);
    gboolean written = store_write(archive->store, writer->batch, sync, error);
    if (written) {
        atomic_fetch_add_explicit(&archive->late_waiting, (guint64)writer->change.late_waiting, memory_order_relaxed);
        StoredTotals totals = slot_totals(writer);
        pthread_mutex_lock(&archive->totals_lock);
        g_array_index(archive->slots, TotalsSlot, writer->slot).totals = totals;
        account_draft_apply(&writer->draft, writer->accounts);
        pthread_mutex_unlock(&archive->totals_lock);
    }
    pthread_rwlock_unlock(&archive->commit_lock);
    return written;
}

gboolean archive_writer_commit(ArchiveWriter *writer, gboolean sync, GError **error) {
    if (!writer->any) return TRUE;
    RollUp *roll_up = &writer->archive->roll_up;
    pthread_mutex_lock(&writer->archive->seal_lock);
    pthread_rwlock_rdlock(&roll_up->sealing);
    if (!writer->sealed) group_seal(writer);
    gboolean written = group_write(writer, sync, error);
    note_unwritten(writer, !written);
    if (written) group_calls_tell(&writer->calls);
    pthread_rwlock_unlock(&roll_up->sealing);
    pthread_mutex_unlock(&writer->archive->seal_lock);
    if (!written) return FALSE;
    pattern_table_stored(writer->archive->patterns, writer->max_pattern);
    mixed_table_stored(writer->archive->mixed, writer->mixed_upto);
    atomic_store_explicit(&writer->archive->tolerance_stored, TRUE, memory_order_relaxed);
    distinct_set_add(&writer->archive->distinct, writer->functions, writer->hosts);
    group_clear(writer);
    return TRUE;
}
