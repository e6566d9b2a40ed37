#include "common/store/store_rocksdb_seal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "common/base/error.h"

#define SEAL_FILE "SEAL"
/* "MANIFEST-", a number. */
#define NAME_MAX_BYTES 32

/* Name and size of the MANIFEST in use. */
static gboolean current_manifest(const char *path, char **name, gint64 *size_bytes) {
    g_autofree char *current = g_build_filename(path, "CURRENT", NULL);
    g_autofree char *text = NULL;
    if (!g_file_get_contents(current, &text, NULL, NULL)) return FALSE;
    g_strchomp(text);
    if (!g_str_has_prefix(text, "MANIFEST-") || strlen(text) > NAME_MAX_BYTES) return FALSE;
    g_autofree char *manifest = g_build_filename(path, text, NULL);
    struct stat file;
    if (stat(manifest, &file) != 0) return FALSE;
    *name = g_steal_pointer(&text);
    *size_bytes = file.st_size;
    return TRUE;
}

/* Of the first bytes of the MANIFEST; FALSE when it cannot be read so far. */
static gboolean manifest_checksum(const char *path, const char *name, gint64 bytes, guint64 *checksum) {
    g_autofree char *manifest = g_build_filename(path, name, NULL);
    FILE *file = fopen(manifest, "rbe");
    if (file == NULL) return FALSE;

    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    gint64 left = bytes;
    char part[16384];
    gsize got = 1;
    for (; left > 0 && got > 0; left -= (gint64)got) {
        got = fread(part, 1, (gsize)MIN(left, (gint64)sizeof part), file);
        XXH3_64bits_update(state, part, got);
    }
    *checksum = XXH3_64bits_digest(state);

    XXH3_freeState(state);
    fclose(file);
    return left == 0;
}

void seal_write(const char *path) {
    g_autofree char *name = NULL;
    gint64 size_bytes;
    guint64 checksum;
    if (!current_manifest(path, &name, &size_bytes) || !manifest_checksum(path, name, size_bytes, &checksum)) return;
    g_autofree char *seal = g_build_filename(path, SEAL_FILE, NULL);
    g_autofree char *text =
        g_strdup_printf("%s %" G_GINT64_FORMAT " %016" G_GINT64_MODIFIER "x\n", name, size_bytes, checksum);
    g_file_set_contents(seal, text, -1, NULL);
}

static gboolean check_size(const char *path, const char *name, gint64 size_bytes, gint64 sealed_bytes, GError **error) {
    if (size_bytes >= sealed_bytes) return TRUE;
    return fail(error, PLUMB_ERROR_CORRUPT,
                "store %s: %s has lost its end (%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                " bytes): restore the folder from a copy",
                path, name, size_bytes, sealed_bytes);
}

/* sealed: what follows the size: a blank and the checksum, or, of older programs, nothing. */
static gboolean check_content(const char *path, const char *name, gint64 sealed_bytes, const char *sealed,
                              GError **error) {
    guint64 checksum;
    if (*sealed != ' ') return TRUE;
    if (manifest_checksum(path, name, sealed_bytes, &checksum) && checksum == g_ascii_strtoull(sealed + 1, NULL, 16))
        return TRUE;
    return fail(error, PLUMB_ERROR_CORRUPT,
                "store %s: %s is not as it was when the store was closed: restore the folder from a copy", path, name);
}

gboolean seal_check(const char *path, GError **error) {
    g_autofree char *name = NULL, *text = NULL;
    gint64 size_bytes;
    g_autofree char *seal = g_build_filename(path, SEAL_FILE, NULL);
    if (!current_manifest(path, &name, &size_bytes) || !g_file_get_contents(seal, &text, NULL, NULL)) return TRUE;
    gsize name_length = strlen(name);
    if (strncmp(text, name, name_length) != 0 || text[name_length] != ' ') return TRUE;

    char *end;
    gint64 sealed_bytes = g_ascii_strtoll(text + name_length + 1, &end, 10);
    return check_size(path, name, size_bytes, sealed_bytes, error) &&
           check_content(path, name, sealed_bytes, end, error);
}
