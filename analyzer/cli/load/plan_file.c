#include "analyzer/cli/load/plan_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "analyzer/cli/format/out_file.h"
#include "common/base/error.h"

#define PIECE_BYTES (1u << 20)

static gboolean read_all(int fd, const char *path, LoadPlanReader *reader, GError **error) {
    g_autofree guint8 *piece = g_malloc(PIECE_BYTES);
    gboolean sound = TRUE;
    for (ssize_t n = 1; sound && n != 0;) {
        n = read(fd, piece, PIECE_BYTES);
        if (n > 0) sound = load_plan_read(reader, (Bytes){piece, (gsize)n}, error);
        if (n < 0 && errno != EINTR) sound = fail_errno(error, errno, "%s", path);
    }
    return sound;
}

gboolean plan_file_check(const char *path, LoadModel *model, GError **error) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(error, errno, "%s", path);
    g_autoptr(LoadPlanReader) reader = load_plan_reader_new(NULL, NULL);
    LoadPlanSums sums;
    const gboolean sound = read_all(fd, path, reader, error);
    close(fd);

    if (sound && load_plan_read_end(reader, &sums, error) && (model == NULL || load_plan_model(reader, model, error)))
        return TRUE;
    if (!g_error_matches(*error, PLUMB_ERROR, PLUMB_ERROR_IO)) g_prefix_error(error, "%s: ", path);
    return FALSE;
}

static gboolean write_piece(void *arg, Bytes piece, GError **error) { return out_file_write(arg, piece, error); }

gboolean plan_file_draw(const char *path, const LoadModel *model, LoadPlanSums *sums, GError **error) {
    LoadPlanSums drawn;
    g_autoptr(OutFile) file = out_file_open(path, error);
    if (file == NULL || !load_plan_draw(model, write_piece, file, &drawn, error) || !out_file_finish(file, error))
        return FALSE;
    if (sums != NULL) *sums = drawn;
    return TRUE;
}
