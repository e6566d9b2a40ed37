/* How much memory a Dist holds besides itself: what bounds a group of statistics. */
#pragma once

#include "analyzer/calltree/dist.h"

gsize dist_heap_bytes(const Dist *dist);
