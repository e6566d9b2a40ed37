#define _GNU_SOURCE
#include "tests/faults/fault_files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/faults/fault_disk.h"

#define DESCRIPTORS 4096

/* What a call does; each kind of fault strikes some of them. */
typedef enum { CALL_WRITE = 1, CALL_GROW = 2, CALL_CHANGE = 4, CALL_SYNC = 8, CALL_READ = 16 } CallSort;

static const struct {
    const char *name;
    guint sorts;
    int problem;
} kinds[FAULT_KINDS] = {
    [FAULT_NO_SPACE] = {"no-space", CALL_WRITE | CALL_GROW, ENOSPC},
    [FAULT_IO_ERROR] = {"io-error", CALL_WRITE | CALL_GROW | CALL_CHANGE, EIO},
    [FAULT_SHORT_WRITE] = {"short-write", CALL_WRITE, ENOSPC},
    [FAULT_FAILED_SYNC] = {"failed-sync", CALL_SYNC, EIO},
    [FAULT_DYING_DISK] = {"dying-disk", CALL_WRITE | CALL_GROW | CALL_CHANGE | CALL_SYNC, EIO},
    [FAULT_NO_RIGHTS] = {"no-rights", CALL_GROW | CALL_CHANGE, EACCES},
    [FAULT_FAILED_READ] = {"failed-read", CALL_READ, EIO},
    [FAULT_HANGING_SYNC] = {"hanging-sync", CALL_SYNC, 0},
    [FAULT_BAD_SECTOR] = {"bad-sector", 0, EIO},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[4096];
static FaultKind kind;
static guint at, lasts, calls;    /* under the lock */
static gint64 lasts_ns, until_ns; /* instead of a number of calls; 0: no end known yet */
static _Atomic guint8 watched[DESCRIPTORS];
static const char *count_file;
static guint bad_inode; /* only this file has bad sectors; 0: all have */
static struct timespec sync_takes;

const char *fault_kind_name(FaultKind which) { return kinds[which].name; }

void faults_set(const char *below, FaultKind which, guint from, guint how_long) {
    pthread_mutex_lock(&lock);
    g_strlcpy(folder, below, sizeof folder);
    kind = which;
    at = from;
    lasts = how_long;
    calls = 0;
    pthread_mutex_unlock(&lock);
}

guint faults_clear(void) {
    pthread_mutex_lock(&lock);
    guint counted = calls;
    folder[0] = '\0';
    at = calls = 0;
    pthread_mutex_unlock(&lock);
    return counted;
}

static gboolean below_folder(const char *path) {
    const size_t length = strlen(folder);
    return length > 0 && path != NULL && strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || path[length] == '\0');
}

static gboolean watched_fd(int fd) { return fd >= 0 && fd < DESCRIPTORS && atomic_load(&watched[fd]); }

static gint64 now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Of a call whose number is 'at' or later. */
static gboolean lasts_still(void) {
    if (lasts_ns == 0) return lasts == 0 || calls < at + lasts;
    if (until_ns == 0) until_ns = now_ns() + lasts_ns;
    return now_ns() < until_ns;
}

/* Counts a call; TRUE with errno set when it shall fail. */
static gboolean strikes(CallSort sort) {
    pthread_mutex_lock(&lock);
    gboolean counted = folder[0] != '\0' && (kinds[kind].sorts & sort);
    if (counted) calls++;
    gboolean fails = counted && at > 0 && calls >= at && lasts_still();
    int problem = kinds[kind].problem;
    pthread_mutex_unlock(&lock);
    while (fails && problem == 0) pause();
    if (fails) errno = problem;
    return fails;
}

static gboolean is_short(void) { return kind == FAULT_SHORT_WRITE; }

static void *next_function(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

/* 'next' is the function that would have been called without us. */
#define NEXT(name)                                                                                                     \
    static __typeof__(&(name)) next;                                                                                   \
    if (next == NULL) next = (__typeof__(&(name)))next_function(#name);

/* Is something of it unreadable? */
static gboolean hits_bad_sector(int fd, off_t offset, size_t size) {
    pthread_mutex_lock(&lock);
    const off_t from = ((off_t)at - 1) * FAULT_SECTOR_BYTES, to = from + (off_t)lasts * FAULT_SECTOR_BYTES;
    gboolean hits = kind == FAULT_BAD_SECTOR && at > 0 && offset < to && offset + (off_t)size > from;
    pthread_mutex_unlock(&lock);
    struct stat file;
    if (hits && bad_inode > 0) hits = fstat(fd, &file) == 0 && file.st_ino == bad_inode;
    if (hits) errno = EIO;
    return hits;
}

static int opened(int fd, gboolean ours, gboolean made) {
    if (fd < 0 || fd >= DESCRIPTORS) return fd;
    atomic_store(&watched[fd], ours);
    if (ours && fault_disk_runs()) fault_disk_opened(fd, made);
    return fd;
}

static gboolean makes(int dir, const char *path, int flags) {
    return (flags & O_CREAT) != 0 && fault_disk_runs() && faccessat(dir, path, F_OK, 0) != 0;
}

/* What a call that wrote returned. */
static ssize_t wrote(int fd, off_t offset, ssize_t size) {
    if (size > 0 && watched_fd(fd) && fault_disk_runs()) fault_disk_written(fd, offset, (gsize)size);
    return size;
}

/* The same, where the descriptor is after it. */
static ssize_t wrote_on(int fd, ssize_t size) {
    if (size > 0 && watched_fd(fd) && fault_disk_runs()) wrote(fd, lseek(fd, 0, SEEK_CUR) - size, size);
    return size;
}

/* ---- the functions that stand in the way ---- */

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(arguments, unsigned) : 0;
}

#define OPEN_FUNCTION(name)                                                                                            \
    int name(const char *path, int flags, ...);                                                                        \
    int name(const char *path, int flags, ...) {                                                                       \
        NEXT(name)                                                                                                     \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = mode_of(flags, arguments);                                                                       \
        va_end(arguments);                                                                                             \
        if (flags & O_CREAT && below_folder(path) && strikes(CALL_GROW)) return -1;                                    \
        const gboolean made = makes(AT_FDCWD, path, flags);                                                            \
        return opened(next(path, flags, mode), below_folder(path), made);                                              \
    }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)

/* Paths relative to a descriptor: those of a watched folder. */
#define OPENAT_FUNCTION(name)                                                                                          \
    int name(int dir, const char *path, int flags, ...);                                                               \
    int name(int dir, const char *path, int flags, ...) {                                                              \
        NEXT(name)                                                                                                     \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = mode_of(flags, arguments);                                                                       \
        va_end(arguments);                                                                                             \
        gboolean ours = below_folder(path) || (path[0] != '/' && watched_fd(dir));                                     \
        if (flags & O_CREAT && ours && strikes(CALL_GROW)) return -1;                                                  \
        const gboolean made = makes(dir, path, flags);                                                                 \
        return opened(next(dir, path, flags, mode), ours, made);                                                       \
    }
OPENAT_FUNCTION(openat)
OPENAT_FUNCTION(openat64)

int close(int fd) {
    NEXT(close)
    if (fd >= 0 && fd < DESCRIPTORS) atomic_store(&watched[fd], 0);
    return next(fd);
}

ssize_t write(int fd, const void *data, size_t size) {
    NEXT(write)
    if (!watched_fd(fd) || !strikes(CALL_WRITE)) return wrote_on(fd, next(fd, data, size));
    return is_short() && size > 1 ? wrote_on(fd, next(fd, data, size / 2)) : -1;
}

#define PWRITE_FUNCTION(name)                                                                                          \
    ssize_t name(int fd, const void *data, size_t size, off_t offset);                                                 \
    ssize_t name(int fd, const void *data, size_t size, off_t offset) {                                                \
        NEXT(name)                                                                                                     \
        if (!watched_fd(fd) || !strikes(CALL_WRITE)) return wrote(fd, offset, next(fd, data, size, offset));           \
        return is_short() && size > 1 ? wrote(fd, offset, next(fd, data, size / 2, offset)) : -1;                      \
    }
PWRITE_FUNCTION(pwrite)
PWRITE_FUNCTION(pwrite64)

/* Half of many pieces: the first piece, or half of an only one. */
static struct iovec some_of(const struct iovec *pieces, int n) {
    struct iovec piece = pieces[0];
    if (n == 1) piece.iov_len /= 2;
    return piece;
}

ssize_t writev(int fd, const struct iovec *pieces, int n) {
    NEXT(writev)
    if (!watched_fd(fd) || !strikes(CALL_WRITE)) return wrote_on(fd, next(fd, pieces, n));
    const struct iovec some = some_of(pieces, n);
    return is_short() && some.iov_len > 0 ? wrote_on(fd, next(fd, &some, 1)) : -1;
}

#define PWRITEV_FUNCTION(name)                                                                                         \
    ssize_t name(int fd, const struct iovec *pieces, int n, off_t offset);                                             \
    ssize_t name(int fd, const struct iovec *pieces, int n, off_t offset) {                                            \
        NEXT(name)                                                                                                     \
        if (!watched_fd(fd) || !strikes(CALL_WRITE)) return wrote(fd, offset, next(fd, pieces, n, offset));            \
        const struct iovec some = some_of(pieces, n);                                                                  \
        return is_short() && some.iov_len > 0 ? wrote(fd, offset, next(fd, &some, 1, offset)) : -1;                    \
    }
PWRITEV_FUNCTION(pwritev)
PWRITEV_FUNCTION(pwritev64)

#define READ_FUNCTION(name)                                                                                            \
    ssize_t name(int fd, void *data, size_t size, off_t offset);                                                       \
    ssize_t name(int fd, void *data, size_t size, off_t offset) {                                                      \
        NEXT(name)                                                                                                     \
        const gboolean fails = watched_fd(fd) && (strikes(CALL_READ) || hits_bad_sector(fd, offset, size));            \
        return fails ? -1 : next(fd, data, size, offset);                                                              \
    }
READ_FUNCTION(pread)
READ_FUNCTION(pread64)

ssize_t read(int fd, void *data, size_t size) {
    NEXT(read)
    return watched_fd(fd) && strikes(CALL_READ) ? -1 : next(fd, data, size);
}

/* A sync that does not fail does nothing: what the kernel has outlives the process, and disks are slow. */
#define SYNC_FUNCTION(name)                                                                                            \
    int name(int fd) {                                                                                                 \
        NEXT(name)                                                                                                     \
        if (!watched_fd(fd)) return next(fd);                                                                          \
        nanosleep(&sync_takes, NULL);                                                                                  \
        const gboolean fails = strikes(CALL_SYNC);                                                                     \
        const int problem = errno;                                                                                     \
        if (fault_disk_runs()) (fails ? fault_disk_lost : fault_disk_synced)(fd);                                      \
        errno = problem;                                                                                               \
        return fails ? -1 : 0;                                                                                         \
    }
SYNC_FUNCTION(fsync)
SYNC_FUNCTION(fdatasync)

/* No promise depends on it. */
int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags) {
    NEXT(sync_file_range)
    return watched_fd(fd) ? 0 : next(fd, offset, size, flags);
}

#define FALLOCATE_FUNCTION(name)                                                                                       \
    int name(int fd, int mode, off_t offset, off_t size);                                                              \
    int name(int fd, int mode, off_t offset, off_t size) {                                                             \
        NEXT(name)                                                                                                     \
        return watched_fd(fd) && strikes(CALL_GROW) ? -1 : next(fd, mode, offset, size);                               \
    }
FALLOCATE_FUNCTION(fallocate)
FALLOCATE_FUNCTION(fallocate64)

#define TRUNCATE_FUNCTION(name)                                                                                        \
    int name(int fd, off_t size);                                                                                      \
    int name(int fd, off_t size) {                                                                                     \
        NEXT(name)                                                                                                     \
        return watched_fd(fd) && strikes(CALL_CHANGE) ? -1 : next(fd, size);                                           \
    }
TRUNCATE_FUNCTION(ftruncate)
TRUNCATE_FUNCTION(ftruncate64)

int mkdir(const char *path, mode_t mode) {
    NEXT(mkdir)
    return below_folder(path) && strikes(CALL_GROW) ? -1 : next(path, mode);
}

int rename(const char *from, const char *to) {
    NEXT(rename)
    return below_folder(to) && strikes(CALL_CHANGE) ? -1 : next(from, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
    NEXT(renameat2)
    return below_folder(to) && strikes(CALL_CHANGE) ? -1 : next(from_dir, from, to_dir, to, flags);
}

int link(const char *from, const char *to) {
    NEXT(link)
    return below_folder(to) && strikes(CALL_CHANGE) ? -1 : next(from, to);
}

int unlink(const char *path) {
    NEXT(unlink)
    return below_folder(path) && strikes(CALL_CHANGE) ? -1 : next(path);
}

/* ---- preloaded ---- */

static guint number_of(const char *name) {
    const char *text = getenv(name);
    return text ? (guint)strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void preloaded(void) {
    const char *below = getenv("PLUMB_FAULT_FOLDER"), *wanted = getenv("PLUMB_FAULT_KIND");
    if (below == NULL || wanted == NULL) return;
    FaultKind which = FAULT_NO_SPACE;
    while (which < FAULT_KINDS && strcmp(kinds[which].name, wanted) != 0) which++;
    if (which == FAULT_KINDS) {
        fprintf(stderr, "PLUMB_FAULT_KIND: there is no kind '%s'\n", wanted);
        _exit(2);
    }
    bad_inode = number_of("PLUMB_FAULT_INODE");
    count_file = getenv("PLUMB_FAULT_COUNT");
    lasts_ns = (gint64)number_of("PLUMB_FAULT_MS") * 1000000;
    sync_takes.tv_nsec = (long)number_of("PLUMB_FAULT_SYNC_MS") * 1000000;
    const char *copy = getenv("PLUMB_FAULT_DISK");
    if (copy != NULL) fault_disk_begin(below, copy);
    faults_set(below, which, number_of("PLUMB_FAULT_AT"), number_of("PLUMB_FAULT_LASTS"));
}

__attribute__((destructor)) static void ended(void) {
    if (count_file == NULL) return;
    FILE *file = fopen(count_file, "w");
    if (file == NULL) return;
    fprintf(file, "%u\n", faults_clear());
    fclose(file);
}
