#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/mapped.h"

#define MIB ((gsize)1 << 20)

static guint64 resident_bytes(void) {
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    unsigned long long pages = 0;
    g_assert_cmpint(sscanf(text, "%*u %llu", &pages), ==, 1);
    return pages * (guint64)sysconf(_SC_PAGESIZE);
}

static void grow(Mapped *mapped, gsize size_bytes) {
    g_autoptr(GError) error = NULL;
    mapped_grow(mapped, size_bytes, &error);
    g_assert_no_error(error);
}

/* folder: NULL for one in memory. */
static void test_grows(gconstpointer folder) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Mapped) mapped = mapped_new(folder, 8 * MIB, &error);
    g_assert_no_error(error);
    guint8 *data = mapped_data(mapped);
    for (gsize size = 1; size <= 8 * MIB; size = size * 2) {
        grow(mapped, size);
        g_assert_cmpuint(data[size - 1], ==, 0);
        data[size - 1] = 0xa5;
        g_assert_true(mapped_data(mapped) == data);
    }
    mapped_rest(mapped);
    for (gsize size = 1; size <= 8 * MIB; size = size * 2) g_assert_cmpuint(data[size - 1], ==, 0xa5);
    g_assert_cmpuint(data[3 * MIB], ==, 0);
    g_assert_false(mapped_grow(mapped, 8 * MIB + 1, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
}

static void test_rests(void) {
    g_autoptr(Mapped) mapped = mapped_new(g_get_tmp_dir(), 64 * MIB, NULL);
    g_assert_nonnull(mapped);
    grow(mapped, 64 * MIB);
    memset(mapped_data(mapped), 1, 64 * MIB);
    guint64 before = resident_bytes();
    mapped_rest(mapped);
    g_assert_cmpuint(resident_bytes() + 48 * MIB, <, before);
    g_assert_cmpuint(((guint8 *)mapped_data(mapped))[40 * MIB], ==, 1);
}

/* As if the disk were full. */
static void test_no_room(void) {
    g_autoptr(Mapped) mapped = mapped_new(g_get_tmp_dir(), 64 * MIB, NULL);
    grow(mapped, MIB);
    memset(mapped_data(mapped), 1, MIB);
    struct rlimit before, small;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    small = before;
    small.rlim_cur = 2 * MIB;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
    g_autoptr(GError) error = NULL;
    gboolean grew = mapped_grow(mapped, 4 * MIB, &error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    signal(SIGXFSZ, handler);
    g_assert_false(grew);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    g_assert_cmpuint(((guint8 *)mapped_data(mapped))[MIB - 1], ==, 1);
    grow(mapped, 4 * MIB);
    g_assert_cmpuint(((guint8 *)mapped_data(mapped))[4 * MIB - 1], ==, 0);
}

static void test_kinds(void) {
    g_autoptr(Mapped) file = mapped_new(g_get_tmp_dir(), MIB, NULL), memory = mapped_new(NULL, MIB, NULL);
    g_assert_false(mapped_in_memory(file));
    g_assert_true(mapped_in_memory(memory));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/mapped/grows-in-memory", NULL, test_grows);
    g_test_add_data_func("/mapped/grows-in-a-file", g_get_tmp_dir(), test_grows);
    g_test_add_func("/mapped/rests", test_rests);
    g_test_add_func("/mapped/no-room", test_no_room);
    g_test_add_func("/mapped/kinds", test_kinds);
    g_test_add_data_func("/mapped/no-file-can-be-made", "/proc", test_grows);
    return g_test_run();
}
