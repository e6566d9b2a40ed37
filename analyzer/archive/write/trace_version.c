#include "analyzer/archive/write/trace_version.h"

/* Pattern and node_of are there. */
static void version_measure(Archive *archive, TraceVersion *version, TimesRule rule) {
    const Measured measured = {version->tree, version->pattern, version->node_of};
    gboolean differs;
    version->times = times_by_rule(&measured, archive->waits, rule, &differs);
    version->rule = differs ? rule : TIMES_BY_PARENT;
}

static void version_compress(TraceVersion *version, Compressor *compressor) {
    version->node_of = g_new(guint32, version->tree->n_nodes);
    version->pattern = compressor_tree(compressor, version->tree, version->node_of);
}

TraceVersion version_make(Archive *archive, Compressor *compressor, const SpanRec *const *spans, gsize n,
                          TimesRule rule) {
    const SpanTexts texts = lookup_texts(&archive->lookup);
    TraceVersion version = {.tree = tree_build(spans, n, archive->options.clock_tolerance_ns, &texts)};
    version_compress(&version, compressor);
    version_measure(archive, &version, rule);
    return version;
}

gboolean version_restore(Archive *archive, const PartTree *part, TimesRule rule, TraceVersion *version) {
    g_autofree guint32 *node_of = g_new(guint32, part->places->len);
    CallTree *tree = tree_restore((const TreePlace *)(gconstpointer)part->places->data, part->places->len,
                                  part->spans->data, archive->options.clock_tolerance_ns, node_of);
    if (tree == NULL) return FALSE;
    *version = (TraceVersion){.tree = tree, .node_of = g_steal_pointer(&node_of)};
    version->pattern = pattern_ref(part->pattern);
    version_measure(archive, version, rule);
    return TRUE;
}

gboolean version_grow(Archive *archive, Compressor *compressor, const TraceVersion *old, const GPtrArray *fresh,
                      TraceVersion *version) {
    TreeGrowth growth;
    if (!tree_grow(old->tree, (const SpanRec *const *)(gconstpointer)fresh->pdata, fresh->len,
                   archive->options.clock_tolerance_ns, &growth))
        return FALSE;
    *version = (TraceVersion){.tree = growth.tree, .was = growth.was};
    version_compress(version, compressor);
    version_measure(archive, version, archive->times_rule);
    return TRUE;
}

gboolean version_count_in(Archive *archive, TraceVersion *version, guint32 number, gboolean add) {
    if (!pattern_is_mixed(number)) return TRUE;
    g_autofree guint32 *row_of = g_new(guint32, version->pattern->n_nodes);
    if (!mixed_table_rows(archive->mixed, number, version->pattern, add, row_of)) return FALSE;
    g_free(version->row_of);
    version->row_of = g_steal_pointer(&row_of);
    return TRUE;
}

static guint32 row_node(const TraceVersion *version, guint32 i) {
    guint32 node = version->node_of[i];
    return version->row_of != NULL ? version->row_of[node] : node;
}

static gboolean same_place(const TraceVersion *old, guint32 i, const TraceVersion *now, guint32 j) {
    const guint8 neighbours = NODE_ORPHAN | NODE_OUTSIDE_PARENT;
    return old->times->self_ns[i] == now->times->self_ns[j] &&
           old->times->critical_ns[i] == now->times->critical_ns[j] &&
           (old->tree->flags[i] & neighbours) == (now->tree->flags[j] & neighbours);
}

/* No two records begin in one piece of this size: the piece's number -> node of the old version. */
static guint32 *nodes_by_record(const TraceVersion *old, Bytes spans) {
    guint32 *node_at = g_new0(guint32, spans.size_bytes / sizeof(SpanRec) + 1);
    for (guint32 i = 1; i < old->tree->n_nodes; i++) {
        if (old->tree->span[i] == NULL) continue;
        const guint8 *at = (const guint8 *)old->tree->span[i];
        node_at[(gsize)(at - (const guint8 *)spans.data) / sizeof(SpanRec)] = i;
    }
    return node_at;
}

static guint32 *find_old_nodes(const TraceVersion *old, const CallTree *is, Bytes old_spans) {
    g_autofree guint32 *node_at = nodes_by_record(old, old_spans);
    const guint8 *begin = old_spans.data, *end = begin + old_spans.size_bytes;
    guint32 *was = g_new0(guint32, is->n_nodes);
    for (guint32 j = 1; j < is->n_nodes; j++) {
        const guint8 *at = (const guint8 *)is->span[j];
        if (at != NULL && at >= begin && at < end) was[j] = node_at[(gsize)(at - begin) / sizeof(SpanRec)];
    }
    return was;
}

void versions_compare(TraceVersion *old, guint32 old_number, TraceVersion *now, guint32 number, Bytes old_spans) {
    const CallTree *was = old->tree, *is = now->tree;
    if (now->was == NULL) now->was = find_old_nodes(old, is, old_spans);
    gboolean same_row =
        old_number == number && stats_bucket(LEVEL_MINUTE, was->begin_ns) == stats_bucket(LEVEL_MINUTE, is->begin_ns);
    old->shared = g_new0(guint8, was->n_nodes);
    now->shared = g_new0(guint8, is->n_nodes);
    if (same_row && was->begin_ns == is->begin_ns && was->end_ns == is->end_ns)
        old->shared[0] = now->shared[0] = CALL_IN_BOTH | CALL_SAME_ROW;
    for (guint32 j = 1; j < is->n_nodes; j++) {
        guint32 i = now->was[j];
        if (i == 0 || is->span[j] == NULL) continue;
        guint8 how = CALL_IN_BOTH;
        if (same_place(old, i, now, j)) {
            how |= CALL_SAME_PLACE;
            if (same_row && row_node(old, i) == row_node(now, j)) how |= CALL_SAME_ROW;
        }
        old->shared[i] = now->shared[j] = how;
    }
}

void version_clear(TraceVersion *version) {
    g_clear_pointer(&version->tree, tree_free);
    g_clear_pointer(&version->times, times_free);
    g_clear_pointer(&version->node_of, g_free);
    g_clear_pointer(&version->was, g_free);
    g_clear_pointer(&version->row_of, g_free);
    g_clear_pointer(&version->shared, g_free);
    g_clear_pointer(&version->pattern, pattern_unref);
}
