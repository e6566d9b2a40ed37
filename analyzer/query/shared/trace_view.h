/* One stored trace, assembled: its spans, their tree, self and critical times. */
#pragma once

#include "analyzer/archive/read/load.h"
#include "common/model/batch.h"

typedef struct TraceView {
    guint64 trace_id;
    GByteArray *bytes; /* SpanRecs, one behind the other */
    CallTree *tree;
    TreeTimes *times;
    ArchiveLoad load; /* which parts of it */
    gsize charged;    /* to the thread's allowance */
} TraceView;

/* Of a trace in several parts no more are shown at once: some 400 bytes of memory each. */
#define TRACE_VIEW_SPANS 500000u

/* NULL with NOT_FOUND when there is no such trace. */
TraceView *trace_view_load(Archive *archive, guint64 trace_id, GError **error);
/* Of one that was found a moment ago. NULL without an error, and *gone: it was removed meanwhile. */
TraceView *trace_view_load_found(Archive *archive, guint64 trace_id, gboolean *gone, GError **error);
/* Bytes of spans that are loaded at once, part by part: what a quarter of the thread's allowance has room for. 0: all.
 */
gsize trace_view_room(void);
/* The parts from this one on, counted from 0, up to TRACE_VIEW_SPANS spans, or what there is room for; one part at
 * least. INPUT: there are fewer. */
TraceView *trace_view_load_from(Archive *archive, guint64 trace_id, guint first_part, GError **error);
/* Was there room for all of the trace? */
gboolean trace_view_has_all(const ArchiveLoad *load);
void trace_view_free(TraceView *view);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceView, trace_view_free)

/* Walks records one behind the other: start with *at = 0; NULL at the end. */
const SpanRec *spans_next(const GByteArray *bytes, gsize *at);

/* The name as the sender wrote it, appended. *first is set to how many of the record's annotations are not the sender's
 * (0 or 1). */
void span_description(Archive *archive, const SpanRec *span, GString *out, guint *first);

/* The whole number that an annotation's value is. FALSE, and *number is left alone, when it is none of 64 bits. */
gboolean annotation_number(const SpanAnnotation *annotation, gint64 *number);

/* One packed span in the outside form: appended to a batch, names restored to what the sender wrote. Its texts lie in
 * the record and in the dictionary, which must outlive the batch; none is shared between spans. */
void query_span_to_batch(Archive *archive, const SpanRec *span, SpanBatch *batch);
