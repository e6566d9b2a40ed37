/* Hosts whose calls fail far more often than those of their peers, as JSON. */
#pragma once

#include "analyzer/query/nodes/cluster.h"

/* A new list of up to 'most', with an example of each that has one. node: G_MAXUINT32: all. NULL with *error. */
json_t *failing_json(const Cluster *cluster, guint32 node, guint most, GError **error);
