/* Records of Spark as they come over the wire (a byte for the protocol, then arguments of submitRecords) are stored,
 * and all questions about them asked: whatever numbers, times and texts they have, there is an answer or an error. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/verify/verify.h"
#include "common/base/clock.h"
#include "common/wire/message.h"
#include "fuzz/target.h"
#include "tests/query/fixture.h"

#define NOW_NS (SAMPLE_BASE_NS + 3600 * NS_PER_SEC)

static void ask(Archive *archive, const char *question, const char *app) {
    g_autoptr(QueryParams) params = query_params_new();
    g_autoptr(GError) error = NULL;
    if (app != NULL) query_params_add(params, "app", app);
    json_auto_t *answer = query_run(archive, question, params, NOW_NS, &error);
    g_assert_true((answer == NULL) == (error != NULL));
}

static void ask_all(Archive *archive, const SparkRecords *records) {
    static const char *const of_one[] = {"stages",     "jobs",       "executors", "tasks",
                                         "stragglers", "operations", "why",       "advise"};
    enum { MOST_APPS = 3 };
    ask(archive, "apps", NULL);
    ask(archive, "hosts", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(of_one); i++) {
        ask(archive, of_one[i], "latest");
        for (guint a = 0; a < MIN(records->of[SPARK_APP]->len, MOST_APPS); a++)
            ask(archive, of_one[i], spark_app(records, a)->app);
        for (guint t = 0; t < MIN(records->of[SPARK_TASK]->len, MOST_APPS); t++)
            ask(archive, of_one[i], spark_task(records, t)->app);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const WireHeader header = {.call = CALL_SUBMIT_RECORDS,
                               .protocol = data[0] & 1 ? PROTOCOL_COMPACT : PROTOCOL_BINARY,
                               .body = {data + 1, size - 1}};
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autoptr(GError) error = NULL;
    WireVersions versions;
    guint32 refused;
    if (!wire_records_decode(&header, records, &versions, &refused, NULL)) return 0;

    g_auto(Fixture) fixture;
    SparkPut put;
    VerifyResult result = {.traces = 0};
    fixture_init(&fixture);
    archive_spark_put(fixture.archive, records, NOW_NS / NS_PER_MS, &put, &error);
    g_assert_no_error(error);
    ask_all(fixture.archive, records);
    archive_verify(fixture.archive, NULL, &result, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(result.differences, ==, 0);
    return 0;
}
