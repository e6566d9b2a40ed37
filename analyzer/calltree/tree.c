#include "analyzer/calltree/tree.h"

#include <string.h>

#include "analyzer/calltree/id_hash.h"
#include "analyzer/calltree/interval.h"

/* While a tree is built, its nodes are "slots": 0 is the trace, 1..n_spans the spans kept, in order of arrival, then
 * the placeholders. Slots get their node numbers when everything else is known. */

#define NO_SLOT 0u /* the trace is nobody's child, sibling or known parent */

typedef struct Sorted {
    gint64 begin_ns;
    guint32 slot;
} Sorted;

typedef struct Builder {
    guint32 n_spans;
    guint32 n_slots; /* with slot 0 */
    guint32 table_mask;
    guint32 *table; /* open addressing: id -> slot */
    SpanId *id;     /* of spans and of missing parents */
    gint64 *begin_ns;
    const SpanRec **span;
    guint32 *parent;
    guint32 *first_child;
    guint32 *next_sibling;
    guint32 *node; /* 0: not numbered yet */
    guint8 *flags;
    Sorted *sorted;
    Sorted *merged;
    TreeCounts counts;
} Builder;

/* Up to this many spans the scratch arrays lie on the C stack: most traces are small, and malloc would be most of
 * their cost. */
#define STACK_SPANS         32u
#define SLOT_BYTES          (sizeof(SpanId) + 2 * sizeof(gint64) + 4 * sizeof(guint32) + 2 * sizeof(Sorted) + 1)
#define STACK_TABLE         128u
#define STACK_SCRATCH_BYTES ((1 + 2 * STACK_SPANS) * SLOT_BYTES + STACK_TABLE * sizeof(guint32) + 64)

/* Where the id is in the table, or the empty place where it would be. At most 2/3 of the places are ever taken. */
static inline guint32 *table_place(const Builder *b, SpanId id, guint64 secret) {
    guint32 at = span_id_hash(id, secret) & b->table_mask;
    while (b->table[at] != NO_SLOT && !span_id_equal(b->id[b->table[at]], id)) at = (at + 1) & b->table_mask;
    return &b->table[at];
}

static guint32 table_size(gsize n) {
    guint32 size = 4;
    while (size < 3 * n) size *= 2;
    return size;
}

static gsize scratch_bytes(gsize n) { return (1 + 2 * n) * SLOT_BYTES + table_size(n) * sizeof(guint32) + 64; }

static void *carve(guint8 **at, gsize count, gsize size) {
    void *piece = *at;
    *at += (count * size + 7) & ~(gsize)7;
    return piece;
}

static void builder_init(Builder *b, guint8 *scratch, gsize n) {
    gsize slots = 1 + 2 * n; /* every span may miss a parent of its own */
    memset(b, 0, sizeof *b);
    b->id = carve(&scratch, slots, sizeof *b->id);
    b->begin_ns = carve(&scratch, slots, sizeof *b->begin_ns);
    b->span = carve(&scratch, slots, sizeof *b->span);
    b->sorted = carve(&scratch, slots, sizeof *b->sorted);
    b->merged = carve(&scratch, slots, sizeof *b->merged);
    b->parent = carve(&scratch, slots, sizeof *b->parent);
    b->first_child = carve(&scratch, slots, sizeof *b->first_child);
    b->next_sibling = carve(&scratch, slots, sizeof *b->next_sibling);
    b->node = carve(&scratch, slots, sizeof *b->node);
    guint32 size = table_size(n);
    b->table = carve(&scratch, size, sizeof *b->table);
    b->flags = carve(&scratch, slots, sizeof *b->flags);
    memset(b->table, 0, size * sizeof *b->table);
    b->table_mask = size - 1;
    b->span[0] = NULL;
    b->flags[0] = 0;
    b->n_slots = 1;
}

static guint32 add_slot(Builder *b, SpanId id, const SpanRec *span) {
    guint32 slot = b->n_slots++;
    b->id[slot] = id;
    b->span[slot] = span;
    b->flags[slot] = 0;
    return slot;
}

/* Of records with one id the least is kept, so that the order of arrival does not matter. */
static void keep_spans(Builder *b, const SpanRec *const *spans, gsize n) {
    guint64 secret = span_id_secret();
    for (gsize i = 0; i < n; i++) {
        guint32 *place = table_place(b, spans[i]->id, secret);
        if (*place == NO_SLOT) {
            *place = add_slot(b, spans[i]->id, spans[i]);
        } else if (span_rec_compare(spans[i], b->span[*place]) < 0) {
            b->span[*place] = spans[i];
        }
    }
    b->n_spans = b->n_slots - 1;
    if (b->n_spans == n) return;
    guint32 same = 0;
    for (gsize i = 0; i < n; i++) {
        const SpanRec *kept = b->span[*table_place(b, spans[i]->id, secret)];
        same += kept == spans[i] || span_rec_compare(kept, spans[i]) == 0;
    }
    b->counts.duplicates = same - b->n_spans;
    b->counts.conflicts = (guint32)n - same;
}

static guint32 known_parent(const Builder *b, const SpanRec *span, guint64 secret) {
    const SpanId *parents = span_parents(span);
    for (guint i = 0; i < span->n_parents; i++) {
        guint32 slot = *table_place(b, parents[i], secret);
        if (slot != NO_SLOT && slot <= b->n_spans) return slot;
    }
    return NO_SLOT;
}

static guint32 placeholder_of(Builder *b, SpanId missing, guint64 secret) {
    guint32 *place = table_place(b, missing, secret);
    if (*place == NO_SLOT) {
        *place = add_slot(b, missing, NULL);
        b->begin_ns[*place] = G_MAXINT64;
        b->parent[*place] = 0;
        b->counts.placeholders++;
    }
    return *place;
}

static void find_parents(Builder *b) {
    guint64 secret = span_id_secret();
    for (guint32 slot = 1; slot <= b->n_spans; slot++) {
        const SpanRec *span = b->span[slot];
        b->begin_ns[slot] = span->begin_ns;
        b->parent[slot] = 0;
        if (span->duration_ns < 0) {
            b->flags[slot] |= NODE_REVERSED;
            b->counts.reversed++;
        }
        if (span->n_parents == 0) {
            b->counts.roots++;
            continue;
        }
        b->parent[slot] = known_parent(b, span, secret);
        if (b->parent[slot] != NO_SLOT) continue;
        guint32 placeholder = placeholder_of(b, span_parents(span)[0], secret);
        if (span->begin_ns < b->begin_ns[placeholder]) b->begin_ns[placeholder] = span->begin_ns;
        b->parent[slot] = placeholder;
        b->flags[slot] |= NODE_ORPHAN;
        b->counts.orphans++;
    }
}

static inline gboolean comes_after(const Builder *b, const Sorted *x, const Sorted *y) {
    if (x->begin_ns != y->begin_ns) return x->begin_ns > y->begin_ns;
    return span_id_compare(b->id[x->slot], b->id[y->slot]) > 0;
}

static void insertion_sort(const Builder *b, Sorted *items, gsize n) {
    for (gsize i = 1; i < n; i++) {
        Sorted item = items[i];
        gsize at = i;
        for (; at > 0 && comes_after(b, &items[at - 1], &item); at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

static void merge_runs(const Builder *b, const Sorted *from, gsize middle, gsize n, Sorted *to) {
    gsize left = 0, right = middle;
    if (middle == n || !comes_after(b, &from[middle - 1], &from[middle])) {
        memcpy(to, from, n * sizeof *to);
        return;
    }
    for (gsize i = 0; i < n; i++) {
        gboolean take_right = left == middle || (right < n && comes_after(b, &from[left], &from[right]));
        to[i] = take_right ? from[right++] : from[left++];
    }
}

/* All slots but 0 by begin, then id: no two are equal. */
static void sort_slots(Builder *b) {
    enum { RUN = 12 };
    gsize n = b->n_slots - 1;
    for (gsize i = 0; i < n; i++) b->sorted[i] = (Sorted){b->begin_ns[i + 1], (guint32)i + 1};
    for (gsize at = 0; at < n; at += RUN) insertion_sort(b, b->sorted + at, MIN(RUN, n - at));
    for (gsize run = RUN; run < n; run *= 2) {
        for (gsize at = 0; at < n; at += 2 * run) {
            gsize size = MIN(2 * run, n - at);
            merge_runs(b, b->sorted + at, MIN(run, size), size, b->merged + at);
        }
        Sorted *swap = b->sorted;
        b->sorted = b->merged;
        b->merged = swap;
    }
}

static void link_children(Builder *b) {
    memset(b->first_child, 0, b->n_slots * sizeof *b->first_child);
    for (gsize i = b->n_slots - 1; i-- > 0;) {
        guint32 slot = b->sorted[i].slot;
        guint32 parent = b->parent[slot];
        b->next_sibling[slot] = b->first_child[parent];
        b->first_child[parent] = slot;
    }
}

/* Numbers the slots that hang under slot 0, in pre-order. FALSE: not all do, there is a cycle. */
static gboolean number_nodes(Builder *b, CallTree *tree) {
    memset(b->node, 0, b->n_slots * sizeof *b->node);
    guint32 next = 1, slot = b->first_child[0];
    while (slot != NO_SLOT) {
        guint32 node = next++;
        b->node[slot] = node;
        tree->parent[node] = b->node[b->parent[slot]];
        tree->span[node] = b->span[slot];
        tree->flags[node] = b->flags[slot];
        tree->missing[node] = b->span[slot] == NULL ? b->id[slot] : (SpanId){0, 0};
        if (b->first_child[slot] != NO_SLOT) {
            slot = b->first_child[slot];
            continue;
        }
        tree->end[node] = next;
        while (slot != 0 && b->next_sibling[slot] == NO_SLOT) {
            slot = b->parent[slot];
            tree->end[b->node[slot]] = next;
        }
        if (slot != 0) slot = b->next_sibling[slot];
    }
    tree->end[0] = next;
    return next == b->n_slots;
}

/* Follows the parents from 'slot', leaving 'mark' in node[], until it meets the trace, a mark of its own (a cycle:
 * returns a slot of it) or somebody else's (returns 0). */
static guint32 find_cycle(Builder *b, guint32 slot, guint32 mark) {
    while (slot != 0 && b->node[slot] == 0) {
        b->node[slot] = mark;
        slot = b->parent[slot];
    }
    return slot != 0 && b->node[slot] == mark ? slot : 0;
}

static void cut_cycles(Builder *b) {
    memset(b->node, 0, b->n_slots * sizeof *b->node);
    for (guint32 start = 1; start <= b->n_spans; start++) {
        guint32 member = find_cycle(b, start, start);
        if (member == 0) continue;
        guint32 least = member;
        for (guint32 at = b->parent[member]; at != member; at = b->parent[at]) {
            if (span_id_compare(b->id[at], b->id[least]) < 0) least = at;
        }
        b->parent[least] = 0;
        b->flags[least] |= NODE_CYCLE_CUT;
        b->counts.cycles++;
    }
}

static CallTree *tree_new(guint32 n_nodes) {
    gsize n = n_nodes;
    gsize head = (sizeof(CallTree) + 7) & ~(gsize)7;
    guint8 *block = g_malloc(head + n * (sizeof(SpanId) + sizeof(SpanRec *) + 2 * sizeof(guint32) + 1));
    CallTree *tree = (CallTree *)(void *)block;
    memset(tree, 0, sizeof *tree);
    tree->n_nodes = n_nodes;
    tree->missing = (SpanId *)(void *)(block + head);
    tree->span = (const SpanRec **)(void *)(tree->missing + n);
    tree->parent = (guint32 *)(void *)(tree->span + n);
    tree->end = tree->parent + n;
    tree->flags = (guint8 *)(tree->end + n);
    tree->missing[0] = (SpanId){0, 0};
    tree->span[0] = NULL;
    tree->parent[0] = 0;
    tree->flags[0] = 0;
    return tree;
}

static gint64 saturating_add(gint64 a, gint64 b) {
    gint64 sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b < 0 ? G_MININT64 : G_MAXINT64;
}

/* Bounds of the whole, and who sticks out of its parent. */
static void compare_times(CallTree *tree, gint64 tolerance_ns) {
    gint64 begin_ns = G_MAXINT64, end_ns = G_MININT64;
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const SpanRec *span = tree->span[i];
        if (span == NULL) continue;
        gint64 span_end = span_end_ns(span);
        begin_ns = MIN(begin_ns, span->begin_ns);
        end_ns = MAX(end_ns, span_end);
        const SpanRec *parent = tree->span[tree->parent[i]];
        if (parent == NULL) continue;
        if (span->begin_ns < saturating_add(parent->begin_ns, -tolerance_ns) ||
            span_end > saturating_add(span_end_ns(parent), tolerance_ns)) {
            tree->flags[i] |= NODE_OUTSIDE_PARENT;
            tree->counts.outside_parent++;
        }
    }
    tree->begin_ns = begin_ns <= end_ns ? begin_ns : 0;
    tree->end_ns = begin_ns <= end_ns ? end_ns : 0;
}

CallTree *tree_build(const SpanRec *const *spans, gsize n, gint64 clock_tolerance_ns) {
    guint64 on_stack[(STACK_SCRATCH_BYTES + 7) / 8];
    gboolean small = n <= STACK_SPANS;
    g_autofree guint8 *on_heap = small ? NULL : g_malloc(scratch_bytes(n));
    Builder b;
    builder_init(&b, small ? (guint8 *)on_stack : on_heap, n);
    keep_spans(&b, spans, n);
    find_parents(&b);
    sort_slots(&b);
    link_children(&b);
    CallTree *tree = tree_new(b.n_slots);
    if (!number_nodes(&b, tree)) {
        cut_cycles(&b);
        link_children(&b);
        gboolean all = number_nodes(&b, tree);
        g_assert(all);
    }
    tree->n_spans = b.n_spans;
    tree->counts = b.counts;
    compare_times(tree, clock_tolerance_ns);
    return tree;
}

void tree_free(CallTree *tree) { g_free(tree); }
