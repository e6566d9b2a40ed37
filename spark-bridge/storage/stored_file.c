#include "spark-bridge/storage/stored_file.h"

#include <string.h>
#include <unistd.h>

#include "spark-bridge/storage/stored_file_kinds.h"

Storage *storage_new(const StorageOptions *options) {
    Storage *storage = g_new0(Storage, 1);
    storage->options = *options;
    const char *user = options->user != NULL ? options->user : g_getenv("HADOOP_USER_NAME");
    storage->user = g_strdup(user != NULL && user[0] != '\0' ? user : g_get_user_name());
    return storage;
}

void storage_free(Storage *storage) {
    if (storage == NULL) return;
    webhdfs_free(storage->web);
    g_free(storage->user);
    g_free(storage);
}

void stored_facts_clear(StoredFacts *facts) { g_clear_pointer(&facts->name, g_free); }

static void clear_entry(gpointer entry) { stored_facts_clear(entry); }

gboolean storage_is_remote(const char *path) {
    return g_str_has_prefix(path, "webhdfs://") || g_str_has_prefix(path, "swebhdfs://");
}

static const StoredOps *ops_of(const char *path) { return storage_is_remote(path) ? &stored_webhdfs : &stored_local; }

gboolean storage_look(Storage *storage, const char *path, StoredFacts *facts, GError **error) {
    return ops_of(path)->look(storage, path, facts, error);
}

static gint by_name(gconstpointer a, gconstpointer b) {
    return strcmp(((const StoredFacts *)a)->name, ((const StoredFacts *)b)->name);
}

GArray *storage_list(Storage *storage, const char *path, GError **error) {
    g_autoptr(GArray) entries = g_array_new(FALSE, TRUE, sizeof(StoredFacts));
    g_array_set_clear_func(entries, clear_entry);
    if (!ops_of(path)->list(storage, path, entries, error)) return NULL;
    g_array_sort(entries, by_name);
    return g_steal_pointer(&entries);
}

char *storage_join(const char *folder, const char *name) {
    return g_strconcat(folder, g_str_has_suffix(folder, "/") ? "" : "/", name, NULL);
}

StoredFile *stored_file_open(Storage *storage, const char *path, GError **error) {
    g_autoptr(StoredFile) file = g_new0(StoredFile, 1);
    file->ops = ops_of(path);
    file->storage = storage;
    file->path = g_strdup(path);
    file->fd = -1;
    return file->ops->open(file, error) ? g_steal_pointer(&file) : NULL;
}

void stored_file_close(StoredFile *file) {
    if (file == NULL) return;
    if (file->fd >= 0) close(file->fd);
    g_free(file->path);
    g_free(file);
}

const char *stored_file_path(const StoredFile *file) { return file->path; }

guint64 stored_file_id(const StoredFile *file) { return file->id; }

gssize stored_file_read(StoredFile *file, guint64 offset, void *to, gsize size_bytes, GError **error) {
    return file->ops->read(file, offset, to, size_bytes, error);
}
