#include <string.h>

#include "analyzer/archive/internal.h"
#include "common/base/error.h"

/* One question under way. */
typedef struct Reading {
    Archive *archive;
    const StatsFilter *filter;
    Snapshot snapshot;
    StaleSet stale; /* marks of the period and the object */
    RowMap *rows;   /* sums, with level and bucket 0 in the key */
} Reading;

static gboolean add_value(StoreIter *iter, const StatsKey *as, RowMap *rows, GError **error) {
    if (stats_row_merge_encoded(row_map_get(rows, as), store_iter_value(iter))) return TRUE;
    return fail(error, PLUMB_ERROR_CORRUPT, "a stored statistics row is malformed");
}

gboolean rows_add_stored(StoreIter *stats, const PatternRows *which, const StatsKey *as, RowMap *rows, GError **error) {
    StatsKey from = {which->level, STATS_PATTERN, which->bucket, which->pattern, 0, 0};
    for (gboolean more = iter_seek_key(stats, stats_key(&from)); more; more = store_iter_next(stats)) {
        StatsKey key, to = *as;
        if (!stats_key_parse(store_iter_key(stats), &key)) break;
        if (key.level != from.level || key.kind != from.kind || key.bucket != from.bucket || key.object != from.object)
            break;
        to.role = key.role;
        to.host = key.host;
        if (!add_value(stats, &to, rows, error)) return FALSE;
    }
    return iter_finished(stats, error);
}

static gboolean row_wanted(const StatsFilter *filter, const StatsKey *key) {
    if (filter->object != 0 && key->object != filter->object) return FALSE;
    if (filter->host != 0 && key->host != filter->host) return FALSE;
    return filter->kind == STATS_PATTERN || filter->role < 0 || key->role == (guint32)filter->role;
}

/* With one object asked for, everything between its rows is jumped over. TRUE: the iterator was moved. */
static gboolean jump(StoreIter *iter, const StatsFilter *filter, const StatsKey *at, gboolean *more) {
    if (filter->object == 0 || at->object == filter->object) return FALSE;
    StatsKey to = {at->level, at->kind, at->bucket, filter->object, 0, 0};
    if (at->object > filter->object) {
        if (at->bucket == G_MAXUINT32) *more = FALSE;
        to.bucket++;
    }
    if (*more) *more = iter_seek_key(iter, stats_key(&to));
    return TRUE;
}

/* Sums the rows of the buckets [from, until) of one level; those with a mark inside are left for add_marked(). */
static gboolean read_range(Reading *reading, StatsLevel level, guint32 from, guint32 until, GError **error) {
    if (from >= until) return TRUE;
    StoreIter *iter = reading->snapshot.iters[FAMILY_STATS];
    const StatsFilter *filter = reading->filter;
    StatsKey first = {level, filter->kind, from, filter->object, 0, 0};
    gboolean more = iter_seek_key(iter, stats_key(&first));
    while (more) {
        StatsKey key;
        if (!stats_key_parse(store_iter_key(iter), &key) || key.level != level || key.kind != filter->kind ||
            key.bucket >= until)
            break;
        if (jump(iter, filter, &key, &more)) continue;
        gboolean stale = filter->kind == STATS_PATTERN &&
                         stale_set_find(&reading->stale, &(PatternRows){level, key.bucket, key.object});
        if (!stale && row_wanted(filter, &key)) {
            StatsKey to = {LEVEL_MINUTE, key.kind, 0, key.object, key.role, key.host};
            if (!add_value(iter, &to, reading->rows, error)) return FALSE;
        }
        more = store_iter_next(iter);
    }
    return iter_finished(iter, error);
}

/* The stale row of one pattern in one hour or day: from finer rows, but for the marked minutes. */
static gboolean add_finer(Reading *reading, const PatternRows *stale, GError **error) {
    for (guint32 i = 0; i < level_children(stale->level); i++) {
        PatternRows child = {stale->level - 1, stale->bucket * level_children(stale->level) + i, stale->pattern};
        StatsKey as = {.kind = STATS_PATTERN, .object = stale->pattern};
        gboolean ok = TRUE;
        if (stale_set_find(&reading->stale, &child) == NULL) {
            ok = rows_add_stored(reading->snapshot.iters[FAMILY_STATS], &child, &as, reading->rows, error);
        } else if (child.level != LEVEL_MINUTE) {
            ok = add_finer(reading, &child, error); /* a day's hour: no deeper than this */
        }
        if (!ok) return FALSE;
    }
    return TRUE;
}

/* The rows of a marked minute and pattern: what is stored less what the marks say. *told is FALSE when that cannot be
 * told. */
static gboolean add_marked_minute(Reading *reading, const PatternRows *minute, gboolean *told, GError **error) {
    g_autoptr(RowMap) rows = row_map_new();
    StatsKey as = {.kind = STATS_PATTERN, .object = minute->pattern};
    if (!rows_add_stored(reading->snapshot.iters[FAMILY_STATS], minute, &as, rows, error)) return FALSE;
    *told = stale_set_subtract(&reading->stale, minute, &as, rows);
    if (!*told) return TRUE;
    StatsKey key;
    StatsRow *row = NULL;
    for (gboolean more = row_map_seek(rows, &as, &key, &row); more; more = row_map_next(rows, &key, &row))
        stats_row_merge(row_map_get(reading->rows, &key), row);
    return TRUE;
}

static gboolean recompute_minute_of(Reading *reading, guint32 minute, const GArray *patterns, GError **error) {
    if (patterns->len == 0) return TRUE;
    Recompute what = {reading->snapshot.iters[FAMILY_TRACE], minute, (const guint32 *)(gconstpointer)patterns->data,
                      patterns->len};
    return recompute_rows(reading->archive, &what, TRUE, reading->rows, error);
}

static gboolean add_marked_minutes(Reading *reading, GError **error) {
    const GArray *marks = reading->stale.marks;
    g_autoptr(GArray) untold = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i < marks->len;) {
        PatternRows at = {LEVEL_MINUTE, g_array_index(marks, DirtyMark, i).minute, 0};
        g_array_set_size(untold, 0);
        for (; i < marks->len && g_array_index(marks, DirtyMark, i).minute == at.bucket; i++) {
            guint32 pattern = g_array_index(marks, DirtyMark, i).pattern;
            if (pattern == at.pattern) continue; /* numbers begin at 1 */
            at.pattern = pattern;
            gboolean told = TRUE;
            if (!add_marked_minute(reading, &at, &told, error)) return FALSE;
            if (!told) g_array_append_val(untold, pattern);
        }
        if (!recompute_minute_of(reading, at.bucket, untold, error)) return FALSE;
    }
    return TRUE;
}

/* What read_range() left out of [from, until): each stale row once. */
static gboolean add_marked(Reading *reading, StatsLevel level, guint32 from, guint32 until, GError **error) {
    if (level == LEVEL_MINUTE) return TRUE;
    const GArray *marks = reading->stale.marks;
    for (guint i = 0; i < marks->len; i++) {
        const DirtyMark *mark = &g_array_index(marks, DirtyMark, i);
        guint32 bucket = mark->minute / level_minutes(level);
        if (bucket < from || bucket >= until) continue;
        StaleRow *stale = stale_set_find(&reading->stale, &(PatternRows){level, bucket, mark->pattern});
        if (stale->done) continue;
        stale->done = TRUE;
        if (!add_finer(reading, &stale->row, error)) return FALSE;
    }
    return TRUE;
}

static gboolean read_level(Reading *reading, StatsLevel level, guint32 from, guint32 until, GError **error) {
    return read_range(reading, level, from, until, error) && add_marked(reading, level, from, until, error);
}

/* Cuts [from, until) into days inside, hours around them, minutes at the edges. */
static gboolean read_period(Reading *reading, guint32 from, guint32 until, GError **error) {
    guint32 hour_from = (from + 59) / 60, hour_until = until / 60;
    if (hour_from >= hour_until) return read_level(reading, LEVEL_MINUTE, from, until, error);
    guint32 day_from = (hour_from + 23) / 24, day_until = hour_until / 24;
    if (!read_level(reading, LEVEL_MINUTE, from, hour_from * 60, error)) return FALSE;
    if (day_from >= day_until) {
        if (!read_level(reading, LEVEL_HOUR, hour_from, hour_until, error)) return FALSE;
    } else {
        if (!read_level(reading, LEVEL_HOUR, hour_from, day_from * 24, error)) return FALSE;
        if (!read_level(reading, LEVEL_DAY, day_from, day_until, error)) return FALSE;
        if (!read_level(reading, LEVEL_HOUR, day_until * 24, hour_until, error)) return FALSE;
    }
    return read_level(reading, LEVEL_MINUTE, hour_until * 60, until, error);
}

static gboolean reading_run(Reading *reading, GError **error) {
    const StatsFilter *filter = reading->filter;
    if (filter->until_ns <= filter->since_ns) return TRUE;
    guint32 from = stats_bucket(LEVEL_MINUTE, filter->since_ns);
    guint32 until = stats_bucket(LEVEL_MINUTE, filter->until_ns - 1) + 1;
    if (filter->until_ns <= 0) until = from; /* earlier times count in bucket 0, but nobody asks for them */
    const guint32 minutes[2] = {from, until};
    StoreIter *dirty = reading->snapshot.iters[FAMILY_DIRTY];
    if (filter->kind == STATS_PATTERN &&
        (!stale_set_load(&reading->stale, dirty, minutes, filter->object, error) || !iter_finished(dirty, error)))
        return FALSE;
    return read_period(reading, from, until, error) && add_marked_minutes(reading, error);
}

static void reading_visit(Reading *reading, StatsVisit visit, void *arg) {
    StatsKey key = {.level = LEVEL_MINUTE};
    StatsRow *row = NULL;
    for (gboolean more = row_map_seek(reading->rows, &key, &key, &row); more;
         more = row_map_next(reading->rows, &key, &row)) {
        if (row_wanted(reading->filter, &key)) visit(arg, &key, row);
    }
}

gboolean archive_stats(Archive *archive, const StatsFilter *filter, StatsVisit visit, void *arg, GError **error) {
    static const StoreFamily families[] = {FAMILY_STATS, FAMILY_DIRTY, FAMILY_TRACE};
    g_autoptr(RowMap) rows = row_map_new();
    Reading reading = {.archive = archive, .filter = filter, .rows = rows};
    stale_set_init(&reading.stale);
    snapshot_take(archive, families, filter->kind == STATS_PATTERN ? 3 : 1, &reading.snapshot);
    gboolean ok = reading_run(&reading, error);
    snapshot_clear(&reading.snapshot);
    stale_set_clear(&reading.stale);
    if (ok) reading_visit(&reading, visit, arg);
    return ok;
}
