#include <liblzf/lzf.h>
#include <string.h>

#include "spark-bridge/storage/unpack_kinds.h"

#define STORED_HEAD_BYTES 5u
#define PACKED_HEAD_BYTES 7u

static gboolean lzf_head(Bytes in, PackedBlock *block, GError **error) {
    const guint8 *at = in.data;
    if (memcmp(at, "ZV", MIN(in.size_bytes, 2)) != 0 || (in.size_bytes > 2 && at[2] > 1))
        return fail(error, PLUMB_ERROR_INPUT, "damaged lzf data (no chunk begins here)");
    if (in.size_bytes < STORED_HEAD_BYTES) return TRUE;
    const gboolean stored = at[2] == 0;
    const gsize head_bytes = stored ? STORED_HEAD_BYTES : PACKED_HEAD_BYTES;
    if (in.size_bytes < head_bytes) return TRUE;
    const gsize packed = (gsize)at[3] << 8 | at[4];
    const gsize plain = stored ? packed : (gsize)at[5] << 8 | at[6];
    *block = (PackedBlock){.head_bytes = head_bytes, .packed_bytes = packed, .plain_bytes = plain, .stored = stored};
    return TRUE;
}

static gboolean lzf_content(const PackedBlock *block, const guint8 *packed, guint8 *to, GError **error) {
    if (block->stored) {
        if (block->plain_bytes > 0) memcpy(to, packed, block->plain_bytes);
        return TRUE;
    }
    if (lzf_decompress(packed, (unsigned)block->packed_bytes, to, (unsigned)block->plain_bytes) == block->plain_bytes &&
        block->plain_bytes > 0)
        return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "damaged lzf data (a chunk does not unpack)");
}

const BlockFormat block_lzf = {lzf_head, lzf_content, NULL};
