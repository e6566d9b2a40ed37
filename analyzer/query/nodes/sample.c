#include "analyzer/query/nodes/sample.h"

/* The least that a sample has. */
#define MINUTES_LEAST 24u
/* The same, where memory is short. */
#define MINUTES_FEW 12u
/* Of a sampled period so many minutes without a gap, the newest: what has begun just now is seen. */
#define NEWEST 12u

guint32 minutes_affordable(guint32 observations, gsize bytes) {
    const gsize fit = bytes / OBSERVATION_BYTES;
    const guint32 least = fit < OBSERVATIONS_MAX ? MINUTES_FEW : MINUTES_LEAST;
    return MAX((guint32)MIN(fit, OBSERVATIONS_MAX) / MAX(observations, 1), least);
}

/* Appends 'most' of the minutes [from, until), spread evenly. */
static void add_minutes(GArray *minutes, guint32 from, guint32 until, guint32 most) {
    const guint32 all = until > from ? until - from : 0, n = MIN(all, most);
    for (guint32 i = 0; i < n; i++) {
        const guint32 minute = from + (guint32)((guint64)(2 * i + 1) * all / (2 * n));
        g_array_append_val(minutes, minute);
    }
}

GArray *minutes_choose(const MinuteSpan *span, guint32 most) {
    GArray *minutes = g_array_new(FALSE, FALSE, sizeof(guint32));
    const guint32 judged = span->until - span->since, learned = span->since - span->learn;
    if (judged <= most && learned <= most - judged) {
        add_minutes(minutes, span->learn, span->until, most);
        return minutes;
    }

    const guint32 of_judged = MIN(judged, MAX(most / 2, most - MIN(most, learned)));
    const guint32 newest = MIN(MIN(NEWEST, judged), of_judged);
    add_minutes(minutes, span->learn, span->since, most - of_judged);
    add_minutes(minutes, span->since, span->until - newest, of_judged - newest);
    add_minutes(minutes, span->until - newest, span->until, newest);
    return minutes;
}
