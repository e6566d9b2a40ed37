#include "analyzer/query/spans/bins.h"

#include "analyzer/calltree/stats/dist.h"

guint bin_of(guint64 value) {
    if (value < 4) return (guint)value;
    const guint power = 63u - (guint)__builtin_clzll(MIN(value, DIST_VALUE_MAX - 1));
    return 4 + (power - 2) * 4 + (guint)((MIN(value, DIST_VALUE_MAX - 1) >> (power - 2)) & 3);
}

static guint64 bin_edge(guint bin) { return bin < 4 ? bin : (guint64)(4 + (bin - 4) % 4) << ((bin - 4) / 4); }

Bins bins_used(const BinCounts *columns, guint n) {
    Bins bins = {BINS, 0};
    for (guint i = 0; i < n; i++) {
        for (guint bin = 0; bin < BINS; bin++) {
            if (columns[i].counts[bin] == 0) continue;
            bins.first = MIN(bins.first, bin);
            bins.last = MAX(bins.last, bin);
        }
    }
    return bins;
}

json_t *json_bin_edges(Bins bins) {
    json_t *edges = json_array();
    for (guint bin = bins.first; bins.first <= bins.last && bin <= bins.last + 1; bin++)
        json_array_append_new(edges, json_count(bin_edge(bin)));
    return edges;
}

json_t *json_column(const BinCounts *column, Bins bins, gint64 begin_ns, const char *what) {
    json_t *at = json_array(), *counts = json_array(), *object = json_object();
    for (guint bin = bins.first; bin <= bins.last; bin++) {
        if (column->counts[bin] == 0) continue;
        json_array_append_new(at, json_integer(bin - bins.first));
        json_array_append_new(counts, json_count(column->counts[bin]));
    }
    json_object_set_new(object, "begin_time_ns", json_integer(begin_ns));
    json_object_set_new(object, what, json_count(column->total));
    json_object_set_new(object, "at", at);
    json_object_set_new(object, "counts", counts);
    return object;
}
