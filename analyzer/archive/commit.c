#include <string.h>

#include "analyzer/archive/writer.h"

typedef struct Sealing {
    ArchiveWriter *writer;
    RowMap *coarse; /* hours and days */
    GByteArray *value;
} Sealing;

static void merge_row(Sealing *sealing, const StatsKey *key, StatsRow *row) {
    g_byte_array_set_size(sealing->value, 0);
    stats_row_encode(row, sealing->value);
    LayoutKey stored = stats_key(key);
    store_batch_merge(sealing->writer->batch, FAMILY_STATS, key_bytes(&stored),
                      (Bytes){sealing->value->data, sealing->value->len});
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
    StatsKey coarse = *key;
    coarse.level = LEVEL_HOUR;
    coarse.bucket = key->bucket / 60;
    stats_row_merge(row_map_get(sealing->coarse, &coarse), row);
    coarse.level = LEVEL_DAY;
    coarse.bucket = key->bucket / (60 * 24);
    stats_row_merge(row_map_get(sealing->coarse, &coarse), row);
}

static void seal_stats(ArchiveWriter *writer) {
    g_autoptr(RowMap) coarse = row_map_new();
    g_autoptr(GByteArray) value = g_byte_array_new();
    Sealing sealing = {writer, coarse, value};
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
    seal_stats(writer);
    pattern_table_put(writer->archive->patterns, writer->max_pattern, writer->batch);
    seal_tolerance(writer);
    StoredTotals totals = slot_totals(writer);
    g_autoptr(GByteArray) value = g_byte_array_new();
    stored_totals_encode(&totals, value);
    LayoutKey key = totals_key(writer->slot);
    store_batch_put(writer->batch, FAMILY_META, key_bytes(&key), (Bytes){value->data, value->len});
    writer->sealed = TRUE;
}

static void group_clear(ArchiveWriter *writer) {
    id_set_empty(&writer->traces);
    writer->change = (StoredTotals){.traces = 0};
    g_array_set_size(writer->functions, 0);
    g_array_set_size(writer->operands, 0);
    g_byte_array_set_size(writer->operand_bytes, 0);
    writer->max_pattern = 0;
    writer->sealed = FALSE;
}

static gboolean group_write(ArchiveWriter *writer, gboolean sync, GError **error) {
    Archive *archive = writer->archive;
    pthread_rwlock_rdlock(&archive->gate);
    gboolean written = store_write(archive->store, writer->batch, sync, error);
    if (written) {
        settle_note_operands(archive, writer->operands, writer->operand_bytes->data);
        StoredTotals totals = slot_totals(writer);
        pthread_mutex_lock(&archive->totals_lock);
        g_array_index(archive->slots, TotalsSlot, writer->slot).totals = totals;
        pthread_mutex_unlock(&archive->totals_lock);
    }
    pthread_rwlock_unlock(&archive->gate);
    return written;
}

gboolean archive_writer_commit(ArchiveWriter *writer, gboolean sync, GError **error) {
    if (writer->traces.used == 0 && !writer->traces.has_zero) return TRUE;
    if (!writer->sealed) group_seal(writer);
    if (!group_write(writer, sync, error)) return FALSE;
    pattern_table_stored(writer->archive->patterns, writer->max_pattern);
    __atomic_store_n(&writer->archive->tolerance_stored, TRUE, __ATOMIC_RELAXED);
    kind_set_add_all(&writer->archive->kinds, writer->functions);
    group_clear(writer);
    return TRUE;
}
