#include "analyzer/calltree/stats/call_figures.h"

#include <math.h>

#include "analyzer/calltree/stats/dist_code.h"
#include "analyzer/calltree/stats/stats_code.h"

#define QUANTILE 0.95

static guint64 rank_of(guint64 count) { return CLAMP((guint64)ceil(QUANTILE * (double)count), 1, count); }

static void exact_figures(const guint64 *values, guint count, CallFigures *figures) {
    for (guint i = 0; i < count; i++) {
        figures->total_ns += values[i];
        figures->squares_ns2 += (double)values[i] * (double)values[i];
    }
    figures->q95_ns = (double)values[rank_of(count) - 1];
}

static gboolean sketch_figures(ByteReader *reader, guint64 count, CallFigures *figures) {
    Bucket buckets[DIST_BUCKETS];
    SketchHead head = {.count = count};
    const guint n = dist_get_sketch(reader, &head, buckets);
    if (n == 0) return FALSE;

    guint64 seen = 0;
    guint at = 0;
    for (; at + 1 < n; at++) {
        seen += buckets[at].count;
        if (seen >= rank_of(count)) break;
    }

    figures->total_ns = head.sum;
    figures->squares_ns2 = ldexp((double)head.squares_hi, 64) + (double)head.squares_lo;
    figures->q95_ns = (double)CLAMP(bucket_middle(buckets[at].number), head.min, head.max);
    return TRUE;
}

static gboolean duration_figures(ByteReader *reader, CallFigures *figures) {
    guint64 head = get_varint(reader), values[DIST_EXACT_MAX];
    const gboolean scaled = (head & 1) != 0;
    figures->calls = head / 2;
    if (reader->failed || figures->calls == 0) return FALSE;
    if (figures->calls > DIST_EXACT_MAX) return !scaled && sketch_figures(reader, figures->calls, figures);
    if (!dist_get_exact(reader, (guint)figures->calls, scaled, values)) return FALSE;
    exact_figures(values, (guint)figures->calls, figures);
    return TRUE;
}

gboolean stats_hosts_figures(const StatsHosts *hosts, CallFigures *figures) {
    ByteReader reader = byte_reader(hosts->row.data, hosts->row.size_bytes);
    *figures = (CallFigures){.calls = 0};
    if (hosts->sums || get_varint(&reader) != 0) return FALSE; /* a function's row has node 0 alone */

    const guint64 bits = get_varint(&reader);
    guint64 rates, sum;
    if (bits & 1u << DIST_DURATION && !duration_figures(&reader, figures)) return FALSE;
    if (bits & 1u << DIST_BYTES && !dist_told(&reader, &figures->byte_calls, &figures->bytes)) return FALSE;
    if (bits & 1u << DIST_RATE && !dist_told(&reader, &rates, &sum)) return FALSE;

    gint64 counters[COUNTERS] = {0};
    const gint64 calls_and_total[2] = {(gint64)figures->calls, (gint64)figures->total_ns};
    if (!node_counters_get(&reader, bits, calls_and_total, counters)) return FALSE;
    figures->self_ns = counters[COUNT_SELF];
    figures->critical_ns = counters[COUNT_CRITICAL];
    return TRUE;
}

static gboolean row_figures(StatsRow *row, CallFigures *figures) {
    guint32 node;
    *figures = (CallFigures){.calls = 0};
    if (stats_row_size(row) == 0) return TRUE;

    NodeStats *stats = stats_row_at(row, 0, &node);
    Dist *duration = &stats->duration;
    *figures = (CallFigures){.calls = duration->count,
                             .total_ns = duration->sum,
                             .squares_ns2 = ldexp((double)duration->squares_hi, 64) + (double)duration->squares_lo,
                             .q95_ns = duration->count > 0 ? dist_quantile(duration, QUANTILE) : 0,
                             .self_ns = stats->self_ns,
                             .critical_ns = stats->critical_ns,
                             .byte_calls = stats->bytes.count,
                             .bytes = stats->bytes.sum};
    return TRUE;
}

gboolean stats_hosts_figures_without(const StatsHosts *hosts, Bytes failed, CallFigures *figures) {
    g_autoptr(StatsRow) row = stats_row_new(), without = stats_row_new();
    StatsHosts taken = *hosts;
    taken.row = failed;
    return !hosts->sums && stats_hosts_merge(hosts, row) && stats_hosts_merge(&taken, without) &&
           stats_row_take(row, without) && row_figures(row, figures);
}
