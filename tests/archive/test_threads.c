/* Writers, archive_join(), readers and verify at the same time. Every answer must be that of some moment between
 * commits, and the end that of one orderly delivery. */
#include <pthread.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/consolidation/join.h"
#include "analyzer/archive/consolidation/rollup.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/verify/verify.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/archive/fixture.h"
#include "tests/archive/traces.h"

#define WRITERS 3
#define TRACES  240u
#define BASE_NS (G_GINT64_CONSTANT(1700000040) * NS_PER_SEC)

typedef struct Shared {
    Fixture fixture;
    GPtrArray *traces; /* GByteArray */
    gboolean done;     /* atomic */
} Shared;

typedef struct WriterThread {
    Shared *shared;
    guint number;
} WriterThread;

/* Every trace comes in two halves, the second after a commit, so most of them mark a row. */
static void *write_traces(void *arg) {
    WriterThread *thread = arg;
    ArchiveWriter *writer = archive_writer_new(thread->shared->fixture.archive);
    g_autoptr(GByteArray) half = g_byte_array_new();

    for (guint round = 0; round < 2; round++) {
        for (guint i = thread->number; i < TRACES; i += WRITERS) {
            const GByteArray *all = thread->shared->traces->pdata[i];
            g_autoptr(GArray) offsets = span_offsets(all);
            guint middle = g_array_index(offsets, guint, offsets->len / 2);
            g_byte_array_set_size(half, 0);
            if (round == 0)
                g_byte_array_append(half, all->data + middle, all->len - middle);
            else
                g_byte_array_append(half, all->data, all->len);
            fixture_add(writer, half);
            if (i % 4 == thread->number) fixture_commit(writer);
        }
        fixture_commit(writer);
    }

    archive_writer_free(writer);
    return NULL;
}

static gboolean done(Shared *shared) { return __atomic_load_n(&shared->done, __ATOMIC_ACQUIRE); }

static void *join_often(void *arg) {
    Shared *shared = arg;
    gint64 now_ns = BASE_NS;
    while (!done(shared)) {
        g_autoptr(GError) error = NULL;
        archive_join(shared->fixture.archive, &error);
        g_assert_no_error(error);
        /* Their hours are over one by one. */
        now_ns += 5 * NS_PER_MINUTE;
        archive_roll_up(shared->fixture.archive, now_ns, &error);
        g_assert_no_error(error);
    }
    return NULL;
}

static void sum_traces(void *arg, const StatsKey *key, StatsRow *row) {
    guint64 *calls = arg;
    (void)key;
    guint32 node = 0;
    for (guint i = 0; i < stats_row_size(row); i++) {
        const NodeStats *stats = stats_row_at(row, i, &node);
        if (node == 0) *calls += stats->duration.count;
    }
}

/* Traces only ever get more, so two sums of the pattern rows with a count between them must enclose it. */
static guint64 stored_traces(Shared *shared) {
    g_autoptr(GError) error = NULL;
    guint64 calls = 0;
    StatsFilter filter = {.kind = STATS_PATTERN, .until_ns = G_MAXINT64, .role = -1};
    archive_stats(shared->fixture.archive, &filter, sum_traces, &calls, &error);
    g_assert_no_error(error);
    return calls;
}

static void *read_often(void *arg) {
    Shared *shared = arg;
    g_autoptr(GByteArray) spans = g_byte_array_new();

    for (guint i = 0; !done(shared); i++) {
        guint64 before = archive_totals(shared->fixture.archive).traces;
        guint64 counted = stored_traces(shared);
        guint64 after = archive_totals(shared->fixture.archive).traces;
        g_assert_cmpuint(counted, >=, before);
        g_assert_cmpuint(counted, <=, after);
        if (i % 4 == 0) {
            VerifyResult result = {.traces = 0};
            g_assert_cmpuint(fixture_verify(&shared->fixture, &result), ==, 0);
        }

        g_autoptr(GError) error = NULL;
        const GByteArray *trace = shared->traces->pdata[i % TRACES];
        g_byte_array_set_size(spans, 0);
        if (!fixture_load(shared->fixture.archive, ((const SpanRec *)(gconstpointer)trace->data)->id.trace, spans,
                          &error))
            g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    }
    return NULL;
}

static void make_traces(Shared *shared) {
    TestWorld world;
    world_init(&world, g_test_rand_int() & 0xffff, archive_dict(shared->fixture.archive));
    TraceShape shape = {
        .max_spans = 6, .begin_ns = BASE_NS, .spread_ns = 3 * NS_PER_MINUTE, .duration_ns = NS_PER_MINUTE};
    for (guint i = 0; i < TRACES; i++) {
        GByteArray *spans = g_byte_array_new();
        world_trace(&world, i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), &shape, spans);
        g_ptr_array_add(shared->traces, spans);
    }
    world_clear(&world);
}

static void assert_all(Shared *shared) {
    g_assert_cmpuint(archive_totals(shared->fixture.archive).traces, ==, TRACES);
    fixture_assert_sound(&shared->fixture);
    fixture_assert_traces(&shared->fixture, shared->traces);
    StatsFilter filter = {.kind = STATS_PATTERN, .until_ns = G_MAXINT64, .role = -1};
    fixture_assert_stats(&shared->fixture, &filter, shared->traces);
}

static void test_threads(gconstpointer rocksdb) {
    Shared shared = {.traces = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref)};
    ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS, .max_trace_spans = 0};
    fixture_open(&shared.fixture, GPOINTER_TO_INT(rocksdb), &options);
    make_traces(&shared);
    pthread_t writers[WRITERS], joiner, reader;
    WriterThread threads[WRITERS];
    for (guint i = 0; i < WRITERS; i++) {
        threads[i] = (WriterThread){&shared, i};
        pthread_create(&writers[i], NULL, write_traces, &threads[i]);
    }
    pthread_create(&joiner, NULL, join_often, &shared);
    pthread_create(&reader, NULL, read_often, &shared);
    for (guint i = 0; i < WRITERS; i++) pthread_join(writers[i], NULL);
    __atomic_store_n(&shared.done, TRUE, __ATOMIC_RELEASE);
    pthread_join(joiner, NULL);
    pthread_join(reader, NULL);

    g_autoptr(GError) error = NULL;
    archive_join(shared.fixture.archive, &error);
    g_assert_no_error(error);
    assert_all(&shared);
    g_ptr_array_unref(shared.traces);
    fixture_close(&shared.fixture);
}

/* Every trace has late spans when they are joined, by two threads, and the end is that of the spans in time. */
static void test_all_late(gconstpointer rocksdb) {
    Shared shared = {.traces = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref)};
    ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS, .max_trace_spans = 0};
    fixture_open(&shared.fixture, GPOINTER_TO_INT(rocksdb), &options);
    make_traces(&shared);

    WriterThread threads[WRITERS];
    for (guint i = 0; i < WRITERS; i++) {
        threads[i] = (WriterThread){&shared, i};
        write_traces(&threads[i]);
    }

    g_autoptr(GError) error = NULL;
    const guint64 waiting = archive_totals(shared.fixture.archive).late_waiting;
    archive_join(shared.fixture.archive, &error);
    g_assert_no_error(error);

    const ArchiveTotals totals = archive_totals(shared.fixture.archive);
    g_assert_cmpuint(totals.late_waiting, ==, 0);
    g_assert_cmpuint(totals.late_spans + totals.duplicates, ==, waiting);
    assert_all(&shared);
    g_ptr_array_unref(shared.traces);
    fixture_close(&shared.fixture);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/archive/threads/memory", GINT_TO_POINTER(FALSE), test_threads);
    g_test_add_data_func("/archive/threads/rocksdb", GINT_TO_POINTER(TRUE), test_threads);
    g_test_add_data_func("/archive/threads/all-late/memory", GINT_TO_POINTER(FALSE), test_all_late);
    g_test_add_data_func("/archive/threads/all-late/rocksdb", GINT_TO_POINTER(TRUE), test_all_late);
    return g_test_run();
}
