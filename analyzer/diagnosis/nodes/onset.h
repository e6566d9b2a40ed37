/* When a spell began. To be sure of it takes some windows, and windows may be minutes put together. Its begin is told
 * from the single minutes around: it is the minute from which on they are rather slow than as usual. Within that
 * minute it is told by time: a minute of which the node was slow for a third has a third of the time that is lost in
 * each of the following ones. */
#pragma once

#include "analyzer/diagnosis/nodes/judgement.h"

/* Sets first and begin_ns. polish: of each measure. */
void onset_find(const NodeGrid *grid, const Residuals *residuals, Polish *const *polish, Spell *spell);
