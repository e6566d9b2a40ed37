/* HTrace's JSON, both ways. HTrace 4: keys a (id), b, e (ms), d, r, p, n, t; HTrace 3: i (trace), s (span), 16-hex
 * parents. These are known as JSON lines, but what LocalFileSpanReceiver writes is a sequence of values with or
 * without white space between them, so the reader takes a stream, not lines.
 *
 * Nanoseconds: HTrace's b and e are milliseconds. For spans with finer times the writer adds "bn" and "en", the
 * nanoseconds since the epoch, as decimal strings (JSON numbers lose digits above 2^53 in many readers); the reader
 * prefers them. A span read without them is flagged SPAN_MILLISECONDS. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/batch.h"

/* Incremental reader: feed bytes as they come, cut anywhere. */
typedef struct SpanJsonReader SpanJsonReader;

SpanJsonReader *span_json_reader_new(void);
void span_json_reader_free(SpanJsonReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanJsonReader, span_json_reader_free)

typedef struct SpanJsonCounts {
    guint64 spans;
    guint64 bad_values; /* skipped up to the next value; the first one's error is kept in first_error */
    guint64 bytes;
    GError *first_error; /* owned by the reader; its message has the byte offset */
} SpanJsonCounts;

/* Appends what is complete to batch until batch holds max_spans; *consumed is how many bytes of data were taken (call
 * again with the rest once the batch was used). Never fails: bad values are counted and skipped. */
void span_json_feed(SpanJsonReader *reader, Bytes data, guint max_spans, SpanBatch *batch, gsize *consumed);
/* At the end of the input: a value begun and not finished is a bad value. */
void span_json_finish(SpanJsonReader *reader);
SpanJsonCounts span_json_counts(const SpanJsonReader *reader);

/* Appends one object and a line feed. */
void span_json_write(const SpanBatch *batch, guint span, GString *out);
