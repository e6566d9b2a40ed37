/* Is every record of Spark in its place, whole and counted? */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/spark/spark_code.h"
#include "analyzer/archive/verify/verify.h"

typedef struct Check {
    const VerifyHooks *hooks;
    guint64 differences, records;
    SparkRecords *memory;
    GHashTable *owners[OWNER_KINDS]; /* guint64 hash -> Counted */
    guint64 links, ways;
} Check;

typedef struct Counted {
    guint64 hash; /* first: the table's key */
    SparkOwner owner;
    guint64 found[SPARK_KIND_COUNT];
} Counted;

/* Texts of records that were looked at are forgotten beyond this. */
#define MEMORY_BYTES (16u << 20)

static void difference(Check *check, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void difference(Check *check, const char *format, ...) {
    check->differences++;
    if (check->hooks == NULL || check->hooks->report == NULL) return;
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    check->hooks->report(check->hooks->arg, text);
}

static void take_owner(Check *check, Bytes key, Bytes value, SparkRecords *names) {
    g_autofree Counted *counted = g_new0(Counted, 1);
    ByteReader r = byte_reader((const guint8 *)key.data + 1, key.size_bytes - 1);
    const guint8 kind = read_u8(&r);
    counted->hash = read_u64be(&r);
    if (r.failed || reader_left(&r) != 0 || kind >= OWNER_KINDS || !spark_owner_decode(value, names, &counted->owner)) {
        difference(check, "an entry of an application or host is malformed");
        return;
    }
    if (spark_hash_text(counted->owner.name) != counted->hash)
        difference(check, "the entry of %s is not in its place", counted->owner.name);
    Counted *kept = g_steal_pointer(&counted);
    g_hash_table_insert(check->owners[kind], &kept->hash, kept);
}

static void take_record(Check *check, SparkKind kind, Bytes key, Bytes value) {
    g_autofree void *record = g_malloc(spark_kind_size(kind));
    ByteReader r = byte_reader((const guint8 *)key.data + 1, key.size_bytes - 1);
    const guint64 hash = read_u64be(&r);
    Counted *owner = g_hash_table_lookup(check->owners[spark_owner_kind(kind)], &hash);
    check->records++;
    check->links += kind == SPARK_LINK;

    if (r.failed || owner == NULL) {
        difference(check, "a %s record belongs to nothing that is known", spark_kind_name(kind));
        return;
    }

    owner->found[kind]++;
    if (!spark_decode(spark_form(kind), value, owner->owner.name, check->memory, record) ||
        spark_record_fault(kind, record) != NULL) {
        difference(check, "a %s record of %s is malformed", spark_kind_name(kind), owner->owner.name);
        return;
    }

    const SparkKey wanted = spark_record_key(kind, hash, record);
    if (wanted.size_bytes != key.size_bytes || memcmp(wanted.bytes, key.data, key.size_bytes) != 0)
        difference(check, "a %s record of %s is not in its place", spark_kind_name(kind), owner->owner.name);
}

static void compare_counts(Check *check) {
    for (guint what = 0; what < OWNER_KINDS; what++) {
        GHashTableIter iter;
        gpointer value;
        g_hash_table_iter_init(&iter, check->owners[what]);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
            const Counted *counted = value;
            for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
                if (counted->found[kind] == counted->owner.records[kind]) continue;
                difference(check, "%s has %" G_GUINT64_FORMAT " %s records, and counts %" G_GUINT64_FORMAT,
                           counted->owner.name, counted->found[kind], spark_kind_name((SparkKind)kind),
                           counted->owner.records[kind]);
            }
        }
    }
    if (check->links != check->ways)
        difference(check, "there are %" G_GUINT64_FORMAT " links, and %" G_GUINT64_FORMAT " ways to them", check->links,
                   check->ways);
}

gboolean archive_spark_verify(Archive *archive, const VerifyHooks *hooks, guint64 *checked, guint64 *differences,
                              GError **error) {
    g_autoptr(SparkRecords) names = spark_records_new(), memory = spark_records_new();
    Check check = {.hooks = hooks, .memory = memory};
    for (guint i = 0; i < OWNER_KINDS; i++)
        check.owners[i] = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);

    g_autoptr(StoreIter) iter = store_iter_new(archive->store, FAMILY_SPARK);
    gboolean more = store_iter_seek(iter, (Bytes){"", 0});

    for (; more; more = store_iter_next(iter)) {
        const Bytes key = store_iter_key(iter);
        const guint8 mark = key.size_bytes > 0 ? *(const guint8 *)key.data : 255;
        if (mark == SPARK_OWNER_MARK)
            take_owner(&check, key, store_iter_value(iter), names);
        else if (mark < SPARK_KIND_MARK + SPARK_KIND_COUNT)
            take_record(&check, (SparkKind)(mark - SPARK_KIND_MARK), key, store_iter_value(iter));
        else if (mark == SPARK_TRACE_MARK)
            check.ways++;
        else
            difference(&check, "a record of Spark has a malformed key");
        if (spark_records_bytes(memory) > MEMORY_BYTES) spark_records_clear(memory);
    }

    compare_counts(&check);
    for (guint i = 0; i < OWNER_KINDS; i++) g_hash_table_unref(check.owners[i]);
    *checked = check.records;
    *differences = check.differences;
    return iter_finished(iter, error);
}
