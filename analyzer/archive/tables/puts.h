/* Entries that a group will put, sorted when it is sealed: RocksDB's memtable takes keys that come in order at a third
 * of the price of keys that come at random. */
#pragma once

#include "analyzer/archive/tables/layout.h"
#include "common/store/store.h"

/* Values lie in blocks of this size, or of one value that is larger. A few serve group after group; what a large trace
 * took, or a large group, goes back to the system with it: they are more than the allocator has in its heap
 * (memory_init()). */
#define PUTS_BLOCK_BYTES (1024u * 1024)

typedef struct Puts {
    StoreFamily family;
    GArray *entries;   /* key, and where its value lies */
    GByteArray *bytes; /* the values of the present block */
    GPtrArray *full;   /* GByteArray: blocks before it */
    gsize full_bytes;
    GPtrArray *lent;  /* GByteArray: values that a batch refers to */
    GPtrArray *spare; /* GByteArray: blocks for the next ones */
} Puts;

void puts_init(Puts *puts, StoreFamily family);
void puts_clear(Puts *puts);
/* The value is what was appended to puts->bytes since the last call. No key comes twice. */
void puts_add(Puts *puts, const LayoutKey *key);
gsize puts_size_bytes(const Puts *puts);
/* Moves everything into a batch, but for the values, which it refers to: once it is written or cleared,
 * puts_returned(). */
void puts_move(Puts *puts, StoreBatch *batch);
void puts_returned(Puts *puts);
