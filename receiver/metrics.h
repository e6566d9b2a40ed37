/* The Prometheus text of /metrics. */
#pragma once

#include "receiver/state.h"

void metrics_write(StateSources *sources, GString *out);
