#include "analyzer/query/bottleneck/estimate.h"

#include <math.h>

#include "analyzer/diagnosis/student.h"

#define NORMAL 1.959963985 /* the 97.5 % quantile */

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
    const double half = student_quantile(NORMAL, seconds - 1) * error;
    estimate.low = estimate.value - half;
    estimate.high = estimate.value + half;
    estimate.bounded = TRUE;
    return estimate;
}
