#include <lz4.h>
#include <string.h>
#include <xxhash.h>

#include "spark-bridge/storage/unpack_kinds.h"

#define MAGIC_BYTES   8u
#define HEAD_BYTES    21u
#define CHECKSUM_SEED 0x9747b28cu
#define CHECKSUM_BITS 0x0fffffffu /* lz4-java's asChecksum() drops the rest */
#define METHOD_STORED 0x10
#define METHOD_LZ4    0x20
#define LEVEL_BASE    10 /* blocks have at most 2^(10 + level) bytes */

static guint32 u32le(const guint8 *at) {
    guint32 value;
    memcpy(&value, at, sizeof value);
    return GUINT32_FROM_LE(value);
}

static gboolean lz4_head(Bytes in, PackedBlock *block, GError **error) {
    const guint8 *at = in.data;
    if (memcmp(at, "LZ4Block", MIN(in.size_bytes, MAGIC_BYTES)) != 0)
        return fail(error, PLUMB_ERROR_INPUT, "damaged lz4 data (no block begins here)");
    if (in.size_bytes < HEAD_BYTES) return TRUE;

    const guint8 method = at[8] & 0xf0, level = at[8] & 0x0f;
    const guint32 packed = u32le(at + 9), plain = u32le(at + 13);
    const guint32 most = 1u << (LEVEL_BASE + level);
    const gboolean stored = method == METHOD_STORED;

    if (!stored && method != METHOD_LZ4)
        return fail(error, PLUMB_ERROR_INPUT, "damaged lz4 data (method 0x%02x)", method);
    if (plain > most || (stored && packed != plain) || (plain == 0) != (packed == 0) ||
        packed > (guint32)LZ4_compressBound((int)most))
        return fail(error, PLUMB_ERROR_INPUT, "damaged lz4 data (a block of %u bytes packed to %u)", plain, packed);

    *block = (PackedBlock){.head_bytes = HEAD_BYTES,
                           .packed_bytes = packed,
                           .plain_bytes = plain,
                           .stored = stored,
                           .checksum = u32le(at + 17)};
    return TRUE;
}

static gboolean lz4_content(const PackedBlock *block, const guint8 *packed, guint8 *to, GError **error) {
    if (block->plain_bytes == 0) return TRUE; /* the end of a stream */
    const int plain = (int)block->plain_bytes;
    if (block->stored) {
        memcpy(to, packed, block->plain_bytes);
    } else if (LZ4_decompress_safe((const char *)packed, (char *)to, (int)block->packed_bytes, plain) != plain) {
        return fail(error, PLUMB_ERROR_INPUT, "damaged lz4 data (a block does not unpack)");
    }
    if ((XXH32(to, block->plain_bytes, CHECKSUM_SEED) & CHECKSUM_BITS) == block->checksum) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "damaged lz4 data (a block's checksum is wrong)");
}

const BlockFormat block_lz4 = {lz4_head, lz4_content, NULL};
