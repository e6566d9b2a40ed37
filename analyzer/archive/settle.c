#include <stdlib.h>

#include "analyzer/archive/internal.h"
#include "common/base/error.h"

/* A minute may hold millions of traces, and writers must not wait while they are read. So the rows of a minute are
 * computed from a snapshot without any lock, while commits note here what they add to the same rows; then, row by row,
 * under the exclusive lock, both are put together and written. A pattern that a commit marks anew meanwhile keeps its
 * mark and is left for the next call. */
typedef struct Settling {
    guint32 minute;
    const guint32 *patterns; /* ascending */
    guint n_patterns;
    guint8 *remarked;
    pthread_mutex_t lock; /* of what commits note: they hold the gate shared */
    RowMap *added;
} Settling;

static int compare_u32(gconstpointer a, gconstpointer b) {
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return x < y ? -1 : x > y;
}

/* Position of a pattern, or -1. */
static gssize settling_find(const Settling *settling, guint32 minute, guint32 pattern) {
    if (minute != settling->minute) return -1;
    const guint32 *at = bsearch(&pattern, settling->patterns, settling->n_patterns, sizeof pattern, compare_u32);
    return at == NULL ? -1 : at - settling->patterns;
}

void settle_note_operands(Archive *archive, const GArray *operands, const guint8 *bytes) {
    Settling *settling = archive->settling;
    if (settling == NULL) return;
    pthread_mutex_lock(&settling->lock);
    for (guint i = 0; i < operands->len; i++) {
        const PatternOperand *operand = &g_array_index(operands, PatternOperand, i);
        if (settling_find(settling, operand->minute, operand->pattern) < 0) continue;
        StatsKey key = {LEVEL_MINUTE, STATS_PATTERN, operand->minute, operand->pattern, 0, operand->host};
        stats_row_merge_encoded(row_map_get(settling->added, &key), (Bytes){bytes + operand->at, operand->size_bytes});
    }
    pthread_mutex_unlock(&settling->lock);
}

void settle_note_marks(Archive *archive, const GArray *marks) {
    Settling *settling = archive->settling;
    if (settling == NULL) return;
    pthread_mutex_lock(&settling->lock);
    for (guint i = 0; i < marks->len; i++) {
        const DirtyMark *mark = &g_array_index(marks, DirtyMark, i);
        gssize at = settling_find(settling, mark->minute, mark->pattern);
        if (at >= 0) settling->remarked[at] = TRUE;
    }
    pthread_mutex_unlock(&settling->lock);
}

/* Adds the rows of one pattern and level to 'to', under level and bucket of 'as'. */
static void rows_move(RowMap *from, const PatternRows *which, const StatsKey *as, RowMap *to) {
    StatsKey key = {which->level, STATS_PATTERN, which->bucket, which->pattern, 0, 0};
    StatsRow *row = NULL;
    gboolean more = row_map_seek(from, &key, &key, &row);
    for (; more && key.level == which->level && key.bucket == which->bucket && key.object == which->pattern;
         more = row_map_next(from, &key, &row)) {
        StatsKey to_key = *as;
        to_key.host = key.host;
        stats_row_merge(row_map_get(to, &to_key), row);
    }
}

/* Replaces the stored rows of one pattern and bucket by those in 'rows' with the same level and bucket. */
static gboolean rows_replace(StoreIter *stats, const PatternRows *which, RowMap *rows, StoreBatch *batch,
                             GError **error) {
    StatsKey from = {which->level, STATS_PATTERN, which->bucket, which->pattern, 0, 0};
    for (gboolean more = iter_seek_key(stats, stats_key(&from)); more; more = store_iter_next(stats)) {
        StatsKey key;
        if (!stats_key_parse(store_iter_key(stats), &key) || key.level != from.level || key.kind != from.kind ||
            key.bucket != from.bucket || key.object != from.object)
            break;
        store_batch_delete(batch, FAMILY_STATS, store_iter_key(stats));
    }
    if (!iter_finished(stats, error)) return FALSE;
    g_autoptr(GByteArray) value = g_byte_array_new();
    StatsKey key = from;
    StatsRow *row = NULL;
    gboolean more = row_map_seek(rows, &from, &key, &row);
    for (; more && key.level == from.level && key.bucket == from.bucket; more = row_map_next(rows, &key, &row)) {
        g_byte_array_set_size(value, 0);
        stats_row_encode(row, value);
        LayoutKey stored = stats_key(&key);
        store_batch_put(batch, FAMILY_STATS, key_bytes(&stored), (Bytes){value->data, value->len});
    }
    return TRUE;
}

/* The row of a coarser bucket, from the finer one just computed (in 'rows') and its stored neighbours. */
static gboolean rows_roll_up(StoreIter *stats, const PatternRows *finer, RowMap *rows, GError **error) {
    guint32 children = finer->level == LEVEL_MINUTE ? 60 : 24;
    StatsKey as = {finer->level + 1, STATS_PATTERN, finer->bucket / children, finer->pattern, 0, 0};
    g_autoptr(RowMap) sums = row_map_new();
    for (guint32 i = 0; i < children; i++) {
        PatternRows child = {finer->level, as.bucket * children + i, finer->pattern};
        if (child.bucket == finer->bucket)
            rows_move(rows, &child, &as, sums);
        else if (!rows_add_stored(stats, &child, &as, sums, error))
            return FALSE;
    }
    rows_move(sums, &(PatternRows){as.level, as.bucket, as.object}, &as, rows);
    return TRUE;
}

/* Under the exclusive lock: a hundred small reads and one small write. */
static gboolean pattern_write(Archive *archive, Settling *settling, guint32 pattern, RowMap *computed, GError **error) {
    PatternRows minute = {LEVEL_MINUTE, settling->minute, pattern};
    PatternRows hour = {LEVEL_HOUR, minute.bucket / 60, pattern};
    PatternRows day = {LEVEL_DAY, hour.bucket / 24, pattern};
    StatsKey as = {LEVEL_MINUTE, STATS_PATTERN, settling->minute, pattern, 0, 0};
    g_autoptr(RowMap) rows = row_map_new();
    rows_move(computed, &minute, &as, rows);
    rows_move(settling->added, &minute, &as, rows);

    g_autoptr(StoreIter) stats = store_iter_new(archive->store, FAMILY_STATS);
    g_autoptr(StoreBatch) batch = store_batch_new(archive->store);
    if (!rows_roll_up(stats, &minute, rows, error) || !rows_roll_up(stats, &hour, rows, error)) return FALSE;
    if (!rows_replace(stats, &minute, rows, batch, error) || !rows_replace(stats, &hour, rows, batch, error) ||
        !rows_replace(stats, &day, rows, batch, error))
        return FALSE;
    LayoutKey mark = dirty_key((DirtyMark){settling->minute, pattern});
    store_batch_delete(batch, FAMILY_DIRTY, key_bytes(&mark));
    return store_write(archive->store, batch, FALSE, error);
}

/* From here on commits note what they do to these rows, and nothing older than the iterator is missing in it. */
static StoreIter *settling_begin(Archive *archive, Settling *settling) {
    pthread_rwlock_wrlock(&archive->gate);
    archive->settling = settling;
    StoreIter *traces = store_iter_new(archive->store, FAMILY_TRACE);
    pthread_rwlock_unlock(&archive->gate);
    return traces;
}

static void settling_end(Archive *archive) {
    pthread_rwlock_wrlock(&archive->gate);
    archive->settling = NULL;
    pthread_rwlock_unlock(&archive->gate);
}

static gboolean settle_patterns(Archive *archive, Settling *settling, StoreIter *traces, GError **error) {
    g_autoptr(RowMap) computed = row_map_new();
    Recompute what = {traces, settling->minute, settling->patterns, settling->n_patterns};
    gboolean ok = recompute_rows(archive, &what, FALSE, computed, error);
    for (guint i = 0; ok && i < settling->n_patterns; i++) {
        pthread_rwlock_wrlock(&archive->gate);
        if (!settling->remarked[i]) ok = pattern_write(archive, settling, settling->patterns[i], computed, error);
        pthread_rwlock_unlock(&archive->gate);
    }
    return ok;
}

static gboolean settle_minute(Archive *archive, guint32 minute, const GArray *patterns, GError **error) {
    Settling settling = {
        .minute = minute, .patterns = (const guint32 *)(gconstpointer)patterns->data, .n_patterns = patterns->len};
    settling.remarked = g_new0(guint8, patterns->len);
    settling.added = row_map_new();
    pthread_mutex_init(&settling.lock, NULL);
    StoreIter *traces = settling_begin(archive, &settling);
    gboolean ok = settle_patterns(archive, &settling, traces, error);
    settling_end(archive);
    store_iter_free(traces);
    pthread_mutex_destroy(&settling.lock);
    row_map_free(settling.added);
    g_free(settling.remarked);
    return ok;
}

/* Marks of the first marked minute >= *minute; none: patterns stays empty. */
static gboolean marks_next(Archive *archive, guint32 *minute, GArray *patterns, GError **error) {
    g_autoptr(StoreIter) iter = store_iter_new(archive->store, FAMILY_DIRTY);
    for (gboolean more = iter_seek_key(iter, dirty_key((DirtyMark){*minute, 0})); more; more = store_iter_next(iter)) {
        DirtyMark mark;
        if (!dirty_key_parse(store_iter_key(iter), &mark)) return fail(error, PLUMB_ERROR_CORRUPT, "malformed mark");
        if (patterns->len > 0 && mark.minute != *minute) break;
        *minute = mark.minute;
        g_array_append_val(patterns, mark.pattern);
    }
    return iter_finished(iter, error);
}

gboolean archive_settle(Archive *archive, GError **error) {
    g_autoptr(GArray) patterns = g_array_new(FALSE, FALSE, sizeof(guint32));
    pthread_mutex_lock(&archive->settle_lock);
    gboolean ok = TRUE;
    for (guint32 minute = 0; ok; minute++) {
        g_array_set_size(patterns, 0);
        ok = marks_next(archive, &minute, patterns, error);
        if (patterns->len == 0) break;
        if (ok) ok = settle_minute(archive, minute, patterns, error);
        if (minute == G_MAXUINT32) break;
    }
    pthread_mutex_unlock(&archive->settle_lock);
    return ok;
}
