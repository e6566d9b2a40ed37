#include "receiver/http/posts/gunzip.h"

#include <zlib.h>

#include "common/base/error.h"

/* The window of any gzip, and the number that says that it is gzip. */
#define GZIP_WINDOW (15 + 16)
#define STEP_BYTES  (256u * 1024)

/* Some more of it. *done: that was all. */
static gboolean inflate_some(z_stream *stream, gsize most_bytes, GByteArray *out, gboolean *done, GError **error) {
    const guint before = out->len;
    g_byte_array_set_size(out, before + STEP_BYTES);
    stream->next_out = out->data + before;
    stream->avail_out = STEP_BYTES;
    const int result = inflate(stream, Z_NO_FLUSH);
    g_byte_array_set_size(out, before + STEP_BYTES - stream->avail_out);

    if (out->len > most_bytes)
        return fail(error, PLUMB_ERROR_LIMIT, "the body unpacks to more than %zu bytes: send fewer spans at a time",
                    most_bytes);
    *done = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END) return fail(error, PLUMB_ERROR_INPUT, "the body is no whole gzip");
    if (*done && stream->avail_in > 0) return fail(error, PLUMB_ERROR_INPUT, "something stands behind the body's gzip");
    return TRUE;
}

gboolean gunzip(Bytes packed, gsize most_bytes, GByteArray *out, GError **error) {
    z_stream stream = {.next_in = (Bytef *)(guintptr)packed.data, .avail_in = (uInt)packed.size_bytes};
    gboolean good = TRUE, done = FALSE;
    g_byte_array_set_size(out, 0);
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) g_error("no memory for zlib");
    while (good && !done) good = inflate_some(&stream, most_bytes, out, &done, error);
    inflateEnd(&stream);
    return good;
}
