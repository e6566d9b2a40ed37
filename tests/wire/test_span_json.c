#include "common/wire/json/span_json.h"

#include <string.h>

#include "common/base/limits.h"
#include "tests/wire/batches.h"

#define MANY G_MAXUINT

/* Feeds everything in pieces of piece bytes (0: at once) and finishes. */
static SpanJsonCounts read_all(SpanJsonReader *reader, const char *text, gsize length, gsize piece, SpanBatch *batch) {
    for (gsize at = 0; at < length;) {
        const gsize n = piece == 0 ? length - at : MIN(piece, length - at);
        gsize consumed;
        span_json_feed(reader, (Bytes){text + at, n}, MANY, batch, &consumed);
        g_assert_cmpuint(consumed, ==, n);
        at += n;
    }
    span_json_finish(reader);
    return span_json_counts(reader);
}

static void expect_counts(const char *text, gsize length, guint64 spans, guint64 bad) {
    for (gsize piece = 0; piece < 20; piece++) {
        g_autoptr(SpanJsonReader) reader = span_json_reader_new();
        g_autoptr(SpanBatch) batch = batch_new();
        const SpanJsonCounts counts = read_all(reader, text, length, piece, batch);
        if (counts.spans != spans || counts.bad_values != bad)
            g_error("%s: %" G_GUINT64_FORMAT " spans, %" G_GUINT64_FORMAT " bad, pieces of %zu", text, counts.spans,
                    counts.bad_values, piece);
        g_assert_cmpuint(batch->spans->len, ==, spans);
        g_assert_cmpuint(counts.bytes, ==, length);
        g_assert_true((counts.first_error != NULL) == (bad > 0));
    }
}

#define A  "{\"a\":\"00000000000000010000000000000002\",\"b\":5,\"e\":7,\"p\":[]}"
#define ID "\"a\":\"00000000000000010000000000000002\""

static const struct {
    const char *name, *text;
    guint spans, bad;
} streams[] = {
    {"empty", "", 0, 0},
    {"white space", " \r\n\t\n", 0, 0},
    {"one", A, 1, 0},
    {"lines", A "\n" A "\r\n\n" A "\n", 3, 0},
    {"no separator", A A A, 3, 0},
    {"empty object", "{}", 0, 1},
    {"no known key", "{\"x\":1}" A, 1, 1},
    {"every key but one missing", "{\"d\":\"x\"}{\"p\":[]}{\"e\":1}", 3, 0},
    {"pretty", "{\n  " ID ",\n  \"p\" : [ ]\n}\n", 1, 0},
    {"unknown keys", "{" ID ",\"z\":{\"y\":[1,2.5e-3,true,false,null,{\"x\":[[]]}]}}", 1, 0},
    {"braces in strings", "{" ID ",\"d\":\"}{\\\"}\"}" A, 2, 0},
    {"garbage around", "garbage " A " x " A, 2, 2},
    {"garbage on two lines", "one\ntwo\n" A, 1, 2},
    {"array around", "[" A "," A "]", 2, 3},
    {"cut at the end", A "{\"a\":\"0", 1, 1},
    {"cut in a string by another", "{\"a\":\"00000000" A A, 2, 1},
    {"cut in a key by another", "{\"a\":\"00000000000000010000000000000002\",\"de" A, 1, 1},
    {"cut before a value by another", "{\"b\":" A, 0, 1}, /* still a possible beginning: waits for its end */
    {"cut before a comma by another", "{\"b\":1" A A, 2, 1},
    {"cut after a comma by another", "{\"b\":1," A A, 2, 1},
    {"cut line", "{\"a\":\"0000\n" A "\n", 1, 1},
    {"two cut lines", "{\"a\":\"0000\n{\"b\":\n{\"c\"\n" A "\n", 1, 3},
    {"nested twice, then cut", "{\"n\":{\"k\":\"v\"},\"t\":[{\"t\":1,\"m\":\"x\"} oh\n" A, 1, 1},
    {"wrong bracket", "{\"p\":[}" A, 1, 1},
    {"bare word", "{\"b\":nul}" A, 1, 1},
    {"number", "{" ID ",\"b\":1.5}" A, 1, 1},
    {"number too large", "{" ID ",\"b\":99999999999999999999}" A, 1, 1},
    {"time out of range", "{" ID ",\"b\":9223372036855}" A, 1, 1},
    {"duration out of range", "{" ID ",\"b\":-9223372036854,\"e\":9223372036854}" A, 1, 1},
    {"invalid UTF-8", "{" ID ",\"d\":\"\xff\"}" A, 1, 1},
    {"lone surrogate", "{" ID ",\"d\":\"\\ud800\"}" A, 1, 1},
    {"zero byte", "{" ID ",\"d\":\"\\u0000\"}" A, 1, 1},
    {"control character", "{" ID ",\"d\":\"\x01\"}" A, 1, 1},
    {"bad escape", "{" ID ",\"d\":\"\\x\"}" A, 1, 1},
    {"bad id", "{\"a\":\"0000000000000001000000000000000g\"}" A, 1, 1},
    {"short id", "{\"a\":\"1\"}" A, 1, 1},
    {"id is a number", "{\"a\":1}" A, 1, 1},
    {"bad parent", "{" ID ",\"p\":[\"x\"]}" A, 1, 1},
    {"parents are no array", "{" ID ",\"p\":\"x\"}" A, 1, 1},
    {"name is no string", "{" ID ",\"d\":1}" A, 1, 1},
    {"annotations are no object", "{" ID ",\"n\":[]}" A, 1, 1},
    {"annotation is no string", "{" ID ",\"n\":{\"k\":1}}" A, 1, 1},
    {"pair of one", "{" ID ",\"nl\":[[\"k\"]]}" A, 1, 1},
    {"pair is no array", "{" ID ",\"nl\":[{}]}" A, 1, 1},
    {"notes are no array", "{" ID ",\"t\":{}}" A, 1, 1},
    {"note is no object", "{" ID ",\"t\":[1]}" A, 1, 1},
    {"note without text", "{" ID ",\"t\":[{\"t\":1}]}" A, 2, 0},
    {"bad nanoseconds", "{" ID ",\"bn\":\"1x\",\"en\":\"2\"}" A, 1, 1},
    {"empty nanoseconds", "{" ID ",\"bn\":\"\",\"en\":\"2\"}" A, 1, 1},
    {"nanoseconds as number", "{" ID ",\"bn\":1}" A, 1, 1},
    {"bad flags", "{" ID ",\"f\":-1}" A, 1, 1},
    {"HTrace 3", "{\"i\":\"000000000000000f\",\"s\":\"00000000000000a1\",\"p\":[\"00000000000000a0\"]}", 1, 0},
    {"HTrace 3, bad trace", "{\"i\":\"f\",\"s\":\"00000000000000a1\"}" A, 1, 1},
    {"HTrace 3, long parent", "{\"s\":\"00000000000000a1\",\"p\":[\"00000000000000010000000000000002\"]}" A, 1, 1},
};

static void test_streams(void) {
    for (gsize i = 0; i < G_N_ELEMENTS(streams); i++) {
        g_test_message("%s", streams[i].name);
        expect_counts(streams[i].text, strlen(streams[i].text), streams[i].spans, streams[i].bad);
    }
    expect_counts(A "\0" A, 2 * strlen(A) + 1, 2, 1);
}

static void assert_text(const SpanBatch *batch, guint32 i, const char *expected) {
    const BatchString text = batch_string(batch, i);
    g_assert_cmpmem(text.data, text.length, expected, strlen(expected));
}

static void test_htrace4(void) {
    const char *text =
        "{\"a\":\"b9c9d5a4e5b0f0ee26fc9b8a3fa7ab26\",\"b\":1605956000123,\"e\":1605956000125,\"d\":\"FileSystem#"
        "create\",\"r\":\"FsShell/10.0.0.5\",\"p\":[\"b9c9d5a4e5b0f0ee0000000000000001\",\"1000000000000001"
        "0000000000000002\"],\"n\":{\"path\":\"/user/anna\",\"args\":\"\"},\"t\":[{\"t\":1605956000124,\"m\":\"hi\"}]}";
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    const SpanJsonCounts counts = read_all(reader, text, strlen(text), 0, batch);
    g_assert_no_error(counts.first_error);
    g_assert_cmpuint(batch->spans->len, ==, 1);
    const BatchSpan *span = batch_span(batch, 0);
    g_assert_cmphex(span->id.trace, ==, G_GUINT64_CONSTANT(0xb9c9d5a4e5b0f0ee));
    g_assert_cmphex(span->id.span, ==, G_GUINT64_CONSTANT(0x26fc9b8a3fa7ab26));
    g_assert_cmpint(span->begin_ns, ==, G_GINT64_CONSTANT(1605956000123000000));
    g_assert_cmpint(span->duration_ns, ==, 2000000);
    g_assert_cmpuint(span->flags, ==, SPAN_MILLISECONDS);
    assert_text(batch, span->name, "FileSystem#create");
    assert_text(batch, span->tracer, "FsShell/10.0.0.5");
    g_assert_cmpuint(span->n_parents, ==, 2);
    g_assert_cmphex(g_array_index(batch->parents, SpanId, 1).trace, ==, G_GUINT64_CONSTANT(0x1000000000000001));
    g_assert_cmpuint(span->n_annotations, ==, 2);
    assert_text(batch, g_array_index(batch->annotations, BatchAnnotation, 0).key, "path");
    assert_text(batch, g_array_index(batch->annotations, BatchAnnotation, 1).key, "args");
    g_assert_cmpuint(span->n_notes, ==, 1);
    g_assert_cmpint(g_array_index(batch->notes, BatchNote, 0).time_ns, ==, G_GINT64_CONSTANT(1605956000124000000));

    /* What came from HTrace goes out as it came. */
    g_autoptr(GString) out = g_string_new(NULL);
    span_json_write(batch, 0, out);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    g_assert_cmpstr(out->str, ==, line);
}

static void test_htrace3(void) {
    const char *text = "{\"i\":\"74ace74ace74ace7\",\"s\":\"00000000000000a1\",\"b\":10,\"e\":12,\"d\":\"getFileInfo\","
                       "\"r\":\"NameNode\",\"p\":[\"00000000000000a0\"],\"n\":{\"k\":\"v\"}}";
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    read_all(reader, text, strlen(text), 0, batch);
    g_assert_cmpuint(batch->spans->len, ==, 1);
    const BatchSpan *span = batch_span(batch, 0);
    const SpanId expected = {G_GUINT64_CONSTANT(0x74ace74ace74ace7), 0xa1};
    g_assert_true(span_id_equal(span->id, expected));
    g_assert_cmpuint(span->n_parents, ==, 1);
    g_assert_true(span_id_equal(g_array_index(batch->parents, SpanId, 0), ((SpanId){expected.trace, 0xa0})));
    g_assert_cmpint(span->duration_ns, ==, 2000000);
}

/* Files that LocalFileSpanReceiver of both versions wrote (it puts a line feed behind the first 20 spans only): roots
 * with an annotation, and below each a child with a timeline message. */
static void test_real_files(void) {
    static const struct {
        const char *file;
        guint roots;
        const char *path;
    } files[] = {
        {"htrace-4.1.0-local-file.json", 30, "/user/anna/\"quoted\" \xc3\xa9\xf0\x9f\x98\x80"},
        {"htrace-3.1.0-local-file.json", 5, "/user/anna/\xc3\xa9"},
    };

    for (gsize f = 0; f < G_N_ELEMENTS(files); f++) {
        g_autofree char *path = g_build_filename(TEST_DATA_DIR, "wire", files[f].file, NULL), *text = NULL;
        gsize length;
        g_autoptr(GError) error = NULL;
        g_file_get_contents(path, &text, &length, &error);
        g_assert_no_error(error);

        g_autoptr(SpanJsonReader) reader = span_json_reader_new();
        g_autoptr(SpanBatch) batch = batch_new();
        const SpanJsonCounts counts = read_all(reader, text, length, 4096, batch);
        g_assert_no_error(counts.first_error);
        g_assert_cmpuint(batch->spans->len, ==, 2 * files[f].roots);

        for (guint i = 0; i < batch->spans->len; i += 2) { /* a child is closed before its root */
            const BatchSpan *child = batch_span(batch, i), *root = batch_span(batch, i + 1);
            g_assert_cmpuint(root->n_parents + root->n_notes + child->n_annotations, ==, 0);
            g_assert_cmpuint(child->n_parents + child->n_notes, ==, 2);
            g_assert_true(span_id_equal(g_array_index(batch->parents, SpanId, child->parents_at), root->id));
            assert_text(batch, child->name, "ClientNamenodeProtocol#create");
            g_assert_cmpint(child->begin_ns, >=, root->begin_ns);
            g_assert_cmpint(child->begin_ns + child->duration_ns, <=, root->begin_ns + root->duration_ns);
            g_assert_cmpuint(child->flags, ==, SPAN_MILLISECONDS);
            const guint32 last = root->annotations_at + root->n_annotations - 1;
            const BatchString value = g_array_index(batch->annotations, BatchAnnotation, last).value;
            g_assert_cmpmem(value.data, value.length, files[f].path, strlen(files[f].path));
        }
    }
}

static void test_equal_keys(void) {
    const char *text = "{" ID ",\"d\":\"x\",\"d\":\"y\",\"n\":{\"k\":\"1\",\"l\":\"2\",\"k\":\"3\"}}";
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    read_all(reader, text, strlen(text), 0, batch);
    const BatchSpan *span = batch_span(batch, 0);
    assert_text(batch, span->name, "y");
    g_assert_cmpuint(span->n_annotations, ==, 2);
    const BatchAnnotation *first = &g_array_index(batch->annotations, BatchAnnotation, 0);
    assert_text(batch, first->key, "k");
    g_assert_cmpmem(first->value.data, first->value.length, "3", 1);
}

/* Text of 'length' bytes under a key, and whether that is within the limits. */
static void expect_length(const char *before, gsize length, const char *after, gboolean good) {
    g_autoptr(GString) text = g_string_new(before);
    for (gsize i = 0; i < length; i++) g_string_append_c(text, 'x');
    g_string_append(text, after);
    g_string_append(text, A);
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    const SpanJsonCounts counts = read_all(reader, text->str, text->len, 70000, batch);
    g_assert_cmpuint(counts.spans, ==, good ? 2 : 1);
    g_assert_cmpuint(counts.bad_values, ==, good ? 0 : 1);
}

static void test_limits(void) {
    static const struct {
        const char *before, *after;
        gsize limit;
    } cases[] = {
        {"{" ID ",\"d\":\"", "\"}", LIMIT_NAME_BYTES},
        {"{" ID ",\"r\":\"", "\"}", LIMIT_NAME_BYTES},
        {"{" ID ",\"n\":{\"", "\":\"v\"}}", LIMIT_NAME_BYTES},
        {"{" ID ",\"n\":{\"k\":\"", "\"}}", LIMIT_VALUE_BYTES},
        {"{" ID ",\"nl\":[[\"k\",\"", "\"]]}", LIMIT_VALUE_BYTES},
        {"{" ID ",\"t\":[{\"m\":\"", "\"}]}", LIMIT_VALUE_BYTES},
        {"{" ID ",\"unknown\":\"", "\"}", LIMIT_JSON_BYTES - sizeof("{" ID ",\"unknown\":\"\"}") + 1},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        expect_length(cases[i].before, cases[i].limit, cases[i].after, TRUE);
        expect_length(cases[i].before, cases[i].limit + 1, cases[i].after, FALSE);
    }
}

static void test_counts_of_entries(void) {
    static const struct {
        const char *before, *entry, *after;
        gsize limit;
    } cases[] = {
        {"{" ID ",\"p\":[", "\"00000000000000010000000000000002\"", "]}", LIMIT_SPAN_PARENTS},
        {"{" ID ",\"nl\":[", "[\"\",\"\"]", "]}", LIMIT_SPAN_ANNOTATIONS},
        {"{" ID ",\"t\":[", "{}", "]}", LIMIT_SPAN_ANNOTATIONS},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        for (gsize over = 0; over < 2; over++) {
            g_autoptr(GString) text = g_string_new(cases[i].before);
            for (gsize n = 0; n < cases[i].limit + over; n++)
                g_string_append_printf(text, "%s%s", n == 0 ? "" : ",", cases[i].entry);
            g_string_append(text, cases[i].after);
            g_autoptr(SpanJsonReader) reader = span_json_reader_new();
            g_autoptr(SpanBatch) batch = batch_new();
            g_assert_cmpuint(read_all(reader, text->str, text->len, 0, batch).spans, ==, 1 - over);
        }
}

/* A file that breaks again at each of its braces, but only far behind it, is read in a time that grows with its size:
 * 8 MiB in the worst form known take well under a second, and would take hours if every brace were followed up. */
static void test_second_looks_are_bounded(void) {
    g_autoptr(GString) text = g_string_new(NULL);
    while (text->len < LIMIT_JSON_BYTES / 2) g_string_append(text, "{\":\":\",\":\"");
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    g_assert_cmpuint(read_all(reader, text->str, text->len, 0, batch).spans, ==, 0);

    g_string_assign(text, "{\"a\":\"");
    while (text->len < LIMIT_JSON_BYTES / 2) g_string_append(text, "{\",\":\"");
    g_string_append(text, "\x01\n" A);
    g_autoptr(SpanJsonReader) second = span_json_reader_new();
    g_assert_cmpuint(read_all(second, text->str, text->len, 0, batch).spans, ==, 1);
}

static void test_round_trip(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    for (guint round = 0; round < 300; round++) {
        g_autoptr(SpanBatch) batch = batches_random(rand, (guint)g_rand_int_range(rand, 0, 40));
        g_autoptr(GString) text = g_string_new(NULL);
        for (guint i = 0; i < batch->spans->len; i++) span_json_write(batch, i, text);
        g_assert_true(g_utf8_validate_len(text->str, text->len, NULL));
        g_autoptr(SpanJsonReader) reader = span_json_reader_new();
        g_autoptr(SpanBatch) back = batch_new();
        const gsize piece = (gsize)g_rand_int_range(rand, 0, 3) * (gsize)g_rand_int_range(rand, 1, 100);
        const SpanJsonCounts counts = read_all(reader, text->str, text->len, piece, back);
        g_assert_no_error(counts.first_error);
        batches_assert_spans_equal(batch, back);
    }
}

/* Batches of at most max_spans, whatever the pieces: the same spans in the same order, none twice. */
static void test_full_batches(void) {
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 1; i <= 500; i++)
        g_string_append_printf(text, "%s{\"a\":\"%032x\"}%s", i % 7 == 0 ? "{\"a\":\"0" : "", i,
                               i % 3 == 0 ? "\n" : "");

    for (guint max_spans = 1; max_spans < 9; max_spans++)
        for (gsize piece = 1; piece < 200; piece += 13) {
            g_autoptr(SpanJsonReader) reader = span_json_reader_new();
            g_autoptr(SpanBatch) batch = batch_new();
            guint64 next = 1;

            for (gsize at = 0; at < text->len;) {
                gsize consumed;
                const gsize n = MIN(piece, text->len - at);
                span_json_feed(reader, (Bytes){text->str + at, n}, max_spans, batch, &consumed);
                at += consumed;
                g_assert_true(consumed == n || batch->spans->len == max_spans);
                if (batch->spans->len < max_spans) continue;
                for (guint i = 0; i < batch->spans->len; i++)
                    g_assert_cmpuint(batch_span(batch, i)->id.span, ==, next++);
                batch_clear(batch);
            }

            span_json_finish(reader);
            g_assert_cmpuint(next + batch->spans->len, ==, 501);
            g_assert_cmpuint(span_json_counts(reader).spans, ==, 500);
            g_assert_cmpuint(span_json_counts(reader).bytes, ==, text->len);
        }
}

/* A reader that reads on after finish() starts anew. */
static void test_finish(void) {
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    read_all(reader, "{\"a\":", 5, 0, batch);
    const SpanJsonCounts counts = read_all(reader, A, strlen(A), 0, batch);
    g_assert_cmpuint(counts.spans, ==, 1);
    g_assert_cmpuint(counts.bad_values, ==, 1);
    g_assert_nonnull(strstr(counts.first_error->message, "byte 0"));
    span_json_reader_free(NULL);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/span-json/streams", test_streams);
    g_test_add_func("/span-json/htrace4", test_htrace4);
    g_test_add_func("/span-json/htrace3", test_htrace3);
    g_test_add_func("/span-json/real-files", test_real_files);
    g_test_add_func("/span-json/equal-keys", test_equal_keys);
    g_test_add_func("/span-json/limits", test_limits);
    g_test_add_func("/span-json/counts-of-entries", test_counts_of_entries);
    g_test_add_func("/span-json/second-looks-are-bounded", test_second_looks_are_bounded);
    g_test_add_func("/span-json/round-trip", test_round_trip);
    g_test_add_func("/span-json/full-batches", test_full_batches);
    g_test_add_func("/span-json/finish", test_finish);
    return g_test_run();
}
