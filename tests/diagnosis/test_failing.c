/* Nodes whose calls fail far more often than those of their peers. */
#include "analyzer/diagnosis/nodes/failing.h"

#include "analyzer/diagnosis/nodes/binomial.h"

#define WINDOWS 60u

static void test_binomial(void) {
    g_assert_cmpfloat_with_epsilon(binomial_tail(10, 5, 0.5), 0.623046875, 1e-12);
    g_assert_cmpfloat_with_epsilon(binomial_tail(20, 3, 0.05), 0.0754836739, 1e-9);
    g_assert_cmpfloat_with_epsilon(binomial_tail(5, 5, 0.1), 1e-5, 1e-15);
    g_assert_cmpfloat_with_epsilon(binomial_tail(1000000, 10100, 0.01), 0.158651, 1e-5); /* one deviation above */
    g_assert_cmpfloat(binomial_tail(1000, 0, 0.1), ==, 1);
    g_assert_cmpfloat(binomial_tail(1000, 900, 0.001), <, 1e-300);
}

typedef struct Case {
    const char *name;
    guint32 nodes, calls; /* calls of each in a window */
    double usual;         /* the share of all calls that fail */
    guint32 ill;          /* of the first nodes so many fail more, */
    double share;         /* this share, */
    guint32 from, until;  /* in these windows */
    guint32 found;
    gboolean open;
} Case;

static const Case cases[] = {
    {"one of four", 4, 100, 0.001, 1, 0.3, 20, 60, 1, TRUE},
    {"two of four, all of their calls", 4, 100, 0, 2, 1, 20, 60, 2, TRUE},
    {"nine of twenty", 20, 100, 0.01, 9, 0.5, 20, 60, 9, TRUE},
    {"recovered", 4, 100, 0.001, 1, 0.3, 20, 40, 1, FALSE},
    {"few calls, put together", 4, 5, 0.001, 1, 0.8, 20, 60, 1, TRUE},
    {"a burst", 4, 100, 0.001, 1, 0.9, 20, 22, 0, FALSE},
    {"all at once", 4, 100, 0.001, 4, 0.3, 20, 60, 0, FALSE},
    {"a tenth at all", 10, 100, 0.1, 0, 0, 0, 0, 0, FALSE},
    {"one in a hundred at all", 40, 30, 0.01, 0, 0, 0, 0, 0, FALSE},
    {"twice as often", 6, 200, 0.1, 1, 0.2, 20, 60, 0, FALSE},
    {"nobody to compare with", 2, 100, 0.001, 1, 0.9, 20, 60, 0, FALSE},
};

static guint32 failed_of(GRand *rand, guint32 calls, double share) {
    guint32 failed = 0;
    for (guint32 i = 0; i < calls; i++) failed += g_rand_double(rand) < share;
    return failed;
}

/* All calls that failed are left out, as quick ones are. */
static NodeGrid *make_grid(const Case *c, guint32 seed) {
    NodeGrid *grid = node_grid_new(NS_PER_MINUTE);
    GRand *rand = g_rand_new_with_seed(seed);
    const guint32 job = node_grid_job(grid, WORK_DISK_WRITE);
    for (guint32 node = 0; node < c->nodes; node++) node_grid_node(grid);
    for (guint32 window = 0; window < WINDOWS; window++) {
        node_grid_window(grid, window * NS_PER_MINUTE);
        for (guint32 node = 0; node < c->nodes; node++) {
            const gboolean ill = node < c->ill && window >= c->from && window < c->until;
            const guint32 failed = failed_of(rand, c->calls, ill ? c->share : c->usual);
            const Failures failures = {node, 0, WORK_DISK_WRITE, 77, c->calls, failed, failed};
            const Observation observation = {.job = job, .node = node, .window = window, .calls = c->calls - failed};
            if (failed > 0) node_grid_fail(grid, &failures);
            if (observation.calls > 0) node_grid_add(grid, &observation);
        }
    }
    g_rand_free(rand);
    node_grid_index(grid);
    return grid;
}

static void check_found(const Case *c, const Failing *failing) {
    const guint32 together = (CLASS_CALLS_LEAST + c->calls - 1) / c->calls; /* windows */
    g_assert_cmpuint(failing->class, ==, WORK_DISK_WRITE);
    g_assert_cmpuint(failing->what, ==, 77);
    g_assert_cmpuint(failing->node, <, c->ill);
    g_assert_cmpuint(failing->first, <=, c->from);
    g_assert_cmpuint(failing->first + together, >, c->from);
    g_assert_cmpuint(failing->last + 1 + together, >, MIN(c->until, WINDOWS));
    g_assert_cmpint(failing->open, ==, c->open);
    g_assert_cmpfloat_with_epsilon((double)failing->failed / (double)failing->calls, c->share, 0.1);
    g_assert_cmpfloat(failing->peers / (double)failing->calls, <=, MAX(0.03, 3 * c->usual));
}

static void test_case(gconstpointer data) {
    const Case *c = data;
    for (guint32 seed = 1; seed <= 5; seed++) {
        g_autoptr(NodeGrid) grid = make_grid(c, seed);
        g_autoptr(GArray) found = failing_find(grid, 0);
        g_assert_cmpuint(found->len, ==, c->found);
        for (guint i = 0; i < found->len; i++) check_found(c, &g_array_index(found, Failing, i));

        g_autofree FailedShare *shares = failed_shares(grid, 10);
        const FailedShare *first = &shares[WORK_DISK_WRITE * c->nodes];
        g_assert_cmpuint(first->calls, ==, (WINDOWS - 10) * c->calls);
        const double ill = c->ill > 0 ? (double)(c->until - c->from) / (WINDOWS - 10) : 0;
        g_assert_cmpfloat_with_epsilon((double)first->failed / (double)first->calls,
                                       ill * c->share + (1 - ill) * c->usual, 0.05);
    }
}

/* A failure goes through several functions: the one of which most fail counts, once. */
static void test_nested(void) {
    g_autoptr(NodeGrid) grid = node_grid_new(NS_PER_MINUTE);
    for (guint32 node = 0; node < 4; node++) node_grid_node(grid);
    const guint32 job = node_grid_job(grid, WORK_PROCESSOR);
    for (guint32 window = 0; window < 10; window++) {
        node_grid_window(grid, window * NS_PER_MINUTE);
        for (guint32 node = 0; node < 4; node++) {
            const Observation observation = {.job = job, .node = node, .window = window, .calls = 40};
            node_grid_add(grid, &observation);
        }
        for (guint32 what = 1; what <= 3; what++) {
            const Failures failures = {2, 0, WORK_PROCESSOR, what, 40, 2 * what, 2 * what};
            node_grid_fail(grid, &failures);
        }
    }
    node_grid_index(grid);
    g_autoptr(GArray) found = failing_find(grid, 0);
    g_assert_cmpuint(found->len, ==, 1);
    const Failing *failing = &g_array_index(found, Failing, 0);
    g_assert_cmpuint(failing->node, ==, 2);
    g_assert_cmpuint(failing->what, ==, 3);
    g_assert_cmpuint(failing->failed, ==, 60);
    g_assert_cmpuint(failing->calls, ==, 400);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/failing/binomial", test_binomial);
    g_test_add_func("/diagnosis/failing/nested", test_nested);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/diagnosis/failing/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    return g_test_run();
}
