/* Bodies on the disk: what comes back is what was written, or an error; space comes back; failures change nothing. */
#include "receiver/traces/spill.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/error.h"
#include "tests/receiver/unnamed.h"

#define MIB    (1024u * 1024)
#define ENOUGH (64u * MIB)
/* What is written at a time. */
#define RUN_BYTES (64u * 1024)

typedef struct Setup {
    char *folder;
    Spill *spill;
} Setup;

static void setup(Setup *setup, gconstpointer unused) {
    (void)unused;
    setup->folder = g_dir_make_tmp("plumb-spill-XXXXXX", NULL);
    setup->spill = spill_new(setup->folder);
}

static void teardown(Setup *setup, gconstpointer unused) {
    (void)unused;
    spill_free(setup->spill);
    g_assert_cmpint(g_rmdir(setup->folder), ==, 0); /* that is, nothing is in it */
    g_free(setup->folder);
}

/* Bytes that say which they are. */
static GByteArray *make(guint32 seed, guint size_bytes) {
    GByteArray *bytes = g_byte_array_sized_new(size_bytes);
    g_byte_array_set_size(bytes, size_bytes);
    for (guint i = 0; i < size_bytes; i++) bytes->data[i] = (guint8)((seed + i) * 2654435761u >> 24);
    return bytes;
}

static gboolean put(Spill *spill, SpillList *list, const GByteArray *bytes, guint64 limit_bytes, GError **error) {
    spill_set_limit(spill, limit_bytes);
    return spill_put(spill, SPILL_GROWING, list, (Bytes){bytes->data, bytes->len}, error);
}

static void assert_next(Spill *spill, SpillList list, guint *at, const GByteArray *expected) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_byte_array_append(out, (const guint8 *)"ab", 2);
    GError *error = NULL;
    g_assert_true(spill_get(spill, list, at, out, &error));
    g_assert_no_error(error);
    g_assert_cmpmem(out->data + 2, out->len - 2, expected->data, expected->len);
}

static void test_parts(Setup *setup, gconstpointer unused) {
    (void)unused;
    static const guint sizes[] = {1, 32 * 1024, MIB - 3, 3 * MIB + 5, 7};
    SpillList lists[2] = {0, 0};
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    guint64 total = 0;

    for (guint i = 0; i < 2 * G_N_ELEMENTS(sizes); i++) {
        GByteArray *part = make(i, sizes[i / 2]);
        g_ptr_array_add(parts, part);
        g_assert_true(put(setup->spill, &lists[i % 2], part, ENOUGH, NULL));
        total += part->len;
    }

    g_assert_cmpuint(spill_live_bytes(setup->spill), ==, total);
    g_assert_cmpuint(spill_written_bytes(setup->spill), ==, total);
    g_assert_cmpuint(spill_list_bytes(setup->spill, lists[0]), ==, total / 2);

    for (guint list = 0; list < 2; list++) {
        guint at = 0;
        for (guint i = list; i < parts->len; i += 2) assert_next(setup->spill, lists[list], &at, parts->pdata[i]);
        g_autoptr(GByteArray) nothing = g_byte_array_new();
        assert_next(setup->spill, lists[list], &at, nothing);
    }
}

static guint64 blocks_bytes(const Setup *setup) {
    struct stat info;
    int fd = unnamed_file_in(setup->folder);
    g_assert_cmpint(fstat(fd, &info), ==, 0);
    close(fd);
    return (guint64)info.st_blocks * 512;
}

static guint64 size_bytes(const Setup *setup) {
    struct stat info;
    int fd = unnamed_file_in(setup->folder);
    g_assert_cmpint(fstat(fd, &info), ==, 0);
    close(fd);
    return (guint64)info.st_size;
}

/* What a file system may count beside the bytes of a file. */
#define BLOCKS_BESIDE (256u * 1024)

static void assert_empty(Setup *setup) {
    g_assert_cmpuint(spill_live_bytes(setup->spill), ==, 0);
    g_assert_cmpuint(spill_file_bytes(setup->spill), <=, SPILL_SPARE_BYTES);
    g_assert_cmpuint(blocks_bytes(setup), <=, SPILL_SPARE_BYTES + BLOCKS_BESIDE);
}

/* Lists come and go; what is there is right all the time, and the file is not much larger than what it holds. */
static void test_space_comes_back(Setup *setup, gconstpointer unused) {
    (void)unused;
    SpillList lists[40] = {0};
    guint32 seeds[40];

    for (guint step = 0; step < 2000; step++) {
        const guint i = (guint)g_test_rand_int_range(0, G_N_ELEMENTS(lists));
        if (lists[i]) {
            guint at = 0;
            g_autoptr(GByteArray) expected = make(seeds[i], 100000);
            assert_next(setup->spill, lists[i], &at, expected);
            spill_drop(setup->spill, lists[i]);
            lists[i] = 0;
        } else {
            g_autoptr(GByteArray) bytes = make(seeds[i] = step, 100000);
            g_assert_true(put(setup->spill, &lists[i], bytes, ENOUGH, NULL));
        }
        g_assert_cmpuint(spill_live_bytes(setup->spill), <=, spill_file_bytes(setup->spill));
    }

    g_assert_cmpuint(spill_file_bytes(setup->spill), <=, ENOUGH);
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        if (lists[i]) spill_drop(setup->spill, lists[i]);
    assert_empty(setup);
}

/* However long lists come and go, the file is as large as what it held at most, and a half. */
static void test_places_are_used_again(Setup *setup, gconstpointer unused) {
    (void)unused;
    SpillList lists[400] = {0};
    guint32 seeds[400];
    guint64 most_bytes = 0;

    for (guint step = 0; step < 12000; step++) {
        const guint i = (guint)g_test_rand_int_range(0, G_N_ELEMENTS(lists));
        if (lists[i]) {
            spill_drop(setup->spill, lists[i]);
            lists[i] = 0;
        } else {
            g_autoptr(GByteArray) bytes = make(seeds[i] = step, 35000 + step % 7000);
            g_assert_true(put(setup->spill, &lists[i], bytes, ENOUGH, NULL));
        }
        most_bytes = MAX(most_bytes, spill_live_bytes(setup->spill));
        g_assert_cmpuint(spill_file_bytes(setup->spill), <=, most_bytes + most_bytes / 2 + SPILL_SPARE_BYTES);
    }

    g_assert_cmpuint(spill_written_bytes(setup->spill), >, 10 * most_bytes);
    g_assert_cmpuint(size_bytes(setup), <=, most_bytes + most_bytes / 2 + SPILL_SPARE_BYTES);
    g_assert_cmpuint(blocks_bytes(setup), <=, spill_file_bytes(setup->spill) + BLOCKS_BESIDE);

    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        if (!lists[i]) continue;
        guint at = 0;
        g_autoptr(GByteArray) expected = make(seeds[i], 35000 + seeds[i] % 7000);
        assert_next(setup->spill, lists[i], &at, expected);
        spill_drop(setup->spill, lists[i]);
    }

    assert_empty(setup);
}

/* What is needed for long does not hold the places of what is not, though they came in turn. */
static void test_kins_lie_apart(Setup *setup, gconstpointer unused) {
    (void)unused;
    enum { PARTS = 2000, PART_BYTES = 5000 };
    SpillList lists[PARTS][SPILL_KINS] = {0};
    spill_set_limit(setup->spill, ENOUGH);

    for (guint i = 0; i < PARTS; i++)
        for (guint kin = 0; kin < SPILL_KINS; kin++) {
            g_autoptr(GByteArray) bytes = make(i * SPILL_KINS + kin, PART_BYTES);
            g_assert_true(spill_put(setup->spill, kin, &lists[i][kin], (Bytes){bytes->data, bytes->len}, NULL));
        }

    const guint64 live_bytes = spill_live_bytes(setup->spill);
    g_assert_cmpuint(spill_file_bytes(setup->spill), <=, live_bytes + SPILL_SPARE_BYTES);
    for (guint i = 0; i < PARTS; i++) {
        spill_drop(setup->spill, lists[i][SPILL_COMPLETE]);
        spill_drop(setup->spill, lists[i][SPILL_WAITING]);
    }

    const guint64 left_bytes = spill_live_bytes(setup->spill);
    g_assert_cmpuint(left_bytes, ==, live_bytes / SPILL_KINS);
    g_assert_cmpuint(spill_file_bytes(setup->spill), <=, left_bytes + left_bytes / 2 + SPILL_SPARE_BYTES);
    g_assert_cmpuint(blocks_bytes(setup), <=, spill_file_bytes(setup->spill) + BLOCKS_BESIDE);

    for (guint i = 0; i < PARTS; i++) {
        guint at = 0;
        g_autoptr(GByteArray) expected = make(i * SPILL_KINS + SPILL_GROWING, PART_BYTES);
        assert_next(setup->spill, lists[i][SPILL_GROWING], &at, expected);
        spill_drop(setup->spill, lists[i][SPILL_GROWING]);
    }
    assert_empty(setup);
}

/* With less to have, free places go back at once. */
static void test_limit_falls(Setup *setup, gconstpointer unused) {
    (void)unused;
    g_autoptr(GByteArray) large = make(1, 20 * MIB), small = make(2, 3 * MIB);
    SpillList lists[2] = {0};
    g_assert_true(put(setup->spill, &lists[0], large, ENOUGH, NULL));
    g_assert_true(put(setup->spill, &lists[1], small, ENOUGH, NULL));
    spill_drop(setup->spill, lists[1]);
    g_assert_cmpuint(spill_file_bytes(setup->spill), >=, 23 * MIB - RUN_BYTES); /* it would be used again */
    spill_set_limit(setup->spill, 22 * MIB);
    g_assert_cmpuint(spill_file_bytes(setup->spill), <=, 22 * MIB);
    g_assert_cmpuint(spill_file_bytes(setup->spill), >=, 21 * MIB);
    spill_set_limit(setup->spill, MIB);
    g_assert_cmpuint(spill_file_bytes(setup->spill), <=, 20 * MIB + 2 * RUN_BYTES);
    g_assert_cmpuint(blocks_bytes(setup), <=, 20 * MIB + 2 * RUN_BYTES + BLOCKS_BESIDE);
    guint at = 0;
    assert_next(setup->spill, lists[0], &at, large);
    spill_drop(setup->spill, lists[0]);
    assert_empty(setup);
}

static void test_limit(Setup *setup, gconstpointer unused) {
    (void)unused;
    g_autoptr(GByteArray) first = make(1, MIB + 10), second = make(2, 2 * MIB), third = make(3, MIB - 10);
    g_autoptr(GError) error = NULL;
    SpillList list = 0, other = 0;
    g_assert_true(put(setup->spill, &list, first, 2 * MIB, NULL));
    g_assert_false(put(setup->spill, &list, second, 2 * MIB, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_false(put(setup->spill, &other, second, 2 * MIB, NULL));
    g_assert_cmpuint(other, ==, 0);
    g_assert_true(put(setup->spill, &list, third, 2 * MIB, NULL)); /* to the last byte */
    g_assert_cmpuint(spill_live_bytes(setup->spill), ==, 2 * MIB);
    guint at = 0;
    assert_next(setup->spill, list, &at, first);
    assert_next(setup->spill, list, &at, third);
}

/* ---- small parts ---- */

typedef struct Small {
    SpillPlace where;
    GByteArray *bytes; /* NULL: there is none */
    SpillList list;    /* 0: by itself */
} Small;

static gboolean put_small(Spill *spill, Small *small, guint32 seed, guint64 limit_bytes, GError **error) {
    g_autoptr(GByteArray) bytes = make(seed, 1 + seed * 2654435761u % SPILL_SMALL_MAX_BYTES);
    spill_set_limit(spill, limit_bytes);
    if (!spill_put_small(spill, (Bytes){bytes->data, bytes->len}, &small->where, error)) return FALSE;
    small->bytes = g_steal_pointer(&bytes);
    small->list = 0;
    return TRUE;
}

static void assert_small(Spill *spill, const Small *small) {
    if (small->list) {
        guint at = 0;
        assert_next(spill, small->list, &at, small->bytes);
        return;
    }
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_byte_array_append(out, (const guint8 *)"ab", 2);
    g_assert_true(spill_get_small(spill, &small->where, out, NULL));
    g_assert_cmpmem(out->data + 2, out->len - 2, small->bytes->data, small->bytes->len);
}

static void drop_small(Spill *spill, Small *small) {
    if (small->list)
        spill_drop(spill, small->list);
    else
        spill_drop_small(spill, &small->where);
    g_clear_pointer(&small->bytes, g_byte_array_unref);
}

/* They come and go, some as the first part of a list; written or not yet, what is there is right. */
static void test_small(Setup *setup, gconstpointer unused) {
    (void)unused;
    static Small all[1000];
    g_autoptr(GByteArray) more = make(1, 3000);
    guint64 live_bytes = 0;

    for (guint step = 0; step < 20000; step++) {
        Small *small = &all[g_test_rand_int_range(0, G_N_ELEMENTS(all))];
        if (!small->bytes) {
            g_assert_true(put_small(setup->spill, small, step, ENOUGH, NULL));
            live_bytes += small->bytes->len;
            continue;
        }

        assert_small(setup->spill, small);
        if (!small->list && g_test_rand_int_range(0, 3) == 0) {
            guint at = 0;
            small->list = spill_list_small(setup->spill, &small->where);
            g_assert_true(put(setup->spill, &small->list, more, ENOUGH, NULL));
            live_bytes += more->len;
            assert_next(setup->spill, small->list, &at, small->bytes);
            assert_next(setup->spill, small->list, &at, more);
        } else {
            live_bytes -= small->bytes->len + (small->list ? more->len : 0);
            drop_small(setup->spill, small);
        }
        g_assert_cmpuint(spill_live_bytes(setup->spill), ==, live_bytes);
        g_assert_cmpuint(live_bytes, <=, spill_file_bytes(setup->spill));
    }

    for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
        if (!all[i].bytes) continue;
        assert_small(setup->spill, &all[i]);
        drop_small(setup->spill, &all[i]);
    }
    assert_empty(setup);
}

/* Makes small parts until it fails; returns how many there are. */
static guint fill_small(Setup *setup, GArray *all, guint64 limit_bytes, GError **error) {
    for (;;) {
        Small small = {.bytes = NULL};
        if (!put_small(setup->spill, &small, all->len, limit_bytes, error)) return all->len;
        g_array_append_val(all, small);
    }
}

static void drop_all(Setup *setup, GArray *all) {
    for (guint i = 0; i < all->len; i++) drop_small(setup->spill, &g_array_index(all, Small, i));
    g_assert_cmpuint(spill_live_bytes(setup->spill), ==, 0);
    g_array_unref(all);
}

static void test_small_limit(Setup *setup, gconstpointer unused) {
    (void)unused;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Small));
    g_autoptr(GError) error = NULL;
    const guint n = fill_small(setup, all, 3 * MIB, &error);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_cmpuint(spill_file_bytes(setup->spill), ==, 3 * MIB);
    g_assert_cmpuint(spill_live_bytes(setup->spill), >, 3 * (MIB - MIB / RUN_BYTES * SPILL_SMALL_MAX_BYTES));
    for (guint i = 0; i < n; i++) assert_small(setup->spill, &g_array_index(all, Small, i));
    drop_all(setup, all);
}

static void assert_corrupt(Setup *setup, SpillList list) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    guint at = 0;
    g_assert_false(spill_get(setup->spill, list, &at, out, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    g_assert_cmpuint(out->len, ==, 0);
}

static void test_damage_is_seen(Setup *setup, gconstpointer unused) {
    (void)unused;
    g_autoptr(GByteArray) bytes = make(1, MIB + 5000), behind = make(2, RUN_BYTES);
    SpillList list = 0, other = 0;
    g_assert_true(put(setup->spill, &list, bytes, ENOUGH, NULL));
    g_assert_true(put(setup->spill, &other, behind, ENOUGH, NULL)); /* so that all of the list is written */
    int fd = unnamed_file_in(setup->folder);

    for (guint bit = 0; bit < 8; bit++) {
        const off_t place = g_test_rand_int_range(0, (gint)bytes->len);
        const guint8 was = bytes->data[place], flipped = was ^ (guint8)(1u << bit);
        g_assert_cmpint(pwrite(fd, &flipped, 1, place), ==, 1);
        assert_corrupt(setup, list);
        g_assert_cmpint(pwrite(fd, &was, 1, place), ==, 1);
    }

    guint at = 0;
    assert_next(setup->spill, list, &at, bytes);
    g_assert_cmpint(ftruncate(fd, MIB + 100), ==, 0);
    assert_corrupt(setup, list);
    close(fd);
    spill_drop(setup->spill, list);
}

/* A file that must not grow further fails in the midst of a part; what was there before is still there. */
static void test_write_fails(Setup *setup, gconstpointer unused) {
    (void)unused;
    g_autoptr(GByteArray) small = make(1, 1000), large = make(2, 3 * MIB);
    g_autoptr(GError) error = NULL;
    SpillList list = 0;
    g_assert_true(put(setup->spill, &list, small, ENOUGH, NULL));

    struct rlimit before;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit less = {2 * MIB + 100, before.rlim_max};
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &less), ==, 0);

    const gboolean good = put(setup->spill, &list, large, ENOUGH, &error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false(good);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    g_assert_cmpuint(spill_live_bytes(setup->spill), ==, 1000);

    g_assert_true(put(setup->spill, &list, large, ENOUGH, NULL));
    guint at = 0;
    assert_next(setup->spill, list, &at, small);
    assert_next(setup->spill, list, &at, large);
}

/* Where the file cannot grow, places that became free serve all the same. */
static void test_full_disk(Setup *setup, gconstpointer unused) {
    (void)unused;
    g_autoptr(GByteArray) bytes = make(1, MIB);
    SpillList lists[8] = {0};
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) g_assert_true(put(setup->spill, &lists[i], bytes, ENOUGH, NULL));

    struct rlimit before;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit less = {spill_file_bytes(setup->spill), before.rlim_max};
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &less), ==, 0);

    gboolean good = TRUE;
    for (guint i = 0; good && i < 100; i++) {
        SpillList *list = &lists[i % G_N_ELEMENTS(lists)];
        spill_drop(setup->spill, *list);
        *list = 0;
        good = put(setup->spill, list, bytes, ENOUGH, NULL);
    }

    SpillList more = 0;
    const gboolean grown = put(setup->spill, &more, bytes, ENOUGH, NULL);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_true(good);
    g_assert_false(grown);

    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        guint at = 0;
        assert_next(setup->spill, lists[i], &at, bytes);
    }
}

/* When they cannot be written none is lost, and no more are taken than there is memory for. */
static void test_small_write_fails(Setup *setup, gconstpointer unused) {
    (void)unused;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Small));
    g_autoptr(GError) error = NULL;
    struct rlimit before;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit less = {100000, before.rlim_max};
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &less), ==, 0);
    const guint n = fill_small(setup, all, ENOUGH, &error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    g_assert_cmpuint(spill_live_bytes(setup->spill), <=, 128 * 1024);
    Small one = {.bytes = NULL};
    g_assert_true(put_small(setup->spill, &one, n, ENOUGH, NULL));
    g_array_append_val(all, one);
    for (guint i = 0; i <= n; i++) assert_small(setup->spill, &g_array_index(all, Small, i));
    drop_all(setup, all);
}

static void test_small_damage(Setup *setup, gconstpointer unused) {
    (void)unused;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Small));
    fill_small(setup, all, MIB, NULL);
    const Small *first = &g_array_index(all, Small, 0);
    int fd = unnamed_file_in(setup->folder);
    const guint8 flipped = first->bytes->data[0] ^ 8;
    g_assert_cmpint(pwrite(fd, &flipped, 1, first->where.at), ==, 1);
    close(fd);
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    g_assert_false(spill_get_small(setup->spill, &first->where, out, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    g_assert_cmpuint(out->len, ==, 0);
    assert_small(setup->spill, &g_array_index(all, Small, 1));
    drop_all(setup, all);
}

static void test_no_folder(void) {
    g_autoptr(Spill) spill = spill_new("/nonexistent/plumb");
    g_autoptr(GByteArray) bytes = make(1, 10);
    g_autoptr(GError) error = NULL;
    SpillList list = 0;
    g_assert_false(put(spill, &list, bytes, ENOUGH, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    g_assert_nonnull(strstr(error->message, "/nonexistent/plumb"));
    g_assert_cmpuint(list + spill_live_bytes(spill), ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add("/spill/parts", Setup, NULL, setup, test_parts, teardown);
    g_test_add("/spill/space", Setup, NULL, setup, test_space_comes_back, teardown);
    g_test_add("/spill/used-again", Setup, NULL, setup, test_places_are_used_again, teardown);
    g_test_add("/spill/kins", Setup, NULL, setup, test_kins_lie_apart, teardown);
    g_test_add("/spill/limit-falls", Setup, NULL, setup, test_limit_falls, teardown);
    g_test_add("/spill/full-disk", Setup, NULL, setup, test_full_disk, teardown);
    g_test_add("/spill/limit", Setup, NULL, setup, test_limit, teardown);
    g_test_add("/spill/damage", Setup, NULL, setup, test_damage_is_seen, teardown);
    g_test_add("/spill/write-fails", Setup, NULL, setup, test_write_fails, teardown);
    g_test_add("/spill/small", Setup, NULL, setup, test_small, teardown);
    g_test_add("/spill/small-limit", Setup, NULL, setup, test_small_limit, teardown);
    g_test_add("/spill/small-write-fails", Setup, NULL, setup, test_small_write_fails, teardown);
    g_test_add("/spill/small-damage", Setup, NULL, setup, test_small_damage, teardown);
    g_test_add_func("/spill/no-folder", test_no_folder);
    return g_test_run();
}
