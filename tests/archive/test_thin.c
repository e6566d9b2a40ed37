/* Frequent traces are thinned; rare, slow, incomplete and flagged ones stay, and statistics know of all. */
#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/retention/expire.h"
#include "analyzer/archive/retention/thin.h"
#include "analyzer/archive/tables/account.h"
#include "analyzer/archive/verify/verify.h"
#include "tests/archive/case.h"

#define HOUR_NS  (60 * NS_PER_MINUTE)
#define BEGIN_NS (BASE_NS / HOUR_NS * HOUR_NS + 5 * NS_PER_MINUTE)
#define FREQUENT 2000u
#define SLOW     20u
#define RARE     10u

typedef struct Sort {
    const char *what;
    guint64 first; /* trace ids */
    guint n;
    guint32 name; /* of the root: another pattern */
    gint64 duration_ns;
    gint64 child_begin_ns, child_duration_ns;
    guint64 child_parent;
} Sort;

/* Root and one child. */
static void add(Case *c, const Sort *sort, guint64 trace, gint64 begin_ns, gint64 duration_ns) {
    g_byte_array_set_size(c->spans, 0);
    guint32 tracer = c->world.tracers[0]; /* another role would be another pattern */
    TestSpan root = {trace, 1, 0, c->world.names[sort->name], tracer, begin_ns, duration_ns};
    TestSpan child = {trace,
                      2,
                      sort->child_parent,
                      c->world.names[5],
                      tracer,
                      begin_ns + sort->child_begin_ns,
                      sort->child_duration_ns};
    test_span_append(c->spans, &root);
    test_span_append(c->spans, &child);
    fixture_add(c->writer, c->spans);
}

static const Sort sorts[] = {
    {"frequent", 1000000, FREQUENT, 0, 100 * NS_PER_MS, 1000, 1000, 1},
    {"slow", 2000000, SLOW, 0, 5 * NS_PER_SEC, 1000, 1000, 1},
    {"rare", 3000000, RARE, 1, 100 * NS_PER_MS, 1000, 1000, 1},
    {"incomplete", 4000000, 50, 2, 100 * NS_PER_MS, 1000, 1000, 77},
    {"reversed", 5000000, 50, 0, 100 * NS_PER_MS, 1000, -500, 1},
    {"outside", 6000000, 50, 0, 50 * NS_PER_MS, 20 * NS_PER_MS, 40 * NS_PER_MS, 1},
};

static void fill(Case *c, gint64 begin_ns, guint64 offset) {
    for (guint i = 0; i < G_N_ELEMENTS(sorts); i++)
        for (guint k = 0; k < sorts[i].n; k++)
            add(c, &sorts[i], offset + sorts[i].first + k, begin_ns + k * 10 * NS_PER_MS,
                sorts[i].duration_ns + (i == 0 ? (gint64)(k % 50) * NS_PER_US : 0));
    fixture_commit(c->writer);
    join_late(c);
}

static guint there(Case *c, const Sort *sort, guint64 offset) {
    guint n = 0;
    for (guint k = 0; k < sort->n; k++) {
        g_autoptr(GByteArray) spans = g_byte_array_new();
        if (fixture_load(c->fixture.archive, offset + sort->first + k, spans, NULL)) n++;
    }
    return n;
}

static ThinResult thin(Case *c, guint keep, gint64 until_ns, guint step) {
    ThinOptions options = {keep, until_ns};
    g_autoptr(Thinner) thinner = thinner_new(c->fixture.archive, &options);
    ThinResult sum = {0}, result = {.more = TRUE};
    for (guint i = 0; result.more; i++) {
        g_autoptr(GError) error = NULL;
        g_assert_cmpuint(i, <, 100000);
        thinner_step(thinner, step, &result, &error);
        g_assert_no_error(error);
        sum.traces += result.traces;
        sum.spans += result.spans;
    }
    return sum;
}

static void test_what_stays(gconstpointer data) {
    Case c;
    case_open(&c, data != NULL, 0);
    fill(&c, BEGIN_NS, 0);
    guint64 before = archive_totals(c.fixture.archive).spans;

    ThinResult gone = thin(&c, 20, G_MAXINT64, 117);
    guint stays = there(&c, &sorts[0], 0);
    /* Those that stay for a reason of their own may have been among the 20. */
    g_assert_cmpuint(stays, <=, 20);
    g_assert_cmpuint(stays, >=, 10);
    for (guint i = 1; i < G_N_ELEMENTS(sorts); i++) g_assert_cmpuint(there(&c, &sorts[i], 0), ==, sorts[i].n);
    g_assert_cmpuint(gone.traces, ==, FREQUENT - stays);
    g_assert_cmpuint(archive_totals(c.fixture.archive).spans, ==, before - gone.spans);

    g_autoptr(AccountTable) accounts = account_table_new();
    archive_accounts(c.fixture.archive, accounts);
    gint64 fields[ACCOUNT_FIELDS];
    account_sum(accounts, fields);
    g_assert_cmpint(fields[ACCOUNT_THINNED], ==, gone.spans);
    fixture_assert_sound(&c.fixture);

    /* Again the same: nothing. Harder: a part of what stayed. The slow ones do not become ordinary. */
    g_assert_cmpuint(thin(&c, 20, G_MAXINT64, 10000).traces, ==, 0);
    g_assert_cmpuint(thin(&c, 5, G_MAXINT64, 10000).traces, >, 0);
    g_assert_cmpuint(there(&c, &sorts[1], 0), ==, SLOW);
    g_assert_cmpuint(there(&c, &sorts[2], 0), ==, 5);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* Each hour for itself, and none that is not over. */
static void test_hours(void) {
    Case c;
    case_open(&c, TRUE, 0);
    for (guint hour = 0; hour < 4; hour++) fill(&c, BEGIN_NS + hour * HOUR_NS, hour * 10000000);
    thin(&c, 30, BEGIN_NS + 3 * HOUR_NS, 1000);
    for (guint hour = 0; hour < 4; hour++) {
        guint stays = there(&c, &sorts[0], hour * 10000000);
        g_assert_cmpuint(stays, >, 15);
        if (hour < 3)
            g_assert_cmpuint(stays, <=, 30);
        else
            g_assert_cmpuint(stays, ==, FREQUENT);
    }
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* Each has the same chance: of ids in a row, the first half has about as many left as the second. */
static void test_no_preference(void) {
    Case c;
    case_open(&c, FALSE, 0);
    Sort sort = sorts[0];
    for (guint k = 0; k < 4000; k++) add(&c, &sort, sort.first + k, BEGIN_NS + k * NS_PER_MS, sort.duration_ns);
    fixture_commit(c.writer);
    thin(&c, 400, G_MAXINT64, 100000);
    Sort first = sort, second = sort;
    first.n = second.n = 2000;
    second.first += 2000;
    guint a = there(&c, &first, 0), b = there(&c, &second, 0);
    g_assert_cmpuint(a + b, ==, 400);
    g_assert_cmpuint(a, >, 160); /* four standard deviations */
    g_assert_cmpuint(a, <, 240);
    case_close(&c);
}

/* A kept trace gets a late span: statistics and what was removed go on adding up. */
static void test_late(void) {
    Case c;
    case_open(&c, TRUE, 0);
    fill(&c, BEGIN_NS, 0);
    thin(&c, 20, G_MAXINT64, 10000);

    for (guint i = 0; i < G_N_ELEMENTS(sorts); i++) {
        guint64 trace = sorts[i].first + (i == 0 ? 0 : 1);
        while (i == 0 && there(&c, &(Sort){.first = trace, .n = 1}, 0) == 0) trace++;
        g_byte_array_set_size(c.spans, 0);
        TestSpan late = {trace, 9, 1, c.world.names[7], c.world.tracers[0], BEGIN_NS + NS_PER_MS, 100};
        test_span_append(c.spans, &late);
        fixture_add(c.writer, c.spans);
    }

    /* For one that is gone, too. */
    guint64 gone = sorts[0].first;
    while (there(&c, &(Sort){.first = gone, .n = 1}, 0) == 1) gone++;
    g_byte_array_set_size(c.spans, 0);
    TestSpan late = {gone, 9, 1, c.world.names[7], c.world.tracers[0], BEGIN_NS + NS_PER_MS, 100};
    test_span_append(c.spans, &late);
    fixture_add(c.writer, c.spans);

    fixture_commit(c.writer);
    join_late(&c);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* Lost is not thinned: verify sees the difference. */
static void test_lost(void) {
    Case c;
    case_open(&c, FALSE, 0);
    fill(&c, BEGIN_NS, 0);
    thin(&c, 20, G_MAXINT64, 10000);
    LayoutKey key = trace_key(&(TraceKey){trace_second(BEGIN_NS), sorts[2].first, 0});
    LayoutKey id = trace_id_key(sorts[2].first);
    g_autoptr(StoreBatch) batch = store_batch_new(c.fixture.store);
    store_batch_delete(batch, FAMILY_TRACE, key_bytes(&key));
    store_batch_delete(batch, FAMILY_TRACE_ID, key_bytes(&id));
    g_assert_true(store_write(c.fixture.store, batch, FALSE, NULL));
    VerifyResult result;
    archive_verify(c.fixture.archive, NULL, &result, NULL);
    g_assert_cmpuint(result.differences, >, 0);
    case_close(&c);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/thin/what-stays/memory", NULL, test_what_stays);
    g_test_add_data_func("/thin/what-stays/rocksdb", "", test_what_stays);
    g_test_add_func("/thin/hours", test_hours);
    g_test_add_func("/thin/no-preference", test_no_preference);
    g_test_add_func("/thin/late", test_late);
    g_test_add_func("/thin/lost", test_lost);
    return g_test_run();
}
