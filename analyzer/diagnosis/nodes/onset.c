#include "analyzer/diagnosis/nodes/onset.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/median.h"
#include "common/base/allowance.h"

/* What ln of a minute's slowdown varies by, beside what few calls make it vary. */
#define MINUTE_DEVIATION 0.2
/* So many minutes on each side tell what a minute loses before and after. */
#define AROUND 5u
/* Of what the minutes after lose more, a minute has this at least where it is slow at all, and the rest where it is
 * slow from its start on. */
#define PART_LEAST 0.1

typedef struct Onset {
    const ClassWindow *minutes;
    guint32 n;
    const NodeGrid *grid;
} Onset;

static gint64 begin_of(const Onset *onset, guint32 at) { return grid_window_ns(onset->grid, onset->minutes[at].first); }

/* How much rather slow than usual: the logarithm of the ratio of both likelihoods, but for a factor. */
static double evidence(const ClassWindow *minute, const Spell *spell) {
    const double ln_slowdown = log(MAX(spell->slowdown, SLOWDOWN_LEAST));
    const double variance = MINUTE_DEVIATION * MINUTE_DEVIATION + minute->variance;
    return (2 * minute->residual[spell->measure] - ln_slowdown) * ln_slowdown / variance;
}

/* The minute from which until it was sure most speaks for being slow. */
static gboolean find_minute(const Onset *onset, const Spell *spell, guint32 *first) {
    const gint64 earliest_ns = grid_window_ns(onset->grid, spell->first) - CLASS_WINDOW_MAX_NS;
    double sum = 0, most = 0;
    gboolean found = FALSE;

    for (guint32 i = onset->n; i-- > 0 && allowance_goes_on();) {
        const ClassWindow *minute = &onset->minutes[i];
        if (minute->first > spell->sure) continue;
        if (minute->first < spell->earliest || begin_of(onset, i) < earliest_ns) break;
        sum += evidence(minute, spell);
        if (found && sum < most) continue;
        found = TRUE;
        most = sum;
        *first = i;
    }
    return found;
}

/* ---- within the minute ---- */

/* The median of what the minutes [from, to) lost; those that no other minute lies between. */
static double usual_ns(const Onset *onset, guint32 from, guint32 to, float *greatest) {
    float values[AROUND];
    gsize n = 0;
    *greatest = 0;
    for (guint32 i = from; i < to && n < AROUND; i++) {
        values[n++] = (float)onset->minutes[i].lost_ns;
        *greatest = MAX(*greatest, values[n - 1]);
    }
    return median_of(values, n);
}

static gboolean follows_at_once(const Onset *onset, guint32 at) {
    return at > 0 && begin_of(onset, at) - begin_of(onset, at - 1) == onset->grid->window_ns;
}

typedef struct Levels {
    double before_ns, after_ns;
    float highest_before_ns;
} Levels;

static double part_of_minute(const Onset *onset, const Levels *levels, guint32 at) {
    const double more = (double)onset->minutes[at].lost_ns - levels->before_ns;
    return CLAMP(more / (levels->after_ns - levels->before_ns), 0, 1);
}

static void tell_time(const Onset *onset, guint32 at, Spell *spell) {
    guint32 end = at + 1;
    while (end < onset->n && end <= at + AROUND && onset->minutes[end].first <= spell->last) end++;
    float ignored;
    /* The minute before may have a part of it. */
    const guint32 well = at > 0 ? at - 1 : 0;
    Levels levels = {.after_ns = usual_ns(onset, at + 1, end, &ignored)};
    levels.before_ns = usual_ns(onset, well - MIN(well, AROUND), well, &levels.highest_before_ns);
    if (isnan(levels.before_ns) || isnan(levels.after_ns)) return;
    if (levels.after_ns <= 0 || levels.after_ns < SLOWDOWN_LEAST * levels.before_ns) return;

    double part = part_of_minute(onset, &levels, at);
    if (part < PART_LEAST) return;
    if (part > 1 - PART_LEAST) {
        part = 1;
        const gboolean higher = (float)onset->minutes[well].lost_ns > levels.highest_before_ns;
        if (higher && onset->minutes[well].first >= spell->earliest && follows_at_once(onset, at)) {
            const double before = part_of_minute(onset, &levels, well);
            if (before >= PART_LEAST) {
                part += before;
                spell->first = onset->minutes[well].first;
            }
        }
    }
    const gint64 end_ns = begin_of(onset, at) + onset->grid->window_ns;
    spell->begin_ns = end_ns - (gint64)(part * (double)onset->grid->window_ns);
}

void onset_find(const NodeGrid *grid, const Residuals *residuals, Polish *const *polish, Spell *spell) {
    g_autoptr(GArray) minutes = class_minutes(grid, residuals, polish, spell->node, spell->class);
    const Onset onset = {(const ClassWindow *)(void *)minutes->data, minutes->len, grid};
    guint32 at = 0;

    spell->begin_ns = grid_window_ns(grid, spell->first);
    if (!find_minute(&onset, spell, &at)) return;
    spell->first = onset.minutes[at].first;
    spell->begin_ns = grid_window_ns(grid, spell->first);
    tell_time(&onset, at, spell);
}
