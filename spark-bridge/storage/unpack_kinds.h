/* The formats of unpack.h; private to its files. */
#pragma once

#include "spark-bridge/storage/unpack.h"

/* What a block's head says. */
typedef struct PackedBlock {
    gsize head_bytes; /* 0: the head is not whole */
    gsize packed_bytes, plain_bytes;
    gboolean stored;
    guint32 checksum;
    gboolean plain_unknown; /* the packed bytes tell the size */
} PackedBlock;

/* A format of blocks, each of which stands alone. */
typedef struct BlockFormat {
    /* Looks at the head; fails when it is none. */
    gboolean (*head)(Bytes in, PackedBlock *block, GError **error);
    /* Content of a whole block into 'to', of block->plain_bytes. */
    gboolean (*content)(const PackedBlock *block, const guint8 *packed, guint8 *to, GError **error);
    /* Size of the content of a block whose head does not say it. NULL: heads do. */
    gboolean (*measure)(PackedBlock *block, const guint8 *packed, GError **error);
} BlockFormat;

extern const BlockFormat block_lz4, block_snappy, block_lzf;

/* Frames of zstd, which is a stream of its own. */
typedef struct ZstdStream ZstdStream;
ZstdStream *zstd_stream_new(void);
void zstd_stream_free(ZstdStream *stream);
gboolean zstd_stream_step(ZstdStream *stream, UnpackStep *step, GError **error);
gboolean zstd_stream_clean(const ZstdStream *stream);
