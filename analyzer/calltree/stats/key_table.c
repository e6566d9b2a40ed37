#include "analyzer/calltree/stats/key_table.h"

#include <string.h>

#define FIRST_TABLE 256u

void key_table_init(KeyTable *table) {
    *table = (KeyTable){.size = FIRST_TABLE};
    table->slots = g_new0(guint32, FIRST_TABLE);
    table->keys = g_malloc(FIRST_TABLE / 2 * sizeof *table->keys);
}

void key_table_clear(KeyTable *table) {
    g_free(table->slots);
    g_free(table->keys);
}

void key_table_empty(KeyTable *table) {
    memset(table->slots, 0, table->size * sizeof *table->slots);
    table->n = 0;
}

gsize key_table_bytes(const KeyTable *table) {
    return table->size * sizeof *table->slots + table->size / 2 * sizeof *table->keys;
}

static inline guint32 hash_key(const guint32 key[4]) {
    guint64 h = ((guint64)key[0] << 32 | key[1]) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    h ^= h >> 32;
    h = (h ^ ((guint64)key[2] << 32 | key[3])) * G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
    return (guint32)(h >> 32);
}

static inline gboolean same_key(const guint32 a[4], const guint32 b[4]) {
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) == 0;
}

/* The place of a key, or the empty one where it belongs. */
static guint32 find_slot(const KeyTable *table, const guint32 key[4]) {
    guint32 at = hash_key(key) & (table->size - 1);
    while (table->slots[at] != 0 && !same_key(table->keys[table->slots[at] - 1], key))
        at = (at + 1) & (table->size - 1);
    return at;
}

static void grow_table(KeyTable *table) {
    table->size *= 2;
    g_free(table->slots);
    table->slots = g_new0(guint32, table->size);
    table->keys = g_realloc(table->keys, table->size / 2 * sizeof *table->keys);
    for (guint32 i = 0; i < table->n; i++) table->slots[find_slot(table, table->keys[i])] = i + 1;
}

gboolean key_table_find(const KeyTable *table, const guint32 key[4], guint32 *number) {
    guint32 found = table->slots[find_slot(table, key)];
    if (found != 0) *number = found - 1;
    return found != 0;
}

guint32 key_table_number(KeyTable *table, const guint32 key[4]) {
    guint32 at = find_slot(table, key);
    if (table->slots[at] != 0) return table->slots[at] - 1;
    if (table->n == table->size / 2) {
        grow_table(table);
        at = find_slot(table, key);
    }
    memcpy(table->keys[table->n], key, sizeof *table->keys);
    table->slots[at] = ++table->n;
    return table->n - 1;
}
