/* Numbers for keys of four numbers: 0, 1, 2, ... in the order in which keys were first asked for. */
#pragma once

#include <glib.h>

typedef struct KeyTable {
    guint32 (*keys)[4];
    guint32 *slots; /* open addressing, at most half full: number + 1 */
    guint32 n, size;
} KeyTable;

void key_table_init(KeyTable *table);
void key_table_clear(KeyTable *table);
void key_table_empty(KeyTable *table);
gsize key_table_bytes(const KeyTable *table);
guint32 key_table_number(KeyTable *table, const guint32 key[4]);
/* FALSE: it was never asked for. */
gboolean key_table_find(const KeyTable *table, const guint32 key[4], guint32 *number);
