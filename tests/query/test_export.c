/* What goes in comes out: stored spans, exported, imported into a second archive, give the same spans, patterns and
 * statistics, although nothing in the second archive has the number it had in the first. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "common/base/clock.h"
#include "common/wire/json/span_json.h"
#include "tests/query/fixture.h"

static const char *const functions[] = {"read",  "write",  "sendBlock_17", "sendBlock_4096",     "sendBlock",
                                        "close", "lock#1", "a \"quoted\"", "gr\xc3\xbc\xc3\x9f", ""};
static const char *const tracers[] = {"FSClient/10.0.0.5/77", "NameNode/10.0.0.1", "DataNode/10.0.0.7/21", "Tool", ""};
static const char *const keys[] = {"bytes", "path", "sendBlock_{n}", "", "tab\there"};
static const char *const values[] = {"0", "4096", "/a/b", "", "line\nfeed", "\xf0\x9f\x8c\xb2", "-12", "9999999999"};

#define PICK(rand, list) (list)[g_rand_int_range(rand, 0, G_N_ELEMENTS(list))]

static guint32 intern(SpanBatch *batch, const char *text) { return batch_intern(batch, text, strlen(text)); }

static void random_span(GRand *rand, SpanBatch *batch, guint64 trace, guint i) {
    guint32 name = intern(batch, PICK(rand, functions)), tracer = intern(batch, PICK(rand, tracers));
    gboolean coarse = g_rand_int_range(rand, 0, 3) == 0;
    gint64 unit = coarse ? NS_PER_MS : 1;

    BatchSpan *span = batch_begin_span(batch, (SpanId){trace, i + 1});
    span->begin_ns = SAMPLE_BASE_NS + (gint64)(trace % 300) * NS_PER_SEC + g_rand_int_range(rand, 0, 1000000) * unit;
    span->duration_ns = g_rand_int_range(rand, -10, 1000000) * unit;
    span->flags = coarse ? SPAN_MILLISECONDS : 0;
    span->name = name;
    span->tracer = tracer;

    if (i > 0) batch_add_parent(batch, (SpanId){trace, (guint64)g_rand_int_range(rand, 1, (gint)i + 1)});
    if (g_rand_int_range(rand, 0, 8) == 0) batch_add_parent(batch, (SpanId){trace, 1000});
    if (g_rand_int_range(rand, 0, 8) == 0) batch_add_parent(batch, (SpanId){trace + 1, 1});

    for (gint n = g_rand_int_range(rand, 0, 4); n > 0; n--) {
        guint32 key = intern(batch, PICK(rand, keys));
        const char *value = PICK(rand, values);
        batch_add_annotation(batch, key, batch_copy(batch, value, strlen(value)));
    }
    for (gint n = g_rand_int_range(rand, 0, 3); n > 0; n--) {
        const char *message = PICK(rand, values);
        batch_add_note(batch, SAMPLE_BASE_NS + g_rand_int(rand), batch_copy(batch, message, strlen(message)));
    }
}

static void fill(Fixture *fixture, guint32 seed, guint n_traces) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint t = 0; t < n_traces; t++) {
        gint n = g_rand_int_range(rand, 1, 25);
        for (gint i = 0; i < n; i++) random_span(rand, batch, 0xab00 + t, (guint)i);
    }
    fixture_store_batch(fixture, batch);
}

/* ---- out and in ---- */

static gboolean append_piece(void *arg, Bytes piece) {
    g_string_append_len(arg, piece.data, (gssize)piece.size_bytes);
    return TRUE;
}

static GString *export_all(Fixture *fixture, const char *params_text) {
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryParams) params = params_from_text(params_text);
    GString *text = g_string_new(NULL);
    QuerySink sink = {append_piece, text};
    query_export(fixture->archive, params, SAMPLE_BASE_NS, &sink, &error);
    g_assert_no_error(error);
    return text;
}

static guint count_lines(const GString *text) {
    guint lines = 0;
    for (gsize i = 0; i < text->len; i++) lines += text->str[i] == '\n';
    return lines;
}

static void import(Fixture *fixture, const GString *text) {
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    gsize consumed;
    span_json_feed(reader, (Bytes){text->str, text->len}, G_MAXUINT, batch, &consumed);
    span_json_finish(reader);
    SpanJsonCounts counts = span_json_counts(reader);
    g_assert_cmpuint(consumed, ==, text->len);
    g_assert_cmpuint(counts.bad_values, ==, 0);
    g_assert_cmpuint(batch->spans->len, ==, count_lines(text));
    fixture_store_batch(fixture, batch);
}

static void test_there_and_back(void) {
    static const struct {
        const char *question, *params;
    } questions[] = {
        {"functions", "by=host"},
        {"forest", "limit=0"},
        {"forest", "limit=0&exclude=read&exclude=lock#1&sort=calls"},
        {"forest", "limit=0&role=datanode,client"},
        {"forest", "limit=0&level=tree"},
        {"traces", "limit=0"},
        {"traces", "limit=0&path=/a&sort=spans"},
        {"trace", "id=000000000000ab05&limit=0"},
        {"skew", "limit=0"},
        {"diff", "a=..59m&b=59m.."},
        {"diff", "a=000000000000ab05&b=000000000000ab06"},
    };

    for (guint32 seed = 1; seed <= 3; seed++) {
        g_auto(Fixture) first = {0};
        g_auto(Fixture) second = {0};
        fixture_init(&first);
        fixture_init(&second);

        /* Other numbers for the same strings and patterns. */
        SpanRow other = {0xffff, 1, 0, "write", "DataNode/10.0.0.7/21", 100, 100, "tab\there=1", 0};
        fixture_store(&second, &other, 1);
        fixture_store(&first, &other, 1);
        fill(&first, seed, 150);

        g_autoptr(GString) text = export_all(&first, "");
        import(&second, text);
        g_autoptr(GString) again = export_all(&second, "");
        g_assert_cmpstr(text->str, ==, again->str);

        for (gsize i = 0; i < G_N_ELEMENTS(questions); i++) {
            json_auto_t *a = fixture_answer(&first, questions[i].question, questions[i].params);
            json_auto_t *b = fixture_answer(&second, questions[i].question, questions[i].params);
            g_autofree char *x = json_dumps(a, 0), *y = json_dumps(b, 0);
            g_assert_cmpstr(x, ==, y);
        }
        json_auto_t *verified = fixture_answer(&second, "verify", "");
        g_assert_cmpint(number_at(verified, "differences"), ==, 0);
    }
}

/* ---- pieces ---- */

typedef struct Counter {
    guint pieces;
    guint stop_after; /* 0: never */
    gsize largest_bytes;
} Counter;

static gboolean count_piece(void *arg, Bytes piece) {
    Counter *counter = arg;
    counter->pieces++;
    counter->largest_bytes = MAX(counter->largest_bytes, piece.size_bytes);
    g_assert_cmpint(((const char *)piece.data)[piece.size_bytes - 1], ==, '\n');
    return counter->pieces != counter->stop_after;
}

static void test_pieces(void) {
    g_auto(Fixture) fixture = {0};
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryParams) params = query_params_new();
    fixture_init(&fixture);
    fill(&fixture, 9, 300);
    Counter all = {0}, one = {.stop_after = 1};
    g_assert_true(query_export(fixture.archive, params, 0, &(QuerySink){count_piece, &all}, &error));
    g_assert_cmpuint(all.pieces, >, 3);
    g_assert_cmpuint(all.largest_bytes, <, 80 * 1024);
    g_assert_true(query_export(fixture.archive, params, 0, &(QuerySink){count_piece, &one}, &error));
    g_assert_cmpuint(one.pieces, ==, 1);
}

static void test_period(void) {
    g_auto(Fixture) fixture = {0};
    g_autoptr(GError) error = NULL;
    fixture_init(&fixture);
    fixture_store(&fixture, sample_rows, sample_count);
    g_autoptr(GString) all = export_all(&fixture, "");
    g_autoptr(GString) minute = export_all(&fixture, "since=2020-11-21T10:54:00Z&until=2020-11-21T10:54:30Z");
    g_assert_cmpuint(count_lines(all), ==, sample_count);
    g_assert_cmpuint(count_lines(minute), ==, 7 + 5 + 2 + 3 + 2);
    g_assert_nonnull(strstr(all->str, "\"d\":\"sendBlock_1073741825\""));
    g_autoptr(QueryParams) wrong = params_from_text("limit=1");
    Counter counter = {0};
    g_assert_false(query_export(fixture.archive, wrong, 0, &(QuerySink){count_piece, &counter}, &error));
    g_assert_nonnull(strstr(error->message, "\"limit\""));
    g_assert_cmpuint(counter.pieces, ==, 0);
}

/* Applications that ran in the period, with all that is known of them, and the samples of that time. */
static void test_records(void) {
    g_auto(Fixture) first = {0};
    g_auto(Fixture) second = {0};
    g_autoptr(GError) error = NULL;
    fixture_init(&first);
    fixture_init(&second);
    fixture_store(&first, sample_rows, sample_count);
    const gint64 base_ms = SAMPLE_BASE_NS / NS_PER_MS;
    g_autoptr(SparkRecords) records = spark_records_new(), got = spark_records_new();
    for (guint i = 0; i < 3; i++) {
        static const char *const ids[] = {"app-early", "app-open", "app-late"};
        SparkApp *app = spark_add_app(records);
        app->app = app->id = ids[i], app->start_ms = base_ms + i * 3600000;
        if (i != 1) app->end_ms = app->start_ms + 1000;
        if (i == 1) app->last_event_ms = app->start_ms + 60000;
        SparkTask *task = spark_add_task(records);
        task->app = ids[i], task->stage = 1, task->stage_attempt = 0, task->task = 7;
        HostSample *sample = spark_add_sample(records);
        sample->host = "node-1", sample->source = "sar", sample->time_ns = SAMPLE_BASE_NS + i * 3600 * NS_PER_SEC;
    }
    SparkPut put;
    archive_spark_put(first.archive, records, base_ms, &put, &error);
    g_assert_no_error(error);

    g_autoptr(GString) all = export_all(&first, "");
    g_assert_cmpuint(count_lines(all), ==, sample_count + 9);
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    gsize consumed;
    span_json_take_records(reader, got);
    span_json_feed(reader, (Bytes){all->str, all->len}, G_MAXUINT, batch, &consumed);
    fixture_store_batch(&second, batch);
    archive_spark_put(second.archive, got, base_ms, &put, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(put.added, ==, 9);
    g_autoptr(GString) again = export_all(&second, "");
    g_assert_cmpstr(all->str, ==, again->str);

    static const struct {
        const char *params;
        guint lines;
        const char *app;
    } periods[] = {
        {"since=2020-11-21T12:00:00Z&until=2020-11-21T12:10:00Z", 0, NULL},
        {"since=2020-11-21T11:53:30Z&until=2020-11-21T12:10:00Z", 2, "app-open"}, /* its last event is in it */
        {"since=2020-11-21T11:40:00Z&until=2020-11-21T12:10:00Z", 3, "app-open"},
        {"since=2020-11-21T12:10:00Z", 3, "app-late"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(periods); i++) {
        g_autoptr(GString) text = export_all(&first, periods[i].params);
        g_test_message("%s: %s", periods[i].params, text->str);
        g_assert_cmpuint(count_lines(text), ==, periods[i].lines);
        if (periods[i].app != NULL) g_assert_nonnull(strstr(text->str, periods[i].app));
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/export/there-and-back", test_there_and_back);
    g_test_add_func("/query/export/pieces", test_pieces);
    g_test_add_func("/query/export/period", test_period);
    g_test_add_func("/query/export/records", test_records);
    return g_test_run();
}
