/* The spans of a trace as rows of JSON. They are most of an answer, and written as text at once: a document of them in
 * between, an object and some fifteen values a span, took four fifths of the time. */
#pragma once

#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"

typedef struct TraceRows {
    Archive *archive;
    const TraceView *view;
    JsonText *out;
    GString *description; /* kept from row to row; its own */
} TraceRows;

static inline void trace_rows_clear(TraceRows *rows) { g_string_free(rows->description, TRUE); }
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TraceRows, trace_rows_clear)

void trace_rows_begin(TraceRows *rows);
/* node: one that has a span. */
void trace_rows_add(TraceRows *rows, guint32 node, guint32 depth);
/* A span by itself, without what only a tree tells of it: no view is needed, and no begin and end. */
void trace_rows_add_span(TraceRows *rows, const SpanRec *span);
void trace_rows_end(TraceRows *rows);
