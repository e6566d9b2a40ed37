#include "common/wire/htraced/write_spans.h"

#include <jansson.h>

#include "common/base/limits.h"
#include "common/wire/htraced/htraced_batch.h"
#include "common/wire/json/json_scan.h"
#include "common/wire/json/span_json.h"

/* What stands before the spans is small, but for the tracer's id. */
#define HEAD_BYTES (2 * (gsize)LIMIT_NAME_BYTES)

/* The first object of the body; NULL: it is none that could be the head. *size: up to its end. */
static json_t *read_object(Bytes body, gsize *size) {
    const guint8 *data = body.data;
    gsize at = 0, taken;
    while (at < body.size_bytes && g_ascii_isspace(data[at])) at++;
    if (at == body.size_bytes || data[at] != '{') return NULL;
    JsonScan scan = json_scan_begin();
    const gsize left = MIN(body.size_bytes - at - 1, HEAD_BYTES);
    if (json_scan(&scan, data + at + 1, left, &taken) != SCAN_DONE) return NULL;
    *size = at + 1 + taken;
    return json_loadb((const char *)data + at, 1 + taken, 0, NULL);
}

static gboolean check_head(const json_t *head, gboolean *counted, guint64 *n, GError **error) {
    const json_t *spans = json_object_get(head, HTRACED_NUM_SPANS), *tracer = json_object_get(head, "DefaultTrid");
    *counted = spans != NULL;
    if (tracer != NULL && (!json_is_string(tracer) || json_string_length(tracer) > LIMIT_NAME_BYTES))
        return fail(error, PLUMB_ERROR_INPUT, "DefaultTrid: not a text of up to %u bytes", LIMIT_NAME_BYTES);
    if (spans == NULL) return TRUE;
    if (!json_is_integer(spans) || json_integer_value(spans) < 0)
        return fail(error, PLUMB_ERROR_INPUT, HTRACED_NUM_SPANS ": not a number of spans");
    *n = (guint64)json_integer_value(spans);
    return TRUE;
}

static gboolean read_spans(Bytes rest, SpanBatch *batch, GError **error) {
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    gsize consumed;
    span_json_feed(reader, rest, LIMIT_BATCH_SPANS + 1, batch, &consumed);
    span_json_finish(reader);
    const SpanJsonCounts counts = span_json_counts(reader);
    if (!htraced_batch_fits(batch, error)) return FALSE;
    if (counts.bad_values == 0) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "span %" G_GUINT64_FORMAT ": %s", counts.spans, counts.first_error->message);
}

gboolean write_spans_decode(Bytes body, SpanBatch *batch, GError **error) {
    gsize head_bytes = 0;
    guint64 n = 0;
    gboolean counted = FALSE;
    batch_clear(batch);
    json_auto_t *head = read_object(body, &head_bytes);
    if (!check_head(head, &counted, &n, error)) return FALSE;
    if (!counted) head_bytes = 0;

    const Bytes rest = {(const guint8 *)body.data + head_bytes, body.size_bytes - head_bytes};
    if (!read_spans(rest, batch, error)) return FALSE;
    if (counted && n != batch->spans->len)
        return fail(error, PLUMB_ERROR_INPUT, HTRACED_NUM_SPANS " says %" G_GUINT64_FORMAT ", but %u spans came", n,
                    batch->spans->len);
    const json_t *tracer = counted ? json_object_get(head, "DefaultTrid") : NULL;
    if (tracer != NULL) htraced_set_tracer(batch, json_string_value(tracer), json_string_length(tracer));
    return htraced_batch_fits(batch, error);
}
