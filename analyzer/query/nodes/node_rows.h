/* What is known of hosts and of their jobs, as JSON. */
#pragma once

#include "analyzer/query/nodes/cluster.h"

/* A row for each host and class of work: how it is now, and how it is at most times. Ill ones first, then the slowest.
 * node: G_MAXUINT32: all. Appended to the list, up to 'most'; returns how many there are. */
guint node_rows_json(const Cluster *cluster, const NodesReport *report, guint32 node, guint most, json_t *list);
/* How such a row stands (docs/nodes.md). */
typedef enum { NODE_LEARNING, NODE_WELL, NODE_BUSIER, NODE_FOLLOWS, NODE_SUSPECTED, NODE_STATES } NodeState;
const char *node_state_name(NodeState state);
/* Adds how many hosts stand how, by class of work. */
void node_rows_count(const Cluster *cluster, const NodesReport *report, guint counts[WORK_CLASSES][NODE_STATES]);
/* The functions of one host in the period: predicted, and seen. */
json_t *node_functions_json(const Cluster *cluster, const NodesReport *report, guint32 node);
/* For each class of one host, its windows in the period. */
json_t *node_timeline_json(const Cluster *cluster, const NodesReport *report, guint32 node);
