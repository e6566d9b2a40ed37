/* The dictionary of a store: function names, tracer ids and annotation keys as numbers.
 *
 * Ids count from 1 and never change; id 0 is the empty string. A new entry is in the store before dict_intern()
 * returns, so that no record can refer to an id that a crash has lost. Key in FAMILY_DICT: the id, u32 big-endian;
 * value: the bytes. All functions may be called from any thread; lookups of known strings take a shared lock only.
 *
 * All entries are at hand, but what is not used lies in files without a name beside the store (base/mapped.h), for most
 * are tracer ids of processes that have ended long ago. */
#pragma once

#include "common/store/store.h"

typedef struct Dict Dict;

/* Loads all entries of the store, which must outlive the dictionary. */
Dict *dict_open(Store *store, GError **error);
void dict_free(Dict *dict);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Dict, dict_free)

/* Id of the string, made when new. Errors: LIMIT (LIMIT_DICTIONARY_..., LIMIT_NAME_BYTES), NO_SPACE, IO; on a
 * read-only store an unknown string is NOT_FOUND. */
gboolean dict_intern(Dict *dict, const char *data, gsize length, guint32 *id, GError **error);
/* 0 when unknown (or empty). */
guint32 dict_find(Dict *dict, const char *data, gsize length);
/* The bytes of an id, zero-terminated, valid as long as the dictionary; "" and length 0 for an id it does not have.
 * length may be NULL. */
const char *dict_text(Dict *dict, guint32 id, gsize *length);
guint32 dict_size(Dict *dict);

/* How much there is, and may be. */
typedef struct DictUsage {
    guint32 entries, most_entries;
    guint64 bytes, most_bytes;
} DictUsage;
DictUsage dict_usage(const Dict *dict);
/* 0 to 1: of the entries or of the bytes, whichever is more. */
double dict_usage_full(const DictUsage *usage);
/* Are all entries in memory, for want of a folder or a file system that can keep their room (base/mapped.h)? Then the
 * smaller limits hold. */
gboolean dict_in_memory(const Dict *dict);
/* Memory of entries that nobody uses at the moment goes back to the system: after something that looked at all of them.
 * It costs little, and does so by itself while entries are added. */
void dict_rest(Dict *dict);
