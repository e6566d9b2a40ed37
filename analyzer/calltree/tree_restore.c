#include <string.h>

#include "analyzer/calltree/interval.h"
#include "analyzer/calltree/tree_again.h"
#include "analyzer/calltree/tree_inside.h"

typedef struct Restore {
    const TreePlace *places;
    guint32 n;
    const guint8 *spans;
    gint64 *begin_ns, *end_ns; /* of the places; begin of a placeholder is that of its first child */
    guint32 *first;            /* per place, and one more: its first child in 'child' */
    guint32 *child;            /* places */
    guint32 *other;            /* to merge in; NULL: not needed yet */
    guint32 *next;             /* per place: its next child to be numbered */
    guint32 *number;           /* of the nodes */
} Restore;

static inline const SpanRec *place_span(const Restore *r, guint32 place) {
    guint32 at = r->places[place].at;
    return at == PLACE_VIRTUAL ? NULL : (const SpanRec *)(gconstpointer)(r->spans + at);
}

/* That of a missing parent is its children's. */
static SpanId place_id(const Restore *r, guint32 place) {
    const SpanRec *span = place_span(r, place);
    return span != NULL ? span->id : span_parents(place_span(r, r->child[r->first[place]]))[0];
}

static void restore_init(Restore *r) {
    gsize n = r->n;
    r->begin_ns = g_malloc(n * (2 * sizeof(gint64) + 4 * sizeof(guint32)) + sizeof(guint32));
    r->end_ns = r->begin_ns + n;
    r->child = (guint32 *)(void *)(r->end_ns + n);
    r->next = r->child + n;
    r->number = r->next + n;
    r->first = r->number + n;
}

static void restore_clear(Restore *r) {
    g_free(r->begin_ns);
    g_free(r->other);
}

/* FALSE: a missing parent that is not the trace's child, or a child of one that names none. No encoder writes that. */
static gboolean read_times(Restore *r) {
    for (guint32 i = 0; i < r->n; i++) {
        const SpanRec *span = place_span(r, i);
        r->begin_ns[i] = span != NULL ? span->begin_ns : G_MAXINT64;
        r->end_ns[i] = span != NULL ? span_end_ns(span) : 0;
        guint32 parent = r->places[i].parent;
        if (span == NULL && parent != 0) return FALSE;
        if (parent == 0 || r->places[parent].at != PLACE_VIRTUAL) continue;
        if (span->n_parents == 0) return FALSE;
        r->begin_ns[parent] = MIN(r->begin_ns[parent], r->begin_ns[i]);
    }
    return TRUE;
}

/* ---- children: what one pattern node has of them is in order, and lies together ---- */

/* FALSE: nobody lacks a missing parent. */
static gboolean list_children(Restore *r) {
    memset(r->first, 0, ((gsize)r->n + 1) * sizeof *r->first);
    for (guint32 i = 1; i < r->n; i++) r->first[r->places[i].parent + 1]++;
    for (guint32 i = 0; i < r->n; i++) {
        if (r->places[i].at == PLACE_VIRTUAL && r->first[i + 1] == 0) return FALSE;
        r->first[i + 1] += r->first[i];
    }
    memcpy(r->next, r->first, r->n * sizeof *r->next);
    for (guint32 i = 1; i < r->n; i++) r->child[r->next[r->places[i].parent]++] = i;
    memcpy(r->next, r->first, r->n * sizeof *r->next);
    return TRUE;
}

static inline gboolean comes_after(const Restore *r, guint32 x, guint32 y) {
    if (r->begin_ns[x] != r->begin_ns[y]) return r->begin_ns[x] > r->begin_ns[y];
    return span_id_compare(place_id(r, x), place_id(r, y)) > 0;
}

static gsize run_end(const Restore *r, const guint32 *list, gsize at, gsize n) {
    while (++at < n && !comes_after(r, list[at - 1], list[at])) continue;
    return MIN(at, n);
}

/* Merges each two runs; returns how many there are then. */
static gsize merge_runs(const Restore *r, const guint32 *from, gsize n, guint32 *to) {
    gsize runs = 0;
    for (gsize at = 0, end; at < n; at = end, runs++) {
        gsize middle = run_end(r, from, at, n), left = at, right = middle;
        end = middle < n ? run_end(r, from, middle, n) : n;
        for (gsize i = at; i < end; i++) {
            gboolean take_right = left == middle || (right < end && comes_after(r, from[left], from[right]));
            to[i] = take_right ? from[right++] : from[left++];
        }
    }
    return runs;
}

static void order_children(Restore *r, guint32 place) {
    guint32 *list = r->child + r->first[place];
    gsize n = r->first[place + 1] - r->first[place];
    if (n < 2 || run_end(r, list, 0, n) == n) return;
    if (r->other == NULL) r->other = g_new(guint32, r->n);
    guint32 *from = list, *to = r->other;
    for (gsize runs = 2; runs > 1;) {
        runs = merge_runs(r, from, n, to);
        guint32 *swap = from;
        from = to;
        to = swap;
    }
    if (from != list) memcpy(list, from, n * sizeof *list);
}

/* ---- nodes ---- */

static void set_node(const Restore *r, CallTree *tree, guint32 place, guint32 node) {
    const SpanRec *span = place_span(r, place);
    guint32 parent = r->places[place].parent;

    tree->parent[node] = r->number[parent];
    tree->span[node] = span;
    tree->from_ns[node] = span == NULL ? 0 : r->begin_ns[place];
    tree->to_ns[node] = r->end_ns[place];
    tree->flags[node] = 0;

    if (span == NULL) {
        tree->missing[node] = place_id(r, place);
        tree->counts.placeholders++;
        return;
    }

    tree->n_spans++;
    if (span->duration_ns < 0) {
        tree->flags[node] |= NODE_REVERSED;
        tree->counts.reversed++;
    }
    if (span->n_parents == 0) {
        tree->counts.roots++;
    } else if (parent == 0) {
        tree->flags[node] |= NODE_CYCLE_CUT;
        tree->counts.cycles++;
    } else if (r->places[parent].at == PLACE_VIRTUAL) {
        tree->flags[node] |= NODE_ORPHAN;
        tree->counts.orphans++;
    }
}

static void number_nodes(Restore *r, CallTree *tree, guint32 *node_of) {
    guint32 place = 0, next = 1;
    r->number[0] = node_of[0] = 0;
    for (;;) {
        if (r->next[place] < r->first[place + 1]) {
            place = r->child[r->next[place]++];
            set_node(r, tree, place, next);
            node_of[next] = r->places[place].node;
            r->number[place] = next++;
            continue;
        }
        tree->end[r->number[place]] = next;
        if (place == 0) return;
        place = r->places[place].parent;
    }
}

CallTree *tree_restore(const TreePlace *places, guint32 n, const guint8 *spans, gint64 clock_tolerance_ns,
                       guint32 *node_of) {
    Restore r = {.places = places, .n = n, .spans = spans};
    restore_init(&r);
    CallTree *tree = NULL;
    if (read_times(&r) && list_children(&r)) {
        for (guint32 place = 0; place < n; place++) order_children(&r, place);
        tree = tree_new(n);
        number_nodes(&r, tree, node_of);
        tree_compare_times(tree, clock_tolerance_ns);
    }
    restore_clear(&r);
    return tree;
}
