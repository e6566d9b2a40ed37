/* Stored rows of statistics: a byte that says where the first ends, and two of them. What is accepted is stored again
 * as the same row; both merge to the same bytes either way; and what is taken back out of the sum leaves the other. */
#include "analyzer/calltree/stats.h"
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

/* Sums and counts that stand at their limits may be taken away wrongly, but without harm. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    const gsize first = MIN(data[0], size - 1);
    g_autoptr(StatsRow) a = row_of((Bytes){data + 1, first});
    g_autoptr(StatsRow) b = row_of((Bytes){data + 1 + first, size - 1 - first});
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
    if (stats_row_take(sum, b)) ask(sum);
    return 0;
}
