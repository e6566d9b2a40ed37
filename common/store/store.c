#include "common/store/store.h"

#include <string.h>

#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/store/store_ops.h"
#include "common/store/store_skip.h"

/* What an entry of a batch costs beside its key and value: type, family and two lengths. */
#define ENTRY_OVERHEAD_BYTES 12

static const char bad_value[16] = "\x7fplumb:no-merge";
const Bytes store_bad_value = {bad_value, sizeof bad_value};

gboolean store_value_is_bad(const void *data, gsize size_bytes) {
    return size_bytes == sizeof bad_value && memcmp(data, bad_value, sizeof bad_value) == 0;
}

void store_merge_or_bad(StoreMerge merge, Bytes existing, const Bytes *operands, gsize n, GByteArray *out) {
    gboolean ok = merge != NULL && (existing.data == NULL || !store_value_is_bad(existing.data, existing.size_bytes));
    for (gsize i = 0; ok && i < n; i++) ok = !store_value_is_bad(operands[i].data, operands[i].size_bytes);
    if (ok && merge(existing, operands, n, out)) return;
    g_byte_array_set_size(out, 0);
    append_bytes(out, store_bad_value.data, store_bad_value.size_bytes);
}

gboolean store_fail_bad_value(StoreFamily family, GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "store: a value of family '%s' could not be merged",
                store_family_name(family));
}

const char *store_family_name(StoreFamily family) {
    /* RocksDB always has a family "default": the format version lies there, so that it can be read first. */
    static const char *const names[FAMILY_COUNT] = {
        [FAMILY_META] = "default",      [FAMILY_DICT] = "dict",       [FAMILY_TRACE] = "trace",
        [FAMILY_TRACE_ID] = "trace_id", [FAMILY_PATTERN] = "pattern", [FAMILY_STATS] = "stats",
        [FAMILY_INDEX] = "index",       [FAMILY_LATE] = "late",       [FAMILY_IDS] = "ids",
        [FAMILY_SPARK] = "spark",
    };
    return names[family];
}

void store_close(Store *store) {
    if (store != NULL) store->ops->close(store);
}

const char *store_folder(const Store *store) { return store->folder; }

gboolean store_get(Store *store, StoreFamily family, Bytes key, GBytes **value, GError **error) {
    if (!allowance_check(error)) return FALSE;
    store_reads(family);
    if (!store->ops->get(store, family, key, value, error)) return FALSE;
    if (*value != NULL) allowance_goes_on_with(g_bytes_get_size(*value)); /* whoever goes on in vain hears it next */
    return TRUE;
}

StoreBatch *store_batch_new(Store *store) { return store->ops->batch_new(store); }

void store_batch_free(StoreBatch *batch) {
    if (batch != NULL) batch->ops->batch_free(batch);
}

void store_batch_put(StoreBatch *batch, StoreFamily family, Bytes key, Bytes value) {
    batch->size_bytes += key.size_bytes + value.size_bytes + ENTRY_OVERHEAD_BYTES;
    batch->ops->batch_put(batch, family, key, value);
}

void store_batch_put_lent(StoreBatch *batch, StoreFamily family, Bytes key, Bytes value) {
    batch->size_bytes += key.size_bytes + value.size_bytes + ENTRY_OVERHEAD_BYTES;
    (batch->ops->batch_put_lent != NULL ? batch->ops->batch_put_lent : batch->ops->batch_put)(batch, family, key,
                                                                                              value);
}

void store_batch_delete(StoreBatch *batch, StoreFamily family, Bytes key) {
    batch->size_bytes += key.size_bytes + ENTRY_OVERHEAD_BYTES;
    batch->ops->batch_delete(batch, family, key);
}

static void note_merge(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand) {
    batch->size_bytes += key.size_bytes + operand.size_bytes + ENTRY_OVERHEAD_BYTES;
    batch->merges++;
    batch->stray_merges += family != FAMILY_STATS;
}

void store_batch_merge(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand) {
    note_merge(batch, family, key, operand);
    batch->ops->batch_merge(batch, family, key, operand);
}

void store_batch_merge_lent(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand) {
    note_merge(batch, family, key, operand);
    const StoreOps *ops = batch->ops;
    (ops->batch_merge_lent != NULL ? ops->batch_merge_lent : ops->batch_merge)(batch, family, key, operand);
}

void store_batch_delete_range(StoreBatch *batch, StoreFamily family, Bytes from, Bytes until) {
    batch->size_bytes += from.size_bytes + until.size_bytes + ENTRY_OVERHEAD_BYTES;
    batch->ops->batch_delete_range(batch, family, from, until);
}

gsize store_batch_size_bytes(const StoreBatch *batch) { return batch->size_bytes; }

gboolean store_write(Store *store, StoreBatch *batch, gboolean sync, GError **error) {
    if (store->read_only) return fail(error, PLUMB_ERROR_IO, "store: it is open for reading only");
    if (batch->stray_merges > 0) return fail(error, PLUMB_ERROR_INPUT, "store: only family 'stats' can merge");
    if (batch->merges > 0 && store->merge == NULL)
        return fail(error, PLUMB_ERROR_INPUT, "store: it was opened without a merge function");
    if (!store->ops->write(store, batch, sync, error)) return FALSE;
    batch->ops->batch_clear(batch);
    batch->size_bytes = 0;
    batch->merges = 0;
    return TRUE;
}

gboolean store_sync(Store *store, GError **error) { return store->read_only || store->ops->sync(store, error); }
StoreUsage store_usage(Store *store) { return store->ops->usage(store); }
gboolean store_flush(Store *store, gboolean compact, GError **error) {
    return store->read_only || store->ops->flush(store, compact, error);
}

guint64 store_next_mark(Store *store) { return store->ops->next_mark(store); }
gboolean store_set_mark(Store *store, gboolean flush, GError **error) {
    return store->read_only || store->ops->set_mark(store, flush, error);
}
guint64 store_reached_mark(Store *store) { return store->ops->reached_mark(store); }

gboolean store_reclaim(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error) {
    if (store->read_only) return fail(error, PLUMB_ERROR_IO, "store: it is open for reading only");
    return store->ops->reclaim(store, family, from, until, error);
}

gboolean store_compact(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error) {
    if (store->read_only) return fail(error, PLUMB_ERROR_IO, "store: it is open for reading only");
    return store->ops->compact(store, family, from, until, error);
}

void store_set_quiet(Store *store, gboolean quiet) {
    if (!store->read_only && store->ops->set_quiet != NULL) store->ops->set_quiet(store, quiet);
}

StoreIter *store_iter_new(Store *store, StoreFamily family) {
    store_reads(family);
    return store->ops->iter_new(store, family);
}

void store_iter_free(StoreIter *iter) {
    if (iter != NULL) iter->ops->iter_free(iter);
}

/* A value that could not be merged ends the iteration, as any other read error does; and so does the allowance of the
 * question that it reads for. */
static gboolean settle(StoreIter *iter, gboolean valid) {
    iter->valid = valid;
    if (!valid) return FALSE;
    Bytes value = iter->ops->iter_value(iter);
    iter->bad = store_value_is_bad(value.data, value.size_bytes);
    iter->refused = !allowance_goes_on_with(value.size_bytes);
    iter->valid = !iter->bad && !iter->refused;
    return iter->valid;
}

gboolean store_iter_seek(StoreIter *iter, Bytes key) { return settle(iter, iter->ops->iter_seek(iter, key)); }
gboolean store_iter_seek_before(StoreIter *iter, Bytes key) {
    return settle(iter, iter->ops->iter_seek_before(iter, key));
}
gboolean store_iter_next(StoreIter *iter) { return iter->valid && settle(iter, iter->ops->iter_next(iter)); }
gboolean store_iter_previous(StoreIter *iter) { return iter->valid && settle(iter, iter->ops->iter_previous(iter)); }

Bytes store_iter_key(const StoreIter *iter) {
    g_return_val_if_fail(iter->valid, ((Bytes){NULL, 0}));
    return iter->ops->iter_key(iter);
}
Bytes store_iter_value(const StoreIter *iter) {
    g_return_val_if_fail(iter->valid, ((Bytes){NULL, 0}));
    return iter->ops->iter_value(iter);
}

gboolean store_iter_error(StoreIter *iter, GError **error) {
    if (!iter->ops->iter_error(iter, error)) return FALSE;
    if (iter->bad) return store_fail_bad_value(FAMILY_STATS, error);
    return !iter->refused || allowance_check(error);
}
