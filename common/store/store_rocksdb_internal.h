/* What the files of the RocksDB store share; private to them. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "common/store/store_damage.h"
#include "common/store/store_ops.h"
#include "common/store/store_rocksdb_options.h"

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_column_family_handle_t rocksdb_column_family_handle_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;
typedef struct rocksdb_writebatch_t rocksdb_writebatch_t;

/* Who writes now, and what must not be written: store_rocksdb_guard.c. */
typedef struct RocksGuard {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    guint writers;
    gboolean active;
    StoreFamily family; /* of the guarded range; both ends belong to the caller of guard_set() */
    Bytes from, until;
} RocksGuard;

typedef struct RocksWrites {
    rocksdb_writebatch_t *batch;
    gsize room; /* bytes that it takes without growing */
} RocksWrites;

typedef struct RocksStore {
    Store base;
    char *path;
    RocksOptions options;
    rocksdb_t *db;
    rocksdb_column_family_handle_t *families[FAMILY_COUNT];
    rocksdb_readoptions_t *reading, *reading_nothing; /* nothing: of a family that an older store does not have yet */
    rocksdb_writeoptions_t *writing;
    rocksdb_writeoptions_t *writing_sync;
    RocksGuard guard;

    pthread_mutex_t spare_lock;
    RocksWrites spare; /* for the next write; its batch NULL: none */

    pthread_mutex_t unreadable_lock;
    GPtrArray *unreadable; /* store_rocksdb_unreadable.c */

    gboolean no_log;
    rocksdb_readoptions_t *reading_disk; /* what memory alone holds is not seen */
    pthread_mutex_t marking;             /* one mark after the other */
    _Atomic guint64 marked, reached;     /* numbers of the last mark begun, and of the last known to be on disk */
} RocksStore;

/* One call of store_batch_put(), _delete(), _merge() or _delete_range(), of which the value is the end of the range. */
typedef enum { OP_PUT, OP_DELETE, OP_MERGE, OP_DELETE_RANGE } OpKind;
typedef struct Op {
    guint64 key_start;  /* the first eight bytes of the key as a number: most comparisons end here */
    gsize at;           /* of the key in RocksBatch.bytes; the value lies behind it, */
    const guint8 *lent; /* or here, when this is not NULL */
    guint32 key_bytes;
    guint32 value_bytes;
    guint32 number; /* of the call, from 0 */
    guint16 family;
    guint16 kind;
} Op;

/* Calls are collected and handed to RocksDB sorted by key (calls of one key in their order): its memtable then finds
 * the place of a key near that of the one before. Measured with random trace ids: 40 % less CPU for all of a write,
 * flush and compaction included. */
typedef struct RocksBatch {
    StoreBatch base;
    GArray *ops;       /* Op */
    GByteArray *bytes; /* keys and values */
    gsize lent_bytes;  /* of values that lie elsewhere */
} RocksBatch;

/* Takes RocksDB's text; notes the table of which it says that it cannot be read. */
gboolean rocks_fail(RocksStore *store, char *text, GError **error);

/* store_rocksdb_batch.c */
StoreBatch *rocks_batch_new(Store *store, const StoreOps *ops);
void rocks_batch_free(StoreBatch *batch);
void rocks_batch_clear(StoreBatch *batch);
void rocks_batch_put(StoreBatch *batch, StoreFamily family, Bytes key, Bytes value);
void rocks_batch_put_lent(StoreBatch *batch, StoreFamily family, Bytes key, Bytes value);
void rocks_batch_merge_lent(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand);
void rocks_batch_delete(StoreBatch *batch, StoreFamily family, Bytes key);
void rocks_batch_merge(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand);
void rocks_batch_delete_range(StoreBatch *batch, StoreFamily family, Bytes from, Bytes until);
/* What RocksDB is to write. Its memory goes back by writes_done(), for the next write. */
RocksWrites rocks_batch_writes(RocksStore *store, RocksBatch *batch);
void writes_done(RocksStore *store, RocksWrites writes);
void writes_drop_spare(RocksStore *store);
gboolean rocks_batch_touches(const RocksBatch *batch, StoreFamily family, Bytes from, Bytes until);

/* store_rocksdb_space.c */
gboolean rocks_check_space(const RocksStore *store, gsize batch_bytes, GError **error);
StoreUsage rocks_usage(Store *store);
gboolean rocks_reclaim(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error);
gboolean rocks_compact(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error);

guint64 rocks_property(const RocksStore *store, StoreFamily family, const char *name);

/* store_rocksdb_flush.c */
void marks_init(RocksStore *store);
void marks_start(RocksStore *store); /* when it is open */
void marks_clear(RocksStore *store);
guint64 rocks_next_mark(Store *store);
gboolean rocks_set_mark(Store *store, gboolean flush, GError **error);
guint64 rocks_reached_mark(Store *store);
gboolean rocks_flush_marked(RocksStore *store, GError **error);

/* store_rocksdb_unreadable.c */
void unreadable_init(RocksStore *store);
void unreadable_clear(RocksStore *store);
/* Before the store is opened: reads the notes, and has nothing compacted if there are any. */
void unreadable_load(RocksStore *store);
/* When it is open: compacts all families again that have no such table. */
void unreadable_settle(RocksStore *store);

/* Notes the table that RocksDB's text says could not be read, if it does. Stays in memory only where it cannot be
 * written: the next reader notes it again. TRUE: it had been noted before this opening, and so will not pass. */
gboolean unreadable_note(RocksStore *store, const char *text);
/* An iterator that ended at an error beyond or at 'from' (of a thread that asks for that: store_damage.h): on to the
 * next key that can be read, in that direction. FALSE: there is none, or the error is another one. */
gboolean unreadable_skip(RocksStore *store, rocksdb_iterator_t *at, Bytes from, gboolean backward);
/* Has the family such a table? The message names it. */
gboolean unreadable_check(RocksStore *store, StoreFamily family, GError **error);

void rocks_damages(Store *store, StoreDamageVisit visit, void *arg);
void rocks_check_damages(Store *store);

/* store_rocksdb.c */
gboolean rocks_flush(Store *store, gboolean compact, GError **error);
gboolean rocks_write(Store *store, StoreBatch *batch, gboolean sync, GError **error);

/* A writer passes guard_enter() before it writes and guard_leave() after; it waits while its batch touches a guarded
 * range. guard_set() returns when no writer that might touch the range is on its way. */
void guard_init(RocksGuard *guard);
void guard_clear(RocksGuard *guard);
void guard_enter(RocksGuard *guard, const RocksBatch *batch);
void guard_leave(RocksGuard *guard);
void guard_set(RocksGuard *guard, StoreFamily family, Bytes from, Bytes until);
void guard_lift(RocksGuard *guard);
