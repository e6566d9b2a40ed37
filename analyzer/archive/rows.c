#include <string.h>

#include "analyzer/archive/internal.h"
#include "analyzer/archive/removed.h"
#include "common/base/error.h"

/* One question under way. */
typedef struct Reading {
    Archive *archive;
    const StatsFilter *filter;
    Snapshot snapshot;
    StaleSet stale;            /* marks of the period and the object */
    RowMap *rows;              /* sums, with level, bucket and cell 0 in the key */
    StatsHostVisit visit_host; /* not NULL: instead of sums */
    void *arg;
    gboolean stopped; /* by visit_host */
} Reading;

static gboolean malformed_row(GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "a stored statistics row is malformed");
}

static gboolean add_value(StoreIter *iter, const StatsKey *as, RowMap *rows, GError **error) {
    return stats_row_merge_encoded(row_map_get(rows, as), store_iter_value(iter)) || malformed_row(error);
}

gboolean rows_add_stored(StoreIter *stats, const PatternRows *which, const StatsKey *as, RowMap *rows, GError **error) {
    StatsKey key = {.level = which->level, .kind = STATS_PATTERN, .bucket = which->bucket, .object = which->pattern};
    LayoutKey stored = stats_key(&key);
    if (!store_iter_seek(stats, key_bytes(&stored))) return iter_finished(stats, error);
    Bytes at = store_iter_key(stats);
    if (at.size_bytes != stored.size_bytes || memcmp(at.data, stored.bytes, at.size_bytes) != 0) return TRUE;
    return add_value(stats, as, rows, error);
}

/* ---- stored rows of a range ---- */

/* Cells that a question is about. */
static void wanted_cells(const StatsFilter *filter, guint32 *first, guint32 *last) {
    *first = *last = 0;
    if (!filter->by_host) return;
    *first = filter->host != 0 ? stats_cell(filter->host) : 1;
    *last = filter->host != 0 ? *first : STATS_CELLS_MAX;
}

/* Where to go on when a row is not wanted. FALSE: it is. */
static gboolean skip_to(const StatsFilter *filter, const StatsKey *at, StatsKey *to) {
    guint32 first, last;
    wanted_cells(filter, &first, &last);
    *to = (StatsKey){at->level, at->kind, at->bucket, filter->object, 0, at->cell, 0};
    if (at->cell < first) {
        to->cell = first;
        return TRUE;
    }
    gboolean passed = filter->object != 0 && at->object > filter->object;
    if (at->cell <= last && !passed) return at->object < filter->object;
    to->cell = at->cell < last ? at->cell + 1 : first;
    if (at->cell >= last) to->bucket = at->bucket == G_MAXUINT32 ? at->bucket : at->bucket + 1;
    if (to->bucket == at->bucket && at->cell >= last) to->kind++; /* no bucket follows: behind all of them */
    return TRUE;
}

/* What to do with a stored value. FALSE: stop, with *error or without. */
typedef gboolean (*ValueVisit)(void *arg, const StatsKey *key, Bytes value, GError **error);

typedef struct Range {
    StatsLevel level;
    guint32 from, until; /* buckets */
    ValueVisit visit;
    void *arg;
} Range;

/* Visits the wanted values of a range of buckets. */
static gboolean walk_range(Reading *reading, const Range *range, GError **error) {
    if (range->from >= range->until || reading->stopped) return TRUE;
    StoreIter *iter = reading->snapshot.iters[FAMILY_STATS];
    const StatsFilter *filter = reading->filter;
    StatsKey key = {.level = range->level, .kind = filter->kind, .bucket = range->from, .object = filter->object}, to;
    guint32 last;
    wanted_cells(filter, &key.cell, &last);
    for (gboolean more = iter_seek_key(iter, stats_key(&key)); more;) {
        if (!stats_key_parse(store_iter_key(iter), &key) || key.level != range->level || key.kind != filter->kind ||
            key.bucket >= range->until)
            break;
        if (skip_to(filter, &key, &to)) {
            more = iter_seek_key(iter, stats_key(&to));
            continue;
        }
        gboolean role = filter->kind == STATS_PATTERN || filter->role < 0 || key.role == (guint32)filter->role;
        if (role && !range->visit(range->arg, &key, store_iter_value(iter), error)) return FALSE;
        if (reading->stopped) return TRUE;
        more = store_iter_next(iter);
    }
    return iter_finished(iter, error);
}

/* Hosts of a cell that are wanted, one by one. */
static gboolean visit_hosts(Reading *reading, const StatsKey *key, Bytes value, GError **error) {
    StatsHosts hosts;
    stats_hosts_begin(&hosts, value);
    while (!reading->stopped && stats_hosts_next(&hosts)) {
        if (reading->filter->host != 0 && hosts.host != reading->filter->host) continue;
        StatsKey as = {.kind = key->kind, .object = key->object, .role = key->role, .host = hosts.host};
        if (reading->visit_host != NULL)
            reading->stopped = !reading->visit_host(reading->arg, &as, &hosts);
        else if (!stats_hosts_merge(&hosts, row_map_get(reading->rows, &as)))
            return malformed_row(error);
    }
    return !hosts.failed || malformed_row(error);
}

/* Rows with a mark inside are left for add_marked(). */
static gboolean take_value(void *arg, const StatsKey *key, Bytes value, GError **error) {
    Reading *reading = arg;
    if (key->cell != 0) return visit_hosts(reading, key, value, error);
    if (key->kind == STATS_PATTERN &&
        stale_set_find(&reading->stale, &(PatternRows){key->level, key->bucket, key->object}))
        return TRUE;
    StatsKey as = {.kind = key->kind, .object = key->object, .role = key->role};
    return stats_row_merge_encoded(row_map_get(reading->rows, &as), value) || malformed_row(error);
}

static gboolean read_range(Reading *reading, StatsLevel level, guint32 from, guint32 until, GError **error) {
    const Range range = {level, from, until, take_value, reading};
    return walk_range(reading, &range, error);
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
    gboolean removed = FALSE;
    if (!removed_any(reading->archive->store, minute, &removed, error)) return FALSE;
    for (guint i = 0; removed && i < patterns->len; i++) { /* the traces are not all there: what is stored must do */
        guint32 pattern = g_array_index(patterns, guint32, i);
        StatsKey as = {.kind = STATS_PATTERN, .object = pattern};
        PatternRows which = {LEVEL_MINUTE, minute, pattern};
        if (!rows_add_stored(reading->snapshot.iters[FAMILY_STATS], &which, &as, reading->rows, error)) return FALSE;
    }
    if (removed) return TRUE;
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

/* Cuts [from, until) into days inside, hours around them, minutes at the edges and where nothing is rolled. */
static gboolean read_period(Reading *reading, guint32 from, guint32 until, GError **error) {
    const guint32 *rolled_below = reading->snapshot.rolled_below;
    guint32 hour_from = (from + 59) / 60, hour_until = MIN(until / 60, rolled_below[LEVEL_HOUR]);
    if (hour_from >= hour_until) return read_level(reading, LEVEL_MINUTE, from, until, error);
    guint32 day_from = (hour_from + 23) / 24, day_until = MIN(hour_until / 24, rolled_below[LEVEL_DAY]);
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

/* Where finer rows have been removed for their age, the period is widened to what coarser ones tell. */
static void widen(const Archive *archive, guint32 *from, guint32 *until) {
    for (StatsLevel level = LEVEL_MINUTE; level < LEVEL_DAY; level++) {
        guint64 kept = (guint64)__atomic_load_n(&archive->kept_from[level], __ATOMIC_RELAXED) * level_minutes(level);
        guint32 unit = level_minutes(level + 1);
        if (*from < kept) *from -= *from % unit;
        if (*until<kept && * until> * from) *until += (unit - *until % unit) % unit;
    }
}

static gboolean reading_run(Reading *reading, GError **error) {
    const StatsFilter *filter = reading->filter;
    if (filter->until_ns <= filter->since_ns) return TRUE;
    guint32 from = stats_bucket(LEVEL_MINUTE, filter->since_ns);
    guint32 until = stats_bucket(LEVEL_MINUTE, filter->until_ns - 1) + 1;
    if (filter->until_ns <= 0) until = from; /* earlier times count in bucket 0, but nobody asks for them */
    widen(reading->archive, &from, &until);
    const guint32 minutes[2] = {from, until};
    StoreIter *dirty = reading->snapshot.iters[FAMILY_DIRTY];
    if (filter->kind == STATS_PATTERN && !filter->by_host &&
        (!stale_set_load(&reading->stale, dirty, minutes, filter->object, error) || !iter_finished(dirty, error)))
        return FALSE;
    return read_period(reading, from, until, error) && add_marked_minutes(reading, error);
}

static gboolean reading_do(Reading *reading, Archive *archive, const StatsFilter *filter, GError **error) {
    static const StoreFamily families[] = {FAMILY_STATS, FAMILY_DIRTY, FAMILY_TRACE};
    reading->archive = archive;
    reading->filter = filter;
    stale_set_init(&reading->stale);
    snapshot_take(archive, families, filter->kind == STATS_PATTERN ? 3 : 1, &reading->snapshot);
    gboolean ok = reading_run(reading, error);
    snapshot_clear(&reading->snapshot);
    stale_set_clear(&reading->stale);
    return ok;
}

gboolean archive_stats(Archive *archive, const StatsFilter *filter, StatsRowVisit visit, void *arg, GError **error) {
    g_autoptr(RowMap) rows = row_map_new();
    Reading reading = {.rows = rows};
    if (!reading_do(&reading, archive, filter, error)) return FALSE;
    StatsKey key = {.level = LEVEL_MINUTE};
    StatsRow *row = NULL;
    for (gboolean more = row_map_seek(rows, &key, &key, &row); more; more = row_map_next(rows, &key, &row))
        visit(arg, &key, row);
    return TRUE;
}

gboolean archive_stats_hosts(Archive *archive, const StatsFilter *filter, StatsHostVisit visit, void *arg,
                             GError **error) {
    Reading reading = {.visit_host = visit, .arg = arg};
    return reading_do(&reading, archive, filter, error);
}
