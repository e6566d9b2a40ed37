#include "analyzer/archive/tables/patterns.h"

#include <pthread.h>
#include <string.h>

#include "analyzer/archive/tables/layout.h"
#include "analyzer/archive/tables/mixed.h"
#include "common/base/error.h"

typedef struct Numbered {
    PatternId id;
    guint32 number;
} Numbered;

/* How often a shape without a number was met lately. Those that fall together take each other's place away: what comes
 * more often than all others of its place stays. */
#define SIGHTINGS     8192u
#define SIGHTINGS_LOG 30u /* at most 2^30 of them are asked for */
typedef struct Sighting {
    guint64 id; /* its beginning */
    guint32 count;
} Sighting;

struct PatternTable {
    Store *store;
    pthread_rwlock_t lock; /* of all that follows */
    GHashTable *numbers;   /* Numbered -> itself */
    GHashTable *shapes;    /* number -> Pattern that somebody has asked for: never leaves */
    GPtrArray *fresh;      /* Pattern of stored + 1, stored + 2, ... */
    guint32 count;
    guint32 stored;
    guint64 nodes; /* of all that have a number */
    guint32 nodes_step;
    Sighting *sightings; /* SIGHTINGS */
};

/* An id is the start of a SHA-256: any 4 bytes of it are a hash. */
static guint numbered_hash(gconstpointer key) {
    guint hash;
    memcpy(&hash, ((const Numbered *)key)->id.bytes, sizeof hash);
    return hash;
}

static gboolean numbered_equal(gconstpointer a, gconstpointer b) {
    return memcmp(((const Numbered *)a)->id.bytes, ((const Numbered *)b)->id.bytes, sizeof(PatternId)) == 0;
}

static void numbers_add(PatternTable *table, PatternId id, guint32 number) {
    Numbered *entry = g_new(Numbered, 1);
    *entry = (Numbered){id, number};
    g_hash_table_add(table->numbers, entry);
}

static gboolean table_load(PatternTable *table, GError **error) {
    g_autoptr(StoreIter) iter = store_iter_new(table->store, FAMILY_PATTERN);
    for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter)) {
        LayoutKey expected = pattern_key(table->count + 1);
        Bytes key = store_iter_key(iter);
        if (key.size_bytes > 0 && ((const guint8 *)key.data)[0] >= MIXED_NUMBER >> 24) break;
        if (key.size_bytes != expected.size_bytes || memcmp(key.data, expected.bytes, key.size_bytes) != 0)
            return fail(error, PLUMB_ERROR_CORRUPT, "the store lacks pattern %u, but has later ones", table->count + 1);
        g_autoptr(Pattern) pattern = pattern_decode(store_iter_value(iter), error);
        if (pattern == NULL) {
            g_prefix_error(error, "pattern %u: ", table->count + 1);
            return FALSE;
        }
        table->count++;
        table->nodes += pattern->n_nodes;
        numbers_add(table, pattern->id, table->count);
    }
    table->stored = table->count;
    return store_iter_error(iter, error);
}

PatternTable *pattern_table_open(Store *store, guint32 nodes_step, GError **error) {
    g_autoptr(PatternTable) table = g_new0(PatternTable, 1);
    table->store = store;
    pthread_rwlock_init(&table->lock, NULL);
    table->numbers = g_hash_table_new_full(numbered_hash, numbered_equal, g_free, NULL);
    table->shapes = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)pattern_unref);
    table->fresh = g_ptr_array_new_with_free_func((GDestroyNotify)pattern_unref);
    table->nodes_step = nodes_step != 0 ? nodes_step : PATTERN_NODES;
    table->sightings = g_new0(Sighting, SIGHTINGS);
    return table_load(table, error) ? g_steal_pointer(&table) : NULL;
}

void pattern_table_free(PatternTable *table) {
    if (table == NULL) return;
    g_clear_pointer(&table->numbers, g_hash_table_unref);
    g_clear_pointer(&table->shapes, g_hash_table_unref);
    g_clear_pointer(&table->fresh, g_ptr_array_unref);
    g_free(table->sightings);
    pthread_rwlock_destroy(&table->lock);
    g_free(table);
}

static guint32 number_locked(PatternTable *table, PatternId id) {
    Numbered wanted = {id, 0};
    const Numbered *entry = g_hash_table_lookup(table->numbers, &wanted);
    return entry == NULL ? 0 : entry->number;
}

guint32 pattern_table_find(PatternTable *table, PatternId id) {
    pthread_rwlock_rdlock(&table->lock);
    guint32 number = number_locked(table, id);
    pthread_rwlock_unlock(&table->lock);
    return number;
}

/* Counts that it was met; was it often enough? */
static gboolean admit(PatternTable *table, const Pattern *pattern) {
    guint64 steps = (table->nodes + pattern->n_nodes) / table->nodes_step, id;
    guint32 needed = 1u << MIN(steps, SIGHTINGS_LOG), at;
    if (needed == 1) return TRUE;
    memcpy(&id, pattern->id.bytes, sizeof id);
    memcpy(&at, pattern->id.bytes + sizeof id, sizeof at);
    Sighting *seen = &table->sightings[at % SIGHTINGS];
    if (seen->id == id)
        seen->count++;
    else if (seen->count <= 1)
        *seen = (Sighting){id, 1};
    else
        seen->count--;
    return seen->id == id && seen->count >= needed;
}

guint32 pattern_table_number(PatternTable *table, const Pattern *pattern) {
    guint32 number = pattern_table_find(table, pattern->id);
    if (number != 0) return number;
    pthread_rwlock_wrlock(&table->lock);
    number = number_locked(table, pattern->id);
    if (number == 0 && admit(table, pattern)) {
        number = ++table->count;
        table->nodes += pattern->n_nodes;
        numbers_add(table, pattern->id, number);
        g_ptr_array_add(table->fresh, pattern_ref(pattern));
    }
    pthread_rwlock_unlock(&table->lock);
    return number;
}

guint32 pattern_table_count(PatternTable *table) {
    pthread_rwlock_rdlock(&table->lock);
    guint32 count = table->count;
    pthread_rwlock_unlock(&table->lock);
    return count;
}

/* A new reference from the store. */
static Pattern *shape_read(PatternTable *table, guint32 number) {
    LayoutKey key = pattern_key(number);
    g_autoptr(GBytes) value = NULL;
    if (!store_get(table->store, FAMILY_PATTERN, key_bytes(&key), &value, NULL) || value == NULL) return NULL;
    Bytes stored = {.data = NULL};
    stored.data = g_bytes_get_data(value, &stored.size_bytes);
    return pattern_decode(stored, NULL);
}

/* Under the write lock: once per pattern, so a read of the store meanwhile does no harm. */
static Pattern *shape_make(PatternTable *table, guint32 number) {
    if (number == 0 || number > table->count) return NULL;
    if (number <= table->stored) return shape_read(table, number);
    return pattern_ref(g_ptr_array_index(table->fresh, number - table->stored - 1));
}

const Pattern *pattern_table_get(PatternTable *table, guint32 number) {
    pthread_rwlock_rdlock(&table->lock);
    Pattern *shape = g_hash_table_lookup(table->shapes, GUINT_TO_POINTER(number));
    pthread_rwlock_unlock(&table->lock);
    if (shape != NULL) return shape;

    pthread_rwlock_wrlock(&table->lock);
    shape = g_hash_table_lookup(table->shapes, GUINT_TO_POINTER(number)); /* another thread may have been faster */
    if (shape == NULL) {
        shape = shape_make(table, number);
        if (shape != NULL) g_hash_table_insert(table->shapes, GUINT_TO_POINTER(number), shape);
    }
    pthread_rwlock_unlock(&table->lock);
    return shape;
}

void pattern_table_put(PatternTable *table, guint32 upto, StoreBatch *batch) {
    g_autoptr(GByteArray) value = g_byte_array_new();
    pthread_rwlock_rdlock(&table->lock);
    for (guint32 number = table->stored + 1; number <= upto; number++) {
        g_byte_array_set_size(value, 0);
        pattern_encode(g_ptr_array_index(table->fresh, number - table->stored - 1), value);
        LayoutKey key = pattern_key(number);
        store_batch_put(batch, FAMILY_PATTERN, key_bytes(&key), (Bytes){value->data, value->len});
    }
    pthread_rwlock_unlock(&table->lock);
}

void pattern_table_stored(PatternTable *table, guint32 upto) {
    pthread_rwlock_wrlock(&table->lock);
    if (upto > table->stored) {
        g_ptr_array_remove_range(table->fresh, 0, upto - table->stored);
        table->stored = upto;
    }
    pthread_rwlock_unlock(&table->lock);
}
