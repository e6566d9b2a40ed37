#define _GNU_SOURCE /* fallocate */
#include "common/base/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/file.h"

/* The file grows by so much at once, or by a sixteenth: a small table costs no more of the disk. */
#define STEP_BYTES (256u * 1024)

struct Mapped {
    int fd; /* -1: in memory */
    guint8 *data;
    gsize limit_bytes;
    _Atomic gsize size_bytes; /* usable */
};

static gsize round_up(gsize bytes) { return (bytes + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES; }

/* Where pages are copied on writing, room that was asked for is not the page's, and a full disk would end the
 * process. */
static gboolean keeps_room(int fd) {
    static const guint32 copying[] = {BTRFS_SUPER_MAGIC,         NILFS_SUPER_MAGIC,
                                      F2FS_SUPER_MAGIC,          0x2fc12fc1 /* ZFS */,
                                      0xca451a4e /* bcachefs */, OVERLAYFS_SUPER_MAGIC /* what is below is not told */};
    struct statfs system;
    if (fstatfs(fd, &system) != 0) return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(copying); i++)
        if ((guint32)system.f_type == copying[i]) return FALSE;
    return TRUE;
}

/* A range that nobody may touch counts as no memory, however strictly the system counts. */
static gboolean map(Mapped *mapped, int fd) {
    const int kind = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *data = mmap(NULL, mapped->limit_bytes, PROT_NONE, kind | MAP_NORESERVE, fd, 0);
    if (data == MAP_FAILED) return FALSE;
    mapped->data = data;
    mapped->fd = fd;
    return TRUE;
}

static gboolean map_file(Mapped *mapped, const char *folder) {
    const int fd = file_open_unnamed(folder);
    if (fd < 0) return FALSE;
    if (keeps_room(fd) && map(mapped, fd)) return TRUE;
    close(fd);
    return FALSE;
}

Mapped *mapped_new(const char *folder, gsize limit_bytes, GError **error) {
    g_autoptr(Mapped) mapped = g_new0(Mapped, 1);
    mapped->fd = -1;
    mapped->limit_bytes = round_up(limit_bytes);
    if ((folder != NULL && map_file(mapped, folder)) || map(mapped, -1)) return g_steal_pointer(&mapped);
    fail_errno(error, errno, "cannot map %zu bytes", mapped->limit_bytes);
    return NULL;
}

gboolean mapped_in_memory(const Mapped *mapped) { return mapped->fd < 0; }

void mapped_free(Mapped *mapped) {
    if (mapped == NULL) return;
    if (mapped->data != NULL) munmap(mapped->data, mapped->limit_bytes);
    if (mapped->fd >= 0) close(mapped->fd);
    g_free(mapped);
}

/* The room must be the file's before a page is touched: a page that finds none on the disk ends the process. */
static gboolean take_room(const Mapped *mapped, gsize from, gsize bytes, GError **error) {
    if (mapped->fd < 0) return TRUE;
    int err = fallocate(mapped->fd, 0, (off_t)from, (off_t)bytes) == 0 ? 0 : errno;
    if (err == EOPNOTSUPP) err = posix_fallocate(mapped->fd, (off_t)from, (off_t)bytes);
    return err == 0 || fail_errno(error, err, "cannot enlarge a file to %zu bytes", from + bytes);
}

gboolean mapped_grow(Mapped *mapped, gsize size_bytes, GError **error) {
    gsize now = mapped->size_bytes;
    if (size_bytes <= now) return TRUE;
    if (size_bytes > mapped->limit_bytes)
        return fail(error, PLUMB_ERROR_LIMIT, "a table of %zu bytes: the limit is %zu", size_bytes,
                    mapped->limit_bytes);
    gsize wanted = MIN(mapped->limit_bytes, round_up(MAX(size_bytes, now + now / 16)));
    if (!take_room(mapped, now, wanted - now, error)) return FALSE;
    if (mprotect(mapped->data + now, wanted - now, PROT_READ | PROT_WRITE) != 0)
        return fail_errno(error, errno, "cannot use %zu bytes", wanted);
    mapped->size_bytes = wanted;
    return TRUE;
}

void *mapped_data(const Mapped *mapped) { return mapped->data; }

void mapped_rest(Mapped *mapped) {
    if (mapped->fd >= 0 && mapped->size_bytes > 0) (void)madvise(mapped->data, mapped->size_bytes, MADV_DONTNEED);
}
