/* Spans that came after their trace was stored. A writer puts them down as they are, in the same atomic write as the
 * rest of its group; join.c brings them to their traces in the background. Until then they are seen by whoever asks for
 * the spans of their trace, and counted as waiting, but not in statistics and summaries. */
#pragma once

#include "analyzer/archive/archive_inside.h"

/* One entry holds no more than this, or one span. */
#define LATE_ENTRY_BYTES (1u << 20)

/* How much waits and which number is next, from the totals: for archive_open(). */
void late_open(Archive *archive);
/* Adds entries to a batch. The number of spans in 'head' is not asked for. */
void late_put(Archive *archive, StoreBatch *batch, const LateHead *head, Bytes spans);
/* Any waiting? Any thread; cheap. */
gboolean late_any(Archive *archive);
/* The spans of one entry, appended; FALSE, with nothing appended, when it is malformed. */
gboolean late_unpack(guint64 trace_id, Bytes value, LateHead *head, GByteArray *spans);
/* The same, pointed at, too. With FALSE both are of no use. */
gboolean late_spans(guint64 trace_id, Bytes value, GByteArray *spans, GPtrArray *list);
/* What is wanted of the spans that wait for a trace: millions may. */
typedef struct LateWanted {
    guint64 trace_id;
    guint64 from;     /* number of the first entry; out: of the first that is left */
    gsize most_bytes; /* no further entry is taken when there are so many; 0: all */
    gboolean more;    /* out: some are left */
} LateWanted;
/* Appends them. Counts against the thread's allowance while it goes on; who keeps them charges them. */
gboolean late_collect(StoreIter *late, LateWanted *wanted, GByteArray *spans, GError **error);
/* Appends to 'spans' what of 'late' is not among those from 'from' on, each span once: of several with one id the first
 * by span_rec_compare(). */
void late_add_unknown(Archive *archive, GByteArray *spans, guint from, const GByteArray *late);
