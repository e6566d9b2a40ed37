/* What comes for htraced. The first byte chooses: the body of POST /writeSpans, or a stream of HRPC. What is accepted
 * can be journaled (journaled.h), and each request has an answer. */
#include "common/wire/htraced/hrpc.h"
#include "common/wire/htraced/write_spans.h"
#include "fuzz/common/journaled.h"
#include "fuzz/target.h"

#define REST_FORM 'R'

static void check_rest(Bytes body) {
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GError) error = NULL;
    if (write_spans_decode(body, batch, &error))
        check_journaled(batch);
    else
        g_assert_nonnull(error);
}

static void check_request(Bytes request) {
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) answer = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    WireHeader header;
    hrpc_header_decode(request, &header);
    if (hrpc_decode(&header, batch, &error)) {
        g_assert_no_error(error);
        check_journaled(batch);
    }
    hrpc_reply_encode(&header, error != NULL ? error->message : NULL, answer);
    g_assert_cmpuint(answer->len, >, HRPC_HEAD_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    Bytes left = {data + 1, size - 1};
    if (data[0] == REST_FORM) {
        check_rest(left);
        return 0;
    }
    FrameCut cut;
    while (hrpc_cut(left, G_MAXUINT32, &cut) == FRAME_WHOLE) {
        check_request(cut.frame);
        left = (Bytes){(const guint8 *)left.data + cut.needed_bytes, left.size_bytes - cut.needed_bytes};
    }
    return 0;
}
