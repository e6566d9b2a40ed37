/* Critical-path times that older programs counted by their rules, beside those that are counted by that of today. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "tests/archive/case.h"

#define TRACES 40u

enum { WAIT = 9, STREAMER = 8, OP = 5, WORK = 7, OPERATION = 11, READ = 2, SERVE = 6 }; /* of TestWorld.names */

/* A root that waits all the time, and a DataNode that works for half of it. */
static void add_trace(Case *c, guint64 trace, gboolean late) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, half_ns = NS_PER_SEC / 2;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const TestSpan spans[] = {
        {trace, 1, 0, names[0], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, names[WAIT], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 1, names[STREAMER], tracers[0], begin_ns, NS_PER_MS},
        {trace, 4, 3, names[OP], tracers[3], begin_ns, NS_PER_SEC},
        {trace, 5, 4, names[WORK], tracers[3], begin_ns, half_ns},
    };
    const TestSpan later = {trace, 6, 4, names[WORK], tracers[3], begin_ns + half_ns, half_ns / 2};
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans) && !late; i++) test_span_append(c->spans, &spans[i]);
    if (late) test_span_append(c->spans, &later);
    fixture_add(c->writer, c->spans);
}

static void add_traces(Case *c, guint64 first, guint64 end, gboolean late) {
    for (guint64 trace = first; trace < end; trace++) add_trace(c, trace, late);
    commit_and_join(c);
}

static void sum_critical(void *arg, const StatsKey *key, StatsRow *row) {
    guint32 node;
    (void)key;
    for (guint i = 0; i < stats_row_size(row); i++) *(gint64 *)arg += stats_row_at(row, i, &node)->critical_ns;
}

/* Of a function, on all hosts. */
static gint64 critical_of(Case *c, guint32 name) {
    const StatsFilter filter = {.kind = STATS_FUNCTION,
                                .object = name,
                                .role = -1,
                                .since_ns = BASE_NS,
                                .until_ns = BASE_NS + 60 * NS_PER_MINUTE};
    g_autoptr(GError) error = NULL;
    gint64 sum = 0;
    archive_stats(c->fixture.archive, &filter, sum_critical, &sum, &error);
    g_assert_no_error(error);
    return sum;
}

static gint64 critical_ns(Case *c, guint name) { return critical_of(c, c->world.names[name]); }

/* A task: an operation lies over all of it, and a read beside it over a half. */
static void add_task(Case *c, guint64 trace, gboolean late) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, quarter_ns = NS_PER_SEC / 4;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const TestSpan spans[] = {
        {trace, 1, 0, names[0], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, names[OPERATION], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 1, names[READ], tracers[0], begin_ns + quarter_ns, 2 * quarter_ns},
    };
    const TestSpan later = {trace, 4, 2, names[READ], tracers[0], begin_ns + 3 * quarter_ns, quarter_ns};
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans) && !late; i++) test_span_append(c->spans, &spans[i]);
    if (late) test_span_append(c->spans, &later);
    fixture_add(c->writer, c->spans);
}

static void add_tasks(Case *c, guint64 first, guint64 end, gboolean late) {
    for (guint64 trace = first; trace < end; trace++) add_task(c, trace, late);
    commit_and_join(c);
}

static void test_older_store(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    c.fixture.archive->times_rule = TIMES_BY_PARENT;
    add_traces(&c, 1, TRACES + 1, FALSE);
    g_assert_cmpint(critical_ns(&c, WAIT), ==, TRACES * NS_PER_SEC);
    g_assert_cmpint(critical_ns(&c, WORK), ==, 0);

    /* What is there is sound to a program of today, and stays as it is. */
    c.fixture.archive->times_rule = TIMES_BY_TURNS;
    fixture_assert_sound(&c.fixture);
    add_traces(&c, TRACES + 1, 2 * TRACES + 1, FALSE);
    fixture_assert_sound(&c.fixture);
    g_assert_cmpint(critical_ns(&c, WAIT), ==, TRACES * NS_PER_SEC + TRACES * NS_PER_SEC / 2);
    g_assert_cmpint(critical_ns(&c, WORK), ==, TRACES * NS_PER_SEC / 2);

    /* A late span has its trace counted anew. */
    add_traces(&c, 1, 2 * TRACES + 1, TRUE);
    fixture_assert_sound(&c.fixture);
    g_assert_cmpint(critical_ns(&c, WAIT), ==, 2 * TRACES * NS_PER_SEC / 4);
    g_assert_cmpint(critical_ns(&c, WORK), ==, 2 * TRACES * NS_PER_SEC * 3 / 4);
    case_close(&c);
}

/* Counted through waits, an operation had all of its task's time. */
static void test_operations(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    c.fixture.archive->times_rule = TIMES_THROUGH_WAITS;
    add_tasks(&c, 1, TRACES + 1, FALSE);
    add_traces(&c, 10 * TRACES, 11 * TRACES, FALSE);
    g_assert_cmpint(critical_ns(&c, OPERATION), ==, TRACES * NS_PER_SEC);
    g_assert_cmpint(critical_ns(&c, READ), ==, 0);
    const gint64 through_waits_ns = critical_ns(&c, WORK);

    c.fixture.archive->times_rule = TIMES_BY_TURNS;
    fixture_assert_sound(&c.fixture);
    add_tasks(&c, TRACES + 1, 2 * TRACES + 1, FALSE);
    add_traces(&c, 12 * TRACES, 13 * TRACES, FALSE);
    fixture_assert_sound(&c.fixture);
    g_assert_cmpint(critical_ns(&c, OPERATION), ==, TRACES * NS_PER_SEC + TRACES * NS_PER_SEC / 2);
    g_assert_cmpint(critical_ns(&c, READ), ==, TRACES * NS_PER_SEC / 2);
    g_assert_cmpint(critical_ns(&c, WORK), ==, 2 * through_waits_ns);

    add_tasks(&c, 1, 2 * TRACES + 1, TRUE);
    fixture_assert_sound(&c.fixture);
    g_assert_cmpint(critical_ns(&c, OPERATION), ==, 2 * TRACES * NS_PER_SEC / 4);
    g_assert_cmpint(critical_ns(&c, READ), ==, 2 * TRACES * NS_PER_SEC * 3 / 4);
    case_close(&c);
}

/* A root waits for a DataNode that does nothing between two packets. */
static void add_pause(Case *c, guint64 trace) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, half_ns = NS_PER_SEC / 2;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const guint32 receive = c->world.receive;
    const TestSpan spans[] = {
        {trace, 1, 0, names[0], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, names[WAIT], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 1, names[STREAMER], tracers[0], begin_ns, NS_PER_MS},
        {trace, 4, 3, names[OP], tracers[3], begin_ns, NS_PER_SEC},
        {trace, 5, 4, names[READ], tracers[3], begin_ns, 2},
        {trace, 6, 5, receive, tracers[3], begin_ns, 1},
        {trace, 7, 4, names[READ], tracers[3], begin_ns + half_ns + 2, 2},
        {trace, 8, 7, receive, tracers[3], begin_ns + half_ns + 2, 1},
    };
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) test_span_append(c->spans, &spans[i]);
    fixture_add(c->writer, c->spans);
}

static void test_standing(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    static const TimesRule rules[] = {TIMES_THROUGH_WAITS, TIMES_BY_TURNS, TIMES_STANDING};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        c.fixture.archive->times_rule = rules[i];
        for (guint64 trace = 1; trace <= TRACES; trace++) add_pause(&c, i * TRACES + trace);
        commit_and_join(&c);
        g_assert_cmpint(critical_ns(&c, OP), ==, rules[i] == TIMES_STANDING ? TRACES * NS_PER_SEC / 2 : 0);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

/* A root waits for a DataNode that was asked half a second ago, and something else began when it answered. */
static void add_answer(Case *c, guint64 trace) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, half_ns = NS_PER_SEC / 2;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const TestSpan spans[] = {
        {trace, 1, 0, names[0], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, names[WAIT], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 1, names[STREAMER], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 4, 3, names[READ], tracers[0], begin_ns + half_ns, NS_PER_MS},
        {trace, 5, 3, names[OP], tracers[3], begin_ns + half_ns, 1},
        {trace, 6, 5, names[READ], tracers[3], begin_ns + half_ns, 0},
    };
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) test_span_append(c->spans, &spans[i]);
    fixture_add(c->writer, c->spans);
}

static void test_asked(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    static const TimesRule rules[] = {TIMES_STANDING, TIMES_ASKED};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        c.fixture.archive->times_rule = rules[i];
        for (guint64 trace = 1; trace <= TRACES; trace++) add_answer(&c, i * TRACES + trace);
        commit_and_join(&c);
        g_assert_cmpint(critical_ns(&c, OP), ==, rules[i] == TIMES_ASKED ? TRACES * NS_PER_SEC / 2 : 0);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

/* A root waits for what comes slowly to one DataNode, and slowly from it to the next. */
static void add_links(Case *c, guint64 trace) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, half_ns = NS_PER_SEC / 2;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const guint32 receive = c->world.receive, mirror = c->world.mirror;
    const TestSpan spans[] = {
        {trace, 1, 0, names[0], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, names[WAIT], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 1, names[STREAMER], tracers[0], begin_ns, NS_PER_MS},
        {trace, 4, 3, c->world.send, tracers[0], begin_ns, NS_PER_MS},
        {trace, 5, 3, names[OP], tracers[3], begin_ns, NS_PER_SEC},
        {trace, 6, 5, receive, tracers[3], begin_ns, half_ns},
        {trace, 7, 5, mirror, tracers[3], begin_ns + half_ns, 1},
        {trace, 8, 5, names[OP], tracers[4], begin_ns, NS_PER_SEC},
        {trace, 9, 8, receive, tracers[4], begin_ns, NS_PER_SEC},
    };
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) test_span_append(c->spans, &spans[i]);
    fixture_add(c->writer, c->spans);
}

static void test_network(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    static const TimesRule rules[] = {TIMES_ASKED, TIMES_NETWORK};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        c.fixture.archive->times_rule = rules[i];
        for (guint64 trace = 1; trace <= TRACES; trace++) add_links(&c, i * TRACES + trace);
        commit_and_join(&c);
        g_assert_cmpint(critical_of(&c, c.world.mirror), ==, rules[i] == TIMES_NETWORK ? TRACES * NS_PER_SEC / 2 : 0);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

/* A reader waits for a DataNode that was asked for a block half a second ago. */
static void add_reader(Case *c, guint64 trace) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, half_ns = NS_PER_SEC / 2;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const TestSpan spans[] = {
        {trace, 1, 0, names[READ], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, c->world.ask, tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 2, names[SERVE], tracers[3], begin_ns + half_ns, half_ns},
        {trace, 4, 3, names[WORK], tracers[3], begin_ns + half_ns, half_ns / 2},
    };
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) test_span_append(c->spans, &spans[i]);
    fixture_add(c->writer, c->spans);
}

static void test_readers(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    const gint64 quarter_ns = TRACES * NS_PER_SEC / 4;
    static const TimesRule rules[] = {TIMES_NETWORK, TIMES_READERS};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        c.fixture.archive->times_rule = rules[i];
        for (guint64 trace = 1; trace <= TRACES; trace++) add_reader(&c, i * TRACES + trace);
        commit_and_join(&c);
        g_assert_cmpint(critical_of(&c, c.world.ask), ==, 2 * quarter_ns);
        g_assert_cmpint(critical_ns(&c, SERVE), ==, rules[i] == TIMES_READERS ? 4 * quarter_ns : quarter_ns);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

/* A root waits for a DataNode that has handled its only packet, and acknowledges it half a second later. */
static void add_acknowledged(Case *c, guint64 trace) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, half_ns = NS_PER_SEC / 2;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const TestSpan spans[] = {
        {trace, 1, 0, names[0], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, names[WAIT], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 1, names[STREAMER], tracers[0], begin_ns, NS_PER_MS},
        {trace, 4, 3, names[OP], tracers[3], begin_ns, NS_PER_SEC},
        {trace, 5, 4, c->world.receive, tracers[3], begin_ns, 2},
        {trace, 6, 4, c->world.answers, tracers[3], begin_ns + 1, half_ns + 1},
    };
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) test_span_append(c->spans, &spans[i]);
    fixture_add(c->writer, c->spans);
}

static void test_answers(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    static const TimesRule rules[] = {TIMES_READERS, TIMES_ANSWERS};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        c.fixture.archive->times_rule = rules[i];
        for (guint64 trace = 1; trace <= TRACES; trace++) add_acknowledged(&c, i * TRACES + trace);
        commit_and_join(&c);
        g_assert_cmpint(critical_ns(&c, OP), ==, rules[i] == TIMES_ANSWERS ? TRACES * NS_PER_SEC / 2 : 0);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

/* A reader waits for a DataNode that has sent its block for half a second. */
static void add_arrival(Case *c, guint64 trace) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, half_ns = NS_PER_SEC / 2;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const TestSpan spans[] = {
        {trace, 1, 0, names[READ], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, c->world.ask, tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 2, names[SERVE], tracers[3], begin_ns, NS_PER_SEC},
        {trace, 4, 3, names[WORK], tracers[3], begin_ns, half_ns},
    };
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) test_span_append(c->spans, &spans[i]);
    fixture_add(c->writer, c->spans);
}

static void test_arrivals(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    const gint64 half_ns = TRACES * NS_PER_SEC / 2;
    static const TimesRule rules[] = {TIMES_ANSWERS, TIMES_ARRIVALS};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        c.fixture.archive->times_rule = rules[i];
        for (guint64 trace = 1; trace <= TRACES; trace++) add_arrival(&c, i * TRACES + trace);
        commit_and_join(&c);
        g_assert_cmpint(critical_ns(&c, SERVE), ==, half_ns);
        g_assert_cmpint(critical_ns(&c, WORK), ==, rules[i] == TIMES_ARRIVALS ? 3 * half_ns : half_ns);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

/* A root waits for a packet that comes slowly from a DataNode, which for another block does not begin. */
static void add_sender(Case *c, guint64 trace) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, tenth_ns = NS_PER_SEC / 10;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const TestSpan spans[] = {
        {trace, 1, 0, names[0], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 2, 1, names[WAIT], tracers[0], begin_ns, NS_PER_SEC},
        {trace, 3, 1, names[STREAMER], tracers[0], begin_ns, 1},
        {trace, 4, 3, names[OP], tracers[3], begin_ns, 3 * tenth_ns},
        {trace, 5, 4, names[OP], tracers[4], begin_ns, 3 * tenth_ns},
        {trace, 6, 4, c->world.mirror, tracers[3], begin_ns, 1},
        {trace, 7, 5, c->world.receive, tracers[4], begin_ns, 2 * tenth_ns},
        {trace, 8, 1, names[STREAMER], tracers[0], begin_ns + 3 * tenth_ns, 6 * tenth_ns},
        {trace, 9, 8, names[OP], tracers[3], begin_ns + 9 * tenth_ns, tenth_ns},
    };
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) test_span_append(c->spans, &spans[i]);
    fixture_add(c->writer, c->spans);
}

static void test_senders(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    static const TimesRule rules[] = {TIMES_ARRIVALS, TIMES_SENDERS};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        c.fixture.archive->times_rule = rules[i];
        for (guint64 trace = 1; trace <= TRACES; trace++) add_sender(&c, i * TRACES + trace);
        commit_and_join(&c);
        const guint tenths = rules[i] == TIMES_SENDERS ? 6 + 8 : 6;
        g_assert_cmpint(critical_ns(&c, OP), ==, TRACES * NS_PER_SEC / 10 * tenths);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

/* A reader's second call, a root as the first, waits for the DataNode that the first one asked. */
static void add_second_read(Case *c, guint64 trace) {
    const gint64 begin_ns = BASE_NS + (gint64)trace * NS_PER_SEC, half_ns = NS_PER_SEC / 2;
    const guint32 *names = c->world.names, *tracers = c->world.tracers;
    const TestSpan spans[] = {
        {trace, 1, 0, names[READ], tracers[0], begin_ns, NS_PER_MS},
        {trace, 2, 1, c->world.ask, tracers[0], begin_ns, NS_PER_MS},
        {trace, 3, 2, names[SERVE], tracers[3], begin_ns, NS_PER_SEC},
        {trace, 4, 3, names[WORK], tracers[3], begin_ns, NS_PER_SEC},
        {trace, 5, 0, c->world.ask, tracers[0], begin_ns + half_ns, half_ns},
    };
    g_byte_array_set_size(c->spans, 0);
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++) test_span_append(c->spans, &spans[i]);
    fixture_add(c->writer, c->spans);
}

static void test_roots(gconstpointer rocksdb) {
    Case c;
    case_open(&c, rocksdb != NULL, 0);
    const gint64 first_ns = TRACES * NS_PER_MS, half_ns = TRACES * NS_PER_SEC / 2;
    static const TimesRule rules[] = {TIMES_ARRIVALS, TIMES_ROOTS};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        c.fixture.archive->times_rule = rules[i];
        for (guint64 trace = 1; trace <= TRACES; trace++) add_second_read(&c, i * TRACES + trace);
        commit_and_join(&c);
        g_assert_cmpint(critical_of(&c, c.world.ask), ==, half_ns);
        g_assert_cmpint(critical_ns(&c, WORK), ==, rules[i] == TIMES_ROOTS ? 2 * first_ns + half_ns : first_ns);
        fixture_assert_sound(&c.fixture);
    }
    case_close(&c);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/archive/rules/memory", NULL, test_older_store);
    g_test_add_data_func("/archive/rules/rocksdb", "rocksdb", test_older_store);
    g_test_add_data_func("/archive/rules/operations, memory", NULL, test_operations);
    g_test_add_data_func("/archive/rules/operations, rocksdb", "rocksdb", test_operations);
    g_test_add_data_func("/archive/rules/standing, memory", NULL, test_standing);
    g_test_add_data_func("/archive/rules/standing, rocksdb", "rocksdb", test_standing);
    g_test_add_data_func("/archive/rules/asked, memory", NULL, test_asked);
    g_test_add_data_func("/archive/rules/asked, rocksdb", "rocksdb", test_asked);
    g_test_add_data_func("/archive/rules/network, memory", NULL, test_network);
    g_test_add_data_func("/archive/rules/network, rocksdb", "rocksdb", test_network);
    g_test_add_data_func("/archive/rules/readers, memory", NULL, test_readers);
    g_test_add_data_func("/archive/rules/readers, rocksdb", "rocksdb", test_readers);
    g_test_add_data_func("/archive/rules/answers, memory", NULL, test_answers);
    g_test_add_data_func("/archive/rules/answers, rocksdb", "rocksdb", test_answers);
    g_test_add_data_func("/archive/rules/arrivals, memory", NULL, test_arrivals);
    g_test_add_data_func("/archive/rules/arrivals, rocksdb", "rocksdb", test_arrivals);
    g_test_add_data_func("/archive/rules/senders, memory", NULL, test_senders);
    g_test_add_data_func("/archive/rules/senders, rocksdb", "rocksdb", test_senders);
    g_test_add_data_func("/archive/rules/roots, memory", NULL, test_roots);
    g_test_add_data_func("/archive/rules/roots, rocksdb", "rocksdb", test_roots);
    return g_test_run();
}
