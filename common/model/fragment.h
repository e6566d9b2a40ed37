/* The tight form of spans: what one batch brought of one trace, as the network threads hand it to the shards and as the
 * shards keep it until the trace closes. A third of SpanRec's size: memory, and what has to come through the caches, is
 * what an open trace costs. Turned back into SpanRecs all at once (fragment_unpack).
 *
 * A fragment is a FragmentHead and its body, padded to 8 bytes; bodies of one trace may be put one behind the other.
 *
 *   body:  begin of the first span i64, then each span, the last one marked:
 *   span:  marks u8, lengths u8 (of the two times, a nibble each),
 *          tracer varint (when it is another than that of the span before), name varint,
 *          id, parents, begin as zig-zag difference to that of the span before, duration zig-zag (both in as many bytes
 *          as they need, low first; in milliseconds when marked), flags u16 (when others than before),
 *          lists: number of annotations and notes varint, annotations {key, length varint, bytes}, or two bytes for
 *          one that is as the last in its place, notes {time i64, length varint, bytes}
 *   id:    8 bytes, or one that says where in the table of FRAGMENT_KNOWN ids it is that both sides keep of those
 *          mentioned in the fragment: mostly a child comes before its parent and names it first
 *
 * Host byte order: nobody gets this form but the store of the same host, with a checksum (late.c of the archive). */
#pragma once

#include "common/model/span.h"

typedef struct FragmentHead {
    guint64 trace;
    guint32 size_bytes;   /* of the body, without padding */
    guint32 n_spans : 31; /* never 0 */
    guint32 has_root : 1; /* one of them has no parent in this trace */
} FragmentHead;

G_STATIC_ASSERT(sizeof(FragmentHead) == 16);

static inline const guint8 *fragment_body(const FragmentHead *head) { return (const guint8 *)(head + 1); }
/* Head, body and padding. */
static inline gsize fragment_size_bytes(const FragmentHead *head) {
    return sizeof *head + (((gsize)head->size_bytes + 7) & ~(gsize)7);
}

#define FRAGMENT_KNOWN 32u
/* So many of the annotations of a span, in their order, may be told to be as the last ones: what programs of other
 * tracers say of each of their spans mostly is. */
#define FRAGMENT_REPEATED 32u
/* And only while a fragment's annotations take at most so many times its bytes as SpanRecs: what its size says of the
 * memory for them is true of whatever comes. */
#define FRAGMENT_MOST_TIMES 4u

/* An annotation in a body. */
typedef struct FragmentValue {
    guint32 key, length;
    guint at; /* of the bytes, from the begin of the bodies (reading), of 'out' (writing) */
} FragmentValue;

/* Writes one fragment behind what is in 'out'. Calls: begin; for each span: span, its annotations, its notes; end. */
typedef struct FragmentWriter {
    GByteArray *out;
    guint start;
    guint8 *at, *end; /* in the room that 'out' has */
    guint8 *last;     /* the marks of the last span */
    FragmentHead head;
    gint64 begin_ns;
    guint32 tracer;
    guint16 flags;
    guint32 known; /* bit per entry of ids */
    guint64 ids[FRAGMENT_KNOWN];
    gboolean plain;           /* nothing is told to be as the last: older versions can read it */
    gsize listed_bytes;       /* of the annotations, in SpanRecs */
    guint n_values, n_listed; /* of 'values'; of the annotations of the span that is being written */
    FragmentValue values[FRAGMENT_REPEATED];
} FragmentWriter;

void fragment_begin(FragmentWriter *writer, GByteArray *out, guint64 trace);
/* Takes from the head all but size_bytes and id.trace; the counts say what follows. */
void fragment_span(FragmentWriter *writer, const SpanRec *head, const SpanId *parents);
void fragment_annotation(FragmentWriter *writer, guint32 key, const char *value, guint32 length);
void fragment_note(FragmentWriter *writer, gint64 time_ns, const char *message, guint32 length);
/* Without spans nothing is left behind. */
void fragment_end(FragmentWriter *writer);

/* Records of one trace, one behind the other, as one fragment behind what is in 'out'. plain: in the form that
 * versions before repeated values read, too. */
void fragment_pack(GByteArray *out, const guint8 *records, gsize size_bytes, gboolean plain);

/* Bytes that must be readable behind the bodies given to fragment_unpack(). */
#define FRAGMENT_SLACK_BYTES 96u
/* Appends the spans of all bodies as SpanRecs, in the order in which they came. FALSE: they are no bodies, or their
 * spans are more than an array can have; nothing is appended. */
gboolean fragment_unpack(guint64 trace, const guint8 *bodies, gsize size_bytes, GByteArray *out);
