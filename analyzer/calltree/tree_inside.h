/* What the ways to make a tree share. */
#pragma once

#include "analyzer/calltree/tree.h"

/* Node 0 is filled in, but for its end; counts are 0, and so is 'missing': only placeholders' is to be set. */
CallTree *tree_new(guint32 n_nodes);
/* Flags and counts the node when it sticks out of its parent. */
void tree_check_outside(CallTree *tree, guint32 node, gint64 tolerance_ns);
/* Bounds of the whole, and who sticks out of its parent. */
void tree_compare_times(CallTree *tree, gint64 tolerance_ns);
