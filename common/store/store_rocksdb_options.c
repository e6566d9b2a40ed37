#include "common/store/store_rocksdb_options.h"

#include <rocksdb/c.h>
#include <stdlib.h>
#include <string.h>

#include "common/store/store_ops.h"

#define DEFAULT_WRITE_BUFFER_BYTES (64u << 20)
#define DEFAULT_CACHE_BYTES        (64u << 20)
/* A full buffer is flushed while the next one fills. */
#define WRITE_BUFFERS 2
/* Log that is replayed after a crash: at about 100 MB/s two seconds. Small families would else hold on to it for ever.
 */
#define LOG_PER_WRITE_BUFFER 3
/* One of them flushes. With two, a long compaction of traces would hold up those of all other families. */
#define BACKGROUND_JOBS 3
/* Retention gives space back by whole files. */
#define FILE_PER_WRITE_BUFFER 2
/* Table files open at once, by a writer. A reader opens all, and so keeps what a writer beside it deletes. */
#define WRITER_OPEN_FILES  1000
#define BLOOM_BITS_PER_KEY 10.0
#define FILTER_PART_BYTES  4096

#define ZSTD_LEVEL      1
#define LEVEL0_SLOWDOWN 128
#define LEVEL0_STOP     192
/* With RocksDB's own, an eighth of the buffer, nine families would hold half of all memory with nothing in it. */
#define ARENA_BLOCK_BYTES (64u << 10)

/* RocksDB's own numbers, which c.h does not name. */
#define ZSTD_WINDOW_DEFAULT         (-14)
#define LOG_LEVEL_FATAL             4
#define RECOVERY_TOLERATE_TORN_TAIL 0
#define CHECKSUM_XXH3               4

typedef struct FamilySetup {
    guint block_kib; /* larger compress better; a point read decompresses one */
    gboolean compress;
    gboolean bloom;
    guint level0_files; /* so many are merged into the level below */
    gboolean universal;
} FamilySetup;

static const FamilySetup setups[FAMILY_COUNT] = {
    [FAMILY_META] = {4, TRUE, FALSE, 8, TRUE},
    /* New keys come after all others: level by level, each flush would leave a tiny file for good. */
    [FAMILY_DICT] = {16, TRUE, FALSE, 8, TRUE},
    [FAMILY_PATTERN] = {16, TRUE, FALSE, 8, TRUE},
    /* Records are packed already: zstd saves 0.2 % and costs more than all else that RocksDB does with them. Those that
     * late spans join are of minutes ago, so each flush reaches over all of these, and what lies there is written
     * again: the fewer times, the more flushes are taken together. Each that late spans join is looked up: without
     * filters that reads a block, or a large trace's record, of nearly every file. */
    [FAMILY_TRACE] = {64, FALSE, TRUE, 24, FALSE},
    /* Asked for every trace that is stored, and nearly always for one that is not there. Keys are random: level by
     * level, every few flushes, each of little, would have all of them written again. */
    [FAMILY_TRACE_ID] = {8, FALSE, TRUE, 8, TRUE},
    /* Each flush has operands for the same minutes: the more are merged at once, the less often what they add up to,
     * which with 3,000 hosts is 130 MB a minute, is read and written again. Taking 24 at a time cost 0.74 us a span for
     * all of compaction at 100 million spans, 72 cost 0.45, and 1.1 bytes a span more lay unmerged at the end. */
    [FAMILY_STATS] = {16, TRUE, FALSE, 72, FALSE},
    /* Each flush has a little for every bucket of terms of the hour: the same. */
    [FAMILY_INDEX] = {16, TRUE, FALSE, 8, TRUE},
    /* Lives for minutes, and comes in the order of trace ids. */
    [FAMILY_LATE] = {16, FALSE, FALSE, 8, TRUE},
    [FAMILY_IDS] = {16, FALSE, FALSE, 8, FALSE}, /* packed already, or random numbers */
    /* Read by application and stage, one behind the other; when written, asked for, nearly always for what is not
     * there. */
    [FAMILY_SPARK] = {32, TRUE, TRUE, 8, FALSE},
};

/* ---- merging ---- */

static char *merged(const StoreMerge *merge, Bytes existing, const Bytes *operands, gsize n, size_t *size) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    store_merge_or_bad(*merge, existing, operands, n, out);
    *size = out->len;
    char *result = malloc(MAX(out->len, 1));
    if (result == NULL) g_error("out of memory: %u bytes", out->len);
    if (out->len > 0) memcpy(result, out->data, out->len);
    return result;
}

static Bytes *operands_of(const char *const *list, const size_t *sizes, int n) {
    Bytes *operands = g_new(Bytes, (gsize)n);
    for (int i = 0; i < n; i++) operands[i] = (Bytes){list[i], sizes[i]};
    return operands;
}

static void free_result(void *state, const char *value, size_t size) {
    (void)state;
    (void)size;
    free((void *)value);
}

/* The signatures of these two are RocksDB's. */
static char *full_merge(void *state, const char *key, size_t key_size, const char *existing, size_t existing_size,
                        const char *const *list, const size_t *sizes, int n, unsigned char *ok, size_t *size) {
    (void)key;
    (void)key_size;
    g_autofree Bytes *operands = operands_of(list, sizes, n);
    *ok = 1;
    return merged(state, (Bytes){existing, existing_size}, operands, (gsize)n, size);
}

static char *partial_merge(void *state, const char *key, size_t key_size, const char *const *list, const size_t *sizes,
                           int n, unsigned char *ok, size_t *size) {
    (void)key;
    (void)key_size;
    g_autofree Bytes *operands = operands_of(list, sizes, n);
    *ok = 1;
    return merged(state, (Bytes){NULL, 0}, operands, (gsize)n, size);
}

static const char *merge_name(void *state) {
    (void)state;
    return "plumbline.stats"; /* stored in the tables: never change it */
}

static rocksdb_mergeoperator_t *merge_operator(StoreMerge merge) {
    StoreMerge *state = g_new(StoreMerge, 1);
    *state = merge;
    return rocksdb_mergeoperator_create(state, g_free, full_merge, partial_merge, free_result, merge_name);
}

/* ---- expiry ---- */

typedef struct Expiry {
    StoreExpired expired;
    void *arg;
    StoreFamily family;
} Expiry;

/* The signature is RocksDB's. */
static unsigned char filter_entry(void *state, int level, const char *key, size_t key_size, const char *value,
                                  size_t value_size, char **new_value, size_t *new_size, unsigned char *changed) {
    (void)level;
    (void)new_value;
    (void)new_size;
    *changed = 0;
    const Expiry *expiry = state;
    return expiry->expired(expiry->arg, expiry->family, (Bytes){key, key_size}, (Bytes){value, value_size});
}

static const char *filter_name(void *state) {
    (void)state;
    return "plumbline.expired";
}

static rocksdb_compactionfilter_t *expiry_filter(StoreFamily family, const StoreOptions *options) {
    gboolean may = family == FAMILY_TRACE || family == FAMILY_TRACE_ID || family == FAMILY_INDEX;
    if (!may || options->expired == NULL) return NULL;
    Expiry *expiry = g_new(Expiry, 1);
    *expiry = (Expiry){options->expired, options->expired_arg, family};
    return rocksdb_compactionfilter_create(expiry, g_free, filter_entry, filter_name);
}

/* ---- options ---- */

static void set_tables(rocksdb_options_t *options, const FamilySetup *setup, rocksdb_cache_t *cache) {
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(table, (size_t)setup->block_kib * 1024);
    rocksdb_block_based_options_set_block_cache(table, cache);

    /* So that the cache bounds all memory of reading, however many tables there are. */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
    rocksdb_block_based_options_set_format_version(table, 5);
    /* CRC32C is computed without the processor's help, and took half of RocksDB's CPU. */
    rocksdb_block_based_options_set_checksum(table, CHECKSUM_XXH3);

    if (setup->bloom) {
        rocksdb_block_based_options_set_filter_policy(table,
                                                      rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS_PER_KEY));
        /* In one piece, the filter of a large table is more than a shard of the cache holds: it was read and checked
         * anew for every trace, 1 us a span at a million traces. */
        rocksdb_block_based_options_set_index_type(table, rocksdb_block_based_table_index_type_two_level_index_search);
        rocksdb_block_based_options_set_partition_filters(table, 1);
        rocksdb_block_based_options_set_metadata_block_size(table, FILTER_PART_BYTES);
        rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
    }

    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
}

static rocksdb_options_t *family_options(StoreFamily family, gsize buffers_bytes, rocksdb_cache_t *cache,
                                         StoreMerge merge) {
    const FamilySetup *setup = &setups[family];
    rocksdb_options_t *options = rocksdb_options_create();

    /* What all families have together (db_write_buffer_size) decides. */
    rocksdb_options_set_write_buffer_size(options, family == FAMILY_META ? META_WRITE_BUFFER_BYTES : buffers_bytes);
    rocksdb_options_set_arena_block_size(options, ARENA_BLOCK_BYTES);
    rocksdb_options_set_max_write_buffer_number(options, WRITE_BUFFERS);

    rocksdb_options_set_compression(options, setup->compress ? rocksdb_zstd_compression : rocksdb_no_compression);
    rocksdb_options_set_compression_options(options, ZSTD_WINDOW_DEFAULT, ZSTD_LEVEL, 0, 0);
    /* Level 0 is soon read and written again. */
    rocksdb_options_set_min_level_to_compress(options, 1);

    rocksdb_options_set_level0_file_num_compaction_trigger(options, (int)setup->level0_files);
    rocksdb_options_set_level0_slowdown_writes_trigger(options, LEVEL0_SLOWDOWN);
    rocksdb_options_set_level0_stop_writes_trigger(options, LEVEL0_STOP);
    if (setup->universal) rocksdb_options_set_compaction_style(options, rocksdb_universal_compaction);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, !setup->universal);
    rocksdb_options_set_target_file_size_base(options, buffers_bytes * FILE_PER_WRITE_BUFFER);
    set_tables(options, setup, cache);

    /* What is looked up of traces is mostly in files: the filter of what is in memory would only take its place. */
    if (setup->bloom && family != FAMILY_TRACE) {
        rocksdb_options_set_memtable_whole_key_filtering(options, 1);
        rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, 0.05);
    }
    if (family == FAMILY_STATS && merge != NULL) rocksdb_options_set_merge_operator(options, merge_operator(merge));
    return options;
}

static void set_database(rocksdb_options_t *options, gsize buffers_bytes, gboolean read_only, guint open_files) {
    rocksdb_options_set_create_if_missing(options, !read_only);
    rocksdb_options_set_max_background_jobs(options, BACKGROUND_JOBS);
    rocksdb_options_set_db_write_buffer_size(options, buffers_bytes);
    rocksdb_options_set_max_total_wal_size(options, buffers_bytes * LOG_PER_WRITE_BUFFER);
    rocksdb_options_set_max_open_files(options, read_only ? -1 : (int)open_files);
    rocksdb_options_set_bytes_per_sync(options, 1 << 20);
    rocksdb_options_set_wal_bytes_per_sync(options, 1 << 20);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    /* What a crash has torn is the end of a log, and nobody was told that it is safe; anything else that is wrong with
     * a log is damage, and must not pass as if the log had ended there (RocksDB's default). */
    rocksdb_options_set_wal_recovery_mode(options, RECOVERY_TOLERATE_TORN_TAIL);
    /* RocksDB's diary lies in the store's folder. Debian builds RocksDB 7.8 with its assertions on, and one of them
     * ends the process at the second line that does not fit on a full disk: nothing is written to it. */
    rocksdb_options_set_info_log_level(options, LOG_LEVEL_FATAL);
    rocksdb_options_set_keep_log_file_num(options, 2);
}

guint rocks_level0_files(StoreFamily family) { return setups[family].level0_files; }

void rocks_options_init(RocksOptions *made, const StoreOptions *options) {
    gsize buffers_bytes = options->write_buffer_bytes > 0 ? options->write_buffer_bytes : DEFAULT_WRITE_BUFFER_BYTES;
    made->cache = rocksdb_cache_create_lru(options->cache_bytes > 0 ? options->cache_bytes : DEFAULT_CACHE_BYTES);
    for (guint i = 0; i < FAMILY_COUNT; i++) {
        made->family[i] = family_options((StoreFamily)i, buffers_bytes, made->cache, options->merge);
        made->filter[i] = expiry_filter((StoreFamily)i, options);
        if (made->filter[i] != NULL) rocksdb_options_set_compaction_filter(made->family[i], made->filter[i]);
    }
    made->reserve_bytes = (guint64)buffers_bytes * WRITE_BUFFERS;
    const guint open_files = options->open_files > 0 ? options->open_files : WRITER_OPEN_FILES;
    set_database(made->family[FAMILY_META], buffers_bytes, options->read_only, open_files);
    rocksdb_options_set_atomic_flush(made->family[FAMILY_META], options->no_log && !options->read_only);
}

void rocks_options_clear(RocksOptions *made) {
    for (guint i = 0; i < FAMILY_COUNT; i++) {
        if (made->family[i] != NULL) rocksdb_options_destroy(made->family[i]);
        if (made->filter[i] != NULL) rocksdb_compactionfilter_destroy(made->filter[i]);
    }
    if (made->cache != NULL) rocksdb_cache_destroy(made->cache);
    *made = (RocksOptions){0};
}

/* RocksDB is not built with ThreadSanitizer, which therefore does not see its atomics and locks: what happens inside it
 * is not reported. */
#ifdef __SANITIZE_THREAD__
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
    return "race:librocksdb.so\n"
           "called_from_lib:librocksdb.so\n"
           "called_from_lib:libzstd.so\n"
           "called_from_lib:libstdc++.so\n";
}
#endif

/* The release build brings its own C++ runtime, which keeps 24 bytes of a thread that ends with the process. */
#ifdef __SANITIZE_ADDRESS__
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:librocksdbjni\n"; }
#endif
