#include "analyzer/calltree/tree.h"

#include <string.h>

#include "analyzer/calltree/id_hash.h"
#include "analyzer/calltree/interval.h"
#include "analyzer/calltree/tree_inside.h"
#include "common/base/region.h"

/* While a tree is built, its nodes are "slots": 0 is the trace, 1..n_spans the spans kept, in order of arrival, then
 * the placeholders. Slots get their node numbers when everything else is known. */

#define NO_SLOT 0u /* the trace is nobody's child, sibling or known parent */

typedef struct Slot {
    SpanId id; /* of a span or of a missing parent */
    gint64 begin_ns;
    gint64 end_ns;
    const SpanRec *span;
    guint32 parent;
    guint32 first_child;
    guint32 last_child;
    guint32 next_sibling;
    guint32 node; /* 0: not numbered yet */
    guint8 flags;
    guint8 unordered; /* its children are not in order of begin */
} Slot;

typedef struct Sorted {
    gint64 begin_ns;
    guint32 slot;
} Sorted;

typedef struct Builder {
    guint32 n_spans;
    guint32 n_slots; /* with slot 0 */
    guint32 table_mask;
    guint32 *table; /* open addressing: id -> slot */
    Slot *slots;
    guint32 n_unordered; /* slots with children out of order */
    TreeCounts counts;
    GPtrArray *dropped; /* NULL: none yet */
    const SpanTexts *texts;
} Builder;

/* Up to this many spans the scratch arrays lie on the C stack: most traces are small, and malloc would be most of
 * their cost. */
#define STACK_SPANS         64u
#define STACK_TABLE         256u
#define STACK_SCRATCH_BYTES ((1 + 2 * STACK_SPANS) * sizeof(Slot) + STACK_TABLE * sizeof(guint32))

/* Where the id is in the table, or the empty place where it would be. At most 2/3 of the places are ever taken. */
static inline guint32 *table_place(const Builder *b, SpanId id, guint64 secret) {
    guint32 at = span_id_hash(id, secret) & b->table_mask;
    while (b->table[at] != NO_SLOT && !span_id_equal(b->slots[b->table[at]].id, id)) at = (at + 1) & b->table_mask;
    return &b->table[at];
}

static guint32 table_size(gsize n) {
    guint32 size = 4;
    while (size < 3 * n) size *= 2;
    return size;
}

/* Every span may miss a parent of its own. */
static gsize slots_bytes(gsize n) { return (1 + 2 * n) * sizeof(Slot); }
static gsize table_bytes(gsize n) { return table_size(n) * sizeof(guint32); }

static void builder_init(Builder *b, guint8 *on_stack, gsize n) {
    *b = (Builder){.n_slots = 1, .table_mask = table_size(n) - 1};
    if (n <= STACK_SPANS) {
        b->slots = (Slot *)(void *)on_stack;
        b->table = (guint32 *)(void *)(on_stack + slots_bytes(n));
        memset(b->table, 0, table_bytes(n));
    } else {
        b->slots = large_new(slots_bytes(n));
        b->table = large_new0(table_bytes(n));
    }
    b->slots[0] = (Slot){.span = NULL};
}

/* Ids are looked for no more: of a large trace the table goes before the tree comes. */
static void builder_drop_table(Builder *b, gsize n) {
    if (n > STACK_SPANS) large_free(b->table, table_bytes(n));
    b->table = NULL;
}

static void builder_clear(Builder *b, gsize n) {
    if (n > STACK_SPANS) large_free(b->slots, slots_bytes(n));
}

static inline guint32 add_slot(Builder *b, SpanId id, const SpanRec *span) {
    b->slots[b->n_slots] = (Slot){.id = id, .span = span};
    return b->n_slots++;
}

/* Returns the one that is kept. */
static const SpanRec *drop_one(Builder *b, const SpanRec *kept, const SpanRec *again) {
    gboolean less = span_rec_compare(again, kept, b->texts) < 0;
    if (b->dropped == NULL) b->dropped = g_ptr_array_new();
    g_ptr_array_add(b->dropped, (gpointer)(less ? kept : again));
    return less ? again : kept;
}

/* Of records with one id the least is kept, so that the order of arrival does not matter. */
static void keep_spans(Builder *b, const SpanRec *const *spans, gsize n) {
    guint64 secret = span_id_secret();
    for (gsize i = 0; i < n; i++) {
        guint32 *place = table_place(b, spans[i]->id, secret);
        if (*place == NO_SLOT) {
            *place = add_slot(b, spans[i]->id, spans[i]);
        } else {
            b->slots[*place].span = drop_one(b, b->slots[*place].span, spans[i]);
        }
    }
    b->n_spans = b->n_slots - 1;
    for (guint i = 0; b->dropped != NULL && i < b->dropped->len; i++) {
        const SpanRec *span = g_ptr_array_index(b->dropped, i);
        const SpanRec *kept = b->slots[*table_place(b, span->id, secret)].span;
        gboolean same = span_rec_compare(kept, span, b->texts) == 0;
        *(same ? &b->counts.duplicates : &b->counts.conflicts) += 1;
    }
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
        b->slots[*place].begin_ns = G_MAXINT64;
        b->counts.placeholders++;
    }
    return *place;
}

static void find_parents(Builder *b) {
    guint64 secret = span_id_secret();
    SpanId last = {0,
                   0}; /* the parent looked for last, where it was found: siblings mostly come one behind the other */
    guint32 last_slot = NO_SLOT;

    for (guint32 i = 1; i <= b->n_spans; i++) {
        Slot *slot = &b->slots[i];
        const SpanRec *span = slot->span;
        slot->begin_ns = span->begin_ns;
        slot->end_ns = span_end_ns(span);
        if (span->duration_ns < 0) {
            slot->flags |= NODE_REVERSED;
            b->counts.reversed++;
        }

        if (span->n_parents == 0) {
            b->counts.roots++;
            continue;
        }

        SpanId first = span_parents(span)[0];
        if (last_slot != NO_SLOT && span_id_equal(first, last)) {
            slot->parent = last_slot;
            continue;
        }
        guint32 *place = table_place(b, first, secret);
        if (*place != NO_SLOT && *place <= b->n_spans) {
            last = first;
            slot->parent = last_slot = *place;
            continue;
        }

        slot->parent = known_parent(b, span, secret);
        if (slot->parent != NO_SLOT) continue;
        slot->parent = placeholder_of(b, span_parents(span)[0], secret);
        Slot *placeholder = &b->slots[slot->parent];
        placeholder->begin_ns = MIN(placeholder->begin_ns, span->begin_ns);
        slot->flags |= NODE_ORPHAN;
        b->counts.orphans++;
    }
}

/* ---- children, in order of begin, then id: no two are equal ---- */

static inline gboolean slot_after(const Slot *x, const Slot *y) {
    if (x->begin_ns != y->begin_ns) return x->begin_ns > y->begin_ns;
    return span_id_compare(x->id, y->id) > 0;
}

static inline gboolean comes_after(const Builder *b, const Sorted *x, const Sorted *y) {
    if (x->begin_ns != y->begin_ns) return x->begin_ns > y->begin_ns;
    return span_id_compare(b->slots[x->slot].id, b->slots[y->slot].id) > 0;
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

/* Sorts the items; returns where they are then, which may be 'other'. */
static Sorted *sort_items(const Builder *b, Sorted *items, Sorted *other, gsize n) {
    enum { RUN = 12 };
    for (gsize at = 0; at < n; at += RUN) insertion_sort(b, items + at, MIN(RUN, n - at));
    for (gsize run = RUN; run < n; run *= 2) {
        for (gsize at = 0; at < n; at += 2 * run) {
            gsize size = MIN(2 * run, n - at);
            merge_runs(b, items + at, MIN(run, size), size, other + at);
        }
        Sorted *swap = items;
        items = other;
        other = swap;
    }
    return items;
}

static void order_children(Builder *b, Slot *parent, Sorted *items, Sorted *other) {
    gsize n = 0;
    for (guint32 slot = parent->first_child; slot != NO_SLOT; slot = b->slots[slot].next_sibling)
        items[n++] = (Sorted){b->slots[slot].begin_ns, slot};
    const Sorted *sorted = sort_items(b, items, other, n);
    for (gsize i = 0; i + 1 < n; i++) b->slots[sorted[i].slot].next_sibling = sorted[i + 1].slot;
    b->slots[sorted[n - 1].slot].next_sibling = NO_SLOT;
    parent->first_child = sorted[0].slot;
    parent->last_child = sorted[n - 1].slot;
    parent->unordered = FALSE;
}

/* Puts the slots below their parents. Spans come in some order of time, mostly: at one of the ends is the place of
 * most. */
static void link_children(Builder *b) {
    for (guint32 i = 1; i < b->n_slots; i++) {
        Slot *slot = &b->slots[i], *parent = &b->slots[slot->parent];
        if (parent->first_child == NO_SLOT) {
            parent->first_child = parent->last_child = i;
        } else if (!slot_after(slot, &b->slots[parent->first_child])) {
            slot->next_sibling = parent->first_child;
            parent->first_child = i;
        } else {
            Slot *last = &b->slots[parent->last_child];
            if (slot_after(last, slot) && !parent->unordered) {
                parent->unordered = TRUE;
                b->n_unordered++;
            }
            last->next_sibling = i;
            parent->last_child = i;
        }
    }

    if (b->n_unordered == 0) return;

    g_autofree Sorted *items = g_new(Sorted, 2 * (gsize)b->n_slots);
    for (guint32 i = 0; i < b->n_slots; i++) {
        if (b->slots[i].unordered) order_children(b, &b->slots[i], items, items + b->n_slots);
    }
}

/* Numbers the slots that hang under slot 0, in pre-order. FALSE: not all do, there is a cycle. */
static gboolean number_nodes(Builder *b, CallTree *tree) {
    guint32 next = 1, at = b->slots[0].first_child;

    while (at != NO_SLOT) {
        Slot *slot = &b->slots[at];
        guint32 node = next++;
        slot->node = node;
        tree->parent[node] = b->slots[slot->parent].node;
        tree->span[node] = slot->span;
        tree->flags[node] = slot->flags;
        gboolean virtual = slot->span == NULL;
        if (virtual) tree->missing[node] = slot->id;
        tree->from_ns[node] = virtual ? 0 : slot->begin_ns;
        tree->to_ns[node] = virtual ? 0 : slot->end_ns;

        if (slot->first_child != NO_SLOT) {
            at = slot->first_child;
            continue;
        }
        tree->end[node] = next;
        while (at != 0 && slot->next_sibling == NO_SLOT) {
            at = slot->parent;
            slot = &b->slots[at];
            tree->end[slot->node] = next;
        }
        if (at != 0) at = slot->next_sibling;
    }

    tree->end[0] = next;
    return next == b->n_slots;
}

/* Follows the parents from 'at', leaving 'mark' in the slots, until it meets the trace, a mark of its own (a cycle:
 * returns a slot of it) or somebody else's (returns 0). */
static guint32 find_cycle(Builder *b, guint32 at, guint32 mark) {
    while (at != 0 && b->slots[at].node == 0) {
        b->slots[at].node = mark;
        at = b->slots[at].parent;
    }
    return at != 0 && b->slots[at].node == mark ? at : 0;
}

static void unlink_all(Builder *b) {
    for (guint32 i = 0; i < b->n_slots; i++) {
        Slot *slot = &b->slots[i];
        slot->first_child = slot->last_child = slot->next_sibling = NO_SLOT;
        slot->node = 0;
    }
    b->n_unordered = 0;
}

static void cut_cycles(Builder *b) {
    unlink_all(b);
    for (guint32 start = 1; start <= b->n_spans; start++) {
        guint32 member = find_cycle(b, start, start);
        if (member == 0) continue;
        guint32 least = member;
        for (guint32 at = b->slots[member].parent; at != member; at = b->slots[at].parent) {
            if (span_id_compare(b->slots[at].id, b->slots[least].id) < 0) least = at;
        }
        b->slots[least].parent = 0;
        b->slots[least].flags |= NODE_CYCLE_CUT;
        b->counts.cycles++;
    }
    unlink_all(b);
}

#define TREE_HEAD_BYTES ((sizeof(CallTree) + 7) & ~(gsize)7)

static gsize size_of(gsize n) {
    const gsize before = TREE_HEAD_BYTES + n * (sizeof(SpanRec *) + 2 * sizeof(gint64) + 2 * sizeof(guint32) + 1);
    return ((before + 7) & ~(gsize)7) + n * sizeof(SpanId);
}

/* Few nodes have a missing id, if any: these lie last, so that in large trees most of that room is never written to. */
CallTree *tree_new(guint32 n_nodes) {
    const gsize n = n_nodes, size_bytes = size_of(n), missing_bytes = n * sizeof(SpanId);
    guint8 *block = large_new(size_bytes);
    CallTree *tree = (CallTree *)(void *)block;
    memset(tree, 0, sizeof *tree);
    tree->n_nodes = n_nodes;
    tree->span = (const SpanRec **)(void *)(block + TREE_HEAD_BYTES);
    tree->from_ns = (gint64 *)(void *)(tree->span + n);
    tree->to_ns = tree->from_ns + n;
    tree->parent = (guint32 *)(void *)(tree->to_ns + n);
    tree->end = tree->parent + n;
    tree->flags = (guint8 *)(tree->end + n);
    tree->missing = (SpanId *)(void *)(block + size_bytes - missing_bytes);
    if (!large_fresh(size_bytes)) memset(tree->missing, 0, missing_bytes);
    tree->span[0] = NULL;
    tree->from_ns[0] = tree->to_ns[0] = 0;
    tree->parent[0] = 0;
    tree->flags[0] = 0;
    return tree;
}

static gint64 saturating_add(gint64 a, gint64 b) {
    gint64 sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b < 0 ? G_MININT64 : G_MAXINT64;
}

void tree_check_outside(CallTree *tree, guint32 node, gint64 tolerance_ns) {
    guint32 parent = tree->parent[node];
    if (tree->from_ns[node] < saturating_add(tree->from_ns[parent], -tolerance_ns) ||
        tree->to_ns[node] > saturating_add(tree->to_ns[parent], tolerance_ns)) {
        tree->flags[node] |= NODE_OUTSIDE_PARENT;
        tree->counts.outside_parent++;
    }
}

void tree_compare_times(CallTree *tree, gint64 tolerance_ns) {
    gint64 begin_ns = G_MAXINT64, end_ns = G_MININT64;
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] == NULL) continue;
        begin_ns = MIN(begin_ns, tree->from_ns[i]);
        end_ns = MAX(end_ns, tree->to_ns[i]);
        if (tree->span[tree->parent[i]] != NULL) tree_check_outside(tree, i, tolerance_ns);
    }
    tree->begin_ns = begin_ns <= end_ns ? begin_ns : 0;
    tree->end_ns = begin_ns <= end_ns ? end_ns : 0;
}

CallTree *tree_build(const SpanRec *const *spans, gsize n, gint64 clock_tolerance_ns, const SpanTexts *texts) {
    _Alignas(Slot) guint8 on_stack[STACK_SCRATCH_BYTES];
    Builder b;

    builder_init(&b, on_stack, n);
    b.texts = texts;
    keep_spans(&b, spans, n);
    find_parents(&b);
    builder_drop_table(&b, n);
    link_children(&b);

    CallTree *tree = tree_new(b.n_slots);
    if (!number_nodes(&b, tree)) {
        cut_cycles(&b);
        link_children(&b);
        memset(tree->missing, 0, tree->n_nodes * sizeof(SpanId));
        gboolean all = number_nodes(&b, tree);
        g_assert(all);
    }

    tree->n_spans = b.n_spans;
    tree->counts = b.counts;
    tree->dropped = b.dropped;
    builder_clear(&b, n);

    tree_compare_times(tree, clock_tolerance_ns);
    return tree;
}

void tree_free(CallTree *tree) {
    if (tree == NULL) return;
    if (tree->dropped != NULL) g_ptr_array_unref(tree->dropped);
    large_free(tree, size_of(tree->n_nodes));
}

gsize tree_bytes(const CallTree *tree) { return size_of(tree->n_nodes); }
