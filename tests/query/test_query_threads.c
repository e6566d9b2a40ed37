/* Many threads ask while one writes: every answer is whole, and what it says adds up. */
#include <pthread.h>
#include <string.h>

#include "tests/query/fixture.h"

#define TRACES  1500
#define ASKERS  3
#define ANSWERS 40

typedef struct Shared {
    Fixture fixture;
    gint written; /* atomic: traces */
} Shared;

static void write_trace(Fixture *fixture, guint64 id) {
    SpanRow rows[9];
    memcpy(rows, sample_rows, sizeof rows);
    guint n = 5 + (guint)(id % 5); /* five patterns */
    for (guint i = 0; i < n; i++) {
        rows[i].trace = id;
        rows[i].begin_us += (gint64)(id % 7) * 30000000;
    }
    fixture_store(fixture, rows, n);
}

static void *write_traces(void *arg) {
    Shared *shared = arg;
    for (guint64 id = 1; id <= TRACES; id++) {
        write_trace(&shared->fixture, id);
        g_atomic_int_inc(&shared->written);
    }
    return NULL;
}

static void check_forest(Fixture *fixture) {
    json_auto_t *answer = fixture_answer(fixture, "forest", "limit=0");
    const json_t *patterns = json_object_get(answer, "patterns"), *pattern, *node;
    gint64 spans = 0;
    gsize i, k;
    json_array_foreach((json_t *)patterns, i, pattern) {
        gint64 calls = 0;
        json_array_foreach(json_object_get(pattern, "nodes"), k, node) calls += number_at(node, "calls");
        g_assert_cmpint(calls, >=, number_at(pattern, "traces") * 5);
        spans += number_at(pattern, "spans");
    }
    g_assert_cmpint(spans, ==, number_at(answer, "spans"));
}

static void check_traces(Fixture *fixture) {
    json_auto_t *answer = fixture_answer(fixture, "traces", "host=10.0.0.7&limit=5");
    const json_t *row;
    gsize i;
    json_array_foreach(json_object_get(answer, "traces"), i, row) {
        g_autofree char *params = g_strdup_printf("id=%s", text_at(row, "trace"));
        json_auto_t *trace = fixture_answer(fixture, "trace", params);
        g_assert_cmpuint(json_array_size(json_object_get(trace, "spans")), ==, (gsize)number_at(row, "spans"));
    }
}

static void *ask(void *arg) {
    Shared *shared = arg;
    for (guint i = 0; i < ANSWERS; i++) {
        static const char *const questions[] = {"status", "functions", "skew", "verify"};
        gint before = g_atomic_int_get(&shared->written);
        json_auto_t *answer = fixture_answer(&shared->fixture, questions[i % G_N_ELEMENTS(questions)], "");
        if (i % G_N_ELEMENTS(questions) == 0)
            g_assert_cmpint(number_at(json_object_get(answer, "store"), "traces"), >=, before);
        if (i % G_N_ELEMENTS(questions) == 3) g_assert_cmpint(number_at(answer, "differences"), ==, 0);
        check_forest(&shared->fixture);
        check_traces(&shared->fixture);
    }
    return NULL;
}

static void test_asking_while_writing(void) {
    Shared shared = {0};
    pthread_t writer, askers[ASKERS];
    fixture_init(&shared.fixture);
    write_trace(&shared.fixture, TRACES + 1);
    g_assert_cmpint(pthread_create(&writer, NULL, write_traces, &shared), ==, 0);
    for (guint i = 0; i < ASKERS; i++) g_assert_cmpint(pthread_create(&askers[i], NULL, ask, &shared), ==, 0);
    pthread_join(writer, NULL);
    for (guint i = 0; i < ASKERS; i++) pthread_join(askers[i], NULL);
    json_auto_t *answer = fixture_answer(&shared.fixture, "verify", "");
    g_assert_cmpint(number_at(answer, "traces"), ==, TRACES + 1);
    g_assert_cmpint(number_at(answer, "differences"), ==, 0);
    fixture_clear(&shared.fixture);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/threads/asking-while-writing", test_asking_while_writing);
    return g_test_run();
}
