#include "spark-bridge/storage/unpack.h"

#include <string.h>

#include "spark-bridge/storage/unpack_kinds.h"

struct Unpacker {
    PackedKind kind;
    const BlockFormat *blocks; /* NULL: zstd or plain */
    ZstdStream *zstd;
    GByteArray *block; /* content of the block that did not fit the room */
    gsize at;          /* what of it is given out */
};

static const char *const names[PACKED_KINDS] = {"unknown", "plain", "zstd", "lz4", "snappy", "lzf"};

const char *packed_kind_name(PackedKind kind) { return names[kind]; }

PackedKind packed_kind_detect(Bytes head) {
    static const struct {
        PackedKind kind;
        const char *magic;
        gsize size_bytes;
    } magics[] = {
        {PACKED_ZSTD, "\x28\xb5\x2f\xfd", 4},
        {PACKED_LZ4, "LZ4Block", 8},
        {PACKED_SNAPPY, "\x82SNAPPY\0", 8},
        {PACKED_LZF, "ZV\0", 3},
        {PACKED_LZF, "ZV\1", 3},
    };
    if (head.size_bytes == 0) return PACKED_UNKNOWN;
    for (guint i = 0; i < G_N_ELEMENTS(magics); i++) {
        const gsize n = MIN(head.size_bytes, magics[i].size_bytes);
        if (memcmp(head.data, magics[i].magic, n) == 0)
            return n == magics[i].size_bytes ? magics[i].kind : PACKED_UNKNOWN;
    }
    return PACKED_PLAIN;
}

Unpacker *unpacker_new(PackedKind kind) {
    static const BlockFormat *const formats[PACKED_KINDS] = {
        [PACKED_LZ4] = &block_lz4, [PACKED_SNAPPY] = &block_snappy, [PACKED_LZF] = &block_lzf};
    g_assert(kind != PACKED_UNKNOWN);
    Unpacker *unpacker = g_new0(Unpacker, 1);
    unpacker->kind = kind;
    unpacker->blocks = formats[kind];
    unpacker->block = g_byte_array_new();
    if (kind == PACKED_ZSTD) unpacker->zstd = zstd_stream_new();
    return unpacker;
}

void unpacker_free(Unpacker *unpacker) {
    if (unpacker == NULL) return;
    zstd_stream_free(unpacker->zstd);
    g_byte_array_unref(unpacker->block);
    g_free(unpacker);
}

gboolean unpacker_clean(const Unpacker *unpacker) {
    if (unpacker->zstd != NULL) return zstd_stream_clean(unpacker->zstd);
    return unpacker->at == unpacker->block->len;
}

static void take(UnpackStep *step, gsize n) {
    step->in.data = (const guint8 *)step->in.data + n;
    step->in.size_bytes -= n;
}

static void step_plain(UnpackStep *step) {
    step->n = MIN(step->in.size_bytes, step->room);
    if (step->n > 0) memcpy(step->to, step->in.data, step->n);
    take(step, step->n);
}

/* Gives out what the last block has left. */
static void give(Unpacker *unpacker, UnpackStep *step) {
    const gsize n = MIN(unpacker->block->len - unpacker->at, step->room - step->n);
    if (n > 0) memcpy(step->to + step->n, unpacker->block->data + unpacker->at, n);
    unpacker->at += n;
    step->n += n;
}

/* One block from 'in': straight into the room when it fits, else into the unpacker's own. FALSE with *whole: damage. */
static gboolean take_block(Unpacker *unpacker, UnpackStep *step, gboolean *whole, GError **error) {
    const BlockFormat *format = unpacker->blocks;
    PackedBlock block = {0};
    *whole = FALSE;
    if (!format->head(step->in, &block, error)) return FALSE;
    if (block.head_bytes == 0 || step->in.size_bytes - block.head_bytes < block.packed_bytes) {
        step->wanted = block.head_bytes == 0 ? 0 : block.head_bytes + block.packed_bytes;
        return TRUE;
    }

    const guint8 *packed = (const guint8 *)step->in.data + block.head_bytes;
    if (format->measure != NULL && block.plain_unknown && !format->measure(&block, packed, error)) return FALSE;

    *whole = TRUE;
    if (block.plain_bytes <= step->room - step->n) {
        if (!format->content(&block, packed, step->to + step->n, error)) return FALSE;
        step->n += block.plain_bytes;
    } else {
        g_byte_array_set_size(unpacker->block, (guint)block.plain_bytes);
        unpacker->at = block.plain_bytes;
        if (!format->content(&block, packed, unpacker->block->data, error)) return FALSE;
        unpacker->at = 0;
        give(unpacker, step);
    }

    take(step, block.head_bytes + block.packed_bytes);
    return TRUE;
}

gboolean unpacker_step(Unpacker *unpacker, UnpackStep *step, GError **error) {
    step->n = step->wanted = 0;
    if (unpacker->kind == PACKED_PLAIN) {
        step_plain(step);
        return TRUE;
    }
    if (unpacker->zstd != NULL) return zstd_stream_step(unpacker->zstd, step, error);
    give(unpacker, step);
    /* One block a step: callers note where each began. */
    for (gboolean whole = TRUE; whole && step->n == 0 && step->in.size_bytes > 0 && step->room > 0;) {
        if (!take_block(unpacker, step, &whole, error)) return FALSE;
    }
    return TRUE;
}
