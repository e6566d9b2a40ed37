/* Stored values of statistics: a byte that says where the first ends, and two of them. A row that is accepted is stored
 * again as the same row; two merge to the same bytes as values and as rows, in either order; and taking one away
 * does no harm. Cells are walked, and merge to the same bytes in either order. */
#include "analyzer/calltree/stats/stats.h"
#include "fuzz/target.h"

static GByteArray *stored(StatsRow *row) {
    GByteArray *out = g_byte_array_new();
    stats_row_encode(row, out);
    return out;
}

static void assert_same(StatsRow *a, StatsRow *b) {
    g_autoptr(GByteArray) of_a = stored(a);
    g_autoptr(GByteArray) of_b = stored(b);
    g_assert_cmpmem(of_a->data, of_a->len, of_b->data, of_b->len);
}

static StatsRow *row_of(Bytes bytes) {
    g_autoptr(StatsRow) row = stats_row_new();
    return stats_row_merge_encoded(row, bytes) ? g_steal_pointer(&row) : NULL;
}

static void ask(StatsRow *row) {
    for (guint i = 0; i < stats_row_size(row); i++) {
        guint32 node;
        Dist *dist = &stats_row_at(row, i, &node)->duration;
        double median = dist_quantile(dist, 0.5);
        g_assert_true(dist->count == 0 || (median >= (double)dist->min && median <= (double)dist->max));
        g_assert_true(dist_stddev(dist) >= 0);
    }
}

static GByteArray *merged(Bytes a, Bytes b) {
    GByteArray *out = g_byte_array_new();
    const Bytes values[2] = {a, b};
    if (stats_value_merge(values, b.data != NULL ? 2 : 1, out)) return out;
    g_byte_array_unref(out);
    return NULL;
}

/* Rows of hosts that are in one value only are not looked into when values are merged: whoever reads them does. */
static gboolean walk(Bytes cell) {
    StatsHosts hosts;
    gboolean good = TRUE;
    stats_hosts_begin(&hosts, cell);
    while (stats_hosts_next(&hosts)) {
        g_autoptr(StatsRow) row = stats_row_new();
        if (stats_hosts_merge(&hosts, row))
            ask(row);
        else
            good = FALSE;
    }
    return good && !hosts.failed;
}

static void merge_cells(Bytes a, Bytes b) {
    if (!walk(a) || !walk(b)) return;
    g_autoptr(GByteArray) ab = merged(a, b);
    g_autoptr(GByteArray) ba = merged(b, a);
    g_assert_true((ab == NULL) == (ba == NULL));
    if (ab == NULL) return;
    g_assert_cmpmem(ab->data, ab->len, ba->data, ba->len);
    walk((Bytes){ab->data, ab->len});
}

/* Sums and counts that stand at their limits may be taken away wrongly, but without harm. */
/* Sums and counts that stand at their limits may be taken away wrongly, but without harm. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    const gsize first = MIN(data[0], size - 1);
    const Bytes values[2] = {{data + 1, first}, {data + 1 + first, size - 1 - first}};
    merge_cells(values[0], values[1]);
    g_autoptr(StatsRow) a = row_of(values[0]);
    g_autoptr(StatsRow) b = row_of(values[1]);
    if (a == NULL || b == NULL) return 0;

    g_autoptr(GByteArray) of_a = stored(a);
    g_autoptr(StatsRow) sum = row_of((Bytes){of_a->data, of_a->len});
    g_assert_nonnull(sum);
    assert_same(sum, a);
    ask(a);

    g_autoptr(StatsRow) other = stats_row_new();
    stats_row_merge(other, b);
    stats_row_merge(other, a);
    stats_row_merge(sum, b);
    assert_same(sum, other);

    g_autoptr(GByteArray) of_both = merged(values[0], values[1]);
    g_autoptr(GByteArray) of_sum = stored(sum);
    g_assert_nonnull(of_both);
    g_assert_cmpmem(of_both->data, of_both->len, of_sum->data, of_sum->len);
    if (stats_row_take(sum, b)) ask(sum);
    return 0;
}
