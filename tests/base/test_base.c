#include <errno.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/nearest.h"
#include "common/base/pair_hash.h"
#include "common/base/region.h"

static void test_varints(void) {
    static const struct {
        guint64 value;
        guint size;
    } cases[] = {
        {0, 1},
        {1, 1},
        {127, 1},
        {128, 2},
        {16383, 2},
        {16384, 3},
        {1u << 21, 4},
        {1u << 28, 5},
        {G_MAXUINT32, 5},
        {G_GUINT64_CONSTANT(1) << 35, 6},
        {G_MAXINT64, 9},
        {(guint64)G_MAXINT64 + 1, 10},
        {G_MAXUINT64, 10},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GByteArray) out = g_byte_array_new();
        append_varint(out, cases[i].value);
        g_assert_cmpuint(out->len, ==, cases[i].size);
        ByteReader reader = byte_reader(out->data, out->len);
        g_assert_cmpuint(read_varint(&reader), ==, cases[i].value);
        g_assert_false(reader.failed);
        g_assert_cmpuint(reader_left(&reader), ==, 0);

        /* Cut anywhere it fails, and stays failed. */
        for (guint cut = 0; cut < out->len; cut++) {
            reader = byte_reader(out->data, cut);
            g_assert_cmpuint(read_varint(&reader), ==, 0);
            g_assert_true(reader.failed);
            g_assert_cmpuint(read_u8(&reader), ==, 0);
            g_assert_true(reader.failed);
        }
    }
}

static void test_malformed_varints(void) {
    static const char *const cases[] = {
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",     /* 65 bits */
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01", /* eleven bytes */
        "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",     /* no end */
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        ByteReader reader = byte_reader(cases[i], strlen(cases[i]));
        g_assert_cmpuint(read_varint(&reader), ==, 0);
        g_assert_true(reader.failed);
    }
}

static void test_zigzag(void) {
    static const gint64 cases[] = {0, -1, 1, -64, 64, G_MAXINT32, G_MININT32, G_MAXINT64, G_MININT64};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GByteArray) out = g_byte_array_new();
        append_zigzag(out, cases[i]);
        if (cases[i] >= -64 && cases[i] < 64) g_assert_cmpuint(out->len, ==, 1);
        ByteReader reader = byte_reader(out->data, out->len);
        g_assert_cmpint(read_zigzag(&reader), ==, cases[i]);
        g_assert_false(reader.failed);
    }
}

static void test_fixed(void) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    append_u8(out, 0xfe);
    append_u16be(out, 0xfedc);
    append_u32be(out, 0xfedcba98);
    append_u64be(out, G_GUINT64_CONSTANT(0xfedcba9876543210));
    append_bytes(out, "tail", 4);
    static const guint8 expected[] = "\xfe\xfe\xdc\xfe\xdc\xba\x98\xfe\xdc\xba\x98\x76\x54\x32\x10tail";
    g_assert_cmpmem(out->data, out->len, expected, sizeof expected - 1);

    ByteReader reader = byte_reader(out->data, out->len);
    g_assert_cmpuint(read_u8(&reader), ==, 0xfe);
    g_assert_cmpuint(read_u16be(&reader), ==, 0xfedc);
    g_assert_cmpuint(read_u32be(&reader), ==, 0xfedcba98);
    g_assert_cmpuint(read_u64be(&reader), ==, G_GUINT64_CONSTANT(0xfedcba9876543210));
    g_assert_null(read_bytes(&reader, 5));
    g_assert_true(reader.failed);

    reader = byte_reader(out->data + 15, 4);
    g_assert_cmpmem(read_bytes(&reader, 4), 4, "tail", 4);
    g_assert_nonnull(read_bytes(&reader, 0));
    g_assert_false(reader.failed);

    /* A size near the end of the address space does not wrap. */
    g_assert_null(read_bytes(&reader, G_MAXSIZE));
    g_assert_true(reader.failed);
}

static void test_errors(void) {
    GError *error = NULL;
    g_assert_false(fail(&error, PLUMB_ERROR_LIMIT, "%d of %s", 7, "9"));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_cmpstr(error->message, ==, "7 of 9");
    g_clear_error(&error);

    g_assert_false(fail(NULL, PLUMB_ERROR_IO, "nobody listens"));
    g_assert_false(fail_errno(NULL, EIO, "nobody listens"));

    static const struct {
        int err;
        PlumbError code;
    } cases[] = {{ENOSPC, PLUMB_ERROR_NO_SPACE},
                 {EDQUOT, PLUMB_ERROR_NO_SPACE},
                 {EACCES, PLUMB_ERROR_IO},
                 {EIO, PLUMB_ERROR_IO}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_false(fail_errno(&error, cases[i].err, "file %s", "x"));
        g_assert_error(error, PLUMB_ERROR, (int)cases[i].code);
        g_autofree char *expected = g_strdup_printf("file x: %s", g_strerror(cases[i].err));
        g_assert_cmpstr(error->message, ==, expected);
        g_clear_error(&error);
    }
}

static void test_clock(void) {
    const Clock *clock = clock_system();
    gint64 wall_ns = clock_wall_ns(clock), seconds = g_get_real_time() / G_USEC_PER_SEC;
    g_assert_cmpint(ABS(wall_ns / NS_PER_SEC - seconds), <=, 60);
    gint64 last_ns = clock_monotonic_ns(clock);
    for (guint i = 0; i < 1000; i++) {
        gint64 next_ns = clock_monotonic_ns(clock);
        g_assert_cmpint(next_ns, >=, last_ns);
        last_ns = next_ns;
    }
}

static void test_nearest(void) {
    static const char *const known[] = {"store.path", "store.cache", "listen.http", "listen.thrift", "ack", NULL};
    static const struct {
        const char *name, *nearest;
    } cases[] = {
        {"store.paht", "store.path"},
        {"store.pat", "store.path"},
        {"stroe.cache", "store.cache"},
        {"listen", "listen.http"},
        {"listen.thrift2", "listen.thrift"},
        {"akc", "ack"},
        {"something.else", NULL},
        {"", NULL},
        {"x", NULL},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].name);
        g_assert_cmpstr(nearest_name(cases[i].name, known), ==, cases[i].nearest);
    }

    static const struct {
        const char *a, *b;
        guint distance;
    } distances[] = {{"", "", 0},       {"", "abc", 3},           {"abc", "abc", 0},
                     {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}};

    for (guint i = 0; i < G_N_ELEMENTS(distances); i++) {
        g_assert_cmpuint(nearest_distance(distances[i].a, distances[i].b), ==, distances[i].distance);
        g_assert_cmpuint(nearest_distance(distances[i].b, distances[i].a), ==, distances[i].distance);
    }
}

static gboolean all_are(const guint8 *bytes, gsize n, guint8 value) {
    for (gsize i = 0; i < n; i++)
        if (bytes[i] != value) return FALSE;
    return TRUE;
}

/* Small pieces, some as large as a block, and one larger: each zeroed, aligned, and nobody else's; then all anew. */
static void test_room(void) {
    static const gsize sizes[] = {1, 40, 5000, 70000, 300000, 3 << 20, 17, 9 << 20, 8 << 20, 20 << 20, 64, 0};
    g_auto(Region) region = {NULL};
    for (guint again = 0; again < 2; again++) {
        guint8 *pieces[G_N_ELEMENTS(sizes)];
        for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
            pieces[i] = region_take(&region, sizes[i]);
            g_assert_cmpuint((gsize)pieces[i] % 16, ==, 0);
            g_assert_true(all_are(pieces[i], sizes[i], 0));
            if (sizes[i] > 0) memset(pieces[i], (int)i + 1, sizes[i]);
        }
        for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) g_assert_true(all_are(pieces[i], sizes[i], (guint8)(i + 1)));
        region_clear(&region);
        g_assert_cmpuint(region.size_bytes, ==, 0);
    }
}

static void test_large(void) {
    static const gsize sizes[] = {1, (1 << 20) - 1, 1 << 20, (2 << 20) + 1, 5 << 20};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        guint8 *piece = large_new(sizes[i]);
        memset(piece, 7, sizes[i]);
        large_hint(piece, sizes[i]); /* changes nothing that is there */
        g_assert_true(all_are(piece, sizes[i], 7));
        large_free(piece, sizes[i]);
    }
    large_free(NULL, 1);
    large_free(NULL, 5 << 20);
}

/* Pairs that differ in one half only, and all of a square: hardly two have the same hash. */
static void test_pair_hash(void) {
    enum { SIDE = 200 };
    const struct { guint64 upper, lower; } counted[] = {{SIDE * SIDE, 1}, {1, SIDE * SIDE}, {SIDE, SIDE}};
    for (gsize i = 0; i < G_N_ELEMENTS(counted); i++) {
        g_autoptr(GHashTable) hashes = g_hash_table_new(NULL, NULL);
        for (guint64 upper = 0; upper < counted[i].upper; upper++)
            for (guint64 lower = 0; lower < counted[i].lower; lower++) {
                const guint64 key = (upper + 7) << 32 | (lower + 7);
                g_hash_table_add(hashes, GUINT_TO_POINTER(pair_hash(&key)));
            }
        g_assert_cmpuint(g_hash_table_size(hashes), >, SIDE * SIDE * 99 / 100);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bytes/varints", test_varints);
    g_test_add_func("/bytes/malformed-varints", test_malformed_varints);
    g_test_add_func("/bytes/zigzag", test_zigzag);
    g_test_add_func("/bytes/fixed", test_fixed);
    g_test_add_func("/error/codes", test_errors);
    g_test_add_func("/clock/system", test_clock);
    g_test_add_func("/nearest/names", test_nearest);
    g_test_add_func("/pair_hash/spread", test_pair_hash);
    g_test_add_func("/room/pieces", test_room);
    g_test_add_func("/room/large", test_large);
    return g_test_run();
}
