/* Logs of sysstat's tools. The first byte says how long the pieces are in which a log is fed; the pieces must not
 * matter, and every sample is one that can be kept. */
#include "common/model/spark_fields.h"
#include "fuzz/target.h"
#include "spark-bridge/samples/samples.h"

static SampleCounts read_pieces(Bytes text, gsize piece, SparkRecords *into) {
    SampleOptions options = SAMPLE_OPTIONS_NONE;
    options.zone = "Europe/Berlin";
    g_autoptr(SampleReader) reader = sample_reader_new(&options, NULL);
    const char *data = text.data;
    for (gsize at = 0; at < text.size_bytes; at += piece)
        sample_reader_feed(reader, (Bytes){data + at, MIN(piece, text.size_bytes - at)}, into);
    sample_reader_finish(reader, into);
    return sample_reader_counts(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const Bytes text = {data + 1, size - 1};
    g_autoptr(SparkRecords) whole = spark_records_new(), pieces = spark_records_new();
    const SampleCounts counts = read_pieces(text, MAX(size, 1), whole);
    const SampleCounts others = read_pieces(text, (gsize)data[0] + 1, pieces);
    g_assert_cmpuint(counts.samples, ==, others.samples);
    g_assert_cmpuint(counts.lines, ==, others.lines);
    g_assert_cmpuint(counts.bad_lines, ==, others.bad_lines);
    g_assert_cmpuint(counts.first_bad_line, ==, others.first_bad_line);
    g_assert_cmpuint(counts.samples, ==, whole->of[SPARK_SAMPLE]->len);
    for (guint i = 0; i < whole->of[SPARK_SAMPLE]->len; i++) {
        const HostSample *sample = spark_sample(whole, i);
        g_assert_true(spark_form_equal(spark_form(SPARK_SAMPLE), sample, spark_sample(pieces, i)));
        g_assert_cmpstr(spark_record_fault(SPARK_SAMPLE, sample), ==, NULL);
    }
    return 0;
}
