#include "common/wire/htraced/hrpc.h"

#include <string.h>

#define MAGIC        0x43525448u
#define WRITE_SPANS  1u
#define METHOD_AT    4u
#define SEQUENCE_AT  8u
#define LENGTH_AT    16u
#define EMPTY_RESULT 0x80 /* msgpack: a map without entries */

static guint32 u32_at(const guint8 *data, gsize at) {
    guint32 value;
    memcpy(&value, data + at, sizeof value);
    return GUINT32_FROM_LE(value);
}

static guint64 u64_at(const guint8 *data, gsize at) {
    guint64 value;
    memcpy(&value, data + at, sizeof value);
    return GUINT64_FROM_LE(value);
}

FrameState hrpc_cut(Bytes stream, gsize max_bytes, FrameCut *cut) {
    static const guint8 magic[] = {'H', 'T', 'R', 'C'};
    G_STATIC_ASSERT(MAGIC == ('C' << 24 | 'R' << 16 | 'T' << 8 | 'H'));
    *cut = (FrameCut){.needed_bytes = HRPC_HEAD_BYTES};
    if (memcmp(stream.data, magic, MIN(stream.size_bytes, sizeof magic)) != 0) return FRAME_GARBAGE;
    if (stream.size_bytes < HRPC_HEAD_BYTES) return FRAME_PARTIAL;
    cut->declared_bytes = u32_at(stream.data, LENGTH_AT);
    if (cut->declared_bytes > max_bytes) return FRAME_TOO_LARGE;
    cut->needed_bytes = HRPC_HEAD_BYTES + (gsize)cut->declared_bytes;
    if (stream.size_bytes < cut->needed_bytes) return FRAME_PARTIAL;
    cut->frame = (Bytes){stream.data, cut->needed_bytes};
    return FRAME_WHOLE;
}

void hrpc_header_decode(Bytes frame, WireHeader *header) {
    const guint8 *data = frame.data;
    *header =
        (WireHeader){.hrpc = TRUE, .hrpc_method = u32_at(data, METHOD_AT), .hrpc_sequence = u64_at(data, SEQUENCE_AT)};
    header->call = header->hrpc_method == WRITE_SPANS ? CALL_WRITE_SPANS : CALL_UNKNOWN;
    g_snprintf(header->method, sizeof header->method, "HRPC %u", header->hrpc_method);
    header->body = (Bytes){data + HRPC_HEAD_BYTES, frame.size_bytes - HRPC_HEAD_BYTES};
}

static void put_u32(GByteArray *out, guint32 value) {
    value = GUINT32_TO_LE(value);
    g_byte_array_append(out, (const guint8 *)&value, sizeof value);
}

void hrpc_reply_encode(const WireHeader *header, const char *error, GByteArray *out) {
    static const guint8 result = EMPTY_RESULT;
    const guint64 sequence = GUINT64_TO_LE(header->hrpc_sequence);
    const guint32 length = error != NULL ? (guint32)strnlen(error, HRPC_ERROR_BYTES) : 0;
    g_byte_array_append(out, (const guint8 *)&sequence, sizeof sequence);
    put_u32(out, header->hrpc_method);
    put_u32(out, length);
    put_u32(out, sizeof result);
    if (length > 0) g_byte_array_append(out, (const guint8 *)error, length);
    g_byte_array_append(out, &result, sizeof result);
}
