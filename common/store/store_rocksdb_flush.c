/* How a store without a log tells what is on disk.
 *
 * All families are written out to one and the same point (RocksDB's atomic flush), so a crash leaves what was written
 * before some point, and nothing of what came after. Where that point is, marks tell: META's key "flush/mark" holds the
 * number of the last one, and a read that sees files only finds the last one that is on disk. RocksDB flushes when its
 * buffers are full, and, of its own accord, for nothing else; its call for one family flushes that one alone (the call
 * for several is not in the C API of 7.8), and its manual compaction may miss a family that is written meanwhile. So a
 * flush is asked for by filling META's small buffer: the next write then finds it full, and all families are switched
 * together, between two writes. */
#include <rocksdb/c.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/store/store_rocksdb_internal.h"

#define MARK_KEY     "flush/mark"
#define FILLER_KEY   "flush/filler"
#define MARK_BYTES   8
#define FILLER_BYTES (2 * META_WRITE_BUFFER_BYTES)
#define POLL_NS      (2 * NS_PER_MS)
/* RocksDB's number for "skip what is in memory and has no log". */
#define READ_TIER_DISK 2

static gboolean write_meta(RocksStore *store, rocksdb_writebatch_t *writes, GError **error) {
    char *text = NULL;
    rocksdb_write(store->db, store->writing, writes, &text);
    rocksdb_writebatch_destroy(writes);
    return text == NULL || rocks_fail(store, text, error);
}

static gboolean write_mark(RocksStore *store, guint64 number, gboolean fill, GError **error) {
    rocksdb_writebatch_t *writes = rocksdb_writebatch_create();
    const guint64 mark = GUINT64_TO_BE(number);
    rocksdb_column_family_handle_t *meta = store->families[FAMILY_META];
    rocksdb_writebatch_put_cf(writes, meta, MARK_KEY, strlen(MARK_KEY), (const char *)&mark, sizeof mark);
    if (fill) {
        g_autofree char *filler = g_malloc0(FILLER_BYTES);
        rocksdb_writebatch_put_cf(writes, meta, FILLER_KEY, strlen(FILLER_KEY), filler, FILLER_BYTES);
    }
    if (!write_meta(store, writes, error)) return FALSE;
    if (!fill) return TRUE;
    writes = rocksdb_writebatch_create();
    rocksdb_writebatch_delete_cf(writes, meta, FILLER_KEY, strlen(FILLER_KEY));
    return write_meta(store, writes, error);
}

static guint64 read_mark(const RocksStore *store) {
    size_t size = 0;
    guint64 mark = 0;
    char *text = NULL;
    char *value = rocksdb_get_cf(store->db, store->reading_disk, store->families[FAMILY_META], MARK_KEY,
                                 strlen(MARK_KEY), &size, &text);
    if (value != NULL && size == MARK_BYTES) memcpy(&mark, value, MARK_BYTES);
    rocksdb_free(value);
    rocksdb_free(text);
    return GUINT64_FROM_BE(mark);
}

void marks_init(RocksStore *store) {
    store->reading_disk = rocksdb_readoptions_create();
    rocksdb_readoptions_set_read_tier(store->reading_disk, READ_TIER_DISK);
    pthread_mutex_init(&store->marking, NULL);
}

void marks_start(RocksStore *store) {
    guint64 mark = store->no_log ? read_mark(store) : 0;
    atomic_store(&store->marked, mark);
    atomic_store(&store->reached, mark);
}

void marks_clear(RocksStore *store) {
    rocksdb_readoptions_destroy(store->reading_disk);
    pthread_mutex_destroy(&store->marking);
}

/* A mark that is begun after this call is written after all that has been written before it. */
guint64 rocks_next_mark(Store *base) {
    RocksStore *store = (RocksStore *)base;
    return store->no_log ? atomic_load(&store->marked) + 1 : 0;
}

gboolean rocks_set_mark(Store *base, gboolean flush, GError **error) {
    RocksStore *store = (RocksStore *)base;
    if (!store->no_log) return TRUE;
    if (flush) writes_drop_spare(store); /* every ten seconds at least: it is kept while groups follow each other */
    pthread_mutex_lock(&store->marking);
    /* One that is not written counts for nothing: the next one covers it. */
    gboolean done = write_mark(store, atomic_fetch_add(&store->marked, 1) + 1, flush, error);
    pthread_mutex_unlock(&store->marking);
    return done;
}

guint64 rocks_reached_mark(Store *base) {
    RocksStore *store = (RocksStore *)base;
    if (!store->no_log) return 0;
    /* Nothing new to be found, which is the most frequent case. */
    if (atomic_load(&store->reached) == atomic_load(&store->marked)) return atomic_load(&store->reached);
    guint64 mark = read_mark(store), before = atomic_load(&store->reached);
    while (before < mark && !atomic_compare_exchange_weak(&store->reached, &before, mark)) continue;
    return MAX(mark, before);
}

gboolean rocks_flush_marked(RocksStore *store, GError **error) {
    guint64 wanted = rocks_next_mark(&store->base);
    guint64 failures = rocks_property(store, FAMILY_META, "rocksdb.background-errors");
    if (!rocks_set_mark(&store->base, TRUE, error)) return FALSE;
    while (rocks_reached_mark(&store->base) < wanted) {
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
        guint64 now = rocks_property(store, FAMILY_META, "rocksdb.background-errors");
        /* A write tells what is wrong; unless that is over already. */
        if (now != failures && !rocks_set_mark(&store->base, TRUE, error)) return FALSE;
        failures = now;
    }
    return TRUE;
}
