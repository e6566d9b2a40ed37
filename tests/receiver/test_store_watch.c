/* When a store that fails is given up: only when its folder works again and it still does not, and only once. */
#include <glib/gstdio.h>

#include "common/base/clock.h"
#include "receiver/background/store_watch.h"

static const gint64 begin_ns = 1000 * NS_PER_SEC;

/* Looks four times a second; the time after which it is given up, -1: not within two minutes. */
static gint64 given_up_after(StoreWatch *watch, const StoreFolder *folder, gint64 from_ns) {
    for (gint64 now_ns = from_ns; now_ns < from_ns + 120 * NS_PER_SEC; now_ns += NS_PER_SEC / 4)
        if (store_watch_look(watch, TRUE, folder, now_ns)) return now_ns - from_ns;
    return -1;
}

static void test_folder_works(void) {
    g_autofree char *path = g_dir_make_tmp("plumb-watch-XXXXXX", NULL);
    const StoreFolder folder = {path, 0};
    StoreWatch watch = {0};
    g_assert_false(store_watch_look(&watch, FALSE, &folder, begin_ns));
    const gint64 after_ns = given_up_after(&watch, &folder, begin_ns);
    g_assert_cmpint(after_ns, >=, STORE_WATCH_NS);
    g_assert_cmpint(after_ns, <, STORE_WATCH_NS + 2 * NS_PER_SEC);
    g_assert_cmpint(given_up_after(&watch, &folder, begin_ns + after_ns + NS_PER_SEC), ==, -1);
    g_rmdir(path);
}

static void test_folder_fails(void) {
    g_autofree char *path = g_dir_make_tmp("plumb-watch-XXXXXX", NULL);
    const StoreFolder folder = {path, 0};
    StoreWatch watch = {0};
    g_rmdir(path);
    g_assert_cmpint(given_up_after(&watch, &folder, begin_ns), ==, -1);
    g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    g_assert_cmpint(given_up_after(&watch, &folder, begin_ns + 200 * NS_PER_SEC), >=, STORE_WATCH_NS);
    g_rmdir(path);
}

/* A full disk may take a small file. */
static void test_too_little_space(void) {
    g_autofree char *path = g_dir_make_tmp("plumb-watch-XXXXXX", NULL);
    const StoreFolder full = {path, G_MAXUINT64}, folder = {path, 1};
    StoreWatch watch = {0};
    g_assert_cmpint(given_up_after(&watch, &full, begin_ns), ==, -1);
    g_assert_cmpint(given_up_after(&watch, &folder, begin_ns + 200 * NS_PER_SEC), >=, STORE_WATCH_NS);
    g_rmdir(path);
}

static void test_store_recovers(void) {
    g_autofree char *path = g_dir_make_tmp("plumb-watch-XXXXXX", NULL);
    const StoreFolder folder = {path, 0};
    StoreWatch watch = {0};
    for (guint i = 0; i < 10; i++) {
        const gint64 now_ns = begin_ns + i * STORE_WATCH_NS;
        g_assert_false(store_watch_look(&watch, TRUE, &folder, now_ns));
        g_assert_false(store_watch_look(&watch, TRUE, &folder, now_ns + STORE_WATCH_NS / 2));
        g_assert_false(store_watch_look(&watch, FALSE, &folder, now_ns + STORE_WATCH_NS / 2 + 1));
    }
    g_rmdir(path);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/store-watch/folder-works", test_folder_works);
    g_test_add_func("/store-watch/folder-fails", test_folder_fails);
    g_test_add_func("/store-watch/space", test_too_little_space);
    g_test_add_func("/store-watch/recovers", test_store_recovers);
    return g_test_run();
}
