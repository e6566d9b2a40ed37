/* The Prometheus text of /metrics. */
#pragma once

#include "receiver/state/state.h"

void metrics_write(const StateSources *sources, GString *out);
