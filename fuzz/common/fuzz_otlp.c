/* A body of OTLP or Zipkin, the arguments of Scribe's Log, one span of such a call, or two messages of Kafka; the first
 * byte chooses the form. What is accepted can be journaled (journaled.h). */
#include "common/wire/message.h"
#include "common/wire/otlp/otlp.h"
#include "common/wire/otlp/scribe.h"
#include "common/wire/otlp/zipkin.h"
#include "common/wire/otlp/zipkin_v1.h"
#include "fuzz/common/journaled.h"
#include "fuzz/target.h"

#define LOG_FORM      'L'
#define SPAN_FORM     'V'
#define MESSAGES_FORM 'K'

static void append_u32(GByteArray *out, guint32 value) {
    value = GUINT32_TO_BE(value);
    g_byte_array_append(out, (const guint8 *)&value, sizeof value);
}

static void append_text(GByteArray *out, const char *text, gsize length) {
    append_u32(out, (guint32)length);
    g_byte_array_append(out, (const guint8 *)text, (guint)length);
}

/* The arguments of a call with that span. */
static GByteArray *log_of_span(Bytes span) {
    GByteArray *out = g_byte_array_new();
    g_autofree char *packed = g_base64_encode((const guchar *)span.data, span.size_bytes);
    g_byte_array_append(out, (const guint8 *)"\x0f\0\1\x0c", 4);
    append_u32(out, 1);
    g_byte_array_append(out, (const guint8 *)"\x0b\0\1", 3);
    append_text(out, "zipkin", 6);
    g_byte_array_append(out, (const guint8 *)"\x0b\0\2", 3);
    append_text(out, packed, strlen(packed));
    g_byte_array_append(out, (const guint8 *)"\0\0", 2);
    return out;
}

static int check_log(Bytes arguments) {
    const WireHeader header = {.call = CALL_LOG, .protocol = PROTOCOL_BINARY, .method = "Log", .body = arguments};
    g_autoptr(ServiceSpans) spans = service_spans_new();
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) answer = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    if (scribe_decode(spans, &header, batch, &error)) {
        g_assert_no_error(error);
        check_journaled(batch);
        wire_log_reply_encode(&header, answer);
    } else {
        wire_exception_encode(&header, error->message, answer);
    }
    g_assert_cmpuint(answer->len, >, FRAME_HEADER_BYTES);
    return 0;
}

/* The first byte says how long the first message is, in sixteenths of all. */
static int check_messages(Bytes bytes) {
    if (bytes.size_bytes == 0) return 0;
    const guint8 *at = bytes.data;
    const gsize left = bytes.size_bytes - 1, first = left * (at[0] & 15) / 16;
    const Bytes messages[] = {{at + 1, first}, {at + 1 + first, left - first}};
    g_autoptr(ServiceSpans) spans = service_spans_new();
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GError) error = NULL;
    if (zipkin_v1_decode(spans, messages + (first == 0), first == 0 ? 1 : 2, batch, &error)) {
        g_assert_no_error(error);
        check_journaled(batch);
    } else {
        g_assert_nonnull(error);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const OtlpForm form = data[0] % 3 == 0 ? OTLP_PROTOBUF : OTLP_JSON;
    const Bytes body = {data + 1, size - 1};
    if (data[0] == LOG_FORM) return check_log(body);
    if (data[0] == MESSAGES_FORM) return check_messages(body);
    if (data[0] == SPAN_FORM) {
        g_autoptr(GByteArray) log = log_of_span(body);
        return check_log((Bytes){log->data, log->len});
    }
    g_autoptr(ServiceSpans) spans = service_spans_new();
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GError) error = NULL;
    const gboolean good =
        data[0] % 3 == 2 ? zipkin_decode(spans, body, batch, &error) : otlp_decode(spans, form, body, batch, &error);
    if (good) {
        g_assert_no_error(error);
        check_journaled(batch);
    } else {
        g_assert_nonnull(error);
        g_autoptr(GBytes) answer = otlp_error(form, otlp_code_of_http(400), error->message);
        g_assert_cmpuint(g_bytes_get_size(answer), >, 0);
    }
    return 0;
}
