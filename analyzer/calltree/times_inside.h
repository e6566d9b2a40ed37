/* Parts of times.c that waits_follow.c needs. */
#pragma once

#include "analyzer/calltree/times.h"

/* Time of the critical path that is a node's own. */
typedef struct TimesGap {
    gint64 from_ns;
    gint64 to_ns;
    guint32 node;
} TimesGap;

/* What is special about functions. */
typedef struct TimesWatch {
    const WaitPart *parts; /* of pattern nodes or, without node_of, of nodes */
    GArray *gaps;          /* TimesGap; those of functions with PART_WAIT are appended */
    WaitTable *table;
} TimesWatch;

static inline WaitPart times_part(const TimesWatch *watch, const guint32 *node_of, guint32 node) {
    return watch != NULL ? watch->parts[node_of != NULL ? node_of[node] : node] : 0;
}

/* Does the operation share the time of its caller? */
static inline gboolean times_turn(const TimesWatch *watch, const CallTree *tree, const guint32 *node_of, guint32 node) {
    if (!(times_part(watch, node_of, node) & PART_TURNS)) return FALSE;
    const guint32 parent = tree->parent[node];
    return tree->span[parent] != NULL && !(times_part(watch, node_of, parent) & (PART_TURNS | PART_WAIT));
}

/* An operation of a caller. */
typedef struct Turn {
    gint64 from_ns;
    guint64 computed_ns; /* for how long its own code ran, at most */
    guint32 node, pattern_node;
} Turn;

/* self_ns: of the operation, by its interval. */
Turn turn_of(const CallTree *tree, guint32 node, gint64 self_ns, WaitTable *table);
/* Shares out what is the caller's own, in critical_ns. Returns what is left to the caller. */
gint64 turns_share(GArray *turns, gint64 own_ns, TreeTimes *times);

/* times_compute(), with PART_TURNS by turns, PART_ASIDE and late PART_VOTES left out of the critical path, and the
 * gaps; watch may be NULL. */
TreeTimes *times_with_gaps(const CallTree *tree, const guint32 *node_of, const TimesWatch *watch);
/* Gaps of all that is at a station of that chain, by the critical path of the station itself, whoever waited for it. By
 * parents alone: nothing takes turns. */
void times_at_stations(const CallTree *tree, const guint32 *node_of, const TimesWatch *watch, WaitChain chain);
