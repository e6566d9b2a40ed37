#include "analyzer/archive/write/writer.h"

#include "analyzer/archive/kept_ids.h"
#include "analyzer/archive/late.h"
#include "analyzer/archive/removed_traces.h"
#include "analyzer/archive/write/column_cut.h"
#include "analyzer/archive/write/trace_version.h"
#include "analyzer/archive/write/writer_group.h"
#include "common/base/error.h"

/* A writer only adds: it never reads or replaces what is stored. So writers may work at the same time as long as one
 * trace is always given to the same writer, and beside the one thread that joins late spans. */

/* Spans whose places in the lists are kept for the next trace: lists of a large one are 2 to 8 MiB, in each writer. */
#define LIST_KEPT (64u * 1024)

gsize spans_bytes(const GPtrArray *spans) {
    gsize bytes = 0;
    for (guint i = 0; i < spans->len; i++) bytes += ((const SpanRec *)g_ptr_array_index(spans, i))->size_bytes;
    return bytes;
}

static guint16 slot_take(Archive *archive, AccountTable **accounts) {
    pthread_mutex_lock(&archive->totals_lock);
    guint slot = 0;
    while (slot < archive->slots->len && g_array_index(archive->slots, TotalsSlot, slot).taken) slot++;
    if (slot == archive->slots->len) g_array_set_size(archive->slots, slot + 1);
    g_array_index(archive->slots, TotalsSlot, slot).taken = TRUE;
    if (slot >= archive->accounts->len) g_ptr_array_set_size(archive->accounts, (gint)slot + 1);
    gpointer *table = &g_ptr_array_index(archive->accounts, slot);
    if (*table == NULL) *table = account_table_new();
    *accounts = *table;
    pthread_mutex_unlock(&archive->totals_lock);
    return (guint16)slot;
}

void note_unwritten(ArchiveWriter *writer, gboolean unwritten) {
    if (unwritten == writer->unwritten) return;
    writer->unwritten = unwritten;
    atomic_fetch_add_explicit(&writer->archive->roll_up.unwritten, unwritten ? 1 : -1, memory_order_relaxed);
}

ArchiveWriter *archive_writer_new(Archive *archive) {
    ArchiveWriter *writer = g_new0(ArchiveWriter, 1);
    writer->archive = archive;
    writer->compressor = compressor_new(&archive->lookup, COMPRESSOR_SHAPES);
    writer->stats = stats_group_new(&archive->lookup, TRUE);
    writer->taken = stats_group_new(&archive->lookup, FALSE);
    writer->stats_idle_bytes = stats_group_size_bytes(writer->stats) + stats_group_size_bytes(writer->taken);
    writer->batch = store_batch_new(archive->store);

    puts_init(&writer->records, FAMILY_TRACE);
    puts_init(&writer->index_entries, FAMILY_TRACE_ID);
    writer->postings = postings_new(&archive->lookup);

    id_set_init(&writer->traces);
    writer->functions = g_array_new(FALSE, FALSE, sizeof(guint32));
    writer->hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
    writer->slot = slot_take(archive, &writer->accounts);
    account_draft_init(&writer->draft);
    group_calls_init(&writer->calls, archive);
    failure_keys_init(&writer->failure_keys);

    writer->given = g_ptr_array_new();
    writer->fresh = g_ptr_array_new();
    writer->again = g_ptr_array_new();
    writer->index = g_byte_array_new();
    writer->ids = g_byte_array_new();
    writer->record = g_byte_array_new();
    writer->failed = g_array_new(FALSE, FALSE, sizeof(guint32));
    return writer;
}

void archive_writer_free(ArchiveWriter *writer) {
    if (writer == NULL) return;

    note_unwritten(writer, FALSE);
    pthread_mutex_lock(&writer->archive->totals_lock);
    g_array_index(writer->archive->slots, TotalsSlot, writer->slot).taken = FALSE;
    pthread_mutex_unlock(&writer->archive->totals_lock);

    compressor_free(writer->compressor);
    stats_group_free(writer->stats);
    store_batch_free(writer->batch);
    puts_clear(&writer->records);
    puts_clear(&writer->index_entries);
    postings_free(writer->postings);
    id_set_clear(&writer->traces);
    account_draft_clear(&writer->draft);
    group_calls_clear(&writer->calls);
    stats_group_free(writer->taken);
    g_array_unref(writer->functions);
    g_array_unref(writer->hosts);
    region_clear(&writer->values);
    g_ptr_array_unref(writer->given);
    g_ptr_array_unref(writer->fresh);
    g_ptr_array_unref(writer->again);
    g_byte_array_unref(writer->index);
    g_byte_array_unref(writer->ids);
    g_byte_array_unref(writer->record);
    g_array_unref(writer->failed);
    g_free(writer);
}

/* To the others of the group. It was not made there: its columns begin far apart, in memory that is warm here. */
static void record_move(ArchiveWriter *writer) {
    const GByteArray *record = writer->record;
    g_byte_array_append(writer->records.bytes, record->data, record->len);
    if (record->len > PUTS_BLOCK_BYTES) {
        g_byte_array_unref(writer->record);
        writer->record = g_byte_array_new();
    }
    g_byte_array_set_size(writer->record, 0);
}

/* Encodes the record, without what is not to be kept. */
static void record_append(ArchiveWriter *writer, const PartPlace *place, const TraceVersion *version,
                          RecordHead *head) {
    Archive *archive = writer->archive;
    ColumnCut cut;
    columns_cut(archive, &writer->failure_keys, version->tree, &cut);
    head->dropped = place->dropped | cut.dropped | (archive->options.keep.dropped & DROPPED_IDS);
    if ((head->dropped & DROPPED_IDS) && !(place->dropped & DROPPED_IDS)) {
        g_byte_array_set_size(writer->ids, 0);
        head->ids = writer->ids;
        head->ids_at = kept_ids_minute(archive);
    }
    record_encode(version->tree, version->pattern, version->node_of, head, writer->record);
    columns_restore(version->tree, &cut);
    record_move(writer);
    if (head->ids == NULL) return;
    LayoutKey key = ids_key(head->ids_at, place->trace_id, (guint16)place->part);
    store_batch_put(writer->batch, FAMILY_IDS, key_bytes(&key), (Bytes){writer->ids->data, writer->ids->len});
}

guint32 group_count_in(ArchiveWriter *writer, TraceVersion *version) {
    guint32 number = pattern_table_number(writer->archive->patterns, version->pattern);
    writer->max_pattern = MAX(writer->max_pattern, number);
    if (number == 0) number = mixed_table_number(writer->archive->mixed, version->pattern);
    version_count_in(writer->archive, version, number, TRUE);
    return number;
}

/* Of one that was stored with the very same calls, they are counted already, or by an older program not at all. */
static void note_failed(ArchiveWriter *writer, const PartPlace *place, const TraceVersion *version) {
    g_array_set_size(writer->failed, 0);
    const GArray *found = postings_failed(writer->postings);
    if (place->again || found->len == 0) return;
    g_array_append_vals(writer->failed, found->data, found->len);
    group_calls_add_errors(&writer->calls, version->tree, writer->failed, version->shared);
}

void group_put_record(ArchiveWriter *writer, const PartPlace *place, const TraceVersion *version, guint32 number) {
    TraceKey at = {trace_second(version->tree->begin_ns), place->trace_id, (guint16)place->part};
    failure_keys_look(&writer->failure_keys, writer->archive->dict);
    postings_set_failure_keys(writer->postings, &writer->failure_keys);
    postings_add(writer->postings, &at, number, version->tree, place->replaces ? version->shared : NULL);
    note_failed(writer, place, version);

    RecordHead head = {.pattern_number = number,
                       .with_shape = pattern_is_mixed(number),
                       .flags = place->flags | (tree_incomplete(version->tree) ? TRACE_INCOMPLETE : 0) |
                                (writer->failed->len > 0 ? TRACE_FAILURES : 0) | times_rule_flags(version->rule),
                       .part = place->part};
    record_append(writer, place, version, &head);
    LayoutKey key = trace_key(&at);
    puts_add(&writer->records, &key);
    stored_totals_cover(&writer->change, version->tree->begin_ns, version->tree->end_ns);
}

void index_set(GByteArray *index, guint part, guint32 second) {
    if (4 * (part + 1) > index->len) g_byte_array_set_size(index, 4 * (part + 1));
    guint8 *at = index->data + 4 * (gsize)part;
    for (guint i = 0; i < 4; i++) at[i] = (guint8)(second >> (24 - 8 * i));
}

void group_put_index(ArchiveWriter *writer, guint64 trace_id) {
    LayoutKey key = trace_id_key(trace_id);
    known_traces_add(writer->archive->known, trace_id);
    g_byte_array_append(writer->index_entries.bytes, writer->index->data, writer->index->len);
    puts_add(&writer->index_entries, &key);
}

/* How many of the spans from one on the next part has: one at least. */
static guint part_length(const Archive *archive, const GPtrArray *spans, guint from) {
    const guint most = MIN(spans->len - from, archive->options.max_trace_spans);
    gsize bytes = 0;
    guint n = 0;
    while (n < most) {
        bytes += ((const SpanRec *)g_ptr_array_index(spans, from + n))->size_bytes;
        if (n > 0 && over_part_bytes(&archive->options, n + 1, bytes)) break;
        n++;
    }
    return n;
}

gboolean group_append_parts(ArchiveWriter *writer, PartPlace place, const GPtrArray *spans) {
    gboolean incomplete = FALSE;
    g_ptr_array_set_size(writer->again, 0);
    for (guint at = 0; at < spans->len; place.part++) {
        const gboolean last = place.part + 1 == TRACE_MAX_PARTS;
        const guint n = last ? spans->len - at : part_length(writer->archive, spans, at);
        g_auto(TraceVersion) version =
            version_make(writer->archive, writer->compressor, list_spans(spans, at), n, writer->archive->times_rule);
        guint32 number = group_count_in(writer, &version);
        group_put_record(writer, &place, &version, number);
        const StatsTrace trace = version_stats(&version, number);
        stats_group_add(writer->stats, &trace);
        stats_group_add_failed(writer->stats, &trace, writer->failed);
        group_calls_add_examples(&writer->calls, place.trace_id, version.tree);
        index_set(writer->index, place.part, trace_second(version.tree->begin_ns));
        writer->change.spans += version.tree->n_spans;
        incomplete |= tree_incomplete(version.tree);
        if (version.tree->dropped != NULL) g_ptr_array_extend(writer->again, version.tree->dropped, NULL, NULL);
        at += n;
    }
    return incomplete;
}

void count_spans(ArchiveWriter *writer, const GPtrArray *spans, AccountField field, gint64 each) {
    for (guint i = 0; i < spans->len;) {
        guint32 tracer = ((const SpanRec *)g_ptr_array_index(spans, i))->tracer;
        guint from = i++;
        while (i < spans->len && ((const SpanRec *)g_ptr_array_index(spans, i))->tracer == tracer) i++;
        account_draft_add(&writer->draft, tracer, field, each * (gint64)(i - from));
    }
}

void count_given(ArchiveWriter *writer, const GPtrArray *kept, AccountField again_as) {
    guint64 again = writer->given->len - kept->len;
    count_spans(writer, kept, ACCOUNT_TAKEN, 1);
    if (again == 0) return;
    count_spans(writer, writer->given, again_as, 1);
    count_spans(writer, kept, again_as, -1);
    atomic_fetch_add_explicit(&writer->archive->duplicates, again, memory_order_relaxed);
}

/* The distinct ones of the spans that were given, appended to 'list' in an order that does not depend on arrival. */
static void list_distinct(const ArchiveWriter *writer, GPtrArray *list) {
    SpanTable distinct;
    span_table_init(&distinct, writer->given->len, lookup_texts(&writer->archive->lookup));
    for (guint i = 0; i < writer->given->len; i++) span_table_add(&distinct, g_ptr_array_index(writer->given, i));
    span_table_list(&distinct, list);
    span_table_clear(&distinct);
}

/* Those that were counted as taken, but came again. */
static void count_again(ArchiveWriter *writer) {
    if (writer->again->len == 0) return;
    count_spans(writer, writer->again, ACCOUNT_TAKEN, -1);
    count_spans(writer, writer->again, ACCOUNT_REPEATED, 1);
    atomic_fetch_add_explicit(&writer->archive->duplicates, writer->again->len, memory_order_relaxed);
}

static void add_new(ArchiveWriter *writer, guint64 trace_id) {
    const GPtrArray *spans = writer->given;
    PartPlace place = {.trace_id = trace_id};
    if (part_length(writer->archive, spans, 0) < spans->len) {
        /* The cut into parts must not depend on the order of arrival, nor on repeats. */
        list_distinct(writer, writer->fresh);
        spans = writer->fresh;
        if (part_length(writer->archive, spans, 0) < spans->len) place.flags = TRACE_PART;
    }
    gboolean incomplete = group_append_parts(writer, place, spans);
    group_put_index(writer, trace_id);
    writer->change.traces++;
    writer->change.incomplete_traces += incomplete ? 1 : 0;
    count_given(writer, spans, ACCOUNT_REPEATED);
    count_again(writer);
}

static void add_late(ArchiveWriter *writer, guint32 second, Bytes spans) {
    late_put(writer->archive, writer->batch, &(LateHead){.second = second, .replayed = writer->replaying}, spans);
    writer->change.late_waiting += writer->given->len;
    count_spans(writer, writer->given, ACCOUNT_WAITING, 1);
}

/* The journal gives again what was stored and removed: it was counted then. */
static void count_gone(ArchiveWriter *writer) {
    count_spans(writer, writer->given, ACCOUNT_REPLAYED, 1);
    atomic_fetch_add_explicit(&writer->archive->duplicates, writer->given->len, memory_order_relaxed);
}

static void list_end(GPtrArray **list) {
    if ((*list)->len <= LIST_KEPT) return;
    g_ptr_array_unref(*list);
    *list = g_ptr_array_new();
}

void lists_end(ArchiveWriter *writer) {
    list_end(&writer->given);
    list_end(&writer->fresh);
}

static gboolean add_trace(ArchiveWriter *writer, guint64 trace_id, Bytes bytes, GError **error) {
    g_ptr_array_set_size(writer->given, 0);
    g_ptr_array_set_size(writer->fresh, 0);
    g_byte_array_set_size(writer->index, 0);
    if (bytes.size_bytes == 0) return fail(error, PLUMB_ERROR_INPUT, "a trace without spans");
    if (!spans_point(trace_id, bytes, writer->given, error)) return FALSE;
    if (!archive_prepare(writer->archive, writer->given, error)) return FALSE;

    g_autoptr(GBytes) index = NULL;
    gboolean in_group = id_set_has(&writer->traces, trace_id);
    gboolean may_be_stored = !in_group && known_traces_may_have(writer->archive->known, trace_id);
    if (may_be_stored && !trace_index_get(writer->archive, trace_id, &index, error)) return FALSE;
    gboolean gone = FALSE;
    if (writer->replaying && !removed_traces_has(writer->archive, trace_id, &gone, error)) return FALSE;
    if (gone) {
        count_gone(writer);
    } else if (in_group || index != NULL) {
        add_late(writer, index != NULL ? trace_index_second(bytes_view(index), 0) : 0, bytes);
    } else {
        add_new(writer, trace_id);
        id_set_add(&writer->traces, trace_id);
    }
    writer->pending_spans += writer->given->len;
    writer->any = TRUE;
    writer->sealed = FALSE;
    return TRUE;
}

gboolean archive_writer_add(ArchiveWriter *writer, guint64 trace_id, const guint8 *spans, gsize size_bytes,
                            GError **error) {
    gboolean added = add_trace(writer, trace_id, (Bytes){spans, size_bytes}, error);
    lists_end(writer);
    return added;
}

void archive_writer_replaying(ArchiveWriter *writer, gboolean replaying) { writer->replaying = replaying; }

gboolean archive_writer_has(const ArchiveWriter *writer, guint64 trace_id) {
    return id_set_has(&writer->traces, trace_id);
}

guint64 archive_writer_pending_spans(const ArchiveWriter *writer) { return writer->pending_spans; }

gsize archive_writer_pending_bytes(const ArchiveWriter *writer) {
    if (!writer->any) return 0;
    return store_batch_size_bytes(writer->batch) + puts_size_bytes(&writer->records) +
           puts_size_bytes(&writer->index_entries) + postings_size_bytes(writer->postings) +
           stats_group_size_bytes(writer->stats) + stats_group_size_bytes(writer->taken) - writer->stats_idle_bytes;
}
