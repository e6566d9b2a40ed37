/* The store in memory: for tests, and for asking questions about imported files without leaving anything behind.
 *
 * One balanced tree per family under one lock. An iterator walks a snapshot: a sorted array of references, made when
 * the first iterator after a write asks for it and shared by those that follow. Reference counts change under the lock
 * only, and readers get copies: GLib's atomic counts are invisible to ThreadSanitizer. */
#include <pthread.h>

#include "common/base/error.h"
#include "common/store/store_ops.h"

typedef struct Snapshot {
    guint refs; /* under the store's lock */
    GPtrArray *keys;
    GPtrArray *values; /* of GBytes, parallel */
} Snapshot;

typedef struct MemoryStore {
    Store base;
    pthread_rwlock_t lock;
    GTree *families[FAMILY_COUNT];     /* GBytes -> GBytes */
    Snapshot *snapshots[FAMILY_COUNT]; /* of the present state, or NULL */
    gsize size_bytes;
    StoreExpired expired;
    void *expired_arg;
} MemoryStore;

typedef enum { OP_PUT, OP_DELETE, OP_MERGE, OP_DELETE_RANGE } OpKind;

typedef struct Op {
    OpKind kind;
    StoreFamily family;
    GBytes *key;
    GBytes *value; /* NULL of OP_DELETE; the end of OP_DELETE_RANGE */
} Op;

typedef struct MemoryBatch {
    StoreBatch base;
    GArray *ops;
} MemoryBatch;

typedef struct MemoryIter {
    StoreIter base;
    MemoryStore *store;
    Snapshot *snapshot;
    guint at; /* of the current entry */
} MemoryIter;

static Bytes view(GBytes *bytes) {
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    return (Bytes){data != NULL ? data : "", size}; /* NULL means "absent" to a merge function */
}

static GBytes *copy(Bytes bytes) { return g_bytes_new(bytes.data, bytes.size_bytes); }

static int compare_keys(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    return g_bytes_compare(a, b);
}

/* ---- snapshots: all under the lock ---- */

static void snapshot_unref(Snapshot *snapshot) {
    if (snapshot == NULL || --snapshot->refs > 0) return;
    g_ptr_array_unref(snapshot->keys);
    g_ptr_array_unref(snapshot->values);
    g_free(snapshot);
}

static gboolean snapshot_add(gpointer key, gpointer value, gpointer data) {
    Snapshot *snapshot = data;
    g_ptr_array_add(snapshot->keys, g_bytes_ref(key));
    g_ptr_array_add(snapshot->values, g_bytes_ref(value));
    return FALSE;
}

/* A new reference. */
static Snapshot *snapshot_of(MemoryStore *store, StoreFamily family) {
    Snapshot *snapshot = store->snapshots[family];
    if (snapshot == NULL) {
        guint n = (guint)g_tree_nnodes(store->families[family]);
        snapshot = g_new(Snapshot, 1);
        snapshot->refs = 1; /* the store's own */
        snapshot->keys = g_ptr_array_new_full(n, (GDestroyNotify)g_bytes_unref);
        snapshot->values = g_ptr_array_new_full(n, (GDestroyNotify)g_bytes_unref);
        g_tree_foreach(store->families[family], snapshot_add, snapshot);
        store->snapshots[family] = snapshot;
    }
    snapshot->refs++;
    return snapshot;
}

/* ---- the store ---- */

static void memory_close(Store *base) {
    MemoryStore *store = (MemoryStore *)base;
    for (guint i = 0; i < FAMILY_COUNT; i++) {
        snapshot_unref(store->snapshots[i]);
        g_tree_unref(store->families[i]);
    }
    pthread_rwlock_destroy(&store->lock);
    g_free(store);
}

static gboolean memory_get(Store *base, StoreFamily family, Bytes key, GBytes **value, GError **error) {
    MemoryStore *store = (MemoryStore *)base;
    GBytes *sought = copy(key), *found = NULL;
    pthread_rwlock_rdlock(&store->lock);
    GBytes *stored = g_tree_lookup(store->families[family], sought);
    if (stored != NULL) found = copy(view(stored));
    pthread_rwlock_unlock(&store->lock);
    g_bytes_unref(sought);
    if (found != NULL && store_value_is_bad(view(found).data, view(found).size_bytes)) {
        g_bytes_unref(found);
        return store_fail_bad_value(family, error);
    }
    *value = found;
    return TRUE;
}

/* Replaces the value of a key, NULL to take the key away. Takes the reference to value. */
static void set_value(MemoryStore *store, StoreFamily family, GBytes *key, GBytes *value) {
    GTree *tree = store->families[family];
    GBytes *old = g_tree_lookup(tree, key);
    if (old != NULL) store->size_bytes -= g_bytes_get_size(old) + g_bytes_get_size(key);
    if (value != NULL) {
        store->size_bytes += g_bytes_get_size(value) + g_bytes_get_size(key);
        g_tree_replace(tree, copy(view(key)), value);
    } else if (old != NULL) {
        g_tree_remove(tree, key);
    }
}

static GBytes *merged_value(MemoryStore *store, const Op *op) {
    GBytes *old = g_tree_lookup(store->families[op->family], op->key);
    Bytes existing = old != NULL ? view(old) : (Bytes){NULL, 0};
    const Bytes operand = view(op->value);
    GByteArray *out = g_byte_array_new();
    store_merge_or_bad(store->base.merge, existing, &operand, 1, out);
    return g_byte_array_free_to_bytes(out);
}

static gboolean always(void *arg, StoreFamily family, Bytes key, Bytes value) {
    (void)arg;
    (void)family;
    (void)key;
    (void)value;
    return TRUE;
}

/* Takes away the keys in [from, until) of which 'expired' says so. */
static void remove_range(MemoryStore *store, StoreFamily family, GBytes *const range[2], StoreExpired expired) {
    g_autoptr(GPtrArray) gone = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    GTreeNode *node = g_tree_lower_bound(store->families[family], range[0]);
    for (; node != NULL && g_bytes_compare(g_tree_node_key(node), range[1]) < 0; node = g_tree_node_next(node)) {
        GBytes *key = g_tree_node_key(node);
        if (expired(store->expired_arg, family, view(key), view(g_tree_node_value(node))))
            g_ptr_array_add(gone, g_bytes_ref(key));
    }
    for (guint i = 0; i < gone->len; i++) set_value(store, family, gone->pdata[i], NULL);
}

static void apply(MemoryStore *store, const Op *op) {
    switch (op->kind) {
    case OP_PUT: set_value(store, op->family, op->key, copy(view(op->value))); break;
    case OP_DELETE: set_value(store, op->family, op->key, NULL); break;
    case OP_MERGE: set_value(store, op->family, op->key, merged_value(store, op)); break;
    case OP_DELETE_RANGE: remove_range(store, op->family, (GBytes *const[2]){op->key, op->value}, always); break;
    }
    snapshot_unref(store->snapshots[op->family]);
    store->snapshots[op->family] = NULL;
}

static gboolean memory_write(Store *base, StoreBatch *batch, gboolean sync, GError **error) {
    (void)sync;
    (void)error;
    MemoryStore *store = (MemoryStore *)base;
    const GArray *ops = ((MemoryBatch *)batch)->ops;
    pthread_rwlock_wrlock(&store->lock);
    for (guint i = 0; i < ops->len; i++) apply(store, &g_array_index(ops, Op, i));
    pthread_rwlock_unlock(&store->lock);
    return TRUE;
}

static gboolean memory_sync(Store *store, GError **error) {
    (void)store;
    (void)error;
    return TRUE;
}

static guint64 memory_mark(Store *store) {
    (void)store;
    return 0;
}

static gboolean memory_set_mark(Store *store, gboolean flush, GError **error) {
    (void)flush;
    return memory_sync(store, error);
}

static gboolean memory_flush(Store *store, gboolean compact, GError **error) {
    (void)compact;
    return memory_sync(store, error);
}

/* What is deleted is gone already. */
static gboolean memory_reclaim(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error) {
    (void)family;
    (void)from;
    (void)until;
    return memory_sync(store, error);
}

static gboolean memory_compact(Store *base, StoreFamily family, Bytes from, Bytes until, GError **error) {
    (void)error;
    MemoryStore *store = (MemoryStore *)base;
    gboolean may = family == FAMILY_TRACE || family == FAMILY_TRACE_ID || family == FAMILY_INDEX;
    if (!may || store->expired == NULL) return TRUE;
    GBytes *const range[2] = {copy(from), copy(until)};
    pthread_rwlock_wrlock(&store->lock);
    remove_range(store, family, range, store->expired);
    snapshot_unref(store->snapshots[family]);
    store->snapshots[family] = NULL;
    pthread_rwlock_unlock(&store->lock);
    g_bytes_unref(range[0]);
    g_bytes_unref(range[1]);
    return TRUE;
}

static StoreUsage memory_usage(Store *base) {
    MemoryStore *store = (MemoryStore *)base;
    pthread_rwlock_rdlock(&store->lock);
    gsize size_bytes = store->size_bytes;
    pthread_rwlock_unlock(&store->lock);
    return (StoreUsage){.live_bytes = size_bytes, .memory_bytes = size_bytes, .free_bytes = G_MAXUINT64};
}

/* ---- batches ---- */

static void op_clear(gpointer data) {
    Op *op = data;
    g_bytes_unref(op->key);
    if (op->value != NULL) g_bytes_unref(op->value);
}

static void memory_batch_free(StoreBatch *base) {
    MemoryBatch *batch = (MemoryBatch *)base;
    g_array_unref(batch->ops);
    g_free(batch);
}

static void memory_batch_clear(StoreBatch *base) { g_array_set_size(((MemoryBatch *)base)->ops, 0); }

static void batch_add(StoreBatch *base, const Op *op) { g_array_append_vals(((MemoryBatch *)base)->ops, op, 1); }

static void memory_batch_put(StoreBatch *base, StoreFamily family, Bytes key, Bytes value) {
    batch_add(base, &(Op){OP_PUT, family, copy(key), copy(value)});
}
static void memory_batch_delete(StoreBatch *base, StoreFamily family, Bytes key) {
    batch_add(base, &(Op){OP_DELETE, family, copy(key), NULL});
}
static void memory_batch_merge(StoreBatch *base, StoreFamily family, Bytes key, Bytes operand) {
    batch_add(base, &(Op){OP_MERGE, family, copy(key), copy(operand)});
}

static void memory_batch_delete_range(StoreBatch *base, StoreFamily family, Bytes from, Bytes until) {
    batch_add(base, &(Op){OP_DELETE_RANGE, family, copy(from), copy(until)});
}

/* ---- iterators ---- */

static void memory_iter_free(StoreIter *base) {
    MemoryIter *iter = (MemoryIter *)base;
    pthread_rwlock_wrlock(&iter->store->lock);
    snapshot_unref(iter->snapshot);
    pthread_rwlock_unlock(&iter->store->lock);
    g_free(iter);
}

/* Position of the first key >= key. */
static guint lower_bound(const Snapshot *snapshot, Bytes key) {
    GBytes *sought = copy(key);
    guint low = 0, high = snapshot->keys->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_bytes_compare(snapshot->keys->pdata[middle], sought) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    g_bytes_unref(sought);
    return low;
}

static gboolean memory_iter_seek(StoreIter *base, Bytes key) {
    MemoryIter *iter = (MemoryIter *)base;
    iter->at = lower_bound(iter->snapshot, key);
    return iter->at < iter->snapshot->keys->len;
}

static gboolean memory_iter_previous(StoreIter *base) { return ((MemoryIter *)base)->at-- > 0; }

static gboolean memory_iter_seek_before(StoreIter *base, Bytes key) {
    MemoryIter *iter = (MemoryIter *)base;
    iter->at = lower_bound(iter->snapshot, key);
    return memory_iter_previous(base);
}

static gboolean memory_iter_next(StoreIter *base) {
    MemoryIter *iter = (MemoryIter *)base;
    return ++iter->at < iter->snapshot->keys->len;
}

static Bytes memory_iter_key(const StoreIter *base) {
    const MemoryIter *iter = (const MemoryIter *)base;
    return view(iter->snapshot->keys->pdata[iter->at]);
}
static Bytes memory_iter_value(const StoreIter *base) {
    const MemoryIter *iter = (const MemoryIter *)base;
    return view(iter->snapshot->values->pdata[iter->at]);
}

static gboolean memory_iter_error(StoreIter *iter, GError **error) {
    (void)iter;
    (void)error;
    return TRUE;
}

static StoreBatch *memory_batch_new(Store *store);
static StoreIter *memory_iter_new(Store *base, StoreFamily family);

static const StoreOps memory_ops = {
    .close = memory_close,
    .get = memory_get,
    .write = memory_write,
    .sync = memory_sync,
    .usage = memory_usage,
    .flush = memory_flush,
    .batch_new = memory_batch_new,
    .batch_free = memory_batch_free,
    .batch_clear = memory_batch_clear,
    .batch_put = memory_batch_put,
    .batch_delete = memory_batch_delete,
    .batch_merge = memory_batch_merge,
    .batch_delete_range = memory_batch_delete_range,
    .reclaim = memory_reclaim,
    .compact = memory_compact,
    .next_mark = memory_mark,
    .set_mark = memory_set_mark,
    .reached_mark = memory_mark,
    .iter_new = memory_iter_new,
    .iter_free = memory_iter_free,
    .iter_seek = memory_iter_seek,
    .iter_seek_before = memory_iter_seek_before,
    .iter_next = memory_iter_next,
    .iter_previous = memory_iter_previous,
    .iter_key = memory_iter_key,
    .iter_value = memory_iter_value,
    .iter_error = memory_iter_error,
};

static StoreBatch *memory_batch_new(Store *store) {
    (void)store;
    MemoryBatch *batch = g_new0(MemoryBatch, 1);
    batch->base.ops = &memory_ops;
    batch->ops = g_array_new(FALSE, FALSE, sizeof(Op));
    g_array_set_clear_func(batch->ops, op_clear);
    return &batch->base;
}

static StoreIter *memory_iter_new(Store *base, StoreFamily family) {
    MemoryIter *iter = g_new0(MemoryIter, 1);
    iter->base.ops = &memory_ops;
    iter->store = (MemoryStore *)base;
    pthread_rwlock_wrlock(&iter->store->lock);
    iter->snapshot = snapshot_of(iter->store, family);
    pthread_rwlock_unlock(&iter->store->lock);
    return &iter->base;
}

Store *store_open_memory(const StoreOptions *options, GError **error) {
    (void)error;
    MemoryStore *store = g_new0(MemoryStore, 1);
    store->base = (Store){&memory_ops, options->merge, options->read_only, NULL};
    store->expired = options->expired;
    store->expired_arg = options->expired_arg;
    pthread_rwlock_init(&store->lock, NULL);
    for (guint i = 0; i < FAMILY_COUNT; i++) {
        store->families[i] =
            g_tree_new_full(compare_keys, NULL, (GDestroyNotify)g_bytes_unref, (GDestroyNotify)g_bytes_unref);
    }
    return &store->base;
}
