/* A batch of one generated process, as the bytes of a submit call (compact protocol), written span by span: as a pack,
 * as the agent sends them, or as structs, as any program can. */
#pragma once

#include "bench/template.h"

typedef struct FrameValue {
    guint32 key;              /* place in the table */
    gboolean is_number, same; /* same: as in the last span of this shape */
    gint32 number, before;    /* what the last span of this shape had */
    const char *text;
    guint32 length;
} FrameValue;

typedef struct FrameNote {
    gint64 time_ns;
    const char *text;
    guint32 length;
} FrameNote;

/* What a span says, its strings as places in the frame's table. */
typedef struct FrameSpan {
    guint64 trace, place, parent; /* places of ids (id_place.h); parent 0: a root */
    gint64 begin_ns, duration_ns;
    guint32 name, tracer;
    gboolean milliseconds;
    /* Of packs: where the shape's number is kept (0: not defined yet), or NULL for a name that is this span's alone. */
    guint16 *shape;
    const TemplateString *block; /* that name, and its number */
    guint64 number;
    guint32 n_values, n_notes;
    const FrameValue *values;
    const FrameNote *notes;
} FrameSpan;

/* Sent as head, spans, tail. Counted references: a batch that is sent again is in two queues. */
typedef struct Frame {
    guint8 *spans;
    guint32 spans_bytes, capacity_bytes;
    guint32 n_strings, n_spans;
    gboolean packed;
    guint32 n_shapes;                                        /* that the pack defined */
    guint64 last_trace, last_place, last_parent, last_begin; /* of the pack's last span */
    guint8 *strings;                                         /* of the string table, while the batch is being filled */
    guint32 strings_bytes, strings_capacity;
    FrameSpan mark; /* one of them, which may be said twice; place 0: none */
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

Frame *frame_new(FramePool *pool, guint32 kind, gboolean packed);
void frame_release(FramePool *pool, Frame *frame);
void frame_pool_clear(FramePool *pool);

/* A string of the table; numbered ones ("sendBlock_" and 10 digits) when number is not 0. Returns its place. */
guint32 frame_add_string(Frame *frame, const char *text, guint32 length, guint64 number);

void frame_add_span(Frame *frame, const FrameSpan *span);

typedef struct FrameSender {
    const char *id;
    guint64 sequence, spans_sent, spans_queued, dropped;
} FrameSender;

/* Says one of its spans n more times; returns how many times it did. Then the batch can be closed. */
guint frame_repeat_one(Frame *frame, guint n);
/* Head and tail: nothing can be added any more. */
void frame_close_batch(Frame *frame, const FrameSender *sender);
