/* One stored trace, assembled: its spans, their tree, self and critical times. */
#pragma once

#include "analyzer/archive/archive.h"

typedef struct TraceView {
    guint64 trace_id;
    GByteArray *bytes; /* SpanRecs, one behind the other */
    CallTree *tree;
    TreeTimes *times;
} TraceView;

/* NULL with NOT_FOUND when there is no such trace. */
TraceView *trace_view_load(Archive *archive, guint64 trace_id, GError **error);
void trace_view_free(TraceView *view);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceView, trace_view_free)

/* Walks records one behind the other: start with *at = 0; NULL at the end. */
const SpanRec *spans_next(const GByteArray *bytes, gsize *at);

/* The name as the sender wrote it, appended. *first is set to how many of the record's annotations are not the sender's
 * (0 or 1). */
void span_description(Archive *archive, const SpanRec *span, GString *out, guint *first);
