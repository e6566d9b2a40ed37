#include "receiver/background/idle_rule.h"

#include <math.h>

IdleTimes idle_times_of(const IdleRuleInput *input) {
    const double idle_ns = (double)input->idle_ns, least_ns = idle_ns / IDLE_RULE_LEAST_PART;
    const double times = CLAMP(input->spans_per_s / IDLE_RULE_RATE, 1, IDLE_RULE_LARGE_MOST);
    const double large_ns = MAX(idle_ns, MIN(times * idle_ns, (double)input->max_age_ns));
    const double used = (double)input->journal_bytes / (double)MAX(input->journal_limit_bytes, 1);
    const double left = CLAMP((0.875 - used) / 0.375, 0, 1);
    const double most_ns = least_ns * pow(large_ns / least_ns, left);
    return (IdleTimes){.idle_ns = (gint64)MIN(idle_ns, most_ns), .large_idle_ns = (gint64)MIN(large_ns, most_ns)};
}
