/* A body of OTLP or Zipkin; the first byte chooses the form. What is accepted can be journaled: it comes back from a
 * frame as it is, so that no start refuses what was acknowledged. */
#include "common/wire/message.h"
#include "common/wire/otlp/otlp.h"
#include "common/wire/otlp/zipkin.h"
#include "fuzz/target.h"
#include "tests/wire/batches.h"

static void check_frame(const SpanBatch *batch) {
    g_autoptr(SpanBatch) back = batch_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    FrameCut cut;
    WireHeader submit;
    WireVersions versions;

    wire_batch_encode(batch, PROTOCOL_COMPACT, 0, bytes);
    g_assert_true(frame_cut((Bytes){bytes->data, bytes->len}, G_MAXUINT32, &cut) == FRAME_WHOLE);
    g_assert_true(wire_header_decode(cut.frame, &submit, NULL));
    wire_batch_decode(&submit, back, &versions, &error);
    g_assert_no_error(error);
    batches_assert_spans_equal(batch, back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const OtlpForm form = data[0] % 3 == 0 ? OTLP_PROTOBUF : OTLP_JSON;
    const Bytes body = {data + 1, size - 1};
    g_autoptr(ServiceSpans) spans = service_spans_new();
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GError) error = NULL;
    const gboolean good =
        data[0] % 3 == 2 ? zipkin_decode(spans, body, batch, &error) : otlp_decode(spans, form, body, batch, &error);
    if (good) {
        g_assert_no_error(error);
        check_frame(batch);
    } else {
        g_assert_nonnull(error);
        g_autoptr(GBytes) answer = otlp_error(form, otlp_code_of_http(400), error->message);
        g_assert_cmpuint(g_bytes_get_size(answer), >, 0);
    }
    return 0;
}
