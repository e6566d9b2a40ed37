/* What the constants of hosts are good for: how much work of a class each could take, and of which least is known. */
#pragma once

#include "analyzer/query/nodes/cluster.h"

/* One for each class of work that some hosts were compared in. NULL with *error. */
json_t *hints_json(const Cluster *cluster, const NodesReport *report, GError **error);
