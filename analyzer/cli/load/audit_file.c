#include "analyzer/cli/load/audit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/error.h"

#define PIECE_BYTES (1u << 20)

typedef gboolean (*Take)(AuditPlan *plan, Bytes piece, GError **error);

/* As far as 'most_bytes': a log that grows meanwhile is the same both times. */
static gboolean go_through(int fd, gint64 most_bytes, AuditPlan *plan, Take take, GError **error) {
    g_autofree guint8 *piece = g_malloc(PIECE_BYTES);
    for (gint64 at = 0; at < most_bytes;) {
        const ssize_t n = pread(fd, piece, (gsize)MIN(most_bytes - at, PIECE_BYTES), (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_errno(error, errno, "it cannot be read");
        if (n == 0) return fail(error, PLUMB_ERROR_INPUT, "it became shorter while it was read");
        if (!take(plan, (Bytes){piece, (gsize)n}, error)) return FALSE;
        at += n;
    }
    return TRUE;
}

static gboolean is_packed(const guint8 *begin) {
    static const char *const magics[] = {"\x1f\x8b", "BZh",
                                         "\xfd"
                                         "7zX",
                                         "\x28\xb5\x2f\xfd"};
    for (guint i = 0; i < G_N_ELEMENTS(magics); i++)
        if (memcmp(begin, magics[i], strlen(magics[i])) == 0) return TRUE;
    return FALSE;
}

static gboolean plan_of(int fd, AuditPlan *plan, LoadPlanWrite write, void *arg, GError **error) {
    struct stat status;
    if (fstat(fd, &status) != 0) return fail_errno(error, errno, "it cannot be read");
    if (!S_ISREG(status.st_mode))
        return fail(error, PLUMB_ERROR_CONFIG, "an audit log is read twice: it must be a file, no pipe or folder");
    guint8 begin[4] = {0};
    if (pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin && is_packed(begin))
        return fail(error, PLUMB_ERROR_CONFIG,
                    "it is compressed: unpack it first, with gunzip, bunzip2, xz -d or zstd -d");
    return go_through(fd, status.st_size, plan, audit_plan_scan, error) && audit_plan_turn(plan, write, arg, error) &&
           go_through(fd, status.st_size, plan, audit_plan_read, error);
}

gboolean audit_file_plan(const char *path, AuditPlan *plan, LoadPlanWrite write, void *arg, GError **error) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(error, errno, "%s", path);
    const gboolean planned = plan_of(fd, plan, write, arg, error);
    if (!planned) g_prefix_error(error, "%s: ", path);
    close(fd);
    return planned;
}
