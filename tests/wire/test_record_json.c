/* Records of Spark as JSON lines: out and back in, among spans, and what is no record. */
#include <string.h>

#include "common/base/error.h"
#include "common/wire/json/record_json.h"
#include "common/wire/json/span_json.h"
#include "tests/model/records_random.h"

static const char a_span[] =
    "{\"a\":\"00000000000000010000000000000002\",\"b\":1,\"e\":2,\"d\":\"x\",\"r\":\"t\",\"p\":[]}\n";

static GString *written(const SparkRecords *records) {
    GString *text = g_string_new(NULL);
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        const GArray *of = records->of[kind];
        for (guint i = 0; i < of->len; i++)
            record_json_write((SparkKind)kind, of->data + i * spark_kind_size((SparkKind)kind), text);
    }
    return text;
}

/* Reads in batches of at most so many; copies each into 'all'. How many spans there were. */
static guint read_batches(const GString *text, guint most, SparkRecords *all, SpanJsonCounts *counts) {
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(SparkRecords) some = spark_records_new();
    span_json_take_records(reader, some);
    guint spans = 0;

    for (gsize at = 0; at < text->len;) {
        gsize consumed;
        span_json_feed(reader, (Bytes){text->str + at, text->len - at}, most, batch, &consumed);
        g_assert_cmpuint(batch->spans->len + spark_records_count(some), <=, most);
        g_assert_true(consumed > 0 || batch->spans->len + spark_records_count(some) > 0);
        at += consumed;
        spans += batch->spans->len;
        batch_clear(batch);
        for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++)
            for (guint i = 0; i < some->of[kind]->len; i++)
                spark_records_copy(all, (SparkKind)kind, some->of[kind]->data + i * spark_kind_size((SparkKind)kind));
        spark_records_clear(some);
    }

    span_json_finish(reader);
    *counts = span_json_counts(reader);
    if (counts->first_error != NULL) g_test_message("%s", counts->first_error->message);
    counts->first_error = NULL; /* the reader's */
    return spans;
}

static void test_there_and_back(void) {
    static const guint batches[] = {1, 2, 7, 1000};
    for (guint round = 0; round < 40; round++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(round);
        g_autoptr(SparkRecords) sent = records_random(rand, round % 9, 3), got = spark_records_new();
        g_autoptr(GString) text = written(sent);
        g_string_prepend(text, a_span);
        g_string_append(text, a_span);
        SpanJsonCounts counts;
        g_assert_cmpuint(read_batches(text, batches[round % G_N_ELEMENTS(batches)], got, &counts), ==, 2);
        g_assert_cmpuint(counts.bad_values, ==, 0);
        g_assert_cmpuint(counts.spans, ==, 2);
        g_assert_cmpuint(counts.records, ==, spark_records_count(sent));
        records_assert_equal(sent, got);
        g_autoptr(GString) again = written(got);
        g_string_prepend(again, a_span);
        g_string_append(again, a_span);
        g_assert_cmpstr(text->str, ==, again->str);
    }
}

/* Some readers keep numbers as doubles. */
static void test_large_numbers_are_texts(void) {
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkLink *link = spark_add_link(records);
    link->app = "app-1", link->task = 7, link->kind = LINK_SPLIT, link->confidence = 0.5;
    link->trace = -9007199254740993, link->span = 9007199254740992;
    g_autoptr(GString) text = written(records);
    g_assert_cmpstr(text->str, ==,
                    "{\"spark\":\"link\",\"app\":\"app-1\",\"task\":7,\"kind\":3,\"trace\":\"-9007199254740993\","
                    "\"span\":9007199254740992,\"confidence\":0.5}\n");
}

/* Many texts that are the same take little memory here, but not in a frame. */
static void test_a_batch_is_bounded(void) {
    g_autoptr(SparkRecords) records = spark_records_new(), got = spark_records_new();
    g_autofree char *reason = g_strnfill(60000, 'x');
    for (guint i = 0; i < 100; i++) {
        SparkTask *task = spark_add_task(records);
        task->app = "app-1", task->stage = 0, task->stage_attempt = 0, task->task = i, task->reason = reason;
    }
    g_autoptr(GString) text = written(records);
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    span_json_take_records(reader, got);
    gsize consumed;
    span_json_feed(reader, (Bytes){text->str, text->len}, 5000, batch, &consumed);
    g_assert_cmpuint(consumed, <, text->len);
    g_assert_cmpuint(spark_records_count(got), >=, 10);
    g_assert_cmpuint(spark_records_count(got), <=, 20);
}

static void test_bad_values(void) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"spark\":\"tsak\",\"app\":\"a\"}", "no kind of record"},
        {"{\"spark\":5}", "no kind of record"},
        {"{\"spark\":\"app\"}", "without what tells it from others"},
        {"{\"spark\":\"app\",\"app\":5}", "\"app\": not a string"},
        {"{\"spark\":\"app\",\"app\":\"a\",\"startMs\":1.5}", "\"startMs\": not a whole number"},
        {"{\"spark\":\"app\",\"app\":\"a\",\"startMs\":\"12x\"}", "\"startMs\": not a whole number"},
        {"{\"spark\":\"app\",\"app\":\"a\",\"startMs\":\"9223372036854775808\"}", "not a whole number"},
        {"{\"spark\":\"app\",\"app\":\"a\",\"properties\":{}}", "\"properties\": not an array"},
        {"{\"spark\":\"app\",\"app\":\"a\",\"properties\":[5]}", "an entry is no object"},
        {"{\"spark\":\"executor\",\"app\":\"a\",\"id\":\"1\",\"cores\":2147483648}", "out of range"},
        {"{\"spark\":\"task\",\"app\":\"a\",\"stage\":0,\"stageAttempt\":0,\"task\":1,\"metrics\":[\"x\"]}", "metrics"},
        {"{\"spark\":\"sample\",\"host\":\"h\",\"timeNs\":1,\"user\":\"x\"}", "\"user\": not a number"},
        {"{\"spark\":\"job\",\"app\":\"a\",\"job\":1,\"stages\":[1,null]}", "\"stages\": not a whole number"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(SparkRecords) records = spark_records_new();
        g_autoptr(GError) error = NULL;
        json_auto_t *object = json_loads(cases[i].text, 0, NULL);
        g_assert_true(record_json_is(object));
        g_assert_false(record_json_read(object, records, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[i].says));
        g_assert_cmpuint(spark_records_count(records), ==, 0);
    }
}

/* One that says more than we know, and a reader that takes spans only. */
static void test_others(void) {
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autoptr(GError) error = NULL;
    json_auto_t *newer = json_loads("{\"spark\":\"task\",\"app\":\"a\",\"stage\":0,\"stageAttempt\":0,\"task\":1,"
                                    "\"status\":99,\"colour\":\"red\",\"runMs\":{}}",
                                    0, NULL);
    g_assert_true(record_json_read(newer, records, &error));
    g_assert_cmpint(spark_task(records, 0)->status, ==, 0);

    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GString) text = written(records);
    g_string_append(text, a_span);
    gsize consumed;
    span_json_feed(reader, (Bytes){text->str, text->len}, 100, batch, &consumed);
    g_assert_cmpuint(batch->spans->len, ==, 1);
    g_assert_cmpuint(span_json_counts(reader).bad_values, ==, 1);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record-json/there-and-back", test_there_and_back);
    g_test_add_func("/record-json/large-numbers", test_large_numbers_are_texts);
    g_test_add_func("/record-json/bounded", test_a_batch_is_bounded);
    g_test_add_func("/record-json/bad-values", test_bad_values);
    g_test_add_func("/record-json/others", test_others);
    return g_test_run();
}
