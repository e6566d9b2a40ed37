/* Tables of which data blocks are damaged, in every family, compressed and not: what can be read is read around the
 * damage, and kept by the next opening. Random places, of tests/base/seed.h.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "common/base/error.h"
#include "common/store/store_damage.h"
#include "common/store/store_rocksdb_table.h"
#include "common/store/store_skip.h"
#include "tests/base/seed.h"
#include "tests/store/fixture.h"

#define ENTRIES     4000u
#define VALUE_BYTES 400u
#define DAMAGES     3u

static guint32 seed;

static Store *open_ok(const char *folder) {
    StoreOptions options = small_options(folder);
    options.merge = merge_concatenate;
    g_autoptr(GError) error = NULL;
    Store *store = store_open_rocksdb(&options, &error);
    g_assert_no_error(error);
    return store;
}

static void key_of(guint i, char key[17]) { g_snprintf(key, 17, "%08x%08x", i * 7, i); }

/* Tables of the last level, which are compressed where the family is. */
static void fill(const char *folder, StoreFamily family) {
    g_autoptr(Store) store = open_ok(folder);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(GError) error = NULL;
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    for (guint i = 0; i < ENTRIES; i++) {
        char key[17], value[VALUE_BYTES];
        key_of(i, key);
        for (guint b = 0; b < sizeof value; b++) value[b] = (char)g_rand_int_range(rand, 'a', b % 2 ? 'z' : 'c');
        store_batch_put(batch, family, text(key), (Bytes){value, sizeof value});
    }
    store_write(store, batch, FALSE, &error);
    store_flush(store, TRUE, &error);
    g_assert_no_error(error);
}

/* The largest table of the folder. */
static char *largest(const char *folder) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    char *best = NULL;
    goffset most = 0;
    const char *name;
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        GStatBuf file;
        if (!g_str_has_suffix(name, ".sst") || g_stat(path, &file) != 0 || file.st_size <= most) continue;
        most = file.st_size;
        g_free(best);
        best = g_strdup(name);
    }
    g_assert_nonnull(best);
    return best;
}

/* Bytes of the first half, where there are data blocks alone. */
static void damage(const char *folder, const char *file, GRand *rand) {
    g_autofree char *path = g_build_filename(folder, file, NULL), *content = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &content, &size, NULL));
    for (guint i = 0; i < DAMAGES; i++) content[g_rand_int_range(rand, 0, (gint32)size / 2)] ^= 0x55;
    file_write(path, content, size);
}

/* How many entries can be read, each of them as it was written. */
static guint count(Store *store, StoreFamily family, GError **error) {
    guint n = 0, i = 0;
    char key[17];
    g_autoptr(StoreIter) iter = store_iter_new(store, family);
    for (gboolean more = store_iter_seek(iter, text("0")); more; more = store_iter_next(iter), n++) {
        const Bytes found = store_iter_key(iter);
        do key_of(i++, key);
        while (memcmp(key, found.data, found.size_bytes) != 0 && i < ENTRIES);
        g_assert_cmpmem(found.data, found.size_bytes, key, 16);
        g_assert_cmpuint(store_iter_value(iter).size_bytes, ==, VALUE_BYTES);
    }
    store_iter_error(iter, error);
    return n;
}

static void take_damage(void *arg, const StoreDamage *damage) {
    StoreDamage *told = arg;
    g_assert_cmpint(told->family, ==, FAMILY_COUNT); /* there is one */
    *told = *damage;
}

static StoreDamage told(Store *store) {
    StoreDamage damage = {.family = FAMILY_COUNT};
    store_damages(store, take_damage, &damage);
    return damage;
}

/* The same from the end. */
static guint count_back(Store *store, StoreFamily family, GError **error) {
    guint n = 0;
    g_autoptr(StoreIter) iter = store_iter_new(store, family);
    for (gboolean more = store_iter_seek_before(iter, text("~")); more; more = store_iter_previous(iter)) n++;
    store_iter_error(iter, error);
    return n;
}

static guint read_around(const char *folder, StoreFamily family) {
    g_autoptr(Store) store = open_ok(folder);
    g_autoptr(GError) error = NULL, skipping = NULL, compacting = NULL;
    count(store, family, &error);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    g_assert_cmpint(told(store).family, ==, family);
    g_assert_cmpint(told(store).state, ==, DAMAGE_NEW);
    g_assert_true(store_has_damage(store));

    store_skip_begin();
    const guint n = count(store, family, &skipping);
    const guint back = count_back(store, family, &skipping);
    const StoreReads reads = store_skip_end();
    g_assert_no_error(skipping);
    g_assert_cmpuint(back, >, 0);
    g_assert_cmpuint(back, <, ENTRIES);
    g_assert_true(reads.skipped);
    g_assert_cmpuint(reads.families, ==, 1u << family);

    g_assert_false(store_compact(store, family, text(""), text("~"), &compacting));
    g_assert_error(compacting, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    return n;
}

static void read_mended(const char *folder, StoreFamily family, guint least) {
    g_autoptr(Store) store = open_ok(folder);
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(told(store).state, ==, DAMAGE_MENDED);
    g_assert_cmpuint(told(store).lost_bytes, >, 0);
    g_assert_false(store_has_damage(store));
    const guint n = count(store, family, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(n, >=, least);
    g_assert_cmpuint(n, <, ENTRIES);

    store_flush(store, TRUE, &error);
    store_compact(store, family, text(""), text("~"), &error);
    g_assert_no_error(error);
    g_assert_cmpuint(count(store, family, &error), ==, n);
    g_assert_no_error(error);
}

static void test_family(gconstpointer arg) {
    const StoreFamily family = (StoreFamily)GPOINTER_TO_UINT(arg);
    char *folder = folder_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    fill(folder, family);
    g_autofree char *file = largest(folder), *damaged = g_strconcat(file, TABLE_DAMAGED_END, NULL);
    g_autofree char *aside = g_build_filename(folder, damaged, NULL);
    damage(folder, file, rand);

    const guint around = read_around(folder, family);
    g_assert_cmpuint(around, >, 0);
    read_mended(folder, family, around);
    g_assert_true(g_file_test(aside, G_FILE_TEST_EXISTS));

    g_assert_cmpint(g_unlink(aside), ==, 0);
    g_autoptr(Store) store = open_ok(folder);
    g_assert_cmpint(told(store).family, ==, FAMILY_COUNT);
    folder_remove(folder);
}

/* No table, however its bytes are: an error, or a copy; never more. */
static void test_any_bytes(void) {
    char *folder = folder_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    fill(folder, FAMILY_TRACE);
    g_autofree char *file = largest(folder), *path = g_build_filename(folder, file, NULL), *content = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &content, &size, NULL));
    for (guint run = 0; run < 300; run++) {
        g_autofree char *bytes = g_memdup2(content, size);
        const gsize left = run % 3 == 0 ? (gsize)g_rand_int_range(rand, 0, (gint32)size) : size;
        for (guint i = 0; i < 5; i++)
            bytes[(gint32)size - 1 - g_rand_int_range(rand, 0, MIN((gint32)size, 6000))] ^= (char)(1 + run % 255);
        file_write(path, bytes, left);
        TableMended mended;
        g_autoptr(GError) error = NULL;
        g_assert_true(table_mend(folder, file, &mended, &error) || error != NULL);
    }
    folder_remove(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    seed = run_seed();
    g_test_message("PLUMB_TEST_SEED=%u", seed);
    for (StoreFamily family = FAMILY_TRACE; family < FAMILY_COUNT; family++) {
        if (family == FAMILY_PATTERN) continue; /* read as a whole when a store is opened, as names are */
        g_autofree char *name = g_strdup_printf("/store-unreadable/%s", store_family_name(family));
        g_test_add_data_func(name, GUINT_TO_POINTER(family), test_family);
    }
    g_test_add_func("/store-unreadable/any-bytes", test_any_bytes);
    return g_test_run();
}
