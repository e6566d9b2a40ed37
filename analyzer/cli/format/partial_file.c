#include "analyzer/cli/format/partial_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/error.h"

PartialFile *partial_file_new(const char *path, GError **error) {
    g_autoptr(PartialFile) file = g_new0(PartialFile, 1);
    file->path = g_strdup(path);
    file->temporary = g_strdup_printf("%s.partial-XXXXXX", path);
    file->fd = g_mkstemp_full(file->temporary, O_WRONLY | O_CLOEXEC, 0600);
    if (file->fd >= 0) return g_steal_pointer(&file);
    int err = errno;
    g_clear_pointer(&file->temporary, g_free);
    fail_errno(error, err, "cannot write %s", path);
    return NULL;
}

/* Temporary files are made for their owner only; a finished one gets what the umask allows. */
static void set_usual_mode(int fd) {
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, 0666 & ~mask);
}

gboolean partial_file_complete(PartialFile *file, GError **error) {
    set_usual_mode(file->fd);
    if (fdatasync(file->fd) != 0) return fail_errno(error, errno, "cannot write %s", file->path);
    int closed = close(file->fd);
    file->fd = -1;
    return closed == 0 || fail_errno(error, errno, "cannot write %s", file->path);
}

gboolean partial_file_publish(PartialFile *file, GError **error) {
    if (rename(file->temporary, file->path) != 0) return fail_errno(error, errno, "cannot name %s", file->path);
    g_clear_pointer(&file->temporary, g_free);
    return TRUE;
}

void partial_file_free(PartialFile *file) {
    if (file == NULL) return;
    if (file->fd >= 0) close(file->fd);
    if (file->temporary != NULL) unlink(file->temporary);
    g_free(file->temporary);
    g_free(file->path);
    g_free(file);
}
