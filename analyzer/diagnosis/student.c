#include "analyzer/diagnosis/student.h"

#include <math.h>

/* One and two degrees of freedom have a closed form; of more it is Cornish and Fisher's expansion. */
double student_quantile(double normal, guint freedom) {
    const double share = erfc(-normal * G_SQRT2 / 2) / 2;
    if (freedom <= 1) return tan(G_PI * (share - 0.5));
    if (freedom == 2) return (2 * share - 1) / sqrt(2 * share * (1 - share));
    const double z = normal, z3 = z * z * z, z5 = z3 * z * z, n = freedom;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}
