/* Packed event logs. The first byte chooses the format and how the rest is cut. Whatever the cuts: the same content and
 * the same verdict; wherever it was clean, another unpacker goes on to the same end. */
#include "fuzz/target.h"
#include "spark-bridge/storage/unpack.h"

/* What an input may unpack to here: zstd makes gigabytes of a few bytes. */
#define PLAIN_MOST (1u << 20)

typedef struct Fed {
    GByteArray *plain;
    gboolean failed;
    gsize clean_at, clean_plain; /* the last place but the end where it was clean */
} Fed;

static Fed feed(PackedKind kind, Bytes packed, gsize piece, gsize room) {
    g_autoptr(Unpacker) unpacker = unpacker_new(kind);
    g_autofree guint8 *to = g_malloc(room);
    Fed fed = {.plain = g_byte_array_sized_new(64)};
    gsize at = 0, have = 0;

    while (fed.plain->len < PLAIN_MOST) {
        UnpackStep step = {.in = {(const guint8 *)packed.data + at, have - at}, .to = to, .room = room};
        fed.failed = !unpacker_step(unpacker, &step, NULL);
        if (fed.failed) break;
        g_assert_cmpuint(step.n, <=, room);
        g_assert_cmpuint(step.in.size_bytes, <=, have - at);
        g_assert_cmpuint(step.wanted, <=, PACKED_BLOCK_BYTES + 64);

        const gsize taken = have - at - step.in.size_bytes;
        at += taken;
        append_bytes(fed.plain, to, step.n);
        if (unpacker_clean(unpacker) && at < packed.size_bytes) {
            fed.clean_at = at;
            fed.clean_plain = fed.plain->len;
        }

        if (taken > 0 || step.n > 0) continue;
        if (have == packed.size_bytes) break;
        have = MIN(have + piece, packed.size_bytes);
    }
    return fed;
}

/* From the last place where it was clean. */
static void go_on(PackedKind kind, Bytes packed, gsize piece, const Fed *cut) {
    const Bytes rest = {(const guint8 *)packed.data + cut->clean_at, packed.size_bytes - cut->clean_at};
    const Fed again = feed(kind, rest, piece, 5000);
    g_assert_cmpmem(again.plain->data, again.plain->len, cut->plain->data + cut->clean_plain,
                    cut->plain->len - cut->clean_plain);
    g_assert_true(again.failed == cut->failed);
    g_byte_array_unref(again.plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const PackedKind kind = (PackedKind)(PACKED_PLAIN + data[0] % (PACKED_KINDS - PACKED_PLAIN));
    const gsize piece = 1 + (gsize)(data[0] >> 4) * 5;
    const Bytes packed = {data + 1, size - 1};
    const Fed whole = feed(kind, packed, packed.size_bytes + 1, PLAIN_MOST), cut = feed(kind, packed, piece, 777);
    if (whole.plain->len < PLAIN_MOST && cut.plain->len < PLAIN_MOST) {
        /* How much of a damaged frame of zstd comes out depends on the cuts. */
        const gsize n = MIN(whole.plain->len, cut.plain->len);
        g_assert_cmpmem(whole.plain->data, n, cut.plain->data, n);
        const gboolean loose = kind == PACKED_ZSTD && (whole.failed || cut.failed);
        g_assert_true(loose || (whole.plain->len == cut.plain->len && whole.failed == cut.failed));
        if (!loose) go_on(kind, packed, piece, &cut);
    }
    g_byte_array_unref(whole.plain);
    g_byte_array_unref(cut.plain);
    return 0;
}
