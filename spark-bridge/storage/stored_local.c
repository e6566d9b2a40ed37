/* Files of this machine. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "spark-bridge/storage/stored_file_kinds.h"

static gboolean fail_path(GError **error, int err, const char *what, const char *path) {
    if (err == ENOENT || err == ENOTDIR) return fail(error, PLUMB_ERROR_NOT_FOUND, "%s: no such file or folder", path);
    if (err == EACCES || err == EPERM)
        return fail(error, PLUMB_ERROR_IO,
                    "cannot %s %s: no permission; run as a user who may (Spark gives event logs mode 660: its user or "
                    "group), or change the rights",
                    what, path);
    return fail_errno(error, err, "cannot %s %s", what, path);
}

static void take_facts(StoredFacts *facts, const char *name, const struct stat *st) {
    facts->name = g_strdup(name);
    facts->id = st->st_ino;
    facts->size_bytes = (guint64)st->st_size;
    facts->changed_ms = (gint64)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / NS_PER_MS;
    facts->folder = S_ISDIR(st->st_mode);
    facts->open = FALSE;
}

static gboolean local_look(Storage *storage G_GNUC_UNUSED, const char *path, StoredFacts *facts, GError **error) {
    struct stat st;
    if (stat(path, &st) != 0) return fail_path(error, errno, "read", path);
    g_autofree char *name = g_path_get_basename(path);
    *facts = (StoredFacts){0};
    take_facts(facts, name, &st);
    return TRUE;
}

static gboolean local_list(Storage *storage G_GNUC_UNUSED, const char *path, GArray *entries, GError **error) {
    DIR *folder = opendir(path);
    if (folder == NULL) return fail_path(error, errno, "list", path);
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        g_autofree char *child = storage_join(path, name);
        struct stat st;
        if (stat(child, &st) != 0) continue; /* removed meanwhile */
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) continue;
        StoredFacts facts = {0};
        take_facts(&facts, name, &st);
        g_array_append_val(entries, facts);
    }
    closedir(folder);
    return TRUE;
}

static gboolean local_open(StoredFile *file, GError **error) {
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (file->fd < 0 || fstat(file->fd, &st) != 0) return fail_path(error, errno, "read", file->path);
    if (!S_ISREG(st.st_mode))
        return fail(error, PLUMB_ERROR_IO, "cannot read %s: it is no regular file, so reading could not be resumed",
                    file->path);
    file->id = st.st_ino;
    posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return TRUE;
}

static gssize local_read(StoredFile *file, guint64 offset, void *to, gsize size_bytes, GError **error) {
    for (;;) {
        const gssize n = pread(file->fd, to, size_bytes, (off_t)offset);
        if (n >= 0) return n;
        if (errno == EINTR) continue;
        fail_path(error, errno, "read", file->path);
        return -1;
    }
}

const StoredOps stored_local = {local_look, local_list, local_open, local_read};
