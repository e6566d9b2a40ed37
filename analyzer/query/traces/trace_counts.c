#include "analyzer/query/traces/trace_counts.h"

#include "analyzer/query/spans/bins.h"
#include "analyzer/query/spans/steps.h"

struct TraceCounts {
    Steps steps;
    BinCounts *columns;
    guint64 total;
};

TraceCounts *trace_counts_new(const Asked *asked, GError **error) {
    Steps steps;
    if (!asked_steps(asked, FALSE, &steps, error)) return NULL;
    TraceCounts *counts = g_new0(TraceCounts, 1);
    counts->steps = steps;
    counts->columns = g_new0(BinCounts, MAX(steps.n, 1));
    return counts;
}

void trace_counts_free(TraceCounts *counts) {
    if (!counts) return;
    g_free(counts->columns);
    g_free(counts);
}

void trace_counts_add(TraceCounts *counts, const TraceSummary *summary) {
    counts->total++;
    if (counts->steps.n == 0 || summary->begin_ns < counts->steps.since_ns) return;
    const guint64 i = (guint64)(summary->begin_ns - counts->steps.since_ns) / (guint64)counts->steps.step_ns;
    if (i >= counts->steps.n) return; /* stored since the question began */
    BinCounts *column = &counts->columns[i];
    column->counts[bin_of((guint64)MAX(summary->end_ns - summary->begin_ns, 0))]++;
    column->total++;
}

json_t *trace_counts_json(const TraceCounts *counts) {
    json_t *object = json_object(), *list = json_array();
    const Bins bins = bins_used(counts->columns, counts->steps.n);
    json_object_set_new(object, "traces", json_count(counts->total));
    json_add_steps(object, &counts->steps);
    json_object_set_new(object, "edges", json_bin_edges(bins));
    json_object_set_new(object, "columns", list);
    for (guint i = 0; i < counts->steps.n; i++) {
        if (counts->columns[i].total == 0) continue;
        const gint64 begin_ns = steps_period(&counts->steps, i).since_ns;
        json_array_append_new(list, json_column(&counts->columns[i], bins, begin_ns, "traces"));
    }
    return object;
}
