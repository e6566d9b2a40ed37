/* The key-value store behind everything that is kept: one API, RocksDB (store_rocksdb.c) and memory (store_memory.c)
 * behind it, one test suite for both.
 *
 * Keys sort as unsigned bytes. A batch is written whole or not at all and survives kill -9 from the moment
 * store_write() returned; with sync, a power cut too (without a log, when a later mark is reached). All functions may
 * be called from any thread; a StoreIter belongs to one thread and sees the store as it was when it was made. Reads end
 * with an error when the thread's allowance (common/base/allowance.h) does. */
#pragma once

#include <glib.h>

#include "common/base/bytes.h"

typedef enum {
    FAMILY_META,     /* format version, settings that fix the layout */
    FAMILY_DICT,     /* dict.h */
    FAMILY_TRACE,    /* analyzer/archive/tables/layout.h describes the keys and values from here on */
    FAMILY_TRACE_ID, /* */
    FAMILY_PATTERN,  /* */
    FAMILY_STATS,    /* values are combined by StoreOptions.merge */
    FAMILY_INDEX,    /* what traces are searched by */
    FAMILY_LATE,     /* spans that wait to join their traces */
    FAMILY_IDS,      /* ids of spans whose records are kept without, for a while */
    FAMILY_SPARK,    /* records of Spark and of hosts; analyzer/archive/spark/spark_key.h */
    FAMILY_COUNT
} StoreFamily;

/* Version of the store's layout as a whole, archive/tables/layout.h included; written when a store is made, checked
 * when it is opened. Formats 1 and 2 were never released. */
#define STORE_FORMAT_VERSION 5u

/* Combines an existing value (data NULL when there is none) and n operands, oldest first, into 'out'. Must be
 * associative. FALSE means corrupt input: reads of that key then fail with PLUMB_ERROR_CORRUPT. Called on any thread.
 */
typedef gboolean (*StoreMerge)(Bytes existing, const Bytes *operands, gsize n, GByteArray *out);

/* May this entry go for good? Asked by the engine, on any thread, of what it rewrites. TRUE only of what no reader
 * would miss. */
typedef gboolean (*StoreExpired)(void *arg, StoreFamily family, Bytes key, Bytes value);

typedef struct StoreOptions {
    const char *path;         /* folder; made when missing, unless read_only */
    gboolean read_only;       /* opens beside a running writer; sees what was there when it was opened */
    StoreMerge merge;         /* of FAMILY_STATS; NULL: merging fails */
    gboolean no_log;          /* a crash may take what was written since a mark: see store_set_mark() */
    StoreExpired expired;     /* of TRACE, TRACE_ID and INDEX; NULL: nothing goes by itself */
    void *expired_arg;        /* outlives the store */
    gsize write_buffer_bytes; /* 0: default */
    gsize cache_bytes;        /* 0: default */
    guint open_files;         /* table files that a writer keeps open; 0: default */
} StoreOptions;

typedef struct Store Store;

/* Errors: BUSY (another process has it open for writing), VERSION (of another format), CORRUPT (damaged, or another
 * program's), NOT_FOUND (read_only, and there is no store), IO (no right to write, ...), NO_SPACE. The messages name
 * the folder and say what to do. Data in a folder that is refused stays as it was. */
Store *store_open_rocksdb(const StoreOptions *options, GError **error);
/* Keeps nothing after store_close(); path and sizes are ignored. */
Store *store_open_memory(const StoreOptions *options, GError **error);
void store_close(Store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Store, store_close)

/* *value is a new reference, to be given back before store_close(), or NULL when the key is absent (which is no error).
 */
gboolean store_get(Store *store, StoreFamily family, Bytes key, GBytes **value, GError **error);

/* A write batch: the order of calls is the order of effects. */
typedef struct StoreBatch StoreBatch;
StoreBatch *store_batch_new(Store *store);
void store_batch_free(StoreBatch *batch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreBatch, store_batch_free)
void store_batch_put(StoreBatch *batch, StoreFamily family, Bytes key, Bytes value);
/* The same, but the value is not copied: it must stay as it is until the batch is cleared or freed. */
void store_batch_put_lent(StoreBatch *batch, StoreFamily family, Bytes key, Bytes value);
void store_batch_delete(StoreBatch *batch, StoreFamily family, Bytes key);
void store_batch_merge(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand);
void store_batch_merge_lent(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand); /* not copied either */
/* Every key in [from, until), however many there are, for the price of one. */
void store_batch_delete_range(StoreBatch *batch, StoreFamily family, Bytes from, Bytes until);
gsize store_batch_size_bytes(const StoreBatch *batch);

/* Writes and empties the batch. On error nothing was written and the batch is as before, to be tried again. NO_SPACE:
 * less is free than the engine needs to write out its buffers; when there is space again, writing goes on (at once, or,
 * when the engine itself met the full disk, within about five seconds). INPUT: a merge into another family than STATS,
 * or without a merge function. */
gboolean store_write(Store *store, StoreBatch *batch, gboolean sync, GError **error);

/* Makes all written batches survive a power cut. */
gboolean store_sync(Store *store, GError **error);

typedef struct StoreIter StoreIter;
StoreIter *store_iter_new(Store *store, StoreFamily family);
void store_iter_free(StoreIter *iter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreIter, store_iter_free)
/* Each positions the iterator and returns whether there is an entry: first key >= key; last key < key; neighbours.
 * FALSE can also mean a read error: ask store_iter_error() once, after the loop. */
gboolean store_iter_seek(StoreIter *iter, Bytes key);
gboolean store_iter_seek_before(StoreIter *iter, Bytes key);
gboolean store_iter_next(StoreIter *iter);
gboolean store_iter_previous(StoreIter *iter);
/* Views valid until the iterator moves. */
Bytes store_iter_key(const StoreIter *iter);
Bytes store_iter_value(const StoreIter *iter);
/* FALSE with *error (CORRUPT, IO; those of allowance_check()) when a read failed; TRUE when the iteration simply
 * ended. */
gboolean store_iter_error(StoreIter *iter, GError **error);

typedef struct StoreUsage {
    guint64 disk_bytes;                 /* all files of the store, its log included */
    guint64 live_bytes;                 /* estimate of what compaction would leave */
    guint64 memory_bytes;               /* write buffers, cache, indexes */
    guint64 free_bytes;                 /* free on the file system that holds it; G_MAXUINT64 for memory */
    guint64 family_bytes[FAMILY_COUNT]; /* in files, what is to be deleted left out; 0 for memory */
    gboolean stalled;                   /* the engine asks writers to slow down or stop */
} StoreUsage;
StoreUsage store_usage(Store *store);
/* The folder that it lies in, where files without a name may be made; NULL: it lies in memory, or is read only. */
const char *store_folder(const Store *store);
const char *store_family_name(StoreFamily family);
/* Moves what is in memory to files, and (compact) rewrites all files: for measurements. */
gboolean store_flush(Store *store, gboolean compact, GError **error);

/* ---- without a log: for those who can write again what a crash takes ----
 * What is written lies in memory until the engine writes out its buffers, all families to the same point: because they
 * are full, or by store_flush(), or asked by store_set_mark(). A crash takes all batches after some point and none
 * before. A mark is reached when what was written before it survives kill -9 and a power cut. With a log, and in
 * memory, every mark is reached. */
/* The number that the next mark will have: it covers every write that returned before this call. */
guint64 store_next_mark(Store *store);
/* flush: asks the engine to write out its buffers now; it does so in the background. */
gboolean store_set_mark(Store *store, gboolean flush, GError **error);
/* Number of the last mark reached. Reads a little: not for each span. */
guint64 store_reached_mark(Store *store);

/* ---- space; both make what was written before safe first ---- */
/* After store_batch_delete_range() of the same range was written: gives back at once what whole files hold of it. The
 * rest comes with the next calls, as the range grows. Readers see no difference; after a crash in here it must be
 * called again. */
gboolean store_reclaim(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error);
/* Rewrites the files of a range: what is deleted or expired in it leaves the disk. Takes as long as writing what stays;
 * meanwhile who writes into the range waits. */
gboolean store_compact(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error);
/* While nothing is written the engine merges, in the background, what it would else leave until there is more of it:
 * entries that were replaced, operands that add up. FALSE as soon as something is. */
void store_set_quiet(Store *store, gboolean quiet);
