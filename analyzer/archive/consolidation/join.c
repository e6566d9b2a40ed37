#define _GNU_SOURCE /* pthread_setname_np() */

#include "analyzer/archive/consolidation/join.h"

#include <pthread.h>

#include "analyzer/archive/kept_ids.h"
#include "analyzer/archive/late.h"
#include "analyzer/archive/write/large_trace.h"
#include "analyzer/archive/write/trace_version.h"
#include "analyzer/archive/write/writer_group.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* Late spans wait in the order of trace ids. Those that are due (join_plan.h) are taken in the order in which their
 * traces' records lie, in batches: so records of one time are read and written one behind the other. What follows
 * of a batch is a group: the joined records, the statistics' differences, and the removal of what waited, in one
 * atomic write. When all that waits is joined at once, two threads share the plan: each takes slices of it, in
 * which all that waits of a trace lies, and writes groups of its own. So nobody else replaces a record that is
 * being joined, nothing of it has to be locked, and what a crash interrupts begins anew.
 *
 * The record's place is known from when the spans came, but for traces whose record has moved since or has several
 * parts: only these are looked up in the index. */

/* Waiting spans in memory, about; those of one trace may be more, up to what a part takes. */
#define JOIN_BYTES (4u << 20)
/* In a hurry it goes on for so long; the rest waits for the next start. */
#define JOIN_HURRY_NS (5 * NS_PER_SEC)
/* Written at once. */
#define JOIN_GROUP_BYTES (4u << 20)
/* Spans of a trace for which memory is kept. */
#define JOIN_KEPT_BYTES (1u << 20)
/* Joining at the same time, each with some 30 MB; more would wait for each other to write. */
#define JOINERS 2u
/* Of a plan's traces, which are looked at in its order, one takes so many at once; of fewer than two slices each one
 * joiner takes all. */
#define JOIN_SLICE_LEAST 16u
#define JOIN_SLICE_MOST  2048u

/* Waiting spans of one trace. */
typedef struct LateTrace {
    guint64 trace_id;
    guint32 second;
    guint32 n_spans; /* as the heads say */
    gboolean replayed;
    guint first, n; /* entries */
    gsize at;       /* in the batch's bytes */
    gsize size_bytes;
} LateTrace;

/* What is stored of a trace. */
typedef struct StoredTrace {
    guint64 trace_id;
    guint parts;
    PartTree part; /* the last one; without places and pattern when there are several */
    TraceSummary last;
    gboolean others_incomplete; /* a part but the last */
    gboolean ids_gone;          /* of the last part: what is new cannot be told, nor who is its parent */
} StoredTrace;

/* What its joiners share. */
typedef struct JoinPass {
    Archive *archive;
    gint64 begin_ns;
    JoinPlan plan; /* what is joined; stays as it is while there is more than one */
    guint slice;   /* traces that are taken at once */
    pthread_mutex_t lock;
    guint next;               /* trace of the plan that the next slice begins with; under the lock */
    gboolean stopped;         /* one failed: no more is taken; under the lock */
    _Atomic gboolean hurried; /* it ended before its time, as the archive is to rest soon */
} JoinPass;

typedef struct Joiner {
    JoinPass *pass;
    Archive *archive;
    ArchiveWriter *writer;
    guint at, end;                  /* of its slice: trace of the plan that the next batch begins with, */
    guint64 from;                   /* from this entry of its on */
    GArray *traces;                 /* LateTrace of the batch */
    GArray *entries;                /* LateKey */
    GByteArray *bytes;              /* packed spans */
    StoredTrace stored;             /* of the trace at hand */
    gboolean large;                 /* it is its turn to have a large trace open */
    GError *damage;                 /* the first; the pass goes on */
    GError *failure;                /* it does not */
    GArray *done;                   /* LateKey: entries that the group joins */
    guint64 joined, again, expired; /* of the group: spans that are counted since the archive was opened */
} Joiner;

static void stored_begin(StoredTrace *stored, guint64 trace_id) {
    PartTree part = stored->part;
    if (part.spans == NULL) {
        part.spans = g_byte_array_new();
        part.places = g_array_new(FALSE, FALSE, sizeof(TreePlace));
    }
    g_byte_array_set_size(part.spans, 0);
    *stored = (StoredTrace){.trace_id = trace_id, .part = part};
}

static void stored_clear(StoredTrace *stored) {
    g_clear_pointer(&stored->part.spans, g_byte_array_unref);
    g_clear_pointer(&stored->part.places, g_array_unref);
}

/* The memory is used again for the next trace, but for what a large one took. */
static void stored_end(StoredTrace *stored) {
    g_clear_pointer(&stored->part.pattern, pattern_unref);
    if (stored->part.spans != NULL && stored->part.spans->len > JOIN_KEPT_BYTES) stored_clear(stored);
}

static Joiner *joiner_new(JoinPass *pass) {
    Joiner *joiner = g_new0(Joiner, 1);
    joiner->pass = pass;
    joiner->archive = pass->archive;
    joiner->writer = archive_writer_new(pass->archive);
    joiner->traces = g_array_new(FALSE, FALSE, sizeof(LateTrace));
    joiner->entries = g_array_new(FALSE, FALSE, sizeof(LateKey));
    joiner->bytes = g_byte_array_new();
    joiner->done = g_array_new(FALSE, FALSE, sizeof(LateKey));
    return joiner;
}

static void joiner_free(Joiner *joiner) {
    archive_writer_free(joiner->writer);
    g_array_unref(joiner->traces);
    g_array_unref(joiner->entries);
    g_byte_array_unref(joiner->bytes);
    g_array_unref(joiner->done);
    stored_clear(&joiner->stored);
    g_free(joiner);
}

static void count(_Atomic guint64 *counter, guint64 n, gboolean back) {
    atomic_fetch_add_explicit(counter, back ? 0 - n : n, memory_order_relaxed);
}

static int by_entry(gconstpointer a, gconstpointer b) {
    const LateKey *x = a, *y = b;
    if (x->trace_id != y->trace_id) return x->trace_id < y->trace_id ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* In the order of keys, which the store takes at a third of the price. */
static void delete_done(Joiner *joiner) {
    g_array_sort(joiner->done, by_entry);
    for (guint i = 0; i < joiner->done->len; i++) {
        LayoutKey key = late_key(&g_array_index(joiner->done, LateKey, i));
        store_batch_delete(joiner->writer->batch, FAMILY_LATE, key_bytes(&key));
    }
    g_array_set_size(joiner->done, 0);
}

/* On failure nothing of the group is left, as nothing of it is in the store: it is made anew next time, from what is
 * stored then. */
static gboolean group_commit(Joiner *joiner, GError **error) {
    Archive *archive = joiner->archive;
    delete_done(joiner);
    gboolean ok = archive_writer_commit(joiner->writer, FALSE, error);
    if (!ok) {
        archive_writer_free(joiner->writer);
        joiner->writer = archive_writer_new(archive);
        count(&archive->late_spans, joiner->joined, TRUE);
        count(&archive->duplicates, joiner->again, TRUE);
        count(&archive->late_expired, joiner->expired, TRUE);
    }
    joiner->joined = joiner->again = joiner->expired = 0;
    return ok;
}

/* ---- one trace ---- */

static void fresh_remove(SpanTable *fresh, const GByteArray *spans) {
    for (gsize at = 0; at < spans->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + at);
        span_table_remove(fresh, span->id);
        at += span->size_bytes;
    }
}

/* Takes what is stored already out of 'fresh', one part in memory at a time; stops early when nothing is left. */
static gboolean stored_load(Archive *archive, Bytes index, StoredTrace *stored, SpanTable *fresh, GError **error) {
    for (guint part = 0; part < stored->parts && fresh->used > 0; part++) {
        TraceKey key = {trace_index_second(index, part), stored->trace_id, (guint16)part};
        g_byte_array_set_size(stored->part.spans, 0);
        if (!part_load(archive, &key, stored->part.spans, &stored->last, error)) {
            g_prefix_error(error, "joining late spans: ");
            return FALSE;
        }
        fresh_remove(fresh, stored->part.spans);
        if (part + 1 < stored->parts && stored->last.flags & TRACE_INCOMPLETE) stored->others_incomplete = TRUE;
    }
    return TRUE;
}

/* Its pattern's rows count a record that is no more. Those by host are sums, from which it is subtracted; for that of
 * all hosts there is a row of what was taken away. */
static void take_away(ArchiveWriter *writer, const StoredTrace *stored, const TraceVersion *old) {
    const StatsTrace trace = version_stats(old, stored->last.pattern);
    stats_group_retract_pattern_hosts(writer->stats, &trace);
    stats_group_add_pattern(writer->taken, &trace);
}

/* Those of the last part that failed, where they were counted apart. */
static void retract_failed(ArchiveWriter *writer, const StoredTrace *stored, const TraceVersion *old) {
    if ((stored->last.flags & TRACE_FAILURES) == 0) return;
    failure_keys_look(&writer->failure_keys, writer->archive->dict);
    failed_calls_find(&writer->failure_keys, old->tree, writer->failed);
    const StatsTrace trace = version_stats(old, stored->last.pattern);
    stats_group_retract_failed(writer->stats, &trace, writer->failed);
}

/* What the last part has lost for good. */
static guint32 lost_before(const StoredTrace *stored) {
    return stored->ids_gone ? stored->last.dropped : stored->last.dropped & ~(guint32)DROPPED_IDS;
}

/* The tree says it all from then on. */
static void places_end(const PartTree *part) {
    if (part->places->len * sizeof(TreePlace) <= JOIN_KEPT_BYTES) return;
    g_free(g_array_steal(part->places, NULL));
}

/* The last part as it is. */
static gboolean version_stored(ArchiveWriter *writer, const StoredTrace *stored, TraceVersion *version,
                               GError **error) {
    const PartTree *part = &stored->part;
    const TimesRule rule = times_rule_of(stored->last.flags);
    const gboolean restored = part->pattern != NULL && version_restore(writer->archive, part, rule, version);
    places_end(part);
    if (restored) return TRUE;
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    if (!spans_point(stored->trace_id, (Bytes){part->spans->data, part->spans->len}, list, error)) return FALSE;
    *version = version_make(writer->archive, writer->compressor, list_spans(list, 0), list->len, rule);
    return TRUE;
}

/* The last part with the fresh spans. */
static TraceVersion version_joined(ArchiveWriter *writer, const TraceVersion *old) {
    TraceVersion joined;
    if (version_grow(writer->archive, writer->compressor, old, writer->fresh, &joined)) return joined;
    for (guint32 i = 1; i < old->tree->n_nodes; i++) {
        if (old->tree->span[i] != NULL) g_ptr_array_add(writer->fresh, (gpointer)old->tree->span[i]);
    }
    return version_make(writer->archive, writer->compressor, list_spans(writer->fresh, 0), writer->fresh->len,
                        writer->archive->times_rule);
}

/* Replaces the record of the last part by one that has the fresh spans too; clears 'old', for a record that is encoded
 * takes as much as a tree. Returns whether it is incomplete. */
static gboolean join_last(ArchiveWriter *writer, const StoredTrace *stored, TraceVersion *old) {
    Archive *archive = writer->archive;
    const GByteArray *spans = stored->part.spans;
    g_auto(TraceVersion) joined = version_joined(writer, old);

    guint32 second = trace_second(joined.tree->begin_ns), old_second = trace_second(stored->last.begin_ns);
    PartPlace place = {.trace_id = stored->trace_id,
                       .part = stored->parts - 1,
                       .flags = stored->last.flags & TRACE_PART,
                       .dropped = lost_before(stored),
                       .replaces = second == old_second};
    guint32 number = group_count_in(writer, &joined);
    version_count_in(archive, old, stored->last.pattern, TRUE);
    versions_compare(old, stored->last.pattern, &joined, number, (Bytes){spans->data, spans->len});
    stats_group_retract_functions(writer->stats, old->tree, old->times, old->shared);
    retract_failed(writer, stored, old);
    take_away(writer, stored, old);
    writer->change.spans += (gint64)joined.tree->n_spans - old->tree->n_spans;
    version_clear(old);
    group_put_record(writer, &place, &joined, number);
    stats_group_add_functions(writer->stats, joined.tree, joined.times, joined.shared);
    StatsTrace trace = version_stats(&joined, number);
    stats_group_add_pattern(writer->stats, &trace);
    if ((stored->last.flags & TRACE_FAILURES) == 0) trace.shared = NULL;
    stats_group_add_failed(writer->stats, &trace, writer->failed);

    if (second != old_second) {
        LayoutKey key = trace_key(&(TraceKey){old_second, stored->trace_id, (guint16)place.part});
        store_batch_delete(writer->batch, FAMILY_TRACE, key_bytes(&key));
        index_set(writer->index, place.part, second);
        group_put_index(writer, stored->trace_id);
    }
    return tree_incomplete(joined.tree);
}

/* A trace that gets its second part: the first one's record must say that it is a part. Nothing else changes. */
static gboolean flag_as_part(ArchiveWriter *writer, const StoredTrace *stored, GError **error) {
    g_auto(TraceVersion) same = {.tree = NULL};
    if (!version_stored(writer, stored, &same, error)) return FALSE;
    const guint32 flags = TRACE_PART | (stored->last.flags & TRACE_FAILURES);
    group_put_record(writer, &(PartPlace){stored->trace_id, 0, flags, lost_before(stored), FALSE, TRUE}, &same,
                     stored->last.pattern);
    return TRUE;
}

static gboolean add_to_last(ArchiveWriter *writer, const StoredTrace *stored, gboolean *incomplete, GError **error) {
    g_auto(TraceVersion) old = {.tree = NULL};
    if (!version_stored(writer, stored, &old, error)) return FALSE;
    *incomplete |= join_last(writer, stored, &old);
    return TRUE;
}

/* Nothing of what is stored is needed while they are made. */
static gboolean add_parts(ArchiveWriter *writer, StoredTrace *stored, gboolean *incomplete, GError **error) {
    if ((stored->last.flags & TRACE_PART) == 0 && !flag_as_part(writer, stored, error)) return FALSE;
    stored_end(stored);
    *incomplete |= group_append_parts(writer, (PartPlace){stored->trace_id, stored->parts, TRACE_PART, 0, FALSE, FALSE},
                                      writer->fresh);
    group_put_index(writer, stored->trace_id);
    return TRUE;
}

/* Has the last part room for the fresh spans? */
static gboolean last_fits(const ArchiveWriter *writer, const StoredTrace *stored) {
    const ArchiveOptions *options = &writer->archive->options;
    const guint64 n_spans = (guint64)stored->last.n_spans + writer->fresh->len;
    return n_spans <= options->max_trace_spans &&
           !over_part_bytes(options, n_spans, stored->part.spans->len + spans_bytes(writer->fresh));
}

/* The fresh spans, at least one, go into the last part, or into new ones when it is full. */
static gboolean add_late(ArchiveWriter *writer, StoredTrace *stored, GError **error) {
    const guint n_fresh = writer->fresh->len;
    const gboolean last_incomplete = (stored->last.flags & TRACE_INCOMPLETE) != 0;
    const gboolean was_incomplete = stored->others_incomplete || last_incomplete;
    const gboolean fits = last_fits(writer, stored);
    gboolean incomplete = stored->others_incomplete;
    if ((fits && !stored->ids_gone) || stored->parts == TRACE_MAX_PARTS) {
        if (!add_to_last(writer, stored, &incomplete, error)) return FALSE;
    } else {
        incomplete |= last_incomplete;
        if (!add_parts(writer, stored, &incomplete, error)) return FALSE;
    }
    if (stored->ids_gone) atomic_fetch_add_explicit(&writer->archive->late_apart, n_fresh, memory_order_relaxed);
    writer->change.incomplete_traces += (incomplete ? 1 : 0) - (was_incomplete ? 1 : 0);
    return TRUE;
}

/* The record of a trace in one piece, where it was when the spans came. *found FALSE: it is not there any more, or the
 * trace has parts. */
static gboolean record_read(Joiner *joiner, const LateTrace *late, StoredTrace *stored, gboolean *found,
                            GError **error) {
    LayoutKey key = trace_key(&(TraceKey){late->second, stored->trace_id, 0});
    g_autoptr(GBytes) value = NULL;
    *found = FALSE;
    if (!store_get(joiner->archive->store, FAMILY_TRACE, key_bytes(&key), &value, error)) return FALSE;
    if (value == NULL) return TRUE;
    const Bytes record = bytes_view(value);
    if (!record_summary(record, &stored->last, error)) return FALSE;
    if (stored->last.flags & TRACE_PART) return TRUE;
    const guint64 n_spans = stored->last.n_spans + (guint64)joiner->writer->given->len;
    joiner->large = large_trace_begin(joiner->archive, n_spans, 2 * record.size_bytes + late->size_bytes);
    if (!part_decode_tree(joiner->archive, record, stored->trace_id, &stored->part, error)) return FALSE;
    *found = TRUE;
    return TRUE;
}

/* Takes out of 'fresh' what is stored, and leaves in writer->index the trace's entry, in 'stored' its last part. Parts
 * are 0 when the trace is not stored any more. */
static gboolean stored_find(Joiner *joiner, const LateTrace *late, StoredTrace *stored, SpanTable *fresh,
                            GError **error) {
    gboolean found = FALSE;
    if (late->second != 0 && !record_read(joiner, late, stored, &found, error)) return FALSE;
    if (found) {
        stored->parts = 1;
        fresh_remove(fresh, stored->part.spans);
        index_set(joiner->writer->index, 0, late->second);
        return TRUE;
    }
    g_autoptr(GBytes) index = NULL;
    if (!trace_index_get(joiner->archive, late->trace_id, &index, error)) return FALSE;
    if (index == NULL) return TRUE;
    Bytes view = bytes_view(index);
    stored->parts = trace_index_parts(view);
    g_byte_array_append(joiner->writer->index, view.data, (guint)view.size_bytes);
    joiner->large = large_trace_begin(joiner->archive, G_MAXUINT64, 0); /* how large, its parts tell */
    return stored_load(joiner->archive, view, stored, fresh, error);
}

/* Their trace was removed meanwhile: they go the same way. */
static void expire(Joiner *joiner, const GPtrArray *spans) {
    count_spans(joiner->writer, spans, ACCOUNT_EXPIRED, 1);
    count(&joiner->archive->late_expired, spans->len, FALSE);
    joiner->expired += spans->len;
}

/* Brings the spans to their trace, in the writer's group. */
static gboolean join_spans(Joiner *joiner, const LateTrace *late, GError **error) {
    ArchiveWriter *writer = joiner->writer;
    if (!archive_prepare(joiner->archive, writer->given, error)) return FALSE;

    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    StoredTrace *stored = &joiner->stored;
    stored_begin(stored, late->trace_id);
    SpanTable fresh;
    span_table_init(&fresh, writer->given->len, lookup_texts(&joiner->archive->lookup));
    for (guint i = 0; i < writer->given->len; i++) span_table_add(&fresh, g_ptr_array_index(writer->given, i));

    gboolean ok = stored_find(joiner, late, stored, &fresh, error);
    if (ok) span_table_list(&fresh, kept);
    span_table_clear(&fresh);
    if (!ok) return FALSE;

    if (kept->len > 0 && stored->parts > 0) {
        g_ptr_array_extend(writer->fresh, kept, NULL, NULL);
        if (!kept_ids_forgotten(joiner->archive, &stored->last, stored->trace_id, &stored->ids_gone, error) ||
            !add_late(writer, stored, error)) {
            return FALSE;
        }
        count(&joiner->archive->late_spans, kept->len, FALSE);
        joiner->joined += kept->len;
    } else if (stored->parts == 0 && late->replayed) {
        g_ptr_array_set_size(kept, 0); /* counted when they went with their trace */
    } else if (stored->parts == 0) {
        expire(joiner, kept);
    }

    count_spans(writer, writer->given, ACCOUNT_WAITING, -1);
    /* What the journal gives again of a stored trace was counted when it was stored, repeats included. */
    count_given(writer, kept, late->replayed ? ACCOUNT_REPLAYED : ACCOUNT_REPEATED);
    joiner->again += writer->given->len - kept->len;
    return TRUE;
}

static void entries_done(Joiner *joiner, const LateTrace *late) {
    g_array_append_vals(joiner->done, &g_array_index(joiner->entries, LateKey, late->first), late->n);
    joiner->writer->change.late_waiting -= late->n_spans;
    joiner->writer->any = TRUE;
    joiner->writer->sealed = FALSE;
}

static gboolean join_trace(Joiner *joiner, const LateTrace *late, GError **error) {
    ArchiveWriter *writer = joiner->writer;
    g_ptr_array_set_size(writer->given, 0);
    g_ptr_array_set_size(writer->fresh, 0);
    g_byte_array_set_size(writer->index, 0);
    Bytes bytes = {joiner->bytes->data + late->at, late->size_bytes};
    if (!spans_point(late->trace_id, bytes, writer->given, error) || writer->given->len != late->n_spans) {
        g_clear_error(error);
        return fail(error, PLUMB_ERROR_CORRUPT, "late spans of trace %016" G_GINT64_MODIFIER "x are malformed",
                    late->trace_id);
    }
    gboolean ok = join_spans(joiner, late, error);
    lists_end(writer);
    stored_end(&joiner->stored);
    if (joiner->large) large_trace_end(joiner->archive);
    joiner->large = FALSE;
    if (ok) entries_done(joiner, late);
    return ok;
}

/* ---- batches ---- */

static gboolean batch_full(const Joiner *joiner, const LateKey *next) {
    if (joiner->traces->len == 0) return FALSE;
    const LateTrace *last = &g_array_index(joiner->traces, LateTrace, joiner->traces->len - 1);
    if (last->trace_id != next->trace_id) return joiner->bytes->len >= JOIN_BYTES;
    return last->n_spans >= joiner->archive->options.max_trace_spans ||
           over_part_bytes(&joiner->archive->options, last->n_spans, last->size_bytes);
}

static LateTrace *batch_trace(Joiner *joiner, guint64 trace_id) {
    if (joiner->traces->len > 0) {
        LateTrace *last = &g_array_index(joiner->traces, LateTrace, joiner->traces->len - 1);
        if (last->trace_id == trace_id) return last;
    }
    LateTrace trace = {.trace_id = trace_id, .first = joiner->entries->len};
    g_array_append_val(joiner->traces, trace);
    return &g_array_index(joiner->traces, LateTrace, joiner->traces->len - 1);
}

static gboolean batch_take(Joiner *joiner, const LateKey *key, Bytes value, GError **error) {
    LateHead head;
    guint before = joiner->bytes->len;
    if (!late_unpack(key->trace_id, value, &head, joiner->bytes))
        return fail(error, PLUMB_ERROR_CORRUPT,
                    "an entry of late spans of trace %016" G_GINT64_MODIFIER "x is malformed", key->trace_id);
    LateTrace *trace = batch_trace(joiner, key->trace_id);
    if (trace->n == 0) trace->at = before;
    trace->second = MAX(trace->second, head.second);
    trace->replayed |= head.replayed;
    trace->n_spans += head.n_spans;
    trace->n++;
    trace->size_bytes += joiner->bytes->len - before;
    g_array_append_val(joiner->entries, *key);
    return TRUE;
}

static void damaged(Joiner *joiner, GError *error) {
    if (joiner->damage == NULL)
        joiner->damage = error;
    else
        g_error_free(error);
}

/* FALSE in *whole: the batch is full. */
static gboolean trace_read(Joiner *joiner, StoreIter *late, guint64 trace_id, gboolean *whole, GError **error) {
    gboolean more = iter_seek_key(late, late_key(&(LateKey){trace_id, joiner->from}));
    *whole = FALSE;
    for (; more; more = store_iter_next(late)) {
        LateKey key;
        if (!late_key_parse(store_iter_key(late), &key))
            return fail(error, PLUMB_ERROR_CORRUPT, "an entry of late spans has a malformed key");
        if (key.trace_id != trace_id) break;
        joiner->from = key.number;
        if (batch_full(joiner, &key)) return TRUE;
        GError *bad = NULL;
        if (!batch_take(joiner, &key, store_iter_value(late), &bad)) damaged(joiner, bad);
    }
    *whole = TRUE;
    return iter_finished(late, error);
}

static gboolean batch_read(Joiner *joiner, GError **error) {
    g_array_set_size(joiner->traces, 0);
    g_array_set_size(joiner->entries, 0);
    g_byte_array_set_size(joiner->bytes, 0);
    g_autoptr(StoreIter) late = store_iter_new(joiner->archive->store, FAMILY_LATE);
    for (; joiner->at < joiner->end; joiner->at++, joiner->from = 0) {
        gboolean whole;
        guint64 trace_id = g_array_index(joiner->pass->plan.traces, JoinTrace, joiner->at).trace_id;
        if (!trace_read(joiner, late, trace_id, &whole, error)) return FALSE;
        if (!whole) return TRUE;
    }
    return TRUE;
}

static gboolean batch_join(Joiner *joiner, GError **error) {
    gboolean ok = TRUE;
    for (guint i = 0; ok && i < joiner->traces->len; i++) {
        GError *why = NULL;
        if (join_trace(joiner, &g_array_index(joiner->traces, LateTrace, i), &why)) {
            if (archive_writer_pending_bytes(joiner->writer) >= JOIN_GROUP_BYTES) ok = group_commit(joiner, error);
            continue;
        }
        ok = !g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_IO) &&
             !g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
        if (ok)
            damaged(joiner, why);
        else
            g_propagate_error(error, why);
    }
    return ok;
}

/* ---- passes ---- */

static gboolean out_of_time(JoinPass *pass) {
    if (!atomic_load_explicit(&pass->archive->roll_up.stop, memory_order_relaxed) ||
        clock_monotonic_ns(pass->archive->options.clock) - pass->begin_ns <= JOIN_HURRY_NS)
        return FALSE;
    atomic_store_explicit(&pass->hurried, TRUE, memory_order_relaxed);
    return TRUE;
}

/* FALSE: nothing is left of the plan, or it is time to stop. */
static gboolean slice_take(Joiner *joiner) {
    JoinPass *pass = joiner->pass;
    pthread_mutex_lock(&pass->lock);
    const guint left = pass->stopped || out_of_time(pass) ? 0 : pass->plan.traces->len - pass->next;
    joiner->at = pass->next;
    joiner->end = joiner->at + MIN(left, pass->slice);
    joiner->from = 0;
    pass->next = joiner->end;
    pthread_mutex_unlock(&pass->lock);
    return left > 0;
}

static gboolean slice_join(Joiner *joiner, GError **error) {
    while (joiner->at < joiner->end && !out_of_time(joiner->pass)) {
        if (!batch_read(joiner, error)) return FALSE;
        gboolean ok = batch_join(joiner, error);
        /* What could be read is joined, whatever befell the rest. */
        if (!group_commit(joiner, ok ? error : NULL) || !ok) return FALSE;
    }
    return TRUE;
}

static void *join_slices(void *arg) {
    Joiner *joiner = arg;
    JoinPass *pass = joiner->pass;
    while (slice_take(joiner)) {
        if (slice_join(joiner, &joiner->failure)) continue;
        pthread_mutex_lock(&pass->lock);
        pass->stopped = TRUE;
        pthread_mutex_unlock(&pass->lock);
        break;
    }
    return NULL;
}

static void *join_slices_beside(void *arg) {
    pthread_setname_np(pthread_self(), "join");
    return join_slices(arg);
}

/* The calling thread is one of the joiners. They are made when they are needed. */
static gboolean join_planned(JoinPass *pass, Joiner **joiners, guint most, GError **error) {
    pthread_t threads[JOINERS];
    const guint n_traces = pass->plan.traces->len;
    const guint n = n_traces >= 2 * JOINERS * JOIN_SLICE_LEAST ? MIN(most, JOINERS) : 1;
    guint n_threads = 0;
    pass->next = 0;
    pass->slice = n > 1 ? CLAMP(n_traces / (8 * n), JOIN_SLICE_LEAST, JOIN_SLICE_MOST) : MAX(n_traces, 1);

    for (guint i = 0; i < n; i++) {
        if (joiners[i] == NULL) joiners[i] = joiner_new(pass);
        /* Without a thread the others do it. */
        if (i > 0 && pthread_create(&threads[n_threads], NULL, join_slices_beside, joiners[i]) == 0) n_threads++;
    }

    join_slices(joiners[0]);
    for (guint i = 0; i < n_threads; i++) pthread_join(threads[i], NULL);

    for (guint i = 0; i < n; i++) {
        if (joiners[i]->failure == NULL) continue;
        g_propagate_error(error, g_steal_pointer(&joiners[i]->failure));
        return FALSE;
    }

    return TRUE;
}

static gboolean join_pass(JoinPass *pass, Joiner **joiners, guint most, const JoinBelow *below, GError **error) {
    while (!pass->plan.ended && !out_of_time(pass)) {
        if (!join_plan_read(pass->archive, below, &pass->plan, error)) return FALSE;
        if (!join_planned(pass, joiners, most, error)) return FALSE;
    }
    return TRUE;
}

/* The first error that there is goes to the caller, the others are forgotten. */
static gboolean join_error(gboolean ok, GError *damage, GError **error) {
    if (damage == NULL) return ok;
    if (ok)
        g_propagate_error(error, damage);
    else
        g_error_free(damage);
    return FALSE;
}

/* *hurried: something may be left, though nothing failed. */
static gboolean join_below(Archive *archive, const JoinBelow *below, guint most, gboolean *hurried, GError **error) {
    /* For this pass alone: what it takes is more than all the rest of the archive has, and passes are far between. */
    Joiner *joiners[JOINERS] = {NULL};
    JoinPass pass = {.archive = archive, .begin_ns = clock_monotonic_ns(archive->options.clock)};
    pass.plan.traces = g_array_new(FALSE, FALSE, sizeof(JoinTrace));
    pthread_mutex_init(&pass.lock, NULL);
    gboolean ok = join_pass(&pass, joiners, most, below, error);
    for (guint i = 0; i < JOINERS; i++) {
        if (joiners[i] == NULL) continue;
        g_clear_error(&joiners[i]->failure);
        ok = join_error(ok, g_steal_pointer(&joiners[i]->damage), error);
        joiner_free(joiners[i]);
    }
    pthread_mutex_destroy(&pass.lock);
    g_array_unref(pass.plan.traces);
    *hurried = pass.hurried;
    return ok;
}

/* Under maintenance_lock. */
static gboolean join_all(Archive *archive, GError **error) {
    gboolean hurried = FALSE;
    if (!late_any(archive)) return TRUE;
    const gboolean ok = join_below(archive, &(JoinBelow){G_MAXUINT64, G_MAXUINT64}, JOINERS, &hurried, error);
    if (!hurried) return ok;
    g_clear_error(error);
    return fail(error, PLUMB_ERROR_BUSY, "late spans wait for the next start");
}

gboolean archive_join(Archive *archive, GError **error) {
    pthread_mutex_lock(&archive->maintenance_lock);
    gboolean ok = join_all(archive, error);
    pthread_mutex_unlock(&archive->maintenance_lock);
    return ok;
}

/* While spans come, one thread joins: the others have enough to do. */
gboolean archive_join_due(Archive *archive, const JoinWhen *when, GError **error) {
    pthread_mutex_lock(&archive->maintenance_lock);
    JoinBelow below;
    gboolean hurried;
    gboolean ok = !join_due(archive, when, &below) || join_below(archive, &below, 1, &hurried, error);
    pthread_mutex_unlock(&archive->maintenance_lock);
    return ok;
}
