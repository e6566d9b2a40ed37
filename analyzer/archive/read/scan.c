#include "analyzer/archive/read/scan.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/archive/idset.h"
#include "analyzer/archive/late.h"
#include "analyzer/archive/part.h"
#include "analyzer/archive/read/search.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

/* Keys are in order of seconds, and in order of trace ids within one: a second's records are collected, put in order of
 * begin and handed out. Their bytes are kept up to a bound; past it (an import whose times are all the same, say) they
 * are read again when their turn comes. */
#define KEPT_BYTES (32u << 20)
/* Steps back within one second. RocksDB steps forwards three times as fast, but turning round costs as much as some ten
 * steps: a busier second is read to its end from its start. */
#define STEPS_BACK 64

typedef struct ScanEntry {
    gint64 begin_ns;
    TraceKey key;
    gboolean kept;
    gsize at, size_bytes; /* of kept ones: in the scan's bytes, a record or a TraceSummary */
} ScanEntry;

struct ArchiveScan {
    Archive *archive;
    gint64 since_ns, until_ns;
    gboolean newest_first, summaries_only;
    guint32 first, last; /* seconds */
    StoreIter *iter;
    StoreIter *again; /* the same state of the store: for records not kept */
    SearchTerms *terms;
    SearchPlan *plan; /* NULL: every record of the period */
    StoreIter *late;  /* the same; NULL: nothing waits */
    gboolean started, ended;
    guint steps_back; /* in this second */
    gboolean turned;  /* reads forwards, up to this key */
    TraceKey turned_at;
    GArray *entries; /* ScanEntry of one second, in order */
    guint next;
    GByteArray *kept;
    gsize kept_most; /* bytes */
    gsize charged;   /* for both */
    const ScanEntry *current;
    LateWanted wanted; /* of the current trace; most_bytes is for all of them */
    IdSet given;       /* spans of it that were given, when not all are at once */
    gsize given_charged;
};

ArchiveScan *archive_scan_new(Archive *archive, gint64 since_ns, gint64 until_ns, gboolean newest_first) {
    ArchiveScan *scan = g_new0(ArchiveScan, 1);
    scan->archive = archive;
    scan->since_ns = since_ns;
    scan->until_ns = until_ns;
    scan->newest_first = newest_first;
    scan->ended = until_ns <= since_ns;
    scan->first = trace_second(since_ns);
    scan->last = scan->ended ? 0 : trace_second(until_ns - 1);
    scan->entries = g_array_new(FALSE, FALSE, sizeof(ScanEntry));
    scan->kept = g_byte_array_new();

    const gsize left = allowance_left();
    scan->kept_most = MIN(KEPT_BYTES, left / 4);
    scan->wanted.most_bytes = left == G_MAXSIZE ? 0 : left / 4 + 1;
    id_set_init(&scan->given);

    pthread_rwlock_wrlock(&archive->commit_lock);
    scan->iter = store_iter_new(archive->store, FAMILY_TRACE);
    scan->again = store_iter_new(archive->store, FAMILY_TRACE);
    if (late_any(archive)) scan->late = store_iter_new(archive->store, FAMILY_LATE);
    pthread_rwlock_unlock(&archive->commit_lock);
    return scan;
}

void archive_scan_summaries_only(ArchiveScan *scan) { scan->summaries_only = TRUE; }

void archive_scan_by_terms(ArchiveScan *scan, SearchTerms *terms) {
    g_return_if_fail(scan->plan == NULL);
    scan->terms = terms;
    const SearchRange range = {scan->first, scan->last, scan->newest_first};
    /* Younger than the records' iterators, but nothing that they show is missing in it: postings are only added, and go
     * with the records that are removed. */
    StoreIter *index = store_iter_new(scan->archive->store, FAMILY_INDEX);
    scan->plan = search_plan_new(index, terms, &range);
}

void archive_scan_free(ArchiveScan *scan) {
    if (scan == NULL) return;
    allowance_release(scan->charged + scan->given_charged);
    id_set_clear(&scan->given);
    search_plan_free(scan->plan);
    search_terms_free(scan->terms);
    store_iter_free(scan->iter);
    store_iter_free(scan->again);
    g_clear_pointer(&scan->late, store_iter_free);
    g_array_unref(scan->entries);
    g_byte_array_unref(scan->kept);
    g_free(scan);
}

static gboolean scan_start(ArchiveScan *scan) {
    scan->started = TRUE;
    if (!scan->newest_first) return iter_seek_key(scan->iter, trace_key(&(TraceKey){scan->first, 0, 0}));
    LayoutKey end = trace_key(&(TraceKey){scan->last, G_MAXUINT64, G_MAXUINT16});
    /* The greatest key of that second is no key of a record: parts end below TRACE_MAX_PARTS. */
    return store_iter_seek_before(scan->iter, key_bytes(&end));
}

static int compare_entries(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    const ScanEntry *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->key.trace_id != y->key.trace_id) return x->key.trace_id < y->key.trace_id ? -1 : 1;
    return (int)x->key.part - (int)y->key.part;
}

static int compare_entries_newest(gconstpointer a, gconstpointer b, gpointer unused) {
    return compare_entries(b, a, unused);
}

static gboolean scan_collect(ArchiveScan *scan, const TraceKey *key, GError **error) {
    TraceSummary summary;
    Bytes record = store_iter_value(scan->iter);
    if (!record_summary(record, &summary, error)) return FALSE;
    if (summary.begin_ns < scan->since_ns || summary.begin_ns >= scan->until_ns) return TRUE;
    Bytes keep = scan->summaries_only ? (Bytes){&summary, sizeof summary} : record;
    ScanEntry entry = {summary.begin_ns, *key, scan->kept->len + keep.size_bytes <= scan->kept_most, scan->kept->len,
                       keep.size_bytes};
    if (entry.kept) g_byte_array_append(scan->kept, keep.data, (guint)keep.size_bytes);
    g_array_append_val(scan->entries, entry);
    const gsize bytes = scan->kept->len + scan->entries->len * sizeof entry;
    if (bytes > scan->charged) allowance_hold(&scan->charged, bytes);
    return allowance_check(error);
}

static gboolean same_key(const TraceKey *a, const TraceKey *b) {
    return a->second == b->second && a->trace_id == b->trace_id && a->part == b->part;
}

/* From the record with this key to the next one that was not collected yet. */
static gboolean scan_step(ArchiveScan *scan, const TraceKey *key) {
    if (!scan->newest_first) return store_iter_next(scan->iter);
    LayoutKey start = trace_key(&(TraceKey){key->second, 0, 0});
    gboolean more;
    if (scan->turned) {
        more = store_iter_next(scan->iter);
    } else {
        if (++scan->steps_back < STEPS_BACK) return store_iter_previous(scan->iter);
        scan->turned = TRUE;
        scan->turned_at = *key;
        more = iter_seek_key(scan->iter, start);
    }
    TraceKey at;
    if (!more || !trace_key_parse(store_iter_key(scan->iter), &at) || !same_key(&at, &scan->turned_at)) return more;
    scan->turned = FALSE;
    return store_iter_seek_before(scan->iter, key_bytes(&start));
}

static gboolean bad_key(GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "a trace record has a malformed key");
}

/* Collects the records of a second whose trace ids begin with these 16 bits, or all. */
static gboolean collect_place(ArchiveScan *scan, guint32 second, gint32 id_upper, GError **error) {
    guint64 first_id = id_upper < 0 ? 0 : (guint64)id_upper << 48;
    gboolean more = iter_seek_key(scan->iter, trace_key(&(TraceKey){second, first_id, 0}));
    for (; more; more = store_iter_next(scan->iter)) {
        TraceKey key;
        if (!trace_key_parse(store_iter_key(scan->iter), &key)) return bad_key(error);
        if (key.second != second || (id_upper >= 0 && key.trace_id >> 48 != (guint64)id_upper)) break;
        if (!scan_collect(scan, &key, error)) return FALSE;
    }
    return iter_finished(scan->iter, error);
}

/* scan_fill() with a plan. */
static gboolean scan_fill_planned(ArchiveScan *scan, GError **error) {
    while (scan->entries->len == 0) {
        SearchPlace place;
        gboolean found;
        if (!search_plan_next(scan->plan, &place, &found, error)) return FALSE;
        scan->ended = !found;
        if (!found) return TRUE;
        if (place.all && !collect_place(scan, place.second, -1, error)) return FALSE;
        for (guint i = 0; i < place.n_points; i++)
            if (!collect_place(scan, place.second, (gint32)(place.points[i] & 0xffff), error)) return FALSE;
    }
    return TRUE;
}

/* Collects the next second that has a record of the period; none: entries stay empty. */
static gboolean scan_fill(ArchiveScan *scan, GError **error) {
    g_array_set_size(scan->entries, 0);
    g_byte_array_set_size(scan->kept, 0);
    scan->next = 0;
    scan->steps_back = 0;
    if (scan->plan) return scan_fill_planned(scan, error);
    gboolean more = scan->started || scan_start(scan);
    guint32 second = 0;
    while (more) {
        TraceKey key;
        if (!trace_key_parse(store_iter_key(scan->iter), &key)) return bad_key(error);
        if (key.second < scan->first || key.second > scan->last) break;
        if (scan->entries->len > 0 && key.second != second) return TRUE; /* the iterator stays for the next call */
        second = key.second;
        if (!scan_collect(scan, &key, error)) return FALSE;
        more = scan_step(scan, &key);
    }
    scan->ended = TRUE;
    return iter_finished(scan->iter, error);
}

static gboolean entry_record(ArchiveScan *scan, const ScanEntry *entry, Bytes *record, GError **error) {
    if (entry->kept && !scan->summaries_only) {
        *record = (Bytes){scan->kept->data + entry->at, entry->size_bytes};
        return TRUE;
    }
    TraceKey key;
    if (!iter_seek_key(scan->again, trace_key(&entry->key)) || !trace_key_parse(store_iter_key(scan->again), &key) ||
        key.trace_id != entry->key.trace_id) {
        if (!iter_finished(scan->again, error)) return FALSE;
        return fail(error, PLUMB_ERROR_CORRUPT, "a trace record went away during a scan");
    }
    *record = store_iter_value(scan->again);
    return TRUE;
}

static gboolean entry_summary(ArchiveScan *scan, const ScanEntry *entry, TraceSummary *summary, GError **error) {
    if (entry->kept && scan->summaries_only) {
        memcpy(summary, scan->kept->data + entry->at, sizeof *summary);
        return TRUE;
    }
    Bytes record;
    return entry_record(scan, entry, &record, error) && record_summary(record, summary, error);
}

gboolean archive_scan_next(ArchiveScan *scan, guint64 *trace_id, TraceSummary *summary, GError **error) {
    scan->current = NULL;
    scan->wanted.more = FALSE;
    if (!allowance_check(error)) return FALSE;

    if (scan->next >= scan->entries->len) {
        if (scan->ended) return FALSE;
        if (!scan_fill(scan, error)) {
            scan->ended = TRUE;
            g_array_set_size(scan->entries, 0);
            return FALSE;
        }
        allowance_sort(scan->entries->data, scan->entries->len, sizeof(ScanEntry),
                       scan->newest_first ? compare_entries_newest : compare_entries, NULL);
        if (scan->entries->len == 0) return FALSE;
    }

    const ScanEntry *entry = &g_array_index(scan->entries, ScanEntry, scan->next);
    TraceSummary read;
    if (!entry_summary(scan, entry, &read, error)) return FALSE;

    scan->next++;
    scan->current = entry;
    *trace_id = entry->key.trace_id;
    *summary = read;
    return TRUE;
}

/* What waits for the current trace, from the beginning. */
static gboolean take_waiting(ArchiveScan *scan, GByteArray *late, GError **error) {
    scan->wanted.trace_id = scan->current->key.trace_id;
    scan->wanted.from = 0;
    id_set_empty(&scan->given);
    return late_collect(scan->late, &scan->wanted, late, error);
}

static gboolean visit_spans(ArchiveScan *scan, RecordVisit visit, void *arg, GError **error) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    if (!archive_scan_spans(scan, spans, error)) return FALSE;
    for (gsize at = 0; at < spans->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + at);
        SpanCursor cursor = span_cursor(span);
        SpanAnnotation annotation;
        while (span_next_annotation(&cursor, &annotation))
            if (!visit(arg, G_MAXUINT32, &annotation)) return TRUE;
        at += span->size_bytes;
    }
    return TRUE;
}

gboolean archive_scan_annotations(ArchiveScan *scan, RecordVisit visit, void *arg, GError **error) {
    g_return_val_if_fail(scan->current != NULL, FALSE);
    const TraceKey *key = &scan->current->key;
    if (scan->late != NULL && key->part == 0) {
        g_autoptr(GByteArray) late = g_byte_array_new();
        if (!take_waiting(scan, late, error)) return FALSE;
        if (late->len > 0) return visit_spans(scan, visit, arg, error);
    }
    Bytes record;
    TraceSummary summary;
    if (!entry_record(scan, scan->current, &record, error) || !record_summary(record, &summary, error)) return FALSE;
    g_autoptr(Pattern) pattern = record_pattern(scan->archive, record, &summary, error);
    return pattern != NULL && record_annotations(record, pattern, visit, arg, error);
}

Pattern *archive_scan_pattern(ArchiveScan *scan, GError **error) {
    g_return_val_if_fail(scan->current != NULL, NULL);
    Bytes record;
    TraceSummary summary;
    if (!entry_record(scan, scan->current, &record, error) || !record_summary(record, &summary, error)) return NULL;
    return record_pattern(scan->archive, record, &summary, error);
}

gboolean archive_scan_spans(ArchiveScan *scan, GByteArray *spans, GError **error) {
    g_return_val_if_fail(scan->current != NULL, FALSE);
    Bytes record;
    if (!entry_record(scan, scan->current, &record, error)) return FALSE;
    const TraceKey *key = &scan->current->key;
    guint before = spans->len;
    if (!part_decode(scan->archive, record, key->trace_id, spans, error)) return FALSE;
    if (scan->late == NULL || key->part != 0) return TRUE;
    g_autoptr(GByteArray) late = g_byte_array_new();
    if (!take_waiting(scan, late, error)) {
        g_byte_array_set_size(spans, before);
        return FALSE;
    }
    if (late->len > 0) late_add_unknown(scan->archive, spans, before, late);
    return TRUE;
}

gboolean archive_scan_has_left(const ArchiveScan *scan) { return scan->wanted.more; }

static gboolean note_given(ArchiveScan *scan, const GByteArray *spans, GError **error) {
    for (gsize at = 0; at < spans->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + at);
        id_set_add(&scan->given, span->id.span);
        at += span->size_bytes;
    }
    allowance_hold(&scan->given_charged, (scan->given.mask + 1) * sizeof *scan->given.slots);
    return allowance_check(error);
}

gboolean archive_scan_spans_left(ArchiveScan *scan, GByteArray *spans, GError **error) {
    g_return_val_if_fail(scan->wanted.more, FALSE);
    if (!note_given(scan, spans, error)) return FALSE;

    g_byte_array_set_size(spans, 0);
    g_autoptr(GByteArray) late = g_byte_array_new();
    if (!late_collect(scan->late, &scan->wanted, late, error)) return FALSE;

    for (gsize at = 0; at < late->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(late->data + at);
        if (!id_set_has(&scan->given, span->id.span)) g_byte_array_append(spans, late->data + at, span->size_bytes);
        id_set_add(&scan->given, span->id.span);
        at += span->size_bytes;
    }
    return TRUE;
}
