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
}

void stale_set_clear(StaleSet *set) {
    g_clear_pointer(&set->marks, g_array_unref);
    g_clear_pointer(&set->rows, g_hash_table_unref);
}

StaleRow *stale_set_find(const StaleSet *set, const PatternRows *row) {
    if (set->marks->len == 0) return NULL;
    StaleRow wanted = {*row, FALSE};
    return g_hash_table_lookup(set->rows, &wanted);
}

static void mark_add(StaleSet *set, const DirtyMark *mark) {
    g_array_append_val(set->marks, *mark);
    for (StatsLevel level = LEVEL_MINUTE; level < LEVEL_COUNT; level++) {
        StaleRow stale = {{level, mark->minute / level_minutes(level), mark->pattern}, FALSE};
        if (!g_hash_table_contains(set->rows, &stale)) g_hash_table_add(set->rows, g_memdup2(&stale, sizeof stale));
    }
}

gboolean stale_set_load(StaleSet *set, StoreIter *dirty, const guint32 minutes[2], guint32 pattern, GError **error) {
    LayoutKey from = dirty_key((DirtyMark){minutes[0], 0});
    for (gboolean more = store_iter_seek(dirty, key_bytes(&from)); more; more = store_iter_next(dirty)) {
        DirtyMark mark;
        if (!dirty_key_parse(store_iter_key(dirty), &mark))
            return fail(error, PLUMB_ERROR_CORRUPT, "a mark of stale statistics is malformed");
        if (mark.minute >= minutes[1]) break;
        if (pattern == 0 || pattern == mark.pattern) mark_add(set, &mark);
    }
    return TRUE;
}
