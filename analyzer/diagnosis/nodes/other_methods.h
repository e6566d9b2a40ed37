/* Two other ways to tell that a node is slow, to be shown beside ours.
 *
 * The paper's (Gupta, Fritz, de Kleer, Witteveen): each node's times while all were well are its base. A job's
 * complexity, its mean time over that of the base, is the same on all nodes; so the others' tell what this one should
 * take. It is suspected when the density of what it took is less than a hundredth of the others' mean density.
 *
 * Peers: slower than the median of all nodes by three times their median absolute deviation, as Hadoop's SlowPeer
 * tells. It assumes that all nodes are equal. */
#pragma once

#include "analyzer/diagnosis/nodes/class_series.h"

/* Marks in residuals->blamed what of the windows [base, n_windows) the method blames, and sets the residuals to its own
 * ln slowdown. Windows before 'base' are the base. */
void method_paper(const NodeGrid *grid, guint32 base, Residuals *residuals);
void method_peers(const NodeGrid *grid, Residuals *residuals);
