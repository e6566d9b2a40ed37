/* HTrace JSON with records of Spark. The first byte says how long the pieces are in which the rest is fed; the pieces
 * must not matter. What was read is written and read again. */
#include "common/wire/json/record_json.h"
#include "common/wire/json/span_json.h"
#include "fuzz/target.h"
#include "tests/model/records_random.h"
#include "tests/wire/batches.h"

static SpanJsonCounts read_pieces(SpanJsonReader *reader, Bytes text, gsize piece, SpanBatch *batch) {
    const char *data = text.data;
    for (gsize at = 0; at < text.size_bytes;) {
        const gsize n = MIN(piece, text.size_bytes - at);
        gsize consumed;
        span_json_feed(reader, (Bytes){data + at, n}, G_MAXUINT, batch, &consumed);
        g_assert_cmpuint(consumed, ==, n);
        at += n;
    }
    span_json_finish(reader);
    return span_json_counts(reader);
}

/* Few spans and records at a time: what is given back must come again, once. */
static void read_small_batches(Bytes text, gsize piece, guint64 all) {
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(SparkRecords) records = spark_records_new();
    span_json_take_records(reader, records);
    guint64 total = 0;
    const char *data = text.data;

    for (gsize at = 0; at < text.size_bytes;) {
        gsize consumed;
        const gsize n = MIN(piece, text.size_bytes - at);
        span_json_feed(reader, (Bytes){data + at, n}, 2, batch, &consumed);
        const guint64 held = batch->spans->len + spark_records_count(records);
        g_assert_true(consumed == n || held == 2);

        at += consumed;
        if (held < 2 && at < text.size_bytes) continue;
        total += held;
        batch_clear(batch);
        spark_records_clear(records);
    }

    g_assert_cmpuint(total, ==, all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const Bytes text = {data + 1, size - 1};
    const gsize piece = (gsize)data[0] + 1;
    g_autoptr(SpanJsonReader) reader = span_json_reader_new(), pieces = span_json_reader_new();
    g_autoptr(SpanBatch) batch = batch_new(), again = batch_new();
    g_autoptr(SparkRecords) records = spark_records_new(), same = spark_records_new();
    span_json_take_records(reader, records);
    span_json_take_records(pieces, same);
    const SpanJsonCounts counts = read_pieces(reader, text, size, batch);
    const SpanJsonCounts others = read_pieces(pieces, text, piece, again);
    g_assert_cmpuint(counts.spans, ==, others.spans);
    g_assert_cmpuint(counts.records, ==, others.records);
    g_assert_cmpuint(counts.bad_values, ==, others.bad_values);
    g_assert_cmpuint(counts.bytes, ==, text.size_bytes);
    batches_assert_spans_equal(batch, again);
    records_assert_equal(records, same);
    read_small_batches(text, piece, counts.spans + counts.records);

    g_autoptr(GString) out = g_string_new(NULL);
    for (guint i = 0; i < batch->spans->len; i++) span_json_write(batch, i, out);
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++)
        for (guint i = 0; i < records->of[kind]->len; i++)
            record_json_write((SparkKind)kind, records->of[kind]->data + i * spark_kind_size((SparkKind)kind), out);
    g_autoptr(SpanJsonReader) back = span_json_reader_new();
    g_autoptr(SpanBatch) read_back = batch_new();
    g_autoptr(SparkRecords) records_back = spark_records_new();
    span_json_take_records(back, records_back);
    const SpanJsonCounts written = read_pieces(back, (Bytes){out->str, out->len}, MAX(out->len, 1), read_back);
    g_assert_no_error(written.first_error);
    batches_assert_spans_equal(batch, read_back);
    records_assert_equal(records, records_back);
    return 0;
}
