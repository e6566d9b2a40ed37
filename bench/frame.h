/* A batch of one generated process, as the bytes of a submit call (compact protocol), written span by span. */
#pragma once

#include "bench/template.h"

/* An i64 as it stands in the compact protocol: encoded once, copied for every span that names it. */
typedef struct EncodedId {
    guint8 bytes[15];
    guint8 length; /* 0: none */
} EncodedId;

EncodedId encoded_id(guint64 id);

/* Sent as head, spans, tail. Counted references: a batch that is sent again is in two queues. */
typedef struct Frame {
    guint8 *spans;
    guint32 spans_bytes, capacity_bytes;
    guint32 n_strings, n_spans;
    guint32 mark_at, mark_bytes; /* one span of it, which may be said twice */
    guint8 *strings;             /* of the string table, while the batch is being filled */
    guint32 strings_bytes, strings_capacity;
    GByteArray *head;
    guint8 tail[256];
    guint32 tail_bytes;
    guint32 process;
    guint32 kind;     /* of its pool */
    guint64 sequence; /* of its sender */
    guint refs;
    gint8 acknowledged; /* times */
    gboolean late;
} Frame;

static inline guint64 frame_bytes(const Frame *frame) {
    return (guint64)frame->head->len + frame->spans_bytes + frame->tail_bytes;
}

/* Frames used again and again, those of one kind of process apart: their sizes are alike. One thread. */
#define FRAME_KINDS 3u
typedef struct FramePool {
    GPtrArray *free[FRAME_KINDS];
} FramePool;

Frame *frame_new(FramePool *pool, guint32 kind);
void frame_release(FramePool *pool, Frame *frame);
void frame_pool_clear(FramePool *pool);

/* A string of the table; numbered ones ("sendBlock_" and 10 digits) when number is not 0. Returns its place. */
guint32 frame_add_string(Frame *frame, const char *text, guint32 length, guint64 number);

/* What a span says, its strings as places in the frame's table. */
typedef struct FrameSpan {
    const EncodedId *trace, *id, *parent;
    gint64 begin_ns, duration_ns;
    guint32 name, tracer;
    gboolean milliseconds;
} FrameSpan;

/* Where the next span's bytes go: room for 'most' is made. */
guint8 *frame_reserve(Frame *frame, guint32 most);
/* Writes fields 1 to 7; *last is the number of the last. */
guint8 *frame_put_span(guint8 *at, const FrameSpan *span, guint *last);
guint8 *frame_put_list(guint8 *at, guint field, guint *last, guint n);
guint8 *frame_put_value(guint8 *at, guint32 key, const char *text, guint32 length);
guint8 *frame_put_note(guint8 *at, gint64 time_ns, const char *text, guint32 length);
void frame_end_span(Frame *frame, guint8 *at, guint last, gboolean milliseconds);

typedef struct FrameSender {
    const char *id;
    guint64 sequence, spans_sent, spans_queued, dropped;
} FrameSender;

/* Says the marked span n more times; then the batch can be closed. */
void frame_repeat_marked(Frame *frame, guint n);
/* Head and tail: nothing can be added any more. */
void frame_close_batch(Frame *frame, const FrameSender *sender);
