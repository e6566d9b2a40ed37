#include "analyzer/archive/puts.h"

#include <stdlib.h>
#include <string.h>

typedef struct PutEntry {
    LayoutKey key;
    guint at, size_bytes;
} PutEntry;

void puts_init(Puts *puts, StoreFamily family) {
    *puts = (Puts){family, g_array_new(FALSE, FALSE, sizeof(PutEntry)), g_byte_array_new(),
                   g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref)};
}

void puts_clear(Puts *puts) {
    g_clear_pointer(&puts->entries, g_array_unref);
    g_clear_pointer(&puts->bytes, g_byte_array_unref);
    g_clear_pointer(&puts->lent, g_ptr_array_unref);
}

void puts_add(Puts *puts, const LayoutKey *key) {
    guint at = 0;
    if (puts->entries->len > 0) {
        const PutEntry *last = &g_array_index(puts->entries, PutEntry, puts->entries->len - 1);
        at = last->at + last->size_bytes;
    }
    PutEntry entry = {*key, at, puts->bytes->len - at};
    g_array_append_val(puts->entries, entry);
}

gsize puts_size_bytes(const Puts *puts) { return puts->bytes->len + puts->entries->len * sizeof(PutEntry); }

/* All keys of a family have one length. */
static int compare_entries(gconstpointer a, gconstpointer b) {
    const LayoutKey *x = &((const PutEntry *)a)->key, *y = &((const PutEntry *)b)->key;
    return memcmp(x->bytes, y->bytes, x->size_bytes);
}

void puts_move(Puts *puts, StoreBatch *batch) {
    g_array_sort(puts->entries, compare_entries);
    for (guint i = 0; i < puts->entries->len; i++) {
        const PutEntry *entry = &g_array_index(puts->entries, PutEntry, i);
        store_batch_put_lent(batch, puts->family, key_bytes(&entry->key),
                             (Bytes){puts->bytes->data + entry->at, entry->size_bytes});
    }
    if (puts->entries->len == 0) return;
    g_array_set_size(puts->entries, 0);
    g_ptr_array_add(puts->lent, puts->bytes);
    puts->bytes = g_byte_array_new();
}

void puts_returned(Puts *puts) {
    if (puts->lent->len == 0) return;
    g_byte_array_unref(puts->bytes);
    puts->bytes = g_ptr_array_steal_index(puts->lent, 0); /* with the room that it has */
    g_byte_array_set_size(puts->bytes, 0);
    g_ptr_array_set_size(puts->lent, 0);
}
