/* A damaged store: entries of a sound one that are cut, changed, gone or new, in any family. The input is a list of
 * entries, each a family, the key's length, two bytes of the value's length, key and value; a value of no length
 * removes the key. The store opens or says why not, verify tells, every question has an answer or an error, and late
 * spans, rollups and the removal of old traces go on or fail with a message. */
#include <string.h>

#include "analyzer/archive/consolidation/join.h"
#include "analyzer/archive/consolidation/rollup.h"
#include "analyzer/archive/retention/expire.h"
#include "analyzer/archive/retention/thin.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/verify/verify.h"
#include "fuzz/analyzer/sound_store.h"
#include "fuzz/target.h"
#include "tests/query/fixture.h"

#define HEAD_BYTES 4u

static void damage(Store *store, const uint8_t *data, size_t size) {
    g_autoptr(GError) error = NULL;
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    while (size >= HEAD_BYTES) {
        const StoreFamily family = (StoreFamily)(data[0] % FAMILY_COUNT);
        const gsize key_bytes = MIN(data[1], size - HEAD_BYTES);
        const gsize value_bytes = MIN((gsize)(data[2] << 8 | data[3]), size - HEAD_BYTES - key_bytes);
        const Bytes key = {data + HEAD_BYTES, key_bytes}, value = {data + HEAD_BYTES + key_bytes, value_bytes};
        if (value_bytes > 0)
            store_batch_put(batch, family, key, value);
        else
            store_batch_delete(batch, family, key);
        data += HEAD_BYTES + key_bytes + value_bytes;
        size -= HEAD_BYTES + key_bytes + value_bytes;
    }
    store_write(store, batch, FALSE, &error);
    g_assert_no_error(error);
}

static void check_error(gboolean done, const GError *error) {
    g_assert_true(done == (error == NULL));
    if (error != NULL) g_assert_cmpuint(strlen(error->message), >, 0);
}

static void verify(Archive *archive) {
    g_autoptr(GError) error = NULL;
    VerifyResult result = {.traces = 0};
    const gboolean done = archive_verify(archive, NULL, &result, &error);
    check_error(done, error);
}

static void ask_all(Archive *archive) {
    static const char *const questions[] = {
        "status",
        "functions?by=host",
        "series?by=host",
        "series/columns?by=host",
        "distribution",
        "forest",
        "forest?level=tree",
        "traces",
        "traces?path=/a",
        "traces?summary=true",
        "traces?limit=1&after=b.2000000000000000000.2000000000000000000.0000000000000001",
        "names?kind=host",
        "names?kind=annotation",
        "contrast?a_min_duration=1ms",
        "verify",
        "trace?id=%1",
        "trace/columns?id=%1",
        "trace/columns?id=%1&columns=self,critical",
        "trace/find?id=%1&text=op",
        "trace/notes?id=%1",
        "diff?a=..2h&b=2h..",
        "apps",
        "advise?app=app-0&all=true",
        "advise?app=app-0&simulate=true",
        "advise?since=0",
        "apps?advice=true",
        "stages?app=app-0",
        "jobs?app=app-0",
        "executors?app=app-0",
        "tasks?app=app-0",
        "tasks/columns?app=app-0&stage=0&causes=true",
        "skew",
        "stragglers?app=app-0",
        "why?app=app-0",
        "why?app=app-0&method=ledger",
        "hosts",
        "bottleneck?root=*",
        "nodes",
        "nodes?method=paper",
        "slow",
        "operations?app=app-0",
        "pipelines?app=app-0&stage=0",
        "samples?host=a",
        "marks"};

    for (guint i = 0; i < G_N_ELEMENTS(questions); i++) {
        g_auto(GStrv) parts = g_strsplit(questions[i], "?", 2);
        g_autoptr(QueryParams) params = params_from_text(parts[1]);
        g_autoptr(GError) error = NULL;
        json_auto_t *answer = query_run(archive, parts[0], params, SAMPLE_BASE_NS + 3600 * NS_PER_SEC, &error);
        check_error(answer != NULL, error);
    }
}

static gboolean take_piece(void *arg, Bytes piece) {
    *(gsize *)arg += piece.size_bytes;
    return TRUE;
}

static void export_all(Archive *archive) {
    g_autoptr(QueryParams) params = query_params_new();
    g_autoptr(GError) error = NULL;
    gsize bytes = 0;
    const QuerySink sink = {take_piece, &bytes};
    const gboolean done = query_export(archive, params, SAMPLE_BASE_NS, &sink, &error);
    check_error(done, error);
}

/* As the threads of plumbd that change what is stored: joins, rolls up, thins out, removes. */
static void change_all(Archive *archive) {
    const gint64 later_ns = SAMPLE_BASE_NS + G_GINT64_CONSTANT(400) * 86400 * NS_PER_SEC;
    const ExpireOptions expire = {.ages = {.traces_ns = NS_PER_SEC}, .now_ns = later_ns, .max_records = 10};
    const ThinOptions thin = {.keep = 1, .until_ns = later_ns};
    const SparkRemoval of_spark = {.before_ms = later_ns / NS_PER_MS};
    ExpireResult removed = {.more = FALSE};
    ThinResult thinned = {.more = FALSE};
    SparkRemoved spark_removed;
    GError *error = NULL;
    gboolean done;

    done = archive_join(archive, &error);
    check_error(done, error);
    g_clear_error(&error);
    done = archive_roll_up(archive, later_ns, &error);
    check_error(done, error);
    g_clear_error(&error);

    g_autoptr(Thinner) thinner = thinner_new(archive, &thin);
    done = thinner_step(thinner, 10, &thinned, &error);
    check_error(done, error);
    g_clear_error(&error);
    done = archive_expire(archive, &expire, &removed, &error);
    check_error(done, error);
    g_clear_error(&error);
    done = archive_spark_remove(archive, &of_spark, &spark_removed, &error);
    check_error(done, error);
    g_clear_error(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Store) store = sound_store_copy();
    damage(store, data, size);
    const ArchiveOptions options = {.clock_tolerance_ns = 10 * NS_PER_MS};
    g_autoptr(Archive) archive = archive_open(store, &options, &error);
    check_error(archive != NULL, error);
    if (archive == NULL) return 0;
    verify(archive);
    ask_all(archive);
    export_all(archive);
    change_all(archive);
    return 0;
}
