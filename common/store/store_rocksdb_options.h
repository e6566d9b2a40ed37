/* How RocksDB is set up for each family; private to common/store. */
#pragma once

#include "common/store/store.h"

typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_cache_t rocksdb_cache_t;
typedef struct rocksdb_compactionfilter_t rocksdb_compactionfilter_t;

/* RocksDB takes no less. What is in META is small; a flush is asked for by filling it. */
#define META_WRITE_BUFFER_BYTES (64u << 10)

typedef struct RocksOptions {
    rocksdb_options_t *family[FAMILY_COUNT]; /* FAMILY_META's also hold what concerns the database as a whole */
    rocksdb_compactionfilter_t *filter[FAMILY_COUNT];
    rocksdb_cache_t *cache;
    guint64 reserve_bytes; /* all write buffers at their largest: RocksDB wants as much disk free to recover */
} RocksOptions;

void rocks_options_init(RocksOptions *made, const StoreOptions *options);
void rocks_options_clear(RocksOptions *made);
/* So many files of level 0 are merged into the level below. */
guint rocks_level0_files(StoreFamily family);
