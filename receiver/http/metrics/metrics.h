/* The Prometheus text of /metrics. */
#pragma once

#include "receiver/http/metrics/exposition.h"
#include "receiver/state/state.h"

void metrics_write(const StateSources *sources, Exposition *out);
