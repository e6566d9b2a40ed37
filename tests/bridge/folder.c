#define _GNU_SOURCE /* nftw */
#include "tests/bridge/folder.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

char *folder_new(void) {
    g_autoptr(GError) error = NULL;
    char *folder = g_dir_make_tmp("plumb-bridge-XXXXXX", &error);
    g_assert_no_error(error);
    return folder;
}

static int remove_one(const char *path, const struct stat *facts G_GNUC_UNUSED, int kind G_GNUC_UNUSED,
                      struct FTW *place G_GNUC_UNUSED) {
    return g_remove(path);
}

void folder_remove(char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    g_free(folder);
}

static void write_to(const char *folder, const char *name, const char *text, const char *mode) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    FILE *to = g_fopen(path, mode);
    g_assert_nonnull(to);
    g_assert_cmpuint(fwrite(text, 1, strlen(text), to), ==, strlen(text));
    g_assert_cmpint(fclose(to), ==, 0);
}

void folder_write(const char *folder, const char *name, const char *text) { write_to(folder, name, text, "w"); }

void folder_append(const char *folder, const char *name, const char *text) { write_to(folder, name, text, "a"); }
