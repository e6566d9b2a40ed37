#include "analyzer/archive/tables/puts.h"

#include <stdlib.h>
#include <string.h>

/* No value that is written one after the other is larger, but for that of a large trace: a block is full with less room
 * than this, so that it does not grow. */
#define VALUE_ROOM_BYTES (64u * 1024)
/* Blocks that are kept: what a group of a shard mostly fills. The pages of a new block cost more than to write them. */
#define SPARE_BLOCKS 6u

typedef struct PutEntry {
    LayoutKey key;
    guint32 block; /* among the full ones, or the present one */
    guint32 at, size_bytes;
} PutEntry;

static GByteArray *block_take(Puts *puts) {
    if (puts->spare->len > 0) return g_ptr_array_steal_index_fast(puts->spare, puts->spare->len - 1);
    return g_byte_array_sized_new(PUTS_BLOCK_BYTES);
}

void puts_init(Puts *puts, StoreFamily family) {
    *puts = (Puts){.family = family,
                   .entries = g_array_new(FALSE, FALSE, sizeof(PutEntry)),
                   .full = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref),
                   .lent = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref),
                   .spare = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref)};
    puts->bytes = block_take(puts);
}

void puts_clear(Puts *puts) {
    g_clear_pointer(&puts->entries, g_array_unref);
    g_clear_pointer(&puts->bytes, g_byte_array_unref);
    g_clear_pointer(&puts->full, g_ptr_array_unref);
    g_clear_pointer(&puts->lent, g_ptr_array_unref);
    g_clear_pointer(&puts->spare, g_ptr_array_unref);
}

static void next_block(Puts *puts) {
    puts->full_bytes += puts->bytes->len;
    g_ptr_array_add(puts->full, puts->bytes);
    puts->bytes = block_take(puts);
}

void puts_add(Puts *puts, const LayoutKey *key) {
    guint32 at = 0;
    if (puts->entries->len > 0) {
        const PutEntry *last = &g_array_index(puts->entries, PutEntry, puts->entries->len - 1);
        if (last->block == puts->full->len) at = last->at + last->size_bytes;
    }
    PutEntry entry = {*key, puts->full->len, at, puts->bytes->len - at};
    g_array_append_val(puts->entries, entry);
    if (puts->bytes->len > PUTS_BLOCK_BYTES - VALUE_ROOM_BYTES) next_block(puts);
}

gsize puts_size_bytes(const Puts *puts) {
    return puts->full_bytes + puts->bytes->len + puts->entries->len * sizeof(PutEntry);
}

/* All keys of a family have one length. */
static int compare_entries(gconstpointer a, gconstpointer b) {
    const LayoutKey *x = &((const PutEntry *)a)->key, *y = &((const PutEntry *)b)->key;
    return memcmp(x->bytes, y->bytes, x->size_bytes);
}

void puts_move(Puts *puts, StoreBatch *batch) {
    if (puts->entries->len == 0) return;
    next_block(puts);
    g_array_sort(puts->entries, compare_entries);
    for (guint i = 0; i < puts->entries->len; i++) {
        const PutEntry *entry = &g_array_index(puts->entries, PutEntry, i);
        const GByteArray *block = g_ptr_array_index(puts->full, entry->block);
        store_batch_put_lent(batch, puts->family, key_bytes(&entry->key),
                             (Bytes){block->data + entry->at, entry->size_bytes});
    }
    g_array_set_size(puts->entries, 0);
    g_ptr_array_extend_and_steal(puts->lent, g_steal_pointer(&puts->full));
    puts->full = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    puts->full_bytes = 0;
}

void puts_returned(Puts *puts) {
    while (puts->lent->len > 0) {
        g_autoptr(GByteArray) block = g_ptr_array_steal_index_fast(puts->lent, puts->lent->len - 1);
        if (block->len > PUTS_BLOCK_BYTES || puts->spare->len == SPARE_BLOCKS) continue;
        g_byte_array_set_size(block, 0);
        g_ptr_array_add(puts->spare, g_steal_pointer(&block));
    }
}
