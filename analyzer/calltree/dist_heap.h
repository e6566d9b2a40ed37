/* How much memory a Dist holds besides itself: what bounds a group of statistics. */
#pragma once

#include "analyzer/calltree/dist.h"

gsize dist_heap_bytes(const Dist *dist);
/* dist_add(), and by how much that made the Dist larger. */
gsize dist_add_growth(Dist *dist, guint64 value);
