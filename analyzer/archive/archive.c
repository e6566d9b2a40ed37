#include "analyzer/archive/archive.h"

#include <string.h>

#include "analyzer/archive/due.h"
#include "analyzer/archive/late.h"
#include "analyzer/archive/removed_traces.h"
#include "common/base/error.h"

#define BYTES_ANNOTATION "bytes"

gboolean archive_merge(Bytes existing, const Bytes *operands, gsize n, GByteArray *out) {
    if (existing.data == NULL) return stats_value_merge(operands, n, out);
    g_autofree Bytes *values = g_new(Bytes, n + 1);
    values[0] = existing;
    for (gsize i = 0; i < n; i++) values[i + 1] = operands[i];
    return stats_value_merge(values, n + 1, out);
}

static const char *lookup_text(void *arg, guint32 id, gsize *length) {
    return dict_text(((Archive *)arg)->dict, id, length);
}

static void lookup_process(void *arg, guint32 tracer, Role *role, guint32 *host) {
    process_table_get(((Archive *)arg)->processes, tracer, role, host);
}

static guint32 lookup_bytes_key(void *arg) {
    Archive *archive = arg;
    guint32 key = __atomic_load_n(&archive->bytes_key, __ATOMIC_RELAXED);
    if (key != 0) return key;
    key = dict_find(archive->dict, BYTES_ANNOTATION, strlen(BYTES_ANNOTATION));
    __atomic_store_n(&archive->bytes_key, key, __ATOMIC_RELAXED);
    return key;
}

static gboolean tolerance_load(Archive *archive, GError **error) {
    g_autoptr(GBytes) value = NULL;
    Bytes key = {TOLERANCE_KEY, strlen(TOLERANCE_KEY)};
    if (!store_get(archive->store, FAMILY_META, key, &value, error)) return FALSE;
    if (value == NULL) return TRUE;
    Bytes stored = bytes_view(value);
    ByteReader r = byte_reader(stored.data, stored.size_bytes);
    gint64 tolerance_ns = read_zigzag(&r);
    if (r.failed || reader_left(&r) != 0)
        return fail(error, PLUMB_ERROR_CORRUPT, "stored clock tolerance is malformed");
    archive->options.clock_tolerance_ns = tolerance_ns;
    archive->tolerance_stored = TRUE;
    return TRUE;
}

gboolean totals_read(StoreIter *iter, GArray *slots, GError **error) {
    Bytes prefix = {TOTALS_PREFIX, strlen(TOTALS_PREFIX)};
    for (gboolean more = store_iter_seek(iter, prefix); more; more = store_iter_next(iter)) {
        Bytes key = store_iter_key(iter);
        if (key.size_bytes != TOTALS_KEY_BYTES || memcmp(key.data, prefix.data, prefix.size_bytes) != 0) break;
        ByteReader r = byte_reader((const guint8 *)key.data + prefix.size_bytes, 2);
        guint slot = read_u16be(&r);
        TotalsSlot read = {.taken = FALSE};
        if (!stored_totals_decode(store_iter_value(iter), &read.totals))
            return fail(error, PLUMB_ERROR_CORRUPT, "stored totals of slot %u are malformed", slot);
        if (slot >= slots->len) g_array_set_size(slots, slot + 1);
        g_array_index(slots, TotalsSlot, slot) = read;
    }
    return iter_finished(iter, error);
}

static gboolean totals_load(Archive *archive, GError **error) {
    g_autoptr(StoreIter) meta = store_iter_new(archive->store, FAMILY_META);
    return totals_read(meta, archive->slots, error) && account_load(meta, archive->accounts, error);
}

static void commit_lock_init(pthread_rwlock_t *commit_lock) {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(commit_lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

Archive *archive_open(Store *store, const ArchiveOptions *options, GError **error) {
    g_autoptr(Archive) archive = g_new0(Archive, 1);
    archive->store = store;
    if (options != NULL) archive->options = *options;
    if (archive->options.max_trace_spans == 0) archive->options.max_trace_spans = DEFAULT_MAX_TRACE_SPANS;
    archive->options.max_trace_spans = MIN(archive->options.max_trace_spans, MOST_TRACE_SPANS);
    if (archive->options.clock == NULL) archive->options.clock = clock_system();
    archive->slots = g_array_new(FALSE, TRUE, sizeof(TotalsSlot));
    archive->accounts = g_ptr_array_new_with_free_func((GDestroyNotify)account_table_free);
    commit_lock_init(&archive->commit_lock);
    roll_up_init(&archive->roll_up);
    kind_set_init(&archive->kinds);
    due_clock_init(&archive->due);
    archive->known = known_traces_new(KNOWN_TRACES_BYTES);
    pthread_mutex_init(&archive->settle_lock, NULL);
    pthread_mutex_init(&archive->spark_lock, NULL);
    pthread_mutex_init(&archive->totals_lock, NULL);
    pthread_mutex_init(&archive->sealing_turn, NULL);
    pthread_mutex_init(&archive->large_turn, NULL);
    archive->lookup = (Lookup){lookup_text, lookup_process, lookup_bytes_key, archive};

    archive->dict = dict_open(store, error);
    if (archive->dict == NULL) return NULL;
    archive->processes = process_table_new(archive->dict, store_folder(store), error);
    if (archive->processes == NULL) return NULL;
    archive->patterns = pattern_table_open(store, archive->options.pattern_nodes, error);
    if (archive->patterns == NULL) return NULL;
    archive->mixed = mixed_table_open(store, &archive->lookup, error);
    if (archive->mixed == NULL) return NULL;
    if (!tolerance_load(archive, error) || !totals_load(archive, error) ||
        !roll_up_load(&archive->roll_up, store, error) || !retain_load(archive, error) ||
        !removed_traces_load(archive, error))
        return NULL;
    late_open(archive);
    return g_steal_pointer(&archive);
}

void archive_free(Archive *archive) {
    if (archive == NULL) return;
    known_traces_free(archive->known);
    pattern_table_free(archive->patterns);
    mixed_table_free(archive->mixed);
    process_table_free(archive->processes);
    dict_free(archive->dict);
    g_array_unref(archive->slots);
    g_ptr_array_unref(archive->accounts);
    pthread_mutex_destroy(&archive->totals_lock);
    pthread_mutex_destroy(&archive->sealing_turn);
    pthread_mutex_destroy(&archive->large_turn);
    kind_set_clear(&archive->kinds);
    due_clock_clear(&archive->due);
    pthread_mutex_destroy(&archive->settle_lock);
    pthread_mutex_destroy(&archive->spark_lock);
    roll_up_clear(&archive->roll_up);
    pthread_rwlock_destroy(&archive->commit_lock);
    g_free(archive);
}

void archive_rest(Archive *archive) {
    dict_rest(archive->dict);
    process_table_rest(archive->processes);
}

Store *archive_store(Archive *archive) { return archive->store; }
Dict *archive_dict(Archive *archive) { return archive->dict; }
const Lookup *archive_lookup(Archive *archive) { return &archive->lookup; }
void archive_namenode_hosts(Archive *archive, GArray *hosts) { process_table_namenodes(archive->processes, hosts); }
gint64 archive_clock_tolerance_ns(Archive *archive) { return archive->options.clock_tolerance_ns; }

const Pattern *archive_pattern(Archive *archive, guint32 number) {
    return pattern_table_get(archive->patterns, number);
}
Pattern *archive_pattern_of_rows(Archive *archive, guint32 number, guint32 **node_of, guint32 *n) {
    *node_of = NULL;
    *n = 0;
    if (pattern_is_mixed(number)) return mixed_table_pattern(archive->mixed, number, node_of, n);
    const Pattern *pattern = pattern_table_get(archive->patterns, number);
    return pattern != NULL ? pattern_ref(pattern) : NULL;
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
        .duplicates = __atomic_load_n(&archive->duplicates, __ATOMIC_RELAXED),
        .late_spans = __atomic_load_n(&archive->late_spans, __ATOMIC_RELAXED),
        .late_apart = __atomic_load_n(&archive->late_apart, __ATOMIC_RELAXED),
        .late_expired = __atomic_load_n(&archive->late_expired, __ATOMIC_RELAXED),
        .late_waiting = __atomic_load_n(&archive->late_waiting, __ATOMIC_RELAXED),
        .first_ns = sum.first_ns,
        .last_ns = sum.last_ns,
    };
}

void archive_books(Archive *archive, AccountTable *sum) {
    pthread_mutex_lock(&archive->totals_lock);
    for (guint i = 0; i < archive->accounts->len; i++) {
        const AccountTable *table = g_ptr_array_index(archive->accounts, i);
        if (table != NULL) account_add_table(sum, table);
    }
    pthread_mutex_unlock(&archive->totals_lock);
}

gboolean archive_prepare(Archive *archive, const GPtrArray *spans, GError **error) {
    if (lookup_bytes_key(archive) == 0) {
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
