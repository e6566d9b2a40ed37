#include "common/store/store_rocksdb_seal.h"

#include <string.h>
#include <sys/stat.h>

#include "common/base/error.h"

#define SEAL_FILE "SEAL"
/* "MANIFEST-", a number, a blank, a number. */
#define SEAL_MAX_BYTES 64

/* Name and size of the MANIFEST in use. */
static gboolean current_manifest(const char *path, char **name, gint64 *size_bytes) {
    g_autofree char *current = g_build_filename(path, "CURRENT", NULL);
    g_autofree char *text = NULL;
    if (!g_file_get_contents(current, &text, NULL, NULL)) return FALSE;
    g_strchomp(text);
    if (!g_str_has_prefix(text, "MANIFEST-") || strlen(text) > SEAL_MAX_BYTES / 2) return FALSE;
    g_autofree char *manifest = g_build_filename(path, text, NULL);
    struct stat file;
    if (stat(manifest, &file) != 0) return FALSE;
    *name = g_steal_pointer(&text);
    *size_bytes = file.st_size;
    return TRUE;
}

void seal_write(const char *path) {
    g_autofree char *name = NULL;
    gint64 size_bytes;
    if (!current_manifest(path, &name, &size_bytes)) return;
    g_autofree char *seal = g_build_filename(path, SEAL_FILE, NULL);
    g_autofree char *text = g_strdup_printf("%s %" G_GINT64_FORMAT "\n", name, size_bytes);
    g_file_set_contents(seal, text, -1, NULL);
}

gboolean seal_check(const char *path, GError **error) {
    g_autofree char *name = NULL, *text = NULL;
    gint64 size_bytes;
    g_autofree char *seal = g_build_filename(path, SEAL_FILE, NULL);
    if (!current_manifest(path, &name, &size_bytes) || !g_file_get_contents(seal, &text, NULL, NULL)) return TRUE;
    gsize name_length = strlen(name);
    if (strncmp(text, name, name_length) != 0 || text[name_length] != ' ') return TRUE;
    gint64 sealed_bytes = g_ascii_strtoll(text + name_length + 1, NULL, 10);
    if (size_bytes >= sealed_bytes) return TRUE;
    return fail(error, PLUMB_ERROR_CORRUPT,
                "store %s: %s has lost its end (%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                " bytes): restore the folder from a copy",
                path, name, size_bytes, sealed_bytes);
}
