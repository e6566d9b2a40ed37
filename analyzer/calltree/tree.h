/* Assembly: the spans of one trace, in any order, some twice, become a forest under one virtual node.
 * (docs/call-trees.md, "Assembly".)
 *
 * Nodes are numbered in pre-order, so parent[i] < i and the subtree of i is i..end[i]-1; children of a node come in
 * order of begin, then id. Walk the children of p with: for (c = p + 1; c < end[p]; c = end[c]). A loop from the last
 * node to the first sees children before parents: no walk needs the C stack, however deep the tree.
 *
 * Rules. Node 0 is the trace. Spans without parents are its children. A span is a child of the first of its parents
 * that is in the trace; its other parents remain in its record. When none is, it hangs under a placeholder that stands
 * for its first parent (one per missing id, child of node 0) and is flagged an orphan. A cycle is cut at its span with
 * the smallest id, which then hangs under node 0. Of several records with one id the first by span_rec_compare() is
 * kept; the rest are counted. */
#pragma once

#include "common/model/span.h"

typedef enum {
    NODE_ORPHAN = 1 << 0,
    NODE_CYCLE_CUT = 1 << 1,
    NODE_REVERSED = 1 << 2,       /* ends before it begins */
    NODE_OUTSIDE_PARENT = 1 << 3, /* begins before or ends after its parent by more than the clock tolerance */
} NodeFlags;

typedef struct TreeCounts {
    guint32 duplicates; /* records dropped because their id was there already, with the same content */
    guint32 conflicts;  /* the same, with other content */
    guint32 orphans;
    guint32 cycles;
    guint32 reversed;
    guint32 outside_parent;
    guint32 roots;        /* spans without parents */
    guint32 placeholders; /* distinct missing parents */
} TreeCounts;

typedef struct CallTree {
    guint32 n_nodes; /* 1 + placeholders + spans */
    guint32 n_spans;
    guint32 *parent;
    guint32 *end;
    guint8 *flags;        /* NodeFlags */
    const SpanRec **span; /* NULL for node 0 and for placeholders; borrowed from the input */
    SpanId *missing;      /* of placeholders: the id they stand for; else (0,0) */
    gint64 *from_ns; /* begin and end of the span (interval.h), 0 for virtual nodes: what walks over the times needs */
    gint64 *to_ns;   /* only these */
    TreeCounts counts;
    GPtrArray *dropped; /* const SpanRec: the records counted as duplicates and conflicts; NULL: none */
    gint64 begin_ns;    /* least begin and greatest end of all spans */
    gint64 end_ns;
} CallTree;

/* spans: n >= 1 records of one trace, which must outlive the tree. Any content is accepted. texts: as of
 * span_rec_compare(), asked only of records with one id and different content. */
CallTree *tree_build(const SpanRec *const *spans, gsize n, gint64 clock_tolerance_ns, const SpanTexts *texts);
void tree_free(CallTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CallTree, tree_free)
/* What it takes, without the records. */
gsize tree_bytes(const CallTree *tree);

static inline gboolean tree_incomplete(const CallTree *tree) {
    return tree->counts.orphans > 0 || tree->counts.cycles > 0 || tree->counts.roots == 0;
}
