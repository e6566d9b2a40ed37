#include <snappy-c.h>
#include <string.h>

#include "spark-bridge/storage/unpack_kinds.h"

#define STREAM_HEAD_BYTES 16u
#define CHUNK_HEAD_BYTES  4u
/* SnappyOutputStream's blocks have 32 KiB, or what spark.io.compression.snappy.blockSize says: no more than this. */
#define CHUNK_BYTES (32u * 1024 * 1024)

static guint32 u32be(const guint8 *at) {
    guint32 value;
    memcpy(&value, at, sizeof value);
    return GUINT32_FROM_BE(value);
}

static gboolean snappy_head(Bytes in, PackedBlock *block, GError **error) {
    static const guint8 magic[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
    const guint8 *at = in.data;
    if (at[0] == magic[0]) { /* sizes are positive, so no chunk begins with it */
        if (memcmp(at, magic, MIN(in.size_bytes, sizeof magic)) != 0)
            return fail(error, PLUMB_ERROR_INPUT, "damaged snappy data (no chunk begins here)");
        if (in.size_bytes < STREAM_HEAD_BYTES) return TRUE;
        if (u32be(at + 12) > 1)
            return fail(error, PLUMB_ERROR_VERSION, "snappy data of format %u: only 1 is known", u32be(at + 12));
        *block = (PackedBlock){.head_bytes = STREAM_HEAD_BYTES};
        return TRUE;
    }
    if (in.size_bytes < CHUNK_HEAD_BYTES) return TRUE;
    const guint32 packed = u32be(at);
    if (packed == 0 || packed > CHUNK_BYTES)
        return fail(error, PLUMB_ERROR_INPUT, "damaged snappy data (a chunk of %u bytes)", packed);
    *block = (PackedBlock){.head_bytes = CHUNK_HEAD_BYTES, .packed_bytes = packed, .plain_unknown = TRUE};
    return TRUE;
}

static gboolean snappy_measure(PackedBlock *block, const guint8 *packed, GError **error) {
    size_t plain;
    if (snappy_uncompressed_length((const char *)packed, block->packed_bytes, &plain) != SNAPPY_OK ||
        plain > CHUNK_BYTES)
        return fail(error, PLUMB_ERROR_INPUT, "damaged snappy data (a chunk without a size)");
    block->plain_bytes = plain;
    return TRUE;
}

static gboolean snappy_content(const PackedBlock *block, const guint8 *packed, guint8 *to, GError **error) {
    if (block->packed_bytes == 0) return TRUE; /* the stream's head */
    size_t plain = block->plain_bytes;
    if (snappy_uncompress((const char *)packed, block->packed_bytes, (char *)to, &plain) == SNAPPY_OK &&
        plain == block->plain_bytes)
        return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "damaged snappy data (a chunk does not unpack)");
}

const BlockFormat block_snappy = {snappy_head, snappy_content, snappy_measure};
