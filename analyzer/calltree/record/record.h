/* The stored form of one trace: its pattern's number (of a rare one the pattern itself, too), then columns in the order
 * of the pattern. Loss-free: decoding gives back every SpanRec, byte for byte, but for what was dropped by choice.
 * record.c describes the format. */
#pragma once

#include "analyzer/calltree/pattern.h"
#include "analyzer/calltree/tree_again.h"
#include "common/base/bytes.h"

typedef enum {
    TRACE_INCOMPLETE = 1 << 0, /* orphans, cut cycles or no root */
    TRACE_PART = 1 << 1,       /* closed in parts: this is one of several records of the trace */
    /* By which rule its critical-path times were counted (TimesRule); without any: by parents alone, or all are the
     * same. */
    TRACE_THROUGH_WAITS = 1 << 2,
    TRACE_BY_TURNS = 1 << 3,
    TRACE_STANDING = 1 << 4,
    TRACE_ASKED = 1 << 5,
    TRACE_NETWORK = 1 << 6,
    TRACE_READERS = 1 << 7,
    TRACE_ANSWERS = 1 << 8,
    TRACE_ARRIVALS = 1 << 9,
    TRACE_SENDERS = 1 << 10,
    TRACE_ROOTS = 1 << 11,
    TRACE_VOTES = 1 << 12,
    TRACE_FAILURES = 1 << 13, /* calls of it failed, and are counted in rows of their own (STATS_FAILED) */
} TraceFlags;

/* What was left out by choice, and is gone. */
typedef enum {
    DROPPED_IDS = 1 << 0,         /* ids of spans; decoding makes some up, ascending in the order of places */
    DROPPED_ANNOTATIONS = 1 << 1, /* some or all */
    DROPPED_NOTES = 1 << 2,
} DroppedColumns;

/* Readable without the pattern and without decoding the columns. */
typedef struct TraceSummary {
    guint32 pattern; /* the store's number: whose row counts the trace */
    guint32 n_spans;
    guint32 orphans;
    guint32 flags; /* TraceFlags */
    gint64 begin_ns;
    gint64 end_ns;
    guint32 dropped; /* DroppedColumns */
    guint32 part;    /* with DROPPED_IDS, and ids_at: as in RecordHead */
    guint32 ids_at;
} TraceSummary;

typedef struct RecordHead {
    guint32 pattern_number;
    gboolean with_shape; /* the record has its pattern within: the number is not enough to read it */
    guint32 flags;       /* TraceFlags */
    guint32 dropped;     /* DroppedColumns: the encoder leaves out ids itself, of the rest it is only told */
    guint32 part;        /* with DROPPED_IDS: ids made up for other parts of the trace are others */
    guint32 ids_at; /* with DROPPED_IDS: whatever tells the caller where he put the ids, for as long as he keeps them */
    GByteArray *ids; /* with DROPPED_IDS: they are appended here; NULL: lost at once */
} RecordHead;

/* Appends the record. All spans of the tree must have the same upper half of their ids. */
void record_encode(const CallTree *tree, const Pattern *pattern, const guint32 *node_of, const RecordHead *head,
                   GByteArray *out);
gboolean record_summary(Bytes record, TraceSummary *summary, GError **error);
/* The pattern that a record has within: *pattern is a new reference, or NULL when it has none. */
gboolean record_shape(Bytes record, Pattern **pattern, GError **error);

/* A record to be read. trace_id is part of the key, not of the record. ids: what RecordHead.ids was given, or
 * {NULL, 0}. */
typedef struct RecordSource {
    Bytes record;
    Bytes ids;
    const Pattern *pattern;
    guint64 trace_id;
} RecordSource;

/* Appends the trace's SpanRecs to 'spans', one behind the other, 8-byte aligned. Error CORRUPT: nothing was appended.
 * places: NULL, or made anew: the TreePlaces of the record, for tree_restore(). */
gboolean record_decode_places(const RecordSource *source, GByteArray *spans, GArray *places, GError **error);
static inline gboolean record_decode_source(const RecordSource *source, GByteArray *spans, GError **error) {
    return record_decode_places(source, spans, NULL, error);
}
static inline gboolean record_decode(Bytes record, const Pattern *pattern, guint64 trace_id, GByteArray *spans,
                                     GError **error) {
    const RecordSource source = {record, {NULL, 0}, pattern, trace_id};
    return record_decode_source(&source, spans, error);
}

/* ---- columns, one by one: without ids, and without what comes after those that are asked for ---- */

/* A place of the record: place 0 is the trace, placeholders are no spans. They are ordered by pattern node; parents
 * come first. */
typedef struct RecordPlace {
    guint32 node;   /* of the pattern */
    guint32 parent; /* its place */
    gint64 begin_ns;
    gint64 duration_ns; /* negative when reversed */
    guint32 tracer;
    gboolean is_span;
} RecordPlace;
/* Appends a RecordPlace for each place to 'places'; without tracers these are 0 and their column is not read. */
gboolean record_places(Bytes record, const Pattern *pattern, gboolean with_tracers, GArray *places, GError **error);

/* Each annotation of each span, in the order of places, as long as 'visit' returns TRUE. The value may be used during
 * the call only. */
typedef gboolean (*RecordVisit)(void *arg, guint32 node, const SpanAnnotation *annotation);
gboolean record_annotations(Bytes record, const Pattern *pattern, RecordVisit visit, void *arg, GError **error);

/* Where the bytes of a record are. */
typedef struct RecordSizes {
    gsize head, counts, times, tracers, flags, parents, annotations, ids;
} RecordSizes;
gboolean record_sizes(Bytes record, const Pattern *pattern, RecordSizes *sizes, GError **error);
