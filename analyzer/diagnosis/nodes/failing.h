/* Nodes whose calls fail far more often than those of their peers.
 *
 * A failure ends all functions that were under way, so of a node's class of work the function of which most calls
 * failed stands for it. The share that failed is compared with that of the other nodes that are like most: a node is
 * not when its own failures are a rarity by the median share of all, and then by the share of those that are left. So
 * half of the nodes may be ill. No share is taken to be less than what nobody could have seen in as many calls as they
 * had (Laplace's rule of succession). A window is bad when so many failed calls have a chance of FAILING_CHANCE at most
 * by that share (exact binomial test), and are FAILING_LEAST of the calls and FAILING_TIMES as many as expected. Calls
 * do not fail independently, so one window says little: when BAD_LEAST of BAD_OF windows are bad the node fails;
 * GOOD_LEAST good ones in a row end it (judgement.h). With fewer than POLISH_PEERS nodes in a class nobody is compared.
 */
#pragma once

#include "analyzer/diagnosis/nodes/judgement.h"

#define FAILING_LEAST  0.05
#define FAILING_TIMES  3.0
#define FAILING_CHANCE 0.00135 /* that of being three deviations above the mean: Z_LEAST */

typedef struct Failing {
    WorkClass class;
    guint32 node;
    guint32 first, last;                 /* windows of the grid: the first bad one, and the last */
    guint32 worst;                       /* that in which most failed */
    guint64 what;                        /* the function in it (Failures.what) */
    gboolean open;                       /* it has not ended */
    guint64 calls, failed, worst_failed; /* of the bad windows */
    double peers;                        /* so many of them would have failed as often as those of peers */
} Failing;

/* Of the windows from 'since' on: Failing, those of which most calls failed first. */
GArray *failing_find(const NodeGrid *grid, guint32 since);

/* The calls of a node's class from a window on, and how many of them failed. */
typedef struct FailedShare {
    guint64 calls, failed;
} FailedShare;
/* By class, then node. */
FailedShare *failed_shares(const NodeGrid *grid, guint32 since);
