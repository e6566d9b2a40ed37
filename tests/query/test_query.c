/* Every question, asked of one small archive, against documents that were checked by hand (tests/data/query/), and what
 * is said of wrong questions. */
#include <string.h>

#include "analyzer/query/shared/question.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/query/fixture.h"

static const struct Case {
    const char *file; /* in tests/data/query/, without .json */
    const char *question;
    const char *params;
} cases[] = {
    {"status", "status", ""},
    {"senders", "senders", ""},
    {"functions", "functions", ""},
    {"functions-by-host", "functions", "by=host&role=datanode&sort=host"},
    {"functions-host", "functions", "host=10.0.0.7&sort=bytes.total_bytes"},
    {"functions-first-minute", "functions", "since=2020-11-21T10:53:00Z&until=2020-11-21T10:54:00Z&limit=3"},
    {"functions-one", "functions", "function=sendBlock"},
    {"functions-unknown", "functions", "function=nothing"},
    {"series", "series", "since=2020-11-21T10:53:00Z&until=2020-11-21T10:56:00Z&step=1m"},
    {"series-by-host", "series", "by=host&function=OpWriteBlockProto&field=q95_ns&sort=ratio&step=1m"},
    {"series__columns-by-host", "series/columns", "by=host&function=OpWriteBlockProto&sort=ratio&step=1m"},
    {"series-bytes", "series", "by=host&role=datanode&field=bytes.mean_bytes&sort=host&step=2m&limit=1"},
    {"distribution", "distribution", ""},
    {"distribution-steps", "distribution", "function=OpWriteBlockProto&step=1m"},
    {"distribution-bytes", "distribution", "of=bytes&host=10.0.0.7"},
    {"functions-by-minute", "functions", "by=minute&role=namenode"},
    {"functions-by-host-minute", "functions", "by=host,minute&function=OpWriteBlockProto&sort=total_ns"},
    {"functions-excluded", "functions", "role=client&exclude=dataStreamer&exclude=DFSOutputStream#write&exclude=x"},
    {"forest", "forest", ""},
    {"forest-excluded", "forest",
     "exclude=OpWriteBlockProto&exclude=dataStreamer&exclude=DFSOutputStream#write&limit=1"},
    {"forest-roles", "forest", "role=namenode"},
    {"forest-host", "forest", "host=10.0.0.8&sort=calls"},
    {"forest-function", "forest", "function=sendBlock&sort=critical_ns"},
    {"forest-tree", "forest", "level=tree&limit=2"},
    {"traces", "traces", ""},
    {"traces-two", "traces", "limit=2"},
    {"names", "names", ""},
    {"names-text", "names", "text=CREATE&role=client"},
    {"names-host", "names", "kind=host&limit=2"},
    {"names-annotation", "names", "kind=annotation&text=pa"},
    {"traces-summary", "traces", "summary=true&limit=1"},
    {"contrast", "contrast", "a_min_duration=60ms"},
    {"traces-longest", "traces", "sort=duration_ns&limit=1"},
    {"traces-function-host", "traces", "function=sendBlock&host=10.0.0.8"},
    {"traces-path", "traces", "path=/data/a"},
    {"traces-annotation", "traces", "annotation=user=hdfs&annotation=path"},
    {"traces-incomplete", "traces", "incomplete=true"},
    {"traces-duration", "traces", "min_duration=50ms&max_duration=0.1s"},
    {"traces-calls", "traces", "function=OpWriteBlockProto&role=datanode&call_min_duration=155ms"},
    {"traces-short-calls", "traces", "host=10.0.0.8&call_max_duration=14ms"},
    {"traces-spans", "traces", "min_spans=7&max_spans=7"},
    {"traces-period", "traces", "since=59m&until=58m"},
    {"trace-write", "trace", "id=0000000000000001"},
    {"trace-read", "trace", "id=00000000000000030000000000000003"},
    {"trace-orphans", "trace", "id=0000000000000004"},
    {"trace-bad-times", "trace", "id=0000000000000005"},
    {"trace-cycle", "trace", "id=0000000000000006"},
    {"trace-cut", "trace", "id=0000000000000001&limit=2"},
    {"trace__columns", "trace/columns", "id=0000000000000004"},
    {"trace__columns-times", "trace/columns", "id=0000000000000001&columns=self,critical,id_high,id_low"},
    {"trace__find", "trace/find", "id=0000000000000001&text=path=&limit=1"},
    {"trace__find-more", "trace/find", "id=0000000000000001&text=bytes=&limit=2"},
    {"trace__notes", "trace/notes", "id=0000000000000001"},
    {"span", "span", "id=00000000000000010000000000000005"},
    {"diff-periods", "diff", "a=60m..59m&b=59m.."},
    {"diff-hosts", "diff", "a=60m..59m&b=59m..&by=host&role=datanode"},
    {"diff-traces", "diff", "a=0000000000000001&b=0000000000000002"},
    {"skew", "skew", ""},
    {"verify", "verify", ""},
};

static void test_documents(gconstpointer data) {
    const struct Case *test = data;
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    json_auto_t *answer = fixture_answer(&fixture, test->question, test->params);
    json_object_del(answer, "version");
    fixture_check_document(test->file, answer);
}

/* The same spans, some twice, in another order and in many pieces: the same answers. */
static void test_order_of_arrival(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    for (gsize i = 0; i < sample_count; i++) {
        fixture_store(&fixture, &sample_rows[(i * 11 + 5) % sample_count], 1);
        if (i % 3 == 0) fixture_store(&fixture, &sample_rows[(i * 11 + 5) % sample_count], 1);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        static const char *const varying[] = {"status", "senders", "verify", NULL};
        if (g_strv_contains(varying, cases[i].question)) continue;
        json_auto_t *answer = fixture_answer(&fixture, cases[i].question, cases[i].params);
        if (!g_getenv("PLUMB_WRITE_DOCUMENTS")) fixture_check_document(cases[i].file, answer);
    }
    json_auto_t *verified = fixture_answer(&fixture, "verify", "");
    g_assert_cmpint(number_at(verified, "differences"), ==, 0);
}

/* From each part on less is shown, and all parts from the first. Takes what says so out of the document. */
static void check_part_by_part(Fixture *fixture, const char *params, json_t *whole) {
    json_int_t n = json_integer_value(json_object_get(whole, "parts"));
    gint64 spans_before = G_MAXINT64;
    for (json_int_t part = 1; part <= n; part++) {
        g_autofree char *from = g_strdup_printf("%s&part=%d", params, (int)part);
        json_auto_t *answer = fixture_answer(fixture, "trace", from);
        gint64 spans = number_at(answer, "spans_total");
        g_assert_cmpint(number_at(answer, "first_part"), ==, part);
        g_assert_cmpint(number_at(answer, "parts_shown"), ==, n - part + 1);
        g_assert_cmpint(spans, <, spans_before);
        g_assert_cmpint(spans, >, 0);
        spans_before = spans;
    }
    json_object_del(whole, "parts");
    json_object_del(whole, "first_part");
    json_object_del(whole, "parts_shown");
}

/* A trace too large for one record: found once, shown whole. */
static void test_parts(void) {
    g_auto(Fixture) whole = {0};
    g_auto(Fixture) parts = {0};
    fixture_init(&whole);
    fixture_init_parts(&parts, 4);
    fixture_store(&whole, sample_rows, sample_count);
    fixture_store(&parts, sample_rows, sample_count);

    for (guint i = 1; i <= 7; i++) {
        g_autofree char *params = g_strdup_printf("id=%016x", i);
        json_auto_t *a = fixture_answer(&whole, "trace", params);
        json_auto_t *b = fixture_answer(&parts, "trace", params);
        check_part_by_part(&parts, params, b);
        g_assert_true(json_equal(a, b));
    }

    json_auto_t *a = fixture_answer(&whole, "traces", "");
    json_auto_t *b = fixture_answer(&parts, "traces", "");
    json_t *rows = json_object_get(b, "traces"), *row;
    gsize i;
    g_assert_cmpint(number_at(b, "scanned"), >, 7);
    json_array_foreach(rows, i, row) {
        json_t *other = row_where(json_object_get(a, "traces"), "trace", text_at(row, "trace"));
        g_assert_nonnull(other);
        g_assert_cmpint(json_is_true(json_object_get(row, "in_parts")), ==, number_at(row, "spans") > 4);
        if (json_object_get(row, "in_parts")) json_object_del(other, "pattern");
        json_object_del(row, "in_parts");
        g_assert_true(json_equal(row, other));
    }
    g_assert_cmpuint(json_array_size(rows), ==, 7);

    /* That a part lacks parents makes no trace incomplete. */
    json_auto_t *incomplete = fixture_answer(&parts, "traces", "incomplete=true");
    g_assert_cmpuint(json_array_size(json_object_get(incomplete, "traces")), ==, 2);
    /* Nor does its size. */
    json_auto_t *large = fixture_answer(&parts, "traces", "min_spans=9");
    json_auto_t *small = fixture_answer(&parts, "traces", "max_spans=6&limit=0");
    g_assert_cmpuint(json_array_size(json_object_get(large, "traces")), ==, 1);
    g_assert_nonnull(row_where(json_object_get(large, "traces"), "trace", "0000000000000001"));
    g_assert_cmpuint(json_array_size(json_object_get(small, "traces")), ==, 5);
    json_auto_t *verified = fixture_answer(&parts, "verify", "");
    g_assert_cmpint(number_at(verified, "differences"), ==, 0);
}

/* Page by page, what is listed at once: in each order, whatever is asked for. */
static void test_pages(void) {
    static const char *const asked[] = {"",
                                        "sort=begin_time_ns&",
                                        "sort=duration_ns&",
                                        "sort=spans&",
                                        "min_duration=1ms&sort=duration_ns&",
                                        "host=10.0.0.7&"};
    /* Three that begin together, of which two last as long. */
    static const SpanRow together[] = {{20, 1, 0, "a", "Client/10.0.0.7", 5000, 9000, NULL, 0},
                                       {22, 2, 0, "a", "Client/10.0.0.7", 5000, 9000, NULL, 0},
                                       {21, 3, 0, "a", "Client/10.0.0.7", 5000, 8000, NULL, 0}};
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    fixture_store(&fixture, together, G_N_ELEMENTS(together));
    for (guint i = 0; i < G_N_ELEMENTS(asked); i++) {
        for (guint limit = 1; limit <= 3; limit++) {
            g_autofree char *all = g_strconcat(asked[i], "limit=0", NULL);
            json_auto_t *whole = fixture_answer(&fixture, "traces", all);
            json_auto_t *met = json_array();
            g_autofree char *next = g_strdup("");
            while (next != NULL) {
                g_autofree char *params = g_strdup_printf("%slimit=%u%s", asked[i], limit, next);
                json_auto_t *page = fixture_answer(&fixture, "traces", params);
                json_array_extend(met, json_object_get(page, "traces"));
                /* No page is empty, but of an empty list. */
                g_assert_true(json_array_size(json_object_get(page, "traces")) > 0 || json_array_size(met) == 0);
                const char *cursor = json_string_value(json_object_get(page, "next"));
                g_assert_true((cursor != NULL) == json_is_true(json_object_get(page, "more")));
                g_free(next);
                next = cursor != NULL ? g_strconcat("&after=", cursor, NULL) : NULL;
                const gboolean all_met = json_array_size(met) == json_array_size(json_object_get(whole, "traces"));
                g_assert_true((next == NULL) == all_met);
            }
            g_assert_true(json_equal(met, json_object_get(whole, "traces")));
        }
    }
}

/* One match, and many that are none behind it: the period is not read to its end for a second one. */
static void test_the_search_for_more_ends(void) {
    enum { OTHERS = 6000 };
    g_autofree SpanRow *rows = g_new0(SpanRow, OTHERS + 1);
    for (guint i = 0; i < OTHERS; i++) rows[i] = (SpanRow){100 + i, 1, 0, "a", "Client/10.0.0.7", i, i + 1, NULL, 0};
    rows[OTHERS] = (SpanRow){1, 1, 7, "a", "Client/10.0.0.7", OTHERS, OTHERS + 1, NULL, 0};
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, rows, OTHERS + 1);

    json_auto_t *first = fixture_answer(&fixture, "traces", "incomplete=true&limit=1");
    g_assert_cmpuint(json_array_size(json_object_get(first, "traces")), ==, 1);
    g_assert_cmpint(number_at(first, "scanned"), ==, 1 + 4096);
    g_assert_true(json_is_true(json_object_get(first, "more")));
    g_autofree char *params =
        g_strconcat("incomplete=true&limit=1&after=", json_string_value(json_object_get(first, "next")), NULL);
    json_auto_t *second = fixture_answer(&fixture, "traces", params);
    g_assert_cmpuint(json_array_size(json_object_get(second, "traces")), ==, 0);
    g_assert_true(json_is_false(json_object_get(second, "more")));
}

/* No answer has more rows than it may, whatever the limit says, and none is silent about it. */
static void test_rows_max(void) {
    static const struct {
        const char *question, *params, *list, *inner; /* rows are those of 'inner', where there is one */
        guint rows, expected;
        gboolean more;
    } tests[] = {
        {"functions", "limit=0", "functions", NULL, 16, 16, FALSE},
        {"functions", "limit=0", "functions", NULL, 15, 15, TRUE},
        {"functions", "limit=7", "functions", NULL, 15, 7, TRUE},
        {"forest", "limit=0", "patterns", "nodes", 19, 19, FALSE},
        {"forest", "limit=0", "patterns", "nodes", 18, 17, TRUE}, /* whole patterns only */
        {"forest", "limit=0&level=tree", "patterns", "nodes", 100, 26, FALSE},
        {"forest", "limit=0&level=tree", "patterns", "nodes", 8, 14, TRUE}, /* the tree that reaches it is the last */
        {"traces", "limit=0", "traces", NULL, 7, 7, FALSE},
        {"traces", "limit=0", "traces", NULL, 6, 6, TRUE},
        {"traces", "limit=0&sort=spans", "traces", NULL, 6, 6, TRUE},
        {"trace", "id=0000000000000001&limit=0", "spans", NULL, 9, 9, FALSE},
        {"trace", "id=0000000000000001&limit=0", "spans", NULL, 8, 8, TRUE},
        {"diff", "a=..59m&b=59m..", "rows", NULL, 16, 16, FALSE},
        {"diff", "a=..59m&b=59m..", "rows", NULL, 10, 10, TRUE},
    };

    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);

    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryParams) params = params_from_text(tests[i].params);
        Asked asked = {fixture.archive, params, SAMPLE_BASE_NS + 60 * NS_PER_MINUTE, tests[i].rows, NULL, NULL};
        json_auto_t *answer = question_answer(tests[i].question, &asked, &error);
        g_assert_no_error(error);

        gsize rows = 0, k;
        json_t *row;
        json_array_foreach(json_object_get(answer, tests[i].list), k, row) rows +=
            tests[i].inner ? json_array_size(json_object_get(row, tests[i].inner)) : 1;
        g_test_message("%s?%s", tests[i].question, tests[i].params);
        g_assert_cmpuint(rows, ==, tests[i].expected);
        g_assert_cmpint(json_is_true(json_object_get(answer, "more")), ==, tests[i].more);
    }
}

/* Each point is what functions say of its host and minute, whether it is told by weights or by rows. */
static void check_points(Fixture *fixture, const json_t *answer, const json_t *series, const char *field) {
    const json_t *at = json_object_get(series, "at");
    g_assert_cmpuint(json_array_size(at), >, 0);
    for (gsize i = 0; i < json_array_size(at); i++) {
        const gint64 since_ns =
            number_at(answer, "since_time_ns") + json_integer_value(json_array_get(at, i)) * NS_PER_MINUTE;
        g_autofree char *params =
            g_strdup_printf("by=host&function=%s&role=%s&host=%s&since=%" G_GINT64_FORMAT "&until=%" G_GINT64_FORMAT,
                            text_at(series, "function"), text_at(series, "role"), text_at(series, "host"), since_ns,
                            since_ns + NS_PER_MINUTE);
        json_auto_t *functions = fixture_answer(fixture, "functions", params);
        const json_t *row = json_array_get(json_object_get(functions, "functions"), 0);
        g_assert_cmpint(json_integer_value(json_array_get(json_object_get(series, "values"), i)), ==,
                        number_at(row, field));
        g_assert_cmpint(json_integer_value(json_array_get(json_object_get(series, "calls"), i)), ==,
                        number_at(row, "calls"));
    }
}

static void test_series_of_functions(void) {
    static const char *const fields[] = {"mean_ns", "total_ns", "self_ns", "critical_ns", "calls", "q95_ns"};
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
        g_autofree char *params = g_strdup_printf("by=host&step=1m&limit=0&field=%s", fields[i]);
        json_auto_t *answer = fixture_answer(&fixture, "series", params);
        gsize k;
        json_t *series;
        g_assert_cmpuint(json_array_size(json_object_get(answer, "series")), >, 3);
        json_array_foreach(json_object_get(answer, "series"), k, series) {
            if (*text_at(series, "host") != '\0') check_points(&fixture, answer, series, fields[i]);
        }
    }
}

static gint64 column_at(const json_t *answer, guint column, gsize row) {
    const json_t *values = json_object_get(json_array_get(json_object_get(answer, "columns"), column), "values");
    return json_integer_value(json_array_get(values, row));
}

/* Rows of columns belong to the series in their order; numbers, heads and peers are those of the document. */
static void check_series_columns(Fixture *fixture, const char *params) {
    static const char *const lists[] = {"at", "values", "calls"};
    json_auto_t *expected = fixture_answer(fixture, "series", params);
    json_auto_t *answer = fixture_answer(fixture, "series/columns", params);
    gsize i, row = 0;
    json_t *series;
    json_array_foreach(json_object_get(answer, "series"), i, series) {
        json_t *whole = json_array_get(json_object_get(expected, "series"), i);
        const gint64 points = number_at(series, "points");
        for (guint column = 0; column < G_N_ELEMENTS(lists); column++) {
            const json_t *list = json_object_get(whole, lists[column]);
            g_assert_cmpint(json_array_size(list), ==, points);
            for (gsize k = 0; k < json_array_size(list); k++)
                g_assert_cmpint(column_at(answer, column, row + k), ==, json_integer_value(json_array_get(list, k)));
            json_object_del(whole, lists[column]);
        }
        row += (gsize)points;
        json_object_del(series, "points");
    }
    g_assert_cmpuint(row, >, 0);
    g_assert_cmpuint(row, ==, (gsize)number_at(answer, "rows"));
    json_object_del(answer, "rows");
    json_object_del(answer, "columns");
    g_assert_true(json_equal(answer, expected));
}

static void test_series_columns(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    check_series_columns(&fixture, "by=host&sort=ratio&step=1m&limit=0");
    check_series_columns(&fixture, "step=1m&limit=2&field=total_ns");
    json_auto_t *none = fixture_answer(&fixture, "series/columns", "function=none");
    g_assert_cmpint(number_at(none, "rows"), ==, 0);
}

/* What plumbd sends is written without a document: the same text. */
static void assert_same_text(Fixture *fixture, const char *question, const char *list, const char *params) {
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryParams) parsed = params_from_text(params);
    const Query query = {fixture->archive, question, parsed, SAMPLE_BASE_NS + 60 * NS_PER_MINUTE, NULL};
    g_auto(JsonRows) rows = {NULL, {NULL, 0, 0}};
    json_auto_t *head = query_run_rows(&query, &rows, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(rows.member, ==, list);
    json_auto_t *whole = fixture_answer(fixture, question, params);
    g_assert_cmpuint(json_array_size(json_object_get(whole, list)), >, 0);
    gsize size_bytes;
    g_autofree char *text = json_compact_rows(head, &rows, &size_bytes);
    g_autofree char *expected = json_compact(whole, &size_bytes);
    g_assert_cmpstr(text, ==, expected);
}

static void test_text(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    json_auto_t *answer = fixture_answer(&fixture, "traces", "");
    gsize i;
    json_t *row;
    json_array_foreach(json_object_get(answer, "traces"), i, row) {
        g_autofree char *params = g_strdup_printf("id=%s", text_at(row, "trace"));
        assert_same_text(&fixture, "trace", "spans", params);
    }
    assert_same_text(&fixture, "trace", "spans", "id=0000000000000001&limit=2");
    assert_same_text(&fixture, "series", "series", "by=host&sort=ratio&step=1m&limit=0");
    assert_same_text(&fixture, "series", "series", "step=1m&limit=2");
}

/* Keys that come twice or are not ASCII, more keys than are written straight, texts with escapes, or no UTF-8. */
static void test_trace_annotations(void) {
    static const SpanRow spans[] = {
        {0x51, 1, 0, "root", "FSClient/h1:1", 0, 100, "one=1;two=\"a\\b\";@5=first;@7=\x01;one=3", 0},
        {0x51, 2, 1, "second", "FSClient/h1:1", 10, 20, "clé=é;bad=x\xffy;empty=", 0},
        {0x51, 3, 1, "third", "FSClient/h1:1", 40, 20,
         "a=0;b=1;c=2;d=3;e=4;f=5;g=6;h=7;i=8;j=9;k=10;l=11;m=12;n=13;o=14;p=15;q=16", 0},
    };
    static const char *const expected[] = {
        "{\"one\":[\"1\",\"3\"],\"two\":\"\\\"a\\\\b\\\"\"}",
        "{\"clé\":\"é\",\"bad\":\"x\xef\xbf\xbdy\",\"empty\":\"\"}",
        "{\"a\":\"0\",\"b\":\"1\",\"c\":\"2\",\"d\":\"3\",\"e\":\"4\",\"f\":\"5\",\"g\":\"6\",\"h\":\"7\",\"i\":\"8\","
        "\"j\":\"9\",\"k\":\"10\",\"l\":\"11\",\"m\":\"12\",\"n\":\"13\",\"o\":\"14\",\"p\":\"15\",\"q\":\"16\"}",
    };

    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, spans, G_N_ELEMENTS(spans));
    assert_same_text(&fixture, "trace", "spans", "id=0000000000000051");

    json_auto_t *answer = fixture_answer(&fixture, "trace", "id=0000000000000051");
    json_t *rows = json_object_get(answer, "spans");
    for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
        gsize size_bytes;
        g_autofree char *text = json_compact(json_object_get(json_array_get(rows, i), "annotations"), &size_bytes);
        g_assert_cmpstr(text, ==, expected[i]);
    }

    g_autofree char *notes = json_dumps(json_object_get(json_array_get(rows, 0), "notes"), JSON_COMPACT);
    g_assert_cmpstr(notes, ==,
                    "[{\"time_ns\":1605955980000005000,\"message\":\"first\"},"
                    "{\"time_ns\":1605955980000007000,\"message\":\"\\u0001\"}]");
}

/* ---- how calls of a node are spread ---- */

static gint64 calls_spread(Fixture *fixture, const char *pattern, gsize node, const char *of) {
    g_autofree char *asked = g_strdup_printf("pattern=%s&node=%" G_GSIZE_FORMAT "&of=%s&step=1m", pattern, node, of);
    json_auto_t *answer = fixture_answer(fixture, "distribution", asked);
    gint64 calls = 0;
    gsize i;
    json_t *column;
    json_array_foreach(json_object_get(answer, "columns"), i, column) calls += number_at(column, "calls");
    return calls;
}

/* Each of the calls that forest counts of a node, once; those with bytes too. */
static void test_nodes_spread(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    json_auto_t *forest = fixture_answer(&fixture, "forest", "");
    gsize i, k, with_bytes = 0;
    json_t *pattern, *node;
    json_array_foreach(json_object_get(forest, "patterns"), i, pattern) {
        const char *id = text_at(pattern, "pattern");
        json_array_foreach(json_object_get(pattern, "nodes"), k, node) {
            const json_t *bytes = json_object_get(node, "bytes"), *rate = json_object_get(node, "rate");
            g_assert_cmpint(calls_spread(&fixture, id, k, "duration"), ==, number_at(node, "calls"));
            g_assert_cmpint(calls_spread(&fixture, id, k, "bytes"), ==, bytes ? number_at(bytes, "calls") : 0);
            g_assert_cmpint(calls_spread(&fixture, id, k, "rate"), ==, rate ? number_at(rate, "calls") : 0);
            with_bytes += bytes != NULL;
        }
    }
    g_assert_cmpuint(with_bytes, >, 0);

    const json_t *first = json_array_get(json_object_get(forest, "patterns"), 0);
    static const char *const wrong[] = {"", "&node=1000", "&node=x", "&node=0&host=10.0.0.7", "&node=0&role=client"};
    for (gsize n = 0; n < G_N_ELEMENTS(wrong); n++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *asked = g_strdup_printf("pattern=%s%s", text_at(first, "pattern"), wrong[n]);
        g_assert_null(fixture_ask(&fixture, "distribution", asked, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    }
}

/* ---- patterns compared ---- */

static void test_diff_of_patterns(void) {
    static const SpanRow changed[] = {
        {8, 1, 0, "DistributedFileSystem#create", "FSClient/10.0.0.5/77", 200000000, 400000, NULL, 0},
        {8, 2, 1, "DFSOutputStream#write", "FSClient/10.0.0.5/77", 200001000, 1000, NULL, 0},
        {8, 3, 1, "DFSOutputStream#close", "FSClient/10.0.0.5/77", 200003000, 1000, NULL, 0},
    };

    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    fixture_store(&fixture, changed, G_N_ELEMENTS(changed));

    json_auto_t *first = fixture_answer(&fixture, "trace", "id=0000000000000001");
    json_auto_t *second = fixture_answer(&fixture, "trace", "id=0000000000000008");
    g_autofree char *params =
        g_strdup_printf("kind=pattern&a=%s&b=%.8s", text_at(first, "pattern"), text_at(second, "pattern"));
    json_auto_t *answer = fixture_answer(&fixture, "diff", params);
    static const struct {
        const char *function, *state;
        gint64 depth;
    } expected[] = {
        {"DistributedFileSystem#create", "slower", 0},
        {"ClientNamenodeProtocol#create", "gone", 1},
        {"ClientProtocol#create", "gone", 2},
        {"DFSOutputStream#write", "faster", 1},
        {"dataStreamer", "gone", 1},
        {"OpWriteBlockProto", "gone", 2},
        {"OpWriteBlockProto", "gone", 3},
        {"DFSOutputStream#close", "new", 1},
    };

    const json_t *rows = json_object_get(answer, "rows");
    g_assert_cmpuint(json_array_size(rows), ==, G_N_ELEMENTS(expected));
    for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
        const json_t *row = json_array_get(rows, i);
        g_assert_cmpstr(text_at(row, "function"), ==, expected[i].function);
        g_assert_cmpint(number_at(row, "depth"), ==, expected[i].depth);
        g_assert_cmpstr(text_at(row, "state"), ==, expected[i].state);
    }

    /* Both writes' calls are under one path. */
    g_assert_cmpint(number_at(json_object_get(json_array_get(rows, 3), "a"), "calls"), ==, 4);
}

/* ---- wrong questions ---- */

static const struct WrongCase {
    const char *question, *params;
    gint code;
    const char *says; /* the message contains it */
} wrong_cases[] = {
    {"forrest", "", PLUMB_ERROR_INPUT, "did you mean \"forest\""},
    {"f\xff", "", PLUMB_ERROR_INPUT, "not UTF-8"},
    {"functions", "f\xff=1", PLUMB_ERROR_INPUT, "name is not UTF-8"},
    {"functions", "function=f\xff", PLUMB_ERROR_INPUT, "value of \"function\" is not UTF-8"},
    {"xyzzy", "", PLUMB_ERROR_INPUT,
     "there are status, senders, functions, series, series/columns, distribution, forest"},
    {"series", "field=median", PLUMB_ERROR_INPUT, "none of a measure"},
    {"series", "sort=ratio", PLUMB_ERROR_INPUT, "add by=host"},
    {"series", "step=90s", PLUMB_ERROR_INPUT, "whole number of minutes"},
    {"series", "step=10s", PLUMB_ERROR_INPUT, "whole number of minutes"},
    {"series", "step=1m&since=2020-11-20T00:00:00Z&until=2020-11-21T00:00:00Z", PLUMB_ERROR_INPUT, "use step=15m"},
    {"distribution", "step=1m&since=2020-11-20T00:00:00Z&until=2020-11-21T00:00:00Z", PLUMB_ERROR_INPUT,
     "has 1440 steps, and 200 are the most"},
    {"distribution", "of=time", PLUMB_ERROR_INPUT, "duration"},
    {"distribution", "node=0", PLUMB_ERROR_INPUT, "pattern and node go together"},
    {"functions", "sicne=1h", PLUMB_ERROR_INPUT, "did you mean \"since\""},
    {"functions", "qqqqqqqq=1", PLUMB_ERROR_INPUT, "it knows since, until"},
    {"status", "since=1h", PLUMB_ERROR_INPUT, "it knows none"},
    {"functions", "limit=3&limit=4", PLUMB_ERROR_INPUT, "given twice"},
    {"functions", "since=yesterday", PLUMB_ERROR_INPUT, "15m, 2h or 3d"},
    {"functions", "since=10m&until=20m", PLUMB_ERROR_INPUT, "ends before it begins"},
    {"functions", "limit=-1", PLUMB_ERROR_INPUT, "whole number"},
    {"functions", "limit=99999999999999999999", PLUMB_ERROR_INPUT, "whole number"},
    {"functions", "role=clint", PLUMB_ERROR_INPUT, "namenode, datanode"},
    {"functions", "role=client,", PLUMB_ERROR_INPUT, "namenode, datanode"},
    {"functions", "by=role", PLUMB_ERROR_INPUT, "use host"},
    {"functions", "sort=speed", PLUMB_ERROR_INPUT, "total_ns"},
    {"functions", "sort=host", PLUMB_ERROR_INPUT, "by=host"},
    {"functions", "host=10.0.0.77", PLUMB_ERROR_NOT_FOUND, "did you mean \"10.0.0.7\""},
    {"functions", "host=nohost", PLUMB_ERROR_NOT_FOUND, "plumb functions --by host shows which there are"},
    {"functions", "host=OpWriteBlockProto", PLUMB_ERROR_NOT_FOUND, "no call of a host \"OpWriteBlockProto\""},
    {"series", "host=10.0.0.77", PLUMB_ERROR_NOT_FOUND, "did you mean \"10.0.0.7\""},
    {"distribution", "host=nohost", PLUMB_ERROR_NOT_FOUND, "no call of a host \"nohost\""},
    {"traces", "host=10.0.0.77", PLUMB_ERROR_NOT_FOUND, "did you mean \"10.0.0.7\""},
    {"traces", "host=nohost&summary=true", PLUMB_ERROR_NOT_FOUND, "no call of a host \"nohost\""},
    {"traces", "host=nohost&sort=duration_ns", PLUMB_ERROR_NOT_FOUND, "no call of a host \"nohost\""},
    {"contrast", "host=nohost&a_min_duration=1ms", PLUMB_ERROR_NOT_FOUND, "no call of a host \"nohost\""},
    {"forest", "host=nohost", PLUMB_ERROR_NOT_FOUND, "no call of a host \"nohost\""},
    {"diff", "a=2h..1h&b=1h..&host=10.0.0.77", PLUMB_ERROR_NOT_FOUND, "did you mean \"10.0.0.7\""},
    {"forest", "level=leaf", PLUMB_ERROR_INPUT, "forest, tree"},
    {"forest", "sort=name", PLUMB_ERROR_INPUT, "total_ns, calls"},
    {"forest", "level=tree&host=10.0.0.7", PLUMB_ERROR_INPUT, "level=tree"},
    {"forest", "level=tree&sort=critical_ns", PLUMB_ERROR_INPUT, "level=tree"},
    {"forest", "pattern=abc", PLUMB_ERROR_INPUT, "first 4 or more digits"},
    {"forest", "pattern=not-hex", PLUMB_ERROR_INPUT, "is no pattern"},
    {"forest", "pattern=00000000000000000000000000000000", PLUMB_ERROR_NOT_FOUND, "no pattern"},
    {"traces", "min_duration=5", PLUMB_ERROR_INPUT, "a number and a unit"},
    {"traces", "incomplete=perhaps", PLUMB_ERROR_INPUT, "false, true"},
    {"traces", "sort=name", PLUMB_ERROR_INPUT, "begin_time_ns, duration_ns, spans"},
    {"traces", "summary=some", PLUMB_ERROR_INPUT, "false, true"},
    {"names", "kind=path", PLUMB_ERROR_INPUT, "annotation"},
    {"names", "kind=annotation&role=client", PLUMB_ERROR_INPUT, "without role"},
    {"traces", "after=b.1.2", PLUMB_ERROR_INPUT, "begin without it"},
    {"traces", "after=d.1.2.0000000000000001", PLUMB_ERROR_INPUT, "begin without it"},
    {"traces", "after=b.1.1.000000000000000g", PLUMB_ERROR_INPUT, "begin without it"},
    {"traces", "after=b.1.1.0000000000000001&summary=true", PLUMB_ERROR_INPUT, "without after"},
    {"contrast", "function=x", PLUMB_ERROR_INPUT, "Give a_since"},
    {"contrast", "a_min_duration=5", PLUMB_ERROR_INPUT, "a number and a unit"},
    {"trace", "", PLUMB_ERROR_INPUT, "id is missing"},
    {"trace", "id=12", PLUMB_ERROR_INPUT, "16 hex digits"},
    {"trace", "id=000000000000000g", PLUMB_ERROR_INPUT, "16 hex digits"},
    {"trace", "id=00000000000000ff", PLUMB_ERROR_NOT_FOUND, "00000000000000ff"},
    {"trace", "id=000000000000000100000000000000ff", PLUMB_ERROR_NOT_FOUND, "has no span"},
    {"diff", "a=1h..", PLUMB_ERROR_INPUT, "needs a and b"},
    {"diff", "a=1h..&b=soon..", PLUMB_ERROR_INPUT, "soon"},
    {"diff", "kind=period&a=1h&b=2h", PLUMB_ERROR_INPUT, "SINCE..UNTIL"},
    {"diff", "a=1h&b=2h", PLUMB_ERROR_INPUT, "SINCE..UNTIL"},
    {"diff", "a=&b=", PLUMB_ERROR_INPUT, "SINCE..UNTIL"},
    {"diff", "a=abcd&b=abcd", PLUMB_ERROR_NOT_FOUND, "no pattern"},
    {"diff", "kind=day&a=1h..&b=2h..", PLUMB_ERROR_INPUT, "period, pattern, trace"},
    {"diff", "a=0000000000000001&b=00000000000000ff", PLUMB_ERROR_NOT_FOUND, "00000000000000ff"},
    {"diff", "a=0000000000000001&b=0000000000000002&host=x", PLUMB_ERROR_INPUT, "not with traces"},
};

static void test_wrong_questions(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    for (gsize i = 0; i < G_N_ELEMENTS(wrong_cases); i++) {
        g_autoptr(GError) error = NULL;
        json_auto_t *answer = fixture_ask(&fixture, wrong_cases[i].question, wrong_cases[i].params, &error);
        g_test_message("%s?%s: %s", wrong_cases[i].question, wrong_cases[i].params, error ? error->message : "-");
        g_assert_null(answer);
        g_assert_error(error, PLUMB_ERROR, wrong_cases[i].code);
        g_assert_nonnull(strstr(error->message, wrong_cases[i].says));
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
    }
}

/* Nothing stored: every question has an answer, and no period it could name. */
static void test_empty_archive(void) {
    static const char *const questions[] = {"status", "senders", "functions", "forest", "traces", "skew", "verify"};
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    for (gsize i = 0; i < G_N_ELEMENTS(questions); i++) {
        json_auto_t *answer = fixture_answer(&fixture, questions[i], "");
        g_assert_null(json_object_get(answer, "since_time_ns"));
    }
    json_auto_t *diff = fixture_answer(&fixture, "diff", "a=2h..1h&b=1h..");
    g_assert_cmpint(json_array_size(json_object_get(diff, "rows")), ==, 0);
}

/* The first rows are chosen by their weights, and only they are read: they are those that sorting all would give. */
static void test_first_rows(void) {
    static const char *const sorts[] = {"calls", "total_ns", "self_ns", "critical_ns"};
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    for (guint s = 0; s < G_N_ELEMENTS(sorts); s++) {
        g_autofree char *every = g_strdup_printf("by=host&limit=0&sort=%s", sorts[s]);
        json_auto_t *all = fixture_answer(&fixture, "functions", every);
        json_t *rows = json_object_get(all, "functions");
        g_assert_cmpint(json_array_size(rows), >, 10);
        for (guint limit = 1; limit <= json_array_size(rows); limit++) {
            g_autofree char *few = g_strdup_printf("by=host&limit=%u&sort=%s", limit, sorts[s]);
            json_auto_t *some = fixture_answer(&fixture, "functions", few);
            json_t *first = json_object_get(some, "functions");
            g_assert_cmpint(json_array_size(first), ==, limit);
            for (guint i = 0; i < limit; i++)
                g_assert_true(json_equal(json_array_get(first, i), json_array_get(rows, i)));
        }
    }
}

/* Functions and hosts are counted in memory after the first question: what comes later counts too. */
static void test_status_counts(void) {
    static const SpanRow rows[] = {{0x77, 1, 0, "newFunction", "NameNode/10.9.9.9", 5, 7, NULL, 0},
                                   {0x78, 1, 0, "newFunction", "NameNode/10.9.9.10", 6, 7, NULL, 0}};

    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    gint64 counted[2][2]; /* before and after: functions, hosts */

    for (guint i = 0; i < 2; i++) {
        if (i == 1) fixture_store(&fixture, rows, G_N_ELEMENTS(rows));
        json_auto_t *status = fixture_answer(&fixture, "status", "");
        json_auto_t *functions = fixture_answer(&fixture, "functions", "by=host");
        const json_t *row, *store = json_object_get(status, "store");
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) hosts = g_hash_table_new(g_str_hash, g_str_equal);
        gsize n;
        json_array_foreach(json_object_get(functions, "functions"), n, row) {
            g_hash_table_add(names, (gpointer)text_at(row, "function"));
            if (*text_at(row, "host")) g_hash_table_add(hosts, (gpointer)text_at(row, "host"));
        }

        counted[i][0] = number_at(store, "functions");
        counted[i][1] = number_at(store, "hosts");
        g_assert_cmpint(counted[i][0], ==, g_hash_table_size(names));
        g_assert_cmpint(counted[i][1], ==, g_hash_table_size(hosts));
    }

    g_assert_cmpint(counted[1][0], ==, counted[0][0] + 1);
    g_assert_cmpint(counted[1][1], ==, counted[0][1] + 2);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/query/documents/%s", cases[i].file);
        g_test_add_data_func(path, &cases[i], test_documents);
    }
    g_test_add_func("/query/order-of-arrival", test_order_of_arrival);
    g_test_add_func("/query/parts", test_parts);
    g_test_add_func("/query/pages", test_pages);
    g_test_add_func("/query/pages/the-search-for-more-ends", test_the_search_for_more_ends);
    g_test_add_func("/query/rows-max", test_rows_max);
    g_test_add_func("/query/nodes-spread", test_nodes_spread);
    g_test_add_func("/query/diff-of-patterns", test_diff_of_patterns);
    g_test_add_func("/query/wrong-questions", test_wrong_questions);
    g_test_add_func("/query/empty-archive", test_empty_archive);
    g_test_add_func("/query/first-rows", test_first_rows);
    g_test_add_func("/query/status-counts", test_status_counts);
    g_test_add_func("/query/series/functions", test_series_of_functions);
    g_test_add_func("/query/series/columns", test_series_columns);
    g_test_add_func("/query/trace/text", test_text);
    g_test_add_func("/query/trace/annotations", test_trace_annotations);
    return g_test_run();
}
