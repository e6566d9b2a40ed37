/* The filter of traces that may be stored: it never misses one, seldom takes a new one for an old one, and spares the
 * store the question. */
#include <pthread.h>

#include "analyzer/archive/consolidation/join.h"
#include "analyzer/archive/fill_known.h"
#include "analyzer/archive/tables/known_traces.h"
#include "analyzer/archive/write/writer.h"
#include "tests/archive/fixture.h"
#include "tests/archive/traces.h"

/* The linker leads this call here (tests.cmake). */
gboolean __real_store_get(Store *store, StoreFamily family, Bytes key, GBytes **value, GError **error);
gboolean __wrap_store_get(Store *store, StoreFamily family, Bytes key, GBytes **value, GError **error);

static guint asked; /* for traces */

gboolean __wrap_store_get(Store *store, StoreFamily family, Bytes key, GBytes **value, GError **error) {
    asked += family == FAMILY_TRACE_ID;
    return __real_store_get(store, family, key, value, error);
}

/* Ids as peers may choose them: one behind the other. */
static void add_run(KnownTraces *known, guint64 from, guint64 n) {
    for (guint64 i = 0; i < n; i++) known_traces_add(known, from + i);
}

static guint64 count_run(const KnownTraces *known, guint64 from, guint64 n) {
    guint64 has = 0;
    for (guint64 i = 0; i < n; i++) has += known_traces_may_have(known, from + i) ? 1 : 0;
    return has;
}

#define FAR (G_GUINT64_CONSTANT(1) << 60)

static void test_filter(void) {
    KnownTraces *known = known_traces_new(KNOWN_TRACES_BYTES);
    g_assert_cmpuint(count_run(known, 0, 1000), ==, 1000); /* nothing is known yet */
    add_run(known, 0, 100000);
    known_traces_complete(known);
    g_assert_cmpuint(count_run(known, 0, 100000), ==, 100000);
    g_assert_cmpuint(count_run(known, FAR, 100000), <, 2000);
    gsize before = known_traces_size_bytes(known);
    add_run(known, 0, 100000); /* again: takes no room */
    g_assert_cmpuint(known_traces_size_bytes(known), ==, before);
    add_run(known, 100000, 1000000);
    g_assert_cmpuint(known_traces_size_bytes(known), <=, 4u << 20);
    g_assert_cmpuint(count_run(known, 0, 1100000), ==, 1100000);
    g_assert_cmpuint(count_run(known, FAR, 100000), <, 6000);
    known_traces_free(known);
}

/* It has a bound; past it, it says less, and misses none. */
static void test_too_many(void) {
    KnownTraces *known = known_traces_new(1u << 20);
    known_traces_complete(known);
    add_run(known, 0, 1200000);
    g_assert_cmpuint(known_traces_size_bytes(known), ==, 3u << 18);
    g_assert_cmpuint(count_run(known, 0, 1200000), ==, 1200000);
    guint64 wrong = count_run(known, FAR, 100000);
    g_assert_cmpuint(wrong, >, 10000);
    g_assert_cmpuint(wrong, <, 60000);
    known_traces_free(known);
}

#define THREADS 4u
#define EACH    150000u

typedef struct Adder {
    KnownTraces *known;
    guint64 from;
} Adder;

static void *add_some(void *arg) {
    const Adder *adder = arg;
    add_run(adder->known, adder->from, EACH);
    g_assert_cmpuint(count_run(adder->known, adder->from, EACH), ==, EACH);
    return NULL;
}

static void test_threads(void) {
    KnownTraces *known = known_traces_new(KNOWN_TRACES_BYTES);
    known_traces_complete(known);
    pthread_t threads[THREADS];
    Adder adders[THREADS];
    for (guint i = 0; i < THREADS; i++) {
        adders[i] = (Adder){known, (guint64)i << 40};
        g_assert_cmpint(pthread_create(&threads[i], NULL, add_some, &adders[i]), ==, 0);
    }
    for (guint i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (guint i = 0; i < THREADS; i++) g_assert_cmpuint(count_run(known, (guint64)i << 40, EACH), ==, EACH);
    known_traces_free(known);
}

/* ---- in an archive ---- */

#define TRACES 100u

/* Traces from..from+n-1, of one span each, in one group. Returns how often the store was asked for a trace. */
static guint store_traces(Fixture *fixture, guint64 from, guint n, guint64 span) {
    ArchiveWriter *writer = archive_writer_new(fixture->archive);
    asked = 0;
    for (guint i = 0; i < n; i++) {
        g_autoptr(GByteArray) spans = g_byte_array_new();
        test_span_append(spans, &(TestSpan){.trace = from + i, .span = span, .name = 1, .tracer = 2, .begin_ns = 5});
        fixture_add(writer, spans);
    }
    guint times = asked;
    fixture_commit(writer);
    archive_writer_free(writer);
    return times;
}

static guint learn(Fixture *fixture, guint most) {
    g_autoptr(GError) error = NULL;
    guint steps = 0;
    for (gboolean done = FALSE; !done; steps++) {
        g_assert_true(archive_fill_known(fixture->archive, most, &done, &error));
        g_assert_no_error(error);
    }
    return steps;
}

static void test_archive(gconstpointer rocksdb) {
    Fixture fixture;
    fixture_open(&fixture, GPOINTER_TO_INT(rocksdb), &(ArchiveOptions){0});
    TestWorld world;
    world_init(&world, 1, archive_dict(fixture.archive));
    g_assert_cmpuint(store_traces(&fixture, 1, TRACES, 1), ==, TRACES);
    if (GPOINTER_TO_INT(rocksdb)) fixture_reopen(&fixture);

    /* Some come while it learns. */
    gboolean done;
    g_assert_true(archive_fill_known(fixture.archive, 30, &done, NULL));
    g_assert_false(done);
    g_assert_cmpuint(store_traces(&fixture, 1000, 10, 1), ==, 10);
    g_assert_cmpuint(learn(&fixture, 30), >=, 3);
    g_assert_cmpuint(learn(&fixture, 30), ==, 1);
    g_assert_cmpuint(store_traces(&fixture, 5000, TRACES, 1), <=, 5);

    /* Of all three there is something: what comes now is late. */
    g_assert_cmpuint(store_traces(&fixture, 1, TRACES, 2), ==, TRACES);
    g_assert_cmpuint(store_traces(&fixture, 1000, 10, 2), ==, 10);
    g_assert_cmpuint(store_traces(&fixture, 5000, TRACES, 2), ==, TRACES);

    g_autoptr(GError) error = NULL;
    g_assert_true(archive_join(fixture.archive, &error));
    g_assert_no_error(error);
    ArchiveTotals totals = archive_totals(fixture.archive);
    g_assert_cmpuint(totals.traces, ==, 2 * TRACES + 10);
    g_assert_cmpuint(totals.spans, ==, 2 * (2 * TRACES + 10));
    fixture_assert_sound(&fixture);

    world_clear(&world);
    fixture_close(&fixture);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/archive/known/filter", test_filter);
    g_test_add_func("/archive/known/too-many", test_too_many);
    g_test_add_func("/archive/known/threads", test_threads);
    g_test_add_data_func("/archive/known/memory", GINT_TO_POINTER(FALSE), test_archive);
    g_test_add_data_func("/archive/known/rocksdb", GINT_TO_POINTER(TRUE), test_archive);
    return g_test_run();
}
