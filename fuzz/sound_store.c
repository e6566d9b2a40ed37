#include "fuzz/sound_store.h"

#include "analyzer/archive/spark/spark.h"
#include "common/base/clock.h"
#include "tests/model/records_random.h"
#include "tests/query/fixture.h"

static void fill(Fixture *fixture) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    g_autoptr(SparkRecords) records = records_random(rand, 3, 2);
    SparkPut put;
    fixture_init(fixture);
    fixture_store(fixture, sample_rows, sample_count);
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
