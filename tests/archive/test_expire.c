/* What is past its age goes, with all that leads to it; everything else, and statistics, stay to the last call. */
#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/consolidation/rollup.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/removed_traces.h"
#include "analyzer/archive/retention/expire.h"
#include "analyzer/archive/tables/account.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/error.h"
#include "tests/archive/case.h"

#define HOUR_NS (60 * NS_PER_MINUTE)
#define DAY_NS  (24 * HOUR_NS)
#define TRACES  240u /* one an hour: ten days */

static gint64 begin_of(guint trace) { return BASE_NS + trace * HOUR_NS; }

/* Trace 1 .. n, odd ones included, one an hour. Some are in parts: a second before, and an hour after. */
static void fill(Case *c) {
    for (guint trace = 1; trace <= TRACES; trace++) {
        TraceShape shape = {
            .max_spans = 30, .begin_ns = begin_of(trace), .duration_ns = NS_PER_SEC, .odd = trace % 5 == 0};
        if (trace % 50 == 0)
            shape = (TraceShape){.max_spans = 400, .begin_ns = begin_of(trace), .duration_ns = 2 * HOUR_NS};
        world_trace(&c->world, trace, &shape, c->spans);
        fixture_add(c->writer, c->spans);
        if (trace % 20 == 0) fixture_commit(c->writer);
    }
    fixture_commit(c->writer);
    join_late(c);
    g_autoptr(GError) error = NULL;
    archive_roll_up(c->fixture.archive, G_MAXINT64, &error);
    g_assert_no_error(error);
}

static ExpireResult expire(Case *c, const ExpireAges *ages, gint64 now_ns, guint max_records) {
    g_autoptr(GError) error = NULL;
    ExpireResult sum = {0};
    do {
        ExpireOptions options = {*ages, now_ns, max_records};
        ExpireResult result;
        archive_expire(c->fixture.archive, &options, &result, &error);
        g_assert_no_error(error);
        sum.traces += result.traces;
        sum.spans += result.spans;
        sum.damaged += result.damaged;
        sum.more = result.more;
    } while (sum.more);
    return sum;
}

static gint64 sum_calls_total;
static void add_calls(void *arg, const StatsKey *key, StatsRow *row) {
    (void)key;
    *(gint64 *)arg += (gint64)stats_row_node(row, 0)->duration.count;
}

static gint64 calls(Case *c, gint64 since_ns, gint64 until_ns) {
    StatsFilter filter = {.kind = STATS_FUNCTION, .since_ns = since_ns, .until_ns = until_ns, .role = -1};
    g_autoptr(GError) error = NULL;
    sum_calls_total = 0;
    archive_stats(c->fixture.archive, &filter, add_calls, &sum_calls_total, &error);
    g_assert_no_error(error);
    return sum_calls_total;
}

static void accounts(Case *c, gint64 fields[ACCOUNT_FIELDS]) {
    g_autoptr(AccountTable) sum = account_table_new();
    archive_accounts(c->fixture.archive, sum);
    account_sum(sum, fields);
}

static void test_traces(gconstpointer data) {
    Case c;
    case_open(&c, data != NULL, 100);
    fill(&c);
    ArchiveTotals before = archive_totals(c.fixture.archive);
    gint64 all_calls = calls(&c, G_MININT64, G_MAXINT64);
    ExpireAges ages = {.traces_ns = 7 * DAY_NS};

    /* Nothing is past its age by a clock of then. */
    g_assert_cmpuint(expire(&c, &ages, begin_of(7 * 24), 1000).traces, ==, 0);

    ExpireResult gone = expire(&c, &ages, begin_of(TRACES) + 1000 * DAY_NS, 7);
    ArchiveTotals after = archive_totals(c.fixture.archive);
    g_assert_cmpuint(gone.traces, >=, 70);
    g_assert_cmpuint(gone.traces, <=, 73);
    g_assert_cmpuint(after.traces, ==, before.traces - gone.traces);
    g_assert_cmpuint(after.spans, ==, before.spans - gone.spans);
    gint64 fields[ACCOUNT_FIELDS];
    accounts(&c, fields);
    g_assert_cmpint(fields[ACCOUNT_EXPIRED], ==, gone.spans);
    g_assert_cmpint(fields[ACCOUNT_TAKEN] - fields[ACCOUNT_EXPIRED], ==, after.spans);

    /* Statistics are as they were. */
    g_assert_cmpint(calls(&c, G_MININT64, G_MAXINT64), ==, all_calls);
    fixture_assert_sound(&c.fixture);
    g_autoptr(GError) error = NULL;
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_assert_false(fixture_load(c.fixture.archive, 1, spans, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    g_assert_cmpuint(loaded_spans(&c, TRACES), >, 0);

    /* Again: nothing. After a reopening, the same. */
    g_assert_cmpuint(expire(&c, &ages, G_MAXINT64, 1000).traces, ==, 0);
    archive_writer_free(c.writer);
    fixture_reopen(&c.fixture);
    c.writer = archive_writer_new(c.fixture.archive);
    if (data != NULL) {
        fixture_assert_sound(&c.fixture);
        accounts(&c, fields);
        g_assert_cmpint(fields[ACCOUNT_EXPIRED], ==, gone.spans);
    }
    case_close(&c);
}

static void assert_period(const Case *c, gint64 since_ns, gint64 until_ns, gint64 told_since_ns, gint64 told_until_ns) {
    archive_stats_period(c->fixture.archive, &since_ns, &until_ns);
    g_assert_cmpint(since_ns, ==, told_since_ns);
    g_assert_cmpint(until_ns, ==, told_until_ns);
}

/* Minutes go, hours tell the same. */
static void test_levels(void) {
    Case c;
    case_open(&c, TRUE, 100);
    fill(&c);
    gint64 cut_ns = begin_of(TRACES / 2) / HOUR_NS * HOUR_NS;
    gint64 before = calls(&c, G_MININT64, cut_ns), after = calls(&c, cut_ns, G_MAXINT64);
    gint64 day = calls(&c, BASE_NS / HOUR_NS * HOUR_NS, BASE_NS / HOUR_NS * HOUR_NS + 30 * HOUR_NS);
    ExpireAges ages = {.traces_ns = 2 * DAY_NS, .level_ns = {3 * DAY_NS, 0, 0}};

    ExpireResult gone = expire(&c, &ages, G_MAXINT64, 100);
    g_assert_cmpuint(gone.traces, >, 150);
    fixture_assert_sound(&c.fixture);
    g_assert_cmpint(calls(&c, G_MININT64, cut_ns), ==, before);
    g_assert_cmpint(calls(&c, cut_ns, G_MAXINT64), ==, after);
    g_assert_cmpint(calls(&c, BASE_NS / HOUR_NS * HOUR_NS, BASE_NS / HOUR_NS * HOUR_NS + 30 * HOUR_NS), ==, day);

    /* Half an hour is not kept apart any more: the whole one is told. */
    gint64 hour_ns = begin_of(10) / HOUR_NS * HOUR_NS;
    assert_period(&c, hour_ns + 20 * NS_PER_MINUTE + 1, hour_ns + 21 * NS_PER_MINUTE, hour_ns, hour_ns + HOUR_NS);
    assert_period(&c, G_MININT64, hour_ns + 1, G_MININT64, hour_ns + HOUR_NS);
    gint64 late_ns = begin_of(TRACES) / NS_PER_MINUTE * NS_PER_MINUTE;
    assert_period(&c, late_ns + 1, late_ns + 2, late_ns, late_ns + NS_PER_MINUTE);
    assert_period(&c, G_MININT64, G_MAXINT64, G_MININT64, G_MAXINT64);
    g_assert_cmpint(calls(&c, hour_ns + 20 * NS_PER_MINUTE, hour_ns + 21 * NS_PER_MINUTE), ==,
                    calls(&c, hour_ns, hour_ns + HOUR_NS));

    /* Hours and days go, too, when they are to. */
    ages.level_ns[LEVEL_HOUR] = 4 * DAY_NS;
    ages.level_ns[LEVEL_DAY] = 6 * DAY_NS;
    expire(&c, &ages, G_MAXINT64, 100);
    g_assert_cmpint(calls(&c, G_MININT64, begin_of(TRACES) - 8 * DAY_NS), ==, 0);
    g_assert_cmpint(calls(&c, cut_ns, G_MAXINT64), >, 0);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* What comes late for a removed trace is told from what is lost. */
static void test_late_for_removed(void) {
    Case c;
    case_open(&c, FALSE, 0);
    fill(&c);
    ExpireAges ages = {.traces_ns = 7 * DAY_NS};
    expire(&c, &ages, G_MAXINT64, 1000);
    TraceShape shape = {.max_spans = 30, .begin_ns = begin_of(1), .duration_ns = NS_PER_SEC};
    world_trace(&c.world, 1, &shape, c.spans);
    fixture_add(c.writer, c.spans);
    fixture_commit(c.writer);
    join_late(&c);
    fixture_assert_sound(&c.fixture);
    expire(&c, &ages, G_MAXINT64, 1000);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* The spans of trace 1 as they were. */
static guint add_first_again(Case *c, gboolean replaying) {
    TestWorld again;
    world_init(&again, 1, archive_dict(c->fixture.archive));
    TraceShape shape = {.max_spans = 30, .begin_ns = begin_of(1), .duration_ns = NS_PER_SEC};
    world_trace(&again, 1, &shape, c->spans);
    world_clear(&again);
    archive_writer_replaying(c->writer, replaying);
    fixture_add(c->writer, c->spans);
    fixture_commit(c->writer);
    archive_writer_replaying(c->writer, FALSE);
    join_late(c);
    return span_count(c->spans);
}

static void assert_stored(Case *c, guint64 traces, gint64 taken, gint64 replayed) {
    gint64 fields[ACCOUNT_FIELDS];
    accounts(c, fields);
    g_assert_cmpuint(archive_totals(c->fixture.archive).traces, ==, traces);
    g_assert_cmpint(fields[ACCOUNT_TAKEN], ==, taken);
    g_assert_cmpint(fields[ACCOUNT_REPLAYED], ==, replayed);
    fixture_assert_sound(&c->fixture);
}

static void reopen(Case *c) {
    archive_writer_free(c->writer);
    fixture_reopen(&c->fixture);
    c->writer = archive_writer_new(c->fixture.archive);
}

static void forget(Case *c, guint32 generation) {
    g_autoptr(GError) error = NULL;
    archive_removed_traces_forget(c->fixture.archive, generation, &error);
    g_assert_no_error(error);
}

/* What the journal gives again of a removed trace is known until the journal has it no more, also after a crash. */
static void test_replayed_after_removal(void) {
    Case c;
    case_open(&c, TRUE, 100);
    fill(&c);
    ExpireAges ages = {.traces_ns = 7 * DAY_NS};
    g_assert_false(archive_removed_traces_any(c.fixture.archive));
    expire(&c, &ages, G_MAXINT64, 1000);
    guint64 traces = archive_totals(c.fixture.archive).traces;
    gint64 fields[ACCOUNT_FIELDS];
    accounts(&c, fields);
    gint64 taken = fields[ACCOUNT_TAKEN], expired = fields[ACCOUNT_EXPIRED];

    guint n = add_first_again(&c, TRUE);
    assert_stored(&c, traces, taken, n);
    reopen(&c);
    guint32 closed = archive_removed_traces_close(c.fixture.archive);
    add_first_again(&c, TRUE);
    assert_stored(&c, traces, taken, n);
    reopen(&c);
    add_first_again(&c, TRUE);
    assert_stored(&c, traces, taken, n);

    /* A sender's are a new trace's, and that goes into the next generation. */
    g_assert_cmpuint(archive_removed_traces_close(c.fixture.archive), ==, closed);
    add_first_again(&c, FALSE);
    assert_stored(&c, traces + 1, taken + n, n);
    g_assert_cmpuint(expire(&c, &ages, G_MAXINT64, 1000).traces, ==, 1);
    forget(&c, closed);
    g_assert_true(archive_removed_traces_any(c.fixture.archive));
    add_first_again(&c, TRUE);
    assert_stored(&c, traces, taken + n, 2 * n);
    accounts(&c, fields);
    g_assert_cmpint(fields[ACCOUNT_EXPIRED], ==, expired + n);

    /* Forgotten, also on the disk. */
    forget(&c, archive_removed_traces_close(c.fixture.archive));
    g_assert_false(archive_removed_traces_any(c.fixture.archive));
    reopen(&c);
    g_assert_false(archive_removed_traces_any(c.fixture.archive));
    add_first_again(&c, TRUE);
    assert_stored(&c, traces + 1, taken + 2 * n, 0);
    case_close(&c);
}

/* It was stored when the journal gave it again, and was removed before that was joined to it. */
static void test_removed_while_replayed(void) {
    Case c;
    case_open(&c, FALSE, 100);
    fill(&c);

    TestWorld again;
    world_init(&again, 1, archive_dict(c.fixture.archive));
    TraceShape shape = {.max_spans = 30, .begin_ns = begin_of(1), .duration_ns = NS_PER_SEC};
    world_trace(&again, 1, &shape, c.spans);
    world_clear(&again);

    archive_writer_replaying(c.writer, TRUE);
    fixture_add(c.writer, c.spans);
    fixture_commit(c.writer);
    gint64 before[ACCOUNT_FIELDS], fields[ACCOUNT_FIELDS];
    accounts(&c, before);
    g_assert_cmpint(before[ACCOUNT_WAITING], ==, span_count(c.spans));

    ExpireAges ages = {.traces_ns = 7 * DAY_NS};
    ExpireResult gone = expire(&c, &ages, G_MAXINT64, 1000);
    join_late(&c);

    accounts(&c, fields);
    g_assert_cmpint(fields[ACCOUNT_WAITING], ==, 0);
    g_assert_cmpint(fields[ACCOUNT_TAKEN], ==, before[ACCOUNT_TAKEN]);
    g_assert_cmpint(fields[ACCOUNT_EXPIRED], ==, gone.spans);
    g_assert_cmpint(fields[ACCOUNT_REPLAYED], ==, span_count(c.spans));
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

static void test_space_comes_back(void) {
    Case c;
    case_open(&c, TRUE, 0);

    for (guint trace = 1; trace <= 4000; trace++) {
        TraceShape shape = {.max_spans = 60, .begin_ns = begin_of(trace / 20), .duration_ns = NS_PER_SEC};
        world_trace(&c.world, trace, &shape, c.spans);
        fixture_add(c.writer, c.spans);
    }
    fixture_commit(c.writer);
    g_autoptr(GError) error = NULL;
    store_flush(c.fixture.store, TRUE, &error);
    g_assert_no_error(error);

    StoreUsage before = store_usage(c.fixture.store);
    ExpireAges ages = {.traces_ns = DAY_NS};
    ExpireResult gone = expire(&c, &ages, G_MAXINT64, 500);
    g_assert_cmpuint(gone.traces, >, 3000);
    archive_compact(c.fixture.archive, G_MAXINT64, &error);
    g_assert_no_error(error);

    StoreUsage after = store_usage(c.fixture.store);
    static const StoreFamily families[] = {FAMILY_TRACE, FAMILY_TRACE_ID, FAMILY_INDEX};
    for (guint i = 0; i < G_N_ELEMENTS(families); i++) {
        guint64 was = before.family_bytes[families[i]], is = after.family_bytes[families[i]];
        g_test_message("%s: %u KB, %u KB with %u of 4000 traces removed", store_family_name(families[i]),
                       (guint)(was >> 10), (guint)(is >> 10), (guint)gone.traces);
        g_assert_cmpuint(is, <, was / 4);
    }

    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/expire/traces/memory", NULL, test_traces);
    g_test_add_data_func("/expire/traces/rocksdb", "", test_traces);
    g_test_add_func("/expire/levels", test_levels);
    g_test_add_func("/expire/late-for-removed", test_late_for_removed);
    g_test_add_func("/expire/replayed", test_replayed_after_removal);
    g_test_add_func("/expire/replayed-meanwhile", test_removed_while_replayed);
    g_test_add_func("/expire/space", test_space_comes_back);
    return g_test_run();
}
