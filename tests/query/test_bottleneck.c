/* Whom the requests of a load waited for, on spans made by hand. */
#include <math.h>

#include "analyzer/query/bottleneck/estimate.h"
#include "analyzer/query/bottleneck/tallies.h"
#include "analyzer/query/shared/trace_view.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/query/fixture.h"

#define CLIENT  "FSClient/c1/7"
#define SECONDS 10u

/* A read that begins so many ms after the base, of 'bytes': the DataNode's disk takes most of it, and 10 ms go to the
 * NameNode. In all it takes disk + 20 ms. */
static void store_read(Fixture *fixture, guint64 trace, gint64 begin_ms, gint64 disk_ms, gint64 bytes) {
    const gint64 at = begin_ms * 1000, disk = disk_ms * 1000, end = at + disk + 20000;
    g_autofree char *size = g_strdup_printf("operation=1;bytes=%d", (int)bytes);
    g_autofree char *packet = g_strdup_printf("bytes=%d", (int)bytes);
    const char *node = trace % 3 == 1 ? "DataNode/d2" : "DataNode/d1"; /* the slow ones: store_load() */
    const SpanRow rows[] = {
        {trace, 1, 0, "Load#read", CLIENT, at, end - at, size, 0},
        {trace, 2, 1, "ClientNamenodeProtocol#getBlockLocations", CLIENT, at + 1000, 10000, NULL, 0},
        {trace, 3, 2, "RPC#queue", "NameNode/nn/1", at + 2000, 8000, NULL, 0},
        {trace, 4, 1, "DFSInputStream#byteArrayRead", CLIENT, at + 11000, end - at - 12000, NULL, 0},
        {trace, 5, 4, "BlockReaderRemote2#readNextPacket", CLIENT, at + 12000, end - at - 13000, "block=77", 0},
        {trace, 6, 4, "OpReadBlockProto", node, at + 11500, end - at - 12000, NULL, 0},
        {trace, 7, 6, "sendBlock", node, at + 12000, end - at - 13000, "block=77", 0},
        {trace, 8, 7, "BlockSender#sendPacket", node, at + 12500, disk + 5500, packet, 0},
        {trace, 9, 8, "BlockSender#readLocal", node, at + 12600, disk, packet, 0},
        {trace, 10, 7, "BlockSender#sendPacket", node, at + disk + 18100, 100, "bytes=0", 0},
    };
    fixture_store(fixture, rows, G_N_ELEMENTS(rows));
}

/* Three requests a second: two of 5,000 bytes, of which one is slow, and one of 100 bytes. And what is no request. */
static void store_load(Fixture *fixture) {
    for (guint64 i = 0; i < 3 * SECONDS; i++)
        store_read(fixture, 0x100 + i, (gint64)(i * 333), i % 3 == 0 ? 100 : 40, i % 3 == 2 ? 100 : 5000);
    const SpanRow other = {0x99, 1, 0, "SparkTask", CLIENT, 1000000, 900000, NULL, 0};
    fixture_store(fixture, &other, 1);
}

static double real_at(const json_t *row, const char *field) { return json_number_value(json_object_get(row, field)); }

static void shares_add_up(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    store_load(&fixture);
    json_t *answer = fixture_answer(&fixture, "bottleneck", "");
    fixture_check_document("bottleneck", answer);
    g_assert_cmpint(number_at(answer, "requests"), ==, 3 * SECONDS);
    g_assert_cmpint(number_at(answer, "response_ns"), ==, (gint64)SECONDS * 240 * NS_PER_MS);

    const char *const lists[] = {"waits", "calls", "processes", "functions"};
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        gsize j;
        const json_t *row;
        gint64 sum = 0;
        double before = 2;
        json_array_foreach(json_object_get(answer, lists[i]), j, row) {
            sum += number_at(row, "critical_ns");
            g_assert_cmpfloat(real_at(row, "share"), <=, before);
            before = real_at(row, "share");
        }
        g_assert_cmpint(sum, ==, number_at(answer, "response_ns"));
    }

    const json_t *wait = json_array_get(json_object_get(answer, "waits"), 0);
    g_assert_cmpstr(text_at(wait, "role"), ==, "datanode");
    g_assert_cmpstr(text_at(wait, "resource"), ==, "disk");
    g_assert_true(json_is_true(json_object_get(wait, "decided")));
    g_assert_cmpfloat(real_at(wait, "share_low"), <=, real_at(wait, "share"));
    const json_t *call = json_array_get(json_object_get(answer, "calls"), 0);
    g_assert_cmpstr(text_at(call, "function"), ==, "BlockSender#readLocal");
    g_assert_cmpstr(text_at(call, "host"), ==, "d2");
    json_decref(answer);
}

static void sizes_and_packets(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    store_load(&fixture);
    json_t *answer = fixture_answer(&fixture, "bottleneck", "");
    const json_t *operation = json_array_get(json_object_get(answer, "operations"), 0);
    const json_t *small = row_where(json_object_get(operation, "sizes"), "size", "below 4 KiB");
    const json_t *larger = row_where(json_object_get(operation, "sizes"), "size", "below 64 KiB");
    g_assert_cmpint(number_at(small, "requests"), ==, SECONDS);
    g_assert_cmpint(number_at(small, "bytes"), ==, 100 * SECONDS);
    g_assert_cmpfloat(real_at(small, "mean_ns"), ==, 60.0 * NS_PER_MS);
    g_assert_cmpfloat(real_at(larger, "mean_ns"), ==, 90.0 * NS_PER_MS);
    const json_t *packets = json_object_get(answer, "packets");
    g_assert_cmpint(number_at(packets, "blocks"), ==, 3 * SECONDS);
    g_assert_cmpint(number_at(packets, "sent"), ==, 6 * SECONDS);
    g_assert_cmpint(number_at(packets, "empty"), ==, 3 * SECONDS);
    g_assert_cmpint(number_at(packets, "small"), ==, SECONDS);
    json_decref(answer);
}

/* The same means whatever part of the requests is read; other roots are other questions. */
static void some_of_them(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    store_load(&fixture);
    json_t *answer = fixture_answer(&fixture, "bottleneck", "traces=10&limit=1");
    g_assert_cmpint(number_at(answer, "found"), ==, 3 * SECONDS);
    g_assert_cmpint(number_at(answer, "requests"), ==, 10);
    g_assert_cmpuint(json_array_size(json_object_get(answer, "functions")), ==, 1);
    json_decref(answer);

    answer = fixture_answer(&fixture, "bottleneck", "root=SparkTask");
    g_assert_cmpint(number_at(answer, "requests"), ==, 1);
    g_assert_false(json_is_true(json_object_get(json_array_get(json_object_get(answer, "calls"), 0), "decided")));
    json_decref(answer);

    answer = fixture_answer(&fixture, "bottleneck", "until=1605955980000000000");
    g_assert_cmpint(number_at(answer, "requests"), ==, 0);
    g_assert_null(json_object_get(answer, "waits"));
    json_decref(answer);
}

/* Asks a DataNode for a block, which works at it for longer. */
#define FIRST_READ                                                                                                     \
    {1, 1, 0, "DFSInputStream#byteArrayRead", CLIENT, 0, 20000, "bytes=100", 0},                                       \
        {1, 2, 1, "BlockReaderRemote#new", CLIENT, 0, 20000, NULL, 0},                                                 \
        {1, 3, 2, "OpReadBlockProto", "DataNode/d1", 10000, 200000, NULL, 0}, {                                        \
        1, 4, 3, "BlockSender#readLocal", "DataNode/d1", 10000, 190000, NULL, 0                                        \
    }

/* A file is read by two calls, each a root: the second one waits for the DataNode that the first one asked. */
static void calls_of_one_stream(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    const SpanRow rows[] = {
        FIRST_READ,
        {1, 5, 0, "DFSInputStream#byteArrayRead", CLIENT, 100000, 80000, "bytes=100", 0},
        {1, 6, 5, "BlockReaderRemote2#readNextPacket", CLIENT, 100000, 80000, NULL, 0},
    };
    fixture_store(&fixture, rows, G_N_ELEMENTS(rows));
    json_t *answer = fixture_answer(&fixture, "bottleneck", "root=DFSInputStream*");
    g_assert_cmpint(number_at(answer, "found"), ==, 1);
    g_assert_cmpint(number_at(answer, "requests"), ==, 2);
    g_assert_cmpint(number_at(answer, "response_ns"), ==, 100 * NS_PER_MS);
    const json_t *disk = row_where(json_object_get(answer, "calls"), "function", "BlockSender#readLocal");
    g_assert_cmpint(number_at(disk, "critical_ns"), ==, 90 * NS_PER_MS);
    json_decref(answer);
}

/* The same of a stream that is opened by one call and read by another: both roots have the station's time, and no root
 * that is not asked for adds to them. */
static void roots_of_two_names(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    const SpanRow rows[] = {
        FIRST_READ,
        {1, 5, 0, "DFSInputStream#byteBufferRead", CLIENT, 100000, 80000, "bytes=100", 0},
        {1, 6, 5, "BlockReaderRemote2#readNextPacket", CLIENT, 100000, 80000, NULL, 0},
        {1, 7, 0, "DFSOutputStream#close", CLIENT, 300000, 50000, NULL, 0},
        {1, 8, 7, "ClientNamenodeProtocol#complete", CLIENT, 300000, 50000, NULL, 0},
    };
    const struct {
        const char *root;
        gint64 response_ms, disk_ms;
    } cases[] = {{"root=DFSInputStream*", 100, 90},
                 {"root=DFSInputStream#byteArrayRead", 20, 18},
                 {"root=DFSInputStream#byteBufferRead", 80, 72}};
    fixture_store(&fixture, rows, G_N_ELEMENTS(rows));
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        json_t *answer = fixture_answer(&fixture, "bottleneck", cases[i].root);
        g_assert_cmpint(number_at(answer, "response_ns"), ==, cases[i].response_ms * NS_PER_MS);
        gint64 sum_ns = 0;
        gsize j;
        const json_t *row;
        json_array_foreach(json_object_get(answer, "waits"), j, row) sum_ns += number_at(row, "critical_ns");
        g_assert_cmpint(sum_ns, ==, number_at(answer, "response_ns"));
        const json_t *disk = row_where(json_object_get(answer, "calls"), "function", "BlockSender#readLocal");
        g_assert_cmpint(number_at(disk, "critical_ns"), ==, cases[i].disk_ms * NS_PER_MS);
        json_decref(answer);
    }
}

/* Means of seconds whose truth is known: 95 of 100 intervals hold it. */
static void intervals_hold(void) {
    enum { SETS = 2000, N = 12 };
    guint held = 0;
    g_autoptr(GRand) rand = g_rand_new_with_seed(21);
    for (guint set = 0; set < SETS; set++) {
        double part[N], whole[N];
        for (guint i = 0; i < N; i++) {
            whole[i] = g_rand_int_range(rand, 8, 13);
            part[i] = 0;
            for (guint k = 0; k < (guint)whole[i]; k++) part[i] += g_rand_double_range(rand, 0, 2);
            part[i] += g_rand_double_range(rand, -0.5, 0.5) * whole[i]; /* seconds differ */
        }
        const Estimate estimate = estimate_ratio(part, whole, N);
        g_assert_true(estimate.bounded);
        held += estimate.low <= 1 && 1 <= estimate.high;
    }
    g_assert_cmpfloat((double)held / SETS, >, 0.93);
    g_assert_cmpfloat((double)held / SETS, <, 0.97);
}

/* Clocks of hosts differ, so requests of two seconds come by turns: they are two seconds still. */
static void seconds_that_take_turns(void) {
    const TallyKey key = {TALLY_OPERATION, 7, 0, 0};
    const TallySecond once = {.calls = 1, .total_ns = 10};
    g_autoptr(Tallies) tallies = tallies_new();
    for (guint i = 0; i < 10; i++) {
        tallies_in_second(tallies, G_GINT64_CONSTANT(1605955980) - i % 2);
        tallies_add(tallies, key, &once);
    }
    g_assert_cmpuint(tallies_seconds(tallies), ==, 2);
    g_autofree double *calls = tally_values(tallies, tallies_find(tallies, key), tally_calls);
    g_assert_cmpfloat(calls[0], ==, 5);
    g_assert_cmpfloat(calls[1], ==, 5);
}

/* What was found and removed before it was read ends no question. */
static void traces_that_went_meanwhile(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    store_read(&fixture, 0x100, 0, 100, 5000);
    g_autoptr(GError) error = NULL;
    gboolean gone;
    g_assert_null(trace_view_load_found(fixture.archive, 0x101, &gone, &error));
    g_assert_no_error(error);
    g_assert_true(gone);
    g_autoptr(TraceView) view = trace_view_load_found(fixture.archive, 0x100, &gone, &error);
    g_assert_no_error(error);
    g_assert_true(view != NULL && !gone);
}

static void few_seconds_have_no_interval(void) {
    const double part[] = {1, 2, 3, 4}, whole[] = {2, 2, 2, 2};
    const Estimate estimate = estimate_ratio(part, whole, G_N_ELEMENTS(part));
    g_assert_false(estimate.bounded);
    g_assert_cmpfloat(estimate.value, ==, 1.25);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bottleneck/shares-add-up", shares_add_up);
    g_test_add_func("/bottleneck/sizes-and-packets", sizes_and_packets);
    g_test_add_func("/bottleneck/some-of-them", some_of_them);
    g_test_add_func("/bottleneck/calls of one stream", calls_of_one_stream);
    g_test_add_func("/bottleneck/roots of two names", roots_of_two_names);
    g_test_add_func("/bottleneck/intervals-hold", intervals_hold);
    g_test_add_func("/bottleneck/seconds-that-take-turns", seconds_that_take_turns);
    g_test_add_func("/bottleneck/traces-that-went-meanwhile", traces_that_went_meanwhile);
    g_test_add_func("/bottleneck/few-seconds-have-no-interval", few_seconds_have_no_interval);
    return g_test_run();
}
