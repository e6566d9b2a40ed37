#include "common/wire/json/span_json.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/wire/json/json_scan.h"
#include "common/wire/json/span_json_value.h"

/* Bytes taken into the reader's own memory at a time. */
#define SLICE_BYTES ((gsize)256 * 1024)
/* After damage, scanning starts again just behind the opening brace of the value that broke, since its end may be the
 * beginning of another one. Such second looks may cost at most this many times the bytes that broke: text can be made
 * so that each of its braces opens a value that breaks only at the end. */
#define SECOND_LOOKS 8u

/* Records of Spark in one batch, as bytes of their JSON: what fits a frame, whatever they are. */
#define RECORDS_BYTES ((gsize)1024 * 1024)

struct SpanJsonReader {
    GByteArray *buffer; /* bytes of the stream from 'offset' on that are not done with */
    guint64 offset;
    gsize at;      /* begin of the value under the scanner, or of what comes next */
    gsize scanned; /* how far the scanner is */
    gboolean in_value;
    JsonScan scan;
    gboolean damaged; /* bytes were skipped and counted, and neither a span nor a line feed came since */
    gsize damage_end; /* up to here values broke: what breaks again before it was counted already */
    guint64 looks_left;
    SpanJsonCounts counts;
    SparkRecords *records; /* NULL: none are taken */
    gsize record_bytes;    /* of those that it holds */
};

SpanJsonReader *span_json_reader_new(void) {
    SpanJsonReader *reader = g_new0(SpanJsonReader, 1);
    reader->buffer = g_byte_array_new();
    return reader;
}

void span_json_reader_free(SpanJsonReader *reader) {
    if (reader == NULL) return;
    g_byte_array_unref(reader->buffer);
    g_clear_error(&reader->counts.first_error);
    g_free(reader);
}

static void count_bad(SpanJsonReader *reader, const char *what) {
    reader->counts.bad_values++;
    if (reader->counts.first_error != NULL) return;
    fail(&reader->counts.first_error, PLUMB_ERROR_INPUT, "byte %" G_GUINT64_FORMAT ": %s", reader->offset + reader->at,
         what);
}

static void count_damage(SpanJsonReader *reader, const char *what) {
    if (!reader->damaged) count_bad(reader, what);
    reader->damaged = TRUE;
}

/* What stands between two values. FALSE when the buffer ends first. */
static gboolean find_value(SpanJsonReader *reader) {
    const guint8 *data = reader->buffer->data;
    for (; reader->at < reader->buffer->len; reader->at++) {
        const guint8 byte = data[reader->at];
        if (byte == '{') return TRUE;
        if (byte == '\n')
            reader->damaged = FALSE;
        else if (byte != ' ' && byte != '\t' && byte != '\r')
            count_damage(reader, "text that belongs to no JSON object");
    }
    return FALSE;
}

static void begin_value(SpanJsonReader *reader) {
    reader->scan = json_scan_begin();
    reader->scanned = reader->at + 1;
    reader->in_value = TRUE;
}

static void end_value(SpanJsonReader *reader, gsize next) {
    reader->in_value = FALSE;
    reader->at = next;
}

static void break_value(SpanJsonReader *reader, const char *what) {
    count_damage(reader, what);
    if (reader->at >= reader->damage_end) {
        reader->damage_end = reader->at;
        reader->looks_left = 0;
    }
    if (reader->scanned > reader->damage_end) {
        reader->looks_left += SECOND_LOOKS * (reader->scanned - reader->damage_end);
        reader->damage_end = reader->scanned;
    }
    const gsize cost = reader->scanned - reader->at + 1;
    if (reader->looks_left < cost) {
        end_value(reader, MAX(reader->damage_end, reader->at + 1));
        return;
    }
    reader->looks_left -= cost;
    end_value(reader, reader->at + 1);
}

void span_json_take_records(SpanJsonReader *reader, SparkRecords *records) { reader->records = records; }

static void take_value(SpanJsonReader *reader, SpanBatch *batch) {
    g_autoptr(GError) error = NULL;
    const Bytes value = {reader->buffer->data + reader->at, reader->scanned - reader->at};
    const guint spans_before = batch->spans->len;
    if (span_json_value(value, batch, reader->records, &error)) {
        const gboolean is_span = batch->spans->len > spans_before;
        reader->counts.spans += is_span;
        reader->counts.records += !is_span;
        if (!is_span) reader->record_bytes += value.size_bytes;
        reader->damaged = FALSE;
    } else if (reader->at >= reader->damage_end) {
        count_bad(reader, error->message);
    }
    end_value(reader, reader->scanned);
}

static gboolean is_full(const SpanJsonReader *reader, guint max_spans, const SpanBatch *batch) {
    if (batch->spans->len >= max_spans) return TRUE;
    if (reader->records == NULL || reader->record_bytes == 0) return FALSE;
    return reader->record_bytes >= RECORDS_BYTES ||
           batch->spans->len + spark_records_count(reader->records) >= max_spans;
}

/* Works on the buffer until it ends or the batch is full. */
static void read_buffer(SpanJsonReader *reader, guint max_spans, SpanBatch *batch) {
    while (!is_full(reader, max_spans, batch)) {
        if (!reader->in_value) {
            if (!find_value(reader)) return;
            begin_value(reader);
        }
        gsize taken;
        const ScanResult result = json_scan(&reader->scan, reader->buffer->data + reader->scanned,
                                            reader->buffer->len - reader->scanned, &taken);
        reader->scanned += taken;
        if (result == SCAN_BROKEN)
            break_value(reader, "a JSON object that is cut short or damaged");
        else if (reader->scanned - reader->at > LIMIT_JSON_BYTES)
            break_value(reader, "a JSON object over the limit of 8 MiB");
        else if (result == SCAN_DONE)
            take_value(reader, batch);
        else
            return;
    }
}

static void drop_front(SpanJsonReader *reader) {
    const gsize n = reader->at;
    if (n == 0) return;
    g_byte_array_remove_range(reader->buffer, 0, (guint)n);
    reader->offset += n;
    reader->at = 0;
    reader->scanned -= MIN(n, reader->scanned);
    reader->damage_end -= MIN(n, reader->damage_end);
}

/* The batch is full and no value is under the scanner: gives back what came with the last slice, so that the caller
 * comes again with it. Returns how much of the slice is done with. */
static gsize give_back(SpanJsonReader *reader, gsize slice_at) {
    const gsize used = reader->at > slice_at ? reader->at - slice_at : 0;
    g_byte_array_set_size(reader->buffer, (guint)(slice_at + used));
    return used;
}

void span_json_feed(SpanJsonReader *reader, Bytes data, guint max_spans, SpanBatch *batch, gsize *consumed) {
    gsize done = 0;
    if (reader->records != NULL && spark_records_count(reader->records) == 0) reader->record_bytes = 0;
    while (done < data.size_bytes && !is_full(reader, max_spans, batch)) {
        const gsize slice_at = reader->buffer->len, slice = MIN(SLICE_BYTES, data.size_bytes - done);
        append_bytes(reader->buffer, (const guint8 *)data.data + done, slice);
        read_buffer(reader, max_spans, batch);
        done += is_full(reader, max_spans, batch) ? give_back(reader, slice_at) : slice;
        drop_front(reader);
    }
    reader->counts.bytes += done;
    *consumed = done;
}

void span_json_finish(SpanJsonReader *reader) {
    if (reader->in_value && reader->at >= reader->damage_end) count_bad(reader, "the input ends inside a JSON object");
    end_value(reader, reader->buffer->len);
    drop_front(reader);
    reader->damaged = FALSE;
    reader->damage_end = 0;
}

SpanJsonCounts span_json_counts(const SpanJsonReader *reader) { return reader->counts; }
