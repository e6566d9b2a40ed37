/* What the store's tests share: a folder of their own, both implementations, a merge function that shows its order. */
#pragma once

#include "common/store/store.h"

typedef Store *(*StoreOpen)(const StoreOptions *options, GError **error);

/* Text as a key or value. */
static inline Bytes text(const char *zero_terminated) {
    gsize size = 0;
    while (zero_terminated[size] != 0) size++;
    return (Bytes){zero_terminated, size};
}

/* Concatenation: associative, and every other order of operands would show. An operand that begins with '!' is
 * corrupt. */
gboolean merge_concatenate(Bytes existing, const Bytes *operands, gsize n, GByteArray *out);

char *folder_new(void);
/* Removes it with all that is in it, and frees the name. */
void folder_remove(char *folder);
/* Not made durable, unlike g_file_set_contents(): that would take most of the tests' time. */
void file_write(const char *path, const char *content, gsize size);
void folder_copy(const char *from, const char *to);

/* Options small enough that tables are written and compacted within a test. */
StoreOptions small_options(const char *path);

/* The value of a key must be this; NULL: must be absent. */
void assert_value(Store *store, StoreFamily family, const char *key, const char *value);
void put(Store *store, StoreFamily family, const char *key, const char *value);

/* Every entry of every family, as lines. NULL with *error when a read failed. */
char *store_dump(Store *store, GError **error);
