#include "receiver/journal/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/error.h"

#define STEP_BYTES ((gsize)1024 * 1024)
/* Where a step cannot be read, it is read again in pieces of this size: as little as possible is lost. */
#define PIECE_BYTES ((gsize)4096)
/* So much leaves memory at once. */
#define DROP_BYTES (4 * STEP_BYTES)

struct JournalFile {
    int fd;
    guint8 *data; /* NULL: the file is empty */
    gsize size_bytes;
    gsize dropped_bytes, read_bytes; /* what lies between them is in memory */
    gsize unreadable_bytes;
    int why;
};

static gboolean open_file(JournalFile *file, const char *path) {
    struct stat info;
    file->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &info) != 0) return FALSE;
    if (info.st_size == 0) return TRUE;
    void *data =
        mmap(NULL, (gsize)info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return FALSE;
    file->data = data;
    file->size_bytes = (gsize)info.st_size;
    return TRUE;
}

JournalFile *journal_file_open(const char *path, GError **error) {
    g_autoptr(JournalFile) file = g_new0(JournalFile, 1);
    file->fd = -1;
    if (open_file(file, path)) return g_steal_pointer(&file);
    fail_errno(error, errno, "cannot read %s", path);
    return NULL;
}

void journal_file_close(JournalFile *file) {
    if (!file) return;
    if (file->data) munmap(file->data, file->size_bytes);
    if (file->fd >= 0) close(file->fd);
    g_free(file);
}

/* FALSE: not all of it, as the disk fails or somebody has cut the file. */
static gboolean read_all(JournalFile *file, gsize from, gsize until) {
    while (from < until) {
        const ssize_t n = pread(file->fd, file->data + from, until - from, (off_t)from);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            file->why = n < 0 ? errno : EIO;
            return FALSE;
        }
        from += (gsize)n;
    }
    return TRUE;
}

static void read_pieces(JournalFile *file, gsize from, gsize until) {
    for (gsize at = from; at < until; at += PIECE_BYTES) {
        const gsize end = MIN(at + PIECE_BYTES, until);
        if (read_all(file, at, end)) continue;
        memset(file->data + at, 0, end - at); /* a part of it may have come */
        file->unreadable_bytes += end - at;
    }
}

static void need(void *arg, gsize from, gsize until) {
    JournalFile *file = arg;
    for (; from >= file->dropped_bytes + DROP_BYTES && file->read_bytes >= file->dropped_bytes + DROP_BYTES;
         file->dropped_bytes += DROP_BYTES)
        madvise(file->data + file->dropped_bytes, DROP_BYTES, MADV_DONTNEED);
    until = MIN(until, file->size_bytes);
    while (file->read_bytes < until) {
        const gsize end = MIN(file->read_bytes + STEP_BYTES, file->size_bytes);
        if (!read_all(file, file->read_bytes, end)) read_pieces(file, file->read_bytes, end);
        file->read_bytes = end;
    }
}

Bytes journal_file_bytes(const JournalFile *file) { return (Bytes){file->data, file->size_bytes}; }

JournalSource journal_file_source(JournalFile *file) { return (JournalSource){need, file}; }

gsize journal_file_unreadable_bytes(const JournalFile *file, int *why) {
    *why = file->why;
    return file->unreadable_bytes;
}
