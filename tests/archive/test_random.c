/* Random streams of traces: repeated, late and shuffled spans, several writers, commits, crashes and reopening at
 * random moments. Afterwards the store must be what it is when every span comes once and in time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/consolidation/join.h"
#include "analyzer/archive/consolidation/rollup.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/clock.h"
#include "tests/archive/fixture.h"
#include "tests/archive/traces.h"
#include "tests/base/seed.h"

#define RUNS        300
#define MAX_WRITERS 3
#define BASE_NS     (G_GINT64_CONSTANT(1700000000) * NS_PER_SEC)

typedef struct Delivery {
    guint trace;
    GByteArray *spans;
} Delivery;

typedef struct Run {
    guint32 seed;
    TestWorld world;
    Fixture fixture;
    ArchiveWriter *writers[MAX_WRITERS];
    guint n_writers;
    gboolean parts;                   /* traces are cut */
    gboolean rare;                    /* most shapes get no number: what has one depends on the order of arrival */
    GPtrArray *traces;                /* GByteArray: the distinct spans of each */
    GPtrArray *deliveries;            /* Delivery, in order of arrival */
    GPtrArray *journals[MAX_WRITERS]; /* Delivery not committed yet; borrowed */
    guint64 spans_total;
} Run;

static guint pick(Run *run, guint n) { return (guint)g_rand_int_range(run->world.rand, 0, (gint32)n); }

static void delivery_free(gpointer delivery) {
    g_byte_array_unref(((Delivery *)delivery)->spans);
    g_free(delivery);
}

static void free_spans(gpointer spans) { g_byte_array_unref(spans); }

static void make_traces(Run *run) {
    static const gint64 spreads_ns[] = {NS_PER_MINUTE, 100 * NS_PER_MINUTE, 3 * 24 * 60 * NS_PER_MINUTE};
    static const gint64 durations_ns[] = {NS_PER_SEC, 5 * NS_PER_MINUTE};
    TraceShape shape = {.max_spans = 1 + pick(run, 30),
                        .begin_ns = BASE_NS,
                        .spread_ns = spreads_ns[pick(run, G_N_ELEMENTS(spreads_ns))],
                        .duration_ns = durations_ns[pick(run, G_N_ELEMENTS(durations_ns))],
                        .odd = pick(run, 2) == 0};
    guint n = 1 + pick(run, 40);
    for (guint i = 0; i < n; i++) {
        if (pick(run, 3) == 0) shape.max_spans = 1 + pick(run, 8); /* small ones share patterns */
        guint64 trace_id = i == 0 && pick(run, 10) == 0 ? 0 : (guint64)g_rand_int(run->world.rand) << 32 | (i + 1);
        GByteArray *spans = g_byte_array_new();
        world_trace(&run->world, trace_id, &shape, spans);
        run->spans_total += span_count(spans);
        g_ptr_array_add(run->traces, spans);
    }
}

static GByteArray *some_spans(Run *run, const GByteArray *all, guint percent) {
    GByteArray *some = g_byte_array_new();
    g_autoptr(GArray) offsets = span_offsets(all);
    for (guint i = 0; i < offsets->len; i++) {
        if (pick(run, 100) >= percent) continue;
        guint at = g_array_index(offsets, guint, i);
        g_byte_array_append(some, all->data + at, ((const SpanRec *)(gconstpointer)(all->data + at))->size_bytes);
    }
    return some;
}

static void deliver(Run *run, guint trace, GByteArray *spans) {
    if (spans->len == 0) {
        g_byte_array_unref(spans);
        return;
    }
    Delivery *delivery = g_new(Delivery, 1);
    *delivery = (Delivery){trace, spans};
    g_ptr_array_add(run->deliveries, delivery);
}

/* Parts of a trace in several deliveries, some twice; together everything. */
static void make_deliveries(Run *run) {
    for (guint i = 0; i < run->traces->len; i++) {
        const GByteArray *all = run->traces->pdata[i];
        for (guint extra = pick(run, 4); extra > 0; extra--) deliver(run, i, some_spans(run, all, 10 + pick(run, 90)));
        deliver(run, i, some_spans(run, all, 100));
    }
    for (guint i = run->deliveries->len; i > 1; i--) {
        guint j = pick(run, i);
        gpointer swap = run->deliveries->pdata[i - 1];
        run->deliveries->pdata[i - 1] = run->deliveries->pdata[j];
        run->deliveries->pdata[j] = swap;
    }
}

static void writers_open(Run *run) {
    for (guint i = 0; i < run->n_writers; i++) run->writers[i] = archive_writer_new(run->fixture.archive);
}

static void writer_commit(Run *run, guint writer) {
    fixture_commit(run->writers[writer]);
    g_ptr_array_set_size(run->journals[writer], 0);
}

/* What was not committed is gone, and comes again from the journal. */
static void writer_crash(Run *run, guint writer) {
    archive_writer_free(run->writers[writer]);
    run->writers[writer] = archive_writer_new(run->fixture.archive);
    for (guint i = 0; i < run->journals[writer]->len; i++)
        fixture_add(run->writers[writer], ((Delivery *)run->journals[writer]->pdata[i])->spans);
}

static void restart(Run *run) {
    for (guint i = 0; i < run->n_writers; i++) archive_writer_free(run->writers[i]);
    fixture_reopen(&run->fixture);
    writers_open(run);
    for (guint i = 0; i < run->n_writers; i++) writer_crash(run, i);
}

/* Rows as lines of text, of some places or of all. */
typedef struct RowLines {
    GArray *places; /* StatsPlace; NULL: all */
    GArray *seen;   /* StatsPlace, of every row */
    gboolean by_host;
    GString *lines;
} RowLines;

static gboolean has_place(const GArray *places, const StatsPlace *place) {
    for (guint i = 0; i < places->len; i++)
        if (memcmp(&g_array_index(places, StatsPlace, i), place, sizeof *place) == 0) return TRUE;
    return FALSE;
}

static void note_row(void *arg, const StatsKey *key, StatsRow *row) {
    RowLines *rows = arg;
    const StatsPlace place = {rows->by_host ? stats_cell(key->host) : 0, key->object, key->role};
    g_array_append_val(rows->seen, place);
    if (rows->places != NULL && !has_place(rows->places, &place)) return;
    for (guint i = 0; i < stats_row_size(row); i++) {
        guint32 node;
        const NodeStats *stats = stats_row_at(row, i, &node);
        g_string_append_printf(rows->lines, "%u %u %u: %u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", key->object,
                               key->role, key->host, node, stats->duration.count, stats->duration.sum);
    }
}

/* What is read of some places alone is what all reading tells of them. */
static void assert_places(Run *run, StatsFilter filter) {
    g_autoptr(GError) error = NULL;
    RowLines rows = {NULL, g_array_new(FALSE, FALSE, sizeof(StatsPlace)), filter.by_host, g_string_new(NULL)};
    g_assert_true(archive_stats(run->fixture.archive, &filter, note_row, &rows, &error));

    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(StatsPlace));
    const guint share = 1 + pick(run, 4);
    for (guint i = 0; i < rows.seen->len; i++) {
        if (pick(run, share) == 0) g_array_append_val(places, g_array_index(rows.seen, StatsPlace, i));
    }

    StatsPlace none = {filter.by_host ? 1 : 0, pick(run, 100), 0};
    if (filter.object == 0 && pick(run, 2) == 0) g_array_append_val(places, none);
    g_array_set_size(places, stats_places_tidy((StatsPlace *)(gpointer)places->data, places->len));

    if (places->len > 0) {
        g_string_truncate(rows.lines, 0);
        rows.places = places;
        g_assert_true(archive_stats(run->fixture.archive, &filter, note_row, &rows, &error));
        g_autofree char *expected = g_strdup(rows.lines->str);
        g_string_truncate(rows.lines, 0);
        rows.places = NULL;
        filter.places = (const StatsPlace *)(gconstpointer)places->data;
        filter.n_places = places->len;
        g_assert_true(archive_stats(run->fixture.archive, &filter, note_row, &rows, &error));
        g_assert_cmpstr(rows.lines->str, ==, expected);
    }

    g_array_unref(rows.seen);
    g_string_free(rows.lines, TRUE);
}

static void assert_random_stats(Run *run) {
    StatsFilter filter = {.kind = run->rare || pick(run, 2) == 0 ? STATS_FUNCTION : STATS_PATTERN, .role = -1};
    gint64 day_ns = 24 * 60 * NS_PER_MINUTE;

    switch (pick(run, 4)) {
    case 0: filter.until_ns = G_MAXINT64; break;
    case 1: /* whole days inside */
        filter.since_ns = BASE_NS - pick(run, 1440) * NS_PER_MINUTE;
        filter.until_ns = filter.since_ns + day_ns + pick(run, 4 * 1440) * NS_PER_MINUTE;
        break;
    case 2: /* hours, begin and end inside a minute */
        filter.since_ns = BASE_NS + pick(run, 100) * NS_PER_SEC;
        filter.until_ns = filter.since_ns + pick(run, 300) * NS_PER_MINUTE;
        break;
    default:
        filter.since_ns = BASE_NS + pick(run, 60) * NS_PER_MINUTE;
        filter.until_ns = filter.since_ns + 1 + pick(run, 180) * NS_PER_SEC;
        break;
    }

    if (filter.kind == STATS_FUNCTION && pick(run, 3) == 0) filter.object = run->world.names[pick(run, 12)];
    if (filter.kind == STATS_FUNCTION && pick(run, 3) == 0) filter.role = (gint)pick(run, ROLE_COUNT);
    if (filter.kind == STATS_PATTERN && pick(run, 3) == 0)
        filter.object = 1 + pick(run, archive_pattern_count(run->fixture.archive));
    filter.by_host = pick(run, 2) == 0;
    if (filter.by_host && pick(run, 2) == 0) filter.host = dict_find(archive_dict(run->fixture.archive), "10.0.0.2", 8);

    fixture_assert_stats(&run->fixture, &filter, run->traces);
    assert_places(run, filter);
}

static void join_late(Run *run) {
    g_autoptr(GError) error = NULL;
    archive_join(run->fixture.archive, &error);
    g_assert_no_error(error);
}

/* At some time within or after that of the traces. */
static void roll_up(Run *run, gint64 now_ns) {
    g_autoptr(GError) error = NULL;
    archive_roll_up(run->fixture.archive, now_ns, &error);
    g_assert_no_error(error);
}

static gint64 some_time_ns(Run *run) { return BASE_NS + (gint64)pick(run, 100) * 60 * NS_PER_MINUTE; }

static void play(Run *run) {
    for (guint i = 0; i < run->deliveries->len; i++) {
        Delivery *delivery = run->deliveries->pdata[i];
        guint writer = delivery->trace % run->n_writers;
        fixture_add(run->writers[writer], delivery->spans);
        g_ptr_array_add(run->journals[writer], delivery);
        if (pick(run, 4) == 0) writer_commit(run, writer);
        if (pick(run, 20) == 0) writer_crash(run, writer);
        if (pick(run, 12) == 0) join_late(run);
        if (pick(run, 20) == 0) roll_up(run, some_time_ns(run));
        if (pick(run, run->fixture.rocksdb ? 60 : 25) == 0) restart(run);
        if (pick(run, 20) == 0) fixture_assert_sound(&run->fixture);
    }
    for (guint i = 0; i < run->n_writers; i++) writer_commit(run, i);
}

static void assert_like_in_one_go(Run *run) {
    Fixture once;
    TestWorld world;
    fixture_open(&once, FALSE, &run->fixture.options);
    world_init(&world, 1, archive_dict(once.archive));

    ArchiveWriter *writer = archive_writer_new(once.archive);
    for (guint i = 0; i < run->traces->len; i++) fixture_add(writer, run->traces->pdata[i]);
    fixture_commit(writer);
    archive_writer_free(writer);
    g_assert_true(archive_roll_up(once.archive, BASE_NS + 30 * 24 * 60 * NS_PER_MINUTE, NULL));
    fixture_assert_sound(&once);

    g_autoptr(GPtrArray) expected = fixture_dump(&once);
    g_autoptr(GPtrArray) is = fixture_dump(&run->fixture);
    assert_same_dump(is, expected);

    ArchiveTotals a = archive_totals(run->fixture.archive), b = archive_totals(once.archive);
    g_assert_cmpuint(a.traces, ==, b.traces);
    g_assert_cmpuint(a.spans, ==, b.spans);
    g_assert_cmpuint(a.incomplete_traces, ==, b.incomplete_traces);
    g_assert_cmpint(a.first_ns, ==, b.first_ns);
    g_assert_cmpint(a.last_ns, ==, b.last_ns);
    world_clear(&world);
    fixture_close(&once);
}

static void run_init(Run *run, guint32 seed, gboolean rocksdb) {
    *run = (Run){.seed = seed};
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    run->parts = g_rand_int_range(rand, 0, 4) == 0;
    run->rare = g_rand_int_range(rand, 0, 3) == 0;
    ArchiveOptions options = {.clock_tolerance_ns = NS_PER_MS,
                              .max_trace_spans = run->parts ? (guint32)g_rand_int_range(rand, 1, 12) : 0,
                              .max_trace_bytes = run->parts ? (gsize)g_rand_int_range(rand, 1, 2000) : 0,
                              .pattern_nodes = run->rare ? (guint32)g_rand_int_range(rand, 1, 200) : 0};
    fixture_open(&run->fixture, rocksdb, &options);
    world_init(&run->world, seed, archive_dict(run->fixture.archive));
    run->n_writers = 1 + pick(run, MAX_WRITERS);
    run->traces = g_ptr_array_new_with_free_func(free_spans);
    run->deliveries = g_ptr_array_new_with_free_func(delivery_free);
    for (guint i = 0; i < MAX_WRITERS; i++) run->journals[i] = g_ptr_array_new();
}

static void run_clear(Run *run) {
    for (guint i = 0; i < run->n_writers; i++) archive_writer_free(run->writers[i]);
    for (guint i = 0; i < MAX_WRITERS; i++) g_ptr_array_unref(run->journals[i]);
    g_ptr_array_unref(run->deliveries);
    g_ptr_array_unref(run->traces);
    world_clear(&run->world);
    fixture_close(&run->fixture);
}

static void run_one(guint32 seed, gboolean rocksdb) {
    g_test_message("seed %u%s", seed, rocksdb ? " (RocksDB)" : "");
    Run run;
    run_init(&run, seed, rocksdb);
    make_traces(&run);
    make_deliveries(&run);
    writers_open(&run);
    play(&run);

    fixture_assert_traces(&run.fixture, run.traces); /* whether they wait or not */
    fixture_assert_sound(&run.fixture);
    join_late(&run);
    fixture_assert_traces(&run.fixture, run.traces);
    g_assert_cmpuint(archive_totals(run.fixture.archive).spans, ==, run.spans_total);
    fixture_assert_sound(&run.fixture);
    if (!run.parts) {
        for (guint i = 0; i < 2; i++) assert_random_stats(&run);
        roll_up(&run, BASE_NS + 30 * 24 * 60 * NS_PER_MINUTE);
        fixture_assert_sound(&run.fixture);
        for (guint i = 0; i < 3; i++) assert_random_stats(&run);
        if (!run.rare) assert_like_in_one_go(&run);
    }
    run_clear(&run);
}

/* PLUMB_TEST_RUNS asks for more or fewer runs. */
static void test_random(gconstpointer rocksdb) {
    const char *runs = g_getenv("PLUMB_TEST_RUNS");
    guint n = runs != NULL ? (guint)strtoul(runs, NULL, 10) : RUNS;
    if (GPOINTER_TO_INT(rocksdb)) n /= 10;
    const guint32 first = run_seed();
    printf("# seeds from %u on\n", first);
    for (guint i = 0; i < n; i++) run_one(first + i, GPOINTER_TO_INT(rocksdb));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/archive/random/memory", GINT_TO_POINTER(FALSE), test_random);
    g_test_add_data_func("/archive/random/rocksdb", GINT_TO_POINTER(TRUE), test_random);
    return g_test_run();
}
