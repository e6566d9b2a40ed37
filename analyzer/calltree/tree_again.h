/* Trees made without looking up every id: that of a stored record, whose places say who hangs below whom, and that of a
 * tree that is there and of a few spans more. Both are what tree_build() makes of the same spans. */
#pragma once

#include "analyzer/calltree/tree.h"

/* A place of a record (record.h). Place 0 is the trace; parents come before their children, and children that have one
 * pattern node and one parent come in the order of the tree. */
typedef struct TreePlace {
    guint32 node;   /* of the pattern */
    guint32 parent; /* its place */
    guint32 at;     /* where its SpanRec begins; PLACE_VIRTUAL: it is none */
} TreePlace;

#define PLACE_VIRTUAL G_MAXUINT32

/* spans: what 'at' counts from; it must outlive the tree. node_of has n entries: the pattern nodes of the tree's nodes.
 * NULL: the places are those of no tree. */
CallTree *tree_restore(const TreePlace *places, guint32 n, const guint8 *spans, gint64 clock_tolerance_ns,
                       guint32 *node_of);

/* A tree grown by some spans. */
typedef struct TreeGrowth {
    CallTree *tree;
    guint32 *was; /* node of the old tree, 0: there is none */
} TreeGrowth;

/* spans: n records of the same trace with ids that are not in the tree, each once. FALSE, and nothing made: it has to
 * be built anew, for there are calls with several parents, or cycles, or most is new. */
gboolean tree_grow(const CallTree *old, const SpanRec *const *spans, guint n, gint64 clock_tolerance_ns,
                   TreeGrowth *growth);
