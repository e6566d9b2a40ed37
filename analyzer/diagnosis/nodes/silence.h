/* DataNodes that are asked and do not answer: their process is stopped or hangs, or their host is away. Such a node has
 * no calls that could be slow. It is told by two things together: nothing is heard of it any more, while the others go
 * on; and meanwhile those who read and write wait for longer than before, and nobody is seen to work for them. A node
 * that nobody asks, or that ends in good order, makes nobody wait. Of what is waited while several are silent, each has
 * an equal part. */
#pragma once

#include "analyzer/diagnosis/nodes/judgement.h"

/* So many windows without a call. */
#define SILENT_LEAST 2u
/* So many before them are looked at. */
#define SILENT_BEFORE 10u
/* Of which it was heard in this share, and there must be LEARN_LEAST. */
#define SILENT_HEARD 0.8
/* Of critical time above what was waited before; and so many times what was waited before. */
#define SILENT_WAITED_NS    (5 * NS_PER_SEC)
#define SILENT_WAITED_TIMES SLOWDOWN_LEAST

/* Appends the spells, of class WORK_SILENT. */
void silence_find(const NodeGrid *grid, GArray *spells);
