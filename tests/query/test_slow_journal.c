/* JournalNodes that are slow: named when a majority is, or when the NameNode's own disk is the slow one, not. */
#include <string.h>

#include "common/base/clock.h"
#include "tests/query/fixture.h"
#include "tests/query/spark_sample.h"

#define MINUTES     30u
#define CALLS       30u /* in a minute */
#define SLOW_MINUTE 20u
#define NAMENODE    "NameNode/nn1/1"

/* What takes how many times as long from SLOW_MINUTE on. */
typedef struct Journal {
    Fixture *fixture;
    SpanBatch *batch;
    GRand *rand;
    guint64 trace, span;
    double journalnodes[3], disk; /* their disks; the NameNode's own */
    guint calls;                  /* that wait for a sync */
    gboolean untraced;            /* nothing is seen of JournalNodes */
    gboolean slow;                /* it is that late */
} Journal;

typedef struct Time {
    gint64 from_us, to_us;
} Time;

static guint64 add_span(Journal *j, guint64 parent, const char *name, const char *tracer, Time time) {
    const SpanRow row = {.trace = j->trace,
                         .span = ++j->span,
                         .parent = parent,
                         .name = name,
                         .tracer = tracer,
                         .begin_us = time.from_us,
                         .duration_us = time.to_us - time.from_us};
    row_to_batch(&row, j->batch);
    return row.span;
}

/* A third more or less. */
static gint64 around(Journal *j, double mean_us) {
    return (gint64)(mean_us * g_rand_double_range(j->rand, 0.67, 1.33));
}

static gint64 disk_us(Journal *j, double times) { return around(j, 1000 * (j->slow ? times : 1)); }

static void add_journalnode(Journal *j, guint64 quorum, guint node, gint64 from_us, gint64 to_us) {
    g_autofree char *tracer = g_strdup_printf("JournalNode/jn%u/1", node + 1);
    const guint64 send = add_span(j, quorum, "IPCLoggerChannel#sendEdits", NAMENODE, (Time){from_us, to_us});
    const guint64 call =
        add_span(j, send, "QJournalProtocolService#journal", NAMENODE, (Time){from_us + 20, to_us - 20});
    if (j->untraced) return;
    const guint64 serve = add_span(j, call, "QJournalProtocol#journal", tracer, (Time){from_us + 100, to_us - 100});
    const guint64 journal = add_span(j, serve, "Journal#journal", tracer, (Time){from_us + 130, to_us - 120});
    add_span(j, journal, "EditLogFileOutputStream#flushAndSync", tracer, (Time){from_us + 150, to_us - 150});
}

/* Another call in the trace's place, whose edit is in the same sync. */
static guint64 add_call(Journal *j, gint64 from_us, gint64 synced_us) {
    j->trace++;
    j->span = 0;
    const guint64 call =
        add_span(j, 0, "ClientNamenodeProtocol#mkdirs", "FSClient/c1/7", (Time){from_us, synced_us + 300});
    const guint64 serve = add_span(j, call, "ClientProtocol#mkdirs", NAMENODE, (Time){from_us + 100, from_us + 500});
    return add_span(j, serve, "FSEditLog#logSync", NAMENODE, (Time){from_us + 400, synced_us + 100});
}

static void add_sync(Journal *j, gint64 from_us) {
    const gint64 sync_us = from_us + 500, own_us = sync_us + disk_us(j, j->disk);
    gint64 answers_us[3], last_us = 0, least_us = G_MAXINT64, sum_us = 0;
    for (guint node = 0; node < 3; node++) {
        answers_us[node] = own_us + 400 + disk_us(j, j->journalnodes[node]);
        last_us = MAX(last_us, answers_us[node]);
        least_us = MIN(least_us, answers_us[node]);
        sum_us += answers_us[node];
    }
    const gint64 quorum_us = sum_us - last_us - least_us + 20, synced_us = quorum_us + 50;
    for (guint i = 1; i < j->calls; i++) add_call(j, from_us + 10 * i, synced_us);
    const guint64 wait = add_call(j, from_us, synced_us);
    const guint64 sync = add_span(j, wait, "FSEditLogAsync#logSync", NAMENODE, (Time){sync_us, synced_us});
    add_span(j, sync, "EditLogFileOutputStream#flushAndSync", NAMENODE, (Time){sync_us, own_us});
    const guint64 quorum = add_span(j, sync, "QuorumOutputStream#flushAndSync", NAMENODE, (Time){own_us, quorum_us});
    for (guint node = 0; node < 3; node++) add_journalnode(j, quorum, node, own_us + 10, answers_us[node]);
}

static void make(Journal *j) {
    j->rand = g_rand_new_with_seed(5);
    for (guint minute = 0; minute < MINUTES; minute++) {
        j->slow = minute >= SLOW_MINUTE;
        j->batch = batch_new();
        for (guint i = 0; i < CALLS; i++) add_sync(j, (gint64)minute * 60000000 + i * 2000000);
        fixture_store_batch(j->fixture, j->batch);
        batch_free(j->batch);
    }
    g_rand_free(j->rand);
}

typedef struct Case {
    const char *name;
    double journalnodes[3], disk;
    guint calls;
    gboolean untraced;
    const char *host, *class; /* NULL: nothing is told */
} Case;

static const Case cases[] = {
    {"two of three", {1, 60, 200}, 1, 2, FALSE, "jn2", "journal"},
    {"two of three, of a busy NameNode", {1, 60, 200}, 1, 30, FALSE, "jn2", "journal"},
    {"one of three", {1, 1, 90}, 1, 2, FALSE, NULL, NULL},
    {"two of three that are not traced", {1, 60, 200}, 1, 2, TRUE, "nn1", "edit-log"},
    {"the disk of the NameNode", {1, 1, 1}, 60, 2, FALSE, "nn1", "edit-log"},
    {"the disk of the NameNode, and one of three", {1, 1, 90}, 60, 2, FALSE, "nn1", "edit-log"},
};

/* Nobody waits for it, but it would be seen: it is far slower than predicted. */
static void check_risk(Fixture *fixture) {
    json_auto_t *nodes = fixture_answer(fixture, "nodes", "host=jn3");
    const json_t *row = row_where(json_object_get(nodes, "nodes"), "class", "journal");
    g_assert_cmpfloat(json_number_value(json_object_get(row, "slowdown")), >, 10);
}

static void test_case(gconstpointer data) {
    const Case *c = data;
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Journal j = {.fixture = &fixture, .disk = c->disk, .calls = c->calls, .untraced = c->untraced};
    memcpy(j.journalnodes, c->journalnodes, sizeof j.journalnodes);
    make(&j);

    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow"), *row = json_array_get(rows, 0);
    g_assert_cmpuint(json_array_size(rows), ==, c->host != NULL);
    if (c->host == NULL) {
        check_risk(&fixture);
        return;
    }
    g_assert_cmpstr(text_at(row, "host"), ==, c->host);
    g_assert_cmpstr(text_at(row, "class"), ==, c->class);
    g_assert_cmpstr(text_at(row, "layer"), ==, "edit log");
    g_assert_cmpint(number_at(row, "begin_time_ns"), ==, SAMPLE_BASE_NS + SLOW_MINUTE * NS_PER_MINUTE);
    const double waited_s = 10 * CALLS * c->calls * 0.059;
    g_assert_cmpfloat_with_epsilon((double)number_at(row, "waited_ns") / 1e9, waited_s, waited_s / 9);
}

/* The NameNode's own disk is slower than that of any JournalNode. */
static void test_both(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Journal j = {.fixture = &fixture, .journalnodes = {1, 20, 30}, .disk = 60, .calls = 2};
    make(&j);
    json_auto_t *slow = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(slow, "slow"), *row = json_array_get(rows, 0);
    g_assert_cmpstr(text_at(row, "host"), ==, "nn1");
    g_assert_cmpstr(text_at(row, "class"), ==, "edit-log");
    g_assert_cmpstr(text_at(row_where(rows, "class", "journal"), "host"), ==, "jn2");
}

/* Of a trace that waited: for whom, and since when that has been slow. */
static void test_why(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Journal j = {.fixture = &fixture, .journalnodes = {1, 60, 200}, .disk = 1, .calls = 2};
    make(&j);
    json_auto_t *slow = fixture_answer(&fixture, "slow", "");
    const json_t *row = json_array_get(json_object_get(slow, "slow"), 0);
    g_autofree char *asked = g_strdup_printf("trace=%s", text_at(json_object_get(row, "example"), "trace"));
    json_auto_t *why = fixture_answer(&fixture, "why", asked);
    const json_t *wait = json_array_get(json_object_get(why, "waits"), 0);
    g_assert_cmpstr(text_at(wait, "host"), ==, "jn2");
    g_assert_cmpstr(text_at(wait, "resource"), ==, "disk");
    g_assert_cmpstr(text_at(json_object_get(wait, "spell"), "class"), ==, "journal");
    fixture_check_document("slow-journal", slow);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/query/journal/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/query/journal/both", test_both);
    g_test_add_func("/query/journal/why", test_why);
    return g_test_run();
}
