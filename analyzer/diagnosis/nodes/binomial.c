#include "analyzer/diagnosis/nodes/binomial.h"

#include <math.h>

/* Of a sum, what is left out. */
#define TAIL_LEAST 1e-12

double binomial_tail(guint64 calls, guint64 failed, double chance) {
    const double n = (double)calls, k = (double)failed;
    if (failed == 0 || chance >= 1) return 1;
    if (failed > calls || chance <= 0) return 0;
    double term = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(chance) + (n - k) * log1p(-chance));
    double sum = term;
    for (double i = k; i < n && term > sum * TAIL_LEAST; i++) {
        term *= (n - i) / (i + 1) * chance / (1 - chance);
        sum += term;
    }
    return MIN(sum, 1);
}
