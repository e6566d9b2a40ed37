/* Laws of the forest, on random traces: it loses no call, and leaving functions out gives the patterns that the traces
 * would have had if those spans had never been. */
#include <string.h>

#include "tests/query/fixture.h"

#define SPANS_MAX 30

static const char *const functions[] = {"a", "b", "c", "dropped", "dropped too"};
static const char *const tracers[] = {"FSClient/h1", "DataNode/h2", "DataNode/h3", "NameNode/h1"};

typedef struct RandomTrace {
    guint n;
    SpanRow rows[SPANS_MAX];
} RandomTrace;

static void random_trace(GRand *rand, guint64 id, RandomTrace *trace) {
    trace->n = (guint)g_rand_int_range(rand, 1, SPANS_MAX);
    gint64 start = (gint64)id * 7000000;
    for (guint i = 0; i < trace->n; i++) {
        trace->rows[i] = (SpanRow){
            .trace = id,
            .span = i + 1,
            .parent = i == 0 ? 0 : (guint64)g_rand_int_range(rand, (gint)MAX(1, i / 2), (gint)i + 1),
            .name = functions[g_rand_int_range(rand, 0, G_N_ELEMENTS(functions))],
            .tracer = tracers[g_rand_int_range(rand, 0, G_N_ELEMENTS(tracers))],
            .begin_us = start + i * 100,
            .duration_us = g_rand_int_range(rand, 0, 9000),
            .annotations = g_rand_boolean(rand) ? "bytes=5000" : NULL,
        };
    }
}

/* ---- nothing is lost ---- */

typedef struct FunctionSum {
    gint64 calls, total_ns, self_ns, critical_ns, bytes;
} FunctionSum;

static void add_measure(FunctionSum *sum, const json_t *row) {
    const json_t *bytes = json_object_get(row, "bytes");
    sum->calls += number_at(row, "calls");
    sum->total_ns += number_at(row, "total_ns");
    sum->self_ns += number_at(row, "self_ns");
    sum->critical_ns += number_at(row, "critical_ns");
    if (bytes) sum->bytes += number_at(bytes, "total_bytes");
}

static GHashTable *sums_by_function(const json_t *rows, GHashTable *sums) {
    gsize i;
    json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        char *key = g_strdup_printf("%s %s", text_at(row, "function"), text_at(row, "role"));
        FunctionSum *sum = g_hash_table_lookup(sums, key);
        if (!sum) {
            sum = g_new0(FunctionSum, 1);
            g_hash_table_insert(sums, key, sum);
        } else {
            g_free(key);
        }
        add_measure(sum, row);
    }
    return sums;
}

static void assert_same_sums(GHashTable *a, GHashTable *b) {
    GHashTableIter iter;
    gpointer key, value;
    g_assert_cmpuint(g_hash_table_size(a), ==, g_hash_table_size(b));
    g_hash_table_iter_init(&iter, a);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const FunctionSum *x = value, *y = g_hash_table_lookup(b, key);
        g_assert_nonnull(y);
        g_assert_cmpmem(x, sizeof *x, y, sizeof *y);
    }
}

static GHashTable *new_sums(void) { return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free); }

static void test_nothing_is_lost(void) {
    static const char *const levels[] = {"limit=0", "limit=0&level=tree", "limit=0&sort=calls"};
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);

    for (guint64 id = 1; id <= 400; id++) { /* more patterns than one pass takes */
        RandomTrace trace;
        random_trace(rand, id, &trace);
        fixture_store(&fixture, trace.rows, trace.n);
    }

    g_assert_cmpuint(archive_pattern_count(fixture.archive), >, 256);
    json_auto_t *listed = fixture_answer(&fixture, "functions", "");
    g_autoptr(GHashTable) expected = sums_by_function(json_object_get(listed, "functions"), new_sums());

    for (gsize i = 0; i < G_N_ELEMENTS(levels); i++) {
        json_auto_t *forest = fixture_answer(&fixture, "forest", levels[i]);
        g_autoptr(GHashTable) sums = new_sums();
        gsize k;
        json_t *pattern;
        json_array_foreach(json_object_get(forest, "patterns"), k, pattern)
            sums_by_function(json_object_get(pattern, "nodes"), sums);
        assert_same_sums(expected, sums);
    }
}

/* Hosts split the same calls. */
static void test_hosts_add_up(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(12);
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    for (guint64 id = 1; id <= 50; id++) {
        RandomTrace trace;
        random_trace(rand, id, &trace);
        fixture_store(&fixture, trace.rows, trace.n);
    }
    json_auto_t *all = fixture_answer(&fixture, "forest", "");
    json_auto_t *h1 = fixture_answer(&fixture, "forest", "host=h1");
    json_auto_t *h2 = fixture_answer(&fixture, "forest", "host=h2");
    json_auto_t *h3 = fixture_answer(&fixture, "forest", "host=h3");
    g_assert_cmpint(number_at(all, "spans"), ==,
                    number_at(h1, "spans") + number_at(h2, "spans") + number_at(h3, "spans"));
}

/* ---- leaving out ---- */

static gboolean is_dropped(const SpanRow *row) { return g_str_has_prefix(row->name, "dropped"); }

/* The trace without the dropped functions; children hang at the nearest ancestor that is left. */
static void without_dropped(const RandomTrace *trace, RandomTrace *left) {
    left->n = 0;
    for (guint i = 0; i < trace->n; i++) {
        if (is_dropped(&trace->rows[i])) continue;
        SpanRow row = trace->rows[i];
        while (row.parent && is_dropped(&trace->rows[row.parent - 1])) row.parent = trace->rows[row.parent - 1].parent;
        left->rows[left->n++] = row;
    }
}

/* What does not depend on the spans left out: all but the trace's own duration, self and critical time. */
static void strip(json_t *answer) {
    static const char *const dependent[] = {"self_ns", "critical_ns", "outside_parent_calls"};
    gsize i, k;
    json_t *pattern, *node;
    json_array_foreach(json_object_get(answer, "patterns"), i, pattern) {
        json_object_del(pattern, "merged");
        json_object_del(pattern, "total_ns");
        json_object_del(pattern, "critical_ns");
        json_array_foreach(json_object_get(pattern, "nodes"), k, node) {
            for (gsize d = 0; d < G_N_ELEMENTS(dependent); d++) json_object_del(node, dependent[d]);
        }
    }
    json_object_del(answer, "since_time_ns");
    json_object_del(answer, "until_time_ns");
}

static gint64 sum_merged(const json_t *answer) {
    gint64 merged = 0;
    gsize i;
    json_t *pattern;
    json_array_foreach(json_object_get(answer, "patterns"), i, pattern) merged += number_at(pattern, "merged");
    return merged;
}

static void test_leaving_out(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(13);
    g_auto(Fixture) whole = {0};
    g_auto(Fixture) reduced = {0};
    fixture_init(&whole);
    fixture_init(&reduced);

    for (guint64 id = 1; id <= 300; id++) {
        RandomTrace trace, left;
        random_trace(rand, id, &trace);
        if (id % 2 == 0) trace.n = MIN(trace.n, 4); /* small ones become equal */
        without_dropped(&trace, &left);
        fixture_store(&whole, trace.rows, trace.n);
        if (left.n > 0) fixture_store(&reduced, left.rows, left.n);
    }

    json_auto_t *a = fixture_answer(&whole, "forest", "limit=0&sort=calls&exclude=dropped&exclude=dropped too");
    json_auto_t *b = fixture_answer(&reduced, "forest", "limit=0&sort=calls");
    g_assert_cmpint(sum_merged(a), >, number_at(a, "patterns_total")); /* or the test tests little */

    strip(a);
    strip(b);
    g_autofree char *x = json_dumps(a, JSON_INDENT(1)), *y = json_dumps(b, JSON_INDENT(1));
    g_assert_cmpstr(x, ==, y);
}

/* ---- one pattern ---- */

static void test_pattern_by_prefix(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    json_auto_t *all = fixture_answer(&fixture, "forest", "");
    gsize i;
    json_t *pattern;
    json_array_foreach(json_object_get(all, "patterns"), i, pattern) {
        g_autofree char *params = g_strdup_printf("pattern=%.6s", text_at(pattern, "pattern"));
        json_auto_t *one = fixture_answer(&fixture, "forest", params);
        g_assert_cmpuint(json_array_size(json_object_get(one, "patterns")), ==, 1);
        g_assert_true(json_equal(json_array_get(json_object_get(one, "patterns"), 0), pattern));
        json_auto_t *traces = fixture_answer(&fixture, "traces", params);
        g_assert_cmpuint(json_array_size(json_object_get(traces, "traces")), ==, (gsize)number_at(pattern, "traces"));
    }
}

static void test_pattern_prefix_of_several(void) {
    g_auto(Fixture) fixture = {0};
    g_autoptr(GError) error = NULL;
    g_autoptr(GHashTable) prefixes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    fixture_init(&fixture);

    /* 4 digits make 65,536 prefixes: with 900 patterns two are alike as good as certainly, and in every run the same.
     */
    for (guint i = 0; i < 900; i++) {
        g_autofree char *name = g_strdup_printf("function %u", i);
        SpanRow row = {.trace = i + 1, .span = 1, .name = name, .tracer = "T/h", .begin_us = i};
        fixture_store(&fixture, &row, 1);
    }

    json_auto_t *all = fixture_answer(&fixture, "forest", "limit=0");
    g_autofree char *twice = NULL;
    gsize i;
    json_t *pattern;
    json_array_foreach(json_object_get(all, "patterns"), i, pattern) {
        char *prefix = g_strndup(text_at(pattern, "pattern"), 4);
        if (g_hash_table_contains(prefixes, prefix) && !twice) twice = g_strdup_printf("pattern=%s", prefix);
        g_hash_table_add(prefixes, prefix);
    }

    g_assert_nonnull(twice);
    json_auto_t *answer = fixture_ask(&fixture, "forest", twice, &error);
    g_assert_null(answer);
    g_assert_nonnull(strstr(error->message, "ambiguous"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/forest/nothing-is-lost", test_nothing_is_lost);
    g_test_add_func("/query/forest/hosts-add-up", test_hosts_add_up);
    g_test_add_func("/query/forest/leaving-out", test_leaving_out);
    g_test_add_func("/query/forest/pattern-by-prefix", test_pattern_by_prefix);
    g_test_add_func("/query/forest/pattern-prefix-of-several", test_pattern_prefix_of_several);
    return g_test_run();
}
