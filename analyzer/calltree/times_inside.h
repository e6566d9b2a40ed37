/* Parts of times.c that waits_follow.c needs. */
#pragma once

#include "analyzer/calltree/times.h"

/* Time of the critical path that is a node's own. */
typedef struct TimesGap {
    gint64 from_ns;
    gint64 to_ns;
    guint32 node;
} TimesGap;

/* What functions have a part in waits. */
typedef struct TimesWatch {
    const WaitPart *parts; /* of pattern nodes or, without node_of, of nodes */
    GArray *gaps;          /* TimesGap; those of functions with PART_WAIT are appended */
} TimesWatch;

static inline WaitPart times_part(const TimesWatch *watch, const guint32 *node_of, guint32 node) {
    return watch != NULL ? watch->parts[node_of != NULL ? node_of[node] : node] : 0;
}

/* times_compute(), with PART_ASIDE left out of the critical path, and the gaps; watch may be NULL. */
TreeTimes *times_with_gaps(const CallTree *tree, const guint32 *node_of, const TimesWatch *watch);
