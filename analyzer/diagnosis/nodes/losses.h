/* What a spell must cost to be told: however surely a host is slower than usual, it is nobody's trouble unless somebody
 * waits for it. Significance alone names something in any quiet cluster. */
#pragma once

#include "analyzer/diagnosis/nodes/judgement.h"

/* Of critical time, what the spell lost at least: by itself, or with all that overlaps with it on its node. */
#define WAITED_LEAST_NS (500 * NS_PER_MS)
/* The same, of all critical time on its node while it lasted. */
#define WAITED_LEAST_SHARE 0.05

/* Before it is known what follows from what: removes the spells of nodes that cost too little with all of them. */
void losses_drop_nodes(const NodeGrid *grid, GArray *spells);
/* After that, when causes cost what follows from them, too: removes those that cost too little. */
void losses_drop(const NodeGrid *grid, GArray *spells);
