#define _GNU_SOURCE /* O_TMPFILE, mkostemp */
#include "common/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

int file_open_unnamed(const char *folder) {
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    /* Not every file system has files that never had a name. */
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
    g_autofree char *path = g_build_filename(folder, "plumb-XXXXXX", NULL);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

int file_lock(const char *path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    const int err = errno;
    close(fd);
    errno = err;
    return -1;
}
