#include "analyzer/diagnosis/nodes/median.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/diagnosis/order.h"

/* Up to so many an insertion sort is the fastest. */
#define FEW 96u

double median_of(float *values, gsize n) {
    if (n == 0) return NAN;
    if (n > FEW) {
        g_autofree double *copy = g_new(double, n);
        for (gsize i = 0; i < n; i++) copy[i] = values[i];
        return order_median(copy, n);
    }
    for (gsize i = 1; i < n; i++) {
        const float value = values[i];
        gsize at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
    return n % 2 ? values[n / 2] : ((double)values[n / 2 - 1] + values[n / 2]) / 2;
}

static int by_value(const void *a, const void *b) {
    const WeightedValue *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

double median_weighted(WeightedValue *values, gsize n) {
    double total = 0, sum = 0;
    for (gsize i = 0; i < n; i++) total += values[i].weight;
    if (n > 1) qsort(values, n, sizeof *values, by_value);
    for (gsize i = 0; i < n; i++) {
        sum += values[i].weight;
        if (2 * sum >= total) return values[i].value;
    }
    return NAN;
}
