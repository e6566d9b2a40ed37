#include "analyzer/load/plan/portable.h"

#include <math.h>

/* ln 2 in two parts, the first with trailing zeros: k times it is exact for the k that come up. */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW  1.90821492927058770002e-10
#define LN2      0.693147180559945309417
#define SQRT2    1.41421356237309504880

double portable_exp(double x) {
    const double half = x < 0 ? -0.5 : 0.5;
    const int k = (int)(x / LN2 + half);
    const double r = (x - k * LN2_HIGH) - k * LN2_LOW;

    /* |r| is 0.35 at most: the term of r^17 is below 1e-22. */
    double sum = 1;
    for (int n = 16; n >= 1; n--) sum = 1 + r * sum / n;
    return ldexp(sum, k);
}

double portable_log(double x) {
    int k;
    double m = frexp(x, &k) * 2; /* 1 to 2 */
    k--;
    if (m > SQRT2) {
        m = m / 2;
        k++;
    }

    /* ln m = 2 artanh s, |s| < 0.172. */
    const double s = (m - 1) / (m + 1), s2 = s * s;
    double sum = 0;
    for (int n = 23; n >= 1; n -= 2) sum = 1.0 / n + s2 * sum;
    return k * LN2_HIGH + (2 * s * sum + k * LN2_LOW);
}

/* IEEE 754 says how sqrt() is rounded, as it does for the four operations. */
double portable_sqrt(double x) { return sqrt(x); }

double portable_power(double x, double y) { return portable_exp(y * portable_log(x)); }

static double ratio(const double *a, const double *b, double r) {
    double above = a[7], below = b[7];
    for (int i = 6; i >= 0; i--) {
        above = above * r + a[i];
        below = below * r + b[i];
    }
    return above / below;
}

double portable_normal(double p) {
    static const double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                               1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                               3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[] = {1.0,
                               4.2313330701600911252e+1,
                               6.8718700749205790830e+2,
                               5.3941960214247511077e+3,
                               2.1213794301586595867e+4,
                               3.9307895800092710610e+4,
                               2.8729085735721942674e+4,
                               5.2264952788528545610e+3};
    static const double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                               3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                               2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[] = {1.0,
                               2.05319162663775882187e0,
                               1.67638483018380384940e0,
                               6.89767334985100004550e-1,
                               1.48103976427480074590e-1,
                               1.51986665636164571966e-2,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
    static const double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                               2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[] = {1.0,
                               5.99832206555887937690e-1,
                               1.36929880922735805310e-1,
                               1.48753612908506148525e-2,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
    const double q = p - 0.5;
    if (q <= 0.425 && q >= -0.425) return q * ratio(a, b, 0.180625 - q * q);

    const double r = portable_sqrt(-portable_log(q < 0 ? p : 1 - p));
    const double x = r <= 5 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5);
    return q < 0 ? -x : x;
}
