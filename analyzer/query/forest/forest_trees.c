/* "forest" with level=tree: traces compressed each for itself, heaviest first. */
#include "analyzer/query/forest/forest.h"
#include "analyzer/query/shared/candidates.h"
#include "analyzer/query/shared/pattern_match.h"
#include "analyzer/query/shared/trace_view.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

typedef struct TreeScan {
    Archive *archive;
    const ForestFilter *filter;
    guint sort;
    PatternMatch wanted;
    guint64 traces, spans;
} TreeScan;

static void tree_scan_clear(TreeScan *trees) { pattern_match_clear(&trees->wanted); }
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TreeScan, tree_scan_clear)

static gboolean has_function(const void *filter, const Pattern *pattern) {
    return forest_filter_wants(filter, pattern);
}

static gboolean wants(TreeScan *trees, ArchiveScan *records, guint32 number) {
    const ForestFilter *filter = trees->filter;
    if (filter->pattern && number != filter->pattern) return FALSE;
    return filter->function == 0 || pattern_match_record(&trees->wanted, records, number);
}

static gboolean scan(TreeScan *trees, Candidates *found, GError **error) {
    const Period *period = &trees->filter->period;
    g_autoptr(ArchiveScan) records = archive_scan_new(trees->archive, period->since_ns, period->until_ns, TRUE);
    g_autoptr(GError) failure = NULL;
    archive_scan_summaries_only(records);
    Candidate candidate;
    while (archive_scan_next(records, &candidate.trace_id, &candidate.summary, &failure)) {
        const TraceSummary *summary = &candidate.summary;
        if (!wants(trees, records, summary->pattern)) continue;
        trees->spans += summary->n_spans;
        if (!candidates_first_part(found, candidate.trace_id, summary)) continue;
        trees->traces++;
        candidate.key = trees->sort == SORT_CALLS ? summary->n_spans : summary->end_ns - summary->begin_ns;
        candidates_add(found, &candidate);
    }
    if (!failure) return TRUE;
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

static json_t *tree_json(const TreeScan *trees, Compressor *compressor, const TraceView *view) {
    const CallTree *tree = view->tree;
    g_autofree guint32 *map = NULL;
    if (!allowance_goes_on()) return NULL;
    g_autoptr(PatternSum) whole = pattern_sum_of_trace(trees->archive, compressor, tree, view->times);
    g_autoptr(Pattern) left = forest_filter_apply(trees->filter, compressor, whole->pattern, &map);
    if (left->n_nodes < 2) return NULL;
    g_autoptr(PatternSum) sum = pattern_sum_filter(whole, left, map);

    guint64 spans = 0;
    gint64 critical_ns = 0;
    for (guint32 i = 1; i < left->n_nodes; i++) {
        if (left->nodes[i].name != NAME_MISSING) spans += sum->nodes[i].stats.duration.count;
        critical_ns += sum->nodes[i].stats.critical_ns;
    }
    json_t *object = json_object();
    json_object_set_new(object, "pattern", json_pattern_id(left->id));
    json_object_set_new(object, "trace", json_trace_id(view->trace_id));
    json_object_set_new(object, "traces", json_integer(1));
    json_object_set_new(object, "spans", json_count(spans));
    json_object_set_new(object, "incomplete", json_boolean(tree_incomplete(tree)));
    json_object_set_new(object, "total_ns", json_integer(tree->end_ns - tree->begin_ns));
    json_object_set_new(object, "critical_ns", json_integer(critical_ns));
    json_object_set_new(object, "nodes", pattern_sum_json(sum, trees->archive));
    return object;
}

static gboolean append_tree(const TreeScan *trees, Compressor *compressor, guint64 trace_id, json_t *list,
                            GError **error) {
    g_autoptr(GError) failure = NULL;
    g_autoptr(TraceView) view = trace_view_load(trees->archive, trace_id, &failure);
    if (view) {
        json_t *object = tree_json(trees, compressor, view);
        if (object) json_array_append_new(list, object);
        return TRUE;
    }
    if (g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND)) return TRUE; /* gone since the scan */
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

gboolean forest_trees(const Asked *asked, const ForestFilter *filter, const ForestOrder *order, json_t *answer,
                      GError **error) {
    if (order->sort == SORT_CRITICAL || order->sort == SORT_TRACES)
        return fail(error, PLUMB_ERROR_INPUT, "with level=tree, sort is total_ns or calls");
    if (filter->host)
        return fail(error, PLUMB_ERROR_INPUT, "with level=tree there is no host: look for traces of a host instead");

    g_auto(TreeScan) trees = {.archive = asked->archive, .filter = filter, .sort = order->sort};
    pattern_match_init(&trees.wanted, asked->archive, has_function, filter);
    guint limit = order->limit ? (guint)MIN(order->limit, (guint64)asked->rows_max) : asked->rows_max;
    g_autoptr(Candidates) found = candidates_new(limit);
    if (!scan(&trees, found, error)) return FALSE;
    candidates_finish(found);

    g_autoptr(Compressor) compressor = compressor_new(archive_lookup(asked->archive), QUERY_SHAPES);
    json_t *list = json_array();
    json_object_set_new(answer, "traces", json_count(trees.traces));
    json_object_set_new(answer, "spans", json_count(trees.spans));
    json_object_set_new(answer, "patterns", list);

    guint64 nodes = 0;
    guint n = 0;
    for (; n < found->list->len && nodes < asked->rows_max; n++) {
        guint64 trace_id = g_array_index(found->list, Candidate, n).trace_id;
        if (!allowance_check(error) || !append_tree(&trees, compressor, trace_id, list, error)) return FALSE;
        const json_t *last = json_array_get(list, json_array_size(list) - 1);
        nodes += json_array_size(json_object_get(last, "nodes"));
    }

    if (n < trees.traces) json_object_set_new(answer, "more", json_true());
    return TRUE;
}
