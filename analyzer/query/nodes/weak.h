/* Hosts that are slower than their peers, and always were, as far as is known: weaker by design, or ill since before
 * the first span. */
#pragma once

#include "analyzer/query/nodes/cluster.h"

typedef struct WeakNode {
    guint32 node;
    WorkClass class;
    double constant; /* times as long as on most nodes */
    guint64 calls;   /* in the period, as are: */
    gint64 lost_ns, lost_critical_ns;
} WeakNode;

/* Those that take at least twice as long as most, and are far from them all. Appended, the dearest first. */
void weak_nodes_find(const Cluster *cluster, const NodesReport *report, GArray *found);
