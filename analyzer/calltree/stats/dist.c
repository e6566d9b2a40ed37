/* Encoded form. A varint count * 2 + scaled; nothing follows for a count of 0.
 *   count <= DIST_EXACT_MAX: the values ascending, the first as it is, then differences; all divided by 1,000,000 when
 *   'scaled', which is set when and only when that leaves no remainder (times counted in milliseconds).
 *   Otherwise ('scaled' is 0): sum, squares_hi, squares_lo, min, max, number of buckets in use, then for each bucket,
 *   ascending, the difference of its number to the one before and its count; min_count, max_count.
 * All are varints. */
#include "analyzer/calltree/stats/dist.h"

#include <math.h>
#include <string.h>

#include "analyzer/calltree/stats/dist_code.h"

#define FEW_PENDING 4u

G_STATIC_ASSERT(DIST_VALUE_MAX == G_GUINT64_CONSTANT(1) << 52);
G_STATIC_ASSERT(DIST_BUCKETS <= 1u << 12 && DIST_EXACT_MAX <= G_MAXUINT8);

/* Values wait in 'pending' until it holds DIST_EXACT_MAX; one more, and all go to their buckets at once. So pending are
 * all values as long as there are no buckets, and adding a value costs little even when there are. */
struct DistValues {
    guint64 *pending; /* few, or malloced */
    Bucket *buckets;  /* by number */
    guint16 n_pending;
    guint16 pending_room;
    guint16 n_buckets;
    guint16 bucket_room;
    guint64 few[FEW_PENDING]; /* most rows of a group have few calls */
};

void dist_init(Dist *dist) { memset(dist, 0, sizeof *dist); }

static void free_values(Dist *dist) {
    if (dist->values == NULL) return;
    if (dist->values->pending != dist->values->few) g_free(dist->values->pending);
    g_free(dist->values->buckets);
    g_free(dist->values);
    dist->values = NULL;
}

void dist_clear(Dist *dist) {
    free_values(dist);
    dist_init(dist);
}

gsize dist_bytes(const Dist *dist) {
    const struct DistValues *values = dist->values;
    if (values == NULL) return 0;
    return sizeof *values + values->pending_room * sizeof *values->pending +
           values->bucket_room * sizeof *values->buckets;
}

static struct DistValues *values_of(Dist *dist) {
    if (dist->values == NULL) {
        dist->values = g_new(struct DistValues, 1);
        *dist->values = (struct DistValues){.pending = dist->values->few, .pending_room = FEW_PENDING};
    }
    return dist->values;
}

static void insert_sort(guint64 *values, guint n) {
    for (guint i = 1; i < n; i++) {
        guint64 value = values[i];
        guint j = i;
        for (; j > 0 && values[j - 1] > value; j--) values[j] = values[j - 1];
        values[j] = value;
    }
}

/* Two ascending pieces, the first of 'middle' values, into one. No branch depends on the values but at the end. */
static void merge_values(const guint64 *from, guint middle, guint n, guint64 *to) {
    const guint64 *left = from, *right = from + middle, *left_end = right, *right_end = from + n;
    while (left < left_end && right < right_end) {
        gboolean take_right = *right < *left;
        *to++ = take_right ? *right : *left;
        left += !take_right;
        right += take_right;
    }
    while (left < left_end) *to++ = *left++;
    while (right < right_end) *to++ = *right++;
}

void dist_sort_values(guint64 *values, guint n) {
    enum { RUN = 8 };
    guint64 other[DIST_EXACT_MAX], *from = values, *to = other;
    for (guint at = 0; at < n; at += RUN) insert_sort(values + at, MIN(RUN, n - at));
    for (guint run = RUN; run < n; run *= 2) {
        for (guint at = 0; at < n; at += 2 * run) {
            guint size = MIN(2 * run, n - at);
            merge_values(from + at, MIN(run, size), size, to + at);
        }
        guint64 *swap = from;
        from = to;
        to = swap;
    }
    if (from != values) memcpy(values, from, n * sizeof *values);
}

/* Makes room for buckets that are not there yet, and puts them in: from the back, so that nothing is overwritten before
 * it has moved. */
static void insert_buckets(struct DistValues *values, const Bucket *from, const guint16 *fresh, guint n) {
    guint total = values->n_buckets + n;
    if (total > values->bucket_room) {
        guint room = MIN(MAX(total, values->bucket_room + values->bucket_room / 2u), DIST_BUCKETS);
        values->buckets = g_renew(Bucket, values->buckets, room);
        values->bucket_room = (guint16)room;
    }
    guint have = values->n_buckets;
    for (guint to = total; n > 0; to--) {
        const Bucket *next = &from[fresh[n - 1]];
        if (have > 0 && values->buckets[have - 1].number > next->number) {
            values->buckets[to - 1] = values->buckets[--have];
        } else {
            values->buckets[to - 1] = *next;
            n--;
        }
    }
    values->n_buckets = (guint16)total;
}

/* Adds n buckets, ascending, to those there are. */
static void merge_buckets(struct DistValues *values, const Bucket *from, guint n) {
    guint16 fresh[DIST_BUCKETS];
    guint n_fresh = 0, i = 0;
    for (guint j = 0; j < n; j++) {
        while (i < values->n_buckets && values->buckets[i].number < from[j].number) i++;
        if (i < values->n_buckets && values->buckets[i].number == from[j].number) {
            values->buckets[i].count = saturating_add(values->buckets[i].count, from[j].count);
        } else {
            fresh[n_fresh++] = (guint16)j;
        }
    }
    if (n_fresh > 0) insert_buckets(values, from, fresh, n_fresh);
}

/* Two passes over 6 bits each: numbers of buckets have 12. */
static void sort_numbers(guint16 *numbers, guint n) {
    guint16 sorted[DIST_EXACT_MAX];
    for (guint shift = 0; shift < 12; shift += 6) {
        guint8 at[64] = {0};
        for (guint i = 0; i < n; i++) at[numbers[i] >> shift & 63]++;
        for (guint i = 0, sum = 0; i < 64; i++) {
            guint count = at[i];
            at[i] = (guint8)sum;
            sum += count;
        }
        for (guint i = 0; i < n; i++) sorted[at[numbers[i] >> shift & 63]++] = numbers[i];
        memcpy(numbers, sorted, n * sizeof *numbers);
    }
}

static void flush_pending(struct DistValues *values) {
    guint16 numbers[DIST_EXACT_MAX];
    Bucket together[DIST_EXACT_MAX];
    guint n = 0;
    for (guint i = 0; i < values->n_pending; i++) numbers[i] = (guint16)bucket_of(values->pending[i]);
    sort_numbers(numbers, values->n_pending);
    for (guint i = 0; i < values->n_pending; i++) {
        if (n > 0 && together[n - 1].number == numbers[i]) {
            together[n - 1].count++;
        } else {
            together[n++] = (Bucket){1, numbers[i]};
        }
    }
    values->n_pending = 0;
    merge_buckets(values, together, n);
}

static void make_room(struct DistValues *values) {
    if (values->n_pending == DIST_EXACT_MAX) {
        flush_pending(values);
        return;
    }
    guint room = values->pending_room * 2u;
    gboolean grown = values->pending != values->few;
    values->pending = grown ? g_renew(guint64, values->pending, room) : g_new(guint64, room);
    if (!grown) memcpy(values->pending, values->few, sizeof values->few);
    values->pending_room = (guint16)room;
}

static inline void push_value(struct DistValues *values, guint64 value) {
    if (values->n_pending == values->pending_room) make_room(values);
    values->pending[values->n_pending++] = value;
}

static void add_squares(Dist *dist, Wide squares) {
    Wide total = saturating_add_wide((Wide)dist->squares_hi << 64 | dist->squares_lo, squares);
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

static void merge_summary(Dist *into, const Dist *from) {
    into->count = saturating_add(into->count, from->count);
    into->sum = saturating_add(into->sum, from->sum);
    add_squares(into, (Wide)from->squares_hi << 64 | from->squares_lo);
    into->min = into->max = into->min_count = into->max_count = 0;
    free_values(into);
}

void dist_merge(Dist *into, const Dist *from) {
    if (from->count == 0) return;
    if (dist_is_summary(into) || dist_is_summary(from)) {
        merge_summary(into, from);
        return;
    }
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

static gboolean is_exact(const Dist *dist) { return dist->values->n_buckets == 0; }

gboolean dist_is_exact(const Dist *dist) { return dist->values == NULL ? dist->count == 0 : is_exact(dist); }

static gboolean take_exact(Dist *from, const Dist *what) {
    guint64 left[DIST_EXACT_MAX];
    guint n = from->values->n_pending;
    memcpy(left, from->values->pending, n * sizeof *left);
    for (guint i = 0; i < what->values->n_pending; i++) {
        guint at = 0;
        while (at < n && left[at] != what->values->pending[i]) at++;
        if (at == n) return FALSE;
        left[at] = left[--n];
    }
    dist_clear(from);
    for (guint i = 0; i < n; i++) dist_add(from, left[i]);
    return TRUE;
}

/* Takes buckets away, if they are all there. */
static gboolean take_buckets(struct DistValues *values, const struct DistValues *what) {
    guint i = 0;
    for (guint j = 0; j < what->n_buckets; j++) {
        while (i < values->n_buckets && values->buckets[i].number < what->buckets[j].number) i++;
        if (i == values->n_buckets || values->buckets[i].number != what->buckets[j].number) return FALSE;
        if (values->buckets[i].count < what->buckets[j].count) return FALSE;
    }
    guint kept = 0;
    for (guint at = 0, j = 0; at < values->n_buckets; at++) {
        Bucket bucket = values->buckets[at];
        if (j < what->n_buckets && what->buckets[j].number == bucket.number) bucket.count -= what->buckets[j++].count;
        if (bucket.count > 0) values->buckets[kept++] = bucket;
    }
    values->n_buckets = (guint16)kept;
    return TRUE;
}

/* The least and the greatest of what is left, when the last of them went: a single value and equal ones are their
 * mean, others lie in the first and the last bucket. */
static void tell_extremes(Dist *dist, gboolean min_gone, gboolean max_gone) {
    const struct DistValues *values = dist->values;
    guint64 mean = dist->sum / dist->count;
    gboolean equal = values->n_buckets == 1 && dist_stddev(dist) == 0;
    if (min_gone) dist->min = equal ? mean : MIN(bucket_middle(values->buckets[0].number), mean);
    if (max_gone) dist->max = equal ? mean : MAX(bucket_middle(values->buckets[values->n_buckets - 1].number), mean);
    dist->min = MIN(dist->min, dist->max); /* sums that stand at their limits tell no mean */
    if (min_gone) dist->min_count = 1;
    if (max_gone) dist->max_count = 1;
}

static gboolean take_sketch(Dist *from, const Dist *what) {
    Wide squares = (Wide)from->squares_hi << 64 | from->squares_lo;
    Wide less = (Wide)what->squares_hi << 64 | what->squares_lo;
    if (what->sum > from->sum || less > squares) return FALSE;

    Dist copy;
    dist_init(&copy);
    dist_merge(&copy, what);
    flush_pending(copy.values);
    flush_pending(from->values);
    gboolean good = take_buckets(from->values, copy.values);
    dist_clear(&copy);
    if (!good || (from->values->n_buckets == 0) != (from->count == what->count)) return FALSE;

    if (from->count == what->count) {
        dist_clear(from);
        return TRUE;
    }

    from->count -= what->count;
    from->sum -= what->sum;
    squares -= less;
    from->squares_hi = (guint64)(squares >> 64);
    from->squares_lo = (guint64)squares;

    gboolean min_gone = what->min < from->min || (what->min == from->min && what->min_count >= from->min_count);
    gboolean max_gone = what->max > from->max || (what->max == from->max && what->max_count >= from->max_count);
    if (what->min == from->min && !min_gone) from->min_count -= what->min_count;
    if (what->max == from->max && !max_gone) from->max_count -= what->max_count;

    tell_extremes(from, min_gone, max_gone);
    return TRUE;
}

gboolean dist_take(Dist *from, const Dist *what) {
    if (what->count == 0) return TRUE;
    if (what->count > from->count || dist_is_summary(from) || dist_is_summary(what)) return FALSE;
    if (is_exact(from)) return is_exact(what) && take_exact(from, what);
    return take_sketch(from, what);
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

void dist_each(const Dist *dist, DistVisit visit, void *arg) {
    const struct DistValues *values = dist->values;
    if (dist->count == 0 || values == NULL) return;
    for (guint i = 0; i < values->n_pending; i++) visit(arg, values->pending[i], 1);
    for (guint i = 0; i < values->n_buckets; i++) {
        const Bucket *bucket = &values->buckets[i];
        visit(arg, CLAMP(bucket_middle(bucket->number), dist->min, dist->max), bucket->count);
    }
}

double dist_quantile(Dist *dist, double q) {
    if (dist->count == 0 || dist_is_summary(dist)) return 0;
    struct DistValues *values = dist->values;
    guint64 rank = rank_of(dist, q), seen = 0;
    if (is_exact(dist)) {
        dist_sort_values(values->pending, values->n_pending);
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

guint8 *dist_put_exact(guint8 *at, const guint64 *values, guint n) {
    gboolean scaled = TRUE;
    for (guint i = 0; i < n && scaled; i++) scaled = values[i] % DIST_SCALE == 0;
    guint64 before = 0;
    at = put_varint(at, (guint64)n * 2 + (scaled ? 1 : 0));
    for (guint i = 0; i < n; i++) {
        guint64 step = values[i] - before;
        at = put_varint_wide(at, scaled ? step / DIST_SCALE : step);
        before = values[i];
    }
    return at;
}

static void encode_exact(struct DistValues *values, GByteArray *out) {
    guint8 coded[DIST_EXACT_BYTES];
    dist_sort_values(values->pending, values->n_pending);
    append_bytes(out, coded, (gsize)(dist_put_exact(coded, values->pending, values->n_pending) - coded));
}

static void encode_sketch(const Dist *dist, const struct DistValues *values, GByteArray *out) {
    const guint64 head[] = {dist->count * 2, dist->sum, dist->squares_hi, dist->squares_lo,
                            dist->min,       dist->max, values->n_buckets};
    guint start = out->len, n_numbers = G_N_ELEMENTS(head) + 2 * (guint)values->n_buckets + 2;
    g_byte_array_set_size(out, start + VARINT_MAX_BYTES * n_numbers);
    guint8 *at = out->data + start;
    for (guint i = 0; i < G_N_ELEMENTS(head); i++) at = put_varint(at, head[i]);
    guint32 before = 0;
    for (guint i = 0; i < values->n_buckets; i++) {
        at = put_varint(at, values->buckets[i].number - before);
        at = put_varint(at, values->buckets[i].count);
        before = values->buckets[i].number;
    }
    at = put_varint(at, dist->min_count);
    at = put_varint(at, dist->max_count);
    g_byte_array_set_size(out, (guint)(at - out->data));
}

void dist_encode(Dist *dist, GByteArray *out) {
    if (dist->count == 0) {
        append_varint(out, 0);
    } else if (is_exact(dist)) {
        encode_exact(dist->values, out);
    } else {
        flush_pending(dist->values);
        encode_sketch(dist, dist->values, out);
    }
}

gboolean dist_get_exact(ByteReader *reader, guint count, gboolean scaled, guint64 *values) {
    guint64 unit = scaled ? DIST_SCALE : 1, most = scaled ? DIST_VALUE_MAX / DIST_SCALE : DIST_VALUE_MAX, value = 0;
    for (guint i = 0; i < count; i++) {
        guint64 step = get_varint(reader);
        if (reader->failed || step > most) return FALSE;
        value += step * unit;
        if (value > DIST_VALUE_MAX) return FALSE;
        values[i] = value;
    }
    return TRUE;
}

/* Buckets of 'count' values in all, ascending; returns how many, 0: malformed. */
static guint read_buckets(Bucket *buckets, ByteReader *reader, guint64 count) {
    guint64 n = get_varint(reader), number = 0, total = 0;
    if (n > DIST_BUCKETS || n > reader_left(reader) / 2) return 0;
    for (guint64 i = 0; i < n; i++) {
        guint64 step = get_varint(reader), calls = get_varint(reader);
        if (reader->failed || calls == 0 || calls > count - total) return 0;
        if (step >= DIST_BUCKETS - number || (i > 0 && step == 0)) return 0;
        number += step;
        total += calls;
        buckets[i] = (Bucket){calls, (guint32)number};
    }
    return total == count ? (guint)n : 0;
}

/* Can so many values be the least and the greatest? */
static gboolean extremes_fit(const SketchHead *head, const Bucket *buckets, guint n) {
    const Bucket *first = &buckets[0], *last = &buckets[n - 1];
    if (first->number != bucket_of(head->min) || last->number != bucket_of(head->max)) return FALSE;
    if (head->min == head->max) return head->min_count == head->count && head->max_count == head->count;
    if (head->min_count == 0 || head->min_count > first->count) return FALSE;
    if (head->max_count == 0 || head->max_count > last->count) return FALSE;
    return n > 1 || head->max_count <= head->count - head->min_count;
}

guint dist_get_sketch(ByteReader *reader, SketchHead *head, Bucket *buckets) {
    head->sum = get_varint(reader);
    head->squares_hi = get_varint(reader);
    head->squares_lo = get_varint(reader);
    head->min = get_varint(reader);
    head->max = get_varint(reader);
    if (reader->failed || head->min > head->max || head->max > DIST_VALUE_MAX) return 0;
    guint n = read_buckets(buckets, reader, head->count);
    head->min_count = get_varint(reader);
    head->max_count = get_varint(reader);
    if (reader->failed || n == 0 || !extremes_fit(head, buckets, n)) return 0;
    Wide least = (Wide)head->count * head->min, most = (Wide)head->count * head->max;
    if (head->sum > most || (head->sum < least && head->sum != G_MAXUINT64)) return 0;
    return n;
}

static gboolean merge_sketch(Dist *into, ByteReader *reader, guint64 count, guint64 *sum) {
    Bucket buckets[DIST_BUCKETS];
    SketchHead head = {.count = count};
    struct DistValues values = {.buckets = buckets};
    values.n_buckets = (guint16)dist_get_sketch(reader, &head, buckets);
    if (values.n_buckets == 0) return FALSE;
    Dist sketch = {.count = count,
                   .sum = head.sum,
                   .squares_hi = head.squares_hi,
                   .squares_lo = head.squares_lo,
                   .min = head.min,
                   .max = head.max,
                   .min_count = head.min_count,
                   .max_count = head.max_count,
                   .values = &values};
    dist_merge(into, &sketch);
    *sum = head.sum;
    return TRUE;
}

gboolean dist_merge_told(Dist *into, ByteReader *reader, guint64 *count, guint64 *sum) {
    guint64 head = get_varint(reader), values[DIST_EXACT_MAX];
    gboolean scaled = (head & 1) != 0;
    *count = head / 2;
    *sum = 0;
    if (reader->failed || (scaled && (*count == 0 || *count > DIST_EXACT_MAX))) return FALSE;
    if (*count > DIST_EXACT_MAX) return merge_sketch(into, reader, *count, sum);
    if (!dist_get_exact(reader, (guint)*count, scaled, values)) return FALSE;
    for (guint i = 0; i < *count; i++) {
        dist_add(into, values[i]);
        *sum += values[i];
    }
    return TRUE;
}

/* The buckets and the numbers of extremes behind the head are passed over. */
static gboolean skip_sketch(ByteReader *reader, guint64 *sum) {
    *sum = get_varint(reader);
    skip_varints(reader, 4); /* squares, extremes */
    guint64 n = get_varint(reader);
    if (n > DIST_BUCKETS || n > reader_left(reader) / 2) return FALSE;
    skip_varints(reader, 2 * n + 2);
    return !reader->failed;
}

gboolean dist_told(ByteReader *reader, guint64 *count, guint64 *sum) {
    guint64 head = get_varint(reader), values[DIST_EXACT_MAX];
    gboolean scaled = (head & 1) != 0;
    *count = head / 2;
    *sum = 0;
    if (reader->failed || (scaled && (*count == 0 || *count > DIST_EXACT_MAX))) return FALSE;
    if (*count > DIST_EXACT_MAX) return skip_sketch(reader, sum);
    if (!dist_get_exact(reader, (guint)*count, scaled, values)) return FALSE;
    for (guint i = 0; i < *count; i++) *sum += values[i];
    return TRUE;
}

gboolean dist_merge_encoded(Dist *into, ByteReader *reader) {
    guint64 count, sum;
    return dist_merge_told(into, reader, &count, &sum);
}
