#include "analyzer/cli/import/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/base/error.h"

#define PIECE_BYTES ((gsize)1024 * 1024)
#define MAGIC_BYTES 4

typedef enum { KIND_UNKNOWN, KIND_PLAIN, KIND_GZIP, KIND_ZSTD } InputKind;

struct Input {
    char *name;
    int fd;
    gboolean owned; /* fd is closed at the end */
    gboolean pipe;  /* reading may wait for somebody */
    gboolean told_idle;
    InputKind kind;
    guint8 *raw; /* PIECE_BYTES as read; [raw_at, raw_end) is not used yet */
    gsize raw_at, raw_end;
    gboolean at_end;
    guint64 position;
    guint64 file_bytes; /* 0: unknown */
    guint8 *decoded;    /* PIECE_BYTES; NULL for plain input */
    z_stream gzip;
    ZSTD_DStream *zstd;
    gboolean within; /* a gzip member or zstd frame has begun and not ended */
    char *damage;    /* what is wrong with the compressed data; NULL: nothing yet */
};

Input *input_open(const char *path, GError **error) {
    gboolean standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (fd < 0 || fstat(fd, &facts) != 0) {
        fail_errno(error, errno, "cannot read %s", path);
        if (fd >= 0 && !standard) close(fd);
        return NULL;
    }

    if (S_ISDIR(facts.st_mode)) {
        fail_errno(error, EISDIR, "cannot read %s", path);
        if (!standard) close(fd);
        return NULL;
    }

    Input *input = g_new0(Input, 1);
    input->name = g_strdup(standard ? "standard input" : path);
    input->fd = fd;
    input->owned = !standard;
    input->pipe = !S_ISREG(facts.st_mode);
    input->file_bytes = S_ISREG(facts.st_mode) ? (guint64)facts.st_size : 0;
    input->raw = g_malloc(PIECE_BYTES);
    return input;
}

void input_close(Input *input) {
    if (input == NULL) return;
    if (input->kind == KIND_GZIP) inflateEnd(&input->gzip);
    ZSTD_freeDStream(input->zstd);
    if (input->owned) close(input->fd);
    g_free(input->raw);
    g_free(input->decoded);
    g_free(input->damage);
    g_free(input->name);
    g_free(input);
}

int input_fd(const Input *input) { return input->fd; }

gboolean input_compressed(const Input *input) { return input->kind == KIND_GZIP || input->kind == KIND_ZSTD; }

guint64 input_position(const Input *input) { return input->position; }

double input_fraction(const Input *input) {
    if (input->file_bytes == 0) return -1;
    return MIN(1.0, (double)input->position / (double)input->file_bytes);
}

gboolean input_rewind(Input *input, GError **error) {
    g_assert(!input_compressed(input));
    if (lseek(input->fd, 0, SEEK_SET) != 0)
        return fail_errno(error, errno, "cannot go back to the begin of %s", input->name);
    input->position = 0;
    input->raw_at = input->raw_end = 0;
    input->at_end = FALSE;
    return TRUE;
}

/* Appends what one read(2) gives to the raw bytes; sets at_end. */
static gboolean read_more(Input *input, GError **error) {
    for (;;) {
        ssize_t n = read(input->fd, input->raw + input->raw_end, PIECE_BYTES - input->raw_end);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_errno(error, errno, "cannot read %s", input->name);
        input->at_end = n == 0;
        input->raw_end += (gsize)n;
        input->position += (guint64)n;
        return TRUE;
    }
}

static gboolean begin_decoding(Input *input, GError **error) {
    static const guint8 gzip_magic[] = {0x1f, 0x8b}, zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    gsize n = input->raw_end;
    input->kind = KIND_PLAIN;
    if (n >= sizeof gzip_magic && memcmp(input->raw, gzip_magic, sizeof gzip_magic) == 0) {
        if (inflateInit2(&input->gzip, 15 + 16) != Z_OK) return fail(error, PLUMB_ERROR_IO, "zlib does not start");
        input->kind = KIND_GZIP;
    } else if (n >= sizeof zstd_magic && memcmp(input->raw, zstd_magic, sizeof zstd_magic) == 0) {
        input->zstd = ZSTD_createDStream();
        if (input->zstd == NULL) return fail(error, PLUMB_ERROR_IO, "zstd does not start");
        input->kind = KIND_ZSTD;
    }
    if (input->kind != KIND_PLAIN) input->decoded = g_malloc(PIECE_BYTES);
    return TRUE;
}

static void note_damage(Input *input, const char *what) {
    guint64 near = input->position - (input->raw_end - input->raw_at);
    input->damage = g_strdup_printf("the %s data is damaged near byte %" G_GUINT64_FORMAT " (%s)",
                                    input->kind == KIND_GZIP ? "gzip" : "zstd", near, what);
}

/* Decodes from raw into 'decoded' until that is full or raw is empty, and returns how many bytes came. Members and
 * frames may follow each other, as after "cat a.gz b.gz". */
static gsize inflate_some(Input *input) {
    z_stream *z = &input->gzip;
    z->next_out = input->decoded;
    z->avail_out = (uInt)PIECE_BYTES;

    do {
        /* Within a member there may be output left from input that is used up. */
        if (!input->within && input->raw_at == input->raw_end) break;
        if (!input->within) inflateReset(z);

        z->next_in = input->raw + input->raw_at;
        z->avail_in = (uInt)(input->raw_end - input->raw_at);
        int state = inflate(z, Z_NO_FLUSH);
        input->raw_at = input->raw_end - z->avail_in;

        if (state == Z_BUF_ERROR) break;
        if (state != Z_OK && state != Z_STREAM_END) {
            note_damage(input, z->msg != NULL ? z->msg : "unknown");
            break;
        }

        input->within = state != Z_STREAM_END;
    } while (z->avail_out > 0 && input->raw_at < input->raw_end);
    return PIECE_BYTES - z->avail_out;
}

static gsize unzstd_some(Input *input) {
    ZSTD_outBuffer out = {input->decoded, PIECE_BYTES, 0};
    ZSTD_inBuffer in = {input->raw, input->raw_end, input->raw_at};
    gsize before;
    do {
        before = in.pos + out.pos;
        gsize state = ZSTD_decompressStream(input->zstd, &out, &in);
        input->raw_at = in.pos;
        if (ZSTD_isError(state)) {
            note_damage(input, ZSTD_getErrorName(state));
            break;
        }
        if (in.pos + out.pos != before) input->within = state != 0; /* 0: a frame is whole */
    } while (out.pos < out.size && in.pos + out.pos != before);
    return out.pos;
}

/* FALSE when the data is damaged and all that came before the damage was given out. */
static gboolean decode_some(Input *input, gsize *n, GError **error) {
    gsize came = 0;
    if (input->damage == NULL) came = input->kind == KIND_GZIP ? inflate_some(input) : unzstd_some(input);
    if (came == 0 && input->damage != NULL)
        return fail(error, PLUMB_ERROR_INPUT, "%s: %s; what came before is kept", input->name, input->damage);
    *n = came;
    return TRUE;
}

static gboolean has_nothing_now(Input *input) {
    if (!input->pipe) return FALSE;
    struct pollfd ready = {.fd = input->fd, .events = POLLIN};
    gboolean nothing = poll(&ready, 1, 0) == 0;
    gboolean tell = nothing && !input->told_idle;
    input->told_idle = tell;
    return tell;
}

static InputState end_of(Input *input, GError **error) {
    if (!input->within) return INPUT_END;
    fail(error, PLUMB_ERROR_INPUT, "%s: the %s data ends early, in the middle: it was cut; what came before is kept",
         input->name, input->kind == KIND_GZIP ? "gzip" : "zstd");
    return INPUT_FAILED;
}

InputState input_read(Input *input, Bytes *piece, GError **error) {
    for (;;) {
        gboolean sniffing = input->kind == KIND_UNKNOWN && input->raw_end < MAGIC_BYTES && !input->at_end;
        if (input->kind == KIND_UNKNOWN && !sniffing && !begin_decoding(input, error)) return INPUT_FAILED;

        gsize left = input->raw_end - input->raw_at, n = 0;
        if (input->kind == KIND_PLAIN && left > 0) {
            *piece = (Bytes){input->raw + input->raw_at, left};
            input->raw_at = input->raw_end;
            return INPUT_DATA;
        }

        /* A decoder may hold more than fitted into the last piece, so it is asked even when all raw bytes are used. */
        if (input_compressed(input)) {
            if (!decode_some(input, &n, error)) return INPUT_FAILED;
            if (n > 0) {
                *piece = (Bytes){input->decoded, n};
                return INPUT_DATA;
            }
        }

        if (!sniffing) input->raw_at = input->raw_end = 0;
        if (has_nothing_now(input)) return INPUT_IDLE;
        if (!read_more(input, error)) return INPUT_FAILED;
        if (input->at_end && input->raw_end == 0) return end_of(input, error);
    }
}
