#include "analyzer/calltree/times.h"

#include <stdlib.h>

#include "analyzer/calltree/interval.h"
#include "analyzer/calltree/times_inside.h"
#include "common/base/region.h"

typedef struct Window {
    gint64 from_ns, to_ns;
} Window;

/* A child of the node at hand, clipped to the node's window. */
typedef struct Child {
    gint64 begin_ns;
    gint64 end_ns;
    gint64 from_ns; /* its own begin */
    guint32 node;
    guint32 pattern_node;
} Child;

/* Children in a window of a node, as they are looked at: the last first. */
typedef struct Children {
    Child few[64];
    Child *items; /* few, or malloced */
    gsize n;
    gsize region;
    gboolean ordered; /* as by_end() wants it */
    const guint32 *node_of;
    const TimesWatch *watch; /* NULL, in most trees */
    GArray *turns;           /* Turn: the node's operations; NULL, in most trees */
} Children;

static void children_clear(Children *children) {
    if (children->items != children->few) g_free(children->items);
}

/* Ends ascending; of those that end together the one that began first comes last, for it is what was waited for. */
static int by_end(const void *a, const void *b) {
    const Child *x = a, *y = b;
    if (x->end_ns != y->end_ns) return x->end_ns < y->end_ns ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns > y->begin_ns ? -1 : 1;
    if (x->from_ns != y->from_ns) return x->from_ns > y->from_ns ? -1 : 1;
    if (x->pattern_node != y->pattern_node) return x->pattern_node > y->pattern_node ? -1 : 1;
    return x->node > y->node ? -1 : 1;
}

static void children_add(Children *children, const Child *child) {
    if (children->n == children->region) {
        gsize region = children->region * 2;
        gboolean grown = children->items != children->few;
        Child *items = grown ? g_renew(Child, children->items, region) : g_new(Child, region);
        for (gsize i = 0; !grown && i < children->n; i++) items[i] = children->few[i];
        children->items = items;
        children->region = region;
    }
    if (children->n > 0 && children->ordered) {
        const Child *last = &children->items[children->n - 1];
        children->ordered = last->end_ns < child->end_ns || by_end(last, child) <= 0;
    }
    children->items[children->n++] = *child;
}

/* By insertion: calls that overlap are nearly in order. Where many are not, that would take too long. */
static void children_order(Children *children) {
    enum { MOVES_PER_CHILD = 12 };
    gsize moves_left = children->n * MOVES_PER_CHILD;
    for (gsize i = 1; i < children->n && !children->ordered; i++) {
        Child item = children->items[i];
        gsize at = i;
        for (; at > 0 && by_end(&children->items[at - 1], &item) > 0; at--)
            children->items[at] = children->items[at - 1];
        children->items[at] = item;
        if (i - at > moves_left) {
            qsort(children->items, children->n, sizeof(Child), by_end);
            return;
        }
        moves_left -= i - at;
    }
}

/* One sweep over the children, which come in order of begin: adds what of them lies in the window, and returns what is
 * left of the node's own time when the union of theirs is taken away. */
static gint64 self_time(const CallTree *tree, guint32 node, Window window, Children *children) {
    gint64 end_ns = tree->to_ns[node], covered_to = tree->from_ns[node], covered = 0;
    for (guint32 c = node + 1; c < tree->end[node]; c = tree->end[c]) {
        gint64 from_ns = tree->from_ns[c], to_ns = tree->to_ns[c];
        gint64 from = MAX(from_ns, covered_to), to = MIN(to_ns, end_ns);
        if (to > from) {
            covered += to - from;
            covered_to = to;
        }

        const guint32 pattern_node = children->node_of != NULL ? children->node_of[c] : 0;
        const Child child = {MAX(from_ns, window.from_ns), MIN(to_ns, window.to_ns), from_ns, c, pattern_node};
        if (children->turns != NULL && times_turn(children->watch, tree, children->node_of, c)) {
            const Turn turn = {.node = c, .pattern_node = pattern_node};
            g_array_append_val(children->turns, turn);
            continue;
        }

        if (child.begin_ns >= child.end_ns) continue;
        const WaitPart part = times_part(children->watch, children->node_of, c);
        if (part & PART_ASIDE || (part & PART_VOTES && to_ns > end_ns)) continue;
        children_add(children, &child);
    }
    return tree->to_ns[node] - tree->from_ns[node] - covered;
}

/* gaps: NULL, for most functions and in most trees. */
static inline void gap_note(GArray *gaps, guint32 node, gint64 from_ns, gint64 to_ns) {
    if (gaps == NULL || from_ns >= to_ns) return;
    const TimesGap gap = {from_ns, to_ns, node};
    g_array_append_val(gaps, gap);
}

/* Walks back from the window's end; hands each child that was waited for its window (in self_ns and critical_ns) and
 * returns the time that is the node's own. */
static gint64 critical_time(guint32 node, TreeTimes *times, Children *children, GArray *gaps) {
    gint64 begin_ns = times->self_ns[node], cursor = times->critical_ns[node], own = 0;
    children_order(children);
    for (gsize i = children->n; i-- > 0;) {
        const Child *child = &children->items[i];
        if (child->end_ns > cursor) continue;
        own += cursor - child->end_ns;
        gap_note(gaps, node, child->end_ns, cursor);
        times->self_ns[child->node] = child->begin_ns;
        times->critical_ns[child->node] = child->end_ns;
        cursor = child->begin_ns;
    }
    gap_note(gaps, node, begin_ns, cursor);
    return own + (cursor - begin_ns);
}

/* The same as self_time() and critical_time() for a node with one child, as every second one is that has any. */
static void single_child(const CallTree *tree, guint32 node, TreeTimes *times, GArray *gaps) {
    guint32 child = node + 1;
    gint64 window_from = times->self_ns[node], window_to = times->critical_ns[node];
    gint64 begin_ns = tree->from_ns[node], end_ns = tree->to_ns[node];
    gint64 covered_from = MAX(tree->from_ns[child], begin_ns), covered_to = MIN(tree->to_ns[child], end_ns);
    gint64 from = MAX(tree->from_ns[child], window_from), to = MIN(tree->to_ns[child], window_to);
    gint64 own = window_to - window_from;
    if (own != 0 && from < to) {
        own -= to - from;
        times->self_ns[child] = from;
        times->critical_ns[child] = to;
        gap_note(gaps, node, to, window_to);
        window_to = from;
    }
    gap_note(gaps, node, window_from, window_to);
    times->critical_ns[node] = own;
    times->self_ns[node] = end_ns - begin_ns - (covered_from < covered_to ? covered_to - covered_from : 0);
}

/* Of the node's operations the calls count as its own: they were made in the same thread, one after the other. */
static void add_turns(const CallTree *tree, Window window, TreeTimes *times, Children *children) {
    for (guint i = 0; i < children->turns->len; i++) {
        Turn *turn = &g_array_index(children->turns, Turn, i);
        const guint32 pattern_node = turn->pattern_node;
        times->self_ns[turn->node] = self_time(tree, turn->node, window, children);
        *turn = turn_of(tree, turn->node, times->self_ns[turn->node], children->watch->table);
        turn->pattern_node = pattern_node;
    }
}

static void measure_node(const CallTree *tree, guint32 node, TreeTimes *times, Children *children, GArray *gaps) {
    const Window window = {times->self_ns[node], times->critical_ns[node]};
    children->n = 0;
    children->ordered = TRUE;
    if (children->turns != NULL) g_array_set_size(children->turns, 0);
    const gint64 self_ns = self_time(tree, node, window, children);
    if (children->turns != NULL) add_turns(tree, window, times, children);

    gint64 own_ns = window.from_ns == window.to_ns ? 0 : critical_time(node, times, children, gaps);
    if (children->turns != NULL) own_ns = turns_share(children->turns, own_ns, times);
    times->critical_ns[node] = own_ns;
    times->self_ns[node] = self_ns;
}

static gsize times_bytes(gsize n) { return sizeof(TreeTimes) + n * TIMES_NODE_BYTES; }

static TreeTimes *times_new(const CallTree *tree) {
    const gsize n = tree->n_nodes;
    TreeTimes *times = large_new0(times_bytes(n));
    times->n_nodes = tree->n_nodes;
    times->self_ns = (gint64 *)(void *)(times + 1);
    times->critical_ns = times->self_ns + n;
    return times;
}

static void children_init(Children *children, const guint32 *node_of, const TimesWatch *watch, GArray *turns) {
    children->node_of = node_of;
    children->watch = watch;
    children->items = children->few;
    children->region = G_N_ELEMENTS(children->few);
    children->turns = turns;
}

static inline void measure(const CallTree *tree, guint32 node, TreeTimes *times, Children *children, GArray *gaps) {
    if (tree->end[node] == node + 1) {
        const gint64 window_ns = times->critical_ns[node] - times->self_ns[node];
        gap_note(gaps, node, times->self_ns[node], times->critical_ns[node]);
        times->critical_ns[node] = window_ns;
        times->self_ns[node] = tree->to_ns[node] - tree->from_ns[node];
        return;
    }
    const WaitPart first_child = times_part(children->watch, children->node_of, node + 1);
    if (tree->end[node + 1] == tree->end[node] && !(first_child & (PART_ASIDE | PART_TURNS | PART_VOTES)))
        single_child(tree, node, times, gaps);
    else
        measure_node(tree, node, times, children, gaps);
}

/* Until a node is reached, self_ns and critical_ns hold the begin and end of the window in which it was waited for;
 * empty: it was not. Parents come before their children. */
TreeTimes *times_with_gaps(const CallTree *tree, const guint32 *node_of, const TimesWatch *watch) {
    TreeTimes *times = times_new(tree);
    g_autoptr(GArray) turns = watch != NULL ? g_array_new(FALSE, FALSE, sizeof(Turn)) : NULL;
    Children children;
    children_init(&children, node_of, watch, turns);

    for (guint32 node = 1; node < tree->n_nodes; node++) {
        if (tree->span[node] == NULL) continue;
        if (times_turn(watch, tree, node_of, node)) continue; /* measured with its caller */
        if (tree->span[tree->parent[node]] == NULL) {
            times->self_ns[node] = tree->from_ns[node];
            times->critical_ns[node] = tree->to_ns[node];
        }
        gint64 window_ns = times->critical_ns[node] - times->self_ns[node];
        GArray *gaps = window_ns != 0 && times_part(watch, node_of, node) & PART_WAIT ? watch->gaps : NULL;
        measure(tree, node, times, &children, gaps);
    }

    children_clear(&children);
    return times;
}

void times_at_stations(const CallTree *tree, const guint32 *node_of, const TimesWatch *watch, WaitChain chain) {
    g_autoptr(TreeTimes) times = times_new(tree);
    Children children;
    children_init(&children, node_of, watch, NULL);
    for (guint32 node = 1; node < tree->n_nodes; node++) {
        const WaitPart part = times_part(watch, node_of, node);
        if (part & PART_STATION && part_chain(part) == chain) {
            times->self_ns[node] = tree->from_ns[node];
            times->critical_ns[node] = tree->to_ns[node];
        }
        if (times->self_ns[node] != times->critical_ns[node]) measure(tree, node, times, &children, watch->gaps);
    }
    children_clear(&children);
}

TreeTimes *times_compute(const CallTree *tree, const guint32 *node_of) { return times_with_gaps(tree, node_of, NULL); }

void times_free(TreeTimes *times) {
    if (times != NULL) large_free(times, times_bytes(times->n_nodes));
}
