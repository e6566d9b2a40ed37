/* Statistics of the nodes of one pattern, summed from stored rows or from traces. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/archive.h"

/* Hosts named per node; the rest of a large cluster would make answers long and tell little. */
#define NODE_HOSTS_MAX 16u

/* Where the nodes of a row went: node NULL: they are the sum's own; G_MAXUINT32: nowhere. Those from n on are unknown.
 */
typedef struct NodeMap {
    guint32 *node;
    guint32 n;
} NodeMap;
static inline guint32 node_map_get(const NodeMap *map, guint32 node) {
    if (map == NULL || map->node == NULL) return node;
    return node < map->n ? map->node[node] : G_MAXUINT32;
}

typedef struct NodeSum {
    NodeStats stats;
    guint32 hosts[NODE_HOSTS_MAX]; /* dictionary ids, the first that were met */
    guint n_hosts;
} NodeSum;

typedef struct PatternSum {
    Pattern *pattern;
    NodeSum *nodes; /* pattern->n_nodes; 0 is the trace: its calls are traces, its durations theirs */
    gsize charged;  /* to the thread's allowance */
} PatternSum;

PatternSum *pattern_sum_new(const Pattern *pattern);
void pattern_sum_free(PatternSum *sum);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PatternSum, pattern_sum_free)

/* Adds a row. map NULL: nodes are the sum's own. virtual_only: only those that are no calls, the trace and
 * placeholders. */
void pattern_sum_add(PatternSum *sum, const NodeMap *map, StatsRow *row, gboolean virtual_only);
/* Notes which nodes a host has calls of. */
void pattern_sum_add_host(PatternSum *sum, const NodeMap *map, guint32 host, StatsRow *row);
/* The same of one of the sum's nodes. Was it news? */
gboolean pattern_sum_note_host(PatternSum *sum, guint32 node, guint32 host);
/* Has every node as many hosts as are named? */
gboolean pattern_sum_hosts_full(const PatternSum *sum);

/* What is left of a sum when nodes are dropped and merged as map says. */
PatternSum *pattern_sum_filter(PatternSum *sum, const Pattern *filtered, const guint32 *map);

/* The nodes of one assembled trace, compressed. */
PatternSum *pattern_sum_of_trace(Archive *archive, Compressor *compressor, const CallTree *tree,
                                 const TreeTimes *times);

/* The nodes' rows as docs/api.md has them in "forest", in pre-order, without the trace's own. */
json_t *pattern_sum_json(PatternSum *sum, Archive *archive);
