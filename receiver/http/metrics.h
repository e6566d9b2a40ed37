/* The Prometheus text of /metrics. */
#pragma once

#include "receiver/report/state.h"

void metrics_write(StateSources *sources, GString *out);
