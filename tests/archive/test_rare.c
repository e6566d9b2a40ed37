/* Traces of rare shapes: their records have the shape within, and a mixed pattern counts them. */
#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/write/writer.h"
#include "common/base/error.h"
#include "tests/archive/case.h"

/* So small that a shape must be met several times before it gets a number. */
static const ArchiveOptions few_patterns = {.clock_tolerance_ns = NS_PER_MS, .pattern_nodes = 4};

/* A call of names[name] under 'parent'. */
static void call(Case *c, guint64 trace, guint span, guint parent, guint name) {
    TestSpan made = {trace,    span, parent, c->world.names[name], c->world.tracers[0], BASE_NS + span * NS_PER_MS,
                     NS_PER_MS};
    test_span_append(c->spans, &made);
}

static void add(Case *c) {
    fixture_add(c->writer, c->spans);
    g_byte_array_set_size(c->spans, 0);
}

/* The calls at a path of names below the trace, of the one mixed pattern there is. */
typedef struct PathCalls {
    Case *c;
    const guint *path;
    guint length;
    guint64 calls;
    guint rows;
} PathCalls;

static void count_path(void *arg, const StatsKey *key, StatsRow *row) {
    PathCalls *of = arg;
    guint32 *node_of = NULL, n = 0;
    g_assert_true(pattern_is_mixed(key->object));
    g_autoptr(Pattern) pattern = archive_pattern_of_rows(of->c->fixture.archive, key->object, &node_of, &n);
    g_assert_nonnull(pattern);
    of->rows++;
    for (guint i = 0; i < stats_row_size(row); i++) {
        guint32 number, depth = of->length;
        const NodeStats *stats = stats_row_at(row, i, &number);
        g_assert_cmpuint(number, <, n);
        guint32 node = node_of[number];
        while (node != 0 && depth > 0 && pattern->nodes[node].name == of->c->world.names[of->path[depth - 1]]) {
            node = pattern->nodes[node].parent;
            depth--;
        }
        if (node == 0 && depth == 0) of->calls += stats->duration.count;
    }
    g_free(node_of);
}

static guint64 calls_at(Case *c, const guint *path, guint length) {
    PathCalls of = {c, path, length, 0, 0};
    const StatsFilter filter = {.kind = STATS_PATTERN, .until_ns = G_MAXINT64, .role = -1};
    g_assert_true(archive_stats(c->fixture.archive, &filter, count_path, &of, NULL));
    g_assert_cmpuint(of.rows, ==, 1);
    return of.calls;
}

/* Of five traces each has a shape of its own: they are counted together, by path. */
static void test_counted_by_path(void) {
    Case c;
    case_open_with(&c, TRUE, &few_patterns);

    for (guint t = 1; t <= 5; t++) {
        call(&c, t, 1, 0, 0);
        for (guint i = 0; i < t; i++) {
            call(&c, t, 2 + 2 * i, i == 0 ? 1 : 2 * i, 1); /* deeper and deeper */
            call(&c, t, 3 + 2 * i, 2 + 2 * i, 2);
        }
        add(&c);
    }
    fixture_commit(c.writer);

    for (guint again = 0; again < 2; again++) {
        g_assert_cmpuint(archive_pattern_count(c.fixture.archive), ==, 0);
        g_assert_cmpuint(archive_mixed_count(c.fixture.archive), ==, 1);
        g_assert_cmpuint(calls_at(&c, (guint[]){0}, 1), ==, 5);
        g_assert_cmpuint(calls_at(&c, (guint[]){0, 1}, 2), ==, 5);
        g_assert_cmpuint(calls_at(&c, (guint[]){0, 1, 2}, 3), ==, 5);
        g_assert_cmpuint(calls_at(&c, (guint[]){0, 1, 1, 1}, 4), ==, 3);
        g_assert_cmpuint(calls_at(&c, (guint[]){0, 2}, 2), ==, 0);
        fixture_assert_sound(&c.fixture);
        archive_writer_free(c.writer);
        fixture_reopen(&c.fixture);
        c.writer = archive_writer_new(c.fixture.archive);
    }

    g_assert_cmpuint(loaded_spans(&c, 5), ==, 11);
    case_close(&c);
}

/* A span that comes late changes the shape, and where it counts, or from one mixed node to another. */
static void test_late_spans(void) {
    Case c;
    case_open_with(&c, FALSE, &few_patterns);
    call(&c, 1, 1, 0, 0);
    call(&c, 1, 3, 2, 2); /* its parent, 2, is missing */
    add(&c);
    fixture_commit(c.writer);
    g_assert_cmpuint(calls_at(&c, (guint[]){0, 1, 2}, 3), ==, 0);
    fixture_assert_sound(&c.fixture);
    call(&c, 1, 2, 1, 1);
    add(&c);
    commit_and_join(&c);
    join_late(&c);
    g_assert_cmpuint(calls_at(&c, (guint[]){0, 1, 2}, 3), ==, 1);
    g_assert_cmpuint(loaded_spans(&c, 1), ==, 3);
    fixture_assert_sound(&c.fixture);
    case_close(&c);
}

/* However many rare shapes came before it, what comes again and again gets its number; and the rare ones do not. */
static void test_frequent_among_rare(void) {
    Case c;
    case_open_with(&c, FALSE, &(ArchiveOptions){.clock_tolerance_ns = NS_PER_MS, .pattern_nodes = 64});
    guint64 trace = 0;

    for (guint i = 0; i < 3000; i++) {
        /* A tree whose shape are the bits of i. */
        call(&c, ++trace, 1, 0, 0);
        for (guint bit = 0; bit < 12; bit++) call(&c, trace, bit + 2, i >> bit & 1 ? bit + 1 : 1, 3);
        add(&c);

        call(&c, ++trace, 1, 0, 5);
        call(&c, trace, 2, 1, 6);
        add(&c);
        if (i % 500 == 499) fixture_commit(c.writer);
    }

    g_assert_cmpuint(archive_pattern_count(c.fixture.archive), <, 100);
    g_assert_cmpuint(archive_mixed_count(c.fixture.archive), <=, 2);
    fixture_assert_sound(&c.fixture);

    /* The frequent one has a number: its last traces are counted there. */
    guint64 counted = 0;
    for (guint32 number = 1; number <= archive_pattern_count(c.fixture.archive); number++) {
        const Pattern *pattern = archive_pattern(c.fixture.archive, number);
        if (pattern->n_nodes == 3 && pattern->nodes[1].name == c.world.names[5]) counted++;
    }
    g_assert_cmpuint(counted, ==, 1);
    case_close(&c);
}

/* A mixed pattern has room for so many nodes; what comes after that is counted as other calls, and stays sound. */
static void test_full(void) {
    Case c;
    case_open_with(&c, TRUE, &few_patterns);

    for (guint t = 1; t <= 2; t++) {
        for (guint i = 1; i <= MIXED_NODES_EACH + 100; i++)
            call(&c, t, i, i - 1, i % (2 + t)); /* one below the other */
        add(&c);
    }
    fixture_commit(c.writer);

    fixture_assert_sound(&c.fixture);
    archive_writer_free(c.writer);
    fixture_reopen(&c.fixture);
    c.writer = archive_writer_new(c.fixture.archive);
    fixture_assert_sound(&c.fixture);
    g_assert_cmpuint(archive_mixed_count(c.fixture.archive), ==, 1);

    guint32 *node_of = NULL, n = 0, others = 0;
    g_autoptr(Pattern) pattern = archive_pattern_of_rows(c.fixture.archive, MIXED_NUMBER + 1, &node_of, &n);
    for (guint32 i = 0; i < pattern->n_nodes; i++) others += pattern->nodes[i].name == NAME_OTHERS;
    g_assert_cmpuint(pattern->n_nodes, ==, MIXED_NODES_EACH + 1);
    g_assert_cmpuint(others, ==, 1);

    g_free(node_of);
    g_assert_cmpuint(loaded_spans(&c, 2), ==, MIXED_NODES_EACH + 100);
    case_close(&c);
}

/* Nodes of mixed patterns that are not as they should be are refused when the store is opened. */
static void test_damage(void) {
    static const struct {
        guint32 number, node;
        const char *value;
        gsize size;
    } cases[] = {
        {MIXED_NUMBER + 1, 9, "\0\5\1", 3}, /* a gap */
        {MIXED_NUMBER + 7, 0, "\5\1", 2},   /* a gap between patterns */
        {MIXED_NUMBER + 2, 0, "\5\77", 2},  /* no such role */
        {MIXED_NUMBER + 2, 0, "\5", 1},     /* cut */
        {MIXED_NUMBER + 2, 0, "\5\1\1", 3}, /* more than there should be */
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Case c;
        case_open_with(&c, FALSE, &few_patterns);
        call(&c, 1, 1, 0, 0);
        add(&c);
        fixture_commit(c.writer);

        g_autoptr(StoreBatch) batch = store_batch_new(c.fixture.store);
        LayoutKey key = mixed_key(cases[i].number, cases[i].node);
        store_batch_put(batch, FAMILY_PATTERN, key_bytes(&key), (Bytes){cases[i].value, cases[i].size});
        g_assert_true(store_write(c.fixture.store, batch, FALSE, NULL));

        g_autoptr(GError) error = NULL;
        g_autoptr(MixedTable) table = mixed_table_open(c.fixture.store, archive_lookup(c.fixture.archive), &error);
        g_assert_null(table);
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        case_close(&c);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/archive/rare/counted-by-path", test_counted_by_path);
    g_test_add_func("/archive/rare/late-spans", test_late_spans);
    g_test_add_func("/archive/rare/frequent-among-rare", test_frequent_among_rare);
    g_test_add_func("/archive/rare/full", test_full);
    g_test_add_func("/archive/rare/damage", test_damage);
    return g_test_run();
}
