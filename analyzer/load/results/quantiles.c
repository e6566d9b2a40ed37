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

/* Of each second how many times there are, and up to each of the values. */
typedef struct Second {
    guint32 all;
    guint32 up_to[QUANTILES_MOST];
} Second;

/* One pass for all values. The result is to be freed. */
static Second *count_seconds(const Quantiles *quantiles, const Quantile *values, guint n_values) {
    Second *seconds = g_new0(Second, quantiles->seconds);
    for (gsize i = 0; i < quantiles->n; i++) {
        const LoadSample *sample = &quantiles->samples[i];
        Second *second = &seconds[sample->second];
        second->all++;
        for (guint v = n_values; v > 0 && sample->latency_ns <= values[v - 1].value_ns; v--) second->up_to[v - 1]++;
    }
    return seconds;
}

/* Of the number of times up to value v, when p of all are expected there. */
static double deviation(const Quantiles *quantiles, const Second *seconds, guint v, double p) {
    double sum = 0, n_seconds = 0;
    for (guint s = 0; s < quantiles->seconds; s++) {
        const double surplus = (double)seconds[s].up_to[v] - p * (double)seconds[s].all;
        sum += surplus * surplus;
        n_seconds += seconds[s].all > 0;
    }
    const double grouped = n_seconds > 1 ? sum * n_seconds / (n_seconds - 1) : 0;
    return sqrt(MAX(grouped, (double)quantiles->n * p * (1 - p)));
}

static void find_interval(const Quantiles *quantiles, double p, double width, Quantile *quantile) {
    const double n = (double)quantiles->n;
    const double low = floor(n * p - width), high = ceil(n * p + width) + 1;
    /* Where no value is far enough below, only 0 surely is: the least of a few may be above the quantile. */
    quantile->low_ns = low < 1 ? 0 : MIN((gint64)quantiles->sorted[(gsize)low - 1], quantile->value_ns);
    quantile->high_ns = high <= n ? (gint64)quantiles->sorted[(gsize)high - 1] : -1;
}

void quantiles_get(const Quantiles *quantiles, const double *p, guint n_p, Quantile *found) {
    for (guint i = 0; i < n_p; i++) found[i].value_ns = times_quantile(quantiles->sorted, quantiles->n, p[i]);
    g_autofree Second *seconds = count_seconds(quantiles, found, n_p);
    for (guint i = 0; i < n_p; i++)
        find_interval(quantiles, p[i], DEVIATIONS * deviation(quantiles, seconds, i, p[i]), &found[i]);
}
