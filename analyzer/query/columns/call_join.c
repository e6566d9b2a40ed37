/* Who calls whom, by the rules of analyzer/calltree/tree.h. */
#include <string.h>

#include "analyzer/calltree/id_hash.h"
#include "analyzer/calltree/tree_inside.h"
#include "analyzer/query/columns/calls.h"
#include "analyzer/query/traces/trace_tasks.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

typedef struct Join {
    Calls *calls;
    guint32 n_spans; /* slots 1 to n_spans are spans */
    guint32 *table;  /* open addressing: id -> slot; 0: free */
    guint32 mask;
    guint64 secret;
    guint next_other; /* of calls->others */
    gsize charged;
} Join;

/* ---- ids ---- */

/* Two thirds of the places are taken at most; a missing parent for each span makes that 4 of 5. */
static guint32 table_size(guint32 n) {
    guint32 size = 4;
    while (size < n + n / 2) size *= 2;
    return size;
}

/* Ids of other traces are none of this one. */
static guint32 *place_of(const Join *join, guint64 id, gboolean foreign) {
    const Call *calls = join->calls->calls;
    guint32 at = span_id_hash((SpanId){foreign, id}, join->secret) & join->mask;
    for (; join->table[at] != 0; at = (at + 1) & join->mask) {
        const Call *call = &calls[join->table[at]];
        const gboolean other = (call->flags & CALL_MISSING) && (call->flags & CALL_FOREIGN);
        if (call->id == id && other == foreign) break;
    }
    return &join->table[at];
}

static void open_table(Join *join, guint32 room) {
    const guint32 size = table_size(room);
    allowance_hold(&join->charged, size * sizeof(guint32));
    g_free(join->table);
    join->table = g_new0(guint32, size);
    join->mask = size - 1;
}

static void enter_spans(Join *join) {
    Calls *calls = join->calls;
    for (guint32 i = 1; i <= join->n_spans && allowance_goes_on(); i++) {
        guint32 *place = place_of(join, calls->calls[i].id, FALSE);
        if (*place == 0) {
            *place = i;
            continue;
        }
        calls->calls[i].flags |= CALL_DROPPED;
        calls->counts.duplicates++;
    }
}

/* The first of the further parents that is there; 0: none is. */
static guint32 other_parent(Join *join, guint32 slot) {
    const GArray *others = join->calls->others;
    guint32 found = 0;
    for (; join->next_other < others->len; join->next_other++) {
        const OtherParent *other = &g_array_index(others, OtherParent, join->next_other);
        if (other->slot > slot) break;
        if (other->slot < slot || found != 0 || other->id.trace != join->calls->trace_id) continue;
        const guint32 there = *place_of(join, other->id.span, FALSE);
        if (there <= join->n_spans) found = there;
    }
    return found;
}

static guint32 missing_parent(Join *join, guint64 id, gboolean foreign) {
    Calls *calls = join->calls;
    guint32 *place = place_of(join, id, foreign);
    if (*place != 0) return *place;
    const guint32 slot = *place = calls_add(calls);
    Call *missing = &calls->calls[slot];
    missing->id = id;
    missing->begin_ns = G_MAXINT64;
    missing->flags = CALL_MISSING | (foreign ? CALL_FOREIGN : 0);
    calls->counts.missing++;
    return slot;
}

static guint32 find_parent(Join *join, guint32 slot) {
    Calls *calls = join->calls;
    const Call call = calls->calls[slot];
    const gboolean foreign = (call.flags & CALL_FOREIGN) != 0;
    const guint32 first = foreign ? 0 : *place_of(join, call.parent_id, FALSE);
    if (first != 0 && first <= join->n_spans) return first;
    const guint32 other = other_parent(join, slot);
    if (other != 0) return other;

    const guint32 missing = missing_parent(join, call.parent_id, foreign);
    calls->calls[missing].begin_ns = MIN(calls->calls[missing].begin_ns, call.begin_ns);
    calls->calls[slot].flags |= NODE_ORPHAN;
    calls->counts.orphans++;
    return missing;
}

/* The table must have room for what is missing, too, which is not known before. */
static gboolean find_parents(Join *join, GError **error) {
    Calls *calls = join->calls;
    for (guint32 i = 1; i <= join->n_spans && allowance_goes_on(); i++) {
        const guint16 flags = (guint16)calls->calls[i].flags;
        if (flags & CALL_DROPPED) continue;
        calls->counts.spans++;
        calls->begin_ns = MIN(calls->begin_ns, calls->calls[i].begin_ns);
        calls->end_ns = MAX(calls->end_ns, call_end_ns(&calls->calls[i]));
        if (flags & CALL_ROOT) calls->counts.roots++;
        const guint32 parent = flags & CALL_ROOT ? 0 : find_parent(join, i);
        calls->calls[i].parent = parent;
        calls->calls[i].next = 0;

        if (calls->n < join->mask - join->mask / 5) continue;
        open_table(join, 2 * calls->n);
        for (guint32 slot = 1; slot < calls->n && allowance_goes_on(); slot++) {
            const Call *call = &calls->calls[slot];
            if (call->flags & CALL_DROPPED) continue;
            *place_of(join, call->id, (call->flags & CALL_MISSING) && (call->flags & CALL_FOREIGN)) = slot;
        }
    }
    return allowance_check(error);
}

/* ---- children, in order of begin, then id ---- */

static gint compare_calls(const Call *a, const Call *b) {
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static gint by_begin(gconstpointer left, gconstpointer right, gpointer arg) {
    const Call *calls = arg;
    return compare_calls(&calls[*(const guint32 *)left], &calls[*(const guint32 *)right]);
}

static void order_children(Calls *calls, guint32 parent, GArray *slots) {
    Call *all = calls->calls;
    gboolean ordered = TRUE;
    guint n = 0;
    for (guint32 at = all[parent].first; at != 0 && allowance_goes_on(); at = all[at].next, n++)
        if (all[at].next != 0 && compare_calls(&all[at], &all[all[at].next]) > 0) ordered = FALSE;
    if (ordered) return;

    g_array_set_size(slots, n);
    guint32 *list = (guint32 *)(void *)slots->data;
    guint i = 0;
    for (guint32 at = all[parent].first; at != 0 && i < n; at = all[at].next) list[i++] = at;
    allowance_sort(list, n, sizeof *list, by_begin, all);
    all[parent].first = list[0];
    for (i = 0; i < n; i++) all[list[i]].next = i + 1 < n ? list[i + 1] : 0;
}

static void link_children(Calls *calls) {
    Call *all = calls->calls;
    g_autoptr(GArray) slots = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < calls->n; i++) all[i].first = 0;
    for (guint32 i = calls->n; i-- > 1 && allowance_goes_on();) {
        if (all[i].flags & CALL_DROPPED) continue;
        all[i].next = all[all[i].parent].first;
        all[all[i].parent].first = i;
    }
    for (guint32 i = 0; i < calls->n && allowance_goes_on(); i++)
        if (all[i].first != 0) order_children(calls, i, slots);
}

/* How many hang below the trace. */
static guint32 count_linked(const Calls *calls) {
    const Call *all = calls->calls;
    guint32 n = 0, at = all[0].first;
    while (at != 0 && allowance_goes_on()) {
        n++;
        if (all[at].first != 0) {
            at = all[at].first;
            continue;
        }
        while (at != 0 && all[at].next == 0) at = all[at].parent;
        if (at != 0) at = all[at].next;
    }
    return n;
}

/* Each cycle is cut at its least id. */
static void cut_cycles(Calls *calls) {
    Call *all = calls->calls;
    for (guint32 i = 0; i < calls->n; i++) all[i].first = 0; /* marks */
    for (guint32 start = 1; start < calls->n && allowance_goes_on(); start++) {
        guint32 at = start;
        for (; at != 0 && all[at].first == 0 && allowance_goes_on(); at = all[at].parent) all[at].first = start;
        if (at == 0 || all[at].first != start) continue;
        guint32 least = at;
        for (guint32 i = all[at].parent; i != at && allowance_goes_on(); i = all[i].parent)
            if (all[i].id < all[least].id) least = i;
        all[least].parent = 0;
        all[least].flags |= NODE_CYCLE_CUT;
        calls->counts.cycles++;
    }
}

gboolean calls_join(Calls *calls, GError **error) {
    Join join = {.calls = calls, .n_spans = calls->n - 1, .secret = span_id_secret()};
    calls->begin_ns = G_MAXINT64;
    calls->end_ns = G_MININT64;
    open_table(&join, join.n_spans);
    enter_spans(&join);
    const gboolean found = find_parents(&join, error);
    g_free(join.table);
    allowance_hold(&join.charged, 0);
    calls_charge(calls, calls->counts.missing * sizeof(Call));
    if (!found) return FALSE;

    link_children(calls);
    if (allowance_check(NULL) && count_linked(calls) < calls->counts.spans + calls->counts.missing) {
        cut_cycles(calls);
        link_children(calls);
    }
    return allowance_check(error);
}

/* ---- rows ---- */

static gint32 row_of(const Calls *calls, guint32 slot) {
    const Call *call = &calls->calls[slot];
    return slot == 0 || call->flags & CALL_MISSING ? -1 : (gint32)call->first - 1;
}

CallTree *calls_tree_new(const Calls *calls) {
    CallTree *tree = tree_new(1 + calls->counts.spans + calls->counts.missing);
    tree->n_spans = calls->counts.spans;
    tree->begin_ns = calls->begin_ns;
    tree->end_ns = calls->end_ns;
    return tree;
}

/* It keeps its number as a node instead of its id. */
static void add_node(const Calls *calls, CallTree *tree, guint32 node, Call *call) {
    const gboolean missing = (call->flags & CALL_MISSING) != 0;
    tree->parent[node] = call->parent == 0 ? 0 : (guint32)calls->calls[call->parent].id;
    tree->span[node] = missing ? NULL : g_array_index(calls->kinds, CallKind, call->kind).span;
    tree->flags[node] = (guint8)(call->flags & (NODE_OUTSIDE_PARENT | (NODE_OUTSIDE_PARENT - 1)));
    tree->from_ns[node] = missing ? 0 : call->begin_ns;
    tree->to_ns[node] = missing ? 0 : call_end_ns(call);
    call->id = node;
}

static void compare_times(const Calls *calls, Call *call) {
    const Call *parent = &calls->calls[call->parent];
    gint64 from_ns, to_ns;
    if (call->parent == 0 || parent->flags & CALL_MISSING) return;
    const gint64 tolerance_ns = archive_clock_tolerance_ns(calls->archive);
    if (__builtin_sub_overflow(parent->begin_ns, tolerance_ns, &from_ns)) from_ns = G_MININT64;
    if (__builtin_add_overflow(call_end_ns(parent), tolerance_ns, &to_ns)) to_ns = G_MAXINT64;
    if (call->begin_ns < from_ns || call_end_ns(call) > to_ns) call->flags |= NODE_OUTSIDE_PARENT;
}

gboolean calls_each(Calls *calls, const CallsWalk *walk, GError **error) {
    Call *all = calls->calls;
    CallTree *tree = walk->tree;
    guint32 rows = 0, node = 0, at = all[0].first;
    while (at != 0 && allowance_goes_on()) {
        Call *call = &all[at];
        const guint32 child = call->first;
        const gboolean missing = (call->flags & CALL_MISSING) != 0;
        if (!missing) {
            compare_times(calls, call);
            walk->row(walk->arg, rows, call, row_of(calls, call->parent));
            call->first = ++rows;
        }
        node++;
        if (tree != NULL) add_node(calls, tree, node, call);

        if (child != 0) {
            at = child;
            continue;
        }
        if (tree != NULL) tree->end[node] = node + 1;
        while (at != 0 && all[at].next == 0) {
            at = all[at].parent;
            if (tree != NULL) tree->end[at == 0 ? 0 : all[at].id] = node + 1;
        }
        if (at != 0) at = all[at].next;
    }
    return allowance_check(error);
}

void calls_add_head(const Calls *calls, json_t *answer) {
    json_object_set_new(answer, "trace", json_trace_id(calls->trace_id));
    json_object_set_new(answer, "spans_total", json_integer(calls->counts.spans));
    if (calls->parts > 1) {
        json_object_set_new(answer, "parts", json_integer(calls->parts));
        json_object_set_new(answer, "first_part", json_integer(calls->first_part + 1));
        json_object_set_new(answer, "parts_shown", json_integer(calls->loaded));
    }
    if (calls->waiting) json_object_set_new(answer, "waiting", json_true());
}
