/* Which nodes of a cluster are slower than they should be.
 *
 * Each node is compared with its own prediction: what a job takes on it at most times, and how the moment is, as the
 * other nodes tell (polish.h). So nodes may differ by design. The model is learned from the observations themselves,
 * without what was suspected; windows are judged by what was learned before them. */
#pragma once

#include "analyzer/diagnosis/nodes/judgement.h"

typedef enum { NODES_OURS, NODES_PAPER, NODES_PEERS } NodesMethod;

typedef struct NodesReport {
    const NodeGrid *grid;
    Polish *polish[MEASURES];
    Residuals residuals;
    guint8 *used; /* of observations: the model learns from it */
    AllSeries *all;
    GArray *spells;  /* Spell: those that cost most first */
    guint32 learned; /* so many windows the model has learned from */
} NodesReport;

/* since: the first window that is asked about; the model is learned from those before it, and as far as they are too
 * few from later ones. The grid must be indexed, and outlive the report. */
NodesReport *nodes_judge(const NodeGrid *grid, NodesMethod method, guint32 since);
void nodes_report_free(NodesReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodesReport, nodes_report_free)

/* How many times as long as on most nodes a class of work takes on each node at most times. NAN: it has none, or too
 * few others have. constants: one for each node. */
void node_constants(const NodesReport *report, WorkClass class, double *constants);
