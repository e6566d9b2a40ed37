/* Every codec: what was packed comes out, however it is cut; damage is found; unpacking begins again at any clean
 * place. That the formats are those of Spark's own writers, recorded logs show (test_bridge.py). */
#include "spark-bridge/storage/unpack.h"

#include <string.h>

#include "tests/bridge/packed.h"

#define BLOCK 30000u

typedef struct Fed {
    gsize piece, room; /* in */
    GByteArray *plain;
    GArray *clean; /* pairs of offsets (packed, plain) where it was clean */
} Fed;

static void fed_clear(Fed *fed) {
    g_byte_array_unref(fed->plain);
    g_array_unref(fed->clean);
}

/* Feeds pieces; keeps what was not taken for the next, as a reader does. */
static gboolean feed(PackedKind kind, Bytes packed, Fed *fed, GError **error) {
    g_autoptr(Unpacker) unpacker = unpacker_new(kind);
    const gsize piece = fed->piece, room = fed->room;
    g_autofree guint8 *to = g_malloc(room);
    const guint8 *data = packed.data;
    gsize at = 0, have = 0;
    fed->plain = g_byte_array_sized_new(64);
    fed->clean = g_array_new(FALSE, FALSE, sizeof(gsize));

    for (;;) {
        UnpackStep step = {.in = {data + at, have - at}, .to = to, .room = room};
        if (!unpacker_step(unpacker, &step, error)) return FALSE;
        const gsize taken = (have - at) - step.in.size_bytes;
        at += taken;
        append_bytes(fed->plain, to, step.n);

        const gsize plain = fed->plain->len;
        if (unpacker_clean(unpacker)) {
            g_array_append_val(fed->clean, at);
            g_array_append_val(fed->clean, plain);
        }

        if (taken > 0 || step.n > 0) continue;
        if (have == packed.size_bytes) return TRUE;
        have = MIN(have + MAX(piece, step.wanted > have - at ? step.wanted - (have - at) : 0), packed.size_bytes);
    }
}

static void assert_content(const GByteArray *found, const GByteArray *expected, gsize from) {
    g_assert_cmpuint(found->len, ==, expected->len - from);
    g_assert_true(memcmp(found->data, expected->data + from, found->len) == 0);
}

static void test_round_trip(gconstpointer data) {
    const PackedKind kind = (PackedKind)GPOINTER_TO_UINT(data);
    static const gsize pieces[] = {1, 7, 4096, 1 << 20}, rooms[] = {3, 5000, 1 << 20};
    g_autoptr(GByteArray) plain = packed_words(1, 100000), packed = g_byte_array_new();
    /* Two streams, and single bytes that do not pack. */
    packed_append(kind, (Bytes){plain->data, 70000}, BLOCK, packed);
    packed_append(kind, (Bytes){plain->data + 70000, 1}, BLOCK, packed);
    packed_append(kind, (Bytes){plain->data + 70001, 29999}, BLOCK, packed);
    g_assert_cmpint(packed_kind_detect((Bytes){packed->data, PACKED_MAGIC_BYTES}), ==, kind);
    for (guint i = 0; i < G_N_ELEMENTS(pieces) * G_N_ELEMENTS(rooms); i++) {
        Fed fed = {.piece = pieces[i / G_N_ELEMENTS(rooms)], .room = rooms[i % G_N_ELEMENTS(rooms)]};
        g_autoptr(GError) error = NULL;
        g_assert_true(feed(kind, (Bytes){packed->data, packed->len}, &fed, &error));
        g_assert_no_error(error);
        assert_content(fed.plain, plain, 0);
        fed_clear(&fed);
    }
}

/* Wherever it said that it is clean, another one goes on. */
static void test_begins_again(gconstpointer data) {
    const PackedKind kind = (PackedKind)GPOINTER_TO_UINT(data);
    g_autoptr(GByteArray) plain = packed_words(2, 200000), packed = g_byte_array_new();
    packed_append(kind, (Bytes){plain->data, plain->len}, BLOCK, packed);
    Fed whole = {.piece = 1000, .room = 1 << 20};
    g_assert_true(feed(kind, (Bytes){packed->data, packed->len}, &whole, NULL));
    guint places = 0;
    for (guint i = 0; i < whole.clean->len; i += 2) {
        const gsize at = g_array_index(whole.clean, gsize, i), from = g_array_index(whole.clean, gsize, i + 1);
        if (at == packed->len) continue;
        places += from > 0;
        Fed rest = {.piece = 5000, .room = 1 << 16};
        g_assert_true(feed(kind, (Bytes){packed->data + at, packed->len - at}, &rest, NULL));
        assert_content(rest.plain, plain, from);
        fed_clear(&rest);
    }
    g_assert_cmpuint(places, >=, 5);
    fed_clear(&whole);
}

/* Cut anywhere, what is whole comes out, and it is no error: the rest may still be written. */
static void test_cut(gconstpointer data) {
    const PackedKind kind = (PackedKind)GPOINTER_TO_UINT(data);
    g_autoptr(GByteArray) plain = packed_words(3, 5000), packed = g_byte_array_new();
    packed_append(kind, (Bytes){plain->data, plain->len}, 600, packed);
    gsize before = 0;
    for (gsize n = 0; n <= packed->len; n++) {
        Fed fed = {.piece = 1 << 20, .room = 1 << 20};
        g_autoptr(GError) error = NULL;
        g_assert_true(feed(kind, (Bytes){packed->data, n}, &fed, &error));
        g_assert_true(memcmp(fed.plain->data, plain->data, fed.plain->len) == 0);
        g_assert_cmpuint(fed.plain->len, >=, before);
        before = fed.plain->len;
        fed_clear(&fed);
    }
    g_assert_cmpuint(before, ==, plain->len);
}

/* No byte that is changed makes it read or write where it may not; lz4's checksum finds every change of content. */
static void test_damage(gconstpointer data) {
    const PackedKind kind = (PackedKind)GPOINTER_TO_UINT(data);
    g_autoptr(GByteArray) plain = packed_words(4, 3000), packed = g_byte_array_new();
    packed_append(kind, (Bytes){plain->data, plain->len}, 800, packed);
    guint failures = 0;
    for (gsize i = 0; i < packed->len; i++) {
        packed->data[i] ^= 0x41;
        Fed fed = {.piece = 1 << 20, .room = 2000};
        g_autoptr(GError) error = NULL;
        if (!feed(kind, (Bytes){packed->data, packed->len}, &fed, &error)) {
            g_assert_true(error->domain == PLUMB_ERROR);
            failures++;
        }
        if (kind == PACKED_LZ4) g_assert_true(memcmp(fed.plain->data, plain->data, fed.plain->len) == 0);
        fed_clear(&fed);
        packed->data[i] ^= 0x41;
    }
    g_assert_cmpuint(failures, >, 4);
}

/* Heads as another writer's bytes would have them: refused before anything is allocated. */
static void test_limits(void) {
    static const struct {
        PackedKind kind;
        const char *bytes;
        gsize n;
    } cases[] = {
        {PACKED_LZ4, "LZ4Block\x25\x10\0\0\0\x01\x80\0\0\0\0\0\0", 21},           /* 32,769 bytes at level 5 */
        {PACKED_LZ4, "LZ4Block\x2f\xff\xff\xff\x7f\xff\xff\xff\x7f\0\0\0\0", 21}, /* 2 GiB */
        {PACKED_LZ4, "LZ4Block\x35\1\0\0\0\1\0\0\0\0\0\0\0", 21},                 /* an unknown method */
        {PACKED_LZ4, "LZ4Block\x15\1\0\0\0\2\0\0\0\0\0\0\0", 21},                 /* stored in fewer bytes */
        {PACKED_SNAPPY, "\x7f\xff\xff\xff", 4},
        {PACKED_SNAPPY, "\0\0\0\0", 4},
        {PACKED_SNAPPY, "\x82SNAPPY\0\0\0\0\2\0\0\0\2", 16},
        {PACKED_SNAPPY, "\0\0\0\5\xff\xff\xff\xff\x0f", 9}, /* 4 GiB from five bytes */
        {PACKED_LZF, "ZV\2\0\1a", 6},
        {PACKED_LZF,
         "ZV\1\0\1\xff\xff"
         "a",
         8},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Fed fed = {.piece = 64, .room = 4096};
        g_autoptr(GError) error = NULL;
        g_assert_false(feed(cases[i].kind, (Bytes){cases[i].bytes, cases[i].n}, &fed, &error));
        g_assert_nonnull(error);
        g_assert_cmpuint(fed.plain->len, ==, 0);
        fed_clear(&fed);
    }
}

static void test_detection(void) {
    g_assert_cmpint(packed_kind_detect((Bytes){"", 0}), ==, PACKED_UNKNOWN);
    g_assert_cmpint(packed_kind_detect((Bytes){"{\"Event\"", 8}), ==, PACKED_PLAIN);
    g_assert_cmpint(packed_kind_detect((Bytes){"LZ4", 3}), ==, PACKED_UNKNOWN);
    g_assert_cmpint(packed_kind_detect((Bytes){"LZ4Blocks", 8}), ==, PACKED_LZ4);
    g_assert_cmpint(packed_kind_detect((Bytes){"ZV\3", 3}), ==, PACKED_PLAIN);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    static const struct {
        const char *name;
        GTestDataFunc run;
    } tests[] = {{"round-trip", test_round_trip},
                 {"begins-again", test_begins_again},
                 {"cut", test_cut},
                 {"damage", test_damage}};
    for (guint kind = PACKED_ZSTD; kind < PACKED_KINDS; kind++)
        for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
            g_autofree char *path = g_strdup_printf("/unpack/%s/%s", packed_kind_name((PackedKind)kind), tests[i].name);
            g_test_add_data_func(path, GUINT_TO_POINTER(kind), tests[i].run);
        }
    g_test_add_func("/unpack/limits", test_limits);
    g_test_add_func("/unpack/detection", test_detection);
    return g_test_run();
}
