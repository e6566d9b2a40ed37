#include "analyzer/query/bottleneck/estimate.h"

#include <math.h>

#define NORMAL 1.959963985

/* The 97.5 % quantile of Student's t: Cornish and Fisher's expansion, within 1 % from 4 degrees of freedom on. */
static double student(guint freedom) {
    const double z = NORMAL, z3 = z * z * z, z5 = z3 * z * z, n = freedom;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

Estimate estimate_ratio(const double *part, const double *whole, guint n) {
    double parts = 0, wholes = 0, squares = 0;
    guint seconds = 0;
    for (guint i = 0; i < n; i++) {
        parts += part[i];
        wholes += whole[i];
        seconds += whole[i] > 0;
    }

    Estimate estimate = {.value = parts / wholes};
    if (seconds < ESTIMATE_SECONDS_LEAST) return estimate;
    for (guint i = 0; i < n; i++) {
        const double off = part[i] - estimate.value * whole[i];
        squares += off * off;
    }
    const double error = sqrt(squares * seconds / (seconds - 1)) / wholes;
    estimate.low = estimate.value - student(seconds - 1) * error;
    estimate.high = estimate.value + student(seconds - 1) * error;
    estimate.bounded = TRUE;
    return estimate;
}
