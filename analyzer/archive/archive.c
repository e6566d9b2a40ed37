#include "analyzer/archive/archive.h"

#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

gboolean archive_merge(Bytes existing, const Bytes *operands, gsize n, GByteArray *out) {
    if (existing.data == NULL) return stats_value_merge(operands, n, out);
    g_autofree Bytes *values = g_new(Bytes, n + 1);
    values[0] = existing;
    for (gsize i = 0; i < n; i++) values[i + 1] = operands[i];
    return stats_value_merge(values, n + 1, out);
}

void archive_rest(Archive *archive) {
    dict_rest(archive->dict);
    process_table_rest(archive->processes);
}

Store *archive_store(Archive *archive) { return archive->store; }
Dict *archive_dict(Archive *archive) { return archive->dict; }
const Lookup *archive_lookup(Archive *archive) { return &archive->lookup; }
void archive_namenode_hosts(Archive *archive, GArray *hosts) { process_table_namenodes(archive->processes, hosts); }
WaitTable *archive_waits(Archive *archive) { return archive->waits; }
gint64 archive_clock_tolerance_ns(Archive *archive) { return archive->options.clock_tolerance_ns; }

const Pattern *archive_pattern(Archive *archive, guint32 number) {
    return pattern_table_get(archive->patterns, number);
}
Pattern *archive_pattern_of_rows(Archive *archive, guint32 number, guint32 **node_of, guint32 *n) {
    *node_of = NULL;
    *n = 0;
    const Pattern *known = pattern_is_mixed(number) ? NULL : pattern_table_get(archive->patterns, number);
    Pattern *pattern = known != NULL ? pattern_ref(known) : NULL;
    if (pattern_is_mixed(number)) pattern = mixed_table_pattern(archive->mixed, number, node_of, n);
    /* Who asks for it looks at its nodes. */
    if (pattern != NULL) allowance_goes_on_with(pattern->n_nodes * sizeof(PatternNode));
    return pattern;
}

guint32 archive_pattern_find(Archive *archive, PatternId id) {
    guint32 number = pattern_table_find(archive->patterns, id);
    return number != 0 ? number : mixed_table_find(archive->mixed, id);
}

gboolean archive_pattern_id(Archive *archive, guint32 number, PatternId *id) {
    if (pattern_is_mixed(number)) return mixed_table_id(archive->mixed, number, id);
    const Pattern *pattern = pattern_table_get(archive->patterns, number);
    if (pattern != NULL) *id = pattern->id;
    return pattern != NULL;
}

guint32 archive_mixed_count(Archive *archive) { return mixed_table_count(archive->mixed); }
guint32 archive_pattern_count(Archive *archive) { return pattern_table_count(archive->patterns); }

ArchiveTotals archive_totals(Archive *archive) {
    StoredTotals sum = {.traces = 0};
    pthread_mutex_lock(&archive->totals_lock);
    for (guint i = 0; i < archive->slots->len; i++)
        stored_totals_add(&sum, &g_array_index(archive->slots, TotalsSlot, i).totals);
    pthread_mutex_unlock(&archive->totals_lock);
    return (ArchiveTotals){
        .traces = (guint64)sum.traces,
        .spans = (guint64)sum.spans,
        .incomplete_traces = (guint64)sum.incomplete_traces,
        .patterns = archive_pattern_count(archive),
        .duplicates = atomic_load_explicit(&archive->duplicates, memory_order_relaxed),
        .late_spans = atomic_load_explicit(&archive->late_spans, memory_order_relaxed),
        .late_apart = atomic_load_explicit(&archive->late_apart, memory_order_relaxed),
        .late_expired = atomic_load_explicit(&archive->late_expired, memory_order_relaxed),
        .late_waiting = atomic_load_explicit(&archive->late_waiting, memory_order_relaxed),
        .first_ns = sum.first_ns,
        .last_ns = sum.last_ns,
    };
}

void archive_accounts(Archive *archive, AccountTable *sum) {
    pthread_mutex_lock(&archive->totals_lock);
    for (guint i = 0; i < archive->accounts->len; i++) {
        const AccountTable *table = g_ptr_array_index(archive->accounts, i);
        if (table != NULL) account_add_table(sum, table);
    }
    pthread_mutex_unlock(&archive->totals_lock);
}

gboolean archive_prepare(Archive *archive, const GPtrArray *spans, GError **error) {
    if (archive->lookup.bytes_key(archive) == 0) {
        guint32 key = 0;
        g_autoptr(GError) local = NULL;
        /* A full dictionary that lacks the key can never get it: then no span can have it either. */
        if (!dict_intern(archive->dict, BYTES_ANNOTATION, strlen(BYTES_ANNOTATION), &key, &local) &&
            !g_error_matches(local, PLUMB_ERROR, PLUMB_ERROR_LIMIT)) {
            g_propagate_error(error, g_steal_pointer(&local));
            return FALSE;
        }
    }
    guint32 last = 0;
    for (guint i = 0; i < spans->len; i++) {
        guint32 tracer = ((const SpanRec *)g_ptr_array_index(spans, i))->tracer;
        if (tracer == last) continue;
        if (!process_table_ensure(archive->processes, tracer, error)) return FALSE;
        last = tracer;
    }
    return TRUE;
}

void snapshot_take(Archive *archive, const StoreFamily *families, guint n, Snapshot *snapshot) {
    *snapshot = (Snapshot){.iters = {NULL}};
    pthread_rwlock_wrlock(&archive->commit_lock);
    memcpy(snapshot->rolled_below, archive->roll_up.rolled_below, sizeof snapshot->rolled_below);
    for (guint i = 0; i < n; i++) snapshot->iters[families[i]] = store_iter_new(archive->store, families[i]);
    pthread_rwlock_unlock(&archive->commit_lock);
}

void snapshot_clear(Snapshot *snapshot) {
    for (guint i = 0; i < FAMILY_COUNT; i++) g_clear_pointer(&snapshot->iters[i], store_iter_free);
}

gboolean iter_finished(StoreIter *iter, GError **error) {
    g_autoptr(GError) local = NULL;
    store_iter_error(iter, &local);
    if (local == NULL) return TRUE;
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
}

/* Keys in a damaged store may be shorter. */
gboolean iter_at_key(StoreIter *iter, const LayoutKey *key) {
    const Bytes at = store_iter_key(iter);
    return at.size_bytes == key->size_bytes && memcmp(at.data, key->bytes, at.size_bytes) == 0;
}

gboolean trace_index_get(Archive *archive, guint64 trace_id, GBytes **index, GError **error) {
    LayoutKey key = trace_id_key(trace_id);
    g_autoptr(GBytes) value = NULL;
    if (!store_get(archive->store, FAMILY_TRACE_ID, key_bytes(&key), &value, error)) return FALSE;
    if (value != NULL && !trace_index_valid(bytes_view(value)))
        return fail(error, PLUMB_ERROR_CORRUPT, "index entry of trace %016" G_GINT64_MODIFIER "x is malformed",
                    trace_id);
    *index = g_steal_pointer(&value);
    return TRUE;
}
