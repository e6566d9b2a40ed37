/* Medians of many short lists of numbers. */
#pragma once

#include <glib.h>

typedef struct WeightedValue {
    float value;
    float weight;
} WeightedValue;

/* Changes the order of the values. NAN of none. */
double median_of(float *values, gsize n);
/* The value at which half the weight is reached. Changes the order. NAN of none. */
double median_weighted(WeightedValue *values, gsize n);
