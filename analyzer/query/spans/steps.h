/* A period cut into steps of equal length, for questions about how something changed.
 *
 * Statistics are kept by the minute, later by the hour and by the day. So a step is a whole number of minutes, and
 * begins at a multiple of itself; where finer statistics have expired, it is at least as long as theirs. */
#pragma once

#include "analyzer/query/shared/question.h"

#define STEPS_MAX 200u

typedef struct Steps {
    gint64 since_ns; /* of the first */
    gint64 step_ns;
    guint n; /* 0: nothing is stored */
} Steps;

/* Of "since", "until" and "step"; where a side of the period is open, it reaches as far as traces are stored. whole:
 * without "step" all is one step; else there are 60 to 120, as far as minutes allow. INPUT when the step is too short
 * for the period, or no whole number of minutes. */
gboolean asked_steps(const Asked *asked, gboolean whole, Steps *steps, GError **error);
Period steps_period(const Steps *steps, guint i);
/* Adds "since_time_ns", "until_time_ns" and "step_ns"; nothing when there is no step. */
void json_add_steps(json_t *object, const Steps *steps);
