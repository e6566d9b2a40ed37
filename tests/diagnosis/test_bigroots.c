/* Stragglers and BigRoots: each rule on a case worked out by hand; peers against a plain count over all pairs. */
#include "analyzer/diagnosis/bigroots.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/order.h"
#include "analyzer/diagnosis/peers.h"
#include "analyzer/diagnosis/scale.h"
#include "tests/diagnosis/tables.h"

static void assert_near(double value, double expected) {
    g_assert_cmpfloat_with_epsilon(value, expected, 1e-9 * (1 + fabs(expected)));
}

/* ---- stragglers ---- */

static void test_definition(void) {
    /* Stage 0: median 100, so 150 is one and 149 none. Stage 1: median 0. Stage 2: one task. */
    const Row rows[] = {{0, 0, 0, 100, 0}, {1, 0, 0, 0, 0}, {0, 1, 0, 150, 0}, {0, 0, 0, 149, 0}, {1, 0, 0, 3, 0},
                        {0, 1, 0, 90, 0},  {1, 1, 0, 0, 0}, {0, 0, 0, 100, 0}, {2, 0, 0, 10, 0}};
    g_autoptr(TaskTable) table = table_of(FEATURE_NUMERIC, rows, G_N_ELEMENTS(rows));
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    assert_near(found->stages[0].median_ms, 100);
    assert_near(found->stages[1].median_ms, 0);
    g_assert_cmpuint(found->count, ==, 2);
    g_assert_cmpuint(found->list[0].task, ==, 2);
    assert_near(found->list[0].scale, 1.5);
    g_assert_cmpuint(found->list[1].task, ==, 4);
    assert_near(found->list[1].scale, 0);
    g_assert_cmpuint(found->stages[2].n_stragglers, ==, 0);
}

/* A failed attempt neither shifts the median nor is judged; a running one is judged with its time so far. */
static void test_flags(void) {
    const Row rows[] = {{0, 0, 0, 10, 0}, {0, 0, 0, 10, 0}, {0, 0, 0, 900, 0}, {0, 0, 0, 900, 0}, {0, 0, 0, 10, 0}};
    g_autoptr(TaskTable) table = table_of(FEATURE_NUMERIC, rows, G_N_ELEMENTS(rows));
    table->flags[2] = 0;
    table->flags[3] = ROW_JUDGED;
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    assert_near(found->stages[0].median_ms, 10);
    g_assert_cmpuint(found->stages[0].n_counted, ==, 3);
    g_assert_cmpuint(found->count, ==, 1);
    g_assert_cmpuint(found->list[0].task, ==, 3);
}

static void test_nothing(void) {
    g_autoptr(TaskTable) table = task_table_new(0, 0, 0);
    table_add_feature(table, "feature", FEATURE_NUMERIC, TOPIC_DATA);
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    const BigRootsOptions options = bigroots_options(TRUE);
    g_autoptr(GArray) evidence = bigroots_run(table, found, &options);
    g_assert_cmpuint(evidence->len, ==, 0);
}

/* ---- rules ---- */

/* The only straggler's evidence, all kept. */
static Evidence judge(const TaskTable *table, BigRootsOptions options) {
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    g_assert_cmpuint(found->count, ==, 1);
    options.keep = KEEP_ALL;
    g_autoptr(GArray) evidence = bigroots_run(table, found, &options);
    g_assert_cmpuint(evidence->len, ==, 1);
    return g_array_index(evidence, Evidence, 0);
}

#define JUDGE(kind, rows, options)                                                                                     \
    ({                                                                                                                 \
        g_autoptr(TaskTable) judged = table_of(kind, rows, G_N_ELEMENTS(rows));                                        \
        judge(judged, options);                                                                                        \
    })

/* Eq. 3.3. Host 0: 40, 20 and the straggler's 140; host 1: 50, 60, 70, 80. The sum is 460 over 7 tasks, the mean
 * 65.714285..., so F = 140 / 65.714... = 2.130434...; peers on host 1 have the mean and median 65 / 65.714 = 0.989130,
 * the same host 30 / 65.714 = 0.456521. The quantile 0.9 has rank 5.4: 80 + 0.4 * 60 = 104, that is 1.582608. */
static const Row numeric[] = {{0, 0, 0, 10, 40}, {0, 0, 0, 20, 140}, {0, 0, 0, 10, 20}, {0, 1, 0, 10, 50},
                              {0, 1, 0, 10, 60}, {0, 1, 0, 10, 70},  {0, 1, 0, 10, 80}};

static void test_numeric(void) {
    const double mean = 460.0 / 7;
    BigRootsOptions options = bigroots_options(TRUE);
    Evidence evidence = JUDGE(FEATURE_NUMERIC, numeric, options);
    g_assert_cmpint(evidence.verdict, ==, VERDICT_CAUSE);
    assert_near(evidence.raw, 140);
    assert_near(evidence.value, 140 / mean);
    assert_near(evidence.quantile, 104 / mean);
    g_assert_cmpuint(evidence.others.n, ==, 4);
    assert_near(evidence.others.mean, 65 / mean);
    assert_near(evidence.others.median, 65 / mean);
    g_assert_cmpuint(evidence.same_host.n, ==, 2);
    assert_near(evidence.same_host.mean, 30 / mean);
    assert_near(evidence.same_host.median, 30 / mean);
    g_assert_true(evidence.over_others && evidence.over_same_host);

    options.lambda_p = 2.2; /* 143 > 140 on other hosts, but 66 < 140 on its own: either is enough */
    evidence = JUDGE(FEATURE_NUMERIC, numeric, options);
    g_assert_cmpint(evidence.verdict, ==, VERDICT_CAUSE);
    g_assert_true(!evidence.over_others && evidence.over_same_host);

    options.lambda_p = 4.7; /* 141 on its own host */
    g_assert_cmpint(JUDGE(FEATURE_NUMERIC, numeric, options).verdict, ==, VERDICT_PEERS);
    options.lambda_p = 1.6;
    options.lambda_q = 1; /* nothing is above the greatest */
    g_assert_cmpint(JUDGE(FEATURE_NUMERIC, numeric, options).verdict, ==, VERDICT_QUANTILE);
}

/* Mean and median of the peers differ: 10 10 10 170 have the median 10 and the mean 50, so 60 is 6 times the one and
 * 1.2 times the other. */
static void test_peer_figure(void) {
    const Row rows[] = {{0, 0, 0, 20, 60}, {0, 1, 0, 10, 10}, {0, 1, 0, 10, 10}, {0, 1, 0, 10, 10}, {0, 1, 0, 10, 170}};
    BigRootsOptions options = bigroots_options(TRUE);
    options.lambda_q = 0.5;
    g_assert_cmpint(JUDGE(FEATURE_NUMERIC, rows, options).verdict, ==, VERDICT_CAUSE);
    options.peers = PEER_MEAN;
    g_assert_cmpint(JUDGE(FEATURE_NUMERIC, rows, options).verdict, ==, VERDICT_PEERS);
}

/* The straggler took 300 ms, the median is 100: it waited 120 where its peers waited 10 on other hosts and 20 on its
 * own. 110 of the 200 ms more are 0.55. A second victim beside it, slower still, changes nothing: no quantile hides it.
 */
static void test_wait(void) {
    BigRootsOptions options = bigroots_options(TRUE);
    Row rows[] = {{0, 0, 0, 300, 120}, {0, 0, 0, 100, 20}, {0, 1, 0, 100, 10}, {0, 1, 0, 100, 10}, {0, 1, 0, 100, 10}};
    Evidence evidence = JUDGE(FEATURE_WAIT, rows, options);
    g_assert_cmpint(evidence.verdict, ==, VERDICT_CAUSE);
    assert_near(evidence.excess_ms, 200);
    assert_near(evidence.value, 120);
    g_assert_true(evidence.over_others && evidence.over_same_host);
    options.lambda_w = 0.56;
    g_assert_cmpint(JUDGE(FEATURE_WAIT, rows, options).verdict, ==, VERDICT_SMALL);
    rows[0].value = 16; /* 1.6 times 10, and less than its own host's */
    g_assert_cmpint(JUDGE(FEATURE_WAIT, rows, options).verdict, ==, VERDICT_PEERS);

    options = bigroots_options(TRUE);
    const Row victims[] = {{0, 0, 0, 300, 120}, {0, 0, 0, 100, 10}, {0, 1, 0, 900, 800},
                           {0, 1, 0, 100, 10},  {0, 1, 0, 100, 10}, {0, 1, 0, 100, 10}};
    g_autoptr(TaskTable) table = table_of(FEATURE_WAIT, victims, G_N_ELEMENTS(victims));
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    g_autoptr(GArray) all = bigroots_run(table, found, &options);
    g_assert_cmpuint(all->len, ==, 2);
    for (guint i = 0; i < all->len; i++) g_assert_cmpint(g_array_index(all, Evidence, i).verdict, ==, VERDICT_CAUSE);
}

/* Time features are shares of the task: 100 of 500 ms are 0.2, which is not above lambda_T; 101 are. */
static void test_time(void) {
    const BigRootsOptions options = bigroots_options(TRUE);
    Row rows[] = {{0, 0, 0, 500, 100}, {0, 1, 0, 200, 2}, {0, 1, 0, 200, 2}, {0, 1, 0, 200, 4}};
    Evidence evidence = JUDGE(FEATURE_TIME, rows, options);
    assert_near(evidence.value, 0.2);
    assert_near(evidence.others.median, 0.01);
    g_assert_cmpint(evidence.verdict, ==, VERDICT_SHARE);
    rows[0].value = 101;
    evidence = JUDGE(FEATURE_TIME, rows, options);
    g_assert_cmpint(evidence.verdict, ==, VERDICT_CAUSE);
}

/* ---- edge detection: eq. 3.4, in the right direction ---- */

typedef struct Edge {
    double before, during, after;
    Verdict verdict;
} Edge;

static Verdict accuracy_edge(const Edge *edge, BigRootsOptions options) {
    /* The straggler runs from 10 s to 20 s on host 0; its peers on host 1, which is idle. */
    const Row rows[] = {
        {0, 0, 10000, 10000, 0}, {0, 1, 10000, 5000, 0}, {0, 1, 10000, 5000, 0}, {0, 1, 10000, 5000, 0}};
    g_autoptr(TaskTable) table = table_of(FEATURE_RESOURCE, rows, G_N_ELEMENTS(rows));
    g_autoptr(UsageSeries) busy = usage_new(), idle = usage_new();

    for (gint64 t = 0; t < 30; t++) {
        const double load = t < 10 ? edge->before : t < 20 ? edge->during : edge->after;
        usage_add(busy, t * 1000, t * 1000 + 1000, load);
        usage_add(idle, t * 1000, t * 1000 + 1000, 0.05);
    }

    usage_seal(busy);
    usage_seal(idle);
    task_feature(table, 0)->series[0] = busy;
    task_feature(table, 0)->series[1] = idle;
    task_table_fill_resource(table, 0);

    const Evidence evidence = judge(table, options);
    assert_near(evidence.raw, edge->during);
    if (!isnan(edge->before)) assert_near(evidence.head, edge->before);
    if (!isnan(edge->after)) assert_near(evidence.tail, edge->after);
    return evidence.verdict;
}

static void test_edge_detection(void) {
    static const Edge edges[] = {
        {0.1, 0.9, 0.1, VERDICT_EDGE},   /* rose when the task began, fell when it ended: its own load */
        {0.8, 0.9, 0.8, VERDICT_CAUSE},  /* was there before and after: somebody else's */
        {0.8, 0.9, 0.1, VERDICT_CAUSE},  /* was there before */
        {0.1, 0.9, 0.8, VERDICT_CAUSE},  /* stayed after */
        {0.62, 0.9, 0.62, VERDICT_EDGE}, /* 0.7 * 0.9 = 0.63 is the bound */
        {0.64, 0.9, 0.1, VERDICT_CAUSE},
        {NAN, 0.9, 0.1, VERDICT_CAUSE}, /* no samples before: nothing says that it was the task's own */
        {0.1, 0.9, NAN, VERDICT_CAUSE},
    };
    BigRootsOptions options = bigroots_options(TRUE);
    for (guint i = 0; i < G_N_ELEMENTS(edges); i++)
        g_assert_cmpint(accuracy_edge(&edges[i], options), ==, edges[i].verdict);
    options.edge_detection = FALSE;
    g_assert_cmpint(accuracy_edge(&edges[0], options), ==, VERDICT_CAUSE);
    g_assert_cmpfloat(bigroots_options(FALSE).lambda_p, ==, 2.2);
    g_assert_cmpfloat(bigroots_options(TRUE).lambda_p, ==, 1.6);
}

/* Three tasks within the busy sample of host 0, one of them a straggler, nine on the idle host 1. All three saw one
 * load: that a mean of one is above that of another in its last digit is no cause. */
static void test_ties_by_rounding(void) {
    enum { TASKS = 12 };
    const BigRootsOptions options = bigroots_options(TRUE);
    g_autoptr(UsageSeries) busy = usage_new(), idle = usage_new();
    for (gint64 t = 0; t < 100; t++) {
        usage_add(busy, t * 1000, t * 1000 + 1000, t == 50 ? 0.9 : 0.1 + (double)(t % 7) / 30);
        usage_add(idle, t * 1000, t * 1000 + 1000, 0.05);
    }
    usage_seal(busy);
    usage_seal(idle);

    for (gint64 offset = 0; offset < 300; offset++) {
        Row rows[TASKS] = {{0, 0, 50000 + offset, 300, 0}, {0, 0, 50600 - offset, 101, 0}, {0, 0, 50013, 103, 0}};
        for (guint i = 3; i < TASKS; i++) rows[i] = (Row){0, 1, 50000, 100, 0};
        g_autoptr(TaskTable) table = table_of(FEATURE_RESOURCE, rows, TASKS);
        task_feature(table, 0)->series[0] = busy;
        task_feature(table, 0)->series[1] = idle;
        task_table_fill_resource(table, 0);
        g_assert_cmpint(judge(table, options).verdict, ==, VERDICT_QUANTILE);
    }
}

/* ---- locality: eq. 3.5 ---- */

static void test_locality(void) {
    const BigRootsOptions options = bigroots_options(TRUE);
    /* Normal tasks: 0 0 0 1, sum 1 < 4 / 2. */
    Row rows[] = {{0, 0, 0, 20, 2}, {0, 0, 0, 10, 0}, {0, 0, 0, 10, 0}, {0, 1, 0, 10, 0}, {0, 1, 0, 10, 1}};
    Evidence evidence = JUDGE(FEATURE_DISCRETE, rows, options);
    g_assert_cmpint(evidence.verdict, ==, VERDICT_CAUSE);
    g_assert_cmpuint(evidence.others.n, ==, 4);
    assert_near(evidence.others.mean, 0.25);
    rows[1].value = 1; /* sum 2 is not below 2 */
    g_assert_cmpint(JUDGE(FEATURE_DISCRETE, rows, options).verdict, ==, VERDICT_NORMAL_TOO);
    rows[0].value = 1;
    g_assert_cmpint(JUDGE(FEATURE_DISCRETE, rows, options).verdict, ==, VERDICT_LOCAL);
}

static void test_kept(void) {
    BigRootsOptions options = bigroots_options(TRUE);
    options.lambda_p = 1.6;
    g_autoptr(TaskTable) table = table_of(FEATURE_NUMERIC, numeric, G_N_ELEMENTS(numeric));
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    static const struct {
        double lambda_p, lambda_q;
        guint kept[3]; /* causes, near, all */
    } cases[] = {{1.6, 0.9, {1, 1, 1}}, {9, 0.9, {0, 1, 1}}, {9, 1, {0, 0, 1}}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (guint keep = 0; keep < 3; keep++) {
            options.lambda_p = cases[i].lambda_p;
            options.lambda_q = cases[i].lambda_q;
            options.keep = (EvidenceKept)keep;
            g_autoptr(GArray) evidence = bigroots_run(table, found, &options);
            g_assert_cmpuint(evidence->len, ==, cases[i].kept[keep]);
        }
    }
}

/* ---- peers, against all pairs ---- */

static PeerFigures plain_peers(const TaskTable *table, const double *values, guint32 task, gboolean same) {
    g_autofree double *list = g_new(double, table->count);
    PeerFigures figures = {0, NAN, NAN};
    double sum = 0;
    for (guint32 i = 0; i < table->count; i++) {
        if (i == task || table->stage[i] != table->stage[task] || !(table->flags[i] & ROW_COUNTED)) continue;
        if ((table->host[i] == table->host[task]) != same || isnan(values[i])) continue;
        list[figures.n++] = values[i];
        sum += values[i];
    }
    if (figures.n == 0) return figures;
    figures.mean = sum / figures.n;
    figures.median = order_median(list, figures.n);
    return figures;
}

static void assert_peers(const PeerFigures *figures, const PeerFigures *expected) {
    g_assert_cmpuint(figures->n, ==, expected->n);
    if (expected->n == 0) return;
    assert_near(figures->mean, expected->mean);
    assert_near(figures->median, expected->median);
}

static TaskTable *random_table(GRand *rand) {
    const guint32 n = (guint32)g_rand_int_range(rand, 1, 120), stages = (guint32)g_rand_int_range(rand, 1, 4);
    const guint32 hosts = (guint32)g_rand_int_range(rand, 1, 6);
    TaskTable *table = task_table_new(n, stages, hosts);
    const guint feature = table_add_feature(table, "feature", FEATURE_NUMERIC, TOPIC_DATA);
    for (guint32 i = 0; i < n; i++) {
        table->stage[i] = (guint32)g_rand_int_range(rand, 0, (gint32)stages);
        table->host[i] = (guint32)g_rand_int_range(rand, 0, (gint32)hosts);
        table->end_ms[i] = g_rand_int_range(rand, 0, 1000);
        table->flags[i] = (guint8)g_rand_int_range(rand, 0, 4);
        double *value = &task_feature(table, feature)->values[i];
        if (g_rand_int_range(rand, 0, 5) > 0) *value = g_rand_int_range(rand, 0, 12);
    }
    return table;
}

static void test_peers(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);

    for (guint round = 0; round < 200; round++) {
        g_autoptr(TaskTable) table = random_table(rand);
        g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
        g_autofree double *values = feature_scaled(table, found, 0);
        g_autoptr(Peers) peers = peers_new(table, found);

        for (guint32 s = 0; s < found->n_stages; s++) {
            peers_load(peers, &found->stages[s], values);
            for (guint32 i = 0; i < found->stages[s].n; i++) {
                const guint32 task = found->order[found->stages[s].first + i];
                const PeerFigures others = plain_peers(table, values, task, FALSE);
                const PeerFigures same_host = plain_peers(table, values, task, TRUE);
                PeerFigures got_others, got_same_host;
                peers_of(peers, task, &got_others, &got_same_host);
                assert_peers(&got_others, &others);
                assert_peers(&got_same_host, &same_host);
            }
        }
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/stragglers/definition", test_definition);
    g_test_add_func("/diagnosis/stragglers/flags", test_flags);
    g_test_add_func("/diagnosis/stragglers/nothing", test_nothing);
    g_test_add_func("/diagnosis/bigroots/numeric", test_numeric);
    g_test_add_func("/diagnosis/bigroots/peer-figure", test_peer_figure);
    g_test_add_func("/diagnosis/bigroots/wait", test_wait);
    g_test_add_func("/diagnosis/bigroots/time", test_time);
    g_test_add_func("/diagnosis/bigroots/edge-detection", test_edge_detection);
    g_test_add_func("/diagnosis/bigroots/ties-by-rounding", test_ties_by_rounding);
    g_test_add_func("/diagnosis/bigroots/locality", test_locality);
    g_test_add_func("/diagnosis/bigroots/kept", test_kept);
    g_test_add_func("/diagnosis/peers", test_peers);
    return g_test_run();
}
