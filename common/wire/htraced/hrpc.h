/* HRPC, by which HTrace's clients of htraced send spans: HTracedSpanReceiver (Java) in its packed form, and htrace-c.
 *
 *   request  u32 magic "HTRC", u32 method (1: WriteSpans), u64 sequence, u32 length, and so many bytes: msgpack, a map
 *            {"NumSpans": n, "DefaultPid" or "DefaultTrid": text} and then n maps with the keys of HTrace's JSON
 *            (json/span_json.h), ids as 16 bytes
 *   reply    u64 sequence, u32 method, u32 length of the error, u32 length of the result, the error as text, the
 *            result: msgpack, an empty map
 *
 * Numbers of the heads are little-endian. */
#pragma once

#include "common/wire/message.h"

#define HRPC_HEAD_BYTES 20u
/* HTrace's Java client reads an error into a buffer of 2,048 bytes. */
#define HRPC_ERROR_BYTES 1024u

/* As frame_cut(); the frame is the whole request, with its head. max_bytes is about the body. */
FrameState hrpc_cut(Bytes stream, gsize max_bytes, FrameCut *cut);
/* Of a whole request. */
void hrpc_header_decode(Bytes frame, WireHeader *header);
/* The body of WriteSpans into batch (cleared first). Errors: INPUT, LIMIT; the batch is then of no use. A span without
 * id gets the invalid id (0,0): it alone is to be refused. */
gboolean hrpc_decode(const WireHeader *header, SpanBatch *batch, GError **error);
/* Appends the reply; error: NULL or "" when all is well. */
void hrpc_reply_encode(const WireHeader *header, const char *error, GByteArray *out);
