/* Questions about more than fits into memory: exact where rows come one behind the other, refused where they do not,
 * and ended when they take too long or nobody waits for the answer. */
#define _GNU_SOURCE /* memmem */
#include <stdatomic.h>
#include <string.h>

#include "analyzer/query/shared/json_memory.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/query/fixture.h"

/* Several slices of rows (period_stats.c), of which each has parts in several minutes. */
#define NAMES   60000u
#define MINUTES 3u

static Fixture many; /* filled once, read by all tests */

static void add_call(SpanBatch *batch, guint i, guint minute) {
    char name[32], tracer[64];
    g_snprintf(name, sizeof name, "f%05u", i);
    g_snprintf(tracer, sizeof tracer, "DataNode/host%05u/1", i);
    const SpanRow row = {.trace = 1 + (guint64)minute * NAMES + i,
                         .span = 1,
                         .name = name,
                         .tracer = tracer,
                         .begin_us = 60000000 * (gint64)minute + i,
                         .duration_us = 1 + i};
    row_to_batch(&row, batch);
}

/* Each function is called once in each minute, by a host of its own, the last one for longest. */
static void fill(void) {
    fixture_init(&many);
    for (guint minute = 0; minute < MINUTES; minute++) {
        for (guint from = 0; from < NAMES; from += 5000) {
            g_autoptr(SpanBatch) batch = batch_new();
            for (guint i = from; i < from + 5000; i++) add_call(batch, i, minute);
            fixture_store_batch(&many, batch);
        }
    }
}

static json_t *ask_within(Allowance *allowance, const char *params, GError **error) {
    allowance_begin(allowance);
    json_t *answer = fixture_ask(&many, "functions", params, error);
    if (answer == NULL) {
        allowance_end();
        g_assert_cmpuint(allowance->budget->used_bytes, ==, 0);
    }
    return answer;
}

static void assert_first(const json_t *answer, gboolean by_host) {
    const json_t *rows = json_object_get(answer, "functions");
    g_assert_cmpuint(json_array_size(rows), ==, 20);
    g_assert_true(json_is_true(json_object_get(answer, "more")));
    for (guint i = 0; i < 20; i++) {
        const json_t *row = json_array_get(rows, i);
        char name[32], host[32];
        g_snprintf(name, sizeof name, "f%05u", NAMES - 1 - i);
        g_snprintf(host, sizeof host, "host%05u", NAMES - 1 - i);
        g_assert_cmpstr(text_at(row, "function"), ==, name);
        if (by_host) g_assert_cmpstr(text_at(row, "host"), ==, host);
        g_assert_cmpint(number_at(row, "calls"), ==, MINUTES);
        g_assert_cmpint(number_at(row, "total_ns"), ==, (gint64)MINUTES * (NAMES - i) * 1000);
    }
}

static void test_first_rows(void) {
    static const struct {
        const char *params;
        gboolean by_host;
    } cases[] = {
        {"limit=20", FALSE},
        {"limit=20&sort=q95_ns", FALSE},
        {"by=host&limit=20", TRUE},
        {"by=host&limit=20&sort=max_ns", TRUE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        AllowanceBudget budget = {.limit_bytes = 20u << 20};
        Allowance allowance = {.budget = &budget};
        g_autoptr(GError) error = NULL;

        json_auto_t *answer = ask_within(&allowance, cases[i].params, &error);
        g_assert_no_error(error);
        assert_first(answer, cases[i].by_host);
        json_decref(g_steal_pointer(&answer));
        allowance_end();

        g_assert_cmpuint(budget.used_bytes, ==, 0);
        g_assert_cmpuint(budget.most_bytes, >, 15u << 20); /* of more rows than were in memory */
    }
}

/* Rows of all functions need more than there is. */
static void test_refused(void) {
    AllowanceBudget budget = {.limit_bytes = 20u << 20};
    Allowance allowance = {.budget = &budget};
    g_autoptr(GError) error = NULL;
    g_assert_null(ask_within(&allowance, "", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_nonnull(strstr(error->message, "http.question-memory"));
    g_assert_nonnull(strstr(error->message, "a lower limit"));
    g_assert_cmpuint(budget.refused_memory, ==, 1);
    g_assert_cmpuint(budget.most_bytes, <, 48u << 20);

    /* The next one is none the worse for it. */
    g_autoptr(GError) none = NULL;
    json_auto_t *answer = ask_within(&allowance, "function=f00007", &none);
    g_assert_no_error(none);
    g_assert_cmpuint(json_array_size(json_object_get(answer, "functions")), ==, 1);
    json_decref(g_steal_pointer(&answer));
    allowance_end();
}

/* The rows of a step are given back before those of the next are read. */
static void test_steps_given_back(void) {
    gsize peaks[2];
    for (guint i = 0; i < 2; i++) {
        AllowanceBudget budget = {0};
        Allowance allowance = {.budget = &budget};
        const gint64 since_ns = SAMPLE_BASE_NS - SAMPLE_BASE_NS % NS_PER_MINUTE;
        const gint64 until_ns = since_ns + (i == 0 ? 1 : MINUTES) * NS_PER_MINUTE;
        g_autofree char *params =
            g_strdup_printf("by=host&field=q95_ns&step=1m&limit=1&since=%" G_GINT64_FORMAT "&until=%" G_GINT64_FORMAT,
                            since_ns, until_ns);
        allowance_begin(&allowance);
        json_auto_t *answer = fixture_answer(&many, "series", params);
        g_assert_true(json_is_true(json_object_get(answer, "more")));
        json_decref(g_steal_pointer(&answer));
        allowance_end();
        peaks[i] = budget.most_bytes;
    }
    g_assert_cmpuint(2 * peaks[1], <, 3 * peaks[0]);
}

/* What others have is not there for a question. */
static void test_others(void) {
    AllowanceBudget budget = {.limit_bytes = 1u << 20, .used_bytes = 1u << 20};
    Allowance allowance = {.budget = &budget};
    g_autoptr(GError) error = NULL;
    allowance_begin(&allowance);
    g_assert_null(fixture_ask(&many, "functions", "", &error));
    allowance_end();
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
    g_assert_cmpuint(budget.used_bytes, ==, 1u << 20);
}

/* With nothing left, whatever is asked, there is an error and not half an answer. */
static void test_nothing_left(void) {
    static const char *const questions[] = {"status", "senders", "functions", "forest", "traces", "skew",
                                            "apps",   "hosts",   "verify",    "diff",   "trace"};
    for (gsize i = 0; i < G_N_ELEMENTS(questions); i++) {
        AllowanceBudget budget = {.limit_bytes = 1};
        Allowance allowance = {.budget = &budget};
        g_autoptr(GError) error = NULL;
        const gboolean one = strcmp(questions[i], "trace") == 0, two = strcmp(questions[i], "diff") == 0;
        allowance_begin(&allowance);
        g_assert_null(fixture_ask(&many, questions[i],
                                  one   ? "id=0000000000000001"
                                  : two ? "a=..1m&b=1m.."
                                        : "limit=5",
                                  &error));
        allowance_end();
        g_assert_nonnull(error);
        g_assert_cmpuint(budget.used_bytes, ==, 0);
    }
}

static void test_late(void) {
    AllowanceBudget budget = {.limit_bytes = 64u << 20};
    Allowance allowance = {.budget = &budget, .timeout_ns = 1};
    g_autoptr(GError) error = NULL;
    g_assert_null(ask_within(&allowance, "", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_nonnull(strstr(error->message, "http.question-timeout"));
    g_assert_cmpuint(budget.refused_time, ==, 1);
}

static gboolean left_at_third(void *arg) { return ++*(guint *)arg >= 3; }

static void test_gone(void) {
    guint looks = 0;
    AllowanceBudget budget = {.limit_bytes = 64u << 20};
    Allowance allowance = {.budget = &budget, .gone = left_at_third, .arg = &looks};
    g_autoptr(GError) error = NULL;
    g_assert_null(ask_within(&allowance, "limit=20", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_PEER);
    g_assert_cmpuint(looks, ==, 3); /* and not one step more */
    g_assert_cmpuint(budget.gone, ==, 1);
}

/* ---- spans that wait for their trace ---- */

#define WAITING     400u
#define VALUE_BYTES 50000u

/* Span i of trace 1, with a long text. */
static void add_long(SpanBatch *batch, guint i) {
    g_autofree char *value = g_strnfill(VALUE_BYTES, 'v');
    const SpanRow row = {.trace = 1, .span = i, .parent = i > 1, .name = "f", .tracer = "T/h/1", .duration_us = 1};
    row_to_batch(&row, batch);
    batch_add_annotation(batch, batch_intern(batch, "k", 1), batch_copy(batch, value, VALUE_BYTES));
}

/* One span is stored, and 20 MB of others wait. */
static void store_waiting(Fixture *fixture) {
    fixture_init(fixture);
    for (guint first = 1; first <= WAITING; first += first == 1 ? 9 : 10) {
        g_autoptr(SpanBatch) batch = batch_new();
        for (guint i = first; i < first + (first == 1 ? 1 : 10); i++) add_long(batch, i);
        fixture_put_batch(fixture, batch);
    }
    g_assert_cmpuint(archive_totals(fixture->archive).late_waiting, >=, WAITING - 10);
}

/* As many of them are shown as there is room for, and no answer needs more than it may have. */
static void test_waiting(void) {
    g_auto(Fixture) fixture = {NULL};
    store_waiting(&fixture);
    AllowanceBudget budget = {.limit_bytes = 12u << 20};
    Allowance allowance = {.budget = &budget};
    g_autoptr(GError) error = NULL;

    allowance_begin(&allowance);
    json_auto_t *traces = fixture_ask(&fixture, "traces", "limit=20", &error);
    g_assert_no_error(error);
    json_auto_t *trace = fixture_ask(&fixture, "trace", "id=0000000000000001&limit=5", &error);
    g_assert_no_error(error);

    const json_t *row = json_array_get(json_object_get(traces, "traces"), 0);
    g_assert_true(json_is_true(json_object_get(row, "more")));
    g_assert_true(json_is_true(json_object_get(trace, "waiting")));
    g_assert_cmpint(number_at(row, "spans"), <, WAITING / 2);
    g_assert_cmpint(number_at(row, "spans"), >, 10);
    g_assert_cmpint(number_at(trace, "spans_total"), <, WAITING / 2);
    g_assert_cmpuint(budget.most_bytes, >, 3u << 20); /* what waits counts */
    g_assert_cmpuint(budget.most_bytes, <=, 12u << 20);

    json_decref(g_steal_pointer(&traces));
    json_decref(g_steal_pointer(&trace));
    allowance_end();
    g_assert_cmpuint(budget.used_bytes, ==, 0);
}

typedef struct Exported {
    guint lines;
    guint64 ids; /* sum */
} Exported;

static gboolean count_piece(void *arg, Bytes piece) {
    static const char id[] = "\"a\":\"0000000000000001";
    Exported *exported = arg;
    const char *at = piece.data, *end = at + piece.size_bytes;
    while ((at = memmem(at, (gsize)(end - at), id, sizeof id - 1)) != NULL) {
        at += sizeof id - 1;
        exported->ids += g_ascii_strtoull(at, NULL, 16);
        exported->lines++;
    }
    return TRUE;
}

/* An export has all of them, each once, some at a time. */
static void test_waiting_export(void) {
    g_auto(Fixture) fixture = {NULL};
    store_waiting(&fixture);
    g_autoptr(SpanBatch) again = batch_new();
    for (guint i = 95; i < 105; i++) add_long(again, i);
    fixture_put_batch(&fixture, again);

    AllowanceBudget budget = {.limit_bytes = 12u << 20};
    Allowance allowance = {.budget = &budget};
    Exported exported = {0};
    const QuerySink sink = {count_piece, &exported};
    g_autoptr(QueryParams) params = params_from_text("");
    g_autoptr(GError) error = NULL;

    allowance_begin(&allowance);
    g_assert_true(query_export(fixture.archive, params, SAMPLE_BASE_NS, &sink, &error));
    allowance_end();
    g_assert_no_error(error);
    const guint64 spans = 1 + archive_totals(fixture.archive).late_waiting - 10;
    g_assert_cmpuint(exported.lines, ==, spans);
    g_assert_cmpuint(exported.ids, ==, 1 + (10 + 9 + spans - 1) * (spans - 1) / 2);
    g_assert_cmpuint(budget.most_bytes, <=, 12u << 20);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    json_memory_counted();
    fill();
    g_test_add_func("/allowance/first_rows", test_first_rows);
    g_test_add_func("/allowance/refused", test_refused);
    g_test_add_func("/allowance/steps_given_back", test_steps_given_back);
    g_test_add_func("/allowance/others", test_others);
    g_test_add_func("/allowance/nothing_left", test_nothing_left);
    g_test_add_func("/allowance/late", test_late);
    g_test_add_func("/allowance/gone", test_gone);
    g_test_add_func("/allowance/waiting", test_waiting);
    g_test_add_func("/allowance/waiting_export", test_waiting_export);
    const int failed = g_test_run();
    fixture_clear(&many);
    return failed;
}
