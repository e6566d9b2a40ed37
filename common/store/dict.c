#include "common/store/dict.h"

#include <pthread.h>
#include <string.h>
#include <xxhash.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/store/store_ops.h"

typedef struct Entry {
    guint32 id;
    guint32 length;
    const char *data; /* of stored entries: zero-terminated, in the same allocation */
} Entry;

struct Dict {
    Store *store;
    pthread_mutex_t interning; /* held while an entry is made, so that readers do not wait for the disk */
    pthread_rwlock_t lock;     /* of the two containers; entries never change or move */
    GHashTable *by_text;       /* set of Entry */
    GPtrArray *by_id;          /* Entry, owned; [0] is the empty string */
};

static guint entry_hash(gconstpointer data) {
    const Entry *entry = data;
    return (guint)XXH3_64bits(entry->data, entry->length);
}

static gboolean entry_equal(gconstpointer a, gconstpointer b) {
    const Entry *left = a, *right = b;
    return left->length == right->length && memcmp(left->data, right->data, left->length) == 0;
}

static Entry *entry_new(guint32 id, const char *data, gsize length) {
    Entry *entry = g_malloc(sizeof *entry + length + 1);
    char *text = (char *)(entry + 1);
    if (length > 0) memcpy(text, data, length);
    text[length] = 0;
    *entry = (Entry){id, (guint32)length, text};
    return entry;
}

/* Under the lock, or before other threads know the dictionary. Takes the entry. */
static void publish(Dict *dict, Entry *entry) {
    g_ptr_array_add(dict->by_id, entry);
    g_hash_table_add(dict->by_text, entry);
}

/* 0 when unknown. */
static guint32 find(Dict *dict, const char *data, gsize length) {
    const Entry sought = {0, (guint32)length, data};
    pthread_rwlock_rdlock(&dict->lock);
    const Entry *found = g_hash_table_lookup(dict->by_text, &sought);
    guint32 id = found != NULL ? found->id : 0;
    pthread_rwlock_unlock(&dict->lock);
    return id;
}

static gboolean load_entry(Dict *dict, Bytes key, Bytes value, GError **error) {
    ByteReader reader = byte_reader(key.data, key.size_bytes);
    guint32 id = read_u32be(&reader);
    if (reader.failed || reader_left(&reader) > 0 || id != dict->by_id->len)
        return fail(error, PLUMB_ERROR_CORRUPT, "dictionary: entry %u is missing", dict->by_id->len);
    if (value.size_bytes == 0 || value.size_bytes > LIMIT_NAME_BYTES)
        return fail(error, PLUMB_ERROR_CORRUPT, "dictionary: entry %u has %zu bytes", id, value.size_bytes);
    if (find(dict, value.data, value.size_bytes) != 0)
        return fail(error, PLUMB_ERROR_CORRUPT, "dictionary: entry %u is there twice", id);
    publish(dict, entry_new(id, value.data, value.size_bytes));
    return TRUE;
}

static gboolean load(Dict *dict, GError **error) {
    g_autoptr(StoreIter) iter = store_iter_new(dict->store, FAMILY_DICT);
    for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter)) {
        if (!load_entry(dict, store_iter_key(iter), store_iter_value(iter), error)) return FALSE;
    }
    return store_iter_error(iter, error);
}

Dict *dict_open(Store *store, GError **error) {
    Dict *dict = g_new0(Dict, 1);
    dict->store = store;
    pthread_mutex_init(&dict->interning, NULL);
    pthread_rwlock_init(&dict->lock, NULL);
    dict->by_text = g_hash_table_new(entry_hash, entry_equal);
    dict->by_id = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(dict->by_id, entry_new(0, "", 0));
    if (load(dict, error)) return dict;
    dict_free(dict);
    return NULL;
}

void dict_free(Dict *dict) {
    if (dict == NULL) return;
    g_hash_table_unref(dict->by_text);
    g_ptr_array_unref(dict->by_id);
    pthread_rwlock_destroy(&dict->lock);
    pthread_mutex_destroy(&dict->interning);
    g_free(dict);
}

static gboolean write_entry(Dict *dict, guint32 id, const char *data, gsize length, GError **error) {
    const guint8 key[4] = {(guint8)(id >> 24), (guint8)(id >> 16), (guint8)(id >> 8), (guint8)id};
    g_autoptr(StoreBatch) batch = store_batch_new(dict->store);
    store_batch_put(batch, FAMILY_DICT, (Bytes){key, sizeof key}, (Bytes){data, length});
    return store_write(dict->store, batch, FALSE, error);
}

/* Under 'interning': ids are given in order, without gaps, and only this thread adds. */
static gboolean intern_new(Dict *dict, const char *data, gsize length, guint32 *id, GError **error) {
    guint32 known = find(dict, data, length);
    if (known != 0) {
        *id = known;
        return TRUE;
    }
    guint32 next = dict->by_id->len;
    if (next > LIMIT_DICTIONARY_ENTRIES)
        return fail(error, PLUMB_ERROR_LIMIT,
                    "dictionary: it is full (%u names, tracer ids and annotation keys): do names hold numbers?",
                    LIMIT_DICTIONARY_ENTRIES);
    if (!write_entry(dict, next, data, length, error)) return FALSE;
    Entry *entry = entry_new(next, data, length);
    pthread_rwlock_wrlock(&dict->lock);
    publish(dict, entry);
    pthread_rwlock_unlock(&dict->lock);
    *id = next;
    return TRUE;
}

gboolean dict_intern(Dict *dict, const char *data, gsize length, guint32 *id, GError **error) {
    if (length > LIMIT_NAME_BYTES)
        return fail(error, PLUMB_ERROR_LIMIT, "dictionary: a text of %zu bytes: the limit is %u", length,
                    LIMIT_NAME_BYTES);
    guint32 known = length > 0 ? find(dict, data, length) : 0;
    if (known != 0 || length == 0) {
        *id = known;
        return TRUE;
    }
    if (dict->store->read_only)
        return fail(error, PLUMB_ERROR_NOT_FOUND, "dictionary: '%.*s' is not in it", (int)length, data);
    pthread_mutex_lock(&dict->interning);
    gboolean ok = intern_new(dict, data, length, id, error);
    pthread_mutex_unlock(&dict->interning);
    return ok;
}

guint32 dict_find(Dict *dict, const char *data, gsize length) {
    return length > 0 && length <= LIMIT_NAME_BYTES ? find(dict, data, length) : 0;
}

const char *dict_text(Dict *dict, guint32 id, gsize *length) {
    pthread_rwlock_rdlock(&dict->lock);
    const Entry *entry = dict->by_id->pdata[id < dict->by_id->len ? id : 0];
    pthread_rwlock_unlock(&dict->lock);
    if (length != NULL) *length = entry->length;
    return entry->data;
}

guint32 dict_size(Dict *dict) {
    pthread_rwlock_rdlock(&dict->lock);
    guint32 size = dict->by_id->len - 1;
    pthread_rwlock_unlock(&dict->lock);
    return size;
}
