/* The store on RocksDB.
 *
 * One column family per StoreFamily (store_family_name()). The family of FAMILY_META is RocksDB's "default"; its key
 * "format" holds STORE_FORMAT_VERSION as a big-endian u32, written when the store is made and read, before anything
 * else is opened, by every later opening. Keys and values are the callers'; nothing is added to them.
 *
 * Disk full: writes are refused while less is free than RocksDB needs to write out all its buffers. Should another
 * program take even that, RocksDB refuses all writes from the first failed one; it looks for free space every five
 * seconds and goes on by itself. */
#define _DEFAULT_SOURCE /* on_exit */
#include <errno.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/store/store_rocksdb_internal.h"
#include "common/store/store_rocksdb_seal.h"
#include "common/store/store_skip.h"

/* An opening is spoilt when another process, compacting or opening the same store, deletes a file between our reading
 * its name and our opening it: it looks like damage, and is over at the next attempt. */
#define OPEN_ATTEMPTS 5

/* From here on a value stays where RocksDB has it, in its cache: a copy of a large trace's record is 20 to 30 MB. What
 * is smaller is copied, since it would keep a whole block there. */
#define PINNED_VALUE_BYTES ((gsize)256 * 1024)

#define FORMAT_KEY "format"
/* RocksDB's number, which c.h does not name: rewrite the lowest level too. */
#define COMPACT_BOTTOMMOST_FORCE 2

typedef struct RocksIter {
    StoreIter base;
    RocksStore *store;
    rocksdb_iterator_t *at;
    GByteArray *before; /* the key that it moves on from; of threads that skip what cannot be read */
} RocksIter;

/* ---- errors ---- */

#define LOG_DAMAGED                                                                                                    \
    "its log is damaged: restore the folder from a copy, or remove the *.log files and lose what they hold"

/* The C API gives errors as text only. First match wins. */
static const struct {
    const char *text;
    PlumbError code;
    const char *meaning;
} error_table[] = {
    {"No space left on device", PLUMB_ERROR_NO_SPACE, "the disk is full: free some of it, writing goes on by itself"},
    {"Disk quota exceeded", PLUMB_ERROR_NO_SPACE, "the quota is used up: raise it, writing goes on by itself"},
    {"lock hold by current process", PLUMB_ERROR_BUSY, "this process has it open already"},
    {"While lock file", PLUMB_ERROR_BUSY,
     "another process has it open for writing: stop that one, choose another folder, or open it for reading only"},
    {"Permission denied", PLUMB_ERROR_IO, "give the user of this process the right to read and write there"},
    {"Operation not permitted", PLUMB_ERROR_IO, "give the user of this process the right to read and write there"},
    {"Read-only file system", PLUMB_ERROR_IO, "mount the file system writable, or choose another folder"},
    {"Too many open files", PLUMB_ERROR_IO, "raise the limit of open files (LimitNOFILE= of the systemd unit)"},
    {"Column families not opened", PLUMB_ERROR_VERSION, "a newer version of this program made it: use that one"},
    {"Column family not found", PLUMB_ERROR_CORRUPT,
     "it is damaged, or was not made to its end: restore or remove the folder"},
    {"block checksum mismatch", PLUMB_ERROR_CORRUPT, "it is damaged: restore the folder from a copy"},
    {"checksum mismatch in file", PLUMB_ERROR_CORRUPT, "it is damaged: restore the folder from a copy"},
    {"Corruption: checksum mismatch", PLUMB_ERROR_CORRUPT, LOG_DAMAGED},
    {"bad record length", PLUMB_ERROR_CORRUPT, LOG_DAMAGED},
    {"Corruption", PLUMB_ERROR_CORRUPT, "it is damaged: restore the folder from a copy"},
    {"No such file or directory", PLUMB_ERROR_CORRUPT, "a file is missing: restore the folder from a copy"},
    {"Invalid argument", PLUMB_ERROR_CORRUPT, "it is damaged: restore the folder from a copy"},
};

gboolean rocks_fail(RocksStore *store, char *text, GError **error) {
    PlumbError code = PLUMB_ERROR_IO;
    const char *meaning = "reading or writing failed";
    const gboolean unreadable = unreadable_note(store, text);
    if (unreadable) {
        code = PLUMB_ERROR_CORRUPT;
        meaning = "a table of it cannot be read: docs/operate.md, \"A table that cannot be read\", says what to do";
    }
    for (guint i = 0; !unreadable && i < G_N_ELEMENTS(error_table); i++) {
        if (strstr(text, error_table[i].text) == NULL) continue;
        code = error_table[i].code;
        meaning = error_table[i].meaning;
        break;
    }
    fail(error, code, "store %s: %s (%s)", store->path, meaning, g_strchomp(text)); /* some of its texts end a line */
    rocksdb_free(text);
    return FALSE;
}

/* ---- opening ---- */

static gboolean file_exists(const char *path, const char *name) {
    g_autofree char *full = g_build_filename(path, name, NULL);
    return g_file_test(full, G_FILE_TEST_EXISTS);
}

/* The first entry of a store's first log, its format version, is shorter than this: a log of no more, of a store whose
 * making was cut short, has nothing that anybody would miss. */
#define LOG_EMPTY_BYTES 128

/* Does the folder hold tables, or a log with something in it? Without the file CURRENT, or with a MANIFEST cut to
 * nothing, RocksDB would take the folder for empty and delete them. */
static gboolean has_data(const char *path) {
    g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
    const char *name;
    while (folder != NULL && (name = g_dir_read_name(folder)) != NULL) {
        if (g_str_has_suffix(name, ".sst")) return TRUE;
        if (!g_str_has_suffix(name, ".log")) continue;
        g_autofree char *full = g_build_filename(path, name, NULL);
        struct stat file;
        if (stat(full, &file) == 0 && file.st_size > LOG_EMPTY_BYTES) return TRUE;
    }
    return FALSE;
}

static gboolean check_version(const char *path, const char *value, size_t size, GError **error) {
    ByteReader reader = byte_reader(value, size);
    guint32 version = read_u32be(&reader);
    if (reader.failed || reader_left(&reader) > 0 || version == 0)
        return fail(error, PLUMB_ERROR_CORRUPT, "store %s: its format version is unreadable", path);
    if (version < STORE_FORMAT_VERSION)
        return fail(error, PLUMB_ERROR_VERSION,
                    "store %s: an earlier development version of this program made it (format %u, now it is %u): move "
                    "the folder away; `plumb export` of that version and `plumb import` bring its spans into a new one",
                    path, version, STORE_FORMAT_VERSION);
    if (version > STORE_FORMAT_VERSION)
        return fail(error, PLUMB_ERROR_VERSION,
                    "store %s: it has format %u, this program knows up to %u: use a newer version of the program", path,
                    version, STORE_FORMAT_VERSION);
    return TRUE;
}

/* No version: a store whose making was cut short is empty; anything else is not ours. */
static gboolean check_unversioned(const char *path, rocksdb_t *db, const rocksdb_readoptions_t *reading,
                                  GError **error) {
    rocksdb_iterator_t *any = rocksdb_create_iterator(db, reading);
    rocksdb_iter_seek_to_first(any);
    gboolean empty = !rocksdb_iter_valid(any);
    rocksdb_iter_destroy(any);
    if (!empty)
        return fail(error, PLUMB_ERROR_CORRUPT,
                    "store %s: it is a RocksDB of some other program: choose another folder", path);
    if (has_data(path))
        return fail(error, PLUMB_ERROR_CORRUPT, "store %s: its MANIFEST is damaged: restore the folder from a copy",
                    path);
    return TRUE;
}

/* Before the other families are opened: a newer version may have others, and their tables must not be rewritten.
 * *complete: the version is there, and therefore, written last, all families are. */
static gboolean check_format(RocksStore *store, gboolean *complete, GError **error) {
    char *text = NULL;
    rocksdb_t *db = rocksdb_open_for_read_only(store->options.family[FAMILY_META], store->path, 0, &text);
    if (text != NULL) return rocks_fail(store, text, error);
    size_t size;
    char *value = rocksdb_get(db, store->reading, FORMAT_KEY, strlen(FORMAT_KEY), &size, &text);
    gboolean ok;
    if (text != NULL)
        ok = rocks_fail(store, text, error);
    else if (value != NULL)
        ok = check_version(store->path, value, size, error);
    else
        ok = check_unversioned(store->path, db, store->reading, error);
    *complete = value != NULL;
    rocksdb_free(value);
    rocksdb_close(db);
    return ok;
}

static gboolean check_folder(RocksStore *store, gboolean *complete, GError **error) {
    *complete = FALSE;
    /* A folder that may not be read looks like one without a store. */
    if (access(store->path, R_OK | X_OK) != 0 && errno == EACCES)
        return fail_errno(error, errno, "store %s: give the user of this process the right to read there", store->path);
    if (file_exists(store->path, "CURRENT"))
        return seal_check(store->path, error) && check_format(store, complete, error);
    if (has_data(store->path))
        return fail(error, PLUMB_ERROR_CORRUPT,
                    "store %s: its file CURRENT is missing: is it a store? If so, restore the folder from a copy",
                    store->path);
    if (store->base.read_only)
        return fail(error, PLUMB_ERROR_NOT_FOUND,
                    "store %s: there is none. plumbd makes one (store.path), and plumb import --store DIR of logs",
                    store->path);
    if (g_mkdir_with_parents(store->path, 0700) == 0) return TRUE;
    return fail_errno(error, errno, "store %s: the folder cannot be made; give the right to, or choose another",
                      store->path);
}

/* Stores that were made before there was a last family get it when they are opened for writing, and read as if it were
 * empty until then. */
static gboolean has_last_family(const RocksStore *store) {
    char *text = NULL;
    size_t n = 0;
    char **names = rocksdb_list_column_families(store->options.family[FAMILY_META], store->path, &n, &text);
    gboolean found = text != NULL; /* whatever is wrong, opening will say it */
    for (size_t i = 0; i < n; i++) found |= strcmp(names[i], store_family_name(FAMILY_COUNT - 1)) == 0;
    if (names != NULL) rocksdb_list_column_families_destroy(names, n);
    rocksdb_free(text);
    return found;
}

static gboolean open_families(RocksStore *store, gboolean complete, GError **error) {
    const char *names[FAMILY_COUNT];
    const rocksdb_options_t *const *options = (const rocksdb_options_t *const *)store->options.family;
    for (guint i = 0; i < FAMILY_COUNT; i++) names[i] = store_family_name((StoreFamily)i);
    const gboolean older = complete && !has_last_family(store);
    rocksdb_options_set_create_missing_column_families(store->options.family[FAMILY_META], !complete || older);
    char *text = NULL;
    if (store->base.read_only)
        store->db = rocksdb_open_for_read_only_column_families(options[FAMILY_META], store->path,
                                                               older ? FAMILY_COUNT - 1 : FAMILY_COUNT, names, options,
                                                               store->families, 0, &text);
    else
        store->db = rocksdb_open_column_families(options[FAMILY_META], store->path, FAMILY_COUNT, names, options,
                                                 store->families, &text);
    return text == NULL || rocks_fail(store, text, error);
}

static gboolean write_version(RocksStore *store, GError **error) {
    const guint8 version[4] = {0, 0, 0, STORE_FORMAT_VERSION};
    char *text = NULL;
    rocksdb_put(store->db, store->writing_sync, FORMAT_KEY, strlen(FORMAT_KEY), (const char *)version, sizeof version,
                &text);
    return text == NULL || rocks_fail(store, text, error);
}

static gboolean open_once(RocksStore *store, GError **error) {
    gboolean complete;
    if (!check_folder(store, &complete, error)) return FALSE;
    if (!open_families(store, complete, error)) return FALSE;
    return complete || store->base.read_only || write_version(store, error);
}

static gboolean open_all(RocksStore *store, GError **error) {
    for (guint attempt = 1;; attempt++) {
        g_autoptr(GError) cause = NULL;
        if (open_once(store, &cause)) return TRUE;
        gboolean again = store->db == NULL && g_error_matches(cause, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        if (again && attempt < OPEN_ATTEMPTS) continue;
        g_propagate_error(error, g_steal_pointer(&cause));
        return FALSE;
    }
}

static void leave_engine(int status, void *arg) {
    (void)arg;
    fflush(NULL);
    _exit(status);
}

/* Closing RocksDB 7.8 whose disk is full or broken may wait for ever (its recovery, told to give up, forgets to say
 * that it did) or end the process (a reference that a failed flush has kept). So it is left as it is: its files are as
 * after a crash, the folder stays locked until the process ends, and that ends without the engine's own farewell. */
static void abandon(void) { on_exit(leave_engine, NULL); }

static void rocks_close(Store *base) {
    RocksStore *store = (RocksStore *)base;

    /* With everything in tables the next opening has no log to replay. Should it fail, the log has it all; or the
     * caller, when there is no log. */
    gboolean seal = store->db != NULL && !store->base.read_only && rocks_flush(base, FALSE, NULL);
    if (store->db != NULL && !store->base.read_only && !seal) {
        abandon();
        return;
    }

    for (guint i = 0; i < FAMILY_COUNT; i++) {
        if (store->families[i] != NULL) rocksdb_column_family_handle_destroy(store->families[i]);
    }
    if (store->db != NULL) rocksdb_close(store->db);
    if (seal) seal_write(store->path);

    rocks_options_clear(&store->options);
    guard_clear(&store->guard);
    unreadable_clear(store);
    writes_drop_spare(store);
    pthread_mutex_destroy(&store->spare_lock);
    marks_clear(store);
    rocksdb_readoptions_destroy(store->reading);
    rocksdb_readoptions_destroy(store->reading_nothing);
    rocksdb_writeoptions_destroy(store->writing);
    rocksdb_writeoptions_destroy(store->writing_sync);
    g_free(store->path);
    g_free(store);
}

/* ---- reading ---- */

static void slice_free(void *slice) { rocksdb_pinnableslice_destroy(slice); }

static gboolean rocks_get(Store *base, StoreFamily family, Bytes key, GBytes **value, GError **error) {
    RocksStore *store = (RocksStore *)base;
    char *text = NULL;
    if (store->families[family] == NULL) {
        *value = NULL;
        return TRUE;
    }
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned_cf(store->db, store->reading, store->families[family], key.data, key.size_bytes, &text);
    if (text != NULL) return rocks_fail(store, text, error);
    if (slice == NULL) return TRUE;

    size_t size;
    const char *data = rocksdb_pinnableslice_value(slice, &size);
    if (store_value_is_bad(data, size)) {
        rocksdb_pinnableslice_destroy(slice);
        return store_fail_bad_value(family, error);
    }
    *value = size >= PINNED_VALUE_BYTES ? g_bytes_new_with_free_func(data, size, slice_free, slice)
                                        : g_bytes_new(data, size);
    if (size < PINNED_VALUE_BYTES) rocksdb_pinnableslice_destroy(slice);
    return TRUE;
}

/* ---- writing ---- */

gboolean rocks_write(Store *base, StoreBatch *batch, gboolean sync, GError **error) {
    RocksStore *store = (RocksStore *)base;
    if (!rocks_check_space(store, batch->size_bytes, error)) return FALSE;
    RocksWrites writes = rocks_batch_writes(store, (RocksBatch *)batch);
    char *text = NULL;
    guard_enter(&store->guard, (RocksBatch *)batch);
    rocksdb_write(store->db, sync && !store->no_log ? store->writing_sync : store->writing, writes.batch, &text);
    guard_leave(&store->guard);
    writes_done(store, writes);
    return text == NULL || rocks_fail(store, text, error);
}

static gboolean rocks_sync(Store *base, GError **error) {
    RocksStore *store = (RocksStore *)base;
    if (store->no_log) return rocks_flush_marked(store, error);
    char *text = NULL;
    rocksdb_flush_wal(store->db, 1, &text);
    return text == NULL || rocks_fail(store, text, error);
}

static gboolean flush_logged(RocksStore *store, GError **error) {
    rocksdb_flushoptions_t *waiting = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(waiting, 1);
    char *text = NULL;
    for (guint i = 0; i < FAMILY_COUNT && text == NULL; i++)
        rocksdb_flush_cf(store->db, waiting, store->families[i], &text);
    rocksdb_flushoptions_destroy(waiting);
    return text == NULL || rocks_fail(store, text, error);
}

/* Compaction only while nobody writes: store_compact() says why. */
gboolean rocks_flush(Store *base, gboolean compact, GError **error) {
    RocksStore *store = (RocksStore *)base;
    if (!(store->no_log ? rocks_flush_marked(store, error) : flush_logged(store, error))) return FALSE;
    if (!compact) return TRUE;
    rocksdb_compactoptions_t *forced = rocksdb_compactoptions_create();
    rocksdb_compactoptions_set_bottommost_level_compaction(forced, COMPACT_BOTTOMMOST_FORCE);
    for (guint i = 0; i < FAMILY_COUNT; i++)
        rocksdb_compact_range_cf_opt(store->db, store->families[i], forced, NULL, 0, NULL, 0);
    rocksdb_compactoptions_destroy(forced);
    return TRUE;
}

/* Level 0 is merged from two files on, and what lies above the last level goes down. Not in families that are compacted
 * by size: they would be rewritten whole. What cannot be set now is set when it is quiet again. */
static void rocks_set_quiet(Store *base, gboolean quiet) {
    static const StoreFamily families[] = {FAMILY_TRACE, FAMILY_STATS};
    static const char *const name = "level0_file_num_compaction_trigger";
    RocksStore *store = (RocksStore *)base;
    for (guint i = 0; i < G_N_ELEMENTS(families); i++) {
        rocksdb_column_family_handle_t *family = store->families[families[i]];
        char number[12], *text = NULL;
        g_snprintf(number, sizeof number, "%u", quiet ? 2 : rocks_level0_files(families[i]));
        const char *value = number;
        rocksdb_set_options_cf(store->db, family, 1, &name, &value, &text);
        rocksdb_free(text);
        text = NULL;
        if (quiet) rocksdb_suggest_compact_range_cf(store->db, family, NULL, 0, NULL, 0, &text);
        rocksdb_free(text);
    }
}

/* ---- iterators ---- */

static void rocks_iter_free(StoreIter *base) {
    RocksIter *iter = (RocksIter *)base;
    rocksdb_iter_destroy(iter->at);
    if (iter->before != NULL) g_byte_array_unref(iter->before);
    g_free(iter);
}

static gboolean rocks_iter_seek(StoreIter *base, Bytes key) {
    const RocksIter *iter = (RocksIter *)base;
    rocksdb_iter_seek(iter->at, key.data, key.size_bytes);
    return rocksdb_iter_valid(iter->at) || unreadable_skip(iter->store, iter->at, key, FALSE);
}

static Bytes rocks_iter_key(const StoreIter *base) {
    Bytes key;
    key.data = rocksdb_iter_key(((const RocksIter *)base)->at, &key.size_bytes);
    return key;
}

static Bytes rocks_iter_value(const StoreIter *base) {
    Bytes value;
    value.data = rocksdb_iter_value(((const RocksIter *)base)->at, &value.size_bytes);
    return value;
}

/* The key that it moves on from, in case that what comes next cannot be read. */
static Bytes keep_key(RocksIter *iter) {
    const Bytes key = rocks_iter_key(&iter->base);
    if (iter->before == NULL) iter->before = g_byte_array_new();
    g_byte_array_set_size(iter->before, 0);
    append_bytes(iter->before, key.data, key.size_bytes);
    return (Bytes){iter->before->data, iter->before->len};
}

static gboolean rocks_iter_next(StoreIter *base) {
    RocksIter *iter = (RocksIter *)base;
    const Bytes before = store_skips() ? keep_key(iter) : (Bytes){NULL, 0};
    rocksdb_iter_next(iter->at);
    return rocksdb_iter_valid(iter->at) || unreadable_skip(iter->store, iter->at, before, FALSE);
}

static gboolean rocks_iter_previous(StoreIter *base) {
    RocksIter *iter = (RocksIter *)base;
    const Bytes before = store_skips() ? keep_key(iter) : (Bytes){NULL, 0};
    rocksdb_iter_prev(iter->at);
    return rocksdb_iter_valid(iter->at) || unreadable_skip(iter->store, iter->at, before, TRUE);
}

static gboolean rocks_iter_seek_before(StoreIter *base, Bytes key) {
    const RocksIter *iter = (RocksIter *)base;
    rocksdb_iter_seek_for_prev(iter->at, key.data, key.size_bytes);
    if (!rocksdb_iter_valid(iter->at) && !unreadable_skip(iter->store, iter->at, key, TRUE)) return FALSE;
    Bytes found = rocks_iter_key(base);
    gboolean equal = found.size_bytes == key.size_bytes && memcmp(found.data, key.data, key.size_bytes) == 0;
    return !equal || rocks_iter_previous(base);
}

static gboolean rocks_iter_error(StoreIter *base, GError **error) {
    RocksIter *iter = (RocksIter *)base;
    char *text = NULL;
    rocksdb_iter_get_error(iter->at, &text);
    return text == NULL || rocks_fail(iter->store, text, error);
}

static StoreBatch *batch_new(Store *store);
static StoreIter *rocks_iter_new(Store *store, StoreFamily family);

static const StoreOps rocks_ops = {
    .close = rocks_close,
    .get = rocks_get,
    .write = rocks_write,
    .sync = rocks_sync,
    .usage = rocks_usage,
    .flush = rocks_flush,
    .batch_new = batch_new,
    .batch_free = rocks_batch_free,
    .batch_clear = rocks_batch_clear,
    .batch_put = rocks_batch_put,
    .batch_put_lent = rocks_batch_put_lent,
    .batch_merge_lent = rocks_batch_merge_lent,
    .batch_delete = rocks_batch_delete,
    .batch_merge = rocks_batch_merge,
    .batch_delete_range = rocks_batch_delete_range,
    .reclaim = rocks_reclaim,
    .compact = rocks_compact,
    .set_quiet = rocks_set_quiet,
    .damages = rocks_damages,
    .check_damages = rocks_check_damages,
    .next_mark = rocks_next_mark,
    .set_mark = rocks_set_mark,
    .reached_mark = rocks_reached_mark,
    .iter_new = rocks_iter_new,
    .iter_free = rocks_iter_free,
    .iter_seek = rocks_iter_seek,
    .iter_seek_before = rocks_iter_seek_before,
    .iter_next = rocks_iter_next,
    .iter_previous = rocks_iter_previous,
    .iter_key = rocks_iter_key,
    .iter_value = rocks_iter_value,
    .iter_error = rocks_iter_error,
};

static StoreBatch *batch_new(Store *store) { return rocks_batch_new(store, &rocks_ops); }

static StoreIter *rocks_iter_new(Store *store, StoreFamily family) {
    RocksIter *iter = g_new0(RocksIter, 1);
    iter->base.ops = &rocks_ops;
    iter->store = (RocksStore *)store;
    if (iter->store->families[family] != NULL)
        iter->at = rocksdb_create_iterator_cf(iter->store->db, iter->store->reading, iter->store->families[family]);
    else
        iter->at = rocksdb_create_iterator_cf(iter->store->db, iter->store->reading_nothing,
                                              iter->store->families[FAMILY_META]);
    return &iter->base;
}

Store *store_open_rocksdb(const StoreOptions *options, GError **error) {
    RocksStore *store = g_new0(RocksStore, 1);
    store->path = g_strdup(options->path);
    store->base = (Store){&rocks_ops, options->merge, options->read_only, options->read_only ? NULL : store->path};

    rocks_options_init(&store->options, options);
    guard_init(&store->guard);
    unreadable_init(store);
    pthread_mutex_init(&store->spare_lock, NULL);

    store->reading = rocksdb_readoptions_create();
    store->reading_nothing = rocksdb_readoptions_create();
    rocksdb_readoptions_set_iterate_upper_bound(store->reading_nothing, "", 0);
    store->writing = rocksdb_writeoptions_create();
    store->writing_sync = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(store->writing_sync, 1);
    store->no_log = options->no_log && !options->read_only;
    rocksdb_writeoptions_disable_WAL(store->writing, store->no_log);

    marks_init(store);
    unreadable_load(store);
    if (open_all(store, error)) {
        unreadable_settle(store);
        marks_start(store);
        return &store->base;
    }

    rocks_close(&store->base);
    return NULL;
}
