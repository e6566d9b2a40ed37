#include "analyzer/cli/format/out_file.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "analyzer/cli/format/partial_file.h"
#include "common/base/error.h"

#define BUFFER_BYTES ((gsize)256 * 1024)
#define ZSTD_LEVEL   3
#define GZIP_LEVEL   6

typedef enum { PACK_NONE, PACK_GZIP, PACK_ZSTD } Packing;

struct OutFile {
    PartialFile *partial; /* NULL: standard output */
    int fd;               /* of it */
    Packing packing;
    z_stream gzip;
    ZSTD_CStream *zstd;
    guint8 *buffer; /* BUFFER_BYTES, of the compressor */
};

static gboolean start_packing(OutFile *file, const char *path, GError **error) {
    if (g_str_has_suffix(path, ".gz")) {
        if (deflateInit2(&file->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            return fail(error, PLUMB_ERROR_IO, "zlib does not start");
        file->packing = PACK_GZIP;
    } else if (g_str_has_suffix(path, ".zst")) {
        file->zstd = ZSTD_createCStream();
        if (file->zstd == NULL) return fail(error, PLUMB_ERROR_IO, "zstd does not start");
        ZSTD_CCtx_setParameter(file->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
        ZSTD_CCtx_setParameter(file->zstd, ZSTD_c_checksumFlag, 1);
        file->packing = PACK_ZSTD;
    }
    if (file->packing != PACK_NONE) file->buffer = g_malloc(BUFFER_BYTES);
    return TRUE;
}

OutFile *out_file_open(const char *path, GError **error) {
    g_autoptr(OutFile) file = g_new0(OutFile, 1);
    file->fd = STDOUT_FILENO;
    if (path == NULL) return g_steal_pointer(&file);
    file->partial = partial_file_new(path, error);
    if (file->partial == NULL || !start_packing(file, path, error)) return NULL;
    file->fd = file->partial->fd;
    return g_steal_pointer(&file);
}

void out_file_free(OutFile *file) {
    if (file == NULL) return;
    if (file->packing == PACK_GZIP) deflateEnd(&file->gzip);
    ZSTD_freeCStream(file->zstd);
    partial_file_free(file->partial);
    g_free(file->buffer);
    g_free(file);
}

static gboolean write_all(OutFile *file, const guint8 *data, gsize size_bytes, GError **error) {
    while (size_bytes > 0) {
        ssize_t n = write(file->fd, data, size_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return fail_errno(error, errno, "cannot write %s",
                              file->partial != NULL ? file->partial->path : "to standard output");
        data += n;
        size_bytes -= (gsize)n;
    }
    return TRUE;
}

static gboolean deflate_all(OutFile *file, Bytes piece, gboolean last, GError **error) {
    z_stream *z = &file->gzip;
    z->next_in = (guint8 *)piece.data;
    z->avail_in = (uInt)piece.size_bytes;
    do {
        z->next_out = file->buffer;
        z->avail_out = (uInt)BUFFER_BYTES;
        deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
        if (!write_all(file, file->buffer, BUFFER_BYTES - z->avail_out, error)) return FALSE;
    } while (z->avail_out == 0);
    return TRUE;
}

static gboolean zstd_all(OutFile *file, Bytes piece, gboolean last, GError **error) {
    ZSTD_inBuffer in = {piece.data, piece.size_bytes, 0};
    gsize left;
    do {
        ZSTD_outBuffer out = {file->buffer, BUFFER_BYTES, 0};
        left = ZSTD_compressStream2(file->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return fail(error, PLUMB_ERROR_IO, "zstd: %s", ZSTD_getErrorName(left));
        if (!write_all(file, file->buffer, out.pos, error)) return FALSE;
    } while (last ? left > 0 : in.pos < in.size);
    return TRUE;
}

static gboolean pack(OutFile *file, Bytes piece, gboolean last, GError **error) {
    switch (file->packing) {
    case PACK_GZIP: return deflate_all(file, piece, last, error);
    case PACK_ZSTD: return zstd_all(file, piece, last, error);
    case PACK_NONE: return write_all(file, piece.data, piece.size_bytes, error);
    }
    g_assert_not_reached();
}

gboolean out_file_write(OutFile *file, Bytes piece, GError **error) { return pack(file, piece, FALSE, error); }

gboolean out_file_finish(OutFile *file, GError **error) {
    if (!pack(file, (Bytes){"", 0}, TRUE, error)) return FALSE;
    return file->partial == NULL ||
           (partial_file_complete(file->partial, error) && partial_file_publish(file->partial, error));
}
