/* What dist.c and dist_builder.c share: buckets, and the stored form (described in dist.c). */
#pragma once

#include "analyzer/calltree/stats/dist.h"
#include "analyzer/calltree/varint.h"

#define DIST_SCALE       G_GUINT64_CONSTANT(1000000)
#define DIST_LINEAR_BITS 7u /* values below 2^7 have a bucket each */
#define DIST_OCTAVE_BITS 6u /* above, a power of two is cut into 2^6 buckets */
#define DIST_LINEAR      (1u << DIST_LINEAR_BITS)
#define DIST_OCTAVE      (1u << DIST_OCTAVE_BITS)
#define DIST_BUCKETS     (DIST_LINEAR + (52 - DIST_LINEAR_BITS) * DIST_OCTAVE + 1)
#define DIST_EXACT_BYTES (VARINT_MAX_BYTES * (1 + DIST_EXACT_MAX))

typedef unsigned __int128 Wide;

typedef struct Bucket {
    guint64 count;
    guint32 number;
} Bucket;

/* The stored form of more than DIST_EXACT_MAX values, but for its buckets. */
typedef struct SketchHead {
    guint64 count, sum, squares_hi, squares_lo, min, max, min_count, max_count;
} SketchHead;

static inline guint32 bucket_of(guint64 value) {
    if (value < DIST_LINEAR) return (guint32)value;
    guint32 power = 63u - (guint32)__builtin_clzll(value);
    guint32 part = (guint32)(value >> (power - DIST_OCTAVE_BITS)) - DIST_OCTAVE;
    return DIST_LINEAR + (power - DIST_LINEAR_BITS) * DIST_OCTAVE + part;
}

static inline guint64 bucket_middle(guint32 bucket) {
    if (bucket < DIST_LINEAR) return bucket;
    guint32 power = DIST_LINEAR_BITS + (bucket - DIST_LINEAR) / DIST_OCTAVE;
    guint64 part = DIST_OCTAVE + (bucket - DIST_LINEAR) % DIST_OCTAVE;
    guint64 width = (guint64)1 << (power - DIST_OCTAVE_BITS);
    return part * width + width / 2;
}

static inline guint64 saturating_add(guint64 a, guint64 b) {
    guint64 sum = a + b;
    return sum < a ? G_MAXUINT64 : sum;
}

static inline Wide saturating_add_wide(Wide a, Wide b) {
    Wide sum = a + b;
    return sum < a ? ~(Wide)0 : sum;
}

/* At most DIST_EXACT_MAX of them, often nearly in order. */
void dist_sort_values(guint64 *values, guint n);
/* Values in order, 1 to DIST_EXACT_MAX of them, into DIST_EXACT_BYTES; returns the end. */
guint8 *dist_put_exact(guint8 *at, const guint64 *values, guint n);
/* Reads 'count' values, at most DIST_EXACT_MAX, behind their head. FALSE: malformed. */
gboolean dist_get_exact(ByteReader *reader, guint count, gboolean scaled, guint64 *values);
/* Reads a sketch of head->count values behind that count; buckets has room for DIST_BUCKETS. Returns how many there
 * are; 0: malformed. */
guint dist_get_sketch(ByteReader *reader, SketchHead *head, Bucket *buckets);

/* dist_merge_encoded() that also tells count and sum of what it has merged. */
gboolean dist_merge_told(Dist *into, ByteReader *reader, guint64 *count, guint64 *sum);
/* Only tells; what is behind is checked as far as it is read. */
gboolean dist_told(ByteReader *reader, guint64 *count, guint64 *sum);
