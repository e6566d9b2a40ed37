/* The Prometheus text of /metrics. */
#pragma once

#include "receiver/report/state.h"

void metrics_write(const StateSources *sources, GString *out);
