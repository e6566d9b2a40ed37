/* Encoded form. A varint count * 2 + scaled; nothing follows for a count of 0.
 *   count <= DIST_EXACT_MAX: the values ascending, the first as it is, then differences; all divided by 1,000,000 when
 *   'scaled', which is set when and only when that leaves no remainder (times counted in milliseconds).
 *   Otherwise ('scaled' is 0): sum, squares_hi, squares_lo, min, max, number of buckets in use, then for each bucket,
 *   ascending, the difference of its number to the one before and its count; min_count, max_count.
 * All are varints. */
#include "analyzer/calltree/dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/dist_heap.h"

#define SCALE         G_GUINT64_CONSTANT(1000000)
#define LINEAR_BITS   7u /* values below 2^7 have a bucket each */
#define OCTAVE_BITS   6u /* above, a power of two is cut into 2^6 buckets */
#define LINEAR        (1u << LINEAR_BITS)
#define OCTAVE        (1u << OCTAVE_BITS)
#define BUCKETS       (LINEAR + (52 - LINEAR_BITS) * OCTAVE + 1)
#define FIRST_PENDING 4u

G_STATIC_ASSERT(DIST_VALUE_MAX == G_GUINT64_CONSTANT(1) << 52);
G_STATIC_ASSERT(BUCKETS <= G_MAXUINT16);

typedef struct Bucket {
    guint64 count;
    guint32 number;
} Bucket;

/* Values wait in 'pending' until it holds DIST_EXACT_MAX; one more, and all go to their buckets at once. So pending are
 * all values as long as there are no buckets, and adding a value costs little even when there are. */
struct DistValues {
    guint64 *pending;
    Bucket *buckets; /* by number */
    guint16 n_pending;
    guint16 pending_room;
    guint16 n_buckets;
    guint16 bucket_room;
};

typedef unsigned __int128 Wide;

static guint32 bucket_of(guint64 value) {
    if (value < LINEAR) return (guint32)value;
    guint32 power = 63u - (guint32)__builtin_clzll(value);
    guint32 part = (guint32)(value >> (power - OCTAVE_BITS)) - OCTAVE;
    return LINEAR + (power - LINEAR_BITS) * OCTAVE + part;
}

static guint64 bucket_middle(guint32 bucket) {
    if (bucket < LINEAR) return bucket;
    guint32 power = LINEAR_BITS + (bucket - LINEAR) / OCTAVE;
    guint64 part = OCTAVE + (bucket - LINEAR) % OCTAVE;
    guint64 width = (guint64)1 << (power - OCTAVE_BITS);
    return part * width + width / 2;
}

void dist_init(Dist *dist) { memset(dist, 0, sizeof *dist); }

void dist_clear(Dist *dist) {
    if (dist->values != NULL) {
        g_free(dist->values->pending);
        g_free(dist->values->buckets);
        g_free(dist->values);
    }
    dist_init(dist);
}

gsize dist_heap_bytes(const Dist *dist) {
    const struct DistValues *values = dist->values;
    if (values == NULL) return 0;
    return sizeof *values + values->pending_room * sizeof *values->pending + values->bucket_room * sizeof(Bucket);
}

static struct DistValues *values_of(Dist *dist) {
    if (dist->values == NULL) dist->values = g_new0(struct DistValues, 1);
    return dist->values;
}

static int by_value(const void *a, const void *b) {
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return (x > y) - (x < y);
}

/* At most DIST_EXACT_MAX of them, often nearly in order. */
static void sort_pending(struct DistValues *values) {
    guint64 *at = values->pending;
    if (values->n_pending > 24) {
        qsort(at, values->n_pending, sizeof *at, by_value);
        return;
    }
    for (guint i = 1; i < values->n_pending; i++) {
        guint64 value = at[i];
        guint j = i;
        for (; j > 0 && at[j - 1] > value; j--) at[j] = at[j - 1];
        at[j] = value;
    }
}

static guint64 saturating_add(guint64 a, guint64 b) {
    guint64 sum = a + b;
    return sum < a ? G_MAXUINT64 : sum;
}

/* Adds n buckets, ascending, to those there are. */
static void merge_buckets(struct DistValues *values, const Bucket *from, guint n) {
    guint fresh = 0;
    for (guint i = 0, j = 0; j < n; j++) {
        while (i < values->n_buckets && values->buckets[i].number < from[j].number) i++;
        fresh += i == values->n_buckets || values->buckets[i].number != from[j].number;
    }
    guint total = values->n_buckets + fresh;
    if (total > values->bucket_room) {
        guint room = MIN(MAX(total, values->bucket_room + values->bucket_room / 2u), BUCKETS);
        values->buckets = g_renew(Bucket, values->buckets, room);
        values->bucket_room = (guint16)room;
    }
    /* From the back, so that nothing is overwritten before it has moved. */
    guint i = values->n_buckets, j = n;
    for (guint to = total; j > 0; to--) {
        Bucket *target = &values->buckets[to - 1];
        if (i > 0 && values->buckets[i - 1].number > from[j - 1].number) {
            *target = values->buckets[--i];
            continue;
        }
        guint64 count = from[j - 1].count;
        if (i > 0 && values->buckets[i - 1].number == from[j - 1].number)
            count = saturating_add(count, values->buckets[--i].count);
        *target = (Bucket){count, from[--j].number};
    }
    values->n_buckets = (guint16)total;
}

static void flush_pending(struct DistValues *values) {
    guint32 numbers[DIST_EXACT_MAX];
    Bucket fresh[DIST_EXACT_MAX];
    guint n = 0;
    for (guint i = 0; i < values->n_pending; i++) {
        guint32 number = bucket_of(values->pending[i]);
        guint j = i;
        for (; j > 0 && numbers[j - 1] > number; j--) numbers[j] = numbers[j - 1];
        numbers[j] = number;
    }
    for (guint i = 0; i < values->n_pending; i++) {
        if (n > 0 && fresh[n - 1].number == numbers[i]) {
            fresh[n - 1].count++;
        } else {
            fresh[n++] = (Bucket){1, numbers[i]};
        }
    }
    values->n_pending = 0;
    merge_buckets(values, fresh, n);
}

static void make_room(struct DistValues *values) {
    if (values->n_pending == DIST_EXACT_MAX) {
        flush_pending(values);
        return;
    }
    guint room = values->pending_room == 0 ? FIRST_PENDING : values->pending_room * 2u;
    values->pending = g_renew(guint64, values->pending, room);
    values->pending_room = (guint16)room;
}

static inline void push_value(struct DistValues *values, guint64 value) {
    if (values->n_pending == values->pending_room) make_room(values);
    values->pending[values->n_pending++] = value;
}

static void add_squares(Dist *dist, Wide squares) {
    Wide have = (Wide)dist->squares_hi << 64 | dist->squares_lo;
    Wide total = have + squares;
    if (total < have) total = ~(Wide)0;
    dist->squares_hi = (guint64)(total >> 64);
    dist->squares_lo = (guint64)total;
}

static inline void note_min(Dist *dist, guint64 value, guint64 times) {
    if (dist->count == 0 || value < dist->min) {
        dist->min = value;
        dist->min_count = times;
    } else if (value == dist->min) {
        dist->min_count = saturating_add(dist->min_count, times);
    }
}

static inline void note_max(Dist *dist, guint64 value, guint64 times) {
    if (dist->count == 0 || value > dist->max) {
        dist->max = value;
        dist->max_count = times;
    } else if (value == dist->max) {
        dist->max_count = saturating_add(dist->max_count, times);
    }
}

static inline void count_value(Dist *dist, guint64 value) {
    note_min(dist, value, 1);
    note_max(dist, value, 1);
    dist->count++;
    dist->sum = saturating_add(dist->sum, value);
    add_squares(dist, (Wide)value * value);
}

void dist_add(Dist *dist, guint64 value) {
    value = MIN(value, DIST_VALUE_MAX);
    count_value(dist, value);
    push_value(values_of(dist), value);
}

gsize dist_add_growth(Dist *dist, guint64 value) {
    const struct DistValues *values = dist->values;
    if (values != NULL && values->n_pending < values->pending_room) {
        dist_add(dist, value);
        return 0;
    }
    gsize before = dist_heap_bytes(dist);
    dist_add(dist, value);
    return dist_heap_bytes(dist) - before;
}

void dist_merge(Dist *into, const Dist *from) {
    if (from->count == 0) return;
    note_min(into, from->min, from->min_count);
    note_max(into, from->max, from->max_count);
    into->count = saturating_add(into->count, from->count);
    into->sum = saturating_add(into->sum, from->sum);
    add_squares(into, (Wide)from->squares_hi << 64 | from->squares_lo);
    struct DistValues *values = values_of(into);
    const struct DistValues *others = from->values;
    if (others->n_buckets > 0) merge_buckets(values, others->buckets, others->n_buckets);
    for (guint i = 0; i < others->n_pending; i++) push_value(values, others->pending[i]);
}

static gboolean is_exact(const Dist *dist) { return dist->count <= DIST_EXACT_MAX; }

static gboolean subtract_exact(Dist *into, const Dist *from) {
    guint64 left[DIST_EXACT_MAX];
    guint n = into->values->n_pending;
    memcpy(left, into->values->pending, n * sizeof *left);
    for (guint i = 0; i < from->values->n_pending; i++) {
        guint at = 0;
        while (at < n && left[at] != from->values->pending[i]) at++;
        if (at == n) return FALSE;
        left[at] = left[--n];
    }
    dist_clear(into);
    for (guint i = 0; i < n; i++) dist_add(into, left[i]);
    return TRUE;
}

/* Takes buckets away, if they are all there. */
static gboolean subtract_buckets(struct DistValues *values, const struct DistValues *from) {
    guint i = 0;
    for (guint j = 0; j < from->n_buckets; j++) {
        while (i < values->n_buckets && values->buckets[i].number < from->buckets[j].number) i++;
        if (i == values->n_buckets || values->buckets[i].number != from->buckets[j].number) return FALSE;
        if (values->buckets[i].count < from->buckets[j].count) return FALSE;
    }
    guint kept = 0;
    for (guint at = 0, j = 0; at < values->n_buckets; at++) {
        Bucket bucket = values->buckets[at];
        if (j < from->n_buckets && from->buckets[j].number == bucket.number) bucket.count -= from->buckets[j++].count;
        if (bucket.count > 0) values->buckets[kept++] = bucket;
    }
    values->n_buckets = (guint16)kept;
    return TRUE;
}

static gboolean subtract_sketch(Dist *into, const Dist *from) {
    Wide squares = (Wide)into->squares_hi << 64 | into->squares_lo;
    Wide less = (Wide)from->squares_hi << 64 | from->squares_lo;
    if (into->sum == G_MAXUINT64 || squares == ~(Wide)0 || from->sum > into->sum || less > squares) return FALSE;
    if (from->min < into->min || (from->min == into->min && from->min_count >= into->min_count)) return FALSE;
    if (from->max > into->max || (from->max == into->max && from->max_count >= into->max_count)) return FALSE;
    Dist copy;
    dist_init(&copy);
    dist_merge(&copy, from);
    flush_pending(copy.values);
    flush_pending(into->values);
    gboolean good = subtract_buckets(into->values, copy.values);
    dist_clear(&copy);
    if (!good) return FALSE;
    if (from->min == into->min) into->min_count -= from->min_count;
    if (from->max == into->max) into->max_count -= from->max_count;
    into->count -= from->count;
    into->sum -= from->sum;
    squares -= less;
    into->squares_hi = (guint64)(squares >> 64);
    into->squares_lo = (guint64)squares;
    return TRUE;
}

gboolean dist_subtract(Dist *into, const Dist *from) {
    if (from->count == 0) return TRUE;
    if (from->count > into->count) return FALSE;
    if (is_exact(into)) return subtract_exact(into, from);
    return into->count - from->count > DIST_EXACT_MAX && subtract_sketch(into, from);
}

/* ---- what it says ---- */

double dist_mean(const Dist *dist) { return dist->count == 0 ? 0 : (double)dist->sum / (double)dist->count; }

/* Of the population. With m the whole part of the mean and r what the division leaves, the sum of (x - m)^2 is
 * squares - m * (sum + r): whole numbers, so nothing cancels away even when the deviation is a millionth of the mean.
 */
double dist_stddev(const Dist *dist) {
    if (dist->count == 0) return 0;
    guint64 mean = dist->sum / dist->count, rest = dist->sum % dist->count;
    Wide squares = (Wide)dist->squares_hi << 64 | dist->squares_lo;
    Wide shift = (Wide)mean * ((Wide)dist->sum + rest);
    if (squares <= shift) return 0;
    double count = (double)dist->count, off = (double)rest / count;
    double variance = (double)(squares - shift) / count - off * off;
    return variance > 0 ? sqrt(variance) : 0;
}

static guint64 rank_of(const Dist *dist, double q) {
    double rank = ceil(q * (double)dist->count);
    if (!(rank > 1)) return 1;
    return rank >= (double)dist->count ? dist->count : (guint64)rank;
}

double dist_quantile(Dist *dist, double q) {
    if (dist->count == 0) return 0;
    struct DistValues *values = dist->values;
    guint64 rank = rank_of(dist, q), seen = 0;
    if (is_exact(dist)) {
        sort_pending(values);
        return (double)values->pending[rank - 1];
    }
    flush_pending(values);
    if (q <= 0) return (double)dist->min;
    guint i = 0;
    for (; i + 1 < values->n_buckets; i++) {
        seen = saturating_add(seen, values->buckets[i].count);
        if (seen >= rank) break;
    }
    return (double)CLAMP(bucket_middle(values->buckets[i].number), dist->min, dist->max);
}

/* ---- stored form ---- */

static void encode_exact(struct DistValues *values, GByteArray *out) {
    sort_pending(values);
    gboolean scaled = TRUE;
    for (guint i = 0; i < values->n_pending && scaled; i++) scaled = values->pending[i] % SCALE == 0;
    guint64 unit = scaled ? SCALE : 1, before = 0;
    append_varint(out, (guint64)values->n_pending * 2 + (scaled ? 1 : 0));
    for (guint i = 0; i < values->n_pending; i++) {
        append_varint(out, (values->pending[i] - before) / unit);
        before = values->pending[i];
    }
}

void dist_encode(Dist *dist, GByteArray *out) {
    struct DistValues *values = dist->values;
    if (dist->count == 0) {
        append_varint(out, 0);
        return;
    }
    if (is_exact(dist)) {
        encode_exact(values, out);
        return;
    }
    flush_pending(values);
    append_varint(out, dist->count * 2);
    append_varint(out, dist->sum);
    append_varint(out, dist->squares_hi);
    append_varint(out, dist->squares_lo);
    append_varint(out, dist->min);
    append_varint(out, dist->max);
    append_varint(out, values->n_buckets);
    guint32 before = 0;
    for (guint i = 0; i < values->n_buckets; i++) {
        append_varint(out, values->buckets[i].number - before);
        append_varint(out, values->buckets[i].count);
        before = values->buckets[i].number;
    }
    append_varint(out, dist->min_count);
    append_varint(out, dist->max_count);
}

static gboolean decode_exact(Dist *dist, ByteReader *reader, guint64 count, guint64 unit) {
    guint64 value = 0;
    for (guint64 i = 0; i < count; i++) {
        guint64 step = read_varint(reader);
        if (reader->failed || step > DIST_VALUE_MAX / unit) return FALSE;
        value += step * unit;
        if (value > DIST_VALUE_MAX) return FALSE;
        dist_add(dist, value);
    }
    return TRUE;
}

static gboolean decode_buckets(struct DistValues *values, ByteReader *reader, guint64 count) {
    guint64 n = read_varint(reader), number = 0, total = 0;
    if (n == 0 || n > BUCKETS || n > reader_left(reader) / 2) return FALSE;
    values->buckets = g_new(Bucket, n);
    values->bucket_room = (guint16)n;
    for (guint64 i = 0; i < n; i++) {
        guint64 step = read_varint(reader), calls = read_varint(reader);
        if (reader->failed || calls == 0 || calls > count - total) return FALSE;
        if (step >= BUCKETS - number || (i > 0 && step == 0)) return FALSE;
        number += step;
        total += calls;
        values->buckets[i] = (Bucket){calls, (guint32)number};
        values->n_buckets = (guint16)(i + 1);
    }
    return total == count;
}

/* Can so many values be the least and the greatest? */
static gboolean extremes_fit(const Dist *dist) {
    const struct DistValues *values = dist->values;
    if (dist->min == dist->max) return dist->min_count == dist->count && dist->max_count == dist->count;
    if (dist->min_count == 0 || dist->min_count > values->buckets[0].count) return FALSE;
    if (dist->max_count == 0 || dist->max_count > values->buckets[values->n_buckets - 1].count) return FALSE;
    return values->n_buckets > 1 || dist->max_count <= dist->count - dist->min_count;
}

static gboolean decode_sketch(Dist *dist, ByteReader *reader, guint64 count) {
    dist->count = count;
    dist->sum = read_varint(reader);
    dist->squares_hi = read_varint(reader);
    dist->squares_lo = read_varint(reader);
    dist->min = read_varint(reader);
    dist->max = read_varint(reader);
    if (reader->failed || dist->min > dist->max || dist->max > DIST_VALUE_MAX) return FALSE;
    struct DistValues *values = values_of(dist);
    if (!decode_buckets(values, reader, count)) return FALSE;
    dist->min_count = read_varint(reader);
    dist->max_count = read_varint(reader);
    if (reader->failed || !extremes_fit(dist)) return FALSE;
    Wide least = (Wide)count * dist->min, most = (Wide)count * dist->max;
    if (dist->sum > most || (dist->sum < least && dist->sum != G_MAXUINT64)) return FALSE;
    return values->buckets[0].number == bucket_of(dist->min) &&
           values->buckets[values->n_buckets - 1].number == bucket_of(dist->max);
}

gboolean dist_merge_encoded(Dist *into, ByteReader *reader) {
    guint64 head = read_varint(reader), count = head / 2;
    gboolean scaled = (head & 1) != 0;
    if (reader->failed || (scaled && (count == 0 || count > DIST_EXACT_MAX))) return FALSE;
    if (count == 0) return TRUE;
    Dist decoded;
    dist_init(&decoded);
    gboolean exact = count <= DIST_EXACT_MAX;
    gboolean fine =
        exact ? decode_exact(&decoded, reader, count, scaled ? SCALE : 1) : decode_sketch(&decoded, reader, count);
    if (fine && into->count == 0) {
        dist_clear(into);
        *into = decoded;
        return TRUE;
    }
    if (fine) dist_merge(into, &decoded);
    dist_clear(&decoded);
    return fine;
}
