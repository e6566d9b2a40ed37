/* Order statistics and means over samples, against figures worked out by hand and against slow, plain ways. */
#include "analyzer/diagnosis/order.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/diagnosis/usage.h"

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double plain_quantile(const double *values, gsize n, double q) {
    g_autofree double *sorted = g_memdup2(values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, by_value);
    const double rank = q * (double)(n - 1);
    const gsize k = (gsize)rank;
    return k + 1 < n ? sorted[k] + (rank - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[k];
}

static void assert_near(double value, double expected) {
    g_assert_cmpfloat_with_epsilon(value, expected, 1e-9 * (1 + fabs(expected)));
}

static void test_by_hand(void) {
    const double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, mixed[] = {-2.5, 0, 7, -0.0, 3};
    assert_near(order_median(odd, 3), 5);
    assert_near(order_median(even, 4), 2.5);
    assert_near(order_quantile(even, 4, 0), 1);
    assert_near(order_quantile(even, 4, 1), 4);
    assert_near(order_quantile(even, 4, 0.9), 3.7); /* rank 2.7: between 3 and 4 */
    assert_near(order_median(mixed, 5), 0);
    assert_near(order_quantile(mixed, 5, 0.25), 0); /* -0 and 0 are one value */
    assert_near(order_median(NULL, 0), 0);
}

static double random_double(GRand *rand) {
    switch (g_rand_int_range(rand, 0, 4)) {
    case 0: return 0;
    case 1: return g_rand_int_range(rand, -3, 4);
    case 2: return g_rand_double_range(rand, -1e9, 1e9);
    default: return ldexp(g_rand_double(rand), g_rand_int_range(rand, -60, 60));
    }
}

static void test_against_sorted(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (guint round = 0; round < 300; round++) {
        const gsize n = (gsize)g_rand_int_range(rand, 1, round % 50 == 0 ? 20000 : 200);
        g_autofree double *values = g_new(double, n);
        g_autofree OrderItem *items = g_new(OrderItem, n), *scratch = g_new(OrderItem, n);
        for (gsize i = 0; i < n; i++) items[i] = (OrderItem){values[i] = random_double(rand), (guint32)i};
        const double q = g_rand_double(rand);
        assert_near(order_quantile(values, n, q), plain_quantile(values, n, q));
        order_sort(items, scratch, n);
        for (gsize i = 1; i < n; i++) {
            g_assert_cmpfloat(items[i - 1].value, <=, items[i].value);
            if (items[i - 1].value == items[i].value) g_assert_cmpuint(items[i - 1].index, <, items[i].index);
        }
    }
}

static void test_pearson(void) {
    const double x[] = {1, 2, 3, 4}, y[] = {2, 4, 6, 8}, z[] = {1, 3, 2, 4}, flat[] = {5, 5, 5, 5};
    assert_near(order_pearson(x, y, 4), 1);
    /* Deviations -1.5 -0.5 0.5 1.5 and -1.5 0.5 -0.5 1.5: products 2.25 - 0.25 - 0.25 + 2.25 = 4, squares 5 each. */
    assert_near(order_pearson(x, z, 4), 0.8);
    g_assert_true(isnan(order_pearson(x, flat, 4)));
    g_assert_true(isnan(order_pearson(x, y, 1)));
}

/* ---- means over samples: eq. 3.1 ---- */

static void test_usage_by_hand(void) {
    g_autoptr(UsageSeries) series = usage_new();
    const double values[] = {0.1, 0.9, 0.8, 0.2};
    for (gint i = 3; i >= 0; i--) usage_add(series, 10000 + i * 1000, 11000 + i * 1000, values[i]);
    usage_add(series, 13000, 14000, 0.2); /* told twice */
    usage_seal(series);
    g_assert_cmpuint(usage_size(series), ==, 4);
    assert_near(usage_mean(series, 10000, 14000), 0.5);
    assert_near(usage_mean(series, 11000, 13000), 0.85);
    assert_near(usage_mean(series, 11500, 13500), (0.45 + 0.8 + 0.1) / 2);
    assert_near(usage_mean(series, 11200, 11300), 0.9);
    assert_near(usage_mean(series, 11200, 11200), 0.9);
    assert_near(usage_mean(series, 13000, 15000), 0.2); /* half of it is known */
    g_assert_true(isnan(usage_mean(series, 13000, 15001)));
    g_assert_true(isnan(usage_mean(series, 20000, 21000)));
    g_assert_true(isnan(usage_mean(series, 1000, 2000)));
    g_assert_true(isnan(usage_mean(series, 14000, 14000)));
}

static double plain_mean(const gint64 (*spans)[2], const double *values, guint n, const gint64 *window) {
    double sum = 0;
    gint64 covered = 0;
    for (guint i = 0; i < n; i++) {
        const gint64 part = MIN(spans[i][1], window[1]) - MAX(spans[i][0], window[0]);
        if (part <= 0) continue;
        sum += values[i] * (double)part;
        covered += part;
    }
    return covered * 2 < window[1] - window[0] ? NAN : sum / (double)covered;
}

static void test_usage_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    for (guint round = 0; round < 200; round++) {
        gint64 spans[200][2], at = g_rand_int_range(rand, 0, 1000);
        double values[200];
        const guint n = (guint)g_rand_int_range(rand, 1, 200);
        g_autoptr(UsageSeries) series = usage_new();

        for (guint i = 0; i < n; i++) {
            if (g_rand_int_range(rand, 0, 20) == 0) at += g_rand_int_range(rand, 1, 50000); /* a gap */
            spans[i][0] = at;
            spans[i][1] = at += g_rand_int_range(rand, 1, 1500);
            usage_add(series, spans[i][0], spans[i][1], values[i] = g_rand_double(rand));
        }
        usage_seal(series);

        for (guint i = 0; i < 200; i++) {
            const gint64 begin = g_rand_int_range(rand, 0, (gint32)at + 2000);
            const gint64 window[2] = {begin, begin + g_rand_int_range(rand, 1, 20000)};
            const double mean = usage_mean(series, window[0], window[1]);
            const double expected = plain_mean((const gint64(*)[2])spans, values, n, window);
            g_assert_true(isnan(mean) == isnan(expected));
            if (!isnan(mean)) g_assert_cmpfloat_with_epsilon(mean, expected, 1e-6);
        }
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/order/by-hand", test_by_hand);
    g_test_add_func("/diagnosis/order/against-sorted", test_against_sorted);
    g_test_add_func("/diagnosis/order/pearson", test_pearson);
    g_test_add_func("/diagnosis/usage/by-hand", test_usage_by_hand);
    g_test_add_func("/diagnosis/usage/random", test_usage_random);
    return g_test_run();
}
