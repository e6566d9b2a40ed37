/* HTrace's JSON, both ways. HTrace 4: keys a (id), b, e (ms), d, r, p, n, t; HTrace 3: i (trace), s (span), 16-hex
 * parents. These are known as JSON lines, but what LocalFileSpanReceiver writes is a sequence of values with or
 * without white space between them, so the reader takes a stream, not lines.
 *
 * Beyond HTrace's keys, so that nothing of a span is lost on the way out and back in:
 *
 *   bn, en  begin and end in nanoseconds since the epoch, as decimal strings (JSON numbers lose digits above 2^53 in
 *           many readers); written for spans with times finer than HTrace's milliseconds, and preferred to b and e
 *   tn      the same inside an entry of t, whose t counts milliseconds
 *   f       flags, when they do not follow from the rest: a span without bn is SPAN_MILLISECONDS, one with bn is not
 *   nl      the annotations as an array of [key, value], when a key occurs more than once: n then has the last value
 *           of each key (as every JSON reader takes it), and nl is preferred to n
 *
 * What is a bad value: not JSON, or not UTF-8, or with \u0000; a known key with a value of another type or form; times
 * out of range of 64-bit nanoseconds; over a limit of base/limits.h; none of HTrace's keys a, b, e, d, r, p, s. Every
 * key may be missing: without an id the span has the invalid id (0,0). Unknown keys are ignored. Of equal keys the last
 * counts. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/batch.h"
#include "common/model/spark_records.h"

/* Incremental reader: feed bytes as they come, cut anywhere. */
typedef struct SpanJsonReader SpanJsonReader;

SpanJsonReader *span_json_reader_new(void);
void span_json_reader_free(SpanJsonReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanJsonReader, span_json_reader_free)

/* Takes records of Spark (wire/record_json.h) that stand among the spans, into these; without, they are bad values.
 * They count towards max_spans, and what they take in a batch is bounded. */
void span_json_take_records(SpanJsonReader *reader, SparkRecords *records);

typedef struct SpanJsonCounts {
    guint64 spans, records;
    guint64 bad_values; /* pieces of the input that are no span, each skipped up to the next value or line */
    guint64 bytes;
    GError *first_error; /* owned by the reader; its message has the byte offset. NULL while bad_values is 0 */
} SpanJsonCounts;

/* Appends what is complete to batch until it holds max_spans (> 0); *consumed is how many bytes of data were taken.
 * While that is less than all, call again with the rest, once the batch was used. Never fails: bad values are counted
 * and skipped; a value cut short by the beginning of another one does not take that one with it. At most one value and
 * a slice of data are kept in memory. Strings are copied into the batch. */
void span_json_feed(SpanJsonReader *reader, Bytes data, guint max_spans, SpanBatch *batch, gsize *consumed);
/* At the end of the input: a value begun and not finished is a bad value. */
void span_json_finish(SpanJsonReader *reader);
SpanJsonCounts span_json_counts(const SpanJsonReader *reader);

/* Appends one object and a line feed. */
void span_json_write(const SpanBatch *batch, guint span, GString *out);
