#include "analyzer/archive/stale.h"

#include "common/base/error.h"

guint32 level_minutes(StatsLevel level) {
    static const guint32 minutes[LEVEL_COUNT] = {1, 60, 60 * 24};
    return minutes[level];
}

guint32 level_children(StatsLevel level) {
    static const guint32 children[LEVEL_COUNT] = {0, 60, 24};
    return children[level];
}

static guint stale_hash(gconstpointer key) {
    const PatternRows *row = &((const StaleRow *)key)->row;
    return ((row->bucket * 0x9e3779b1u) ^ row->pattern) * 0x85ebca6bu + row->level;
}

static gboolean stale_equal(gconstpointer a, gconstpointer b) {
    const PatternRows *x = &((const StaleRow *)a)->row, *y = &((const StaleRow *)b)->row;
    return x->level == y->level && x->bucket == y->bucket && x->pattern == y->pattern;
}

void stale_set_init(StaleSet *set) {
    set->marks = g_array_new(FALSE, FALSE, sizeof(DirtyMark));
    set->rows = g_hash_table_new_full(stale_hash, stale_equal, g_free, NULL);
    set->replaced = row_map_new();
}

void stale_set_clear(StaleSet *set) {
    g_clear_pointer(&set->marks, g_array_unref);
    g_clear_pointer(&set->rows, g_hash_table_unref);
    g_clear_pointer(&set->replaced, row_map_free);
}

StaleRow *stale_set_find(const StaleSet *set, const PatternRows *row) {
    if (set->marks->len == 0) return NULL;
    StaleRow wanted = {*row, FALSE};
    return g_hash_table_lookup(set->rows, &wanted);
}

static gboolean mark_add(StaleSet *set, const DirtyMark *mark, Bytes value) {
    StatsKey key = {.level = LEVEL_MINUTE, .kind = STATS_PATTERN, .bucket = mark->minute, .object = mark->pattern};
    if (!stats_row_merge_encoded(row_map_get(set->replaced, &key), value)) return FALSE;
    g_array_append_val(set->marks, *mark);
    for (StatsLevel level = LEVEL_MINUTE; level < LEVEL_COUNT; level++) {
        StaleRow stale = {{level, mark->minute / level_minutes(level), mark->pattern}, FALSE};
        if (!g_hash_table_contains(set->rows, &stale)) g_hash_table_add(set->rows, g_memdup2(&stale, sizeof stale));
    }
    return TRUE;
}

gboolean stale_set_load(StaleSet *set, StoreIter *dirty, const guint32 minutes[2], guint32 pattern, GError **error) {
    LayoutKey from = dirty_key(&(DirtyMark){.minute = minutes[0]});
    for (gboolean more = store_iter_seek(dirty, key_bytes(&from)); more; more = store_iter_next(dirty)) {
        DirtyMark mark;
        if (!dirty_key_parse(store_iter_key(dirty), &mark))
            return fail(error, PLUMB_ERROR_CORRUPT, "a mark of stale statistics has a malformed key");
        if (mark.minute >= minutes[1]) break;
        if (pattern != 0 && pattern != mark.pattern) continue;
        if (!mark_add(set, &mark, store_iter_value(dirty)))
            return fail(error, PLUMB_ERROR_CORRUPT, "a mark of stale statistics is malformed");
    }
    return TRUE;
}

guint stale_set_first(const StaleSet *set, guint32 minute, guint32 pattern) {
    guint low = 0, high = set->marks->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const DirtyMark *mark = &g_array_index(set->marks, DirtyMark, middle);
        if (mark->minute < minute || (mark->minute == minute && mark->pattern < pattern))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

gboolean stale_set_subtract(const StaleSet *set, const PatternRows *minute, const StatsKey *as, RowMap *rows) {
    StatsKey key = {.level = LEVEL_MINUTE, .kind = STATS_PATTERN, .bucket = minute->bucket, .object = minute->pattern};
    StatsKey found;
    StatsRow *replaced = NULL;
    if (!row_map_seek(set->replaced, &key, &found, &replaced) || stats_key_compare(&key, &found) != 0) return TRUE;
    StatsRow *row = row_map_get(rows, as);
    if (!stats_row_subtract(row, replaced)) return FALSE;
    if (stats_row_size(row) == 0) row_map_remove(rows, as);
    return TRUE;
}
