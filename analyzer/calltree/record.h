/* The stored form of one trace: its pattern's number, then columns in the order of the pattern. Loss-free: decoding
 * gives back every SpanRec, byte for byte. record.c describes the format. */
#pragma once

#include "analyzer/calltree/pattern.h"
#include "common/base/bytes.h"

typedef enum {
    TRACE_INCOMPLETE = 1 << 0, /* orphans, cut cycles or no root */
    TRACE_PART = 1 << 1,       /* closed in parts: this is one of several records of the trace */
} TraceFlags;

/* Readable without the pattern and without decoding the columns. */
typedef struct TraceSummary {
    guint32 pattern; /* the store's number */
    guint32 n_spans;
    guint32 orphans;
    guint32 flags; /* TraceFlags */
    gint64 begin_ns;
    gint64 end_ns;
} TraceSummary;

typedef struct RecordHead {
    guint32 pattern_number;
    guint32 flags; /* TraceFlags */
} RecordHead;

/* Appends the record. All spans of the tree must have the same upper half of their ids. */
void record_encode(const CallTree *tree, const Pattern *pattern, const guint32 *node_of, const RecordHead *head,
                   GByteArray *out);
gboolean record_summary(Bytes record, TraceSummary *summary, GError **error);
/* Appends the trace's SpanRecs to 'spans', one behind the other, 8-byte aligned. trace_id is part of the key, not of
 * the record. Error CORRUPT: nothing was appended. */
gboolean record_decode(Bytes record, const Pattern *pattern, guint64 trace_id, GByteArray *spans, GError **error);
