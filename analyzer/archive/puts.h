/* Entries that a group will put, sorted when it is sealed: RocksDB's memtable takes keys that come in order at a third
 * of the price of keys that come at random. */
#pragma once

#include "analyzer/archive/layout.h"
#include "common/store/store.h"

typedef struct Puts {
    StoreFamily family;
    GArray *entries;   /* key, and where its value lies */
    GByteArray *bytes; /* the values */
    GPtrArray *lent;   /* GByteArray: values that a batch refers to */
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
