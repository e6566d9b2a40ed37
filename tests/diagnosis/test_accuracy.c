/* Causes against injections: what counts as what, rates, and the search of parameters. */
#include "analyzer/diagnosis/accuracy.h"

#include <math.h>

#include "tests/diagnosis/tables.h"

static void assert_near(double value, double expected) { g_assert_cmpfloat_with_epsilon(value, expected, 1e-9); }

/* ---- the table that was published ---- */

static void test_published_rates(void) {
    static const struct {
        Confusion counts;
        double fpr, tpr, acc; /* % */
    } rows[] = {
        {{.tp = 43, .tn = 282, .fp = 1, .fn = 28}, 0.35, 60.56, 91.81},
        {{.tp = 47, .tn = 237, .fp = 46, .fn = 24}, 16.25, 66.19, 80.22},
        {{.tp = 0, .tn = 283, .fp = 0, .fn = 71}, 0, 0, 79.94},
        {{.tp = 55, .tn = 179, .fp = 104, .fn = 16}, 36.75, 77.46, 66.10},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        /* Some of the published figures are cut, not rounded. */
        g_assert_cmpfloat_with_epsilon(100 * confusion_fpr(&rows[i].counts), rows[i].fpr, 0.01);
        g_assert_cmpfloat_with_epsilon(100 * confusion_tpr(&rows[i].counts), rows[i].tpr, 0.01);
        g_assert_cmpfloat_with_epsilon(100 * confusion_acc(&rows[i].counts), rows[i].acc, 0.01);
    }
    g_assert_true(isnan(confusion_tpr(&(Confusion){.tn = 3})));
    g_assert_true(isnan(confusion_acc(&(Confusion){0})));
}

/* ---- truth ---- */

static TaskTable *two_stragglers(void) {
    /* Host 0's straggler runs from 1000 to 1300, host 1's from 1000 to 1200. */
    const Row rows[] = {{0, 0, 1000, 100, 0}, {0, 0, 1000, 100, 0}, {0, 0, 1000, 300, 0.9},
                        {0, 1, 1000, 100, 0}, {0, 1, 1000, 100, 0}, {0, 1, 1000, 200, 0.5}};
    TaskTable *table = table_of(FEATURE_RESOURCE, rows, G_N_ELEMENTS(rows));
    const guint disk = table_add_feature(table, "disk", FEATURE_RESOURCE, TOPIC_DISK);
    for (guint i = 0; i < 6; i++) task_feature(table, disk)->values[i] = i == 5 ? 0.8 : 0.1;
    return table;
}

static void test_truth(void) {
    g_autoptr(TaskTable) table = two_stragglers();
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    g_assert_cmpuint(found->count, ==, 2);

    const Injection injections[] = {
        {0, TOPIC_CPU, 1299, 5000},     /* one millisecond of overlap */
        {0, TOPIC_DISK, 1300, 5000},    /* none */
        {0, TOPIC_NETWORK, 0, 1000},    /* none */
        {1, TOPIC_DISK, 0, 1001},       /* one */
        {1, TOPIC_NETWORK, 1100, 1150}, /* inside */
    };
    g_autofree guint32 *truth = accuracy_truth(table, found, injections, G_N_ELEMENTS(injections));
    g_assert_cmpuint(truth[0], ==, TOPIC_BIT(TOPIC_CPU));
    g_assert_cmpuint(truth[1], ==, TOPIC_BIT(TOPIC_DISK) | TOPIC_BIT(TOPIC_NETWORK));

    const guint32 said[] = {TOPIC_BIT(TOPIC_CPU) | TOPIC_BIT(TOPIC_DISK) | TOPIC_BIT(TOPIC_DATA),
                            TOPIC_BIT(TOPIC_DISK)};
    const Confusion counts = accuracy_count(truth, said, 2, TOPICS_JUDGED);
    g_assert_cmpuint(counts.tp, ==, 2);
    g_assert_cmpuint(counts.fp, ==, 1); /* the disk of host 0; data are not judged */
    g_assert_cmpuint(counts.fn, ==, 1); /* the network of host 1 */
    g_assert_cmpuint(counts.tn, ==, 2);
}

/* ---- search ---- */

/* With few tasks everything but quantiles near 1 finds both causes, and no feature of the other one. */
static void test_search(void) {
    g_autoptr(TaskTable) table = two_stragglers();
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    const Injection injections[] = {{0, TOPIC_CPU, 900, 1400}, {1, TOPIC_DISK, 900, 1400}};
    g_autofree guint32 *truth = accuracy_truth(table, found, injections, 2);
    const AccuracyCase judged = {table, found, truth, TOPIC_BIT(TOPIC_CPU) | TOPIC_BIT(TOPIC_DISK)};

    const BigRootsOptions options = bigroots_options(FALSE);
    g_autoptr(GArray) points = accuracy_search_bigroots(&judged, &options);
    g_assert_cmpuint(points->len, ==, 21 * 10);
    const SearchPoint *best = accuracy_best(points);
    g_assert_cmpuint(best->counts.tp, ==, 2);
    g_assert_cmpuint(best->counts.fp, ==, 0);
    assert_near(accuracy_auc(points), 1);

    /* Each point is what a run with its parameters says. */
    for (guint i = 0; i < points->len; i += 13) {
        const SearchPoint *point = &g_array_index(points, SearchPoint, i);
        BigRootsOptions tried = options;
        tried.lambda_p = point->p;
        tried.lambda_q = point->q;
        g_autoptr(GArray) evidence = bigroots_run(table, found, &tried);
        g_autofree guint32 *said = accuracy_evidence(table, found, evidence);
        const Confusion counts = accuracy_count(truth, said, found->count, judged.topics);
        g_assert_cmpmem(&counts, sizeof counts, &point->counts, sizeof point->counts);
    }

    g_autoptr(GArray) pcc = accuracy_search_pcc(&judged);
    g_assert_cmpuint(pcc->len, ==, 21 * 11);
    g_assert_nonnull(accuracy_best(pcc));
}

/* Points (FPR, TPR): (0, 0.5) and (0.5, 1), and one below the curve: 0.25 + 0.125 + 0.5. */
static void test_auc(void) {
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(SearchPoint));
    const SearchPoint list[] = {{0, 0, {.tp = 2, .fp = 2, .tn = 2}},
                                {1, 0, {.tp = 1, .fn = 1, .tn = 4}},
                                {2, 0, {.tp = 1, .fn = 3, .fp = 1, .tn = 3}}};
    g_array_append_vals(points, list, G_N_ELEMENTS(list));
    assert_near(accuracy_auc(points), (0.5 + 0.5) / 2 * 0.25 + (0.5 + 1) / 2 * 0.25 + 0.5);
    const SearchPoint *best =
        accuracy_best(points); /* both of the first score 1.5: the one that blames less is taken */
    assert_near(best->p, 1);
    g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(SearchPoint));
    g_assert_null(accuracy_best(none));
    assert_near(accuracy_auc(none), 0.5);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/accuracy/published-rates", test_published_rates);
    g_test_add_func("/diagnosis/accuracy/truth", test_truth);
    g_test_add_func("/diagnosis/accuracy/search", test_search);
    g_test_add_func("/diagnosis/accuracy/auc", test_auc);
    return g_test_run();
}
