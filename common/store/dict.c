#include "common/store/dict.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <xxhash.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/base/mapped.h"
#include "common/store/store_ops.h"

/* Three tables that grow with the store's age, each mapped (base/mapped.h): texts one behind the other, the place of
 * each by its id, and an open hash table from text to id. Texts and places never change once their id is known. */
#define LENGTH_BYTES sizeof(guint32)
/* The table is rebuilt with twice as many slots when three of four are taken. A slot is the lower half of the hash, by
 * which it is found, and the id; 0 is an empty one. */
#define FIRST_SLOTS 1024u
/* New entries after which what they took of memory goes back. */
#define REST_ENTRIES 65536u

struct Dict {
    Store *store;
    const char *folder;        /* of the tables' files; NULL: in memory */
    pthread_mutex_t interning; /* held while an entry is made, so that readers do not wait for the disk */
    pthread_rwlock_t lock;     /* of which table of slots there is, and of its slots */
    Mapped *texts;             /* length u32, bytes, a zero */
    Mapped *places;            /* guint64 by id, into texts */
    Mapped *slots;
    guint64 n_slots;            /* a power of two */
    _Atomic guint64 text_bytes; /* written under 'interning' */
    _Atomic guint32 next;       /* id */
};

static guint32 hash_of(const char *data, gsize length) { return (guint32)XXH3_64bits(data, length); }

static const char *text_at(const Dict *dict, guint32 id, guint32 *length) {
    const guint64 *places = mapped_data(dict->places);
    const char *text = (const char *)mapped_data(dict->texts) + places[id];
    memcpy(length, text, LENGTH_BYTES);
    return text + LENGTH_BYTES;
}

/* ---- slots ---- */

static guint64 slot_pack(guint32 hash, guint32 id) { return (guint64)hash << 32 | id; }

static void slot_put(guint64 *slots, guint64 n_slots, guint64 slot) {
    guint64 at = slot >> 32 & (n_slots - 1);
    while (slots[at] != 0) at = (at + 1) & (n_slots - 1);
    slots[at] = slot;
}

/* Readers use the old table meanwhile. Under 'interning'. */
static gboolean slots_enlarge(Dict *dict, guint64 n_slots, GError **error) {
    g_autoptr(Mapped) larger = mapped_new(dict->folder, n_slots * sizeof(guint64), error);
    if (larger == NULL || !mapped_grow(larger, n_slots * sizeof(guint64), error)) return FALSE;
    const guint64 *slots = dict->slots != NULL ? mapped_data(dict->slots) : NULL;
    for (guint64 i = 0; i < dict->n_slots; i++)
        if (slots[i] != 0) slot_put(mapped_data(larger), n_slots, slots[i]);
    pthread_rwlock_wrlock(&dict->lock);
    Mapped *old = dict->slots;
    dict->slots = g_steal_pointer(&larger);
    dict->n_slots = n_slots;
    pthread_rwlock_unlock(&dict->lock);
    mapped_free(old);
    return TRUE;
}

static guint32 find_locked(const Dict *dict, const char *data, gsize length) {
    const guint64 *slots = mapped_data(dict->slots);
    const guint32 hash = hash_of(data, length);
    for (guint64 at = hash & (dict->n_slots - 1); slots[at] != 0; at = (at + 1) & (dict->n_slots - 1)) {
        if (slots[at] >> 32 != hash) continue;
        guint32 id = (guint32)slots[at], has;
        const char *text = text_at(dict, id, &has);
        if (has == length && memcmp(text, data, length) == 0) return id;
    }
    return 0;
}

/* 0 when unknown. */
static guint32 find(Dict *dict, const char *data, gsize length) {
    pthread_rwlock_rdlock(&dict->lock);
    guint32 id = find_locked(dict, data, length);
    pthread_rwlock_unlock(&dict->lock);
    return id;
}

/* ---- entries ---- */

/* Room for one more, so that publish() cannot fail: before the entry is in the store. Under 'interning'. */
static gboolean make_room(Dict *dict, gsize length, GError **error) {
    guint64 entries = (guint64)dict->next + 1;
    if (!mapped_grow(dict->texts, dict->text_bytes + LENGTH_BYTES + length + 1, error) ||
        !mapped_grow(dict->places, entries * sizeof(guint64), error))
        return FALSE;
    return entries * 4 <= dict->n_slots * 3 || slots_enlarge(dict, dict->n_slots * 2, error);
}

/* Under 'interning', or before other threads know the dictionary. */
static void publish(Dict *dict, const char *data, gsize length) {
    const guint32 id = dict->next, length_field = (guint32)length;
    char *text = (char *)mapped_data(dict->texts) + dict->text_bytes;
    memcpy(text, &length_field, LENGTH_BYTES);
    if (length > 0) memcpy(text + LENGTH_BYTES, data, length);
    text[LENGTH_BYTES + length] = 0;
    ((guint64 *)mapped_data(dict->places))[id] = dict->text_bytes;
    dict->text_bytes += LENGTH_BYTES + length + 1;
    atomic_store_explicit(&dict->next, id + 1, memory_order_release);
    if (id == 0) return; /* the empty string is not looked for */
    pthread_rwlock_wrlock(&dict->lock);
    slot_put(mapped_data(dict->slots), dict->n_slots, slot_pack(hash_of(data, length), id));
    pthread_rwlock_unlock(&dict->lock);
    if (id % REST_ENTRIES != 0) return;
    /* Not the slots: what comes next lies anywhere in them. */
    mapped_rest(dict->texts);
    mapped_rest(dict->places);
}

void dict_rest(Dict *dict) {
    mapped_rest(dict->texts);
    mapped_rest(dict->places);
    pthread_rwlock_rdlock(&dict->lock);
    mapped_rest(dict->slots);
    pthread_rwlock_unlock(&dict->lock);
}

static gboolean load_entry(Dict *dict, Bytes key, Bytes value, GError **error) {
    ByteReader reader = byte_reader(key.data, key.size_bytes);
    guint32 id = read_u32be(&reader);
    if (reader.failed || reader_left(&reader) > 0 || id != dict->next)
        return fail(error, PLUMB_ERROR_CORRUPT, "entry %u is missing", dict->next);
    if (value.size_bytes == 0 || value.size_bytes > LIMIT_NAME_BYTES)
        return fail(error, PLUMB_ERROR_CORRUPT, "entry %u has %zu bytes", id, value.size_bytes);
    if (find(dict, value.data, value.size_bytes) != 0)
        return fail(error, PLUMB_ERROR_CORRUPT, "entry %u is there twice", id);
    if (!make_room(dict, value.size_bytes, error)) return FALSE;
    publish(dict, value.data, value.size_bytes);
    return TRUE;
}

/* Slots for as many entries as there are, so that they are filled once. */
static gboolean make_slots(Dict *dict, GError **error) {
    guint64 entries = 0, n_slots = FIRST_SLOTS;
    g_autoptr(StoreIter) iter = store_iter_new(dict->store, FAMILY_DICT);
    if (store_iter_seek_before(iter, (Bytes){"\xff\xff\xff\xff", 4})) {
        ByteReader last = byte_reader(store_iter_key(iter).data, store_iter_key(iter).size_bytes);
        entries = MIN(read_u32be(&last), LIMIT_DICTIONARY_ENTRIES);
    }
    while (entries * 4 > n_slots * 3) n_slots *= 2;
    return store_iter_error(iter, error) && slots_enlarge(dict, n_slots, error);
}

static gboolean load(Dict *dict, GError **error) {
    dict->texts = mapped_new(dict->folder, LIMIT_DICTIONARY_BYTES, error);
    if (dict->texts == NULL) return FALSE;
    dict->places = mapped_new(dict->folder, (LIMIT_DICTIONARY_ENTRIES + 1) * sizeof(guint64), error);
    if (dict->places == NULL || !make_slots(dict, error) || !make_room(dict, 0, error)) return FALSE;
    publish(dict, "", 0);
    g_autoptr(StoreIter) iter = store_iter_new(dict->store, FAMILY_DICT);
    for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter)) {
        if (!load_entry(dict, store_iter_key(iter), store_iter_value(iter), error)) return FALSE;
    }
    dict_rest(dict);
    return store_iter_error(iter, error);
}

static Dict *open_with(Store *store, const char *folder, GError **error) {
    Dict *dict = g_new0(Dict, 1);
    dict->store = store;
    dict->folder = folder;
    pthread_mutex_init(&dict->interning, NULL);
    pthread_rwlock_init(&dict->lock, NULL);
    if (load(dict, error)) return dict;
    dict_free(dict);
    return NULL;
}

Dict *dict_open(Store *store, GError **error) {
    g_autoptr(GError) problem = NULL;
    Dict *dict = open_with(store, store_folder(store), &problem);
    /* A full disk must not keep those away who would make room on it. */
    if (dict == NULL && g_error_matches(problem, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE)) {
        g_clear_error(&problem);
        dict = open_with(store, NULL, &problem);
    }
    if (dict == NULL) g_propagate_prefixed_error(error, g_steal_pointer(&problem), "dictionary: ");
    return dict;
}

void dict_free(Dict *dict) {
    if (dict == NULL) return;
    mapped_free(dict->texts);
    mapped_free(dict->places);
    mapped_free(dict->slots);
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

static gboolean check_full(const Dict *dict, gsize length, GError **error) {
    const DictUsage usage = dict_usage(dict);
    if (usage.entries < usage.most_entries && usage.bytes + LENGTH_BYTES + length < usage.most_bytes) return TRUE;
    return fail(error, PLUMB_ERROR_LIMIT,
                "dictionary: it is full (%u names, tracer ids and annotation keys, of %u MB; the limits are %u and %u "
                "MB%s): do names hold numbers?",
                usage.entries, (guint)(usage.bytes / 1000000), usage.most_entries, (guint)(usage.most_bytes / 1000000),
                dict_in_memory(dict) ? ", since the file system of store.path keeps its tables in memory" : "");
}

/* Under 'interning': ids are given in order, without gaps, and only this thread adds. */
static gboolean intern_new(Dict *dict, const char *data, gsize length, guint32 *id, GError **error) {
    guint32 known = find(dict, data, length);
    if (known != 0) {
        *id = known;
        return TRUE;
    }
    guint32 next = dict->next;
    if (!check_full(dict, length, error)) return FALSE;
    if (!make_room(dict, length, error)) {
        g_prefix_error(error, "dictionary: ");
        return FALSE;
    }
    if (!write_entry(dict, next, data, length, error)) return FALSE;
    publish(dict, data, length);
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
    guint32 known = atomic_load_explicit(&dict->next, memory_order_acquire), has;
    const char *text = text_at(dict, id < known ? id : 0, &has);
    if (length != NULL) *length = has;
    return text;
}

guint32 dict_size(Dict *dict) { return dict->next - 1; }

DictUsage dict_usage(const Dict *dict) {
    const gboolean memory = dict_in_memory(dict);
    return (DictUsage){
        .entries = dict->next - 1,
        .most_entries = memory ? LIMIT_DICTIONARY_MEMORY_ENTRIES : LIMIT_DICTIONARY_ENTRIES,
        .bytes = atomic_load_explicit(&dict->text_bytes, memory_order_relaxed),
        .most_bytes = memory ? LIMIT_DICTIONARY_MEMORY_BYTES : LIMIT_DICTIONARY_BYTES,
    };
}

double dict_usage_full(const DictUsage *usage) {
    return MAX((double)usage->entries / usage->most_entries, (double)usage->bytes / (double)usage->most_bytes);
}

gboolean dict_in_memory(const Dict *dict) { return mapped_in_memory(dict->texts); }
