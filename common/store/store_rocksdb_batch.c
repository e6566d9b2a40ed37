#define _GNU_SOURCE /* qsort_r */
#include <rocksdb/c.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/region.h"
#include "common/store/store_rocksdb_internal.h"

/* What a batch keeps for its next use: a large one is needed for moments only. */
#define KEPT_BYTES (4u << 20)

StoreBatch *rocks_batch_new(Store *store, const StoreOps *ops) {
    (void)store;
    RocksBatch *batch = g_new0(RocksBatch, 1);
    batch->base.ops = ops;
    batch->ops = g_array_new(FALSE, FALSE, sizeof(Op));
    batch->bytes = g_byte_array_new();
    return &batch->base;
}

void rocks_batch_free(StoreBatch *base) {
    RocksBatch *batch = (RocksBatch *)base;
    g_array_unref(batch->ops);
    g_byte_array_unref(batch->bytes);
    g_free(batch);
}

void rocks_batch_clear(StoreBatch *base) {
    RocksBatch *batch = (RocksBatch *)base;
    g_array_set_size(batch->ops, 0);
    if (batch->bytes->len > KEPT_BYTES) {
        g_byte_array_unref(batch->bytes);
        batch->bytes = g_byte_array_new();
    }
    g_byte_array_set_size(batch->bytes, 0);
    batch->lent_bytes = 0;
}

static guint64 key_start(Bytes key) {
    guint64 start = 0;
    if (key.size_bytes > 0) memcpy(&start, key.data, MIN(key.size_bytes, sizeof start));
    return GUINT64_FROM_BE(start);
}

static Op *batch_add(StoreBatch *base, OpKind kind, StoreFamily family, Bytes key, Bytes value) {
    RocksBatch *batch = (RocksBatch *)base;
    const Op op = {.key_start = key_start(key),
                   .at = batch->bytes->len,
                   .key_bytes = (guint32)key.size_bytes,
                   .value_bytes = (guint32)value.size_bytes,
                   .number = batch->ops->len,
                   .family = (guint16)family,
                   .kind = (guint16)kind};
    g_array_append_val(batch->ops, op);
    append_bytes(batch->bytes, key.data, key.size_bytes);
    append_bytes(batch->bytes, value.data, value.size_bytes);
    return &g_array_index(batch->ops, Op, op.number);
}

void rocks_batch_put(StoreBatch *base, StoreFamily family, Bytes key, Bytes value) {
    batch_add(base, OP_PUT, family, key, value);
}
static void batch_add_lent(StoreBatch *base, OpKind kind, StoreFamily family, Bytes key, Bytes value) {
    Op *op = batch_add(base, kind, family, key, (Bytes){"", 0});
    op->lent = value.data;
    op->value_bytes = (guint32)value.size_bytes;
    ((RocksBatch *)base)->lent_bytes += value.size_bytes;
}

void rocks_batch_put_lent(StoreBatch *base, StoreFamily family, Bytes key, Bytes value) {
    batch_add_lent(base, OP_PUT, family, key, value);
}
void rocks_batch_merge_lent(StoreBatch *base, StoreFamily family, Bytes key, Bytes operand) {
    batch_add_lent(base, OP_MERGE, family, key, operand);
}
void rocks_batch_delete(StoreBatch *base, StoreFamily family, Bytes key) {
    batch_add(base, OP_DELETE, family, key, (Bytes){"", 0});
}
void rocks_batch_merge(StoreBatch *base, StoreFamily family, Bytes key, Bytes operand) {
    batch_add(base, OP_MERGE, family, key, operand);
}
void rocks_batch_delete_range(StoreBatch *base, StoreFamily family, Bytes from, Bytes until) {
    batch_add(base, OP_DELETE_RANGE, family, from, until);
}

static int compare_keys(Bytes a, Bytes b) {
    int order = memcmp(a.data, b.data, MIN(a.size_bytes, b.size_bytes));
    return order != 0 ? order : a.size_bytes < b.size_bytes ? -1 : a.size_bytes > b.size_bytes;
}

static int compare_ops(const void *a, const void *b, void *bytes) {
    const Op *left = a, *right = b;
    if (left->family != right->family) return left->family < right->family ? -1 : 1;
    if (left->key_start != right->key_start) return left->key_start < right->key_start ? -1 : 1;
    const guint8 *keys = bytes;
    int order = compare_keys((Bytes){keys + left->at, left->key_bytes}, (Bytes){keys + right->at, right->key_bytes});
    if (order != 0) return order;
    return left->number < right->number ? -1 : left->number > right->number;
}

static void write_op(const RocksStore *store, rocksdb_writebatch_t *writes, const Op *op, const char *bytes) {
    rocksdb_column_family_handle_t *family = store->families[op->family];
    const char *key = bytes + op->at, *value = op->lent != NULL ? (const char *)op->lent : key + op->key_bytes;
    switch ((OpKind)op->kind) {
    case OP_PUT: rocksdb_writebatch_put_cf(writes, family, key, op->key_bytes, value, op->value_bytes); break;
    case OP_DELETE: rocksdb_writebatch_delete_cf(writes, family, key, op->key_bytes); break;
    case OP_MERGE: rocksdb_writebatch_merge_cf(writes, family, key, op->key_bytes, value, op->value_bytes); break;
    case OP_DELETE_RANGE:
        rocksdb_writebatch_delete_range_cf(writes, family, key, op->key_bytes, value, op->value_bytes);
        break;
    }
}

/* The most that RocksDB's form of an operation has beside key and value, and of a batch. */
#define WRITE_HEAD_BYTES 16u
#define BATCH_HEAD_BYTES 12u

/* A larger one is not kept for the next write: groups take some 9 MiB, but for those of a very large trace. */
#define SPARE_MOST_BYTES (12u << 20)

/* Its batch is NULL when there is none with that room. */
static RocksWrites spare_take(RocksStore *store, gsize room) {
    RocksWrites spare = {NULL, 0};
    pthread_mutex_lock(&store->spare_lock);
    if (store->spare.room >= room) {
        spare = store->spare;
        store->spare = (RocksWrites){NULL, 0};
    }
    pthread_mutex_unlock(&store->spare_lock);
    return spare;
}

void writes_drop_spare(RocksStore *store) {
    RocksWrites spare = spare_take(store, 0);
    if (spare.batch != NULL) rocksdb_writebatch_destroy(spare.batch);
}

/* One with room for all: growing, it would be copied again and again, into fresh pages each time. There is no call for
 * that, but one that is made of bytes, which do not matter here, keeps their room when it is emptied. The pages of a
 * group are a tenth of what writing it costs, so the last one is used again. */
static RocksWrites writes_new(RocksStore *store, RocksBatch *batch) {
    const gsize room =
        BATCH_HEAD_BYTES + batch->bytes->len + batch->lent_bytes + (gsize)batch->ops->len * WRITE_HEAD_BYTES;
    RocksWrites writes = spare_take(store, room);
    if (writes.batch != NULL) return writes;
    writes_drop_spare(store); /* this one takes its place */
    /* The next group may be a little larger. */
    writes.room = room < SPARE_MOST_BYTES ? MIN(room + room / 4, SPARE_MOST_BYTES) : room;
    char *none = large_new0(writes.room); /* a large one is never written to, and so takes no memory */
    writes.batch = rocksdb_writebatch_create_from(none, writes.room);
    large_free(none, writes.room);
    rocksdb_writebatch_clear(writes.batch);
    return writes;
}

RocksWrites rocks_batch_writes(RocksStore *store, RocksBatch *batch) {
    RocksWrites writes = writes_new(store, batch);
    Op *ops = (Op *)(gpointer)batch->ops->data;
    for (guint at = 0, end; at < batch->ops->len; at = end) {
        /* What comes before a deleted range and what comes after must stay there. */
        for (end = at; end < batch->ops->len && ops[end].kind != OP_DELETE_RANGE;) end++;
        if (end == at) end++;
        if (end - at > 1) qsort_r(ops + at, end - at, sizeof(Op), compare_ops, batch->bytes->data);
        for (guint i = at; i < end; i++) write_op(store, writes.batch, &ops[i], (const char *)batch->bytes->data);
    }
    return writes;
}

void writes_done(RocksStore *store, RocksWrites writes) {
    rocksdb_writebatch_clear(writes.batch);
    pthread_mutex_lock(&store->spare_lock);
    if (writes.room <= SPARE_MOST_BYTES && store->spare.room < writes.room) {
        RocksWrites before = store->spare;
        store->spare = writes;
        writes = before;
    }
    pthread_mutex_unlock(&store->spare_lock);
    if (writes.batch != NULL) rocksdb_writebatch_destroy(writes.batch);
}

gboolean rocks_batch_touches(const RocksBatch *batch, StoreFamily family, Bytes from, Bytes until) {
    for (guint i = 0; i < batch->ops->len; i++) {
        const Op *op = &g_array_index(batch->ops, Op, i);
        if (op->family != family) continue;
        Bytes key = {batch->bytes->data + op->at, op->key_bytes};
        Bytes end = {batch->bytes->data + op->at + op->key_bytes, op->value_bytes};
        gboolean before = compare_keys(key, until) < 0;
        if (op->kind == OP_DELETE_RANGE ? before && compare_keys(end, from) > 0
                                        : before && compare_keys(key, from) >= 0)
            return TRUE;
    }
    return FALSE;
}
