#include <zstd.h>

#include "spark-bridge/storage/unpack_kinds.h"

/* A window of 128 MiB is the most that is decoded without being asked to: Spark's writers use at most 8 MiB. */
#define WINDOW_LOG_MOST 27

struct ZstdStream {
    ZSTD_DStream *decoder;
    gboolean within;    /* a frame has begun and not ended */
    const char *damage; /* what came before it is given out first; static */
};

ZstdStream *zstd_stream_new(void) {
    ZstdStream *stream = g_new0(ZstdStream, 1);
    stream->decoder = ZSTD_createDStream();
    g_assert(stream->decoder != NULL);
    ZSTD_DCtx_setParameter(stream->decoder, ZSTD_d_windowLogMax, WINDOW_LOG_MOST);
    return stream;
}

void zstd_stream_free(ZstdStream *stream) {
    if (stream == NULL) return;
    ZSTD_freeDStream(stream->decoder);
    g_free(stream);
}

gboolean zstd_stream_clean(const ZstdStream *stream) { return !stream->within; }

gboolean zstd_stream_step(ZstdStream *stream, UnpackStep *step, GError **error) {
    ZSTD_outBuffer out = {step->to, step->room, 0};
    ZSTD_inBuffer in = {step->in.data, step->in.size_bytes, 0};
    gsize before;
    do {
        before = in.pos + out.pos;
        if (stream->damage != NULL || (!stream->within && in.pos == in.size)) break;
        const gsize state = ZSTD_decompressStream(stream->decoder, &out, &in);
        if (ZSTD_isError(state)) stream->damage = ZSTD_getErrorName(state);
        if (stream->damage != NULL) break;
        if (in.pos + out.pos != before) stream->within = state != 0; /* 0: a frame is whole and given out */
        /* Frame by frame: callers note where each began. */
    } while (out.pos < out.size && in.pos + out.pos != before && (stream->within || out.pos == 0));
    step->in.data = (const guint8 *)in.src + in.pos;
    step->in.size_bytes = in.size - in.pos;
    step->n = out.pos;
    if (stream->damage == NULL || out.pos > 0) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "damaged zstd data (%s)", stream->damage);
}
