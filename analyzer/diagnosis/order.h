/* Order statistics of doubles, in linear time whatever the values are: they come from files, so nothing here may be
 * slow for unlucky ones. Values must not be NaN. */
#pragma once

#include <glib.h>

/* Above, by more than rounding: values that are equal but for how they were computed are not above each other. */
#define ORDER_ROUNDING 1e-9
static inline gboolean order_above(double value, double bound) {
    return value > bound + (bound < 0 ? -bound : bound) * ORDER_ROUNDING;
}

/* The value at rank q * (n - 1) of the sorted values, linear between the two neighbours of a rank that is no whole
 * number: quantile 0.5 is the median, the middle of the two middle values when n is even. 0 of nothing. */
double order_quantile(const double *values, gsize n, double q);
static inline double order_median(const double *values, gsize n) { return order_quantile(values, n, 0.5); }

typedef struct OrderItem {
    double value;
    guint32 index; /* the caller's */
} OrderItem;

/* By value; equal values keep their order. scratch: as many. */
void order_sort(OrderItem *items, OrderItem *scratch, gsize n);

/* Of two lists of equal length; NAN when one of them does not vary. */
double order_pearson(const double *x, const double *y, gsize n);
