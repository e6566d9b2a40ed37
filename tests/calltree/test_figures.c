/* What is read of a function's row in one pass, against the row that is built of the same bytes. */
#include "analyzer/calltree/stats/call_figures.h"
#include "analyzer/calltree/stats/stats_code.h"

#define HOST 5u

/* The value of a cell that has one host. */
static void append_cell(NodeStats *stats, GByteArray *out) {
    g_autoptr(GByteArray) row = g_byte_array_new();
    const guint8 form = FORM_HOSTS;
    append_varint(row, 0);
    node_put(stats, node_bits(stats), row);
    g_byte_array_append(out, &form, 1);
    append_varint(out, HOST);
    append_varint(out, row->len);
    g_byte_array_append(out, row->data, row->len);
}

static void fill(GRand *rand, guint calls, guint64 unit, NodeStats *stats) {
    for (guint i = 0; i < calls; i++) {
        dist_add(&stats->duration, unit * (guint64)g_rand_int_range(rand, 0, 1 << 28));
        if (i % 3 == 0) dist_add(&stats->bytes, (guint64)g_rand_int_range(rand, 0, 1 << 20));
        if (i % 4 == 0) dist_add(&stats->rate, (guint64)g_rand_int_range(rand, 1, 1 << 30));
    }
    stats->self_ns = (gint64)stats->duration.sum - 5;
    stats->critical_ns = g_rand_boolean(rand) ? 0 : 17;
    stats->orphan_calls = calls / 7;
}

static void assert_figures(NodeStats *stats) {
    g_autoptr(GByteArray) value = g_byte_array_new();
    StatsHosts hosts;
    CallFigures figures;
    append_cell(stats, value);
    stats_hosts_begin(&hosts, (Bytes){value->data, value->len});
    g_assert_true(stats_hosts_next(&hosts));
    g_assert_true(stats_hosts_figures(&hosts, &figures));

    g_assert_cmpuint(figures.calls, ==, stats->duration.count);
    g_assert_cmpuint(figures.total_ns, ==, stats->duration.sum);
    g_assert_cmpfloat(figures.q95_ns, ==, dist_quantile(&stats->duration, 0.95));
    const double mean = dist_mean(&stats->duration), calls = (double)figures.calls,
                 deviation = dist_stddev(&stats->duration);
    g_assert_cmpfloat_with_epsilon(figures.squares_ns2 / calls, mean * mean + deviation * deviation,
                                   1e-6 * mean * mean + 1);
    g_assert_cmpint(figures.self_ns, ==, stats->self_ns);
    g_assert_cmpint(figures.critical_ns, ==, stats->critical_ns);
    g_assert_cmpuint(figures.byte_calls, ==, stats->bytes.count);
    g_assert_cmpuint(figures.bytes, ==, stats->bytes.sum);
    g_assert_false(stats_hosts_next(&hosts));
}

/* Few calls, which are kept as they are, and many; times of all digits, and in milliseconds. */
static void test_figures(void) {
    static const guint counts[] = {1, 2, 19, 20, 63, 64, 65, 66, 1000};
    static const guint64 units[] = {1, 1000000};
    GRand *rand = g_rand_new_with_seed(95);
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        for (guint k = 0; k < G_N_ELEMENTS(units); k++) {
            NodeStats stats;
            node_stats_init(&stats);
            fill(rand, counts[i], units[k], &stats);
            assert_figures(&stats);
            node_stats_clear(&stats);
        }
    }
    g_rand_free(rand);
}

/* No byte more than there is is read, and sums of patterns are none. */
static void test_malformed(void) {
    GRand *rand = g_rand_new_with_seed(96);
    NodeStats stats;
    node_stats_init(&stats);
    fill(rand, 100, 1, &stats);
    g_rand_free(rand);
    g_autoptr(GByteArray) value = g_byte_array_new();
    append_cell(&stats, value);
    node_stats_clear(&stats);

    StatsHosts hosts;
    CallFigures figures;
    stats_hosts_begin(&hosts, (Bytes){value->data, value->len});
    g_assert_true(stats_hosts_next(&hosts));
    const Bytes row = hosts.row;
    for (gsize n = 0; n < row.size_bytes; n++) {
        g_autofree guint8 *cut = g_memdup2(row.data, MAX(n, 1));
        hosts.row = (Bytes){cut, n};
        g_assert_false(stats_hosts_figures(&hosts, &figures));
    }
    hosts.row = row;
    hosts.sums = TRUE;
    g_assert_false(stats_hosts_figures(&hosts, &figures));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calltree/figures/same", test_figures);
    g_test_add_func("/calltree/figures/malformed", test_malformed);
    return g_test_run();
}
