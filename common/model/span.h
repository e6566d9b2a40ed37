/* The span: ids, and the packed form in which plumbd hands spans from thread to thread, keeps them while their trace
 * is open and gets them back from the store.
 *
 * Two forms exist. SpanBatch (model/batch.h) is what comes from and goes to the outside: strings are bytes. SpanRec,
 * here, is the inside: function names, tracer ids and annotation keys are ids of the store's dictionary
 * (common/store/dict.h), names are normalised (model/naming.h), and everything of one span lies in one piece of memory,
 * so that a span is copied with memcpy and a million of them cost no million allocations.
 *
 * The id is HTrace 4's: 128 bits, the upper 64 shared along the trace (trace id), the lower 64 random. Text form: 32
 * lower-case hex digits, upper half first. (0,0) is invalid. */
#pragma once

#include <glib.h>
#include <string.h>

typedef struct SpanId {
    guint64 trace; /* upper half */
    guint64 span;  /* lower half */
} SpanId;

#define SPAN_ID_TEXT_BYTES 33 /* 32 digits and the zero */

static inline gboolean span_id_valid(SpanId id) { return (id.trace | id.span) != 0; }
static inline gboolean span_id_equal(SpanId a, SpanId b) { return a.trace == b.trace && a.span == b.span; }
/* Order of unsigned big-endian bytes: <0, 0 or >0. */
static inline int span_id_compare(SpanId a, SpanId b) {
    if (a.trace != b.trace) return a.trace < b.trace ? -1 : 1;
    if (a.span != b.span) return a.span < b.span ? -1 : 1;
    return 0;
}
void span_id_format(SpanId id, char text[SPAN_ID_TEXT_BYTES]);
/* Exactly 32 hex digits, either case; FALSE leaves *id untouched. text need not end in a zero. */
gboolean span_id_parse(const char *text, gsize length, SpanId *id);

typedef enum {
    /* Times were counted in milliseconds at the source (HTrace); nothing may show more digits than that. */
    SPAN_MILLISECONDS = 1 << 0,
} SpanFlags;

/* The fixed head. After it, in this order and without gaps but those named: n_parents SpanIds; n_annotations times
 * {guint32 key, guint32 length, bytes, padded to 4}; n_notes times {gint64 time_ns as two guint32 low first, guint32
 * length, bytes, padded to 4}; padding to a multiple of 8. Records are 8-byte aligned. Host byte order: this form
 * never leaves the process. */
typedef struct SpanRec {
    guint32 size_bytes; /* of the whole record, a multiple of 8 */
    guint16 n_parents;  /* <= LIMIT_SPAN_PARENTS */
    guint16 flags;      /* SpanFlags */
    SpanId id;
    gint64 begin_ns;    /* since the epoch */
    gint64 duration_ns; /* negative when the span says that it ended before it began */
    guint32 name;       /* dictionary id of the normalised function name */
    guint32 tracer;     /* dictionary id of the tracer id */
    guint16 n_annotations;
    guint16 n_notes;
    guint32 reserved; /* 0 */
} SpanRec;

G_STATIC_ASSERT(sizeof(SpanRec) == 56);

typedef struct SpanAnnotation {
    guint32 key; /* dictionary id */
    guint32 length;
    const char *value; /* borrowed, not zero-terminated */
} SpanAnnotation;

typedef struct SpanNote {
    gint64 time_ns;
    guint32 length;
    const char *message; /* borrowed, not zero-terminated */
} SpanNote;

static inline const SpanId *span_parents(const SpanRec *span) { return (const SpanId *)(span + 1); }

/* Asks for a span (or NULL) from memory, head and the begin of its variable part, for a walk that will be there after
 * SPANS_AHEAD others: spans of a large trace lie in another order than the nodes of its tree. */
#define SPANS_AHEAD 12u
static inline void span_expect(const SpanRec *span) {
    __builtin_prefetch(span);
    __builtin_prefetch((const guint8 *)span + 64);
}

/* Walks the variable part: start with span_cursor(), call span_next_annotation() exactly n_annotations times at most,
 * then span_next_note(); each returns FALSE when there is none left. */
typedef struct SpanCursor {
    const SpanRec *span;
    const guint8 *at;
    guint32 annotations_left;
    guint32 notes_left;
} SpanCursor;

static inline SpanCursor span_cursor(const SpanRec *span) {
    const guint8 *at = (const guint8 *)(span_parents(span) + span->n_parents);
    return (SpanCursor){span, at, span->n_annotations, span->n_notes};
}

static inline gboolean span_next_annotation(SpanCursor *cursor, SpanAnnotation *annotation) {
    if (cursor->annotations_left == 0) return FALSE;
    cursor->annotations_left--;
    memcpy(&annotation->key, cursor->at, sizeof annotation->key);
    memcpy(&annotation->length, cursor->at + 4, sizeof annotation->length);
    annotation->value = (const char *)cursor->at + 8;
    cursor->at += 8 + (((gsize)annotation->length + 3) & ~(gsize)3);
    return TRUE;
}

/* Its value, where that is decimal digits and nothing else; what does not fit 64 bits is the greatest that does, or
 * nearly. */
gboolean span_annotation_number(const SpanAnnotation *annotation, guint64 *number);

/* Skips what is left of the annotations first. */
gboolean span_next_note(SpanCursor *cursor, SpanNote *note);

/* Builds records one behind the other. Bytes of the record under construction are appended to 'out'; alignment of
 * out->data is malloc's. */
typedef struct SpanBuilder {
    GByteArray *out;
    guint start; /* offset of the record under construction */
} SpanBuilder;

/* Begins a record whose head is *head (size and counts are filled in by the calls that follow). Order of calls:
 * parents, annotations, notes, end. */
SpanBuilder span_builder_begin(GByteArray *out, const SpanRec *head);
void span_builder_parent(SpanBuilder *builder, SpanId parent);
void span_builder_annotation(SpanBuilder *builder, guint32 key, const char *value, guint32 length);
void span_builder_note(SpanBuilder *builder, gint64 time_ns, const char *message, guint32 length);
void span_builder_end(SpanBuilder *builder);

/* What the numbers in records stand for. "" and 0 for an id that is not known. */
typedef struct SpanTexts {
    const char *(*text)(void *arg, guint32 id, gsize *length);
    void *arg;
} SpanTexts;

/* A total order over records, by id, then by all content: begin, duration, name, tracer id, flags, how many parents,
 * annotations and notes, then these one by one. Names, tracer ids and keys are compared as texts, byte by byte, since
 * their numbers follow from what came first. So the first of several records of one id is the same whatever order they
 * came in. texts NULL: by numbers, where all have the same dictionary and order does not matter. */
int span_rec_compare(const SpanRec *a, const SpanRec *b, const SpanTexts *texts);
