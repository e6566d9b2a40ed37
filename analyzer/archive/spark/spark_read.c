/* Reading records of Spark: by owner, in the order of their keys. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/spark/spark_code.h"
#include "common/base/error.h"

static gboolean begins_with(Bytes key, const SparkKey *prefix) {
    return key.size_bytes >= prefix->size_bytes && memcmp(key.data, prefix->bytes, prefix->size_bytes) == 0;
}

gboolean archive_spark_owners(Archive *archive, OwnerKind kind, SparkRecords *texts, SparkOwnerVisitor visitor,
                              GError **error) {
    g_autoptr(StoreIter) iter = store_iter_new(archive->store, FAMILY_SPARK);
    SparkKey prefix = spark_owner_key(kind, 0);
    prefix.size_bytes = 2;
    gboolean more = store_iter_seek(iter, spark_key_bytes(&prefix));
    for (; more && begins_with(store_iter_key(iter), &prefix); more = store_iter_next(iter)) {
        SparkOwner owner;
        if (!spark_owner_decode(store_iter_value(iter), texts, &owner))
            return fail(error, PLUMB_ERROR_CORRUPT, "the store's entry of an application or host is malformed");
        if (!visitor.visit(visitor.arg, &owner)) return TRUE;
    }
    return iter_finished(iter, error);
}

static gboolean add_to_totals(void *arg, const SparkOwner *owner) {
    SparkTotals *totals = arg;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) totals->records[kind] += owner->records[kind];
    return TRUE;
}

static gboolean add_app(void *arg, const SparkOwner *owner) {
    ((SparkTotals *)arg)->apps++;
    return add_to_totals(arg, owner);
}

static gboolean add_host(void *arg, const SparkOwner *owner) {
    ((SparkTotals *)arg)->hosts++;
    return add_to_totals(arg, owner);
}

gboolean archive_spark_totals(Archive *archive, SparkTotals *totals, GError **error) {
    g_autoptr(SparkRecords) texts = spark_records_new();
    SparkTotals sum = {.apps = 0};
    if (!archive_spark_owners(archive, OWNER_APP, texts, (SparkOwnerVisitor){add_app, &sum}, error)) return FALSE;
    if (!archive_spark_owners(archive, OWNER_HOST, texts, (SparkOwnerVisitor){add_host, &sum}, error)) return FALSE;
    *totals = sum;
    return TRUE;
}

/* Where the selected records begin, as far as keys can tell. */
static SparkKey select_prefix(const SparkSelect *select) {
    SparkKey key = spark_prefix(select->kind, spark_hash_text(select->owner));
    const gboolean staged =
        select->kind == SPARK_STAGE || select->kind == SPARK_TASK || select->kind == SPARK_OPERATION;
    if (staged && select->stage >= 0) {
        spark_key_u32(&key, select->stage);
        if (select->attempt >= 0) {
            spark_key_u32(&key, select->attempt);
            if (select->kind != SPARK_STAGE && select->task >= 0) spark_key_u64(&key, select->task);
        }
    } else if ((select->kind == SPARK_SPLIT || select->kind == SPARK_LINK) && select->task >= 0) {
        spark_key_u64(&key, select->task);
    }
    return key;
}

/* Samples and marks end at a time; the other kinds where the prefix ends. */
static gboolean selected(const SparkSelect *select, const void *record) {
    if (!spark_kind_timed(select->kind) || select->until_ns == 0) return TRUE;
    const gint64 time_ns =
        select->kind == SPARK_SAMPLE ? ((const HostSample *)record)->time_ns : ((const HostMark *)record)->begin_ns;
    return time_ns < select->until_ns;
}

gboolean archive_spark_visit(Archive *archive, const SparkSelect *select, SparkRecords *texts, SparkVisitor visitor,
                             GError **error) {
    const SparkForm *form = spark_form(select->kind);
    const SparkKey prefix = select_prefix(select);
    SparkKey from = prefix;
    if (spark_kind_timed(select->kind) && select->since_ns > 0) spark_key_u64(&from, select->since_ns);
    const char *owner = spark_text_shared(texts, select->owner, strlen(select->owner));
    g_autofree void *record = g_malloc(form->size_bytes);
    g_autoptr(StoreIter) iter = store_iter_new(archive->store, FAMILY_SPARK);
    gboolean more = store_iter_seek(iter, spark_key_bytes(&from));
    for (; more && begins_with(store_iter_key(iter), &prefix); more = store_iter_next(iter)) {
        if (spark_records_bytes(texts) == 0) owner = spark_text_shared(texts, select->owner, strlen(select->owner));
        if (!spark_decode(form, store_iter_value(iter), owner, texts, record))
            return fail(error, PLUMB_ERROR_CORRUPT, "a stored %s record of %s is malformed; `plumb verify` counts them",
                        spark_kind_name(select->kind), select->owner);
        if (!selected(select, record) || !visitor.visit(visitor.arg, record)) return TRUE;
    }
    return iter_finished(iter, error);
}

typedef struct Loading {
    GArray *array;
    gsize n; /* fields of a record lie in memory as they are: no deep copy */
} Loading;

static gboolean load_record(void *arg, const void *record) {
    g_array_append_vals(((Loading *)arg)->array, record, 1);
    return TRUE;
}

gboolean archive_spark_load(Archive *archive, const SparkSelect *select, SparkRecords *into, GError **error) {
    Loading loading = {.array = into->of[select->kind]};
    return archive_spark_visit(archive, select, into, (SparkVisitor){load_record, &loading}, error);
}

typedef struct Named {
    guint64 hash;
    const char *name;
} Named;

static gboolean find_name(Archive *archive, guint64 hash, SparkRecords *into, const char **name, GError **error) {
    const SparkKey key = spark_owner_key(OWNER_APP, hash);
    g_autoptr(GBytes) value = NULL;
    SparkOwner owner;
    if (!store_get(archive->store, FAMILY_SPARK, spark_key_bytes(&key), &value, error)) return FALSE;
    if (value == NULL || !spark_owner_decode(bytes_view(value), into, &owner))
        return fail(error, PLUMB_ERROR_CORRUPT, "the store has a link of an application that it does not have");
    *name = owner.name;
    return TRUE;
}

gboolean archive_spark_links_of(Archive *archive, guint64 trace, SparkRecords *into, GError **error) {
    const SparkKey prefix = spark_trace_prefix(trace);
    Named last = {0, NULL};
    g_autoptr(StoreIter) iter = store_iter_new(archive->store, FAMILY_SPARK);
    gboolean more = store_iter_seek(iter, spark_key_bytes(&prefix));

    for (; more && begins_with(store_iter_key(iter), &prefix); more = store_iter_next(iter)) {
        const Bytes way = store_iter_key(iter);
        ByteReader r = byte_reader((const guint8 *)way.data + prefix.size_bytes, way.size_bytes - prefix.size_bytes);
        const guint64 hash = read_u64be(&r);
        SparkKey key = spark_prefix(SPARK_LINK, hash);
        spark_key_u64(&key, (gint64)read_u64be(&r));
        spark_key_u64(&key, (gint64)read_u64be(&r));
        if (r.failed) return fail(error, PLUMB_ERROR_CORRUPT, "a key of links by trace is malformed");

        if ((last.name == NULL || last.hash != hash) && !find_name(archive, hash, into, &last.name, error))
            return FALSE;
        last.hash = hash;

        g_autoptr(GBytes) value = NULL;
        if (!store_get(archive->store, FAMILY_SPARK, spark_key_bytes(&key), &value, error)) return FALSE;

        SparkLink link;
        if (value == NULL || !spark_decode(spark_form(SPARK_LINK), bytes_view(value), last.name, into, &link))
            return fail(error, PLUMB_ERROR_CORRUPT, "a link of %s is missing or malformed", last.name);
        g_array_append_val(into->of[SPARK_LINK], link);
    }
    return iter_finished(iter, error);
}
