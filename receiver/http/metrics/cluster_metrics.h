/* What /metrics tells of the cluster, not of plumbd: figures of functions and of hosts, and how hosts stand. */
#pragma once

#include "receiver/http/metrics/exposition.h"
#include "receiver/state/state.h"

void cluster_metrics_write(const StateSources *sources, Exposition *out);
