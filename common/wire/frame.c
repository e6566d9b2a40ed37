#include "common/wire/frame.h"

FrameState frame_cut(Bytes stream, gsize max_bytes, FrameCut *cut) {
    const guint8 *data = stream.data;
    *cut = (FrameCut){.needed_bytes = FRAME_HEADER_BYTES + 1};
    if (stream.size_bytes < FRAME_HEADER_BYTES) return FRAME_PARTIAL;
    cut->declared_bytes = (guint32)data[0] << 24 | (guint32)data[1] << 16 | (guint32)data[2] << 8 | data[3];
    if (cut->declared_bytes == 0) return FRAME_GARBAGE;
    /* Text and TLS sent to the wrong port declare absurd lengths too: garbage is the better name for them. */
    if (stream.size_bytes == FRAME_HEADER_BYTES) return FRAME_PARTIAL;
    const guint8 first = data[FRAME_HEADER_BYTES];
    if (first != THRIFT_BINARY_MARK && first != THRIFT_COMPACT_MARK) return FRAME_GARBAGE;
    if (cut->declared_bytes > max_bytes) return FRAME_TOO_LARGE;
    cut->needed_bytes = FRAME_HEADER_BYTES + (gsize)cut->declared_bytes;
    if (stream.size_bytes < cut->needed_bytes) return FRAME_PARTIAL;
    cut->frame = (Bytes){data + FRAME_HEADER_BYTES, cut->declared_bytes};
    return FRAME_WHOLE;
}

WireProtocol frame_protocol(Bytes frame) {
    const guint8 *data = frame.data;
    return frame.size_bytes > 0 && data[0] == THRIFT_COMPACT_MARK ? PROTOCOL_COMPACT : PROTOCOL_BINARY;
}
