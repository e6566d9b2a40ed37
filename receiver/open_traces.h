/* The open traces of one shard: trace id -> the records of its spans, one behind the other, in a buffer of its own.
 *
 * An open-addressing table finds them; two lists order them: by age (all), and by last activity, apart for traces
 * whose root has come and for those that still wait for it. Memory is that of buffers, structs and table slots. No
 * threads, no clock, no store: the caller says what time it is and what becomes of a trace. */
#pragma once

#include "common/model/span.h"

typedef struct TraceLink {
    struct TraceLink *previous, *next;
} TraceLink;

typedef struct OpenTrace {
    TraceLink by_age, by_activity;
    guint64 id;
    guint8 *spans; /* SpanRecs */
    gsize size_bytes, capacity_bytes;
    guint32 n_spans;
    gboolean has_root;
    gint64 opened_ns, active_ns;
    guint64 oldest_segment; /* of the journal; JOURNAL_NONE: none */
} OpenTrace;

typedef struct OpenLimits {
    gint64 idle_ns;     /* a trace whose root has come closes after so long without a span */
    gint64 max_age_ns;  /* any trace closes after so long */
    guint32 max_spans;  /* the caller looks at n_spans after open_traces_add() */
    gsize memory_bytes; /* past it, the coldest close until 7/8 of it are left */
} OpenLimits;

typedef enum { DUE_NOT, DUE_IDLE, DUE_AGE, DUE_MEMORY } DueReason;

typedef struct OpenTraces OpenTraces;
OpenTraces *open_traces_new(const OpenLimits *limits);
void open_traces_free(OpenTraces *traces);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OpenTraces, open_traces_free)
void open_traces_set_limits(OpenTraces *traces, const OpenLimits *limits);

/* Records of one trace, one behind the other. */
typedef struct SpanRun {
    const SpanRec *first;
    gsize size_bytes;
    guint32 n_spans;
    gboolean has_root; /* one of them has no parent in this trace */
} SpanRun;
/* The run at the start of 'size_bytes' of records. */
SpanRun span_run(const guint8 *records, gsize size_bytes);

/* Appends a copy of the run. A trace that is new here but was closed lately with its root counts as having it: late
 * spans then need not wait for max-age. */
OpenTrace *open_traces_add(OpenTraces *traces, const SpanRun *run, gint64 now_ns);
OpenTrace *open_traces_find(OpenTraces *traces, guint64 id);
/* Frees it. */
void open_traces_remove(OpenTraces *traces, OpenTrace *trace);

/* The next one that has to close, and why; NULL when none has to. */
OpenTrace *open_traces_due(OpenTraces *traces, gint64 now_ns, DueReason *reason);
/* When the next one will close by time; G_MAXINT64 when there is none. */
gint64 open_traces_next_due_ns(const OpenTraces *traces);
/* Oldest first; NULL when there is none (left). */
OpenTrace *open_traces_first(OpenTraces *traces);
OpenTrace *open_traces_next(OpenTraces *traces, OpenTrace *trace);

guint open_traces_count(const OpenTraces *traces);
guint64 open_traces_spans(const OpenTraces *traces);
gsize open_traces_bytes(const OpenTraces *traces);

/* Spreads trace ids, which some senders draw badly, over all 64 bits. */
static inline guint64 trace_id_hash(guint64 id) {
    id = (id ^ (id >> 30)) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    id = (id ^ (id >> 27)) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return id ^ (id >> 31);
}
