/* A stream of frames: how it is cut, heads of messages, replies. */
#include "common/wire/message.h"
#include "fuzz/target.h"

#define MAX_FRAME_BYTES 65536

static void check_answers(const WireHeader *header) {
    const WireReply sent = {
        .status = REPLY_TRY_LATER, .accepted = 1, .refused = 2, .wait_ms = 3, .version = 4, .sampling = {"never", 5}};
    g_autoptr(GByteArray) out = g_byte_array_new();
    WireReply received;
    FrameCut cut;
    wire_reply_encode(header, &sent, out);
    g_assert_true(frame_cut((Bytes){out->data, out->len}, MAX_FRAME_BYTES, &cut) == FRAME_WHOLE);
    g_assert_true(wire_reply_decode(cut.frame, &received, NULL));
    g_assert_true(received.status == sent.status && received.version == sent.version);
    g_assert_true(received.sampling.length == sent.sampling.length);

    g_byte_array_set_size(out, 0);
    wire_exception_encode(header, header->method, out);
    g_assert_true(frame_cut((Bytes){out->data, out->len}, MAX_FRAME_BYTES, &cut) == FRAME_WHOLE);
    g_autoptr(GError) error = NULL;
    g_assert_false(wire_reply_decode(cut.frame, &received, &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gsize at = 0;
    for (;;) {
        FrameCut cut;
        const Bytes stream = {data + at, size - at};
        const FrameState state = frame_cut(stream, MAX_FRAME_BYTES, &cut);
        if (state == FRAME_PARTIAL) g_assert_true(cut.needed_bytes > stream.size_bytes);
        if (state != FRAME_WHOLE) return 0;
        g_assert_true(cut.frame.size_bytes > 0 && cut.frame.size_bytes <= MAX_FRAME_BYTES);
        g_assert_true(cut.needed_bytes <= stream.size_bytes);
        WireHeader header;
        WireReply reply;
        if (wire_header_decode(cut.frame, &header, NULL)) check_answers(&header);
        wire_reply_decode(cut.frame, &reply, NULL);
        at += cut.needed_bytes;
    }
}
