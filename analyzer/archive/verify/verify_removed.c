#include "analyzer/archive/verify/verify_removed.h"

#include "common/base/pair_hash.h"

struct RemovedCheck {
    Archive *archive;
    StoreIter *stats;
    RemovedSet *removed;
    guint32 kept_from[LEVEL_COUNT];
    GHashTable *traces; /* minute and pattern (guint64) -> number of those that are there */
    GHashTable *calls;  /* minute -> number of those that are there */
    gboolean any;
};

RemovedCheck *removed_check_new(Archive *archive, StoreIter *meta, StoreIter *stats, GError **error) {
    g_autoptr(RemovedCheck) check = g_new0(RemovedCheck, 1);
    check->archive = archive;
    check->stats = stats;
    check->removed = removed_set_new();
    check->traces = g_hash_table_new_full(pair_hash, g_int64_equal, g_free, NULL);
    check->calls = g_hash_table_new(NULL, NULL);
    for (guint level = 0; level < LEVEL_COUNT; level++)
        check->kept_from[level] = atomic_load_explicit(&archive->kept_from[level], memory_order_relaxed);
    if (!removed_set_load(check->removed, meta, 0, G_MAXUINT32, error)) return NULL;
    check->any = removed_set_size(check->removed) > 0 || check->kept_from[LEVEL_MINUTE] > 0;
    return g_steal_pointer(&check);
}

void removed_check_free(RemovedCheck *check) {
    if (check == NULL) return;
    removed_set_free(check->removed);
    g_hash_table_unref(check->traces);
    g_hash_table_unref(check->calls);
    g_free(check);
}

gboolean removed_check_any(const RemovedCheck *check) { return check->any; }

static guint64 place_of(guint32 minute, guint32 pattern) { return (guint64)minute << 32 | pattern; }

static void count(GHashTable *table, gpointer key) {
    gsize n = GPOINTER_TO_SIZE(g_hash_table_lookup(table, key));
    g_hash_table_insert(table, key, GSIZE_TO_POINTER(n + 1));
}

void removed_check_note(RemovedCheck *check, const TraceSummary *summary, const GPtrArray *spans) {
    if (!check->any) return;
    guint32 minute = stats_bucket(LEVEL_MINUTE, summary->begin_ns);
    if (removed_set_find(check->removed, minute) != NULL) {
        guint64 place = place_of(minute, summary->pattern);
        count(check->traces, g_memdup2(&place, sizeof place));
    }
    for (guint i = 0; i < spans->len; i++) {
        minute = stats_bucket(LEVEL_MINUTE, ((const SpanRec *)g_ptr_array_index(spans, i))->begin_ns);
        if (removed_set_find(check->removed, minute) != NULL) count(check->calls, GUINT_TO_POINTER(minute));
    }
}

gboolean removed_check_explains(const RemovedCheck *check, const StatsKey *key) {
    if (!check->any) return FALSE;
    if (key->bucket < check->kept_from[key->level]) return TRUE;
    guint32 length = level_minutes(key->level), first = key->bucket * length;
    if (first < check->kept_from[LEVEL_MINUTE]) return TRUE;
    for (guint32 i = 0; i < length; i++)
        if (removed_set_find(check->removed, first + i) != NULL) return TRUE;
    return FALSE;
}

/* ---- the end ---- */

typedef struct Finish {
    RemovedCheck *check;
    RemovedDiffers differs;
    void *arg;
    GError **error;
    gboolean failed;
} Finish;

/* Calls that the rows of all hosts count of a minute: of one object (a pattern's node 0 are its traces), or of all. */
static gboolean counted(Finish *finish, const StatsKey *which, guint64 *calls) {
    StoreIter *stats = finish->check->stats;
    *calls = 0;
    for (gboolean more = iter_seek_key(stats, stats_key(which)); more; more = store_iter_next(stats)) {
        StatsKey key;
        if (!stats_key_parse(store_iter_key(stats), &key) || key.level != which->level || key.kind != which->kind ||
            key.bucket != which->bucket || (which->object != 0 && key.object != which->object))
            break;
        if (key.cell != 0) continue;
        g_autoptr(StatsRow) row = stats_row_new();
        if (stats_row_merge_encoded(row, store_iter_value(stats))) *calls += stats_row_node(row, 0)->duration.count;
    }
    return iter_finished(stats, finish->error);
}

static void compare(Finish *finish, const char *of, guint64 is, guint64 there, guint64 removed) {
    if (is == there + removed) return;
    g_autofree char *text = g_strdup_printf("%s: %" G_GUINT64_FORMAT " are counted, %" G_GUINT64_FORMAT
                                            " are stored and %" G_GUINT64_FORMAT " were removed",
                                            of, is, there, removed);
    finish->differs(finish->arg, text);
}

static void finish_minute(void *arg, guint32 minute, const RemovedMinute *removed) {
    Finish *finish = arg;
    RemovedCheck *check = finish->check;
    if (finish->failed || minute < check->kept_from[LEVEL_MINUTE]) return;

    guint64 is = 0;
    StatsKey key = {.level = LEVEL_MINUTE, .kind = STATS_FUNCTION, .bucket = minute};
    finish->failed = !counted(finish, &key, &is);
    g_autofree char *calls = g_strdup_printf("calls of minute %u", minute);
    guint64 there = GPOINTER_TO_SIZE(g_hash_table_lookup(check->calls, GUINT_TO_POINTER(minute)));
    if (!finish->failed) compare(finish, calls, is, there, removed->calls);

    for (guint i = 0; !finish->failed && i < removed->patterns->len; i++) {
        const RemovedPattern *pattern = &g_array_index(removed->patterns, RemovedPattern, i);
        StatsKey row = {.level = LEVEL_MINUTE, .kind = STATS_PATTERN, .bucket = minute, .object = pattern->pattern};
        guint64 taken = 0;
        finish->failed = !counted(finish, &row, &is);
        row.kind = STATS_TAKEN;
        finish->failed = finish->failed || !counted(finish, &row, &taken);
        if (finish->failed) return;

        guint64 place = place_of(minute, pattern->pattern);
        there = GPOINTER_TO_SIZE(g_hash_table_lookup(check->traces, &place));
        g_autofree char *traces = g_strdup_printf("traces of pattern %u in minute %u", pattern->pattern, minute);
        compare(finish, traces, is - taken, there, pattern->traces);
    }
}

gboolean removed_check_finish(RemovedCheck *check, RemovedDiffers differs, void *arg, GError **error) {
    Finish finish = {check, differs, arg, error, FALSE};
    removed_set_foreach(check->removed, finish_minute, &finish);
    return !finish.failed;
}
