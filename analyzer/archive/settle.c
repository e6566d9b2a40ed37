#include <stdlib.h>

#include "analyzer/archive/internal.h"
#include "analyzer/archive/removed.h"
#include "common/base/error.h"

/* What a mark says is taken back from the stored rows of its pattern: a few small reads and one small write. Where what
 * is left cannot be told, the minute is computed anew. It may hold millions of traces, and writers must not wait while
 * they are read; so that is done from a snapshot without any lock, while commits note here what they add to the same
 * rows, and both are put together and written at the end. Marks that come meanwhile stay: they are about records that
 * the snapshot or the notes count. */
typedef struct Settling {
    guint32 minute;
    const guint32 *patterns; /* ascending */
    guint n_patterns;
    StaleSet *stale;      /* the marks that the snapshot has */
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
        StatsKey key = {
            .level = LEVEL_MINUTE, .kind = STATS_PATTERN, .bucket = operand->minute, .object = operand->pattern};
        stats_row_merge_encoded(row_map_get(settling->added, &key), (Bytes){bytes + operand->at, operand->size_bytes});
    }
    pthread_mutex_unlock(&settling->lock);
}

static StatsKey row_key(const PatternRows *which) {
    return (StatsKey){.level = which->level, .kind = STATS_PATTERN, .bucket = which->bucket, .object = which->pattern};
}

/* Adds the row of one pattern and bucket to 'to', as 'as'. */
static void rows_move(RowMap *from, const PatternRows *which, const StatsKey *as, RowMap *to) {
    StatsKey key = row_key(which), found;
    StatsRow *row = NULL;
    if (row_map_seek(from, &key, &found, &row) && stats_key_compare(&key, &found) == 0)
        stats_row_merge(row_map_get(to, as), row);
}

/* Replaces the stored row of one pattern and bucket by that in 'rows', if there is one. */
static void rows_replace(const PatternRows *which, RowMap *rows, StoreBatch *batch) {
    StatsKey key = row_key(which), found;
    StatsRow *row = NULL;
    LayoutKey stored = stats_key(&key);
    if (!row_map_seek(rows, &key, &found, &row) || stats_key_compare(&key, &found) != 0) {
        store_batch_delete(batch, FAMILY_STATS, key_bytes(&stored));
        return;
    }
    g_autoptr(GByteArray) value = g_byte_array_new();
    stats_row_encode(row, value);
    store_batch_put(batch, FAMILY_STATS, key_bytes(&stored), (Bytes){value->data, value->len});
}

/* The rows of a coarser bucket, from the finer ones just computed and their stored neighbours. */
static gboolean rows_roll_up(StoreIter *stats, const PatternRows *finer, RowMap *rows, RowMap *coarse, GError **error) {
    guint32 children = level_children(finer->level + 1);
    StatsKey as = row_key(&(PatternRows){finer->level + 1, finer->bucket / children, finer->pattern});
    for (guint32 i = 0; i < children; i++) {
        PatternRows child = {finer->level, as.bucket * children + i, finer->pattern};
        if (child.bucket == finer->bucket)
            rows_move(rows, &child, &as, coarse);
        else if (!rows_add_stored(stats, &child, &as, coarse, error))
            return FALSE;
    }
    return TRUE;
}

/* One pattern and minute, and the hour and day around it. Under the exclusive lock; the iterator sees what is stored.
 */
typedef struct Change {
    Archive *archive;
    const StaleSet *stale;
    StoreIter *stats;
    PatternRows at[LEVEL_COUNT];
    RowMap *rows[LEVEL_COUNT]; /* as they shall be */
} Change;

static void change_begin(Change *change, Archive *archive, const StaleSet *stale, const PatternRows *minute) {
    *change = (Change){.archive = archive, .stale = stale};
    change->stats = store_iter_new(archive->store, FAMILY_STATS);
    for (StatsLevel level = LEVEL_MINUTE; level < LEVEL_COUNT; level++) {
        change->at[level] = (PatternRows){level, minute->bucket / level_minutes(level), minute->pattern};
        change->rows[level] = row_map_new();
    }
}

static void change_end(Change *change) {
    store_iter_free(change->stats);
    for (guint level = 0; level < LEVEL_COUNT; level++) row_map_free(change->rows[level]);
}

/* Others have no rows yet, or rows that nobody reads. */
static gboolean is_rolled(const Change *change, StatsLevel level) {
    return level == LEVEL_MINUTE || change->at[level].bucket < change->archive->roll_up.rolled_below[level];
}

/* The stored rows of one level less what the marks say. *told FALSE: that cannot be told. */
static gboolean change_subtract(Change *change, StatsLevel level, gboolean *told, GError **error) {
    const PatternRows *at = &change->at[level];
    StatsKey as = row_key(at);
    if (!rows_add_stored(change->stats, at, &as, change->rows[level], error)) return FALSE;
    *told = stale_set_subtract(change->stale, &change->at[LEVEL_MINUTE], &as, change->rows[level]);
    return TRUE;
}

/* Hour and day, when the minute's rows are as they shall be. 'subtract': the marks are all that changes. */
static gboolean change_coarser(Change *change, gboolean subtract, GError **error) {
    for (StatsLevel level = LEVEL_HOUR; level < LEVEL_COUNT; level++) {
        if (!is_rolled(change, level)) return TRUE;
        gboolean told = FALSE;
        if (subtract && !change_subtract(change, level, &told, error)) return FALSE;
        if (told) continue;
        row_map_free(change->rows[level]);
        change->rows[level] = row_map_new();
        if (!rows_roll_up(change->stats, &change->at[level - 1], change->rows[level - 1], change->rows[level], error))
            return FALSE;
    }
    return TRUE;
}

/* Writes the rows, and deletes the marks that they no longer need. */
static gboolean change_write(Change *change, GError **error) {
    g_autoptr(StoreBatch) batch = store_batch_new(change->archive->store);
    for (StatsLevel level = LEVEL_MINUTE; level < LEVEL_COUNT; level++) {
        if (is_rolled(change, level)) rows_replace(&change->at[level], change->rows[level], batch);
    }
    const GArray *marks = change->stale->marks;
    const PatternRows *minute = &change->at[LEVEL_MINUTE];
    for (guint i = stale_set_first(change->stale, minute->bucket, minute->pattern); i < marks->len; i++) {
        const DirtyMark *mark = &g_array_index(marks, DirtyMark, i);
        if (mark->minute != minute->bucket || mark->pattern != minute->pattern) break;
        LayoutKey key = dirty_key(mark);
        store_batch_delete(batch, FAMILY_DIRTY, key_bytes(&key));
    }
    return store_write(change->archive->store, batch, FALSE, error);
}

/* *told FALSE: nothing was changed, the minute must be computed anew. */
static gboolean take_back(Archive *archive, const StaleSet *stale, const PatternRows *minute, gboolean *told,
                          GError **error) {
    Change change;
    pthread_rwlock_wrlock(&archive->gate);
    change_begin(&change, archive, stale, minute);
    gboolean ok = change_subtract(&change, LEVEL_MINUTE, told, error);
    if (ok && *told) ok = change_coarser(&change, TRUE, error) && change_write(&change, error);
    change_end(&change);
    pthread_rwlock_unlock(&archive->gate);
    return ok;
}

/* ---- computing anew ---- */

static gboolean write_computed(Archive *archive, Settling *settling, const PatternRows *minute, RowMap *computed,
                               GError **error) {
    Change change;
    const StaleSet *stale = settling->stale;
    StatsKey as = row_key(minute);
    pthread_rwlock_wrlock(&archive->gate);
    change_begin(&change, archive, stale, minute);
    rows_move(computed, minute, &as, change.rows[LEVEL_MINUTE]);
    rows_move(settling->added, minute, &as, change.rows[LEVEL_MINUTE]);
    gboolean ok = change_coarser(&change, FALSE, error) && change_write(&change, error);
    change_end(&change);
    pthread_rwlock_unlock(&archive->gate);
    return ok;
}

typedef struct SettlingView {
    StoreIter *traces;
    StoreIter *dirty;
} SettlingView;

/* From here on commits note what they do to these rows; nothing older than the iterators is missing in them. */
static SettlingView settling_begin(Archive *archive, Settling *settling) {
    pthread_rwlock_wrlock(&archive->gate);
    archive->settling = settling;
    SettlingView view = {store_iter_new(archive->store, FAMILY_TRACE), store_iter_new(archive->store, FAMILY_DIRTY)};
    pthread_rwlock_unlock(&archive->gate);
    return view;
}

static void settling_end(Archive *archive, SettlingView *view) {
    pthread_rwlock_wrlock(&archive->gate);
    archive->settling = NULL;
    pthread_rwlock_unlock(&archive->gate);
    store_iter_free(view->traces);
    store_iter_free(view->dirty);
}

static gboolean compute_patterns(Archive *archive, Settling *settling, const SettlingView *view, GError **error) {
    const guint32 minutes[2] = {settling->minute, settling->minute + 1};
    if (!stale_set_load(settling->stale, view->dirty, minutes, 0, error) || !iter_finished(view->dirty, error))
        return FALSE;
    g_autoptr(RowMap) computed = row_map_new();
    Recompute what = {view->traces, settling->minute, settling->patterns, settling->n_patterns};
    if (!recompute_rows(archive, &what, FALSE, computed, error)) return FALSE;
    for (guint i = 0; i < settling->n_patterns; i++) {
        PatternRows minute = {LEVEL_MINUTE, settling->minute, settling->patterns[i]};
        if (!write_computed(archive, settling, &minute, computed, error)) return FALSE;
    }
    return TRUE;
}

static gboolean compute_anew(Archive *archive, guint32 minute, const GArray *patterns, GError **error) {
    g_auto(StaleSet) stale;
    stale_set_init(&stale);
    Settling settling = {.minute = minute,
                         .patterns = (const guint32 *)(gconstpointer)patterns->data,
                         .n_patterns = patterns->len,
                         .stale = &stale,
                         .added = row_map_new()};
    pthread_mutex_init(&settling.lock, NULL);
    SettlingView view = settling_begin(archive, &settling);
    gboolean ok = compute_patterns(archive, &settling, &view, error);
    settling_end(archive, &view);
    pthread_mutex_destroy(&settling.lock);
    row_map_free(settling.added);
    return ok;
}

/* ---- minutes of which traces were removed ---- */

/* They cannot be computed anew. Their rows go on counting the replaced records too, and these are noted as removed. */
static gboolean leave_as_is(Archive *archive, const StaleSet *stale, guint32 minute, const GArray *patterns,
                            GError **error) {
    g_autoptr(RemovedSet) removed = removed_set_new();
    g_autoptr(StoreBatch) batch = store_batch_new(archive->store);
    for (guint i = 0; i < patterns->len; i++) {
        guint32 pattern = g_array_index(patterns, guint32, i);
        for (guint k = stale_set_first(stale, minute, pattern); k < stale->marks->len; k++) {
            const DirtyMark *mark = &g_array_index(stale->marks, DirtyMark, k);
            if (mark->minute != minute || mark->pattern != pattern) break;
            removed_set_add_trace(removed, minute, pattern, mark->n_spans);
            LayoutKey key = dirty_key(mark);
            store_batch_delete(batch, FAMILY_DIRTY, key_bytes(&key));
        }
    }
    return removed_set_put(removed, archive->store, batch, error) && store_write(archive->store, batch, FALSE, error);
}

/* ---- minute by minute ---- */

static gboolean settle_minute(Archive *archive, const StaleSet *stale, guint32 minute, GError **error) {
    g_autoptr(GArray) untold = g_array_new(FALSE, FALSE, sizeof(guint32));
    PatternRows at = {LEVEL_MINUTE, minute, 0};
    for (guint i = 0; i < stale->marks->len; i++) {
        guint32 pattern = g_array_index(stale->marks, DirtyMark, i).pattern;
        if (pattern == at.pattern) continue; /* numbers begin at 1 */
        at.pattern = pattern;
        gboolean told = TRUE;
        if (!take_back(archive, stale, &at, &told, error)) return FALSE;
        if (!told) g_array_append_val(untold, pattern);
    }
    if (untold->len == 0) return TRUE;
    gboolean removed = FALSE;
    if (!removed_any(archive->store, minute, &removed, error)) return FALSE;
    return removed ? leave_as_is(archive, stale, minute, untold, error) : compute_anew(archive, minute, untold, error);
}

/* The first marked minute >= *minute; G_MAXUINT32 when there is none (no time reaches it). */
static gboolean marked_minute(StoreIter *dirty, guint32 *minute, GError **error) {
    DirtyMark mark = {.minute = *minute};
    if (!iter_seek_key(dirty, dirty_key(&mark))) {
        *minute = G_MAXUINT32;
        return iter_finished(dirty, error);
    }
    if (!dirty_key_parse(store_iter_key(dirty), &mark))
        return fail(error, PLUMB_ERROR_CORRUPT, "a mark of stale statistics has a malformed key");
    *minute = mark.minute;
    return TRUE;
}

static gboolean settle_next(Archive *archive, guint32 *minute, GError **error) {
    g_auto(StaleSet) stale;
    stale_set_init(&stale);
    g_autoptr(StoreIter) dirty = store_iter_new(archive->store, FAMILY_DIRTY);
    if (!marked_minute(dirty, minute, error)) return FALSE;
    if (*minute == G_MAXUINT32) return TRUE;
    const guint32 minutes[2] = {*minute, *minute + 1};
    if (!stale_set_load(&stale, dirty, minutes, 0, error) || !iter_finished(dirty, error)) return FALSE;
    return settle_minute(archive, &stale, (*minute)++, error);
}

gboolean archive_settle(Archive *archive, GError **error) {
    pthread_mutex_lock(&archive->settle_lock);
    gboolean ok = archive_join(archive, error);
    if (!ok) error = NULL; /* the first one counts */
    gboolean joined = ok;
    ok = TRUE;
    for (guint32 minute = 0; ok && minute != G_MAXUINT32;) ok = settle_next(archive, &minute, error);
    pthread_mutex_unlock(&archive->settle_lock);
    return ok && joined;
}
