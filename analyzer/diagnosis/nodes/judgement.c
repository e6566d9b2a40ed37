#include "analyzer/diagnosis/nodes/judgement.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/median.h"
#include "analyzer/diagnosis/nodes/own_load.h"

#define MAD_TO_DEVIATION 1.4826
/* The variance of a median of n is that of one value times this, divided by n. */
#define MEDIAN_VARIANCE 1.57
/* Deviation of a node's constant that a single window tells: what is not known yet after few windows. */
#define ONE_WINDOW 0.3
/* A time does not grow faster with the load than by its square. */
#define SLOPE_MOST 2.0

/* ---- what is usual ---- */

static gboolean is_learned(const ClassWindow *window, guint32 until) {
    return window->last < until && window->unused < 0.5f;
}

Usual usual_of(const AllSeries *all, const ClassSeries *series, guint32 until) {
    const ClassWindow *windows = series_windows(all, series);
    Usual usual = {.windows = 0};
    guint32 seen = 0;
    g_autofree float *values = g_new(float, MAX(series->n, 1));

    while (seen < series->n && windows[seen].last < until) seen++;
    for (guint m = 0; m < MEASURES; m++) {
        gsize n = 0;
        for (guint32 i = 0; i < series->n; i++)
            if (is_learned(&windows[i], until)) values[n++] = windows[i].residual[m];
        usual.windows = (guint32)n;
        if (n == 0) break;
        const double centre = median_of(values, n);
        for (gsize i = 0; i < n; i++) values[i] = (float)fabs(values[i] - centre);
        usual.centre[m] = centre;
        usual.deviation[m] = MAX(MAD_TO_DEVIATION * median_of(values, n), USUAL_LEAST);
    }
    usual.known = seen >= LEARN_LEAST && usual.windows >= WELL_LEAST;
    return usual;
}

double usual_z(const Usual *usual, const ClassWindow *window, NodeMeasure measure) {
    const double n = usual->windows, usual_variance = usual->deviation[measure] * usual->deviation[measure];
    /* That of a quantile is about twice that of the mean. */
    const double few = window->variance * (measure == MEASURE_TAIL ? 2 : 1);
    const double learned = (MEDIAN_VARIANCE * usual_variance + ONE_WINDOW * ONE_WINDOW) / n;
    return window->residual[measure] / sqrt(usual_variance + few + learned);
}

/* ---- bad windows ---- */

static gboolean is_bad(const AllSeries *all, const Usual *usual, const ClassWindow *window) {
    const double length_ns = (double)all->window_ns * (window->last - window->first + 1);
    if (!usual->known || (double)window->lost_ns < LOST_LEAST_SHARE * length_ns) return FALSE;
    for (guint m = 0; m < MEASURES; m++) {
        if (window->residual[m] >= log(SLOWDOWN_LEAST) && usual_z(usual, window, (NodeMeasure)m) >= Z_LEAST)
            return TRUE;
    }
    return FALSE;
}

static void mark_windows(const AllSeries *all, const ClassSeries *series, const Usual *usual, gboolean blamed) {
    ClassWindow *windows = series_windows(all, series);
    for (guint32 i = 0; i < series->n; i++)
        windows[i].bad = blamed ? windows[i].blamed >= 0.5f : is_bad(all, usual, &windows[i]);
}

/* ---- spells ---- */

/* How load and residuals went together while the node was well. */
static double load_slope(const ClassWindow *windows, guint32 n, guint32 until, gboolean bytes, double *usual_load) {
    g_autofree float *x = g_new(float, MAX(n, 1)), *y = g_new(float, MAX(n, 1));
    gsize points = 0;
    for (guint32 i = 0; i < n; i++) {
        const float load = bytes ? windows[i].bytes : (float)windows[i].calls;
        if (!is_learned(&windows[i], until) || windows[i].bad || load <= 0) continue;
        x[points] = (float)log(load / (double)(windows[i].last - windows[i].first + 1));
        y[points++] = windows[i].residual[MEASURE_MEAN];
    }
    const double slope = CLAMP(theil_sen(x, y, points), 0, SLOPE_MOST);
    *usual_load = points > 0 ? median_of(x, points) : NAN;
    return slope;
}

/* What of ln slowdown a spell's own load explains. */
static double load_explains(const ClassWindow *windows, guint32 n, guint32 until, const Spell *spell) {
    double usual_load;
    gboolean bytes = FALSE;
    for (guint32 i = 0; i < n; i++) bytes = bytes || windows[i].bytes > 0;
    const double slope = load_slope(windows, n, until, bytes, &usual_load);
    if (slope <= 0 || isnan(usual_load)) return 0;

    g_autofree float *loads = g_new(float, n);
    gsize bad = 0;
    for (guint32 i = 0; i < n; i++) {
        const float load = bytes ? windows[i].bytes : (float)windows[i].calls;
        if (windows[i].first < spell->first || windows[i].last > spell->last || !windows[i].bad || load <= 0) continue;
        loads[bad++] = (float)log(load / (double)(windows[i].last - windows[i].first + 1));
    }
    return bad > 0 ? MAX(0, slope * (median_of(loads, bad) - usual_load)) : 0;
}

static void spell_add(Spell *spell, const ClassWindow *window) {
    spell->last = window->last;
    spell->bad_windows++;
    spell->calls += window->calls;
    spell->self_ns += window->self_ns;
    spell->critical_ns += window->critical_ns;
    spell->lost_ns += window->lost_ns;
    spell->lost_critical_ns += window->lost_critical_ns;
    spell->lost_beside_ns += window->lost_beside_ns;
}

/* Figures of a spell, from its bad windows: those from 'from' to 'to' of the series. */
static void spell_measure(const ClassWindow *windows, guint32 from, guint32 to, const Usual *usual, Spell *spell) {
    g_autofree float *values = g_new(float, to - from + 1);
    double alone = 0;

    for (guint m = 0; m < MEASURES; m++) {
        gsize n = 0;
        for (guint32 i = from; i <= to; i++)
            if (windows[i].bad) values[n++] = windows[i].residual[m];
        const double slowdown = exp(median_of(values, n));
        n = 0;
        for (guint32 i = from; i <= to; i++)
            if (windows[i].bad)
                values[n++] = usual->windows > 0 ? (float)usual_z(usual, &windows[i], (NodeMeasure)m) : 0;
        const double z = median_of(values, n);

        const gboolean clear = slowdown >= SLOWDOWN_LEAST && z >= Z_LEAST;
        if (m > MEASURE_MEAN && spell->slowdown >= SLOWDOWN_LEAST && (!clear || spell->z >= Z_LEAST)) continue;
        spell->measure = (NodeMeasure)m;
        spell->slowdown = slowdown;
        spell->z = z;
    }

    for (guint32 i = from; i <= to; i++) {
        if (!windows[i].bad) continue;
        spell_add(spell, &windows[i]);
        alone += (double)windows[i].alone * windows[i].calls;
    }
    spell->alone = alone > spell->calls / 2.0;
}

typedef struct Judge {
    const ClassSeries *series;
    const ClassWindow *windows;
    const Usual *usual;
    guint32 until;
    GArray *spells;
    guint32 least; /* windows before it belong to an earlier spell */
    SpellRun run;
} Judge;

static void spell_end(const Judge *judge, gboolean open) {
    const guint32 from = judge->run.from;
    Spell spell = {.class = judge->series->class,
                   .node = judge->series->node,
                   .first = judge->windows[from].first,
                   .sure = judge->windows[judge->run.sure].last,
                   .earliest = judge->windows[judge->least].first,
                   .open = open};
    spell_measure(judge->windows, from, judge->run.last_bad, judge->usual, &spell);
    const double explained = load_explains(judge->windows, judge->series->n, judge->until, &spell);
    spell.load_share = spell.slowdown > 1 ? MIN(1, explained / log(spell.slowdown)) : 0;
    spell.busy = log(MAX(spell.slowdown, 1)) - explained < log(SLOWDOWN_LEAST) && explained > 0;
    g_array_append_val(judge->spells, spell);
}

void series_judge(const AllSeries *all, const ClassSeries *series, guint32 until, gboolean blamed, GArray *spells) {
    const Usual usual = usual_of(all, series, until);
    mark_windows(all, series, &usual, blamed);
    Judge judge = {
        .series = series, .windows = series_windows(all, series), .usual = &usual, .until = until, .spells = spells};

    for (guint32 i = 0; i < series->n; i++) {
        if (!spell_run_ends(&judge.run, i, judge.windows[i].bad)) continue;
        spell_end(&judge, FALSE);
        judge.least = i + 1;
    }
    if (judge.run.ill) spell_end(&judge, TRUE);
}
