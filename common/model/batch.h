/* A batch of spans in the form of the outside world: what decoders and importers produce, encoders and exporters
 * consume. Strings are bytes, kept once in the batch's string table; spans refer to them by index. */
#pragma once

#include <glib.h>

#include "common/model/span.h"

typedef struct BatchString {
    const char *data; /* not zero-terminated; valid UTF-8 */
    guint32 length;
} BatchString;

typedef struct BatchAnnotation {
    guint32 key; /* index into strings */
    BatchString value;
} BatchAnnotation;

typedef struct BatchNote {
    gint64 time_ns;
    BatchString message;
} BatchNote;

typedef struct BatchSpan {
    SpanId id;
    gint64 begin_ns;
    gint64 duration_ns;
    guint32 name;                          /* index into strings */
    guint32 tracer;                        /* index into strings */
    guint32 flags;                         /* SpanFlags */
    guint32 parents_at, n_parents;         /* slice of parents */
    guint32 annotations_at, n_annotations; /* slice of annotations */
    guint32 notes_at, n_notes;             /* slice of notes */
} BatchSpan;

typedef struct BatchDrop {
    BatchString reason; /* "queue full", "no receiver", ... */
    gint64 spans;
} BatchDrop;

/* What the sender says about itself: totals since it started. sender is empty when it said nothing. */
typedef struct BatchSender {
    BatchString sender; /* unique per process and start, e.g. "DataNode/10.0.3.17/4242@1605956000123" */
    gint64 sequence;    /* of this batch, from 1; repeated when the batch is sent again */
    gint64 spans_sent;
    gint64 spans_queued;
    GArray *drops; /* BatchDrop */
} BatchSender;

typedef struct SpanBatch {
    GArray *strings;        /* BatchString */
    GArray *spans;          /* BatchSpan */
    GArray *parents;        /* SpanId */
    GArray *annotations;    /* BatchAnnotation */
    guint annotations_room; /* that many are known to fit */
    GArray *notes;          /* BatchNote */
    BatchSender sender;
    /* Owned copies for builders whose input does not outlive the batch; decoders leave it empty and point into the
     * frame, which must then outlive the batch. */
    GStringChunk *chunk;
    GHashTable *index; /* of batch_intern() */
} SpanBatch;

SpanBatch *batch_new(void);
/* Empties it for the next use. Memory is kept, but for arrays that grew past 16 MiB: one hostile batch does not hold it
 * for good. */
void batch_clear(SpanBatch *batch);
void batch_free(SpanBatch *batch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanBatch, batch_free)

static inline const BatchSpan *batch_span(const SpanBatch *batch, guint i) {
    return &g_array_index(batch->spans, BatchSpan, i);
}
static inline BatchString batch_string(const SpanBatch *batch, guint32 i) {
    return g_array_index(batch->strings, BatchString, i);
}

/* Builder. batch_intern copies and returns the index of an equal string when there is one; batch_copy copies bytes
 * that are not shared (values, messages). batch_begin_span appends a span whose slices are empty; the following calls
 * add to that span. The pointer it returns is valid until the next call. */
guint32 batch_intern(SpanBatch *batch, const char *data, gsize length);
BatchString batch_copy(SpanBatch *batch, const char *data, gsize length);
BatchSpan *batch_begin_span(SpanBatch *batch, SpanId id);
void batch_add_parent(SpanBatch *batch, SpanId parent);
void batch_add_annotation(SpanBatch *batch, guint32 key, BatchString value);
void batch_add_note(SpanBatch *batch, gint64 time_ns, BatchString message);

/* Is data valid UTF-8 without zero bytes? */
gboolean batch_text_valid(const char *data, gsize length);
