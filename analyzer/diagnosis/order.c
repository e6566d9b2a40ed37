#include "analyzer/diagnosis/order.h"

#include <math.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     6 /* of 11 bits each: 64 are covered */
#define BUCKETS    (1u << DIGIT_BITS)

/* Keys order as the doubles do; both zeros are one. */
static inline guint64 key_of(double value) {
    guint64 bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | G_GUINT64_CONSTANT(1) << 63;
}

static inline double value_of(guint64 key) {
    guint64 bits = key >> 63 ? key & ~(G_GUINT64_CONSTANT(1) << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline guint digit_of(guint64 key, guint digit) { return (guint)(key >> (DIGIT_BITS * digit)) & (BUCKETS - 1); }

/* ---- one rank ---- */

/* Leaves of keys[0..n) those in the bucket that holds rank *k, which becomes the rank among them. */
static gsize narrow(guint64 *keys, gsize n, guint digit, gsize *k) {
    guint32 counts[BUCKETS] = {0};
    for (gsize i = 0; i < n; i++) counts[digit_of(keys[i], digit)]++;
    guint bucket = 0;
    gsize before = 0;
    while (before + counts[bucket] <= *k) before += counts[bucket++];
    *k -= before;
    if (counts[bucket] == n) return n;
    gsize kept = 0;
    for (gsize i = 0; i < n; i++) {
        keys[kept] = keys[i];
        kept += digit_of(keys[i], digit) == bucket;
    }
    return kept;
}

static guint64 key_at_rank(guint64 *keys, gsize n, gsize k) {
    for (guint digit = DIGITS; digit-- > 0 && n > 1;) n = narrow(keys, n, digit, &k);
    return keys[0];
}

/* The value after rank k, whose key is 'at'. */
static guint64 key_after(const double *values, gsize n, gsize k, guint64 at) {
    gsize up_to = 0;
    guint64 next = G_MAXUINT64;
    for (gsize i = 0; i < n; i++) {
        const guint64 key = key_of(values[i]);
        if (key <= at)
            up_to++;
        else if (key < next)
            next = key;
    }
    return up_to > k + 1 ? at : next;
}

double order_quantile(const double *values, gsize n, double q) {
    if (n == 0) return 0;
    const double rank = CLAMP(q, 0, 1) * (double)(n - 1);
    const gsize k = (gsize)rank;
    const double share = rank - (double)k;
    g_autofree guint64 *keys = g_new(guint64, n);
    for (gsize i = 0; i < n; i++) keys[i] = key_of(values[i]);
    const guint64 at = key_at_rank(keys, n, k);
    const double low = value_of(at);
    if (share == 0 || k + 1 >= n) return low;
    const double high = value_of(key_after(values, n, k, at));
    return low + share * (high - low);
}

/* ---- sorting ---- */

static void insertion_sort(OrderItem *items, gsize n) {
    for (gsize i = 1; i < n; i++) {
        const OrderItem item = items[i];
        gsize at = i;
        for (; at > 0 && items[at - 1].value > item.value; at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

static void merge(const OrderItem *from, OrderItem *to, gsize middle, gsize n) {
    gsize a = 0, b = middle;
    for (gsize i = 0; i < n; i++)
        to[i] = b >= n || (a < middle && from[a].value <= from[b].value) ? from[a++] : from[b++];
}

#define RUN 16

static void merge_sort(OrderItem *items, OrderItem *scratch, gsize n) {
    for (gsize at = 0; at < n; at += RUN) insertion_sort(items + at, MIN((gsize)RUN, n - at));
    OrderItem *from = items, *to = scratch;
    for (gsize width = RUN; width < n; width *= 2) {
        for (gsize at = 0; at < n; at += 2 * width) {
            const gsize length = MIN(2 * width, n - at);
            merge(from + at, to + at, MIN(width, length), length);
        }
        OrderItem *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

/* From so many on, counting beats comparing. */
#define RADIX_LEAST 4096

static void radix_sort(OrderItem *items, OrderItem *scratch, gsize n) {
    g_autofree guint32 *counts = g_new0(guint32, (gsize)DIGITS * BUCKETS);
    for (gsize i = 0; i < n; i++) {
        const guint64 key = key_of(items[i].value);
        for (guint digit = 0; digit < DIGITS; digit++) counts[digit * BUCKETS + digit_of(key, digit)]++;
    }

    OrderItem *from = items, *to = scratch;
    for (guint digit = 0; digit < DIGITS; digit++) {
        guint32 *starts = counts + (gsize)digit * BUCKETS, sum = 0;
        if (starts[digit_of(key_of(items[0].value), digit)] == n) continue; /* they agree in it */

        for (guint bucket = 0; bucket < BUCKETS; bucket++) {
            const guint32 count = starts[bucket];
            starts[bucket] = sum;
            sum += count;
        }

        for (gsize i = 0; i < n; i++) to[starts[digit_of(key_of(from[i].value), digit)]++] = from[i];
        OrderItem *swap = from;
        from = to;
        to = swap;
    }

    if (from != items) memcpy(items, from, n * sizeof *items);
}

void order_sort(OrderItem *items, OrderItem *scratch, gsize n) {
    if (n <= RUN)
        insertion_sort(items, n);
    else if (n < RADIX_LEAST)
        merge_sort(items, scratch, n);
    else
        radix_sort(items, scratch, n);
}

/* ---- correlation ---- */

double order_pearson(const double *x, const double *y, gsize n) {
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (gsize i = 0; i < n; i++) {
        mean_x += x[i];
        mean_y += y[i];
    }
    mean_x /= (double)n;
    mean_y /= (double)n;
    for (gsize i = 0; i < n; i++) {
        const double dx = x[i] - mean_x, dy = y[i] - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return n < 2 || xx <= 0 || yy <= 0 ? NAN : xy / sqrt(xx) / sqrt(yy);
}
