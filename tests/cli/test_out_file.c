#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cli/format/out_file.h"
#include "analyzer/cli/import/input.h"
#include "common/base/error.h"

static guint entries(const char *folder) {
    GDir *dir = g_dir_open(folder, 0, NULL);
    guint n = 0;
    while (g_dir_read_name(dir) != NULL) n++;
    g_dir_close(dir);
    return n;
}

static char *read_all(const char *path) {
    g_autoptr(Input) input = input_open(path, NULL);
    GString *all = g_string_new(NULL);
    Bytes piece;
    while (input_read(input, &piece, NULL) == INPUT_DATA)
        g_string_append_len(all, piece.data, (gssize)piece.size_bytes);
    return g_string_free(all, FALSE);
}

static void test_written(void) {
    static const char *const names[] = {"a.json", "a.json.gz", "a.json.zst"};
    g_autofree char *folder = g_dir_make_tmp("plumb-out-XXXXXX", NULL);

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        GString *text = g_string_new(NULL);
        g_autoptr(OutFile) file = out_file_open(path, NULL);
        for (guint k = 0; k < 100000; k++) {
            g_autofree char *line = g_strdup_printf("line %u\n", k * 7919);
            g_string_append(text, line);
            g_assert_true(out_file_write(file, (Bytes){line, strlen(line)}, NULL));
        }

        g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS)); /* not before it is whole */
        g_assert_true(out_file_finish(file, NULL));
        g_autofree char *got = read_all(path);
        g_assert_cmpstr(got, ==, text->str);
        g_string_free(text, TRUE);
        g_assert_cmpuint(entries(folder), ==, 1);
        g_remove(path);
    }
    g_rmdir(folder);
}

static void test_given_up(void) {
    g_autofree char *folder = g_dir_make_tmp("plumb-out-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "a.gz", NULL);
    g_assert_true(g_file_set_contents(path, "old", -1, NULL));
    OutFile *file = out_file_open(path, NULL);
    g_assert_true(out_file_write(file, (Bytes){"new", 3}, NULL));
    out_file_free(file);
    g_autofree char *got = NULL;
    g_assert_true(g_file_get_contents(path, &got, NULL, NULL));
    g_assert_cmpstr(got, ==, "old");
    g_assert_cmpuint(entries(folder), ==, 1);
    g_remove(path);
    g_rmdir(folder);
}

static void test_no_folder(void) {
    g_autoptr(GError) error = NULL;
    g_assert_null(out_file_open("/nonexistent/folder/file", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/out_file/written", test_written);
    g_test_add_func("/out_file/given_up", test_given_up);
    g_test_add_func("/out_file/no_folder", test_no_folder);
    return g_test_run();
}
