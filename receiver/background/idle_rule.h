/* How long traces with their root are waited for, so that few spans come after their trace was stored.
 *
 * To join such spans to a trace costs as much as the trace has spans, whatever their number; to wait costs journal, as
 * what is open is in it: 100 MB for each second at three million spans a second, and the same whether a tenth of these
 * spans wait or all. Many spans are in few large traces of many processes, nearly each of which gets something late. So
 * the more spans come, the longer large traces wait. At a few thousand a second a join costs nothing that anybody would
 * notice, and a user wants to see the trace.
 *
 * While the journal fills up, all wait less, the large ones first: what waits longest is what the journal is held for,
 * and nothing is won by letting others go. As long as there is room left, its size comes to rest where the time that is
 * waited fills it. */
#pragma once

#include <glib.h>

/* Large ones wait for trace.idle at so many spans a second, for twice as long at twice as many, and so on, up to
 * IDLE_RULE_LARGE_MOST times and trace.max-age: spans that a busy host sends come late by a few minutes. At this rate
 * joins take 2 % of a processor. */
#define IDLE_RULE_RATE       50000.0
#define IDLE_RULE_LARGE_MOST 8
/* The least that is waited, as a part of trace.idle. */
#define IDLE_RULE_LEAST_PART 16

typedef struct IdleRuleInput {
    gint64 idle_ns, max_age_ns; /* trace.idle, trace.max-age */
    double spans_per_s;
    guint64 journal_bytes, journal_limit_bytes;
} IdleRuleInput;

typedef struct IdleTimes {
    gint64 idle_ns, large_idle_ns;
} IdleTimes;

/* All of it while half of the journal's limit is used or less, the least from seven eighths on, and by equal factors in
 * between: what changes is always the same part of what is waited. */
IdleTimes idle_times_of(const IdleRuleInput *input);
