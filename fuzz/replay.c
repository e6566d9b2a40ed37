/* Runs a fuzz target over files kept from fuzzing, and over every beginning of the small ones: what was found once, and
 * what is cut short, is tested in each ordinary build. fuzz_NAME FILE|FOLDER... */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"

/* Files up to this size are also tried cut at every byte. */
#define CUT_BYTES 1024u

/* A block of exactly that size, so that the sanitizer sees what is read behind it. */
static void run_bytes(const char *data, gsize size_bytes) {
    uint8_t *copy = malloc(size_bytes > 0 ? size_bytes : 1);
    memcpy(copy, data, size_bytes);
    LLVMFuzzerTestOneInput(copy, size_bytes);
    free(copy);
}

static guint run_file(const char *path) {
    g_autofree char *data = NULL;
    gsize size_bytes;
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(path, &data, &size_bytes, &error)) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
    g_printerr("%s\n", path); /* if it aborts, the last line says where */
    run_bytes(data, size_bytes);
    for (gsize n = 0; size_bytes <= CUT_BYTES && n < size_bytes; n++) run_bytes(data, n);
    return 1;
}

static guint run_path(const char *path) {
    g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
    if (folder == NULL) return run_file(path);
    guint files = 0;
    const char *name;
    while ((name = g_dir_read_name(folder)) != NULL) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        files += run_file(file);
    }
    return files;
}

int main(int argc, char **argv) {
    guint files = 0;
    for (int i = 1; i < argc; i++) files += run_path(argv[i]);
    if (files > 0) return 0;
    fprintf(stderr, "%s: no inputs; name files or folders\n", argv[0]);
    return 1;
}
