#include "analyzer/archive/writer.h"

#include <string.h>

#include "common/base/error.h"

/* Two adds of one trace are never in one group (the second commits the first), so what a group replaces is always
 * readable in the store. Writers may work at the same time as long as one trace is always given to the same writer. */

static guint16 slot_take(Archive *archive, AccountTable **books) {
    pthread_mutex_lock(&archive->totals_lock);
    guint slot = 0;
    while (slot < archive->slots->len && g_array_index(archive->slots, TotalsSlot, slot).taken) slot++;
    if (slot == archive->slots->len) g_array_set_size(archive->slots, slot + 1);
    g_array_index(archive->slots, TotalsSlot, slot).taken = TRUE;
    if (slot >= archive->books->len) g_ptr_array_set_size(archive->books, (gint)slot + 1);
    gpointer *table = &g_ptr_array_index(archive->books, slot);
    if (*table == NULL) *table = account_table_new();
    *books = *table;
    pthread_mutex_unlock(&archive->totals_lock);
    return (guint16)slot;
}

ArchiveWriter *archive_writer_new(Archive *archive) {
    ArchiveWriter *writer = g_new0(ArchiveWriter, 1);
    writer->archive = archive;
    writer->compressor = compressor_new(&archive->lookup, COMPRESSOR_SHAPES);
    writer->stats = stats_group_new(&archive->lookup);
    writer->stats_idle_bytes = stats_group_size_bytes(writer->stats);
    writer->batch = store_batch_new(archive->store);
    puts_init(&writer->records, FAMILY_TRACE);
    puts_init(&writer->index_entries, FAMILY_TRACE_ID);
    writer->postings = postings_new(&archive->lookup);
    id_set_init(&writer->traces);
    writer->functions = g_array_new(FALSE, FALSE, sizeof(StatsKey));
    writer->operands = g_array_new(FALSE, FALSE, sizeof(PatternOperand));
    writer->operand_bytes = g_byte_array_new();
    writer->slot = slot_take(archive, &writer->books);
    account_draft_init(&writer->draft);
    writer->replaced = stats_group_new(&archive->lookup);
    writer->given = g_ptr_array_new();
    writer->fresh = g_ptr_array_new();
    writer->index = g_byte_array_new();
    return writer;
}

void archive_writer_free(ArchiveWriter *writer) {
    if (writer == NULL) return;
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
    stats_group_free(writer->replaced);
    g_array_unref(writer->functions);
    g_array_unref(writer->operands);
    g_byte_array_unref(writer->operand_bytes);
    g_ptr_array_unref(writer->given);
    g_ptr_array_unref(writer->fresh);
    g_byte_array_unref(writer->index);
    g_free(writer);
}

typedef struct PartPlace {
    guint64 trace_id;
    guint part;
    guint32 flags; /* TRACE_PART or 0 */
} PartPlace;

static inline const SpanRec *const *list_spans(const GPtrArray *list, guint from) {
    return (const SpanRec *const *)(gconstpointer)(list->pdata + from);
}

/* Puts the record into the group; returns the number of its pattern. */
static guint32 record_put(ArchiveWriter *writer, const PartPlace *place, const TraceVersion *version) {
    guint32 number = pattern_table_number(writer->archive->patterns, version->pattern);
    writer->max_pattern = MAX(writer->max_pattern, number);
    RecordHead head = {number, place->flags | (tree_incomplete(version->tree) ? TRACE_INCOMPLETE : 0)};
    record_encode(version->tree, version->pattern, version->node_of, &head, writer->records.bytes);
    TraceKey at = {trace_second(version->tree->begin_ns), place->trace_id, (guint16)place->part};
    LayoutKey key = trace_key(&at);
    puts_add(&writer->records, &key);
    postings_add(writer->postings, &at, number, version->tree);
    stored_totals_cover(&writer->change, version->tree->begin_ns, version->tree->end_ns);
    return number;
}

static void index_set(GByteArray *index, guint part, guint32 second) {
    if (4 * (part + 1) > index->len) g_byte_array_set_size(index, 4 * (part + 1));
    guint8 *at = index->data + 4 * (gsize)part;
    for (guint i = 0; i < 4; i++) at[i] = (guint8)(second >> (24 - 8 * i));
}

static void index_put(ArchiveWriter *writer, guint64 trace_id) {
    LayoutKey key = trace_id_key(trace_id);
    g_byte_array_append(writer->index_entries.bytes, writer->index->data, writer->index->len);
    puts_add(&writer->index_entries, &key);
}

/* Spans that no stored record joins become parts of their own, from place->part on. Returns whether one of them is
 * incomplete. */
static gboolean parts_append(ArchiveWriter *writer, PartPlace place, const GPtrArray *spans) {
    gboolean incomplete = FALSE;
    for (guint at = 0; at < spans->len; place.part++) {
        guint left = spans->len - at;
        guint n = place.part + 1 == TRACE_MAX_PARTS ? left : MIN(left, writer->archive->options.max_trace_spans);
        g_auto(TraceVersion) version = version_make(writer->archive, writer->compressor, list_spans(spans, at), n);
        guint32 number = record_put(writer, &place, &version);
        stats_group_add_functions(writer->stats, version.tree, version.times, NULL);
        stats_group_add_pattern(writer->stats, version.tree, version.times, number, version.node_of);
        index_set(writer->index, place.part, trace_second(version.tree->begin_ns));
        writer->change.spans += version.tree->n_spans;
        incomplete |= tree_incomplete(version.tree);
        at += n;
    }
    return incomplete;
}

static void count_spans(ArchiveWriter *writer, const GPtrArray *spans, AccountField field, gint64 each) {
    for (guint i = 0; i < spans->len;) {
        guint32 tracer = ((const SpanRec *)g_ptr_array_index(spans, i))->tracer;
        guint from = i++;
        while (i < spans->len && ((const SpanRec *)g_ptr_array_index(spans, i))->tracer == tracer) i++;
        account_draft_add(&writer->draft, tracer, field, each * (gint64)(i - from));
    }
}

/* Of the spans that were given, 'kept' are stored now for the first time; the others came again. */
static void count_given(ArchiveWriter *writer, const GPtrArray *kept) {
    guint64 again = writer->given->len - kept->len;
    count_spans(writer, kept, ACCOUNT_TAKEN, 1);
    if (again == 0) return;
    AccountField field = writer->replaying ? ACCOUNT_REPLAYED : ACCOUNT_REPEATED;
    count_spans(writer, writer->given, field, 1);
    count_spans(writer, kept, field, -1);
    __atomic_fetch_add(&writer->archive->duplicates, again, __ATOMIC_RELAXED);
}

/* The distinct ones of the spans that were given, appended to 'list'. */
static void list_distinct(const ArchiveWriter *writer, GPtrArray *list) {
    SpanTable distinct;
    span_table_init(&distinct, writer->given->len);
    for (guint i = 0; i < writer->given->len; i++) span_table_add(&distinct, g_ptr_array_index(writer->given, i));
    span_table_list(&distinct, list);
    span_table_clear(&distinct);
}

static void add_new(ArchiveWriter *writer, guint64 trace_id) {
    const GPtrArray *spans = writer->given;
    PartPlace place = {.trace_id = trace_id};
    if (spans->len > writer->archive->options.max_trace_spans) {
        /* The cut into parts must not depend on the order of arrival, nor on repeats. */
        list_distinct(writer, writer->fresh);
        spans = writer->fresh;
        if (spans->len > writer->archive->options.max_trace_spans) place.flags = TRACE_PART;
    }
    gint64 spans_before = writer->change.spans;
    gboolean incomplete = parts_append(writer, place, spans);
    index_put(writer, trace_id);
    writer->change.traces++;
    writer->change.incomplete_traces += incomplete ? 1 : 0;
    if (writer->change.spans - spans_before == writer->given->len) {
        count_given(writer, writer->given);
        return;
    }
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    list_distinct(writer, kept);
    count_given(writer, kept);
}

/* What is stored of a trace. */
typedef struct StoredTrace {
    guint64 trace_id;
    guint parts;
    GByteArray *spans; /* of the last part */
    TraceSummary last;
    gboolean others_incomplete; /* a part but the last */
} StoredTrace;

/* Takes what is stored already out of 'fresh', one part in memory at a time; stops early when nothing is left. */
static gboolean stored_load(Archive *archive, Bytes index, StoredTrace *stored, SpanTable *fresh, GError **error) {
    for (guint part = 0; part < stored->parts && fresh->used > 0; part++) {
        TraceKey key = {trace_index_second(index, part), stored->trace_id, (guint16)part};
        g_byte_array_set_size(stored->spans, 0);
        if (!part_load(archive, &key, stored->spans, &stored->last, error)) {
            g_prefix_error(error, "joining late spans: ");
            return FALSE;
        }
        for (gsize at = 0; at < stored->spans->len;) {
            const SpanRec *span = (const SpanRec *)(gconstpointer)(stored->spans->data + at);
            span_table_remove(fresh, span->id);
            at += span->size_bytes;
        }
        if (part + 1 < stored->parts && stored->last.flags & TRACE_INCOMPLETE) stored->others_incomplete = TRUE;
    }
    return TRUE;
}

/* Which nodes of the new version stand for spans that the old one had. */
static guint8 *counted_flags(const CallTree *tree, const GByteArray *old) {
    guint8 *counted = g_new0(guint8, tree->n_nodes);
    for (guint32 i = 0; i < tree->n_nodes; i++) {
        const guint8 *at = (const guint8 *)tree->span[i];
        counted[i] = at != NULL && at >= old->data && at < old->data + old->len;
    }
    return counted;
}

static void append_replaced(void *arg, const StatsKey *key, StatsRow *row) { mark_value_append(arg, key->host, row); }

/* Its pattern's rows count a record that is no more: a mark says so, and what to take back. */
static void mark_replaced(ArchiveWriter *writer, const StoredTrace *stored, const TraceVersion *old) {
    g_autoptr(GByteArray) value = g_byte_array_new();
    stats_group_add_pattern(writer->replaced, old->tree, old->times, stored->last.pattern, old->node_of);
    stats_group_foreach(writer->replaced, append_replaced, value);
    stats_group_clear(writer->replaced);
    DirtyMark mark = {stats_bucket(LEVEL_MINUTE, stored->last.begin_ns), stored->last.pattern, stored->trace_id,
                      (guint16)(stored->parts - 1), stored->last.n_spans};
    LayoutKey key = dirty_key(&mark);
    store_batch_put(writer->batch, FAMILY_DIRTY, key_bytes(&key), (Bytes){value->data, value->len});
}

/* Replaces the record of the last part by one that has the fresh spans too. Returns whether it is incomplete. */
static gboolean join_last(ArchiveWriter *writer, const StoredTrace *stored, const GPtrArray *old_spans) {
    Archive *archive = writer->archive;
    g_auto(TraceVersion) old = version_make(archive, writer->compressor, list_spans(old_spans, 0), old_spans->len);
    for (guint i = 0; i < old_spans->len; i++) g_ptr_array_add(writer->fresh, g_ptr_array_index(old_spans, i));
    g_auto(TraceVersion) joined =
        version_make(archive, writer->compressor, list_spans(writer->fresh, 0), writer->fresh->len);

    g_autofree guint8 *counted = counted_flags(joined.tree, stored->spans);
    stats_group_retract_functions(writer->stats, old.tree, old.times);
    stats_group_add_functions(writer->stats, joined.tree, joined.times, counted);

    PartPlace place = {stored->trace_id, stored->parts - 1, stored->last.flags & TRACE_PART};
    guint32 number = record_put(writer, &place, &joined);
    mark_replaced(writer, stored, &old);
    stats_group_add_pattern(writer->stats, joined.tree, joined.times, number, joined.node_of);

    guint32 second = trace_second(joined.tree->begin_ns), old_second = trace_second(stored->last.begin_ns);
    if (second != old_second) {
        LayoutKey key = trace_key(&(TraceKey){old_second, stored->trace_id, (guint16)place.part});
        store_batch_delete(writer->batch, FAMILY_TRACE, key_bytes(&key));
        index_set(writer->index, place.part, second);
    }
    writer->change.spans += (gint64)joined.tree->n_spans - old.tree->n_spans;
    return tree_incomplete(joined.tree);
}

/* A trace that gets its second part: the first one's record must say that it is a part. Nothing else changes. */
static void flag_as_part(ArchiveWriter *writer, const StoredTrace *stored, const GPtrArray *old_spans) {
    g_auto(TraceVersion) same =
        version_make(writer->archive, writer->compressor, list_spans(old_spans, 0), old_spans->len);
    record_put(writer, &(PartPlace){stored->trace_id, 0, TRACE_PART}, &same);
}

/* The fresh spans, at least one, go into the last part, or into new ones when it is full. */
static gboolean add_late(ArchiveWriter *writer, const StoredTrace *stored, GError **error) {
    g_autoptr(GPtrArray) old_spans = g_ptr_array_new();
    if (!spans_point(stored->trace_id, (Bytes){stored->spans->data, stored->spans->len}, old_spans, error))
        return FALSE;
    guint n_fresh = writer->fresh->len;
    gboolean last_incomplete = (stored->last.flags & TRACE_INCOMPLETE) != 0;
    gboolean was_incomplete = stored->others_incomplete || last_incomplete;
    gboolean fits = (guint64)stored->last.n_spans + n_fresh <= writer->archive->options.max_trace_spans;
    gboolean incomplete = stored->others_incomplete;
    if (fits || stored->parts == TRACE_MAX_PARTS) {
        incomplete |= join_last(writer, stored, old_spans);
    } else {
        if ((stored->last.flags & TRACE_PART) == 0) flag_as_part(writer, stored, old_spans);
        incomplete |= last_incomplete;
        incomplete |= parts_append(writer, (PartPlace){stored->trace_id, stored->parts, TRACE_PART}, writer->fresh);
    }
    index_put(writer, stored->trace_id);
    writer->change.incomplete_traces += (incomplete ? 1 : 0) - (was_incomplete ? 1 : 0);
    __atomic_fetch_add(&writer->archive->late_spans, n_fresh, __ATOMIC_RELAXED);
    return TRUE;
}

static gboolean add_stored(ArchiveWriter *writer, guint64 trace_id, Bytes index, GError **error) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    StoredTrace stored = {.trace_id = trace_id, .parts = trace_index_parts(index), .spans = spans};
    SpanTable fresh;
    span_table_init(&fresh, writer->given->len);
    for (guint i = 0; i < writer->given->len; i++) span_table_add(&fresh, g_ptr_array_index(writer->given, i));
    gboolean ok = stored_load(writer->archive, index, &stored, &fresh, error);
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    if (ok) span_table_list(&fresh, kept);
    span_table_clear(&fresh);
    if (!ok) return FALSE;
    if (kept->len > 0) {
        g_ptr_array_extend(writer->fresh, kept, NULL, NULL);
        g_byte_array_append(writer->index, index.data, (guint)index.size_bytes);
        if (!add_late(writer, &stored, error)) return FALSE;
        id_set_add(&writer->traces, trace_id);
    }
    count_given(writer, kept);
    writer->sealed = FALSE;
    return TRUE;
}

gboolean archive_writer_add(ArchiveWriter *writer, guint64 trace_id, const guint8 *spans, gsize size_bytes,
                            GError **error) {
    g_ptr_array_set_size(writer->given, 0);
    g_ptr_array_set_size(writer->fresh, 0);
    g_byte_array_set_size(writer->index, 0);
    if (size_bytes == 0) return fail(error, PLUMB_ERROR_INPUT, "a trace without spans");
    if (!spans_point(trace_id, (Bytes){spans, size_bytes}, writer->given, error)) return FALSE;
    if (!archive_prepare(writer->archive, writer->given, error)) return FALSE;
    if (id_set_has(&writer->traces, trace_id) && !archive_writer_commit(writer, FALSE, error)) return FALSE;

    g_autoptr(GBytes) index = NULL;
    if (!trace_index_get(writer->archive, trace_id, &index, error)) return FALSE;
    if (index != NULL) return add_stored(writer, trace_id, bytes_view(index), error);
    add_new(writer, trace_id);
    id_set_add(&writer->traces, trace_id);
    writer->sealed = FALSE;
    return TRUE;
}

void archive_writer_replaying(ArchiveWriter *writer, gboolean replaying) { writer->replaying = replaying; }

gsize archive_writer_pending_bytes(const ArchiveWriter *writer) {
    if (writer->traces.used == 0 && !writer->traces.has_zero) return 0;
    return store_batch_size_bytes(writer->batch) + puts_size_bytes(&writer->records) +
           puts_size_bytes(&writer->index_entries) + postings_size_bytes(writer->postings) +
           stats_group_size_bytes(writer->stats) - writer->stats_idle_bytes;
}
