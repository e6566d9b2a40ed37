#include "analyzer/archive/retention/expire.h"

#include <string.h>

#include "analyzer/archive/retention/remove.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* Written at once: 2 MiB or so of deletions. */
#define GROUP_RECORDS 20000u
/* Time goes in steps of this length, so that there are few ranges to delete. */
#define EXPIRE_STEP_SECONDS 60u
#define ID_SLICES           64u

typedef struct Pass {
    Remover remover;
    guint32 until; /* second */
    guint left;    /* records that this call may still take */
    guint damaged;
    gboolean more;
} Pass;

/* A trace in parts goes as a whole, when its last part is past its age. */
static gboolean take_part(Pass *pass, const TraceKey *key, GError **error) {
    g_autoptr(GBytes) index = NULL;
    if (!trace_index_get(pass->remover.archive, key->trace_id, &index, error)) return FALSE;
    if (index == NULL) return TRUE;
    Bytes parts = bytes_view(index);
    for (guint i = 0; i < trace_index_parts(parts); i++)
        if (trace_index_second(parts, i) >= pass->until) return TRUE;
    /* The group is written first, so that no part is met twice in it. */
    return remover_commit(&pass->remover, error) && remover_take_parts(&pass->remover, key->trace_id, parts, error) &&
           remover_commit(&pass->remover, error);
}

static gboolean take(Pass *pass, const TraceKey *key, Bytes record, GError **error) {
    TraceSummary summary;
    if (!record_summary(record, &summary, error)) return FALSE;
    if (summary.flags & TRACE_PART) return take_part(pass, key, error);
    if (!remover_take(&pass->remover, key, record, error)) return FALSE;
    return pass->remover.records < GROUP_RECORDS || remover_commit(&pass->remover, error);
}

static gboolean expire_traces(Pass *pass, GError **error) {
    g_autoptr(StoreIter) traces = store_iter_new(pass->remover.archive->store, FAMILY_TRACE);
    for (gboolean more = store_iter_seek(traces, (Bytes){"", 0}); more; more = store_iter_next(traces)) {
        TraceKey key;
        if (!trace_key_parse(store_iter_key(traces), &key))
            return fail(error, PLUMB_ERROR_CORRUPT, "a trace record has a malformed key");
        if (key.second >= pass->until) break;

        if (pass->left-- == 0) {
            pass->more = TRUE;
            break;
        }

        g_autoptr(GError) local = NULL;
        if (take(pass, &key, store_iter_value(traces), &local)) continue;
        if (!g_error_matches(local, PLUMB_ERROR, PLUMB_ERROR_CORRUPT)) {
            g_propagate_error(error, g_steal_pointer(&local));
            return FALSE;
        }
        pass->damaged++;
    }

    return iter_finished(traces, error) && remover_commit(&pass->remover, error);
}

/* ---- space ---- */

/* Is there no record before 'until'? */
static gboolean is_empty(Archive *archive, guint32 until, gboolean *empty, GError **error) {
    g_autoptr(StoreIter) traces = store_iter_new(archive->store, FAMILY_TRACE);
    TraceKey key = {.second = G_MAXUINT32};
    if (store_iter_seek(traces, (Bytes){"", 0}) && !trace_key_parse(store_iter_key(traces), &key))
        return fail(error, PLUMB_ERROR_CORRUPT, "a trace record has a malformed key");
    *empty = key.second >= until;
    return iter_finished(traces, error);
}

static gboolean drop_range(Archive *archive, StoreFamily family, const LayoutKey *end, GError **error) {
    Bytes from = {"", 0}, until = key_bytes(end);
    g_autoptr(StoreBatch) batch = store_batch_new(archive->store);
    store_batch_delete_range(batch, family, from, until);
    return store_write(archive->store, batch, FALSE, error) &&
           store_reclaim(archive->store, family, from, until, error);
}

/* Whole files of the time before go at once, and what shares a file with younger records is gone for readers. Nobody
 * may write meanwhile: what came in now, with an old date, would go with them. */
static gboolean reclaim(Archive *archive, guint32 until, GError **error) {
    gboolean empty = FALSE;
    LayoutKey traces = trace_key(&(TraceKey){until, 0, 0}), index = index_key(&(IndexKey){until / 3600, 0, 0});
    pthread_rwlock_wrlock(&archive->commit_lock);
    gboolean ok = is_empty(archive, until, &empty, error);
    /* A trace in parts that goes on after the time stays, and all that its files hold. */
    if (ok && empty)
        ok = drop_range(archive, FAMILY_TRACE, &traces, error) && drop_range(archive, FAMILY_INDEX, &index, error);
    pthread_rwlock_unlock(&archive->commit_lock);
    return ok;
}

/* ---- traces ---- */

static gboolean expire_old_traces(Archive *archive, guint32 until, guint max_records, ExpireResult *result,
                                  GError **error) {
    gboolean empty = FALSE;
    if (!is_empty(archive, until, &empty, error)) return FALSE;
    if (empty) return TRUE;
    Pass pass = {.until = until, .left = max_records};
    remover_init(&pass.remover, archive, ACCOUNT_EXPIRED);
    gboolean ok = expire_traces(&pass, error);
    result->traces = pass.remover.traces;
    result->spans = pass.remover.spans;
    result->damaged = pass.damaged;
    result->more = pass.more;
    remover_clear(&pass.remover);
    return ok && (pass.more || reclaim(archive, until, error));
}

/* ---- statistics ---- */

/* The first bucket of a level that is kept; 0: all are. */
static guint32 first_kept(StatsLevel level, gint64 age_ns, gint64 end_ns) {
    if (age_ns <= 0 || end_ns <= age_ns) return 0;
    guint32 bucket = stats_bucket(level, end_ns - age_ns);
    /* Whole buckets of the next level: what is left of them can be summed from one or from the other. */
    if (level + 1 < LEVEL_COUNT) bucket -= bucket % level_children(level + 1);
    return bucket;
}

static gboolean expire_level(Archive *archive, StatsLevel level, guint32 until, GError **error) {
    /* Finer rows are what coarser ones are made of. */
    if (level + 1 < LEVEL_COUNT)
        until = MIN(until, archive->roll_up.rolled_below[level + 1] * level_children(level + 1));
    if (until <= archive->kept_from[level]) return TRUE;
    g_autoptr(StoreBatch) batch = store_batch_new(archive->store);
    for (StatsKind kind = STATS_FUNCTION; kind < STATS_KINDS; kind++) {
        LayoutKey first = stats_key(&(StatsKey){.level = level, .kind = kind});
        LayoutKey end = stats_key(&(StatsKey){.level = level, .kind = kind, .bucket = until});
        store_batch_delete_range(batch, FAMILY_STATS, key_bytes(&first), key_bytes(&end));
    }
    if (level == LEVEL_MINUTE) removed_delete(until, batch);
    g_autoptr(GByteArray) value = g_byte_array_new();
    for (StatsLevel i = 0; i < LEVEL_COUNT; i++) append_varint(value, i == level ? until : archive->kept_from[i]);
    store_batch_put(batch, FAMILY_META, (Bytes){KEPT_FROM_KEY, strlen(KEPT_FROM_KEY)},
                    (Bytes){value->data, value->len});
    if (!store_write(archive->store, batch, FALSE, error)) return FALSE;
    atomic_store_explicit(&archive->kept_from[level], until, memory_order_relaxed);
    return TRUE;
}

gboolean archive_expire(Archive *archive, const ExpireOptions *options, ExpireResult *result, GError **error) {
    const ExpireAges *ages = &options->ages;
    *result = (ExpireResult){0};
    gint64 end_ns = MIN(archive_totals(archive).last_ns, options->now_ns);
    gboolean ok = TRUE;
    pthread_mutex_lock(&archive->maintenance_lock);
    if (ages->traces_ns > 0 && end_ns > ages->traces_ns) {
        guint32 until = trace_second(end_ns - ages->traces_ns);
        ok = expire_old_traces(archive, until - until % EXPIRE_STEP_SECONDS, options->max_records, result, error);
    }
    for (StatsLevel level = 0; ok && level < LEVEL_COUNT; level++) {
        guint32 until = first_kept(level, ages->level_ns[level], end_ns);
        ok = expire_level(archive, level, until, error);
    }
    pthread_mutex_unlock(&archive->maintenance_lock);
    return ok;
}

gboolean archive_compact(Archive *archive, gint64 until_ns, GError **error) {
    guint32 until = trace_second(until_ns);
    LayoutKey traces = trace_key(&(TraceKey){until, 0, 0});
    LayoutKey index = index_key(&(IndexKey){until / 3600 + 1, 0, 0});
    Bytes from = {"", 0};
    gboolean ok = store_compact(archive->store, FAMILY_TRACE, from, key_bytes(&traces), error) &&
                  store_compact(archive->store, FAMILY_INDEX, from, key_bytes(&index), error);
    /* New ids are anywhere: slice by slice, so that nobody who writes waits for long. */
    for (guint64 slice = 0; ok && slice < ID_SLICES; slice++) {
        LayoutKey first = trace_id_key(slice * (G_MAXUINT64 / ID_SLICES));
        LayoutKey end = trace_id_key(slice + 1 < ID_SLICES ? (slice + 1) * (G_MAXUINT64 / ID_SLICES) : G_MAXUINT64);
        ok = store_compact(archive->store, FAMILY_TRACE_ID, key_bytes(&first), key_bytes(&end), error);
    }
    return ok;
}
