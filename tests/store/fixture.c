#include "tests/store/fixture.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "common/store/store_ops.h"

gboolean merge_concatenate(Bytes existing, const Bytes *operands, gsize n, GByteArray *out) {
    if (existing.data != NULL) append_bytes(out, existing.data, existing.size_bytes);
    for (gsize i = 0; i < n; i++) {
        if (operands[i].size_bytes > 0 && *(const char *)operands[i].data == '!') return FALSE;
        append_bytes(out, operands[i].data, operands[i].size_bytes);
    }
    return TRUE;
}

char *folder_new(void) {
    g_autoptr(GError) error = NULL;
    char *folder = g_dir_make_tmp("plumb-store-XXXXXX", &error);
    g_assert_no_error(error);
    return folder;
}

static void remove_all(const char *folder) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
            remove_all(path);
        else
            g_unlink(path);
    }
    g_rmdir(folder);
}

void folder_remove(char *folder) {
    remove_all(folder);
    g_free(folder);
}

void file_write(const char *path, const char *content, gsize size) {
    FILE *file = fopen(path, "w");
    g_assert_nonnull(file);
    g_assert_cmpuint(fwrite(content, 1, size, file), ==, size);
    fclose(file);
}

void folder_copy(const char *from, const char *to) {
    g_assert_cmpint(g_mkdir_with_parents(to, 0700), ==, 0);
    g_autoptr(GDir) dir = g_dir_open(from, 0, NULL);
    g_assert_nonnull(dir);
    const char *name;
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *source = g_build_filename(from, name, NULL), *target = g_build_filename(to, name, NULL);
        g_autofree char *content = NULL;
        gsize size;
        g_assert_true(g_file_get_contents(source, &content, &size, NULL));
        file_write(target, content, size);
    }
}

StoreOptions small_options(const char *path) {
    return (StoreOptions){
        .path = path, .merge = merge_concatenate, .write_buffer_bytes = 1 << 20, .cache_bytes = 1 << 20};
}

void assert_value(Store *store, StoreFamily family, const char *key, const char *value) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) found = NULL;
    store_get(store, family, text(key), &found, &error);
    g_assert_no_error(error);
    if (value == NULL) {
        g_assert_null(found);
        return;
    }
    g_assert_nonnull(found);
    gsize size;
    const void *data = g_bytes_get_data(found, &size);
    g_assert_cmpmem(data, size, value, strlen(value));
}

void put(Store *store, StoreFamily family, const char *key, const char *value) {
    g_autoptr(GError) error = NULL;
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    store_batch_put(batch, family, text(key), text(value));
    store_write(store, batch, FALSE, &error);
    g_assert_no_error(error);
}

char *store_dump(Store *store, GError **error) {
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint family = 0; family < FAMILY_COUNT; family++) {
        g_autoptr(StoreIter) iter = store_iter_new(store, (StoreFamily)family);
        for (gboolean more = store_iter_seek(iter, text("")); more; more = store_iter_next(iter)) {
            Bytes key = store_iter_key(iter), value = store_iter_value(iter);
            g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA1, value.data, value.size_bytes);
            g_string_append_printf(out, "%s %.*s %s\n", store_family_name((StoreFamily)family), (int)key.size_bytes,
                                   (const char *)key.data, sum);
        }
        if (!store_iter_error(iter, error)) return NULL;
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}
