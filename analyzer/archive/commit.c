#include <string.h>

#include "analyzer/archive/writer.h"

/* Most groups lie within one minute or one hour: rows of coarser levels are then the finer ones once more, and need
 * neither be summed nor held beside them. */
typedef struct Sealing {
    ArchiveWriter *writer;
    guint32 first_minute, last_minute;
    StatsLevel summed; /* the coarsest level whose rows differ from those of the next finer one */
    RowMap *coarse;    /* of hours up to that level */
    GByteArray *value;
} Sealing;

static void note_minute(void *arg, const StatsKey *key, StatsRow *row) {
    Sealing *sealing = arg;
    (void)row;
    sealing->first_minute = MIN(sealing->first_minute, key->bucket);
    sealing->last_minute = MAX(sealing->last_minute, key->bucket);
}

static StatsKey key_at(const StatsKey *minute, StatsLevel level) {
    StatsKey key = *minute;
    key.level = level;
    key.bucket = minute->bucket / level_minutes(level);
    return key;
}

/* 'key' is of the row's level; the same value goes to coarser levels that hold nothing else. */
static void merge_row(Sealing *sealing, const StatsKey *key, StatsRow *row) {
    g_byte_array_set_size(sealing->value, 0);
    stats_row_encode(row, sealing->value);
    StatsKey to = *key;
    for (;;) {
        LayoutKey stored = stats_key(&to);
        store_batch_merge(sealing->writer->batch, FAMILY_STATS, key_bytes(&stored),
                          (Bytes){sealing->value->data, sealing->value->len});
        if (to.level < sealing->summed || to.level + 1 == LEVEL_COUNT) return;
        to.level++;
        to.bucket /= level_children(to.level);
    }
}

static void seal_row(void *arg, const StatsKey *key, StatsRow *row) {
    Sealing *sealing = arg;
    ArchiveWriter *writer = sealing->writer;
    merge_row(sealing, key, row);
    if (key->kind == STATS_PATTERN) {
        PatternOperand operand = {key->bucket, key->object, key->host, writer->operand_bytes->len, sealing->value->len};
        g_array_append_val(writer->operands, operand);
        g_byte_array_append(writer->operand_bytes, sealing->value->data, sealing->value->len);
    } else if (stats_row_size(row) > 0) {
        g_array_append_vals(writer->functions, key, 1);
    }
    for (StatsLevel level = LEVEL_HOUR; level <= sealing->summed; level++) {
        StatsKey coarse = key_at(key, level);
        stats_row_merge(row_map_get(sealing->coarse, &coarse), row);
    }
}

static void seal_stats(ArchiveWriter *writer) {
    g_autoptr(RowMap) coarse = row_map_new();
    g_autoptr(GByteArray) value = g_byte_array_new();
    Sealing sealing = {writer, G_MAXUINT32, 0, LEVEL_DAY, coarse, value};
    stats_group_foreach(writer->stats, note_minute, &sealing);
    while (sealing.summed > LEVEL_MINUTE) {
        guint32 finer = level_minutes(sealing.summed - 1);
        if (sealing.first_minute / finer != sealing.last_minute / finer) break;
        sealing.summed--;
    }
    stats_group_foreach(writer->stats, seal_row, &sealing);
    StatsKey key = {.level = LEVEL_MINUTE};
    StatsRow *row = NULL;
    for (gboolean more = row_map_seek(coarse, &key, &key, &row); more; more = row_map_next(coarse, &key, &row))
        merge_row(&sealing, &key, row);
    stats_group_clear(writer->stats);
    writer->stats_idle_bytes = stats_group_size_bytes(writer->stats);
}

static void seal_tolerance(ArchiveWriter *writer) {
    if (__atomic_load_n(&writer->archive->tolerance_stored, __ATOMIC_RELAXED)) return;
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
    seal_tolerance(writer);
    StoredTotals totals = slot_totals(writer);
    g_autoptr(GByteArray) value = g_byte_array_new();
    stored_totals_encode(&totals, value);
    LayoutKey key = totals_key(writer->slot);
    store_batch_put(writer->batch, FAMILY_META, key_bytes(&key), (Bytes){value->data, value->len});
    account_draft_put(&writer->draft, writer->books, writer->slot, writer->batch);
    writer->sealed = TRUE;
}

static void group_clear(ArchiveWriter *writer) {
    id_set_empty(&writer->traces);
    writer->change = (StoredTotals){.traces = 0};
    g_array_set_size(writer->functions, 0);
    g_array_set_size(writer->operands, 0);
    g_byte_array_set_size(writer->operand_bytes, 0);
    writer->max_pattern = 0;
    writer->late_change = 0;
    writer->any = FALSE;
    writer->sealed = FALSE;
}

static gboolean group_write(ArchiveWriter *writer, gboolean sync, GError **error) {
    Archive *archive = writer->archive;
    pthread_rwlock_rdlock(&archive->gate);
    gboolean written = store_write(archive->store, writer->batch, sync, error);
    if (written) {
        __atomic_fetch_add(&archive->late_waiting, (guint64)writer->late_change, __ATOMIC_RELAXED);
        settle_note_operands(archive, writer->operands, writer->operand_bytes->data);
        StoredTotals totals = slot_totals(writer);
        pthread_mutex_lock(&archive->totals_lock);
        g_array_index(archive->slots, TotalsSlot, writer->slot).totals = totals;
        account_draft_apply(&writer->draft, writer->books);
        pthread_mutex_unlock(&archive->totals_lock);
    }
    pthread_rwlock_unlock(&archive->gate);
    return written;
}

gboolean archive_writer_commit(ArchiveWriter *writer, gboolean sync, GError **error) {
    if (!writer->any) return TRUE;
    if (!writer->sealed) group_seal(writer);
    if (!group_write(writer, sync, error)) return FALSE;
    pattern_table_stored(writer->archive->patterns, writer->max_pattern);
    __atomic_store_n(&writer->archive->tolerance_stored, TRUE, __ATOMIC_RELAXED);
    kind_set_add_all(&writer->archive->kinds, writer->functions);
    group_clear(writer);
    return TRUE;
}
