/* Disk space: what there is, and how it comes back. */
#include <rocksdb/c.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "common/base/error.h"
#include "common/store/store_rocksdb_internal.h"

/* RocksDB's number, which c.h does not name: rewrite the lowest level too, each file once. */
#define COMPACT_BOTTOMMOST_FORCE_OPTIMIZED 3
/* Longer than any key. */
#define KEY_TAIL_BYTES 64

/* ---- usage ---- */

static gboolean free_bytes(const RocksStore *store, guint64 *bytes) {
    struct statvfs disk;
    if (statvfs(store->path, &disk) != 0) return FALSE;
    *bytes = (guint64)disk.f_bavail * disk.f_frsize;
    return TRUE;
}

gboolean rocks_check_space(const RocksStore *store, gsize batch_bytes, GError **error) {
    guint64 free_now, needed = store->options.reserve_bytes + batch_bytes;
    if (!free_bytes(store, &free_now) || free_now >= needed) return TRUE;
    const double mib = 1 << 20;
    return fail(error, PLUMB_ERROR_NO_SPACE, "store %s: the disk is full: %.1f MiB are free, %.1f MiB are needed",
                store->path, (double)free_now / mib, (double)needed / mib);
}

guint64 rocks_property(const RocksStore *store, StoreFamily family, const char *name) {
    guint64 value = 0;
    if (store->families[family] == NULL) return 0;
    return rocksdb_property_int_cf(store->db, store->families[family], name, &value) == 0 ? value : 0;
}

static guint64 files_bytes(const char *path) {
    guint64 sum = 0;
    g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
    const char *name;
    while (folder != NULL && (name = g_dir_read_name(folder)) != NULL) {
        g_autofree char *full = g_build_filename(path, name, NULL);
        struct stat file;
        if (stat(full, &file) == 0 && S_ISREG(file.st_mode)) sum += (guint64)file.st_size;
    }
    return sum;
}

StoreUsage rocks_usage(Store *base) {
    const RocksStore *store = (const RocksStore *)base;
    StoreUsage usage = {.disk_bytes = files_bytes(store->path)};
    free_bytes(store, &usage.free_bytes);
    usage.memory_bytes = rocksdb_cache_get_usage(store->options.cache);
    for (guint i = 0; i < FAMILY_COUNT; i++) {
        usage.live_bytes += rocks_property(store, (StoreFamily)i, "rocksdb.estimate-live-data-size") +
                            rocks_property(store, (StoreFamily)i, "rocksdb.cur-size-all-mem-tables");
        usage.memory_bytes += rocks_property(store, (StoreFamily)i, "rocksdb.size-all-mem-tables") +
                              rocks_property(store, (StoreFamily)i, "rocksdb.estimate-table-readers-mem");
        usage.family_bytes[i] = rocks_property(store, (StoreFamily)i, "rocksdb.live-sst-files-size");
    }
    usage.stalled = rocks_property(store, FAMILY_META, "rocksdb.is-write-stopped") > 0 ||
                    rocks_property(store, FAMILY_META, "rocksdb.actual-delayed-write-rate") > 0;
    return usage;
}

/* ---- giving back ---- */

/* A key just below 'key': RocksDB's ranges of files and of compactions include their ends. */
static GByteArray *key_below(Bytes key) {
    GByteArray *below = g_byte_array_new();
    append_bytes(below, key.data, key.size_bytes);
    if (below->len == 0) return below;
    guint8 last = below->data[below->len - 1];
    g_byte_array_set_size(below, below->len - 1);
    if (last == 0) return below;
    guint8 tail[KEY_TAIL_BYTES];
    memset(tail, 0xff, sizeof tail);
    tail[0] = (guint8)(last - 1);
    g_byte_array_append(below, tail, sizeof tail);
    return below;
}

static gboolean delete_range(Store *base, StoreFamily family, Bytes from, Bytes until, GError **error) {
    g_autoptr(StoreBatch) batch = store_batch_new(base);
    store_batch_delete_range(batch, family, from, until);
    return store_write(base, batch, FALSE, error);
}

/* A dropped file may have held the mark that a part of the range is deleted, while older entries of that part live on
 * in a file that reaches beyond the range: so the mark is set anew. */
gboolean rocks_reclaim(Store *base, StoreFamily family, Bytes from, Bytes until, GError **error) {
    RocksStore *store = (RocksStore *)base;
    if (!rocks_flush(base, FALSE, error)) return FALSE;
    g_autoptr(GByteArray) last = key_below(until);
    char *text = NULL;
    rocksdb_delete_file_in_range_cf(store->db, store->families[family], from.data, from.size_bytes,
                                    (const char *)last->data, last->len, &text);
    if (text != NULL) return rocks_fail(store, text, error);
    return delete_range(base, family, from, until, error);
}

/* RocksDB 7.8 first flushes what its memory holds of the range, and then does not always take all families to the same
 * point. So the range is flushed before, and nothing comes in until the compaction is done. */
gboolean rocks_compact(Store *base, StoreFamily family, Bytes from, Bytes until, GError **error) {
    RocksStore *store = (RocksStore *)base;
    if (!unreadable_check(store, family, error)) return FALSE;
    guard_set(&store->guard, family, from, until);
    gboolean flushed = rocks_flush(base, FALSE, error);
    if (flushed) {
        g_autoptr(GByteArray) last = key_below(until);
        rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
        rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
        rocksdb_compactoptions_set_bottommost_level_compaction(options, COMPACT_BOTTOMMOST_FORCE_OPTIMIZED);
        rocksdb_compact_range_cf_opt(store->db, store->families[family], options, from.data, from.size_bytes,
                                     (const char *)last->data, last->len);
        rocksdb_compactoptions_destroy(options);
    }
    guard_lift(&store->guard);
    return flushed;
}
