#include "analyzer/calltree/stats/dist_builder.h"

#include <string.h>

/* So many values of at most DIST_VALUE_MAX are summed before their sums can overflow. */
#define CHUNK 1024u

static void note_min(SketchHead *head, guint64 value, guint64 times) {
    if (head->count == 0 || value < head->min) {
        head->min = value;
        head->min_count = times;
    } else if (value == head->min) {
        head->min_count = saturating_add(head->min_count, times);
    }
}

static void note_max(SketchHead *head, guint64 value, guint64 times) {
    if (head->count == 0 || value > head->max) {
        head->max = value;
        head->max_count = times;
    } else if (value == head->max) {
        head->max_count = saturating_add(head->max_count, times);
    }
}

static inline void count_bucket(DistBuilder *builder, guint32 number, guint64 count) {
    builder->counts[number] = saturating_add(builder->counts[number], count);
    builder->used[number / 64] |= (guint64)1 << (number % 64);
}

void dist_builder_init(DistBuilder *builder) {
    builder->head = (SketchHead){.count = 0};
    builder->squares = 0;
    builder->dense = FALSE;
    builder->counts = NULL;
}

void dist_builder_clear(DistBuilder *builder) { g_clear_pointer(&builder->counts, g_free); }

/* Of one distribution's values, while they are added: least and greatest, how often, and sums. */
typedef struct Sums {
    guint64 sum, min, max, min_count, max_count;
    Wide squares;
} Sums;

static inline void sum_value(Sums *sums, guint64 value) {
    sums->sum += value;
    sums->squares += (Wide)value * value;
    if (G_UNLIKELY(value <= sums->min)) {
        sums->min_count = value < sums->min ? 1 : sums->min_count + 1;
        sums->min = value;
    }
    if (G_UNLIKELY(value >= sums->max)) {
        sums->max_count = value > sums->max ? 1 : sums->max_count + 1;
        sums->max = value;
    }
}

/* At most CHUNK values, to a builder that is dense. */
static void add_dense(DistBuilder *builder, const guint64 *values, gsize n) {
    SketchHead *head = &builder->head;
    guint64 *counts = builder->counts;
    Sums sums = {.min = values[0], .max = values[0]};
    for (gsize i = 0; i < n; i++) {
        guint32 number = bucket_of(values[i]);
        sum_value(&sums, values[i]);
        if (G_LIKELY(counts[number] - 1 < G_MAXUINT64 - 1)) /* neither 0 nor the greatest there is */
            counts[number]++;
        else
            count_bucket(builder, number, 1);
    }
    note_min(head, sums.min, sums.min_count);
    note_max(head, sums.max, sums.max_count);
    head->count += n;
    head->sum = saturating_add(head->sum, sums.sum);
    builder->squares = saturating_add_wide(builder->squares, sums.squares);
}

static void make_dense(DistBuilder *builder) {
    if (builder->dense) return;
    guint64 n = builder->head.count;
    builder->dense = TRUE;
    builder->head = (SketchHead){.count = 0};
    if (builder->counts == NULL) builder->counts = g_new0(guint64, DIST_BUCKETS);
    memset(builder->used, 0, sizeof builder->used);
    if (n > 0) add_dense(builder, builder->few, n);
}

static void add_few(DistBuilder *builder, const guint64 *values, gsize n) {
    SketchHead *head = &builder->head;
    memcpy(builder->few + head->count, values, n * sizeof *values);
    for (gsize i = 0; i < n; i++) head->sum += values[i];
    head->count += n;
}

void dist_builder_add(DistBuilder *builder, const guint64 *values, gsize n) {
    for (gsize left = n; left > 0;) {
        gsize now = MIN(left, CHUNK);
        if (!builder->dense && builder->head.count + now <= DIST_EXACT_MAX) {
            add_few(builder, values, now);
        } else {
            make_dense(builder);
            add_dense(builder, values, now);
        }
        values += now;
        left -= now;
    }
}

static gboolean add_sketch(DistBuilder *builder, ByteReader *reader, guint64 count, guint64 *sum) {
    Bucket buckets[DIST_BUCKETS];
    SketchHead more = {.count = count};
    guint n = dist_get_sketch(reader, &more, buckets);
    if (n == 0) return FALSE;
    make_dense(builder);
    for (guint i = 0; i < n; i++) count_bucket(builder, buckets[i].number, buckets[i].count);
    SketchHead *head = &builder->head;
    note_min(head, more.min, more.min_count);
    note_max(head, more.max, more.max_count);
    head->count = saturating_add(head->count, more.count);
    head->sum = saturating_add(head->sum, more.sum);
    builder->squares = saturating_add_wide(builder->squares, (Wide)more.squares_hi << 64 | more.squares_lo);
    *sum = more.sum;
    return TRUE;
}

/* Few values, read to where they lie. */
static gboolean add_exact(DistBuilder *builder, ByteReader *reader, guint count, gboolean scaled, guint64 *sum) {
    guint64 values[DIST_EXACT_MAX];
    gboolean few = !builder->dense && builder->head.count + count <= DIST_EXACT_MAX;
    guint64 *to = few ? builder->few + builder->head.count : values;
    if (!dist_get_exact(reader, count, scaled, to)) return FALSE;
    for (guint i = 0; i < count; i++) *sum += to[i];
    if (!few) {
        dist_builder_add(builder, to, count);
        return TRUE;
    }
    builder->head.sum += *sum;
    builder->head.count += count;
    return TRUE;
}

gboolean dist_builder_add_encoded(DistBuilder *builder, ByteReader *reader, guint64 *count, guint64 *sum) {
    guint64 head = get_varint(reader);
    gboolean scaled = (head & 1) != 0;
    *count = head / 2;
    *sum = 0;
    if (reader->failed || (scaled && (*count == 0 || *count > DIST_EXACT_MAX))) return FALSE;
    if (*count > DIST_EXACT_MAX) return add_sketch(builder, reader, *count, sum);
    return add_exact(builder, reader, (guint)*count, scaled, sum);
}

static guint count_used(const DistBuilder *builder) {
    guint n = 0;
    for (guint w = 0; w < DIST_BUILDER_WORDS; w++) {
        if (builder->used[w] != 0) n += (guint)__builtin_popcountll(builder->used[w]);
    }
    return n;
}

static guint8 *put_buckets(DistBuilder *builder, guint8 *at) {
    guint32 before = 0;
    for (guint w = 0; w < DIST_BUILDER_WORDS; w++) {
        for (guint64 bits = builder->used[w]; bits != 0; bits &= bits - 1) {
            guint32 number = w * 64 + (guint32)__builtin_ctzll(bits);
            at = put_varint(at, number - before);
            at = put_varint(at, builder->counts[number]);
            builder->counts[number] = 0;
            before = number;
        }
        builder->used[w] = 0;
    }
    return at;
}

static guint8 *put_dense(DistBuilder *builder, guint8 *at) {
    const SketchHead *head = &builder->head;
    const guint64 first[] = {head->count * 2,           head->sum, (guint64)(builder->squares >> 64),
                             (guint64)builder->squares, head->min, head->max,
                             count_used(builder)};
    for (guint i = 0; i < G_N_ELEMENTS(first); i++) at = put_varint(at, first[i]);
    at = put_buckets(builder, at);
    at = put_varint(at, head->min_count);
    return put_varint(at, head->max_count);
}

gsize dist_builder_room(const DistBuilder *builder) {
    if (!builder->dense) return VARINT_MAX_BYTES * (1 + (gsize)builder->head.count);
    return VARINT_MAX_BYTES * (9 + 2 * (gsize)count_used(builder));
}

guint8 *dist_builder_put(DistBuilder *builder, guint8 *at) {
    guint n = (guint)builder->head.count;
    if (builder->dense) {
        at = put_dense(builder, at);
    } else if (n == 0) {
        *at++ = 0;
    } else {
        dist_sort_values(builder->few, n);
        at = dist_put_exact(at, builder->few, n);
    }
    builder->head = (SketchHead){.count = 0};
    builder->squares = 0;
    builder->dense = FALSE;
    return at;
}
