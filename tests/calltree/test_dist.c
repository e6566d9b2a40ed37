/* Distributions: exact figures, quantiles within the stated error, and an encoded form that depends on the values only.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/stats/dist_builder.h"
#include "analyzer/calltree/stats/dist_code.h"
#include "tests/base/seed.h"
#include "tests/calltree/forest.h"

static Dist dist_of(const guint64 *values, gsize n) {
    Dist dist;
    dist_init(&dist);
    for (gsize i = 0; i < n; i++) dist_add(&dist, values[i]);
    return dist;
}

static char *hex_of(Dist *dist) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    GString *hex = g_string_new(NULL);
    dist_encode(dist, bytes);
    for (guint i = 0; i < bytes->len; i++) g_string_append_printf(hex, "%02x", bytes->data[i]);
    return g_string_free(hex, FALSE);
}

/* Stores hold these bytes: a change here is a change of the format. */
static void test_golden(void) {
    static const struct {
        guint64 values[4];
        guint n;
        const char *hex;
    } cases[] = {
        {{0}, 0, "00"},
        {{0}, 1, "0300"},
        {{5}, 1, "0205"},
        {{300, 5}, 2, "0405a702"},
        {{3000000, 1000000, 3000000}, 3, "07010200"},
        {{3000000, 1, 3000000}, 3, "0601bf8db70100"},
        {{DIST_VALUE_MAX}, 1, "028080808080808008"},
        {{DIST_VALUE_MAX + 1}, 1, "028080808080808008"},
        {{G_MAXUINT64, 7}, 2, "0407f9ffffffffffff07"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Dist dist = dist_of(cases[i].values, cases[i].n);
        g_autofree char *hex = hex_of(&dist);
        g_assert_cmpstr(hex, ==, cases[i].hex);
        dist_clear(&dist);
    }
}

/* 63 times 5 and twice 1000: count, sum, squares, min, max, two buckets, how many are min and max. 1000 lies in [512,
 * 1024), cut into steps of 8. */
static void test_golden_sketch(void) {
    Dist dist;
    dist_init(&dist);
    for (guint i = 0; i < 65; i++) dist_add(&dist, i == 20 || i == 64 ? 1000 : 5);
    g_autofree char *hex = hex_of(&dist);
    g_assert_cmpstr(hex, ==,
                    "8201"
                    "8b12"
                    "00"
                    "a7957a"
                    "05"
                    "e807"
                    "02"
                    "053f"
                    "b80202"
                    "3f02");
    dist_clear(&dist);
}

/* ---- figures against a sorted list ---- */

static gint by_value(const void *a, const void *b) {
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return (x > y) - (x < y);
}

static guint64 random_value(GRand *rand) {
    guint bits = (guint)g_rand_int_range(rand, 0, 53);
    guint64 value = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);
    guint64 kept = bits == 0 ? 0 : value & ((G_GUINT64_CONSTANT(1) << bits) - 1);
    return g_rand_int_range(rand, 0, 4) == 0 ? kept / 1000000 * 1000000 : kept;
}

static void check_figures(guint32 seed, Dist *dist, guint64 *values, gsize n) {
    static const double quantiles[] = {0, 0.01, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
    long double sum = 0, squares = 0;
    guint64 exact_sum = 0;
    qsort(values, n, sizeof *values, by_value);

    for (gsize i = 0; i < n; i++) {
        exact_sum += values[i];
        sum += values[i];
    }
    for (gsize i = 0; i < n; i++) squares += (values[i] - sum / n) * (values[i] - sum / n);

    forest_check(seed, dist->count == n && dist->sum == exact_sum);
    forest_check(seed, dist->min == values[0] && dist->max == values[n - 1]);
    forest_check(seed, fabs(dist_mean(dist) - (double)(sum / n)) <= 1e-12 * (double)(sum / n));
    double stddev = (double)sqrtl(squares / n);
    forest_check(seed, fabs(dist_stddev(dist) - stddev) <= 1e-9 * stddev + 1e-6);

    for (guint i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        gsize rank = (gsize)ceil(quantiles[i] * (double)n);
        double exact = (double)values[rank == 0 ? 0 : rank - 1], told = dist_quantile(dist, quantiles[i]);
        double error = n <= DIST_EXACT_MAX ? 0 : DIST_RELATIVE_ERROR;
        forest_check(seed, fabs(told - exact) <= error * exact);
    }
}

typedef struct Told {
    guint64 count;
    double sum;
} Told;

static void count_told(void *arg, guint64 value, guint64 count) {
    Told *told = arg;
    told->count += count;
    told->sum += (double)value * (double)count;
}

/* Each value is told, and is off by no more than its bucket. */
static void check_each(guint32 seed, const Dist *dist) {
    Told told = {0, 0};
    dist_each(dist, count_told, &told);
    forest_check(seed, told.count == dist->count);
    forest_check(seed, fabs(told.sum - (double)dist->sum) <= DIST_RELATIVE_ERROR * (double)dist->sum);
}

static void check_same_bytes(guint32 seed, Dist *a, Dist *b) {
    g_autofree char *hex_a = hex_of(a);
    g_autofree char *hex_b = hex_of(b);
    forest_check(seed, strcmp(hex_a, hex_b) == 0);
}

/* The values dealt to several distributions, which are then merged in some order, half of them by way of their
 * encoded form. */
static void check_merging(guint32 seed, Dist *whole, const guint64 *values, gsize n, GRand *rand) {
    enum { PARTS = 5 };
    Dist parts[PARTS];
    for (guint p = 0; p < PARTS; p++) dist_init(&parts[p]);
    for (gsize i = 0; i < n; i++) dist_add(&parts[g_rand_int_range(rand, 0, PARTS)], values[i]);
    for (guint left = PARTS; left > 1; left--) {
        Dist *into = &parts[g_rand_int_range(rand, 0, (gint32)left - 1)], *from = &parts[left - 1];
        if (g_rand_boolean(rand)) {
            g_autoptr(GByteArray) bytes = g_byte_array_new();
            dist_encode(from, bytes);
            ByteReader reader = byte_reader(bytes->data, bytes->len);
            forest_check(seed, dist_merge_encoded(into, &reader) && reader_left(&reader) == 0);
        } else {
            dist_merge(into, from);
        }
    }
    check_same_bytes(seed, whole, &parts[0]);
    for (guint p = 0; p < PARTS; p++) dist_clear(&parts[p]);
}

/* What is told of the stored form alone, whatever lies behind it, and of one that is cut. */
static void check_told(guint32 seed, Dist *dist, GRand *rand) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    dist_encode(dist, bytes);
    const guint size = bytes->len, behind = (guint)g_rand_int_range(rand, 0, 12);
    for (guint i = 0; i < behind; i++) append_bytes(bytes, &(guint8){(guint8)g_rand_int(rand)}, 1);
    ByteReader reader = byte_reader(bytes->data, bytes->len);
    guint64 count, sum;
    if (!dist_told(&reader, &count, &sum) || reader_left(&reader) != behind) g_error("seed %u: not told", seed);
    g_assert_cmpuint(count, ==, dist->count);
    g_assert_cmpuint(sum, ==, dist->sum);
    reader = byte_reader(bytes->data, (guint)g_rand_int_range(rand, 0, (gint32)size));
    if (dist_told(&reader, &count, &sum)) g_error("seed %u: cut, and told", seed);
}

static void test_random(void) {
    guint32 base = run_seed();

    for (guint32 seed = base; seed != base + 2000; seed++) {
        GRand *rand = g_rand_new_with_seed(seed);
        gsize n = (gsize)g_rand_int_range(rand, 1, g_rand_int_range(rand, 0, 3) == 0 ? 3000 : 140);
        g_autofree guint64 *values = g_new(guint64, n);
        for (gsize i = 0; i < n; i++) {
            gboolean again = i > 0 && g_rand_int_range(rand, 0, 3) == 0;
            values[i] = again ? values[g_rand_int_range(rand, 0, (gint32)i)] : random_value(rand);
        }

        Dist whole = dist_of(values, n);
        check_merging(seed, &whole, values, n, rand);
        check_figures(seed, &whole, values, n);
        check_told(seed, &whole, rand);
        check_each(seed, &whole);

        /* What was asked in between changes nothing: now with the values in order. */
        Dist sorted = dist_of(values, n);
        check_same_bytes(seed, &whole, &sorted);
        dist_clear(&whole);
        dist_clear(&sorted);
        g_rand_free(rand);
    }
}

/* ---- edges ---- */

static void test_empty(void) {
    Dist dist;
    dist_init(&dist);
    g_assert_cmpfloat(dist_mean(&dist), ==, 0);
    g_assert_cmpfloat(dist_stddev(&dist), ==, 0);
    g_assert_cmpfloat(dist_quantile(&dist, 0.5), ==, 0);
    Dist other = dist_of((const guint64[]){3}, 1);
    dist_merge(&other, &dist);
    dist_merge(&dist, &other);
    g_assert_cmpuint(dist.count, ==, 1);
    dist_clear(&dist);
    dist_clear(&other);
}

static void test_saturation(void) {
    Dist dist;
    dist_init(&dist);
    for (guint i = 0; i < 5000; i++) dist_add(&dist, G_MAXUINT64);
    g_assert_cmpuint(dist.sum, ==, G_MAXUINT64);
    g_assert_cmpuint(dist.max, ==, DIST_VALUE_MAX);
    for (guint i = 0; i < 12; i++) {
        Dist same;
        dist_init(&same);
        dist_merge(&same, &dist);
        dist_merge(&dist, &same);
        dist_clear(&same);
    }
    g_assert_cmpuint(dist.squares_hi, ==, G_MAXUINT64);
    g_assert_cmpfloat(dist_quantile(&dist, 0.5), ==, (double)DIST_VALUE_MAX);
    dist_clear(&dist);
}

/* A small deviation of great values: what a difference of two great sums would lose. */
static void test_small_deviation(void) {
    Dist dist;
    dist_init(&dist);
    for (guint64 i = 0; i < 100000; i++) dist_add(&dist, (G_GUINT64_CONSTANT(1) << 45) + i % 2);
    g_assert_cmpfloat_with_epsilon(dist_stddev(&dist), 0.5, 1e-9);
    dist_clear(&dist);
}

static void assert_near(double is, double should_be) {
    g_assert_cmpfloat(fabs(is - should_be), <=, DIST_RELATIVE_ERROR * should_be + 0.5);
}

/* What is left says what it would if the others had never been there: exactly, or as near as a sketch does. */
static void assert_left(Dist *left, Dist *rest) {
    g_assert_cmpuint(left->count, ==, rest->count);
    g_assert_cmpuint(left->sum, ==, rest->sum);
    g_assert_cmpuint(left->squares_hi, ==, rest->squares_hi);
    g_assert_cmpuint(left->squares_lo, ==, rest->squares_lo);
    if (rest->count == 0) return;
    assert_near((double)left->min, (double)rest->min);
    assert_near((double)left->max, (double)rest->max);
    g_assert_cmpuint(left->min, <=, left->sum / left->count);
    g_assert_cmpuint(left->max, >=, left->sum / left->count);
    for (guint i = 0; i <= 20; i++) assert_near(dist_quantile(left, i / 20.0), dist_quantile(rest, i / 20.0));
}

static void test_take(void) {
    static const guint64 few[] = {0, 5, 100, 65536, 1000000};
    GRand *rand = g_rand_new_with_seed(g_test_rand_int() & 0xffffff);

    for (guint run = 0; run < 2000; run++) {
        Dist all = dist_of(NULL, 0), some = dist_of(NULL, 0), rest = dist_of(NULL, 0);
        guint n = (guint)g_rand_int_range(rand, 0, run % 2 == 0 ? 60 : 400);
        gint32 of_eighty = g_rand_int_range(rand, 0, 81);
        for (guint i = 0; i < n; i++) {
            guint64 value =
                run % 3 == 0 ? few[g_rand_int_range(rand, 0, 5)] : (guint64)g_rand_int_range(rand, 0, 100000);
            dist_add(&all, value);
            dist_add(g_rand_int_range(rand, 0, 80) < of_eighty ? &some : &rest, value);
        }

        g_assert_true(dist_take(&all, &some));
        assert_left(&all, &rest);
        if (n <= DIST_EXACT_MAX) {
            g_autofree char *is = hex_of(&all), *should_be = hex_of(&rest);
            g_assert_cmpstr(is, ==, should_be);
        }

        dist_merge(&all, &some); /* what is left can be merged further */
        dist_merge(&rest, &some);
        assert_left(&all, &rest);
        dist_clear(&all);
        dist_clear(&some);
        dist_clear(&rest);
    }

    Dist a = dist_of((const guint64[]){3, 4}, 2), b = dist_of((const guint64[]){5}, 1);
    g_assert_false(dist_take(&a, &b)); /* was never in it */
    g_assert_false(dist_take(&b, &a));
    dist_clear(&a);
    dist_clear(&b);
    g_rand_free(rand);
}

/* Of more values than are kept: a single one that is left is told exactly, and equal ones are. */
static void test_take_all_but_some(void) {
    Dist all = dist_of(NULL, 0), some = dist_of(NULL, 0);
    for (guint64 i = 0; i < 100; i++) {
        dist_add(&all, 1000003 + i * 7919);
        if (i != 50) dist_add(&some, 1000003 + i * 7919);
    }

    g_assert_true(dist_take(&all, &some));
    g_assert_cmpuint(all.count, ==, 1);
    g_assert_cmpuint(all.min, ==, 1000003 + 50 * 7919);
    g_assert_cmpuint(all.max, ==, all.min);
    g_assert_cmpfloat(dist_quantile(&all, 0.5), ==, (double)all.min);
    dist_clear(&all);
    dist_clear(&some);

    for (guint64 i = 0; i < 200; i++) {
        dist_add(&all, i % 2 == 0 ? 123456789 : i);
        if (i % 2 == 1) dist_add(&some, i);
    }
    g_assert_true(dist_take(&all, &some));
    g_assert_cmpuint(all.min, ==, 123456789);
    g_assert_cmpuint(all.max, ==, 123456789);

    dist_clear(&some);
    dist_merge(&some, &all);
    g_assert_true(dist_take(&all, &some));
    g_assert_cmpuint(all.count, ==, 0);
    dist_clear(&all);
    dist_clear(&some);
}

static void test_malformed(void) {
    static const struct {
        const char *what;
        guint8 bytes[16];
        guint n;
    } cases[] = {
        {"nothing", {0}, 0},
        {"cut varint", {0x80}, 1},
        {"fewer values than told", {4, 5}, 2},
        {"scaled nothing", {1}, 1},
        {"scaled sketch", {0x83, 1, 1, 0, 1, 1, 1, 1, 1, 65, 65, 65}, 12},
        {"value too large", {2, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 8}, 9},
        {"scaled value too large", {3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}, 10},
        {"no buckets", {0x82, 1, 65, 0, 65, 1, 1, 0, 65, 65}, 10},
        {"least above greatest", {0x82, 1, 65, 0, 65, 2, 1, 1, 1, 65, 65, 65}, 12},
        {"too few in buckets", {0x82, 1, 65, 0, 65, 1, 1, 1, 1, 64, 65, 65}, 12},
        {"too many in buckets", {0x82, 1, 65, 0, 65, 1, 1, 1, 1, 66, 65, 65}, 12},
        {"sum too small", {0x82, 1, 64, 0, 65, 1, 1, 1, 1, 65, 65, 65}, 12},
        {"sum too large", {0x82, 1, 66, 0, 65, 1, 1, 1, 1, 65, 65, 65}, 12},
        {"least not in the first bucket", {0x82, 1, 65, 0, 65, 1, 1, 1, 2, 65, 65, 65}, 12},
        {"bucket twice", {0x82, 1, 65, 0, 65, 1, 1, 2, 1, 64, 0, 1, 65, 65}, 14},
        {"bucket that there is not", {0x82, 1, 65, 0, 65, 1, 1, 1, 0xff, 0x7f, 65, 65, 65}, 13},
        {"not all are least", {0x82, 1, 65, 0, 65, 1, 1, 1, 1, 65, 64, 65}, 12},
        {"none is greatest", {0x82, 1, 65, 0, 65, 1, 1, 1, 1, 65, 65, 0}, 12},
        {"more are least than there are", {0x82, 1, 66, 0, 67, 1, 2, 2, 1, 64, 1, 1, 65, 1}, 14},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Dist dist = dist_of((const guint64[]){9}, 1);
        ByteReader reader = byte_reader(cases[i].bytes, cases[i].n);
        if (dist_merge_encoded(&dist, &reader)) g_error("accepted: %s", cases[i].what);
        g_assert_cmpuint(dist.count, ==, 1);
        dist_clear(&dist);
    }

    const guint8 fine[] = {0x82, 1, 65, 0, 65, 1, 1, 1, 1, 65, 65, 65};
    Dist dist;
    dist_init(&dist);
    ByteReader reader = byte_reader(fine, sizeof fine);
    g_assert_true(dist_merge_encoded(&dist, &reader));
    g_assert_cmpuint(dist.count, ==, 65);
    dist_clear(&dist);
}

/* ---- built in one go ---- */

static guint64 any_value(GRand *rand) {
    guint bits = (guint)g_rand_int_range(rand, 0, 53);
    guint64 value = ((guint64)g_rand_int(rand) << 32 | g_rand_int(rand)) & (((guint64)1 << bits) - 1);
    return g_rand_int_range(rand, 0, 3) == 0 ? value / 1000000 * 1000000 : value;
}

/* Adds values as they are, or in stored forms of some of them. */
static void build(DistBuilder *builder, const guint64 *values, gsize n, GRand *rand) {
    for (gsize at = 0, now; at < n; at += now) {
        now = 1 + (gsize)g_rand_int_range(rand, 0, g_rand_boolean(rand) ? 10 : 300);
        now = MIN(now, n - at);
        if (g_rand_boolean(rand)) {
            dist_builder_add(builder, values + at, now);
            continue;
        }

        guint64 count = 0, sum = 0, expected = 0;
        Dist part = dist_of(values + at, now);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        dist_encode(&part, bytes);
        ByteReader reader = byte_reader(bytes->data, bytes->len);
        g_assert_true(dist_builder_add_encoded(builder, &reader, &count, &sum));
        g_assert_cmpuint(reader_left(&reader), ==, 0);

        for (gsize i = 0; i < now; i++) expected += values[at + i];
        g_assert_cmpuint(count, ==, now);
        g_assert_cmpuint(sum, ==, expected);
        dist_clear(&part);
    }
}

/* A builder gives the bytes of a Dist with the same values, however they came, and is empty again. */
static void test_builder(void) {
    static const guint sizes[] = {0, 1, 2, 63, 64, 65, 66, 200, 1024, 1025, 5000};
    guint32 seed = run_seed();
    g_test_message("seed %u", seed);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    DistBuilder builder;
    dist_builder_init(&builder);

    for (guint round = 0; round < 400; round++) {
        gsize n = sizes[round % G_N_ELEMENTS(sizes)];
        g_autofree guint64 *values = g_new(guint64, n + 1);
        for (gsize i = 0; i < n; i++) values[i] = any_value(rand);
        if (round % 3 == 0) {
            for (gsize i = 0; i < n; i++) values[i] = values[i % 3]; /* many that are equal */
        }
        build(&builder, values, n, rand);

        Dist dist = dist_of(values, n);
        g_autoptr(GByteArray) expected = g_byte_array_new();
        dist_encode(&dist, expected);
        g_autofree guint8 *built = g_malloc(dist_builder_room(&builder));
        gsize size = (gsize)(dist_builder_put(&builder, built) - built);
        g_assert_cmpmem(built, size, expected->data, expected->len);
        dist_clear(&dist);
    }
    dist_builder_clear(&builder);
}

/* Sums without values: what they are merged with has no extremes any more, whatever came first. */
static void test_summary(void) {
    static const guint64 values[] = {10, 20, 60};
    for (guint first = 0; first < 2; first++) {
        Dist summary = {.count = 2, .sum = 50, .squares_lo = 1300}, dist = dist_of(values, 3);
        g_assert_true(dist_is_summary(&summary) && !dist_is_summary(&dist));
        Dist *into = first == 0 ? &summary : &dist;
        dist_merge(into, first == 0 ? &dist : &summary);
        g_assert_true(dist_is_summary(into));
        g_assert_cmpuint(into->count, ==, 5);
        g_assert_cmpuint(into->sum, ==, 140);
        g_assert_cmpuint(into->squares_lo, ==, 1300 + 100 + 400 + 3600);
        g_assert_true(dist_mean(into) == 28);
        g_assert_true(dist_quantile(into, 0.5) == 0 && into->max == 0);
        dist_clear(&summary);
        dist_clear(&dist);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calltree/dist/golden", test_golden);
    g_test_add_func("/calltree/dist/golden_sketch", test_golden_sketch);
    g_test_add_func("/calltree/dist/take", test_take);
    g_test_add_func("/calltree/dist/take-all-but-some", test_take_all_but_some);
    g_test_add_func("/calltree/dist/random", test_random);
    g_test_add_func("/calltree/dist/empty", test_empty);
    g_test_add_func("/calltree/dist/saturation", test_saturation);
    g_test_add_func("/calltree/dist/small_deviation", test_small_deviation);
    g_test_add_func("/calltree/dist/builder", test_builder);
    g_test_add_func("/calltree/dist/summary", test_summary);
    g_test_add_func("/calltree/dist/malformed", test_malformed);
    return g_test_run();
}
