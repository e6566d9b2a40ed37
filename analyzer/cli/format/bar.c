#include "analyzer/cli/format/bar.h"

#include <math.h>

static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii_heights[] = {"_", ".", "-", "~", "=", "+", "*", "#"};
static const char *const shades[] = {"·", "░", "▒", "▓", "█"};
static const char *const ascii_shades[] = {".", ":", "+", "*", "#"};

#define EIGHTHS 8

char *bar_text(const Style *style, double value, double most, guint width) {
    GString *out = g_string_new(NULL);
    if (!(value > 0) || !(most > 0)) return g_string_free(out, FALSE);
    const double share = MIN(value / most, 1.0);
    if (!style->utf8) {
        const guint n = MAX((guint)lrint(share * width), 1);
        for (guint i = 0; i < n; i++) g_string_append_c(out, '#');
        return g_string_free(out, FALSE);
    }
    const guint n = MAX((guint)lrint(share * width * EIGHTHS), 1);
    for (guint i = 0; i < n / EIGHTHS; i++) g_string_append(out, eighths[EIGHTHS]);
    g_string_append(out, eighths[n % EIGHTHS]);
    return g_string_free(out, FALSE);
}

/* Which of n steps a share of 0 to 1 is on. */
static guint step_of(double share, guint n) { return MIN((guint)(CLAMP(share, 0, 1) * n), n - 1); }

char *bar_spark(const Style *style, const double *values, gsize n) {
    const char *const *names = style->utf8 ? heights : ascii_heights;
    GString *out = g_string_new(NULL);
    double most = 0;
    for (gsize i = 0; i < n; i++)
        if (!isnan(values[i])) most = MAX(most, values[i]);
    for (gsize i = 0; i < n; i++) {
        const guint step = most > 0 ? step_of(values[i] / most, G_N_ELEMENTS(heights)) : 0;
        g_string_append(out, isnan(values[i]) ? " " : names[step]);
    }
    return g_string_free(out, FALSE);
}

char *bar_shades(const Style *style, const double *counts, gsize n, double most) {
    const char *const *names = style->utf8 ? shades : ascii_shades;
    GString *out = g_string_new(NULL);
    for (gsize i = 0; i < n; i++) {
        const guint step = step_of(log1p(counts[i]) / log1p(MAX(most, 1)), G_N_ELEMENTS(shades));
        g_string_append(out, counts[i] > 0 ? names[step] : " ");
    }
    return g_string_free(out, FALSE);
}
