/* Self time and critical-path time of every node of a call tree. */
#pragma once

#include "analyzer/calltree/pattern.h"
#include "analyzer/calltree/waits.h"

typedef struct TreeTimes {
    guint32 n_nodes;
    gint64 *self_ns;     /* own duration less the union of the children's intervals inside it; 0 for virtual nodes */
    gint64 *critical_ns; /* share of the time for which the root really waited for this node */
} TreeTimes;

/* Critical path: from the end of a root backwards, the child that ends last before the cursor is what the parent waited
 * for; the gap between that child's end and the cursor is the parent's own. Children are clipped to their parent's
 * window. For every child of the trace or of a placeholder the critical times of its subtree add up to its duration.
 * Reversed spans count as of duration 0. docs/call-trees.md, "Times", says which of several children is taken: what
 * begins and ends together is taken in the order of the pattern, which does not depend on ids. node_of: as of
 * compressor_tree(); NULL, where no statistics are taken: in the order of the tree. */
TreeTimes *times_compute(const CallTree *tree, const guint32 *node_of);

/* What is measured. */
typedef struct Measured {
    const CallTree *tree;
    const Pattern *pattern; /* with node_of; or NULL both */
    const guint32 *node_of;
} Measured;

/* How critical-path times are computed, each with what the one before it does. New records are counted by the last. */
typedef enum {
    TIMES_BY_PARENT, /* times_compute() */
    /* What is left to functions that wait goes to those who work meanwhile (waits.h). What nobody is seen to work at
     * stays with the one who waits. */
    TIMES_THROUGH_WAITS,
    TIMES_BY_TURNS, /* operations of Spark share the time of their task (times_turns.c) */
    TIMES_STANDING, /* a station that stands still works (waits_work.c) */
    TIMES_ASKED,    /* what begins together with a station does not say when it was asked */
    TIMES_NETWORK,  /* of two slow links in a row it is the network of the station between them */
    TIMES_READERS,  /* a station that is asked for a block works until it answers, and between its calls */
    TIMES_ANSWERS,  /* a station works from when it could acknowledge a packet until it does */
    TIMES_ARRIVALS, /* what a station has sent to a reader is its sending until the reader has it */
    TIMES_SENDERS,  /* what comes slowly is its sender's, where that one has more slow links, or stands still */
    TIMES_ROOTS,    /* all roots of a trace that read wait for the same stations */
    TIMES_VOTES,    /* of several that are asked, those are waited for that make the majority; the NameNode's edit log
                     * works at what is on its own critical path */
    TIMES_NOW = TIMES_VOTES
} TimesRule;
#define TIMES_NODE_BYTES  (2 * sizeof(gint64)) /* of each node, the times themselves */
#define TIMES_WAITS_BYTES 168u                 /* about, while it is found out who works for whom */
/* *differs: may the rule have made a difference to TIMES_BY_PARENT? What it takes to find out who works for whom is
 * charged to the thread's allowance meanwhile (common/base/allowance.h): who has one asks allowance_check() then. */
TreeTimes *times_by_rule(const Measured *measured, WaitTable *table, TimesRule rule, gboolean *differs);
void times_free(TreeTimes *times);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeTimes, times_free)
