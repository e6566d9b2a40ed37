/* Calls that fail: they are left out of the times by which a host is judged, and a host of which far more fail than of
 * its peers is named. */
#include <string.h>

#include "analyzer/archive/tables/layout.h"
#include "common/base/clock.h"
#include "tests/query/fixture.h"

#define NODES      4u
#define READS      30u /* of each node in a minute */
#define MINUTES    30u
#define ILL_NODE   2u
#define ILL_MINUTE 20u
#define FAILURE    "org.apache.hadoop.util.DiskChecker$DiskErrorException"
#define READ       "BlockSender#readChecksum"
#define USUAL_US   2000
#define FAILURE_US 40 /* quick: the disk does not answer */
#define TIMEOUT_US 30000

typedef struct Reads {
    guint failing;      /* of READS so many fail on the ill node from ILL_MINUTE on */
    gint64 failure_us;  /* after so long */
    guint times;        /* the others take so many times as long there */
    const char *values; /* of a call that failed */
} Reads;

static SpanRow read_row(const Reads *reads, guint minute, guint node, guint i) {
    const gboolean ill = node == ILL_NODE && minute >= ILL_MINUTE, failed = ill && i < reads->failing;
    const gint64 varied_us = USUAL_US + (gint64)((i * 7 + minute * 13 + node * 5) % 11) * 40;
    return (SpanRow){.trace = ((guint64)minute * NODES + node) * READS + i + 1,
                     .span = 2,
                     .parent = 1,
                     .name = READ,
                     .begin_us = (gint64)minute * 60000000 + i * 1000000 + node * 100,
                     .duration_us = failed ? reads->failure_us : varied_us * (ill ? reads->times : 1),
                     .annotations = failed ? reads->values : NULL};
}

static void store_minute(Fixture *fixture, const Reads *reads, guint minute) {
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint node = 1; node <= NODES; node++) {
        g_autofree char *tracer = g_strdup_printf("DataNode/dn%u/1", node);
        for (guint i = 0; i < READS; i++) {
            SpanRow row = read_row(reads, minute, node, i);
            row.tracer = tracer;
            const SpanRow root = {.trace = row.trace,
                                  .span = 1,
                                  .name = "OpReadBlockProto",
                                  .tracer = tracer,
                                  .begin_us = row.begin_us - 10,
                                  .duration_us = row.duration_us + 20};
            row_to_batch(&root, batch);
            row_to_batch(&row, batch);
        }
    }
    fixture_store_batch(fixture, batch);
}

static void store_reads(Fixture *fixture, const Reads *reads) {
    fixture_init(fixture);
    for (guint minute = 0; minute < MINUTES; minute++) store_minute(fixture, reads, minute);
}

static double real_at(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    g_assert_true(json_is_real(value));
    return json_real_value(value);
}

/* The row of a host's reads of checksums. */
static const json_t *disk_row(const json_t *answer, const char *host) {
    gsize i;
    json_t *row;
    json_array_foreach(json_object_get(answer, "nodes"), i, row) {
        if (strcmp(text_at(row, "host"), host) == 0 && strcmp(text_at(row, "class"), "disk-read") == 0) return row;
    }
    g_assert_not_reached();
}

/* Most reads fail at once, and the others are as fast as ever: it is not fast, and not slow, but it fails. */
static void test_quick(void) {
    g_auto(Fixture) fixture = {0};
    store_reads(&fixture,
                &(Reads){.failing = 24, .failure_us = FAILURE_US, .times = 1, .values = "exception=" FAILURE});

    json_auto_t *nodes = fixture_answer(&fixture, "nodes", "limit=0");
    const json_t *row = disk_row(nodes, "dn2");
    g_assert_cmpstr(text_at(row, "state"), ==, "well");
    g_assert_cmpfloat_with_epsilon(real_at(row, "slowdown"), 1, 0.1);
    g_assert_cmpint(number_at(row, "failed"), ==, 24 * (MINUTES - ILL_MINUTE));
    g_assert_cmpfloat_with_epsilon(real_at(row, "failed_share"), 24.0 * 10 / (READS * MINUTES), 0.001);
    /* Of six calls a minute: the last ones are too few to be judged. */
    g_assert_cmpint(number_at(row, "calls"), ==, READS * MINUTES - 24 * 10 - 12);
    g_assert_cmpfloat_with_epsilon(real_at(disk_row(nodes, "dn3"), "slowdown"), 1, 0.1);
    g_assert_cmpint(number_at(disk_row(nodes, "dn3"), "failed"), ==, 0);

    json_auto_t *slow = fixture_answer(&fixture, "slow", "");
    g_assert_cmpuint(json_array_size(json_object_get(slow, "slow")), ==, 0);
    const json_t *failing = json_object_get(slow, "failing"), *first = json_array_get(failing, 0);
    g_assert_cmpuint(json_array_size(failing), ==, 1);
    g_assert_cmpstr(text_at(first, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(first, "class"), ==, "disk-read");
    g_assert_cmpstr(text_at(first, "function"), ==, READ);
    g_assert_cmpstr(text_at(first, "state"), ==, "failing");
    g_assert_cmpint(number_at(first, "begin_time_ns"), ==, SAMPLE_BASE_NS + ILL_MINUTE * NS_PER_MINUTE);
    g_assert_cmpfloat_with_epsilon(real_at(first, "failed_share"), 0.8, 0.001);
    g_assert_cmpfloat(real_at(first, "peers_share"), ==, 0);
    const json_t *example = json_object_get(first, "example");
    g_assert_cmpstr(text_at(example, "failure"), ==, FAILURE);

    g_autofree char *asked = g_strdup_printf("id=%s", text_at(example, "trace"));
    json_auto_t *trace = fixture_answer(&fixture, "trace", asked);
    g_assert_nonnull(row_where(json_object_get(trace, "spans"), "host", "dn2"));
    fixture_check_document("slow-failing", slow);
}

/* Most fail at once, the others are slow: it would look as fast as ever. */
static void test_slow_and_quick(void) {
    g_auto(Fixture) fixture = {0};
    store_reads(&fixture, &(Reads){.failing = 20, .failure_us = FAILURE_US, .times = 8, .values = "error=true"});
    json_auto_t *slow = fixture_answer(&fixture, "slow", "");
    const json_t *row = json_array_get(json_object_get(slow, "slow"), 0);
    g_assert_cmpstr(text_at(row, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(row, "class"), ==, "disk-read");
    g_assert_cmpfloat_with_epsilon(real_at(row, "slowdown"), 8, 0.5);
}

/* All of a minute's calls fail: there is no time to judge, but others are compared as ever. */
static void test_all(void) {
    g_auto(Fixture) fixture = {0};
    store_reads(&fixture, &(Reads){.failing = READS, .failure_us = FAILURE_US, .times = 1, .values = "exception=E"});
    json_auto_t *nodes = fixture_answer(&fixture, "nodes", "limit=0");
    g_assert_cmpint(number_at(disk_row(nodes, "dn2"), "calls"), ==, READS * ILL_MINUTE);
    g_assert_cmpint(number_at(disk_row(nodes, "dn2"), "failed"), ==, READS * (MINUTES - ILL_MINUTE));
    g_assert_cmpuint(json_array_size(json_object_get(nodes, "spells")), ==, 0);
    g_assert_cmpfloat(real_at(json_array_get(json_object_get(nodes, "failing"), 0), "failed_share"), ==, 1);
    json_auto_t *other = fixture_answer(&fixture, "nodes", "host=dn3");
    g_assert_cmpuint(json_array_size(json_object_get(other, "failing")), ==, 0);
}

/* Calls that fail after longer than others take are no reason to call it fast, nor to forget that it is slow. */
static void test_timeouts(void) {
    g_auto(Fixture) fixture = {0};
    store_reads(&fixture, &(Reads){.failing = 15, .failure_us = TIMEOUT_US, .times = 1, .values = "exception=E"});
    json_auto_t *slow = fixture_answer(&fixture, "slow", "");
    const json_t *row = json_array_get(json_object_get(slow, "slow"), 0);
    g_assert_cmpstr(text_at(row, "host"), ==, "dn2");
    g_assert_cmpfloat(real_at(row, "slowdown"), >, 5);
    g_assert_cmpuint(json_array_size(json_object_get(slow, "failing")), ==, 1);
}

/* That is no failure. */
static void test_said_to_be_none(void) {
    g_auto(Fixture) fixture = {0};
    store_reads(&fixture, &(Reads){.failing = 15, .failure_us = USUAL_US, .times = 1, .values = "error=false"});
    json_auto_t *nodes = fixture_answer(&fixture, "nodes", "limit=0");
    g_assert_cmpint(number_at(disk_row(nodes, "dn2"), "failed"), ==, 0);
    g_assert_cmpuint(json_array_size(json_object_get(nodes, "failing")), ==, 0);
}

/* Adds each row of calls that failed once more: so it may be after an older program joined late spans. */
static void double_failed_rows(Fixture *fixture) {
    g_autoptr(StoreBatch) batch = store_batch_new(fixture->store);
    g_autoptr(StoreIter) iter = store_iter_new(fixture->store, FAMILY_STATS);
    guint n = 0;
    for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter)) {
        StatsKey key;
        g_assert_true(stats_key_parse(store_iter_key(iter), &key));
        if (key.kind != STATS_FAILED) continue;
        store_batch_merge(batch, FAMILY_STATS, store_iter_key(iter), store_iter_value(iter));
        n++;
    }
    g_assert_cmpuint(n, >, 0);
    GError *error = NULL;
    store_write(fixture->store, batch, FALSE, &error);
    g_assert_no_error(error);
}

/* More calls failed than there were: nothing is left out, and the question is answered all the same. */
static void test_no_part_of_all(void) {
    g_auto(Fixture) fixture = {0};
    store_reads(&fixture, &(Reads){.failing = 20, .failure_us = USUAL_US, .times = 1, .values = "exception=E"});
    double_failed_rows(&fixture);
    json_auto_t *nodes = fixture_answer(&fixture, "nodes", "limit=0");
    g_assert_cmpint(number_at(disk_row(nodes, "dn2"), "failed"), ==, 0);
    g_assert_cmpint(number_at(disk_row(nodes, "dn2"), "calls"), ==, READS * MINUTES);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/failing/quick", test_quick);
    g_test_add_func("/query/failing/slow-and-quick", test_slow_and_quick);
    g_test_add_func("/query/failing/all", test_all);
    g_test_add_func("/query/failing/timeouts", test_timeouts);
    g_test_add_func("/query/failing/said-to-be-none", test_said_to_be_none);
    g_test_add_func("/query/failing/no-part-of-all", test_no_part_of_all);
    return g_test_run();
}
