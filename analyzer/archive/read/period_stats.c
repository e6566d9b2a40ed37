#include "analyzer/archive/read/period_stats.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

/* Rows in memory at a time, when they are visited slice by slice. */
#define SLICE_BYTES (16u << 20)

/* What was taken away from one row, beside its value. */
#define TAKEN_BYTES 160u

/* The rows of some places that lie one behind the other. */
typedef struct Slice {
    gboolean on; /* FALSE: all places at once */
    StatsPlace from, until;
    gboolean ends; /* at 'until', which is left for the next slice */
} Slice;

/* One question under way. */
typedef struct Reading {
    Archive *archive;
    const StatsFilter *filter;
    Snapshot snapshot;
    RowMap *rows;              /* sums, with level, bucket and cell 0 in the key */
    StatsKind kind;            /* what is read: the filter's, or what was taken away from it */
    GHashTable *taken;         /* GBytes -> GBytes: key of a pattern's row, and what was taken away from that row */
    StatsHostVisit visit_host; /* not NULL: instead of sums */
    gboolean by_minute;        /* visit_host is told the minute */
    StatsWeightVisit weigh;    /* the same */
    StatsKey weighed;          /* the row that weigh_node() is told of */
    Slice slice;
    void *arg;
    gboolean stopped; /* by visit_host */
} Reading;

static gboolean malformed_row(GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "a stored statistics row is malformed");
}

/* ---- stored rows of a range ---- */

/* Cells that a question is about. */
static void wanted_cells(const StatsFilter *filter, guint32 *first, guint32 *last) {
    *first = *last = 0;
    if (!filter->by_host) return;
    *first = filter->host != 0 ? stats_cell(filter->host) : 1;
    *last = filter->host != 0 ? *first : STATS_CELLS_MAX;
}

static int compare_places(const void *a, const void *b) {
    const StatsPlace *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return (x->role > y->role) - (x->role < y->role);
}

guint stats_places_tidy(StatsPlace *places, guint n) {
    guint kept = 0;
    if (n > 0) qsort(places, n, sizeof *places, compare_places);
    for (guint i = 0; i < n; i++) {
        if (i == 0 || compare_places(&places[kept - 1], &places[i]) != 0) places[kept++] = places[i];
    }
    return kept;
}

/* Where the first place at or behind a row is: in its bucket, or at the begin of the next. FALSE: it is there. */
static gboolean skip_to_place(const StatsFilter *filter, const StatsKey *at, StatsKey *to) {
    const StatsPlace here = {at->cell, at->object, at->role};
    guint low = 0, high = filter->n_places;

    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (compare_places(&filter->places[middle], &here) < 0)
            low = middle + 1;
        else
            high = middle;
    }

    if (low < filter->n_places && compare_places(&filter->places[low], &here) == 0) return FALSE;
    gboolean last = low == filter->n_places;
    const StatsPlace *place = &filter->places[last ? 0 : low];
    *to = (StatsKey){at->level, at->kind, at->bucket, place->object, place->role, place->cell, 0};

    if (!last) return TRUE;
    if (at->bucket < G_MAXUINT32)
        to->bucket++;
    else
        to->kind++; /* no bucket follows: behind all of them */
    return TRUE;
}

static StatsPlace place_of(const StatsKey *key) { return (StatsPlace){key->cell, key->object, key->role}; }

static StatsKey key_at(const StatsKey *like, const StatsPlace *place) {
    return (StatsKey){like->level, like->kind, like->bucket, place->object, place->role, place->cell, 0};
}

/* Where to go on when a row is not in the slice. FALSE: it is. */
static gboolean skip_to_slice(const Slice *slice, const StatsKey *at, StatsKey *to) {
    const StatsPlace here = place_of(at);
    if (!slice->on) return FALSE;
    *to = key_at(at, &slice->from);
    if (compare_places(&here, &slice->from) < 0) return TRUE;
    if (!slice->ends || compare_places(&here, &slice->until) < 0) return FALSE;
    if (at->bucket < G_MAXUINT32)
        to->bucket++;
    else
        to->kind++; /* no bucket follows: behind all of them */
    return TRUE;
}

/* Where to go on when a row is not wanted. FALSE: it is. */
static gboolean skip_to(const Reading *reading, const StatsKey *at, StatsKey *to) {
    const StatsFilter *filter = reading->filter;
    guint32 first, last;
    if (skip_to_slice(&reading->slice, at, to)) return TRUE;
    if (filter->places != NULL) return skip_to_place(filter, at, to);
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

static gboolean is_of_function(StatsKind kind) { return kind == STATS_FUNCTION || kind == STATS_FAILED; }

/* What to do with a stored value. FALSE: stop, with *error or without. */
typedef gboolean (*ValueVisit)(void *arg, const StatsKey *key, Bytes value, GError **error);

typedef struct Range {
    StatsLevel level;
    guint32 from, until; /* buckets */
    ValueVisit visit;
    void *arg;
} Range;

/* The first row, from the middle on, whose place is another than that of the first of all. */
static gboolean find_cut(const Reading *reading, StatsKey *cut) {
    StatsKey key = {.level = LEVEL_MINUTE};
    StatsRow *row;
    StatsPlace first;
    gboolean more = row_map_seek(reading->rows, &key, &key, &row);
    for (guint i = 0; more; i++, more = row_map_next(reading->rows, &key, &row)) {
        const StatsPlace here = place_of(&key);
        if (i == 0) first = here;
        if (i < row_map_size(reading->rows) / 2 || compare_places(&first, &here) == 0) continue;
        *cut = key_at(&key, &here);
        return TRUE;
    }
    return FALSE;
}

/* With too many rows the slice ends earlier: those behind are read again with the next one. */
static void slice_trim(Reading *reading) {
    StatsKey cut;
    Slice *slice = &reading->slice;
    if (!slice->on || row_map_bytes(reading->rows) <= SLICE_BYTES || !find_cut(reading, &cut)) return;
    row_map_remove_from(reading->rows, &cut);
    slice->until = place_of(&cut);
    slice->ends = TRUE;
}

/* Visits the wanted values of a range of buckets. */
static gboolean walk_range(Reading *reading, const Range *range, GError **error) {
    if (range->from >= range->until || reading->stopped) return TRUE;
    if (reading->filter->places != NULL && reading->filter->n_places == 0) return TRUE;

    StoreIter *iter = reading->snapshot.iters[FAMILY_STATS];
    const StatsFilter *filter = reading->filter;
    StatsKey key = {.level = range->level, .kind = reading->kind, .bucket = range->from, .object = filter->object}, to;
    guint32 last;
    wanted_cells(filter, &key.cell, &last);

    for (gboolean more = iter_seek_key(iter, stats_key(&key)); more;) {
        if (!stats_key_parse(store_iter_key(iter), &key) || key.level != range->level || key.kind != reading->kind ||
            key.bucket >= range->until)
            break;
        if (!allowance_check(error)) return FALSE;

        if (skip_to(reading, &key, &to)) {
            more = iter_seek_key(iter, stats_key(&to));
            continue;
        }

        gboolean role = !is_of_function(reading->kind) || filter->role < 0 || key.role == (guint32)filter->role;
        if (role && !range->visit(range->arg, &key, store_iter_value(iter), error)) return FALSE;
        if (reading->stopped) return TRUE;
        slice_trim(reading);
        more = store_iter_next(iter);
    }
    return iter_finished(iter, error);
}

static gboolean is_wanted(const Reading *reading, const StatsKey *key) {
    const StatsFilter *filter = reading->filter;
    return filter->wanted == NULL || filter->wanted(filter->wanted_arg, key);
}

/* What was taken away has a minus sign. */
static void weigh_node(void *arg, const NodeWeight *weight) {
    Reading *reading = arg;
    NodeWeight signed_weight = *weight;
    if (reading->weighed.kind == STATS_TAKEN) {
        signed_weight.calls = -weight->calls;
        signed_weight.total_ns = -weight->total_ns;
        signed_weight.self_ns = -weight->self_ns;
        signed_weight.critical_ns = -weight->critical_ns;
    }
    reading->weigh(reading->arg, &reading->weighed, &signed_weight);
}

static gboolean add_host_row(Reading *reading, const StatsKey *key, const StatsHosts *hosts) {
    StatsRow *row = row_map_get(reading->rows, key);
    const gsize bytes = stats_row_bytes(row);
    const gboolean good = stats_hosts_merge(hosts, row);
    row_map_changed(reading->rows, row, bytes);
    return good;
}

/* Hosts of a cell that are wanted, one by one. */
static gboolean visit_hosts(Reading *reading, const StatsKey *key, Bytes value, GError **error) {
    StatsHosts hosts;
    stats_hosts_begin(&hosts, value);
    while (!reading->stopped && stats_hosts_next(&hosts) && allowance_goes_on_with(hosts.row.size_bytes)) {
        if (reading->filter->host != 0 && hosts.host != reading->filter->host) continue;
        StatsKey as = {.kind = key->kind, .object = key->object, .role = key->role, .host = hosts.host};
        if (reading->slice.on) as.cell = key->cell;
        if (reading->by_minute) as.bucket = key->bucket;
        if (!is_wanted(reading, &as)) continue;
        if (reading->weigh != NULL) {
            reading->weighed = as;
            if (!stats_hosts_weigh(&hosts, weigh_node, reading)) return malformed_row(error);
        } else if (reading->visit_host != NULL)
            reading->stopped = !reading->visit_host(reading->arg, &as, &hosts);
        else if (!add_host_row(reading, &as, &hosts))
            return malformed_row(error);
    }
    return !hosts.failed || malformed_row(error);
}

static GBytes *pattern_row_key(const StatsKey *key) {
    StatsKey of = *key;
    of.kind = STATS_PATTERN;
    LayoutKey stored = stats_key(&of);
    return g_bytes_new(stored.bytes, stored.size_bytes);
}

static gboolean add_row(Reading *reading, const StatsKey *key, Bytes value, GError **error) {
    StatsKey as = {.kind = key->kind, .object = key->object, .role = key->role};
    StatsRow *row = row_map_get(reading->rows, &as);
    const gsize bytes = stats_row_bytes(row);
    const gboolean good = stats_row_merge_encoded(row, value);
    row_map_changed(reading->rows, row, bytes);
    return good || malformed_row(error);
}

/* What was taken away from this row. Most often it is all: then they are the same to the byte, and nothing has to be
 * built of either. */
static gboolean add_pattern(Reading *reading, const StatsKey *key, Bytes value, GError **error) {
    g_autoptr(GBytes) name = pattern_row_key(key);
    GBytes *stored = g_hash_table_lookup(reading->taken, name);
    if (stored == NULL) return add_row(reading, key, value, error);
    Bytes taken = bytes_view(stored);
    StatsKey as = *key;
    as.kind = STATS_TAKEN;
    gboolean all = taken.size_bytes == value.size_bytes && memcmp(taken.data, value.data, value.size_bytes) == 0;
    gboolean ok = all || (add_row(reading, key, value, error) && add_row(reading, &as, taken, error));
    g_hash_table_remove(reading->taken, name);
    return ok;
}

static gboolean take_value(void *arg, const StatsKey *key, Bytes value, GError **error) {
    Reading *reading = arg;
    if (key->cell != 0) return visit_hosts(reading, key, value, error);
    StatsKey as = {.kind = key->kind, .object = key->object, .role = key->role};
    if (!is_wanted(reading, &as)) return TRUE;
    if (reading->weigh != NULL) {
        reading->weighed = as;
        return stats_value_weigh(value, weigh_node, reading) || malformed_row(error);
    }
    if (key->kind == STATS_PATTERN) return add_pattern(reading, key, value, error);
    if (is_of_function(key->kind)) return add_row(reading, key, value, error);
    allowance_charge(value.size_bytes + TAKEN_BYTES);
    g_hash_table_replace(reading->taken, pattern_row_key(key), g_bytes_new(value.data, value.size_bytes));
    return TRUE;
}

static gboolean read_level(Reading *reading, StatsLevel level, guint32 from, guint32 until, GError **error) {
    const Range range = {level, from, until, take_value, reading};
    return walk_range(reading, &range, error);
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
        guint64 kept =
            (guint64)atomic_load_explicit(&archive->kept_from[level], memory_order_relaxed) * level_minutes(level);
        guint32 unit = level_minutes(level + 1);
        if (*from < kept) *from -= *from % unit;
        if (*until<kept && * until> * from) *until += (unit - *until % unit) % unit;
    }
}

void archive_stats_period(const Archive *archive, gint64 *since_ns, gint64 *until_ns) {
    if (*until_ns <= MAX(*since_ns, 0)) return;
    /* Widened by at most a day; nothing lies where that would be beyond all time. */
    const gint64 last_ns = MIN(*until_ns - 1, G_MAXINT64 - 2 * (gint64)level_minutes(LEVEL_DAY) * NS_PER_MINUTE);
    guint32 from = stats_bucket(LEVEL_MINUTE, *since_ns), until = stats_bucket(LEVEL_MINUTE, last_ns) + 1;
    widen(archive, &from, &until);
    *since_ns = MIN(*since_ns, from * NS_PER_MINUTE);
    *until_ns = MAX(*until_ns, until * NS_PER_MINUTE);
}

static gboolean too_much_taken(GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "more was taken away from a statistics row than it held");
}

/* Rows of patterns less what was taken away from them since. */
static gboolean take_taken(Reading *reading, GError **error) {
    StatsKey key = {.kind = STATS_TAKEN}, next;
    StatsRow *taken = NULL;
    while (row_map_seek(reading->rows, &key, &next, &taken)) {
        StatsKey of = next;
        of.kind = STATS_PATTERN;
        StatsRow *row = row_map_get(reading->rows, &of);
        const gsize bytes = stats_row_bytes(row);
        const gboolean good = stats_row_take(row, taken);
        row_map_changed(reading->rows, row, bytes);
        if (!good) return too_much_taken(error);
        if (stats_row_size(row) == 0) row_map_remove(reading->rows, &of);
        row_map_remove(reading->rows, &next);
    }
    return TRUE;
}

static gboolean reading_run(Reading *reading, GError **error) {
    const StatsFilter *filter = reading->filter;
    if (filter->until_ns <= filter->since_ns) return TRUE;
    guint32 from = stats_bucket(LEVEL_MINUTE, filter->since_ns);
    guint32 until = stats_bucket(LEVEL_MINUTE, filter->until_ns - 1) + 1;
    if (filter->until_ns <= 0) until = from; /* earlier times count in bucket 0, but nobody asks for them */
    widen(reading->archive, &from, &until);
    gboolean totals = filter->kind == STATS_PATTERN && !filter->by_host;
    reading->kind = STATS_TAKEN;
    if (totals && !read_period(reading, from, until, error)) return FALSE;
    reading->kind = filter->kind;
    if (!read_period(reading, from, until, error)) return FALSE;
    if (!totals || reading->weigh != NULL) return TRUE;
    return g_hash_table_size(reading->taken) == 0 ? take_taken(reading, error) : too_much_taken(error);
}

static gboolean reading_do(Reading *reading, Archive *archive, const StatsFilter *filter, GError **error) {
    static const StoreFamily families[] = {FAMILY_STATS};
    reading->archive = archive;
    reading->filter = filter;
    reading->taken = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref,
                                           (GDestroyNotify)g_bytes_unref);
    snapshot_take(archive, families, G_N_ELEMENTS(families), &reading->snapshot);
    gboolean ok = reading_run(reading, error);
    snapshot_clear(&reading->snapshot);
    g_hash_table_unref(reading->taken);
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
    return allowance_check(error);
}

static void visit_slice(const Reading *reading, StatsRowVisit visit, void *arg) {
    StatsKey key = {.level = LEVEL_MINUTE};
    StatsRow *row = NULL;
    gboolean more = row_map_seek(reading->rows, &key, &key, &row);
    for (; more; more = row_map_next(reading->rows, &key, &row)) {
        StatsKey told = key;
        told.cell = 0;
        visit(arg, &told, row);
    }
}

static gboolean slices_run(Reading *reading, StatsRowVisit visit, void *arg, GError **error) {
    do {
        g_autoptr(RowMap) rows = row_map_new();
        reading->rows = rows;
        reading->slice.from = reading->slice.until;
        reading->slice.ends = FALSE;
        if (!reading_run(reading, error)) return FALSE;
        visit_slice(reading, visit, arg);
    } while (reading->slice.ends);
    return allowance_check(error);
}

gboolean archive_stats_slices(Archive *archive, const StatsFilter *filter, StatsRowVisit visit, void *arg,
                              GError **error) {
    static const StoreFamily families[] = {FAMILY_STATS};
    Reading reading = {.archive = archive, .filter = filter, .slice = {.on = TRUE}};
    g_return_val_if_fail(filter->kind == STATS_FUNCTION, FALSE);
    snapshot_take(archive, families, G_N_ELEMENTS(families), &reading.snapshot);
    gboolean ok = slices_run(&reading, visit, arg, error);
    snapshot_clear(&reading.snapshot);
    return ok;
}

gboolean archive_stats_weigh(Archive *archive, const StatsFilter *filter, StatsWeightVisit visit, void *arg,
                             GError **error) {
    Reading reading = {.weigh = visit, .arg = arg};
    return reading_do(&reading, archive, filter, error);
}

gboolean archive_stats_hosts(Archive *archive, const StatsFilter *filter, StatsHostVisit visit, void *arg,
                             GError **error) {
    Reading reading = {.visit_host = visit, .arg = arg};
    return reading_do(&reading, archive, filter, error);
}

gboolean archive_stats_minutes(Archive *archive, const StatsMinutes *minutes, StatsHostVisit visit, void *arg,
                               GError **error) {
    static const StoreFamily families[] = {FAMILY_STATS};
    const StatsFilter filter = {.kind = STATS_FUNCTION, .by_host = TRUE, .role = -1};
    Reading reading = {.archive = archive,
                       .filter = &filter,
                       .kind = STATS_FUNCTION,
                       .visit_host = visit,
                       .by_minute = TRUE,
                       .arg = arg};
    snapshot_take(archive, families, G_N_ELEMENTS(families), &reading.snapshot);
    gboolean ok = TRUE;
    for (guint i = 0; ok && i < minutes->n && !reading.stopped; i++) {
        reading.kind = STATS_FAILED;
        ok = read_level(&reading, LEVEL_MINUTE, minutes->list[i], minutes->list[i] + 1, error);
        reading.kind = STATS_FUNCTION;
        ok = ok && read_level(&reading, LEVEL_MINUTE, minutes->list[i], minutes->list[i] + 1, error);
    }
    snapshot_clear(&reading.snapshot);
    return ok;
}
