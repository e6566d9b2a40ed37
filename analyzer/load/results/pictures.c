#include "analyzer/load/results/pictures.h"

#include "analyzer/load/results/quantiles.h"

#define STEPS_MOST 600u

typedef struct Step {
    guint64 *times;
    gsize n;
} Step;

static const LoadSample *sample_at(const GArray *samples, guint i) { return &g_array_index(samples, LoadSample, i); }

static json_t *step_json(const Step *step, guint second, guint step_s) {
    times_sort(step->times, step->n);
    return json_pack("{s:i, s:f, s:I, s:I, s:I}", "second", (int)second, "per_s", (double)step->n / step_s, "p50_ns",
                     (json_int_t)times_quantile(step->times, step->n, 0.5), "p99_ns",
                     (json_int_t)times_quantile(step->times, step->n, 0.99), "max_ns",
                     (json_int_t)step->times[step->n - 1]);
}

json_t *timeline_json(const GArray *samples) {
    guint from = G_MAXUINT, to = 0;
    for (guint i = 0; i < samples->len; i++) {
        from = MIN(from, sample_at(samples, i)->second);
        to = MAX(to, sample_at(samples, i)->second);
    }

    /* The times of a step lie together in one array. */
    const guint step_s = (to - from) / STEPS_MOST + 1, n_steps = (to - from) / step_s + 1;
    g_autofree Step *steps = g_new0(Step, n_steps);
    g_autofree guint64 *times = g_new(guint64, samples->len);
    for (guint i = 0; i < samples->len; i++) steps[(sample_at(samples, i)->second - from) / step_s].n++;
    guint64 *next = times;
    for (guint s = 0; s < n_steps; s++) {
        steps[s].times = next;
        next += steps[s].n;
        steps[s].n = 0;
    }
    for (guint i = 0; i < samples->len; i++) {
        Step *step = &steps[(sample_at(samples, i)->second - from) / step_s];
        step->times[step->n++] = (guint64)sample_at(samples, i)->latency_ns;
    }

    json_t *rows = json_array();
    for (guint s = 0; s < n_steps; s++)
        if (steps[s].n > 0) json_array_append_new(rows, step_json(&steps[s], from + s * step_s, step_s));
    return json_pack("{s:i, s:o}", "step_s", (int)step_s, "steps", rows);
}

json_t *curve_json(const GArray *samples) {
    static const double probabilities[] = {0.01, 0.05, 0.1,  0.2,   0.3,   0.4,   0.5,    0.6,    0.7,    0.8,    0.9,
                                           0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999, 0.99999};
    json_t *points = json_array();
    g_autofree guint64 *times = g_new(guint64, samples->len);
    for (guint i = 0; i < samples->len; i++) times[i] = (guint64)sample_at(samples, i)->latency_ns;
    times_sort(times, samples->len);
    for (guint i = 0; i < G_N_ELEMENTS(probabilities) && (1 - probabilities[i]) * samples->len >= 1; i++)
        json_array_append_new(points, json_pack("[f, I]", probabilities[i],
                                                (json_int_t)times_quantile(times, samples->len, probabilities[i])));
    return points;
}
