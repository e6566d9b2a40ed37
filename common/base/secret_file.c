#include "common/base/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/error.h"

/* A key has some kilobytes; of tokens there may be thousands. */
#define SECRET_MAX_BYTES (1024u * 1024)

static gboolean check(int fd, const char *path, gsize *size_bytes, GError **error) {
    struct stat about;
    if (fstat(fd, &about) != 0) return fail_errno(error, errno, "%s", path);
    if (!S_ISREG(about.st_mode)) return fail(error, PLUMB_ERROR_CONFIG, "%s is no file", path);
    if (about.st_uid != 0 && about.st_uid != geteuid())
        return fail(error, PLUMB_ERROR_CONFIG, "%s belongs to another user: chown it to the user that reads it", path);
    if ((about.st_mode & 077) != 0)
        return fail(error, PLUMB_ERROR_CONFIG, "%s: others can read or change it: chmod 600 %s", path, path);
    if (about.st_size > SECRET_MAX_BYTES)
        return fail(error, PLUMB_ERROR_CONFIG, "%s is larger than any key or list of tokens", path);
    *size_bytes = (gsize)about.st_size;
    return TRUE;
}

static gboolean read_all(int fd, char *into, gsize size_bytes) {
    for (gsize have = 0; have < size_bytes;) {
        const ssize_t got = read(fd, into + have, size_bytes - have);
        if (got <= 0) {
            if (got == 0) errno = EIO; /* it became shorter meanwhile */
            return FALSE;
        }
        have += (gsize)got;
    }
    return TRUE;
}

char *secret_file_read(const char *path, gsize *size_bytes, GError **error) {
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (errno == ELOOP)
            fail(error, PLUMB_ERROR_CONFIG, "%s is a link: name the file itself", path);
        else
            fail_errno(error, errno, "%s", path);
        return NULL;
    }

    gsize size = 0;
    char *secret = NULL;
    if (check(fd, path, &size, error)) {
        secret = g_malloc0(size + 1);
        if (!read_all(fd, secret, size)) {
            fail_errno(error, errno, "%s", path);
            secret_free(secret, size);
            secret = NULL;
        }
    }
    close(fd);
    if (secret != NULL) *size_bytes = size;
    return secret;
}

void secret_free(char *secret, gsize size_bytes) {
    if (secret == NULL) return;
    explicit_bzero(secret, size_bytes);
    g_free(secret);
}
