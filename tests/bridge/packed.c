#include "tests/bridge/packed.h"

#include <liblzf/lzf.h>
#include <lz4.h>
#include <snappy-c.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

static void append_u32le(GByteArray *out, guint32 value) {
    value = GUINT32_TO_LE(value);
    append_bytes(out, &value, sizeof value);
}

static void lz4_block(Bytes plain, GByteArray *out) {
    const int bound = LZ4_compressBound((int)plain.size_bytes);
    g_autofree char *packed = g_malloc((gsize)bound);
    int size = plain.size_bytes == 0 ? 0 : LZ4_compress_default(plain.data, packed, (int)plain.size_bytes, bound);
    const gboolean stored = size >= (int)plain.size_bytes;
    if (stored) size = (int)plain.size_bytes;
    append_bytes(out, "LZ4Block", 8);
    append_u8(out, (guint8)((stored ? 0x10 : 0x20) | 5)); /* level 5: 32 KiB */
    append_u32le(out, (guint32)size);
    append_u32le(out, (guint32)plain.size_bytes);
    append_u32le(out, plain.size_bytes == 0 ? 0 : XXH32(plain.data, plain.size_bytes, 0x9747b28c) & 0x0fffffff);
    append_bytes(out, stored ? plain.data : packed, (gsize)size);
}

static void snappy_chunk(Bytes plain, GByteArray *out) {
    size_t size = snappy_max_compressed_length(plain.size_bytes);
    g_autofree char *packed = g_malloc(size);
    g_assert_true(snappy_compress(plain.data, plain.size_bytes, packed, &size) == SNAPPY_OK);
    append_u32be(out, (guint32)size);
    append_bytes(out, packed, size);
}

static void lzf_chunk(Bytes plain, GByteArray *out) {
    guint8 packed[65536];
    const unsigned size = plain.size_bytes < 16 ? 0
                                                : lzf_compress(plain.data, (unsigned)plain.size_bytes, packed,
                                                               (unsigned)plain.size_bytes - 5);
    append_bytes(out, "ZV", 2);
    append_u8(out, size > 0 ? 1 : 0);
    append_u16be(out, (guint16)(size > 0 ? size : plain.size_bytes));
    if (size > 0) append_u16be(out, (guint16)plain.size_bytes);
    append_bytes(out, size > 0 ? packed : plain.data, size > 0 ? size : plain.size_bytes);
}

static void zstd_frame(Bytes plain, GByteArray *out) {
    const gsize bound = ZSTD_compressBound(plain.size_bytes);
    g_autofree guint8 *packed = g_malloc(bound);
    const gsize size = ZSTD_compress(packed, bound, plain.data, plain.size_bytes, 1);
    g_assert_false(ZSTD_isError(size));
    append_bytes(out, packed, size);
}

static void append_block(PackedKind kind, Bytes plain, GByteArray *out) {
    switch (kind) {
    case PACKED_ZSTD: zstd_frame(plain, out); break;
    case PACKED_LZ4: lz4_block(plain, out); break;
    case PACKED_SNAPPY: snappy_chunk(plain, out); break;
    case PACKED_LZF: lzf_chunk(plain, out); break;
    default: append_bytes(out, plain.data, plain.size_bytes);
    }
}

void packed_append(PackedKind kind, Bytes plain, gsize block_bytes, GByteArray *out) {
    if (kind == PACKED_SNAPPY) append_bytes(out, "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
    for (gsize at = 0; at < plain.size_bytes;) {
        const gsize n = MIN(block_bytes, plain.size_bytes - at);
        append_block(kind, (Bytes){(const guint8 *)plain.data + at, n}, out);
        at += n;
    }
    if (kind == PACKED_LZ4) lz4_block((Bytes){"", 0}, out);
}

GByteArray *packed_words(guint32 seed, gsize size_bytes) {
    static const char *const words[] = {"Task", "Stage", "Executor", "Accumulables", "value", "\n", "{",
                                        "}",    "0",     "17"};
    GRand *rand = g_rand_new_with_seed(seed);
    GByteArray *text = g_byte_array_new();
    while (text->len < size_bytes) {
        const char *word = words[g_rand_int_range(rand, 0, G_N_ELEMENTS(words))];
        append_bytes(text, word, strlen(word));
        if (g_rand_int_range(rand, 0, 20) == 0) append_u32be(text, g_rand_int(rand));
    }
    g_byte_array_set_size(text, (guint)size_bytes);
    g_rand_free(rand);
    return text;
}
