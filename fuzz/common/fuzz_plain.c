/* Arguments of submitPlain. The first byte chooses the protocol. What is accepted goes through submit and comes back.
 */
#include "common/wire/message.h"
#include "fuzz/target.h"
#include "tests/wire/batches.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const WireHeader header = {.call = CALL_SUBMIT_PLAIN,
                               .protocol = data[0] & 1 ? PROTOCOL_COMPACT : PROTOCOL_BINARY,
                               .body = {data + 1, size - 1}};

    g_autoptr(SpanBatch) batch = batch_new(), back = batch_new();
    if (!wire_plain_decode(&header, batch, NULL)) {
        g_assert_cmpuint(batch->spans->len, ==, 0);
        return 0;
    }

    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    FrameCut cut;
    WireHeader submit;
    WireVersions versions;

    wire_batch_encode(batch, PROTOCOL_COMPACT, 1, bytes);
    g_assert_true(frame_cut((Bytes){bytes->data, bytes->len}, G_MAXUINT32, &cut) == FRAME_WHOLE);
    g_assert_true(wire_header_decode(cut.frame, &submit, NULL));
    wire_batch_decode(&submit, back, &versions, &error);
    g_assert_no_error(error);
    batches_assert_spans_equal(batch, back);
    return 0;
}
