/* Opening an archive: what it keeps in memory is made of what the store has. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/late.h"
#include "analyzer/archive/removed_traces.h"
#include "common/base/error.h"
#include "common/base/thread.h"

#define DEFAULT_MAX_TRACE_BYTES (64u << 20)

static const char *lookup_text(void *arg, guint32 id, gsize *length) {
    return dict_text(((Archive *)arg)->dict, id, length);
}

static void lookup_process(void *arg, guint32 tracer, Role *role, guint32 *host) {
    process_table_get(((Archive *)arg)->processes, tracer, role, host);
}

static guint32 lookup_bytes_key(void *arg) {
    Archive *archive = arg;
    guint32 key = atomic_load_explicit(&archive->bytes_key, memory_order_relaxed);
    if (key != 0) return key;
    key = dict_find(archive->dict, BYTES_ANNOTATION, strlen(BYTES_ANNOTATION));
    atomic_store_explicit(&archive->bytes_key, key, memory_order_relaxed);
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

/* From which bucket on statistics are kept. */
static gboolean kept_from_load(Archive *archive, GError **error) {
    g_autoptr(GBytes) stored = NULL;
    if (!store_get(archive->store, FAMILY_META, (Bytes){KEPT_FROM_KEY, strlen(KEPT_FROM_KEY)}, &stored, error))
        return FALSE;
    if (stored == NULL) return TRUE;
    Bytes value = bytes_view(stored);
    ByteReader r = byte_reader(value.data, value.size_bytes);
    for (guint level = 0; level < LEVEL_COUNT; level++) archive->kept_from[level] = (guint32)read_varint(&r);
    if (!r.failed && reader_left(&r) == 0) return TRUE;
    return fail(error, PLUMB_ERROR_CORRUPT, "what is noted of removed statistics is malformed");
}

Archive *archive_open(Store *store, const ArchiveOptions *options, GError **error) {
    g_autoptr(Archive) archive = g_new0(Archive, 1);
    archive->store = store;
    if (options != NULL) archive->options = *options;
    if (archive->options.max_trace_spans == 0) archive->options.max_trace_spans = DEFAULT_MAX_TRACE_SPANS;
    if (archive->options.max_trace_bytes == 0) archive->options.max_trace_bytes = DEFAULT_MAX_TRACE_BYTES;
    archive->options.max_trace_spans = MIN(archive->options.max_trace_spans, MOST_TRACE_SPANS);
    if (archive->options.clock == NULL) archive->options.clock = clock_system();
    archive->slots = g_array_new(FALSE, TRUE, sizeof(TotalsSlot));
    archive->accounts = g_ptr_array_new_with_free_func((GDestroyNotify)account_table_free);
    rwlock_init_writers_first(&archive->commit_lock);
    roll_up_init(&archive->roll_up);
    distinct_set_init(&archive->distinct);
    arrival_clock_init(&archive->arrivals);
    archive->known = known_traces_new(KNOWN_TRACES_BYTES);
    pthread_mutex_init(&archive->maintenance_lock, NULL);
    pthread_mutex_init(&archive->spark_lock, NULL);
    pthread_mutex_init(&archive->totals_lock, NULL);
    pthread_mutex_init(&archive->seal_lock, NULL);
    pthread_mutex_init(&archive->large_trace_lock, NULL);
    archive->lookup = (Lookup){lookup_text, lookup_process, lookup_bytes_key, archive};
    archive->waits = wait_table_new(&archive->lookup);
    archive->times_rule = TIMES_NOW;

    archive->dict = dict_open(store, error);
    if (archive->dict == NULL) return NULL;
    archive->processes = process_table_new(archive->dict, store_folder(store), error);
    if (archive->processes == NULL) return NULL;
    archive->patterns = pattern_table_open(store, archive->options.pattern_nodes, error);
    if (archive->patterns == NULL) return NULL;
    archive->mixed = mixed_table_open(store, &archive->lookup, error);
    if (archive->mixed == NULL) return NULL;
    if (!tolerance_load(archive, error) || !totals_load(archive, error) ||
        !roll_up_load(&archive->roll_up, store, error) || !kept_from_load(archive, error) ||
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
    wait_table_free(archive->waits);
    dict_free(archive->dict);
    g_array_unref(archive->slots);
    g_ptr_array_unref(archive->accounts);
    pthread_mutex_destroy(&archive->totals_lock);
    pthread_mutex_destroy(&archive->seal_lock);
    pthread_mutex_destroy(&archive->large_trace_lock);
    distinct_set_clear(&archive->distinct);
    arrival_clock_clear(&archive->arrivals);
    pthread_mutex_destroy(&archive->maintenance_lock);
    pthread_mutex_destroy(&archive->spark_lock);
    roll_up_clear(&archive->roll_up);
    pthread_rwlock_destroy(&archive->commit_lock);
    g_free(archive);
}
