#include "fuzz/common/journaled.h"

#include "common/wire/message.h"
#include "tests/wire/batches.h"

void check_journaled(const SpanBatch *batch) {
    g_autoptr(SpanBatch) back = batch_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    FrameCut cut;
    WireHeader submit;
    WireVersions versions;

    wire_batch_encode_packed(batch, bytes);
    g_assert_true(frame_cut((Bytes){bytes->data, bytes->len}, G_MAXUINT32, &cut) == FRAME_WHOLE);
    g_assert_true(wire_header_decode(cut.frame, &submit, NULL));
    wire_batch_decode(&submit, back, &versions, &error);
    g_assert_no_error(error);
    batches_assert_spans_equal(batch, back);
}
