/* Operations of Spark that take turns: docs/call-trees.md, "By turns".
 *
 * The operations of a task lie side by side below it. Each lasts from the making of its iterator to its last record,
 * so its interval covers nearly all of the task, whatever ran then. But all of them run in one thread, record by
 * record. So their intervals say little: what they computed is what they recorded of themselves. */
#include <stdlib.h>

#include "analyzer/calltree/times_inside.h"

static gboolean ran_for(const SpanRec *span, WaitTable *table, guint64 *ns) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation)) {
        if (wait_table_is_computed(table, annotation.key)) return span_annotation_number(&annotation, ns);
    }
    return FALSE;
}

Turn turn_of(const CallTree *tree, guint32 node, gint64 self_ns, WaitTable *table) {
    const guint64 covered_ns = (guint64)(tree->to_ns[node] - tree->from_ns[node] - self_ns);
    guint64 ran_ns, computed_ns = (guint64)self_ns;
    if (ran_for(tree->span[node], table, &ran_ns)) computed_ns = ran_ns > covered_ns ? ran_ns - covered_ns : 0;
    return (Turn){.from_ns = tree->from_ns[node], .computed_ns = computed_ns, .node = node};
}

/* The innermost first: it was begun last. */
static int by_begin(const void *a, const void *b) {
    const Turn *x = a, *y = b;
    if (x->from_ns != y->from_ns) return x->from_ns > y->from_ns ? -1 : 1;
    if (x->pattern_node != y->pattern_node) return x->pattern_node < y->pattern_node ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

gint64 turns_share(GArray *turns, gint64 own_ns, TreeTimes *times) {
    g_array_sort(turns, by_begin);
    for (guint i = 0; i < turns->len; i++) {
        const Turn *turn = &g_array_index(turns, Turn, i);
        const gint64 part_ns = turn->computed_ns < (guint64)own_ns ? (gint64)turn->computed_ns : own_ns;
        times->critical_ns[turn->node] = part_ns;
        own_ns -= part_ns;
    }
    return own_ns;
}
