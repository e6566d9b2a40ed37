#include "analyzer/archive/consolidation/rollup.h"

#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* One bucket at a time, the oldest first. While no commit is between sealing and writing, two things happen at once:
 * the iterators over the finer rows are made, and commits are told to add to the coarser bucket too. So what a group
 * adds is either seen by the iterators, or added by itself, never both. The sums are then merged into what commits have
 * added meanwhile, in batches, in the order of keys; readers keep to the finer rows until the last batch says that the
 * bucket is rolled.
 *
 * What a crash or a full disk interrupts leaves coarser rows that nobody reads, in buckets that are not rolled: the
 * next attempt deletes them first. The finer rows have everything all the while. */

/* How long after its end an hour is rolled: most of what is late has come by then, and need not be added twice. */
#define CLOSED_AFTER_NS (10 * NS_PER_MINUTE)
#define BATCH_BYTES     (4u << 20)
#define PREFIX_BYTES    6u /* of a stored key: level, kind, bucket */
#define MAX_CHILDREN    60u

/* One bucket that is being rolled. */
typedef struct Rolling {
    Archive *archive;
    StatsLevel level;
    guint32 bucket;
    guint32 below[LEVEL_COUNT];        /* what will be rolled then */
    StoreIter *children[MAX_CHILDREN]; /* one on each finer bucket, all of one state of the store */
    gboolean at[MAX_CHILDREN];         /* it stands on a row of its bucket and the kind */
    guint n;
    StoreBatch *batch;
    GByteArray *value;
} Rolling;

static gboolean stopped(const RollUp *roll_up) { return atomic_load_explicit(&roll_up->stop, memory_order_relaxed); }

/* ---- which bucket ---- */

/* The first bucket from 'from' on with rows of a level; G_MAXUINT32: none. */
static gboolean first_bucket(StoreIter *stats, StatsLevel level, guint32 from, guint32 *first, GError **error) {
    *first = G_MAXUINT32;
    for (guint kind = 0; kind < STATS_KINDS; kind++) {
        StatsKey key = {.level = level, .kind = kind, .bucket = from};
        if (iter_seek_key(stats, stats_key(&key)) && stats_key_parse(store_iter_key(stats), &key) &&
            key.level == level && key.kind == kind)
            *first = MIN(*first, key.bucket);
        if (!iter_finished(stats, error)) return FALSE;
    }
    return TRUE;
}

/* The next hour, or a day whose hours are rolled or empty. *found FALSE: nothing is over that is not rolled. */
static gboolean next_bucket(Rolling *rolling, StoreIter *stats, gint64 now_ns, gboolean *found, GError **error) {
    const guint32 *rolled = rolling->archive->roll_up.rolled_below;
    guint32 closed = stats_bucket(LEVEL_HOUR, now_ns - CLOSED_AFTER_NS), minute, hour;

    if (!first_bucket(stats, LEVEL_MINUTE, rolled[LEVEL_HOUR] * 60, &minute, error)) return FALSE;
    if (!first_bucket(stats, LEVEL_HOUR, rolled[LEVEL_DAY] * 24, &hour, error)) return FALSE;
    memcpy(rolling->below, rolled, sizeof rolling->below);

    guint32 unrolled = minute / 60, day = hour / 24;
    *found = TRUE;

    if (hour < rolled[LEVEL_HOUR] && (day + 1) * 24 <= MIN(unrolled, closed)) {
        rolling->level = LEVEL_DAY;
        rolling->bucket = day;
        rolling->below[LEVEL_DAY] = day + 1;
        rolling->below[LEVEL_HOUR] = MAX(rolled[LEVEL_HOUR], (day + 1) * 24);
    } else if (minute != G_MAXUINT32 && unrolled < closed) {
        rolling->level = LEVEL_HOUR;
        rolling->bucket = unrolled;
        rolling->below[LEVEL_HOUR] = unrolled + 1;
    } else {
        *found = FALSE;
    }

    return TRUE;
}

/* ---- the beginning ---- */

/* Rows that an attempt before this one has left, and what commits have added to them. */
static gboolean delete_leftovers(Rolling *rolling, StoreIter *stats, GError **error) {
    const guint32 *rolled = rolling->archive->roll_up.rolled_below;
    for (StatsLevel level = LEVEL_HOUR; level <= rolling->level; level++) {
        for (guint kind = 0; kind < STATS_KINDS; kind++) {
            StatsKey key = {.level = level, .kind = kind, .bucket = rolled[level]};
            gboolean more = iter_seek_key(stats, stats_key(&key));
            for (; more; more = store_iter_next(stats)) {
                if (!stats_key_parse(store_iter_key(stats), &key) || key.level != level || key.kind != kind) break;
                store_batch_delete(rolling->batch, FAMILY_STATS, store_iter_key(stats));
            }
            if (!iter_finished(stats, error)) return FALSE;
        }
    }
    return store_write(rolling->archive->store, rolling->batch, FALSE, error);
}

static gboolean begin(Rolling *rolling, gint64 now_ns, gboolean *found, GError **error) {
    Archive *archive = rolling->archive;
    g_autoptr(StoreIter) stats = store_iter_new(archive->store, FAMILY_STATS);
    if (!next_bucket(rolling, stats, now_ns, found, error)) return FALSE;
    if (!*found) return TRUE;
    if (!delete_leftovers(rolling, stats, error)) return FALSE;
    memcpy(archive->roll_up.added_below, rolling->below, sizeof rolling->below);
    rolling->n = level_children(rolling->level);
    for (guint i = 0; i < rolling->n; i++) rolling->children[i] = store_iter_new(archive->store, FAMILY_STATS);
    return TRUE;
}

/* *found FALSE as well when it is not the time: a group waits to be written, for buckets as they were. */
static gboolean begin_alone(Rolling *rolling, gint64 now_ns, gboolean *found, GError **error) {
    RollUp *roll_up = &rolling->archive->roll_up;
    gboolean ok = TRUE;
    *found = FALSE;
    pthread_rwlock_wrlock(&roll_up->sealing);
    if (atomic_load_explicit(&roll_up->unwritten, memory_order_relaxed) == 0) ok = begin(rolling, now_ns, found, error);
    pthread_rwlock_unlock(&roll_up->sealing);
    return ok;
}

/* ---- the sums ---- */

static gboolean child_look(Rolling *rolling, guint i, gboolean more, const LayoutKey *prefix) {
    Bytes key = more ? store_iter_key(rolling->children[i]) : (Bytes){NULL, 0};
    return rolling->at[i] = key.size_bytes > PREFIX_BYTES && memcmp(key.data, prefix->bytes, PREFIX_BYTES) == 0;
}

static LayoutKey prefix_of(StatsLevel level, StatsKind kind, guint32 bucket) {
    return stats_key(&(StatsKey){.level = level, .kind = kind, .bucket = bucket});
}

/* What follows the prefix is in the same order in all children. */
static int compare_rest(Bytes a, Bytes b) {
    gsize n = MIN(a.size_bytes, b.size_bytes) - PREFIX_BYTES;
    int order = memcmp((const guint8 *)a.data + PREFIX_BYTES, (const guint8 *)b.data + PREFIX_BYTES, n);
    return order != 0 ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/* Children that stand on the least row; 0: all are at their end. */
static guint least_rows(const Rolling *rolling, guint least[MAX_CHILDREN]) {
    guint n = 0;
    for (guint i = 0; i < rolling->n; i++) {
        if (!rolling->at[i]) continue;
        int order =
            n == 0 ? -1 : compare_rest(store_iter_key(rolling->children[i]), store_iter_key(rolling->children[*least]));
        if (order < 0) n = 0;
        if (order <= 0) least[n++] = i;
    }
    return n;
}

static gboolean put_sum(Rolling *rolling, const LayoutKey *prefix, const guint *least, guint n, GError **error) {
    Bytes operands[MAX_CHILDREN];
    for (guint i = 0; i < n; i++) operands[i] = store_iter_value(rolling->children[least[i]]);
    Bytes key = store_iter_key(rolling->children[*least]);
    LayoutKey to = {.size_bytes = (guint)key.size_bytes};
    if (key.size_bytes > sizeof to.bytes)
        return fail(error, PLUMB_ERROR_CORRUPT, "a statistics row has a malformed key");
    memcpy(to.bytes, prefix->bytes, PREFIX_BYTES);
    memcpy(to.bytes + PREFIX_BYTES, (const guint8 *)key.data + PREFIX_BYTES, key.size_bytes - PREFIX_BYTES);
    Bytes sum = operands[0];
    if (n > 1) {
        g_byte_array_set_size(rolling->value, 0);
        if (!archive_merge((Bytes){NULL, 0}, operands, n, rolling->value))
            return fail(error, PLUMB_ERROR_CORRUPT, "a stored statistics row is malformed");
        sum = (Bytes){rolling->value->data, rolling->value->len};
    }
    store_batch_merge(rolling->batch, FAMILY_STATS, key_bytes(&to), sum);
    return store_batch_size_bytes(rolling->batch) < BATCH_BYTES ||
           store_write(rolling->archive->store, rolling->batch, FALSE, error);
}

static gboolean sum_kind(Rolling *rolling, StatsKind kind, GError **error) {
    LayoutKey to = prefix_of(rolling->level, kind, rolling->bucket), from[MAX_CHILDREN];
    guint least[MAX_CHILDREN], n;
    for (guint i = 0; i < rolling->n; i++) {
        from[i] = prefix_of(rolling->level - 1, kind, rolling->bucket * rolling->n + i);
        gboolean more = store_iter_seek(rolling->children[i], (Bytes){from[i].bytes, PREFIX_BYTES});
        if (!child_look(rolling, i, more, &from[i]) && !iter_finished(rolling->children[i], error)) return FALSE;
    }
    while (!stopped(&rolling->archive->roll_up) && (n = least_rows(rolling, least)) > 0) {
        if (!put_sum(rolling, &to, least, n, error)) return FALSE;
        for (guint i = 0; i < n; i++) {
            StoreIter *child = rolling->children[least[i]];
            if (!child_look(rolling, least[i], store_iter_next(child), &from[least[i]]) && !iter_finished(child, error))
                return FALSE;
        }
    }
    return TRUE;
}

/* ---- the end ---- */

static gboolean finish(Rolling *rolling, GError **error) {
    Archive *archive = rolling->archive;
    g_autoptr(GByteArray) value = g_byte_array_new();
    for (StatsLevel level = LEVEL_HOUR; level < LEVEL_COUNT; level++) append_u32be(value, rolling->below[level]);
    store_batch_put(rolling->batch, FAMILY_META, (Bytes){ROLLED_KEY, strlen(ROLLED_KEY)},
                    (Bytes){value->data, value->len});
    pthread_rwlock_wrlock(&archive->commit_lock);
    gboolean ok = store_write(archive->store, rolling->batch, FALSE, error);
    if (ok) memcpy(archive->roll_up.rolled_below, rolling->below, sizeof rolling->below);
    pthread_rwlock_unlock(&archive->commit_lock);
    return ok;
}

static gboolean roll_next(Archive *archive, gint64 now_ns, gboolean *found, GError **error) {
    Rolling rolling = {.archive = archive};
    rolling.batch = store_batch_new(archive->store);
    rolling.value = g_byte_array_new();
    gboolean ok = begin_alone(&rolling, now_ns, found, error);
    for (StatsKind kind = 0; ok && *found && kind < STATS_KINDS; kind++) ok = sum_kind(&rolling, kind, error);
    if (ok && *found && !stopped(&archive->roll_up)) ok = finish(&rolling, error);
    for (guint i = 0; i < rolling.n; i++) store_iter_free(rolling.children[i]);
    store_batch_free(rolling.batch);
    g_byte_array_unref(rolling.value);
    return ok;
}

gboolean archive_roll_up(Archive *archive, gint64 now_ns, GError **error) {
    gboolean ok = TRUE, found = TRUE;
    pthread_mutex_lock(&archive->maintenance_lock);
    while (ok && found && !stopped(&archive->roll_up)) ok = roll_next(archive, now_ns, &found, error);
    pthread_mutex_unlock(&archive->maintenance_lock);
    return ok;
}

void archive_hurry(Archive *archive) { atomic_store_explicit(&archive->roll_up.stop, TRUE, memory_order_relaxed); }
