/* Call trees once more, written to be obviously right and as slow as that takes: recursion, linear searches, strings.
 * Shares no code with analyzer/calltree; understands spans and worlds only. */
#pragma once

#include "common/model/span.h"
#include "tests/calltree/world.h"

typedef struct RefNode RefNode;
struct RefNode {
    const SpanRec *span; /* NULL: the trace or a placeholder */
    SpanId missing;
    RefNode *parent;
    GPtrArray *children; /* RefNode, by begin, then id */
    gboolean orphan, cut, reversed, outside;
    gint64 begin_ns; /* of placeholders: of the first child */
    gint64 self_ns, critical_ns;
    gint64 worked_ns; /* while others waited for it; in critical_ns at the end */
    char *shape;      /* after ref_compress(): equal when and only when the subtrees are */
    guint pattern_node;
    /* After ref_times(). */
    guint place;            /* in pre-order */
    const RefNode *station; /* at which it works; NULL: at none */
    gboolean stands_still;  /* of a station: for longer than packets are late */
    char *path;             /* at the edit log: as work; the time is on the log's own critical path, and its own */
    char *work;             /* each moment of the trace: 'x', or '.' */
    char *late_answers;     /* of a station below another one, the same: it acknowledges late */
    char *asked;            /* the same: it is asked, and has not begun */
    RefNode *blamed;        /* of such a station: for both; it, or the one above it */
    gint64 blamed_weight;
    char *arrives;     /* of a station that sends a block, as work: all is sent, and on its way to the reader */
    RefNode *sent;     /* of such a station: its last call */
    gint64 arrived_ns; /* of such a station: for so long readers waited for what was on its way */
    guint packets;     /* of such a station: that were asked for while any was on its way */
    gint64 given_ns;   /* of who waits: for so long he waited for that */
    char *work_scope;  /* for whom it works; NULL: for nobody */
    char *wait_scope;  /* whom it waits for; NULL: its time is its own */
    RefNode *credited; /* to whom what it works is counted; NULL: it does not work */
    gint64 weight;     /* of that one's station, for the same */
};

/* Of a call; one that is reversed ends where it begins. */
static inline gint64 ref_end(const SpanRec *span) {
    return span->duration_ns < 0 ? span->begin_ns : span->begin_ns + span->duration_ns;
}

typedef struct RefTree {
    RefNode *trace;
    GPtrArray *all;      /* RefNode: owned */
    GPtrArray *in_order; /* RefNode: pre-order, the trace first */
    guint duplicates, conflicts, orphans, cycles, reversed, outside, roots, placeholders;
} RefTree;

RefTree *ref_tree_new(GPtrArray *spans, gint64 tolerance_ns);
void ref_tree_free(RefTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RefTree, ref_tree_free)

/* Self time, and critical-path time through waits; all times in the forest are a small multiple of unit_ns apart. After
 * 'pattern_node' was set. */
void ref_times(RefTree *tree, const World *world, gint64 unit_ns);

/* Of its function; "" for the trace and for placeholders. */
const char *ref_name(const RefNode *node, const World *world);

typedef struct RefPattern RefPattern;
struct RefPattern {
    char *name; /* "" for the trace and for placeholders */
    char kind;  /* 'T', 'S', 'M' */
    Role role;
    GPtrArray *children; /* RefPattern, in canonical order */
    GPtrArray *members;  /* RefNode: the nodes merged into this one */
    guint8 digest[32];
};

RefPattern *ref_pattern_new(RefTree *tree, const World *world);
void ref_pattern_free(RefPattern *pattern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RefPattern, ref_pattern_free)
