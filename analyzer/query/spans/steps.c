#include "analyzer/query/spans/steps.h"

#include "analyzer/archive/read/period_stats.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define DEFAULT_STEPS 120
#define NS_PER_HOUR   (60 * NS_PER_MINUTE)
#define NS_PER_DAY    (24 * NS_PER_HOUR)

static const gint64 lengths_min[] = {1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 40320};

/* The period that is asked for, without open sides. FALSE: nothing is stored. */
static gboolean close_period(const Asked *asked, Period *period) {
    const ArchiveTotals totals = archive_totals(asked->archive);
    const gboolean open = period->since_ns == G_MININT64 || period->until_ns == G_MAXINT64;
    if (totals.traces == 0 && open) return FALSE;
    if (period->since_ns == G_MININT64) period->since_ns = totals.first_ns;
    if (period->until_ns == G_MAXINT64) period->until_ns = MAX(totals.last_ns, period->since_ns) + 1;
    return period->until_ns > period->since_ns;
}

static gint64 floor_to(gint64 time_ns, gint64 unit_ns) {
    const gint64 rest = time_ns % unit_ns;
    return time_ns - (rest < 0 ? rest + unit_ns : rest);
}

static void cut(const Period *period, gint64 step_ns, Steps *steps) {
    const gint64 since_ns = floor_to(period->since_ns, step_ns);
    const guint64 n = ((guint64)(period->until_ns - since_ns) + (guint64)step_ns - 1) / (guint64)step_ns;
    *steps = (Steps){since_ns, step_ns, (guint)MIN(n, G_MAXUINT)};
}

/* Are there statistics as fine as the steps? The first step is the one of which they would have expired. */
static gboolean is_fine_enough(const Asked *asked, const Steps *steps) {
    Period first = steps_period(steps, 0);
    const Period asked_for = first;
    archive_stats_period(asked->archive, &first.since_ns, &first.until_ns);
    return first.since_ns == asked_for.since_ns && first.until_ns == asked_for.until_ns;
}

static gint64 default_step_ns(const Period *period) {
    const gint64 length_ns = period->until_ns - period->since_ns;
    for (guint i = 0; i < G_N_ELEMENTS(lengths_min); i++)
        if (length_ns / (lengths_min[i] * NS_PER_MINUTE) < DEFAULT_STEPS) return lengths_min[i] * NS_PER_MINUTE;
    return floor_to(length_ns / DEFAULT_STEPS, NS_PER_DAY) + NS_PER_DAY;
}

static gboolean check_step(const Steps *steps, const Period *period, GError **error) {
    if (steps->step_ns < NS_PER_MINUTE || steps->step_ns % NS_PER_MINUTE != 0)
        return fail(error, PLUMB_ERROR_INPUT, "a step is a whole number of minutes: statistics are kept by the minute");
    if (steps->n <= STEPS_MAX) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT,
                "the period has %u steps, and %u are the most: use step=%" G_GINT64_FORMAT "m, or a shorter period",
                steps->n, STEPS_MAX, default_step_ns(period) / NS_PER_MINUTE);
}

gboolean asked_steps(const Asked *asked, gboolean whole, Steps *steps, GError **error) {
    static const gint64 coarser_ns[] = {NS_PER_HOUR, NS_PER_DAY};
    Period period = {G_MININT64, G_MAXINT64};
    gint64 step_ns = 0;
    if (!params_period(asked->params, asked->now_ns, &period, error) ||
        !params_duration(asked->params, "step", &step_ns, error))
        return FALSE;
    *steps = (Steps){0};
    if (!close_period(asked, &period)) return TRUE;

    if (params_text(asked->params, "step") == NULL && whole) {
        archive_stats_period(asked->archive, &period.since_ns, &period.until_ns);
        *steps = (Steps){period.since_ns, period.until_ns - period.since_ns, 1};
        return TRUE;
    }
    if (params_text(asked->params, "step") == NULL) step_ns = default_step_ns(&period);
    steps->step_ns = step_ns;
    if (step_ns >= NS_PER_MINUTE) cut(&period, step_ns, steps);
    if (!check_step(steps, &period, error)) return FALSE;

    for (guint i = 0; i < G_N_ELEMENTS(coarser_ns) && !is_fine_enough(asked, steps); i++)
        if (step_ns % coarser_ns[i] != 0) cut(&period, MAX(floor_to(step_ns, coarser_ns[i]), coarser_ns[i]), steps);
    return TRUE;
}

Period steps_period(const Steps *steps, guint i) {
    const gint64 since_ns = steps->since_ns + (gint64)i * steps->step_ns;
    return (Period){since_ns, since_ns + steps->step_ns};
}

void json_add_steps(json_t *object, const Steps *steps) {
    if (steps->n == 0) return;
    json_object_set_new(object, "since_time_ns", json_integer(steps->since_ns));
    json_object_set_new(object, "until_time_ns", json_integer(steps_period(steps, steps->n - 1).until_ns));
    json_object_set_new(object, "step_ns", json_integer(steps->step_ns));
}
