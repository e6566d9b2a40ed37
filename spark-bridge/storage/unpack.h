/* Decompression of what Spark writes event logs with, in pieces, of files that may still be growing.
 *
 *   plain   nothing to do
 *   zstd    frames one behind the other; Spark ends one with each flush, the last may be open
 *   lz4     lz4-java's block stream, not the lz4 frame format: "LZ4Block", token (method 0x10 stored, 0x20 lz4, plus
 *           level), packed size, size, checksum (all u32 LE); the checksum is xxhash32 of the content with seed
 *           0x9747b28c, its upper four bits cleared; a block of size 0 ends a stream, another may follow
 *   snappy  SnappyOutputStream: 0x82 "SNAPPY" 0, version and compatible version (i32 BE), then chunks: size (i32 BE),
 *           raw snappy; the head may come again
 *   lzf     chunks: "ZV", kind 0 (stored: size u16 BE) or 1 (packed size u16 BE, size u16 BE), content
 *
 * An unpacker is clean when everything it took is given out and the next byte begins a frame or block: there, and only
 * there, another unpacker can go on with nothing but the offset. Never reads or writes past what it is given, and
 * allocates no more than the largest block of its format (32 MiB, of lz4). */
#pragma once

#include "common/base/bytes.h"
#include "common/base/error.h"

typedef enum {
    PACKED_UNKNOWN,
    PACKED_PLAIN,
    PACKED_ZSTD,
    PACKED_LZ4,
    PACKED_SNAPPY,
    PACKED_LZF,
    PACKED_KINDS
} PackedKind;

/* Bytes that packed_kind_detect() wants. */
#define PACKED_MAGIC_BYTES 8u
/* Most that an unpacker must see at once: a block of lz4 and its head. */
#define PACKED_BLOCK_BYTES (32u * 1024 * 1024 + 64)

const char *packed_kind_name(PackedKind kind); /* "zstd" */
/* By the first bytes; UNKNOWN while there are too few. What is none of the others is plain. */
PackedKind packed_kind_detect(Bytes head);

typedef struct Unpacker Unpacker;

Unpacker *unpacker_new(PackedKind kind);
void unpacker_free(Unpacker *unpacker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Unpacker, unpacker_free)

typedef struct UnpackStep {
    Bytes in;   /* not taken yet; what was taken is cut off */
    guint8 *to; /* room for content */
    gsize room;
    gsize n;      /* out: bytes of content that came */
    gsize wanted; /* out: bytes that 'in' must have for anything more to come; 0: any more */
} UnpackStep;

/* Takes and gives what it can. Nothing taken and nothing given: more input is needed. Error INPUT: the data is damaged
 * from here on; LIMIT: it declares a block that no writer makes. */
gboolean unpacker_step(Unpacker *unpacker, UnpackStep *step, GError **error);
gboolean unpacker_clean(const Unpacker *unpacker);
