/* The decoder of trace records: record_decode.c reads heads and structure, record_annotations.c annotations,
 * record_spans.c makes SpanRecs of them. Nothing in a record is believed: every count is held against the bytes that
 * are left before memory is taken for it, so a record of n bytes never takes more than a fixed multiple of n. */
#pragma once

#include "analyzer/calltree/record/record_form.h"
#include "analyzer/calltree/varint.h"

typedef struct Place {
    SpanId id;    /* of placeholders: the missing one */
    gint64 begin; /* in units, as 'duration' */
    gint64 duration;
    guint32 parent; /* its place */
    guint32 tracer;
    guint32 parents_at; /* in Decoder.parents, when n_parents is not PARENTS_PLAIN */
    guint32 n_parents;
    guint16 flags;
    gboolean is_span;
} Place;

#define PARENTS_PLAIN G_MAXUINT32

/* What the head says. */
typedef struct RecordOpen {
    TraceSummary summary;
    guint32 bits;
    const guint8 *start;                             /* of the record */
    Bytes shape;                                     /* with RECORD_SHAPE */
    gsize times_bytes, tracers_bytes, parents_bytes; /* with RECORD_DIRECTORY */
    gsize ids_bytes;                                 /* with RECORD_PLACES, but for DROPPED_IDS */
    ByteReader reader;                               /* at the columns */
} RecordOpen;
gboolean record_open(Bytes record, RecordOpen *open, GError **error);

typedef struct Decoder {
    RecordOpen open;
    ByteReader reader; /* ends where the ids begin */
    const Pattern *pattern;
    guint64 trace_id;
    gint64 unit_ns;
    guint32 *first; /* per pattern node, and one more: its first place */
    Place *places;
    guint32 n_places, places_room;
    GArray *parents; /* SpanId */
    gboolean run_known;
    guint64 run;
    RecordSizes sizes; /* of the columns read so far */
} Decoder;

static inline gboolean times_to_ns(gint64 time, gint64 unit_ns, gint64 *time_ns) {
    return !__builtin_mul_overflow(time, unit_ns, time_ns);
}

/* TRUE: the next place is as expected; FALSE: its change follows, or the record ended too soon. */
static inline gboolean run_next(Decoder *d) {
    if (!d->run_known) {
        d->run = get_varint(&d->reader);
        d->run_known = TRUE;
    }
    if (d->run > 0) {
        d->run--;
        return TRUE;
    }
    d->run_known = FALSE;
    return FALSE;
}

/* A run must not be longer than what there is. */
static inline gboolean run_end(Decoder *d) {
    gboolean fine = !d->reader.failed && (!d->run_known || d->run == 0);
    d->run_known = FALSE;
    d->run = 0;
    return fine;
}

/* Columns in their order; a later one needs those before it, but for what decoder_to_annotations() skips. The decoder
 * must be cleared, whatever the answer. FALSE: malformed, or not of this pattern. */
gboolean decoder_begin(Decoder *d, Bytes record, const Pattern *pattern, GError **error); /* head and counts */
void decoder_clear(Decoder *d);
gboolean decoder_times(Decoder *d);
gboolean decoder_tracers(Decoder *d);
gboolean decoder_parents(Decoder *d); /* flags, too */
gboolean decoder_ids(Decoder *d, Bytes apart);
gboolean decoder_to_annotations(Decoder *d);
gboolean decoder_corrupt(const Decoder *d, GError **error);

/* ---- annotations ---- */

/* A value: borrowed from the record or, with text NULL, the digits of a number. */
typedef struct Value {
    const char *text;
    gint64 number;
    guint32 key;
    guint32 length;
} Value;

typedef struct NoteValue {
    gint64 time; /* from the span's begin, in units */
    Value message;
} NoteValue;

typedef struct ValueList {
    guint at, n; /* in ValueColumn.values */
} ValueList;

typedef struct ValueColumn {
    Decoder *d;
    const guint8 *start; /* of the column in the record */
    guint64 copied;      /* bytes that references stand for */
    GArray *values;      /* Value */
    GArray *notes;       /* NoteValue: of the place at hand */
    GStringChunk *texts; /* those put together from a prefix and a rest; NULL: none yet */
    RecentTexts recent;
    ValueList list[RECENT_LISTS]; /* the i-th ever at i % RECENT_LISTS */
    guint32 n_lists;              /* ever */
    ValueList own;                /* of the place at hand */
} ValueColumn;

void value_column_init(ValueColumn *column, Decoder *d);
void value_column_clear(ValueColumn *column);
void value_column_node(ValueColumn *column); /* before the first place of a pattern node */
gboolean value_column_next(ValueColumn *column);
gboolean value_column_end(ValueColumn *column);
static inline const Value *value_column_value(const ValueColumn *column, guint i) {
    return &g_array_index(column->values, Value, column->own.at + i);
}
