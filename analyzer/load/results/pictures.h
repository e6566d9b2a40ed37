/* What the pictures of a report are drawn of. */
#pragma once

#include <jansson.h>

#include "analyzer/load/results/result.h"

/* By steps of time, 600 at most: how many operations were due, p50, p99 and the greatest of their latencies. There must
 * be samples, here and below. */
json_t *timeline_json(const GArray *samples);
/* [probability, latency in ns] pairs, upwards, as far as there are operations enough. */
json_t *curve_json(const GArray *samples);
