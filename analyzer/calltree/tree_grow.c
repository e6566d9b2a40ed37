#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/id_hash.h"
#include "analyzer/calltree/interval.h"
#include "analyzer/calltree/tree_again.h"
#include "analyzer/calltree/tree_inside.h"

/* Only nodes on the way from the root to what is new change; the subtrees between them are copied as they are. */

/* More new spans than half of the tree are not looked for: then tree_build() takes no longer and less memory. But where
 * both are little. */
#define FEW_SPANS 64u

/* What the table knows of an id: that of a new span, or of a parent of one. */
typedef struct Known {
    SpanId id;
    guint32 unit_1; /* the new span or placeholder, and 1; 0: none */
    guint32 node;   /* of the old tree: the span; 0: none */
    guint32 holder; /* of the old tree: the placeholder; 0: none */
    gboolean used;
} Known;

/* What is put into the tree: new spans, new placeholders, and old placeholders that get new children, for these may
 * come earlier then. */
typedef struct Unit {
    guint64 parent; /* old node, or n_nodes of the old tree + unit */
    gint64 begin_ns;
    SpanId id;
    const SpanRec *span; /* NULL: placeholder */
    guint32 holder;      /* old placeholder whose children it takes over; 0: none */
    guint32 first;       /* its first one in Grow.order, n_units: none */
} Unit;

/* Of nodes of the old tree. */
enum {
    MARK_NONE,    /* the subtree is as it was */
    MARK_TOUCHED, /* something below has changed */
    MARK_LEFT,    /* a placeholder whose children went to a unit */
    MARK_UNITS,   /* and what is beyond: it gets children, from this one of Grow.order on */
};

/* A node whose children are being put down. */
typedef struct Frame {
    guint64 key;      /* as Unit.parent */
    guint32 node;     /* of the new tree */
    guint32 old, end; /* nodes of the old tree that come next, and where they end */
    guint32 unit;     /* in Grow.order, n_units: none left */
} Frame;

typedef struct Grow {
    const CallTree *old;
    gint64 tolerance_ns;
    Known *table;
    guint32 table_mask;
    Unit *units;
    guint32 n_units;
    guint32 n_left; /* old placeholders that units stand for */
    guint32 *order; /* units, by parent, then as children come */
    guint32 *mark;
    GArray *frames;
    CallTree *tree;
    guint32 *was;
    guint32 next; /* node of the new tree */
} Grow;

/* ---- who is whose child ---- */

static Known *known_place(const Grow *g, SpanId id, guint64 secret) {
    guint32 at = span_id_hash(id, secret) & g->table_mask;
    while (g->table[at].used && !span_id_equal(g->table[at].id, id)) at = (at + 1) & g->table_mask;
    return &g->table[at];
}

static Known *known_add(Grow *g, SpanId id, guint64 secret) {
    Known *known = known_place(g, id, secret);
    known->id = id;
    known->used = TRUE;
    return known;
}

/* FALSE: a span has several parents, or an id comes twice. */
static gboolean take_spans(Grow *g, const SpanRec *const *spans, guint n, guint64 secret) {
    for (guint i = 0; i < n; i++) {
        const SpanRec *span = spans[i];
        if (span->n_parents > 1) return FALSE;
        Known *known = known_add(g, span->id, secret);
        if (known->unit_1 != 0) return FALSE;
        g->units[i] = (Unit){.begin_ns = span->begin_ns, .id = span->id, .span = span};
        known->unit_1 = i + 1;
        if (span->n_parents > 0) known_add(g, span_parents(span)[0], secret);
    }
    g->n_units = n;
    return TRUE;
}

/* FALSE: what is new is in the tree, or a call of it has several parents. */
static gboolean find_known(Grow *g, guint64 secret) {
    const CallTree *old = g->old;
    for (guint32 i = 1; i < old->n_nodes; i++) {
        const SpanRec *span = old->span[i];
        if (i + SPANS_AHEAD < old->n_nodes) span_expect(old->span[i + SPANS_AHEAD]);
        if (span != NULL && span->n_parents > 1) return FALSE;
        Known *known = known_place(g, span != NULL ? span->id : old->missing[i], secret);
        if (!known->used) continue;
        if (span == NULL) {
            known->holder = i;
        } else {
            if (known->unit_1 != 0) return FALSE;
            known->node = i;
        }
    }
    return TRUE;
}

/* Children of the old placeholder go to the unit. */
static void take_over(Grow *g, Unit *unit, guint32 holder) {
    unit->holder = holder;
    g->mark[holder] = MARK_LEFT;
    g->n_left++;
}

static Unit *placeholder_unit(Grow *g, Known *known) {
    Unit *unit = &g->units[g->n_units];
    *unit = (Unit){.begin_ns = G_MAXINT64, .id = known->id};
    known->unit_1 = ++g->n_units;
    if (known->holder != 0) {
        take_over(g, unit, known->holder);
        unit->begin_ns = g->old->from_ns[known->holder + 1];
    }
    return unit;
}

static void find_parents(Grow *g, guint n, guint64 secret) {
    for (guint i = 0; i < n; i++) {
        Known *own = known_place(g, g->units[i].id, secret);
        if (own->holder != 0) take_over(g, &g->units[i], own->holder);
    }
    for (guint i = 0; i < n; i++) {
        Unit *unit = &g->units[i];
        if (unit->span->n_parents == 0) continue;
        Known *known = known_place(g, span_parents(unit->span)[0], secret);
        if (known->unit_1 == 0 && known->node != 0) {
            unit->parent = known->node;
            continue;
        }
        Unit *parent = known->unit_1 != 0 ? &g->units[known->unit_1 - 1] : placeholder_unit(g, known);
        unit->parent = (guint64)g->old->n_nodes + (guint64)(parent - g->units);
        if (parent->span == NULL) parent->begin_ns = MIN(parent->begin_ns, unit->begin_ns);
    }
}

static int by_place(gconstpointer a, gconstpointer b, gpointer arg) {
    const Unit *units = arg, *x = &units[*(const guint32 *)a], *y = &units[*(const guint32 *)b];
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return span_id_compare(x->id, y->id);
}

static void order_units(Grow *g) {
    for (guint32 i = 0; i < g->n_units; i++) {
        g->order[i] = i;
        g->units[i].first = g->n_units;
        if (g->units[i].parent >= g->old->n_nodes) continue;
        for (guint32 up = (guint32)g->units[i].parent; g->mark[up] == MARK_NONE; up = g->old->parent[up])
            g->mark[up] = MARK_TOUCHED;
    }
    g_qsort_with_data(g->order, (gint)g->n_units, sizeof *g->order, by_place, g->units);
    for (guint32 i = g->n_units; i-- > 0;) {
        guint64 parent = g->units[g->order[i]].parent;
        if (parent < g->old->n_nodes) {
            g->mark[parent] = MARK_UNITS + i;
        } else {
            g->units[parent - g->old->n_nodes].first = i;
        }
    }
}

/* ---- the new tree ---- */

/* Whoever was an orphan has got a parent. */
static void hang(Grow *g, guint32 node, guint32 parent) {
    CallTree *tree = g->tree;
    tree->parent[node] = parent;
    if (!(tree->flags[node] & NODE_ORPHAN) || tree->span[parent] == NULL) return;
    tree->flags[node] &= (guint8) ~(guint)NODE_ORPHAN;
    tree->counts.orphans--;
    tree_check_outside(tree, node, g->tolerance_ns);
}

static void copy_nodes(Grow *g, guint32 from, guint32 n) {
    const CallTree *old = g->old;
    CallTree *tree = g->tree;
    guint32 to = g->next, by = to - from;
    memcpy(tree->span + to, old->span + from, n * sizeof *tree->span);
    memcpy(tree->from_ns + to, old->from_ns + from, n * sizeof *tree->from_ns);
    memcpy(tree->to_ns + to, old->to_ns + from, n * sizeof *tree->to_ns);
    memcpy(tree->flags + to, old->flags + from, n);
    for (guint32 i = 0; i < n; i++) {
        tree->parent[to + i] = old->parent[from + i] + by;
        tree->end[to + i] = old->end[from + i] + by;
        g->was[to + i] = from + i;
    }
    for (guint32 i = 0; old->counts.placeholders > 0 && i < n; i++)
        if (old->span[from + i] == NULL) tree->missing[to + i] = old->missing[from + i];
    g->next += n;
}

/* Does the old tree's node come before the unit? */
static gboolean comes_first(const Grow *g, guint32 node, const Unit *unit) {
    const CallTree *old = g->old;
    const SpanRec *span = old->span[node];
    gint64 begin_ns = old->from_ns[span != NULL ? node : node + 1];
    if (begin_ns != unit->begin_ns) return begin_ns < unit->begin_ns;
    return span_id_compare(span != NULL ? span->id : old->missing[node], unit->id) < 0;
}

static void push(Grow *g, Frame frame) { g_array_append_val(g->frames, frame); }

static void put_old(Grow *g, guint32 node, guint32 parent) {
    guint32 mark = g->mark[node], now = g->next;
    copy_nodes(g, node, 1);
    hang(g, now, parent);
    push(g, (Frame){node, now, node + 1, g->old->end[node], mark >= MARK_UNITS ? mark - MARK_UNITS : g->n_units});
}

/* The next siblings that are as they were. Returns where they end. */
static guint32 put_unchanged(Grow *g, const Frame *frame, const Unit *before) {
    const CallTree *old = g->old;
    guint32 end = frame->old, to = g->next;
    do {
        end = old->end[end];
    } while (end < frame->end && g->mark[end] == MARK_NONE && (before == NULL || comes_first(g, end, before)));
    copy_nodes(g, frame->old, end - frame->old);
    for (guint32 i = to; i < g->next; i = g->tree->end[i]) hang(g, i, frame->node);
    return end;
}

static void put_unit(Grow *g, guint32 number, guint32 parent) {
    const Unit *unit = &g->units[number];
    CallTree *tree = g->tree;
    guint32 node = g->next++;
    const SpanRec *span = unit->span;

    tree->parent[node] = parent;
    tree->span[node] = span;
    if (span == NULL) tree->missing[node] = unit->id;
    tree->from_ns[node] = span == NULL ? 0 : span->begin_ns;
    tree->to_ns[node] = span == NULL ? 0 : span_end_ns(span);
    tree->flags[node] = span != NULL && span->duration_ns < 0 ? NODE_REVERSED : 0;
    g->was[node] = span == NULL ? unit->holder : 0;
    tree->counts.reversed += tree->flags[node] != 0;

    if (span != NULL) {
        tree->begin_ns = MIN(tree->begin_ns, tree->from_ns[node]);
        tree->end_ns = MAX(tree->end_ns, tree->to_ns[node]);
        if (tree->span[parent] != NULL) {
            tree_check_outside(tree, node, g->tolerance_ns);
        } else if (parent != 0) {
            tree->flags[node] |= NODE_ORPHAN;
            tree->counts.orphans++;
        } else {
            tree->counts.roots++;
        }
    }

    guint32 old = unit->holder, end = old != 0 ? g->old->end[old] : 0;
    push(g, (Frame){(guint64)g->old->n_nodes + number, node, old != 0 ? old + 1 : 0, end, unit->first});
}

/* FALSE: the frame is done. */
static gboolean put_child(Grow *g) {
    Frame *frame = &g_array_index(g->frames, Frame, g->frames->len - 1);
    const Unit *unit = frame->unit < g->n_units ? &g->units[g->order[frame->unit]] : NULL;
    if (unit != NULL && unit->parent != frame->key) unit = NULL;
    guint32 old = frame->old;

    if (old < frame->end && g->mark[old] == MARK_LEFT) {
        frame->old = g->old->end[old];
    } else if (old < frame->end && (unit == NULL || comes_first(g, old, unit))) {
        if (g->mark[old] == MARK_NONE) {
            frame->old = put_unchanged(g, frame, unit);
        } else {
            frame->old = g->old->end[old];
            put_old(g, old, frame->node);
        }
    } else if (unit != NULL) {
        put_unit(g, g->order[frame->unit++], frame->node);
    } else {
        g->tree->end[frame->node] = g->next;
        g_array_set_size(g->frames, g->frames->len - 1);
    }

    return g->frames->len > 0;
}

/* FALSE: not all can be reached, there is a cycle. */
static gboolean put_nodes(Grow *g, guint n_spans) {
    const CallTree *old = g->old;
    CallTree *tree = g->tree;
    guint32 n_new = g->n_units - n_spans; /* placeholders, all but the new ones in the place of one that was there */
    tree->n_spans = old->n_spans + n_spans;
    tree->counts = old->counts;
    tree->counts.placeholders += n_new - g->n_left;
    tree->begin_ns = old->begin_ns;
    tree->end_ns = old->end_ns;
    g->was[0] = 0;
    g->next = 1;
    guint32 mark = g->mark[0];
    push(g, (Frame){0, 0, 1, old->n_nodes, mark >= MARK_UNITS ? mark - MARK_UNITS : g->n_units});
    while (put_child(g)) continue;
    return g->next == tree->n_nodes;
}

static void grow_init(Grow *g, guint n) {
    guint32 size = 16;
    while (size < 4 * n) size *= 2; /* of each an id, and its parent's */
    g->table_mask = size - 1;
    g->table = g_new0(Known, size);
    g->units = g_new(Unit, 2 * (gsize)n);
    g->order = g_new(guint32, 2 * (gsize)n);
    g->mark = g_new0(guint32, g->old->n_nodes);
    g->frames = g_array_new(FALSE, FALSE, sizeof(Frame));
}

static void grow_clear(Grow *g) {
    g_free(g->table);
    g_free(g->units);
    g_free(g->order);
    g_free(g->mark);
    g_array_unref(g->frames);
}

gboolean tree_grow(const CallTree *old, const SpanRec *const *spans, guint n, gint64 clock_tolerance_ns,
                   TreeGrowth *growth) {
    guint64 secret = span_id_secret();
    if (old->counts.cycles > 0 || (n > FEW_SPANS && n > old->n_nodes / 2)) return FALSE;

    Grow g = {.old = old, .tolerance_ns = clock_tolerance_ns};
    grow_init(&g, n);

    gboolean made = FALSE;
    if (take_spans(&g, spans, n, secret) && find_known(&g, secret)) {
        find_parents(&g, n, secret);
        order_units(&g);
        g.tree = tree_new(old->n_nodes + g.n_units - g.n_left);
        g.was = g_new(guint32, g.tree->n_nodes);
        made = put_nodes(&g, n);
    }

    grow_clear(&g);
    if (made) {
        *growth = (TreeGrowth){g.tree, g.was};
    } else {
        tree_free(g.tree);
        g_free(g.was);
    }
    return made;
}
