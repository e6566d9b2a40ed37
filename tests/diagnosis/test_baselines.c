/* PCC, Mantri and Xue on cases worked out by hand. */
#include "analyzer/diagnosis/baselines.h"

#include <math.h>

#include "tests/diagnosis/tables.h"

static const Blame *blame_at(const GArray *blames, guint i) { return &g_array_index(blames, Blame, i); }

/* Values 1 2 3 4 against durations 10 10 10 30: deviations of values -1.5 -0.5 0.5 1.5, of durations -5 -5 -5 15:
 * products 7.5 + 2.5 - 2.5 + 22.5 = 30, squares 5 and 300: 30 / sqrt(1500) = 0.774596... */
static const Row rows[] = {{0, 0, 0, 10, 1}, {0, 0, 0, 10, 2}, {0, 1, 0, 10, 3}, {0, 1, 0, 30, 4}};

static void test_pcc(void) {
    g_autoptr(TaskTable) table = table_of(FEATURE_RESOURCE, rows, G_N_ELEMENTS(rows));
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    PccOptions options = pcc_options();
    g_autoptr(GArray) blames = pcc_run(table, found, &options);
    g_assert_cmpuint(blames->len, ==, 1);
    g_assert_cmpfloat_with_epsilon(blame_at(blames, 0)->correlation, 30 / sqrt(1500), 1e-12);
    g_assert_cmpfloat_with_epsilon(blame_at(blames, 0)->bound, 3.7, 1e-12);
    options.lambda_ca = 0.78;
    g_autoptr(GArray) none = pcc_run(table, found, &options);
    g_assert_cmpuint(none->len, ==, 0);
    options.lambda_ca = 0.3;
    options.lambda_cq = 1;
    g_autoptr(GArray) neither = pcc_run(table, found, &options);
    g_assert_cmpuint(neither->len, ==, 0);
}

/* Over the whole application another stage's values count, too. */
static void test_pcc_scope(void) {
    const Row two_stages[] = {{0, 0, 0, 10, 1}, {0, 0, 0, 10, 2},  {0, 1, 0, 10, 3}, {0, 1, 0, 30, 4},
                              {1, 0, 0, 90, 9}, {1, 0, 0, 90, 10}, {1, 0, 0, 90, 11}};
    g_autoptr(TaskTable) table = table_of(FEATURE_RESOURCE, two_stages, G_N_ELEMENTS(two_stages));
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    PccOptions options = pcc_options();
    g_autoptr(GArray) by_stage = pcc_run(table, found, &options);
    options.whole_application = TRUE;
    g_autoptr(GArray) by_application = pcc_run(table, found, &options);
    g_assert_cmpuint(by_stage->len, ==, 1);
    g_assert_cmpuint(by_application->len, ==, 0);
}

/* Four tasks of 10 ms and one of 30; what the last one read, and how busy its host was, differ from case to case. */
static gint mantri_blames(double read, double afar, double cpu, double disk) {
    const Row five[] = {{0, 0, 0, 10, 0}, {0, 0, 0, 10, 0}, {0, 0, 0, 10, 0}, {0, 0, 0, 10, 0}, {0, 1, 0, 30, 0}};
    g_autoptr(TaskTable) table = table_of(FEATURE_NUMERIC, five, G_N_ELEMENTS(five));
    const guint cpus = table_add_feature(table, "cpu", FEATURE_RESOURCE, TOPIC_CPU);
    const guint disks = table_add_feature(table, "disk", FEATURE_RESOURCE, TOPIC_DISK);
    const double reads[] = {100, 100, 100, 100, read}, afars[] = {10, 10, 10, 10, afar};
    for (guint i = 0; i < 5; i++) {
        task_feature(table, cpus)->values[i] = i < 4 ? 0.2 : cpu;
        task_feature(table, disks)->values[i] = i < 4 ? 0.1 : disk;
    }
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    const MantriAmounts amounts = {reads, afars, 100, 101};
    g_autoptr(GArray) blames = mantri_run(table, found, &amounts);
    g_assert_cmpuint(blames->len, ==, 1);
    return blame_at(blames, 0)->feature;
}

static void test_mantri(void) {
    g_assert_cmpint(mantri_blames(150, 90, 0.9, 0.9), ==, 100); /* data first */
    g_assert_cmpint(mantri_blames(149, 15, 0.9, 0.9), ==, 101); /* then what came from afar */
    g_assert_cmpint(mantri_blames(149, 14, 0.9, 0.2), ==, 1);   /* 4.5 times against 2 */
    g_assert_cmpint(mantri_blames(149, 14, 0.3, 0.9), ==, 2);
    g_assert_cmpint(mantri_blames(149, 14, 0.29, 0.14), ==, BLAME_MACHINE);
    g_assert_cmpint(mantri_blames(NAN, NAN, NAN, NAN), ==, BLAME_MACHINE);
}

static void test_xue(void) {
    g_autoptr(TaskTable) table = table_of(FEATURE_RESOURCE, rows, G_N_ELEMENTS(rows));
    const guint network = table_add_feature(table, "network", FEATURE_RESOURCE, TOPIC_NETWORK);
    for (guint i = 0; i < 4; i++) task_feature(table, network)->values[i] = rows[i].value;
    g_autoptr(Stragglers) found = stragglers_find(table, STRAGGLER_RATIO);
    g_autoptr(GArray) blames = xue_run(table, found);
    g_assert_cmpuint(blames->len, ==, 1); /* the same values of the network are no feature of it */
    g_assert_cmpint(blame_at(blames, 0)->feature, ==, 0);
    g_assert_cmpfloat_with_epsilon(blame_at(blames, 0)->bound, 2.5, 1e-12);
    /* Deviations of 0 0 0 1: -0.25 three times and 0.75; products with -1.5 -0.5 0.5 1.5: 0.375 + 0.125 - 0.125 +
     * 1.125 = 1.5; squares 5 and 0.75. */
    g_assert_cmpfloat_with_epsilon(blame_at(blames, 0)->correlation, 1.5 / sqrt(5 * 0.75), 1e-12);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/baselines/pcc", test_pcc);
    g_test_add_func("/diagnosis/baselines/pcc-scope", test_pcc_scope);
    g_test_add_func("/diagnosis/baselines/mantri", test_mantri);
    g_test_add_func("/diagnosis/baselines/xue", test_xue);
    return g_test_run();
}
