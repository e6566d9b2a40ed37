#include "analyzer/archive/retention/thin.h"

#include <string.h>

#include "analyzer/archive/part.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/retention/remove.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/mix64.h"

#define HOUR_SECONDS  3600u
#define GROUP_RECORDS 20000u

/* What is known of a pattern in one hour. */
typedef struct PatternPlan {
    double slow_ns; /* longer ones are kept */
    guint n_kept;
    guint64 *kept; /* the least hashes, a heap with the greatest first */
} PatternPlan;

typedef enum {
    THIN_FIND,   /* the next hour with records */
    THIN_PLAN,   /* what its patterns are like */
    THIN_CHOOSE, /* through its records: which stay */
    THIN_REMOVE, /* again: the others go */
    THIN_LEAVE,
} ThinStage;

struct Thinner {
    Archive *archive;
    ThinOptions options;
    guint32 hour;
    TraceKey next; /* where the next step goes on */
    ThinStage stage;
    GHashTable *plans; /* pattern -> PatternPlan */
    guint64 removed;   /* traces of this hour */
    guint left;        /* records of this step */
    GArray *places;
};

static void plan_free(void *data) {
    g_free(((PatternPlan *)data)->kept);
    g_free(data);
}

Thinner *thinner_new(Archive *archive, const ThinOptions *options) {
    Thinner *thinner = g_new0(Thinner, 1);
    thinner->archive = archive;
    thinner->options = *options;
    thinner->options.keep = MAX(options->keep, 1);
    thinner->plans = g_hash_table_new_full(NULL, NULL, NULL, plan_free);
    thinner->places = g_array_new(FALSE, FALSE, sizeof(RecordPlace));
    return thinner;
}

void thinner_free(Thinner *thinner) {
    if (thinner == NULL) return;
    g_hash_table_unref(thinner->plans);
    g_array_unref(thinner->places);
    g_free(thinner);
}

/* Senders choose the ids; which of them stay must not follow from that. The same in every step, so that to thin harder
 * keeps a part of what was kept. */
static guint64 hash_of(guint64 id) { return mix64(id); }

/* ---- an hour ---- */

static void hour_begin(Thinner *thinner, guint32 hour) {
    thinner->hour = hour;
    thinner->next = (TraceKey){.second = hour * HOUR_SECONDS};
    thinner->stage = THIN_PLAN;
    thinner->removed = 0;
    g_hash_table_remove_all(thinner->plans);
}

/* The first hour from thinner->hour on that has a record; *found FALSE: none that may be thinned. */
static gboolean hour_find(Thinner *thinner, gboolean *found, GError **error) {
    g_autoptr(StoreIter) traces = store_iter_new(thinner->archive->store, FAMILY_TRACE);
    TraceKey key = {.second = thinner->hour * HOUR_SECONDS};
    *found = FALSE;
    if (!iter_seek_key(traces, trace_key(&key))) return iter_finished(traces, error);
    if (!trace_key_parse(store_iter_key(traces), &key))
        return fail(error, PLUMB_ERROR_CORRUPT, "a trace record has a malformed key");
    guint32 hour = key.second / HOUR_SECONDS;
    *found = ((gint64)hour + 1) * HOUR_SECONDS * NS_PER_SEC <= thinner->options.until_ns;
    if (*found) hour_begin(thinner, hour);
    return TRUE;
}

static void plan_pattern(void *arg, const StatsKey *key, StatsRow *row) {
    Thinner *thinner = arg;
    Dist *duration = &stats_row_node(row, 0)->duration; /* node 0: the trace */
    if (duration->count <= thinner->options.keep || g_hash_table_size(thinner->plans) >= THIN_PATTERNS) return;
    PatternPlan *plan = g_new0(PatternPlan, 1);
    plan->slow_ns = dist_quantile(duration, THIN_SLOW) * (1 + 2 * DIST_RELATIVE_ERROR); /* slower, not just as slow */
    g_hash_table_insert(thinner->plans, GUINT_TO_POINTER(key->object), plan);
}

/* Distributions are those of all traces that there were: to thin again does not make slower ones ordinary. */
static gboolean hour_plan(Thinner *thinner, GError **error) {
    gint64 since_ns = (gint64)thinner->hour * HOUR_SECONDS * NS_PER_SEC;
    StatsFilter filter = {
        .kind = STATS_PATTERN,
        .since_ns = since_ns,
        .until_ns = since_ns + HOUR_SECONDS * NS_PER_SEC,
        .role = -1,
    };
    return archive_stats(thinner->archive, &filter, plan_pattern, thinner, error);
}

/* NULL: it stays, whatever the others of its pattern are. */
static PatternPlan *plan_of(Thinner *thinner, const TraceSummary *summary) {
    if (summary->flags & (TRACE_PART | TRACE_INCOMPLETE)) return NULL;
    PatternPlan *plan = g_hash_table_lookup(thinner->plans, GUINT_TO_POINTER(summary->pattern));
    if (plan == NULL || (double)(summary->end_ns - summary->begin_ns) > plan->slow_ns) return NULL;
    return plan;
}

/* ---- which ---- */

static void sift_up(guint64 *heap, guint at) {
    for (guint up; at > 0 && heap[up = (at - 1) / 2] < heap[at]; at = up) {
        guint64 greater = heap[at];
        heap[at] = heap[up];
        heap[up] = greater;
    }
}

static void sift_down(guint64 *heap, guint n) {
    for (guint at = 0, child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= heap[at]) return;
        guint64 greater = heap[child];
        heap[child] = heap[at];
        heap[at] = greater;
    }
}

static void plan_offer(PatternPlan *plan, guint64 hash, guint keep) {
    if (plan->n_kept < keep) {
        /* Doubled: most patterns have few. */
        if ((plan->n_kept & (plan->n_kept - 1)) == 0)
            plan->kept = g_renew(guint64, plan->kept, MAX(2 * plan->n_kept, 4));
        plan->kept[plan->n_kept] = hash;
        sift_up(plan->kept, plan->n_kept++);
    } else if (hash < plan->kept[0]) {
        plan->kept[0] = hash;
        sift_down(plan->kept, plan->n_kept);
    }
}

static gboolean choose(Thinner *thinner, const TraceKey *key, const TraceSummary *summary) {
    PatternPlan *plan = plan_of(thinner, summary);
    if (plan != NULL) plan_offer(plan, hash_of(key->trace_id), thinner->options.keep);
    return TRUE;
}

/* ---- away with it ---- */

/* Does a call end before it begins, or leave its parent's time? */
static gboolean is_flagged(Thinner *thinner, Bytes record, const TraceSummary *summary, gboolean *flagged,
                           GError **error) {
    g_autoptr(Pattern) pattern = record_pattern(thinner->archive, record, summary, error);
    *flagged = FALSE;
    if (pattern == NULL) return FALSE;
    g_array_set_size(thinner->places, 0);
    if (!record_places(record, pattern, FALSE, thinner->places, error)) return FALSE;
    const RecordPlace *places = &g_array_index(thinner->places, RecordPlace, 0);
    gint64 tolerance_ns = archive_clock_tolerance_ns(thinner->archive);
    for (guint i = 1; i < thinner->places->len && !*flagged; i++) {
        const RecordPlace *place = &places[i], *parent = &places[place->parent];
        gint64 end_ns = place->begin_ns + place->duration_ns, parent_end_ns = parent->begin_ns + parent->duration_ns;
        *flagged = place->is_span && place->duration_ns < 0;
        if (place->is_span && parent->is_span)
            *flagged |= place->begin_ns < parent->begin_ns - tolerance_ns || end_ns > parent_end_ns + tolerance_ns;
    }
    return TRUE;
}

static gboolean thin_record(Thinner *thinner, Remover *remover, const TraceKey *key, Bytes record, GError **error) {
    TraceSummary summary;
    if (!record_summary(record, &summary, error)) return FALSE;
    if (thinner->stage == THIN_CHOOSE) return choose(thinner, key, &summary);
    const PatternPlan *plan = plan_of(thinner, &summary);
    gboolean flagged = FALSE;
    if (plan == NULL || plan->n_kept < thinner->options.keep || hash_of(key->trace_id) <= plan->kept[0]) return TRUE;
    if (!is_flagged(thinner, record, &summary, &flagged, error)) return FALSE;
    if (flagged) return TRUE;
    return remover_take(remover, key, record, error) &&
           (remover->records < GROUP_RECORDS || remover_commit(remover, error));
}

/* Goes on through the hour's records; *finished FALSE: this step has seen enough. */
static gboolean hour_pass(Thinner *thinner, Remover *remover, gboolean *finished, GError **error) {
    g_autoptr(StoreIter) traces = store_iter_new(thinner->archive->store, FAMILY_TRACE);
    *finished = TRUE;
    gboolean more = iter_seek_key(traces, trace_key(&thinner->next));

    for (; more; more = store_iter_next(traces)) {
        TraceKey key;
        if (!trace_key_parse(store_iter_key(traces), &key))
            return fail(error, PLUMB_ERROR_CORRUPT, "a trace record has a malformed key");
        if (key.second / HOUR_SECONDS != thinner->hour) break;

        if (thinner->left == 0) {
            thinner->next = key;
            *finished = FALSE;
            break;
        }
        thinner->left--;

        g_autoptr(GError) local = NULL;
        if (thin_record(thinner, remover, &key, store_iter_value(traces), &local) ||
            g_error_matches(local, PLUMB_ERROR, PLUMB_ERROR_CORRUPT)) /* a damaged record stays */
            continue;
        g_propagate_error(error, g_steal_pointer(&local));
        return FALSE;
    }
    return iter_finished(traces, error) && remover_commit(remover, error);
}

static gboolean hour_compact(Thinner *thinner, GError **error) {
    if (thinner->removed == 0) return TRUE;
    LayoutKey from = trace_key(&(TraceKey){thinner->hour * HOUR_SECONDS, 0, 0});
    LayoutKey until = trace_key(&(TraceKey){(thinner->hour + 1) * HOUR_SECONDS, 0, 0});
    return store_compact(thinner->archive->store, FAMILY_TRACE, key_bytes(&from), key_bytes(&until), error);
}

/* ---- steps ---- */

/* A part of a stage; *more FALSE: no hour is left. */
static gboolean advance(Thinner *thinner, Remover *remover, gboolean *more, GError **error) {
    gboolean finished = FALSE;
    guint64 before = remover->traces;

    switch (thinner->stage) {
    case THIN_FIND: return hour_find(thinner, more, error);
    case THIN_PLAN:
        if (!hour_plan(thinner, error)) return FALSE;
        /* Where no pattern has more than are to stay, there is nothing to look for. */
        thinner->stage = g_hash_table_size(thinner->plans) > 0 ? THIN_CHOOSE : THIN_LEAVE;
        return TRUE;
    case THIN_CHOOSE:
    case THIN_REMOVE:
        if (!hour_pass(thinner, remover, &finished, error)) return FALSE;
        thinner->removed += remover->traces - before;
        if (!finished) return TRUE;
        thinner->next = (TraceKey){.second = thinner->hour * HOUR_SECONDS};
        thinner->stage = thinner->stage == THIN_CHOOSE ? THIN_REMOVE : THIN_LEAVE;
        return TRUE;
    case THIN_LEAVE:
        if (!hour_compact(thinner, error)) return FALSE;
        thinner->hour++;
        thinner->stage = THIN_FIND;
        return TRUE;
    }
    g_return_val_if_reached(FALSE);
}

gboolean thinner_step(Thinner *thinner, guint max_records, ThinResult *result, GError **error) {
    Remover remover;
    gboolean ok = TRUE, more = TRUE;
    thinner->left = MAX(max_records, 1);
    pthread_mutex_lock(&thinner->archive->maintenance_lock);
    remover_init(&remover, thinner->archive, ACCOUNT_THINNED);
    while (ok && more && thinner->left > 0) {
        gboolean leaves = thinner->stage == THIN_LEAVE;
        ok = advance(thinner, &remover, &more, error);
        if (leaves) break; /* an hour's work was done: others may have their turn */
    }
    *result = (ThinResult){remover.traces, remover.spans, more};
    remover_clear(&remover);
    pthread_mutex_unlock(&thinner->archive->maintenance_lock);
    return ok;
}
