#include "analyzer/load/results/find_max.h"

#include <math.h>

#define TRIES_MOST   3u
#define FIRST_FACTOR 2.0
#define LATER_FACTOR 1.25
#define RATE_LEAST   0.01
#define RATE_MOST    1e6
/* Of one search; it needs some 10. */
#define SEARCH_STEPS_MOST 40u

typedef enum { RATE_OPEN, RATE_HELD, RATE_FAILED } RateState;

/* Of the steps of one search at one rate. */
static RateState rate_state(const FindStep *steps, guint n_steps, guint search, double rate) {
    guint n = 0, within = 0;
    for (guint i = 0; i < n_steps; i++) {
        if (steps[i].search != search || steps[i].rate != rate) continue;
        if (steps[i].verdict == STEP_HOLDS) return RATE_HELD;
        if (steps[i].verdict != STEP_UNDECIDED) return RATE_FAILED;
        n++;
        within += steps[i].within;
    }
    if (n < TRIES_MOST) return RATE_OPEN;
    return 2 * within > n ? RATE_HELD : RATE_FAILED;
}

FindBracket find_bracket(const FindStep *steps, guint n_steps, guint search) {
    FindBracket bracket = {0};
    for (guint i = 0; i < n_steps; i++) {
        if (steps[i].search != search) continue;
        const RateState state = rate_state(steps, n_steps, search, steps[i].rate);
        if (state == RATE_HELD) bracket.held = MAX(bracket.held, steps[i].rate);
        if (state != RATE_FAILED || (bracket.failed > 0 && steps[i].rate > bracket.failed)) continue;
        bracket.failed = steps[i].rate;
        bracket.generator = steps[i].verdict == STEP_GENERATOR;
    }
    return bracket;
}

/* To three digits: the rate is read by people. */
static double rounded(double rate) {
    const double unit = pow(10, floor(log10(rate)) - 2);
    return round(rate / unit) * unit;
}

/* The rate that comes next in this search; 0: it is done. */
static double next_rate(const FindSettings *settings, const FindStep *steps, guint n_steps, guint search) {
    const FindBracket bracket = find_bracket(steps, n_steps, search);
    const double factor = search == 1 ? FIRST_FACTOR : LATER_FACTOR;
    double start = settings->start;
    guint n = 0;
    for (guint i = 0; i < n_steps; i++) {
        if (steps[i].search == search) n++;
        if (steps[i].search + 1 == search && find_bracket(steps, n_steps, search - 1).held > 0)
            start = find_bracket(steps, n_steps, search - 1).held;
    }

    if (n == SEARCH_STEPS_MOST) return 0;
    if (n == 0) return rounded(CLAMP(start, RATE_LEAST, RATE_MOST));
    const double last = steps[n_steps - 1].rate;
    if (rate_state(steps, n_steps, search, last) == RATE_OPEN) return last;
    if (bracket.failed <= 0) return bracket.held * factor > RATE_MOST ? 0 : rounded(bracket.held * factor);
    if (bracket.held <= 0) return bracket.failed / factor < RATE_LEAST ? 0 : rounded(bracket.failed / factor);

    const double middle = rounded(sqrt(bracket.held * bracket.failed));
    const gboolean close = bracket.failed / bracket.held <= 1 + settings->precision + 1e-9;
    return close || middle <= bracket.held || middle >= bracket.failed ? 0 : middle;
}

gboolean find_next(const FindSettings *settings, const FindStep *steps, guint n_steps, FindStep *next) {
    if (n_steps == FIND_STEPS_MOST) return FALSE;
    const guint from = n_steps > 0 ? steps[n_steps - 1].search : 1;
    for (guint search = from; search <= settings->searches; search++) {
        const double rate = next_rate(settings, steps, n_steps, search);
        if (rate <= 0) continue;
        *next = (FindStep){.search = search, .rate = rate};
        return TRUE;
    }
    return FALSE;
}
