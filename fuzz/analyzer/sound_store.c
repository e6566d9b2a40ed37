#include "fuzz/analyzer/sound_store.h"

#include "analyzer/archive/retention/expire.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/clock.h"
#include "tests/model/records_random.h"
#include "tests/query/fixture.h"

/* A trace that is removed for its age: what notes, counts and the books by process then say is stored, too. */
static void remove_one(Fixture *fixture) {
    static const SpanRow old = {0xa, 1, 0, "old", "Client/10.0.0.1/7", -G_GINT64_CONSTANT(7200000000), 5, NULL, 0};
    const ExpireOptions options = {
        .ages = {.traces_ns = 3600 * NS_PER_SEC}, .now_ns = SAMPLE_BASE_NS, .max_records = 1000};
    g_autoptr(GError) error = NULL;
    ExpireResult removed;
    fixture_store(fixture, &old, 1);
    archive_expire(fixture->archive, &options, &removed, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(removed.traces, ==, 1);
}

/* A span that comes after its trace was stored, and waits. */
static void add_late(Fixture *fixture) {
    g_autoptr(GError) error = NULL;
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    SpanRow row = sample_rows[0];
    row.span = 0xabcdef;
    row_to_batch(&row, batch);
    packer_begin_batch(fixture->packer, batch);
    packer_span(fixture->packer, batch, 0, bytes);
    archive_writer_add(fixture->writer, row.trace, bytes->data, bytes->len, &error);
    g_assert_no_error(error);
    archive_writer_commit(fixture->writer, FALSE, &error);
    g_assert_no_error(error);
}

static void fill(Fixture *fixture) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    g_autoptr(SparkRecords) records = records_random(rand, 3, 2);
    SparkPut put;
    fixture_init(fixture);
    fixture_store(fixture, sample_rows, sample_count);
    remove_one(fixture);
    add_late(fixture);
    archive_spark_put(fixture->archive, records, SAMPLE_BASE_NS / NS_PER_MS, &put, &error);
    g_assert_no_error(error);
}

static void copy_family(Store *from, Store *to, StoreFamily family) {
    g_autoptr(GError) error = NULL;
    g_autoptr(StoreIter) iter = store_iter_new(from, family);
    g_autoptr(StoreBatch) batch = store_batch_new(to);
    for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter))
        store_batch_put(batch, family, store_iter_key(iter), store_iter_value(iter));
    store_write(to, batch, FALSE, &error);
    g_assert_no_error(error);
}

Store *sound_store_copy(void) {
    static Fixture fixture;
    if (fixture.archive == NULL) fill(&fixture);
    g_autoptr(GError) error = NULL;
    const StoreOptions options = {.merge = archive_merge};
    Store *store = store_open_memory(&options, &error);
    g_assert_no_error(error);
    for (guint family = 0; family < FAMILY_COUNT; family++) copy_family(fixture.store, store, (StoreFamily)family);
    return store;
}
