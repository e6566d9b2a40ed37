/* What encoder and decoder of trace records share. record.c describes the format. */
#pragma once

#include <string.h>

#include "analyzer/calltree/record/record.h"
#include "analyzer/calltree/record/record_bits.h"
#include "common/model/role.h"

#define RECORD_VERSION 3

enum {
    RECORD_MS = 1 << 0,          /* all times are whole milliseconds and stored as such */
    RECORD_COUNTS = 1 << 1,      /* there is a column of counts */
    RECORD_PARENTS = 1 << 2,     /* there is a column of parents */
    RECORD_ANNOTATED = 1 << 3,   /* there is a column of annotations */
    RECORD_DIRECTORY = 1 << 4,   /* the head says how long the columns are */
    RECORD_REVERSED = 1 << 5,    /* durations are zig-zag coded */
    RECORD_FLAGS = 1 << 6,       /* there is a column of span flags; else all are those of record_usual_flags() */
    RECORD_TRACE_FLAGS = 1 << 7, /* the head has TraceFlags; else there are none */
    RECORD_ORPHANS = 1 << 8,     /* the head has the number of orphans; else there are none */
    RECORD_NOTES = 1 << 9,       /* annotations are followed by notes */
    RECORD_FOREIGN = 1 << 10,    /* ids of missing parents have their upper halves */
    RECORD_DROPPED = 1 << 11,    /* the head says what is gone */
    RECORD_SHAPE = 1 << 12,      /* the head has the pattern itself */
    RECORD_PLACES = 1 << 13,     /* ids are coded as places; else they are as they are */
    RECORD_ALL = (1 << 14) - 1,
};

/* From this number of spans on a directory pays: two to four bytes, against reading all columns before the one that is
 * wanted. */
#define DIRECTORY_SPANS 16u

static inline guint16 record_usual_flags(guint32 bits) { return bits & RECORD_MS ? SPAN_MILLISECONDS : 0; }
static inline gint64 record_unit_ns(guint32 bits) { return bits & RECORD_MS ? 1000000 : 1; }

/* The column of ids without RECORD_PLACES. */
static inline gsize record_plain_ids_bytes(guint32 bits, gsize n_spans, gsize n_missing) {
    return 8 * n_spans + (bits & RECORD_FOREIGN ? 16 : 8) * n_missing;
}

/* Tokens of parents: these two, or 2 + zig-zag of (place of the parent - place of the one before). */
enum { PARENT_FOREIGN = 0, PARENT_UNKNOWN = 1, PARENT_PLACE = 2 };

/* How many lists of annotations, texts and tracers can be referred to: the last ones that were written out. */
#define RECENT_LISTS     8u
#define RECENT_TEXTS     16u
#define RECENT_TRACERS   16u
#define RECENT_MIN_BYTES 4u /* a shorter text is not worth it */

/* Tokens of annotations as a whole: these, or KEYS_OWN + their number, and then their keys. For the k-th recent list
 * KEYS_RECENT + 2k: its keys; KEYS_RECENT + 2k + 1: all of it. */
enum { KEYS_AS_BEFORE = 0, KEYS_RECENT = 1, KEYS_OWN = 1 + 2 * RECENT_LISTS };

/* Low three bits of the tokens of values. */
enum { VALUE_TEXT, VALUE_NUMBER, VALUE_STEP, VALUE_RECENT, VALUE_PREFIX, VALUE_KINDS };
#define VALUE_KIND_BITS 3u

typedef struct RecentTexts {
    const char *text[RECENT_TEXTS]; /* the i-th ever at i % RECENT_TEXTS; borrowed */
    guint32 length[RECENT_TEXTS];
    guint32 n; /* ever */
} RecentTexts;

static inline void recent_add(RecentTexts *recent, const char *text, guint32 length) {
    if (length < RECENT_MIN_BYTES) return;
    recent->text[recent->n % RECENT_TEXTS] = text;
    recent->length[recent->n++ % RECENT_TEXTS] = length;
}

static inline guint32 recent_known(const RecentTexts *recent) { return MIN(recent->n, RECENT_TEXTS); }

/* How much references may copy, all in all, at a place in the column of annotations: what a record decodes to stays in
 * proportion to its own size. */
static inline gboolean record_may_copy(guint64 copied, guint64 more, gsize offset) {
    return copied + more <= (guint64)offset * 256 + 4096;
}

static inline guint64 zigzag_of(gint64 value) { return (guint64)value << 1 ^ (guint64)(value >> 63); }
static inline gint64 zigzag_value(guint64 coded) { return (gint64)(coded >> 1) ^ -(gint64)(coded & 1); }

/* Wrapping differences lose nothing, however far apart the times are. */
static inline gint64 wrapping_add(gint64 a, gint64 b) { return (gint64)((guint64)a + (guint64)b); }
static inline gint64 wrapping_sub(gint64 a, gint64 b) { return (gint64)((guint64)a - (guint64)b); }

/* Digits as a number prints them (no leading zero, no sign), below 10^18. */
static inline gboolean number_of_text(const char *text, guint32 length, gint64 *number) {
    if (length == 0 || length > 18 || (text[0] == '0' && length > 1)) return FALSE;
    gint64 value = 0;
    for (guint32 i = 0; i < length; i++) {
        guint digit = (guint)(guint8)text[i] - '0';
        if (digit > 9) return FALSE;
        value = value * 10 + digit;
    }
    *number = value;
    return TRUE;
}

/* The annotations of a span as they lie in memory: equal bytes, equal annotations. padded: with the zeros at the end of
 * the span, which nothing needs to be walked for; only of spans without notes. */
static inline Bytes annotations_of(const SpanRec *span, gboolean padded) {
    SpanCursor cursor = span_cursor(span);
    const guint8 *from = cursor.at;
    if (padded) return (Bytes){from, span->size_bytes - (gsize)(from - (const guint8 *)span)};
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation)) continue;
    return (Bytes){from, (gsize)(cursor.at - from)};
}
