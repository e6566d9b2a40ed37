/* Writing records of Spark: merged with what is there, counted by owner. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/spark/spark_code.h"
#include "common/base/error.h"

typedef struct PutOwner {
    SparkOwner owner;
    SparkKey key;
    gboolean another; /* the hash is taken by another name */
    gboolean changed;
} PutOwner;

typedef struct Putter {
    Archive *archive;
    gint64 now_ms;
    SparkPut counts;
    SparkRecords *memory; /* of what is read back, and of names */
    StoreBatch *batch;
    GHashTable *written;             /* GBytes key -> GBytes value, of this call */
    GHashTable *owners[OWNER_KINDS]; /* name -> PutOwner */
    PutOwner *last[OWNER_KINDS];
    GByteArray *value;
} Putter;

static Bytes array_view(const GByteArray *array) { return (Bytes){array->data, array->len}; }

static PutOwner *owner_load(Putter *putter, OwnerKind kind, const char *name, GError **error) {
    g_autoptr(GBytes) stored = NULL;
    const SparkKey key = spark_owner_key(kind, spark_hash_text(name));
    if (!store_get(putter->archive->store, FAMILY_SPARK, spark_key_bytes(&key), &stored, error)) return NULL;
    g_autofree PutOwner *owner = g_new0(PutOwner, 1);
    if (stored != NULL && !spark_owner_decode(bytes_view(stored), putter->memory, &owner->owner)) {
        fail(error, PLUMB_ERROR_CORRUPT, "the store's entry of \"%s\" is malformed", name);
        return NULL;
    }
    owner->another = stored != NULL && strcmp(owner->owner.name, name) != 0;
    owner->key = key;
    owner->owner.name = spark_text_shared(putter->memory, name, strlen(name));
    return g_steal_pointer(&owner);
}

static PutOwner *owner_of(Putter *putter, OwnerKind kind, const char *name, GError **error) {
    PutOwner *last = putter->last[kind];
    if (last != NULL && strcmp(last->owner.name, name) == 0) return last;
    PutOwner *owner = g_hash_table_lookup(putter->owners[kind], name);
    if (owner == NULL) {
        owner = owner_load(putter, kind, name, error);
        if (owner == NULL) return NULL;
        g_hash_table_insert(putter->owners[kind], (gpointer)owner->owner.name, owner);
    }
    putter->last[kind] = owner;
    return owner;
}

/* What the key has now: of this call, or of the store. *value NULL: nothing. */
static gboolean present(Putter *putter, const SparkKey *key, GBytes **value, GError **error) {
    g_autoptr(GBytes) wanted = g_bytes_new_static(key->bytes, key->size_bytes);
    GBytes *written = g_hash_table_lookup(putter->written, wanted);
    if (written == NULL) return store_get(putter->archive->store, FAMILY_SPARK, spark_key_bytes(key), value, error);
    *value = g_bytes_ref(written);
    return TRUE;
}

/* putter->value becomes what is stored with the record put over it. */
static gboolean merge_value(Putter *putter, SparkKind kind, Bytes stored, const void *record, GError **error) {
    const SparkForm *form = spark_form(kind);
    g_autofree void *merged = g_malloc(form->size_bytes);
    if (!spark_decode(form, stored, *(const char *const *)record, putter->memory, merged))
        return fail(error, PLUMB_ERROR_CORRUPT, "a stored %s record is malformed", spark_kind_name(kind));
    spark_record_merge(kind, merged, record);
    g_byte_array_set_size(putter->value, 0);
    spark_encode(form, merged, TRUE, putter->value);
    return TRUE;
}

static gboolean same_bytes(Bytes a, Bytes b) {
    return a.size_bytes == b.size_bytes && (a.size_bytes == 0 || memcmp(a.data, b.data, a.size_bytes) == 0);
}

static void write_record(Putter *putter, SparkKind kind, const SparkKey *key, guint64 owner, const void *record) {
    const Bytes value = array_view(putter->value);
    store_batch_put(putter->batch, FAMILY_SPARK, spark_key_bytes(key), value);
    g_hash_table_insert(putter->written, g_bytes_new(key->bytes, key->size_bytes),
                        g_bytes_new(value.data, value.size_bytes));
    if (kind != SPARK_LINK) return;
    const SparkKey way = spark_trace_key(owner, record);
    store_batch_put(putter->batch, FAMILY_SPARK, spark_key_bytes(&way), (Bytes){"", 0});
}

static gboolean put_record(Putter *putter, SparkKind kind, const void *record, GError **error) {
    const char *name = *(const char *const *)record; /* the first field of all */
    if (spark_record_fault(kind, record) != NULL) {
        putter->counts.refused++;
        return TRUE;
    }

    PutOwner *owner = owner_of(putter, spark_owner_kind(kind), name, error);
    if (owner == NULL) return FALSE;
    if (owner->another) {
        putter->counts.refused++;
        return TRUE;
    }

    const guint64 hash = spark_hash_text(name);
    const SparkKey key = spark_record_key(kind, hash, record);
    g_autoptr(GBytes) stored = NULL;
    if (!present(putter, &key, &stored, error)) return FALSE;

    g_byte_array_set_size(putter->value, 0);
    spark_encode(spark_form(kind), record, TRUE, putter->value);
    if (stored != NULL && !same_bytes(bytes_view(stored), array_view(putter->value)) &&
        !merge_value(putter, kind, bytes_view(stored), record, error))
        return FALSE;
    if (stored != NULL && same_bytes(bytes_view(stored), array_view(putter->value))) {
        putter->counts.unchanged++;
        return TRUE;
    }

    if (stored == NULL) {
        putter->counts.added++;
        owner->owner.records[kind]++;
    } else {
        putter->counts.changed++;
    }
    owner->changed = TRUE;
    write_record(putter, kind, &key, hash, record);
    return TRUE;
}

static void write_owners(Putter *putter) {
    for (guint kind = 0; kind < OWNER_KINDS; kind++) {
        GHashTableIter iter;
        gpointer value;
        g_hash_table_iter_init(&iter, putter->owners[kind]);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
            PutOwner *owner = value;
            if (!owner->changed) continue;
            owner->owner.written_ms = putter->now_ms;
            g_byte_array_set_size(putter->value, 0);
            spark_owner_encode(&owner->owner, putter->value);
            store_batch_put(putter->batch, FAMILY_SPARK, spark_key_bytes(&owner->key), array_view(putter->value));
        }
    }
}

static void putter_init(Putter *putter, Archive *archive, gint64 now_ms) {
    *putter = (Putter){.archive = archive, .now_ms = now_ms};
    putter->memory = spark_records_new();
    putter->batch = store_batch_new(archive->store);
    putter->written = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref,
                                            (GDestroyNotify)g_bytes_unref);
    for (guint kind = 0; kind < OWNER_KINDS; kind++)
        putter->owners[kind] = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    putter->value = g_byte_array_new();
}

static void putter_clear(Putter *putter) {
    for (guint kind = 0; kind < OWNER_KINDS; kind++) g_hash_table_unref(putter->owners[kind]);
    g_hash_table_unref(putter->written);
    g_byte_array_unref(putter->value);
    store_batch_free(putter->batch);
    spark_records_free(putter->memory);
}

static gboolean put_all(Putter *putter, const SparkRecords *records, GError **error) {
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        const GArray *array = records->of[kind];
        const gsize bytes = spark_kind_size((SparkKind)kind);
        for (guint i = 0; i < array->len; i++)
            if (!put_record(putter, (SparkKind)kind, array->data + i * bytes, error)) return FALSE;
    }
    if (putter->counts.added + putter->counts.changed == 0) return TRUE;
    write_owners(putter);
    return store_write(putter->archive->store, putter->batch, FALSE, error);
}

gboolean archive_spark_put(Archive *archive, const SparkRecords *records, gint64 now_ms, SparkPut *put,
                           GError **error) {
    Putter putter;
    putter_init(&putter, archive, now_ms);
    pthread_mutex_lock(&archive->spark_lock);
    const gboolean ok = put_all(&putter, records, error);
    pthread_mutex_unlock(&archive->spark_lock);
    if (ok) *put = putter.counts;
    putter_clear(&putter);
    return ok;
}
