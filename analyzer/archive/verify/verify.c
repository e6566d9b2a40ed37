#include "analyzer/archive/verify/verify.h"

#include <string.h>

#include "analyzer/archive/idset.h"
#include "analyzer/archive/index/failed_calls.h"
#include "analyzer/archive/kept_ids.h"
#include "analyzer/archive/late.h"
#include "analyzer/archive/verify/row_check.h"
#include "analyzer/archive/verify/verify_index.h"
#include "analyzer/archive/verify/verify_removed.h"
#include "analyzer/archive/write/trace_version.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

/* Everything is read from one state of the store. Traces come in order of time, so a minute's rows are complete when
 * the first trace of a later minute comes (calls that begin in later minutes than their trace wait in the check). */

#define PROGRESS_TRACES 1000
/* A minute may hold millions of traces: what is expected of it is put together from groups of this size. */
#define GROUP_BYTES  (32u << 20)
#define TRACE_FORMAT "trace %016" G_GINT64_MODIFIER "x"

typedef struct Verify {
    Archive *archive;
    const VerifyHooks *hooks;
    VerifyResult result;
    guint64 expected_traces; /* for progress */
    StoreIter *traces, *parts, *ids, *patterns, *taken, *late, *meta;
    StoreIter *stats[STATS_KINDS][LEVEL_COUNT];
    RowCheck *checks[STATS_KINDS][LEVEL_COUNT];
    RemovedCheck *removed;
    StoreIter *counts; /* its rows */
    IndexCheck *search;
    StoreIter *index; /* its entries */
    Compressor *compressor;
    StatsGroup *group;
    GByteArray *spans;
    GPtrArray *list;
    FailureKeys failure_keys;
    GArray *failed; /* guint32: nodes of the trace at hand whose calls failed */
    StoredTotals totals;
    AccountTable *accounts;       /* what is stored, by process */
    GHashTable *incomplete_parts; /* ids of traces in parts, one of them incomplete */
    guint64 records;
    gboolean ids_differ;
    guint32 rolled_below[LEVEL_COUNT];
    guint32 minute; /* rows of minutes before are closed */
} Verify;

static void difference(Verify *verify, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void difference(Verify *verify, const char *format, ...) {
    verify->result.differences++;
    if (verify->hooks == NULL || verify->hooks->report == NULL) return;
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    verify->hooks->report(verify->hooks->arg, text);
}

static void other_difference(void *arg, const char *what) { difference(arg, "%s", what); }

static void row_difference(void *arg, const StatsKey *key, const char *what) {
    static const char *const levels[LEVEL_COUNT] = {"minute", "hour", "day"};
    Verify *verify = arg;
    if (removed_check_explains(verify->removed, key)) {
        verify->result.unchecked++;
        return;
    }
    const char *rows = key->cell == 0 ? "row" : "rows by host";
    if (key->kind == STATS_PATTERN || key->kind == STATS_TAKEN) {
        difference(verify, "%s of pattern %u, %s %u, cell %u: %s", rows, key->object, levels[key->level], key->bucket,
                   key->cell, what);
    } else {
        difference(verify, "%s of %sfunction \"%s\" (%s), %s %u, cell %u: %s", rows,
                   key->kind == STATS_FAILED ? "failed calls of " : "",
                   dict_text(verify->archive->dict, key->object, NULL), role_name((Role)key->role), levels[key->level],
                   key->bucket, key->cell, what);
    }
}

static void expect_row(void *arg, const StatsKey *key, Bytes value) {
    Verify *verify = arg;
    if (allowance_goes_on_with(value.size_bytes)) row_check_expect(verify->checks[key->kind][LEVEL_MINUTE], key, value);
}

static void take_group(Verify *verify) {
    stats_group_seal(verify->group, expect_row, verify);
    stats_group_clear(verify->group);
}

/* What was taken away from rows of patterns since they were counted is in these rows still, beside what the stored
 * traces add to them. That nothing else was taken follows from both being right. */
static gboolean expect_taken(Verify *verify, guint32 until, GError **error) {
    StatsKey key = {.level = LEVEL_MINUTE, .kind = STATS_TAKEN, .bucket = verify->minute};
    gboolean more = iter_seek_key(verify->taken, stats_key(&key));
    for (; more; more = store_iter_next(verify->taken)) {
        if (!stats_key_parse(store_iter_key(verify->taken), &key) || key.level != LEVEL_MINUTE ||
            key.kind != STATS_TAKEN || (key.bucket >= until && until != G_MAXUINT32))
            break;
        Bytes value = store_iter_value(verify->taken);
        expect_row(verify, &key, value);
        key.kind = STATS_PATTERN;
        expect_row(verify, &key, value);
    }
    return iter_finished(verify->taken, error);
}

/* Rows of the minutes below 'until' get nothing more. */
static gboolean close_rows(Verify *verify, guint32 until, GError **error) {
    take_group(verify);
    if (!expect_taken(verify, until, error)) return FALSE;
    for (guint kind = 0; kind < STATS_KINDS; kind++) {
        for (StatsLevel level = LEVEL_MINUTE; level < LEVEL_COUNT; level++) {
            guint32 end = until == G_MAXUINT32 ? until : until / level_minutes(level);
            if (!row_check_close(verify->checks[kind][level], end, &verify->result.rows, error)) return FALSE;
        }
    }
    verify->minute = until;
    return TRUE;
}

/* The index of ids must have this record; the number of index entries is compared at the end. */
static void check_index(Verify *verify, const TraceKey *key, const TraceSummary *summary) {
    LayoutKey wanted = trace_id_key(key->trace_id);
    Bytes index = {NULL, 0};
    if (iter_seek_key(verify->ids, wanted) && iter_at_key(verify->ids, &wanted)) index = store_iter_value(verify->ids);
    if (trace_index_valid(index) && key->part < trace_index_parts(index) &&
        trace_index_second(index, key->part) == key->second) {
        if ((trace_index_parts(index) > 1) == ((summary->flags & TRACE_PART) != 0)) return;
        difference(verify, TRACE_FORMAT ": part %u is not flagged as its number of parts asks for", key->trace_id,
                   key->part);
        return;
    }
    verify->ids_differ = TRUE;
    difference(verify, TRACE_FORMAT ": the index does not lead to part %u", key->trace_id, key->part);
}

/* Is it the spans', and counted where it belongs? */
static gboolean check_pattern(Verify *verify, Bytes record, const TraceSummary *summary, const Pattern *pattern) {
    g_autoptr(Pattern) stored = record_pattern(verify->archive, record, summary, NULL);
    if (stored == NULL || memcmp(stored->id.bytes, pattern->id.bytes, sizeof stored->id.bytes) != 0) return FALSE;
    return !pattern_is_mixed(summary->pattern) || mixed_table_fits(verify->archive->mixed, summary->pattern, pattern);
}

static void check_summary(Verify *verify, const TraceKey *key, Bytes record, const TraceSummary *summary,
                          const TraceVersion *version) {
    const CallTree *tree = version->tree;
    gboolean incomplete = (summary->flags & TRACE_INCOMPLETE) != 0;
    const char *wrong = NULL;
    if (summary->n_spans != tree->n_spans || tree->counts.duplicates + tree->counts.conflicts > 0)
        wrong = "number of spans";
    else if (summary->orphans != tree->counts.orphans)
        wrong = "number of orphans";
    else if (incomplete != tree_incomplete(tree))
        wrong = "incomplete or not";
    else if (summary->begin_ns != tree->begin_ns || summary->end_ns != tree->end_ns)
        wrong = "begin or end";
    else if (!check_pattern(verify, record, summary, version->pattern))
        wrong = "pattern";
    else if (key->second != trace_second(tree->begin_ns))
        wrong = "time in its key";
    if (wrong != NULL) difference(verify, TRACE_FORMAT ", part %u: wrong %s", key->trace_id, key->part, wrong);
}

/* No span may be in two parts. Called for part 0. */
static gboolean check_parts(Verify *verify, guint64 trace_id, GError **error) {
    LayoutKey wanted = trace_id_key(trace_id);
    if (!iter_seek_key(verify->ids, wanted)) return iter_finished(verify->ids, error);
    if (!iter_at_key(verify->ids, &wanted)) return TRUE; /* reported already */
    Bytes index = store_iter_value(verify->ids);
    if (!trace_index_valid(index)) return TRUE; /* reported already */

    g_autoptr(GByteArray) spans = g_byte_array_new();
    IdSet seen;
    id_set_init(&seen);
    gboolean ok = TRUE;

    for (guint part = 0; ok && part < trace_index_parts(index); part++) {
        g_byte_array_set_size(spans, 0);
        TraceKey key = {trace_index_second(index, part), trace_id, (guint16)part};
        LayoutKey stored = trace_key(&key);
        if (!iter_seek_key(verify->parts, stored))
            ok = iter_finished(verify->parts, error);
        else if (!iter_at_key(verify->parts, &stored))
            continue;
        else if (!part_decode(verify->archive, store_iter_value(verify->parts), trace_id, spans, NULL))
            continue;

        for (gsize at = 0; at < spans->len;) {
            const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + at);
            if (!allowance_goes_on()) break;
            if (id_set_has(&seen, span->id.span)) difference(verify, TRACE_FORMAT ": a span is in two parts", trace_id);
            id_set_add(&seen, span->id.span);
            at += span->size_bytes;
        }
    }

    id_set_clear(&seen);
    return ok;
}

static void count_trace(Verify *verify, const TraceKey *key, const TraceSummary *summary) {
    verify->records++;
    verify->result.spans += summary->n_spans;
    verify->totals.spans += summary->n_spans;
    stored_totals_cover(&verify->totals, summary->begin_ns, summary->end_ns);
    if (key->part == 0) {
        verify->result.traces++;
        verify->totals.traces++;
        const VerifyHooks *hooks = verify->hooks;
        if (hooks != NULL && hooks->progress != NULL && verify->result.traces % PROGRESS_TRACES == 0)
            hooks->progress(hooks->arg, verify->result.traces, verify->expected_traces);
    }
    if ((summary->flags & TRACE_INCOMPLETE) == 0) return;
    if ((summary->flags & TRACE_PART) == 0)
        verify->totals.incomplete_traces++;
    else
        g_hash_table_add(verify->incomplete_parts, g_memdup2(&key->trace_id, sizeof key->trace_id));
}

/* Older programs did not count them apart. */
static void add_failed(Verify *verify, const TraceSummary *summary, const StatsTrace *trace) {
    if ((summary->flags & TRACE_FAILURES) == 0) return;
    failed_calls_find(&verify->failure_keys, trace->tree, verify->failed);
    stats_group_add_failed(verify->group, trace, verify->failed);
}

static gboolean check_record(Verify *verify, const TraceKey *key, Bytes record, GError **error) {
    g_autoptr(GError) bad = NULL;
    TraceSummary summary;
    g_byte_array_set_size(verify->spans, 0);
    g_ptr_array_set_size(verify->list, 0);

    if (!record_summary(record, &summary, &bad) ||
        !part_decode(verify->archive, record, key->trace_id, verify->spans, &bad) ||
        !spans_point(key->trace_id, (Bytes){verify->spans->data, verify->spans->len}, verify->list, &bad)) {
        difference(verify, TRACE_FORMAT ", part %u: %s", key->trace_id, key->part, bad->message);
        return TRUE;
    }
    if (verify->list->len == 0) {
        difference(verify, TRACE_FORMAT ", part %u: without spans", key->trace_id, key->part);
        return TRUE;
    }

    g_auto(TraceVersion) version =
        version_make(verify->archive, verify->compressor, (const SpanRec *const *)(gconstpointer)verify->list->pdata,
                     verify->list->len, times_rule_of(summary.flags));
    guint32 dropped;
    if (!archive_dropped(verify->archive, key->trace_id, &summary, &dropped, error)) return FALSE;

    verify->result.cut += dropped != 0;
    count_trace(verify, key, &summary);
    account_count_stored(verify->accounts, verify->list);
    removed_check_note(verify->removed, &summary, verify->list);
    check_summary(verify, key, record, &summary, &version);
    check_index(verify, key, &summary);

    if (!index_check_note(verify->search, key, summary.pattern, version.tree, error)) return FALSE;
    if (!version_count_in(verify->archive, &version, summary.pattern, FALSE)) {
        difference(verify, TRACE_FORMAT ", part %u: its mixed pattern lacks a call of it", key->trace_id, key->part);
        return TRUE;
    }

    const StatsTrace trace = version_stats(&version, summary.pattern);
    stats_group_add(verify->group, &trace);
    add_failed(verify, &summary, &trace);
    if (stats_group_size_bytes(verify->group) > GROUP_BYTES) take_group(verify);
    return key->part != 0 || (summary.flags & TRACE_PART) == 0 || check_parts(verify, key->trace_id, error);
}

static gboolean check_traces(Verify *verify, GError **error) {
    gboolean more = store_iter_seek(verify->traces, (Bytes){"", 0});
    for (; more; more = store_iter_next(verify->traces)) {
        TraceKey key;
        if (!trace_key_parse(store_iter_key(verify->traces), &key)) {
            difference(verify, "a trace record has a malformed key");
            continue;
        }
        if (key.second / 60 > verify->minute && !close_rows(verify, key.second / 60, error)) return FALSE;
        if (!check_record(verify, &key, store_iter_value(verify->traces), error)) return FALSE;
    }
    return iter_finished(verify->traces, error) && close_rows(verify, G_MAXUINT32, error);
}

/* Every record has its index entry (check_index); if there are as many entries as records, none leads nowhere. */
static gboolean check_ids(Verify *verify, gboolean one_by_one, GError **error) {
    guint64 entries = 0;
    for (gboolean more = store_iter_seek(verify->ids, (Bytes){"", 0}); more; more = store_iter_next(verify->ids)) {
        guint64 trace_id = 0;
        Bytes index = store_iter_value(verify->ids);
        if (!trace_id_key_parse(store_iter_key(verify->ids), &trace_id) || !trace_index_valid(index)) {
            if (one_by_one) difference(verify, "an index entry is malformed");
            continue;
        }

        entries += trace_index_parts(index);
        for (guint part = 0; one_by_one && part < trace_index_parts(index); part++) {
            LayoutKey key = trace_key(&(TraceKey){trace_index_second(index, part), trace_id, (guint16)part});
            if (iter_seek_key(verify->parts, key) && iter_at_key(verify->parts, &key)) continue;
            if (!iter_finished(verify->parts, error)) return FALSE;
            difference(verify, TRACE_FORMAT ": the index has part %u, the store has not", trace_id, part);
        }
    }

    if (!iter_finished(verify->ids, error)) return FALSE;
    if (one_by_one || (entries == verify->records && !verify->ids_differ)) return TRUE;
    return check_ids(verify, TRUE, error);
}

/* What waits must be readable, and in the accounts. */
static gboolean check_late(Verify *verify, GError **error) {
    for (gboolean more = store_iter_seek(verify->late, (Bytes){"", 0}); more; more = store_iter_next(verify->late)) {
        LateKey key;
        g_byte_array_set_size(verify->spans, 0);
        g_ptr_array_set_size(verify->list, 0);
        if (!late_key_parse(store_iter_key(verify->late), &key) ||
            !late_spans(key.trace_id, store_iter_value(verify->late), verify->spans, verify->list)) {
            difference(verify, "an entry of late spans is malformed");
            continue;
        }
        account_count_waiting(verify->accounts, verify->list);
        verify->result.waiting += verify->list->len;
        verify->totals.late_waiting += verify->list->len;
        verify->totals.late_next = MAX(verify->totals.late_next, key.number + 1);
    }
    return iter_finished(verify->late, error);
}

static gboolean keep_node(void *arg, const PatternNode *node) {
    (void)arg;
    (void)node;
    return TRUE;
}

static gboolean check_patterns(Verify *verify, GError **error) {
    guint32 number = 0;
    gboolean more = store_iter_seek(verify->patterns, (Bytes){"", 0});
    for (; more; more = store_iter_next(verify->patterns)) {
        if (store_iter_key(verify->patterns).size_bytes != PATTERN_KEY_BYTES) break; /* nodes of mixed patterns */
        number++;

        g_autoptr(GError) bad = NULL;
        g_autoptr(Pattern) pattern = pattern_decode(store_iter_value(verify->patterns), &bad);
        if (pattern == NULL) {
            difference(verify, "pattern %u: %s", number, bad->message);
            continue;
        }

        g_autofree guint32 *map = g_new(guint32, pattern->n_nodes);
        g_autoptr(Pattern) again = compressor_filter(verify->compressor, pattern, keep_node, NULL, map);
        if (memcmp(again->id.bytes, pattern->id.bytes, sizeof again->id.bytes) != 0)
            difference(verify, "pattern %u: its id does not belong to its shape", number);
        else if (archive_pattern_find(verify->archive, pattern->id) != number)
            difference(verify, "pattern %u: its id has another number", number);
    }

    return iter_finished(verify->patterns, error);
}

static gboolean check_totals(Verify *verify, GError **error) {
    g_autoptr(GArray) slots = g_array_new(FALSE, TRUE, sizeof(TotalsSlot));
    if (!totals_read(verify->meta, slots, error)) return FALSE;

    StoredTotals stored = {.traces = 0};
    for (guint i = 0; i < slots->len; i++) stored_totals_add(&stored, &g_array_index(slots, TotalsSlot, i).totals);
    verify->totals.incomplete_traces += g_hash_table_size(verify->incomplete_parts);
    const StoredTotals *counted = &verify->totals;
    gboolean times_agree = stored.first_ns == counted->first_ns && stored.last_ns == counted->last_ns;

    /* The totals keep the times of what was removed. */
    if (removed_check_any(verify->removed))
        times_agree =
            counted->traces == 0 || (stored.first_ns <= counted->first_ns && stored.last_ns >= counted->last_ns);

    if (stored.traces != counted->traces || stored.spans != counted->spans ||
        stored.incomplete_traces != counted->incomplete_traces || !times_agree)
        difference(verify,
                   "totals: %" G_GINT64_FORMAT " traces, %" G_GINT64_FORMAT " spans, %" G_GINT64_FORMAT
                   " incomplete are noted, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " are stored",
                   stored.traces, stored.spans, stored.incomplete_traces, counted->traces, counted->spans,
                   counted->incomplete_traces);

    if (stored.late_waiting != counted->late_waiting || stored.late_next < counted->late_next)
        difference(verify,
                   "totals: %" G_GINT64_FORMAT " late spans in entries below %" G_GUINT64_FORMAT
                   " are noted, %" G_GINT64_FORMAT " below %" G_GUINT64_FORMAT " are stored",
                   stored.late_waiting, stored.late_next, counted->late_waiting, counted->late_next);
    return TRUE;
}

static void book_difference(void *arg, guint32 tracer, gint64 booked, gint64 stored) {
    Verify *verify = arg;
    const char *name = tracer != 0 ? dict_text(verify->archive->dict, tracer, NULL) : "others";
    difference(verify, "books of \"%s\": %" G_GINT64_FORMAT " spans are noted, %" G_GINT64_FORMAT " are stored", name,
               booked, stored);
}

static void verify_begin(Verify *verify) {
    Archive *archive = verify->archive;
    verify->expected_traces = archive_totals(archive).traces;
    pthread_rwlock_wrlock(&archive->commit_lock);
    memcpy(verify->rolled_below, archive->roll_up.rolled_below, sizeof verify->rolled_below);
    verify->traces = store_iter_new(archive->store, FAMILY_TRACE);
    verify->parts = store_iter_new(archive->store, FAMILY_TRACE);
    verify->ids = store_iter_new(archive->store, FAMILY_TRACE_ID);
    verify->patterns = store_iter_new(archive->store, FAMILY_PATTERN);
    verify->taken = store_iter_new(archive->store, FAMILY_STATS);
    verify->late = store_iter_new(archive->store, FAMILY_LATE);
    verify->meta = store_iter_new(archive->store, FAMILY_META);
    verify->counts = store_iter_new(archive->store, FAMILY_STATS);
    verify->index = store_iter_new(archive->store, FAMILY_INDEX);
    for (guint kind = 0; kind < STATS_KINDS; kind++) {
        for (guint level = 0; level < LEVEL_COUNT; level++)
            verify->stats[kind][level] = store_iter_new(archive->store, FAMILY_STATS);
    }
    pthread_rwlock_unlock(&archive->commit_lock);

    for (guint kind = 0; kind < STATS_KINDS; kind++) {
        RowCheck *coarser = NULL;
        for (guint level = LEVEL_COUNT; level-- > 0;) {
            RowCheckOptions options = {.level = level,
                                       .kind = kind,
                                       .below = verify->rolled_below[level],
                                       .stored = verify->stats[kind][level],
                                       .coarser = coarser,
                                       .difference = row_difference,
                                       .arg = verify};
            coarser = verify->checks[kind][level] = row_check_new(&options);
        }
    }
    verify->search = index_check_new(archive, verify->index, other_difference, verify);
    verify->compressor = compressor_new(&archive->lookup, COMPRESSOR_SHAPES);
    verify->group = stats_group_new(&archive->lookup, TRUE);
    verify->spans = g_byte_array_new();
    verify->list = g_ptr_array_new();
    verify->failed = g_array_new(FALSE, FALSE, sizeof(guint32));
    failure_keys_init(&verify->failure_keys);
    failure_keys_look(&verify->failure_keys, archive->dict);
    verify->accounts = account_table_new();
    verify->incomplete_parts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

static void verify_end(Verify *verify) {
    store_iter_free(verify->traces);
    store_iter_free(verify->parts);
    store_iter_free(verify->ids);
    store_iter_free(verify->patterns);
    store_iter_free(verify->taken);
    store_iter_free(verify->late);
    store_iter_free(verify->meta);
    index_check_free(verify->search);
    store_iter_free(verify->counts);
    store_iter_free(verify->index);
    removed_check_free(verify->removed);

    for (guint kind = 0; kind < STATS_KINDS; kind++) {
        for (guint level = 0; level < LEVEL_COUNT; level++) {
            row_check_free(verify->checks[kind][level]);
            store_iter_free(verify->stats[kind][level]);
        }
    }

    compressor_free(verify->compressor);
    stats_group_free(verify->group);
    g_byte_array_unref(verify->spans);
    g_ptr_array_unref(verify->list);
    g_array_unref(verify->failed);
    account_table_free(verify->accounts);
    g_hash_table_unref(verify->incomplete_parts);
}

static gboolean check_all(Verify *verify, GError **error) {
    verify->removed = removed_check_new(verify->archive, verify->meta, verify->counts, error);
    if (verify->removed == NULL) return FALSE;
    return check_patterns(verify, error) && check_traces(verify, error) && index_check_finish(verify->search, error) &&
           check_ids(verify, FALSE, error) && check_late(verify, error) && check_totals(verify, error) &&
           account_check(verify->meta, verify->accounts, book_difference, verify, error) &&
           removed_check_finish(verify->removed, other_difference, verify, error);
}

gboolean archive_verify(Archive *archive, const VerifyHooks *hooks, VerifyResult *result, GError **error) {
    Verify verify = {.archive = archive, .hooks = hooks};
    verify_begin(&verify);
    gboolean ok = check_all(&verify, error);
    verify_end(&verify);
    if (ok) *result = verify.result;
    return ok;
}
