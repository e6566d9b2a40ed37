#include "analyzer/load/results/quantiles.h"

#include <math.h>
#include <string.h>

#define DIGIT_BITS 11u
#define DIGITS     (1u << DIGIT_BITS)
/* Of the normal distribution: 95 % lie within. */
#define DEVIATIONS 1.959963985

/* By digits, the last first: each pass keeps the order of those before. */
void times_sort(guint64 *times, gsize n) {
    guint64 greatest = 0;
    for (gsize i = 0; i < n; i++) greatest = MAX(greatest, times[i]);
    guint64 *from = times, *to = g_new(guint64, n), *spare = to;

    for (guint shift = 0; shift < 64 && greatest >> shift > 0; shift += DIGIT_BITS) {
        gsize place[DIGITS] = {0};
        for (gsize i = 0; i < n; i++) place[from[i] >> shift & (DIGITS - 1)]++;
        gsize sum = 0;
        for (guint d = 0; d < DIGITS; d++) {
            const gsize count = place[d];
            place[d] = sum;
            sum += count;
        }
        for (gsize i = 0; i < n; i++) to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        guint64 *const sorted = to;
        to = from;
        from = sorted;
    }

    if (from != times) memcpy(times, from, n * sizeof *times);
    g_free(spare);
}

gint64 times_quantile(const guint64 *sorted, gsize n, double p) {
    const double rank = ceil(p * (double)n);
    return (gint64)sorted[rank < 1 ? 0 : MIN((gsize)rank, n) - 1];
}

void quantiles_init(Quantiles *quantiles, const GArray *samples) {
    *quantiles = (Quantiles){.samples = (const LoadSample *)(const void *)samples->data, .n = samples->len};
    quantiles->sorted = g_new(guint64, quantiles->n);
    for (gsize i = 0; i < quantiles->n; i++) {
        quantiles->sorted[i] = (guint64)quantiles->samples[i].latency_ns;
        quantiles->seconds = MAX(quantiles->seconds, quantiles->samples[i].second + 1);
    }
    times_sort(quantiles->sorted, quantiles->n);
}

void quantiles_clear(Quantiles *quantiles) { g_clear_pointer(&quantiles->sorted, g_free); }

/* Of the number of times that are not above 'value', when p of them are expected there. */
static double deviation(const Quantiles *quantiles, double p, gint64 value) {
    g_autofree double *surplus = g_new0(double, quantiles->seconds);
    g_autofree guint8 *seen = g_new0(guint8, quantiles->seconds);
    for (gsize i = 0; i < quantiles->n; i++) {
        const LoadSample *sample = &quantiles->samples[i];
        surplus[sample->second] += (sample->latency_ns <= value) - p;
        seen[sample->second] = 1;
    }

    double sum = 0, n_seconds = 0;
    for (guint s = 0; s < quantiles->seconds; s++) {
        sum += surplus[s] * surplus[s];
        n_seconds += seen[s];
    }
    const double grouped = n_seconds > 1 ? sum * n_seconds / (n_seconds - 1) : 0;
    return sqrt(MAX(grouped, (double)quantiles->n * p * (1 - p)));
}

Quantile quantiles_get(const Quantiles *quantiles, double p) {
    const double n = (double)quantiles->n;
    Quantile quantile = {.value_ns = times_quantile(quantiles->sorted, quantiles->n, p), .high_ns = -1};
    const double width = DEVIATIONS * deviation(quantiles, p, quantile.value_ns);
    const double low = floor(n * p - width), high = ceil(n * p + width) + 1;
    quantile.low_ns = (gint64)quantiles->sorted[low < 1 ? 0 : (gsize)low - 1];
    quantile.low_ns = MIN(quantile.low_ns, quantile.value_ns);
    if (high <= n) quantile.high_ns = (gint64)quantiles->sorted[(gsize)high - 1];
    return quantile;
}
