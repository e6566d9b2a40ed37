/* Two compressed trees laid over each other: nodes that have the same path of (function, role) from the root are one.
 */
#pragma once

#include "analyzer/query/forest/pattern_sum.h"

typedef struct UnionNode {
    guint32 function, role;
    guint32 depth;
    guint32 parent, first_child, last_child, next; /* 0: none; node 0 is the trace */
    NodeStats side[2];                             /* several nodes of one tree can have the same path */
} UnionNode;

typedef struct TreeUnion {
    GArray *nodes; /* UnionNode */
    GHashTable *index;
} TreeUnion;

TreeUnion *tree_union_new(void);
void tree_union_free(TreeUnion *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeUnion, tree_union_free)

/* Lays a tree over what is there, as side 0 or 1. */
void tree_union_add(TreeUnion *tree, guint side, PatternSum *sum);
/* The nodes in pre-order, node 0 left out: calls visit once for each. */
typedef void (*TreeUnionVisit)(void *arg, UnionNode *node);
void tree_union_walk(TreeUnion *tree, TreeUnionVisit visit, void *arg);
