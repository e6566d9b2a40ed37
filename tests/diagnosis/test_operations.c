/* Inefficiency scores, k-means and the patterns of stages. */
#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/inefficiency.h"
#include "analyzer/diagnosis/kmeans.h"
#include "analyzer/diagnosis/permutation.h"
#include "analyzer/diagnosis/replay.h"
#include "analyzer/diagnosis/stage_pattern.h"

static void assert_near(double value, double expected) {
    g_assert_cmpfloat_with_epsilon(value, expected, 1e-9 * (1 + fabs(expected)));
}

/* ---- scores ---- */

/* Four pipelines whose durations are 4, 10, 18 and 25 (in another order): S = 4, 6, 8, 7, so
 * PF_1 = 4/4 = 1, PF_2 = 1 + 6/3 = 3, PF_3 = 3 + 8/2 = 7, PF_4 = 7 + 7 = 14. */
static void test_pipeline_factors(void) {
    const double durations[] = {18, 4, 25, 10};
    double factors[4];
    pipeline_factors(durations, 4, factors);
    assert_near(factors[1], 4.0 / 4);
    assert_near(factors[3], 4.0 / 4 + 6.0 / 3);
    assert_near(factors[0], 4.0 / 4 + 6.0 / 3 + 8.0 / 2);
    assert_near(factors[2], 4.0 / 4 + 6.0 / 3 + 8.0 / 2 + 7.0);
    /* Equal durations: equal factors. */
    const double equal[] = {5, 5, 8};
    pipeline_factors(equal, 3, factors);
    assert_near(factors[0], 5.0 / 3);
    assert_near(factors[1], 5.0 / 3);
    assert_near(factors[2], 5.0 / 3 + 3);
    const double single[] = {7};
    pipeline_factors(single, 1, factors);
    assert_near(factors[0], 7);
}

/* The same pipelines with two operations. Operation 0 took 10, 2, 20, 6: median 8. Operation 1 took 0, 0, 3, 0: median
 * 0, which counts as the resolution of 1 ms. */
static const OpSpan spans[] = {{0, 0, 10}, {1, 0, 2}, {2, 0, 20}, {3, 0, 6},
                               {0, 1, 0},  {1, 1, 0}, {2, 1, 3},  {3, 1, 0}};

static void test_scores(void) {
    const double durations[] = {18, 4, 25, 10};
    const StageOps ops = {durations, 4, 2, spans, G_N_ELEMENTS(spans), 1};
    double medians[2];
    operation_medians(&ops, medians);
    assert_near(medians[0], 8);
    assert_near(medians[1], 0);

    g_autofree OpScore *scores = operation_scores(&ops);
    const struct {
        guint32 instance;
        double pf, ss, is;
    } expected[] = {
        {2, 14, 20.0 / 8, 14 * 20 * 20.0 / 8}, /* 700 */
        {6, 14, 3, 14 * 3 * 3},                /* 126 */
        {0, 7, 10.0 / 8, 7 * 10 * 10.0 / 8},   /* 87.5 */
        {3, 3, 6.0 / 8, 3 * 6 * 6.0 / 8},      /* 13.5 */
        {1, 1, 2.0 / 8, 1 * 2 * 2.0 / 8},      /* 0.5 */
        {4, 7, 0, 0},
        {5, 1, 0, 0},
        {7, 3, 0, 0},
    };

    for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_assert_cmpuint(scores[i].instance, ==, expected[i].instance);
        assert_near(scores[i].pf_ms, expected[i].pf);
        assert_near(scores[i].ss, expected[i].ss);
        assert_near(scores[i].is_ms2, expected[i].is);
    }
}

static void test_top_count(void) {
    g_assert_cmpuint(top_count(0, 0.1), ==, 0);
    g_assert_cmpuint(top_count(1, 0.1), ==, 1);
    g_assert_cmpuint(top_count(10, 0.1), ==, 1);
    g_assert_cmpuint(top_count(11, 0.1), ==, 2);
    g_assert_cmpuint(top_count(30, 0.1), ==, 3);
    g_assert_cmpuint(top_count(7, 1), ==, 7);
    g_assert_cmpuint(top_count(7, 5), ==, 7);
    g_assert_cmpuint(top_count(7, 0), ==, 1);
}

/* ---- k-means ---- */

/* Three groups of two, 0.1 apart, on the corners of a triangle; then others that are near the first group. Features go
 * from 0 to 10 and from 0 to 100; a third one is the same everywhere. */
static const double vectors[] = {
    0,  0,   7, 1, 0,  7, /* */
    10, 0,   7, 9, 0,  7, /* */
    5,  100, 7, 5, 90, 7, /* */
    0,  0,   7, 0, 0,  7,
};

static void test_kmeans(void) {
    const KMeansInput input = {vectors, 8, 6, 3, 3, 1, FALSE};
    g_autoptr(KMeans) result = kmeans_run(&input);
    g_assert_cmpuint(result->k, ==, 3);

    gboolean seen[3] = {FALSE};
    for (guint c = 0; c < 3; c++) {
        const double *centre = result->centres + (gsize)c * 3;
        g_assert_cmpuint(result->sizes[c], ==, 2);
        assert_near(centre[2], 0);
        const guint group = centre[1] > 0.5 ? 2 : centre[0] > 0.5 ? 1 : 0;
        const double expected[3][2] = {{0.05, 0}, {0.95, 0}, {0.5, 0.95}};
        assert_near(centre[0], expected[group][0]);
        assert_near(centre[1], expected[group][1]);
        seen[group] = TRUE;
    }

    g_assert_true(seen[0] && seen[1] && seen[2]);
    assert_near(result->objective, 6 * 0.05 * 0.05);
    /* Each is 0.05 from its own centre; how far from the next one: two of two groups, and those of the third. */
    const double next[] = {0.95, 0.95, 0.85, 0.85, sqrt(0.45 * 0.45 + 1), sqrt(0.45 * 0.45 + 0.9 * 0.9)};
    double silhouette = 0;
    for (guint i = 0; i < 6; i++) silhouette += (1 - 0.05 / next[i]) / 6;
    assert_near(result->silhouette, silhouette);
    /* All six: mean (0.5, 19/60, 0); the others are at 0. */
    assert_near(result->others[0], 0);
    assert_near(result->apart[0], 0.5);
    assert_near(result->apart[1], 1.9 / 6);
    assert_near(result->apart[2], 0);

    g_autoptr(KMeans) again = kmeans_run(&input);
    g_assert_cmpmem(result->centres, sizeof(double) * 9, again->centres, sizeof(double) * 9);
}

static void test_kmeans_degenerate(void) {
    const double same[] = {4, 4, 4, 4};
    g_autoptr(KMeans) one = kmeans_run(&(KMeansInput){same, 4, 4, 1, 3, 1, FALSE});
    g_assert_cmpuint(one->k, ==, 1); /* there is but one vector */
    assert_near(one->objective, 0);
    g_assert_true(isnan(one->silhouette));
    g_assert_null(one->others);
    g_assert_null(kmeans_run(&(KMeansInput){same, 4, 0, 1, 3, 1, FALSE}));
    const double holes[] = {NAN, 2, 4, NAN};
    g_autoptr(KMeans) filled = kmeans_run(&(KMeansInput){holes, 4, 4, 1, 3, 1, FALSE});
    g_assert_cmpuint(filled->k, ==, 3); /* 0, 1, and the mean 0.5 of what is known */
    assert_near(filled->objective, 0);
}

/* From 0 to the greatest: what is high everywhere is high in every centre. */
static void test_kmeans_by_most(void) {
    const double high[] = {95, 100, 96, 98};
    const KMeansInput input = {
        .vectors = high, .n = 4, .n_clustered = 2, .n_features = 1, .k = 1, .scale_by_most = TRUE};
    g_autoptr(KMeans) result = kmeans_run(&input);
    assert_near(result->centres[0], 0.975);
    assert_near(result->others[0], 0.97);
    assert_near(result->apart[0], 0.005);
}

/* ---- permutations ---- */

#define ROWS   400u
#define CHOSEN 40u

/* Feature 0 is noise; 1 is noise and 1.5 deviations more of the chosen; 2 only grows with the stratum, and the chosen
 * are late; 3 never varies. */
static void test_permutations(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    double rows[ROWS][4];
    guint8 strata[ROWS];
    for (guint i = 0; i < ROWS; i++) {
        const gboolean chosen = i < CHOSEN;
        strata[i] = (guint8)(chosen ? 6 + i % 4 : i % 10);
        for (guint f = 0; f < 3; f++) rows[i][f] = g_rand_double(rand);
        rows[i][1] += chosen ? 1.5 * sqrt(1.0 / 12) : 0;
        rows[i][2] = 0.1 * rows[i][2] + strata[i];
        rows[i][3] = 7;
    }

    const PermutationInput input = {rows[0], ROWS, CHOSEN, 4, strata, 1};
    g_autofree double *p = permutation_p(&input), *again = permutation_p(&input);
    g_assert_cmpfloat(p[0], >, 0.01);
    g_assert_cmpfloat(p[1], <, 0.01);
    g_assert_cmpfloat(p[2], >, 0.01);
    g_assert_true(isnan(p[3]));
    g_assert_cmpmem(p, sizeof(double) * 3, again, sizeof(double) * 3);

    /* Without strata, the feature that grows would look apart. */
    memset(strata, 0, sizeof strata);
    g_autofree double *together = permutation_p(&input);
    g_assert_cmpfloat(together[2], <, 0.01);

    /* Two of two: there is nothing to exchange. */
    g_autofree double *none = permutation_p(&(PermutationInput){rows[0], 2, 2, 4, strata, 1});
    g_assert_true(isnan(none[0]) && isnan(none[1]));
}

static void test_holm(void) {
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005, 0.9};
    holm_correct(p, G_N_ELEMENTS(p)); /* 5 of them: 5 x 0.005, 4 x 0.01, 3 x 0.03, 2 x 0.04 (less than before), 0.9 */
    const double expected[] = {0.04, 0.09, NAN, 0.09, 0.025, 0.9};
    for (guint i = 0; i < G_N_ELEMENTS(p); i++) {
        if (isnan(expected[i]))
            g_assert_true(isnan(p[i]));
        else
            assert_near(p[i], expected[i]);
    }
}

/* ---- replay ---- */

/* Two at once: 0-4 and 0-2, then 2-9, then 4-5. The fourth begins when the first ends. */
static void test_replay(void) {
    const double begins[] = {0, 4, 2, 0}, durations[] = {4, 1, 7, 2};
    guint32 place[4];
    g_assert_cmpuint(replay_slots(begins, durations, 4), ==, 2);
    g_assert_cmpuint(replay_slots(begins, durations, 0), ==, 0);
    replay_order(begins, 4, place);
    const guint32 expected[] = {0, 3, 2, 1};
    g_assert_cmpmem(place, sizeof place, expected, sizeof expected);

    const double in_order[] = {4, 2, 7, 1};
    assert_near(replay_ms(in_order, 4, 2), 9);  /* 4, then 1; 2, then 7 */
    assert_near(replay_ms(in_order, 4, 1), 14); /* one after the other */
    assert_near(replay_ms(in_order, 4, 9), 7);
    assert_near(replay_ms(in_order, 0, 2), 0);
    const double shorter[] = {4, 2, 3, 1};
    assert_near(replay_ms(shorter, 4, 2), 5);
}

/* Against the slots looked at one by one. */
static void test_replay_many(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    double durations[300], free_ms[7] = {0}, end = 0;
    for (guint i = 0; i < 300; i++) {
        durations[i] = g_rand_int_range(rand, 0, 50);
        guint first = 0;
        for (guint slot = 1; slot < 7; slot++)
            if (free_ms[slot] < free_ms[first]) first = slot;
        free_ms[first] += durations[i];
        end = MAX(end, free_ms[first]);
    }
    assert_near(replay_ms(durations, 300, 7), end);
}

/* ---- patterns ---- */

typedef struct Published {
    const char *pattern;
    guint n;
    double deviations[5], means[5];
    gboolean last_joins;
    double correlation; /* of every two: not published, as the figure shows it */
    double others_cv;
} Published;

/* The published figures of patterns A, B, C, E and F tell their rules apart without the times themselves; others_cv of
 * B is that of its one other operation. */
static void test_published_patterns(void) {
    static const Published table[] = {
        {"A", 5, {111.0, 0.5, 0.0, 0.5, 0.51}, {1498.0, 7.5, 2.0, 2.5, 7.5}, FALSE, 0, 0.07},
        {"B", 2, {102.41, 15.15}, {79.76, 9.74}, FALSE, 0.2, 15.15 / 9.74},
        {"C", 5, {703.67, 6.64, 9.18, 12.05, 3251.3}, {1535.54, 15.96, 6.88, 13.75, 6815.88}, FALSE, 0.2, 0.4},
        {"D", 2, {7.57, 4.77}, {18.0, 6.33}, FALSE, 0.9, 0.75},
        {"E", 2, {1427.06, 106.25}, {3750.64, 22.56}, FALSE, 0.1, 4.7},
        {"F", 5, {27.75, 22.58, 192.45, 340.42, 649.64}, {8.14, 10.5, 380.54, 864.5, 112.45}, TRUE, 0.1, 1},
    };

    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        OpFigures ops[5] = {0};
        double correlations[25];
        for (guint j = 0; j < table[i].n; j++) {
            /* Proportions are not published either, but for G they are not even in these. */
            ops[j] = (OpFigures){.mean_ms = table[i].means[j], .deviation_ms = table[i].deviations[j], .share_cv = 0.6};
        }
        ops[table[i].n - 1].join_like = table[i].last_joins;
        for (guint j = 0; j < 25; j++) correlations[j] = table[i].correlation;

        StageFigures figures = {.n_pipelines = 20, .correlations = correlations, .others_cv = table[i].others_cv};
        stage_figures_derive(table[i].n, ops, &figures);
        g_assert_cmpstr(stage_pattern_name(stage_pattern(&figures)), ==, table[i].pattern);
    }
}

#define PIPELINES 20

static void assert_pattern(const double *times, guint n_ops, gboolean last_joins, const char *expected) {
    OpFigures ops[4] = {0};
    ops[n_ops - 1].join_like = last_joins;
    StageFigures figures;
    stage_figures(times, PIPELINES, n_ops, ops, &figures);
    g_assert_cmpstr(stage_pattern_name(stage_pattern(&figures)), ==, expected);
    stage_figures_clear(&figures);
}

/* Each of the seven as its figure shows it, and one that is none. */
static void test_patterns(void) {
    double a[PIPELINES][2], b[PIPELINES][2], c[PIPELINES][3], d[PIPELINES][3], e[PIPELINES][2], f[PIPELINES][3];
    double g[PIPELINES][3], even[PIPELINES][3];

    for (guint i = 0; i < PIPELINES; i++) {
        const double wave = (i % 5) / 4.0, other = (i % 3) / 2.0, odd = i == 7; /* wave and other go on their own */
        memcpy(a[i], (double[]){1500 + 100 * wave, 7}, sizeof a[i]);
        memcpy(b[i], (double[]){60 + 40 * wave, 30 * (i % 3 == 0)}, sizeof b[i]);
        memcpy(c[i], (double[]){1500 + 100 * wave, 10, 1000 + 9000 * other}, sizeof c[i]);
        memcpy(d[i], (double[]){10 + 20 * wave, 1 + 20 * wave, 3 * other}, sizeof d[i]);
        memcpy(e[i], (double[]){3000 + 2000 * wave, 1 + 500 * odd}, sizeof e[i]);
        memcpy(f[i], (double[]){100 + 300 * wave, 50 + 200 * other, 2 + 3000 * odd}, sizeof f[i]);
        memcpy(g[i], (double[]){2 + 10 * wave, 4 + 20 * wave, 8 + 40 * wave}, sizeof g[i]);
        memcpy(even[i], (double[]){10 + wave, 12 + other, 11}, sizeof even[i]);
    }

    assert_pattern(a[0], 2, FALSE, "A");
    assert_pattern(b[0], 2, FALSE, "B");
    assert_pattern(c[0], 3, FALSE, "C");
    assert_pattern(d[0], 3, FALSE, "D");
    assert_pattern(e[0], 2, FALSE, "E");
    assert_pattern(f[0], 3, TRUE, "F");
    assert_pattern(g[0], 3, FALSE, "G");
    assert_pattern(even[0], 3, FALSE, "none");
}

static void test_pattern_figures(void) {
    const double times[] = {2, 10, 4, 30, 6, 20}; /* 3 pipelines of 2 operations */
    OpFigures ops[2] = {0};
    StageFigures figures;
    stage_figures(times, 3, 2, ops, &figures);

    assert_near(ops[0].mean_ms, 4);
    assert_near(ops[0].deviation_ms, sqrt(8.0 / 3));
    assert_near(ops[1].share, 20.0 / 24);
    assert_near(ops[1].variance_share, 200.0 / 208);
    assert_near(figures.correlations[1], 0.5); /* deviations -2 0 2 and -10 10 0: 20 / sqrt(8 * 200) */
    assert_near(figures.others_cv, sqrt(8.0 / 3) / 4);
    g_assert_cmpint(figures.dominant, ==, 1);
    stage_figures_clear(&figures);

    stage_figures(times, 1, 2, ops, &figures);
    g_assert_cmpint(stage_pattern(&figures), ==, STAGE_PATTERN_NONE);
    stage_figures_clear(&figures);

    /* The second operation is in two of four tasks only, as in a stage that unites two inputs. */
    const double parts[] = {10, NAN, 10, NAN, 10, 30, 10, 50};
    stage_figures(parts, 4, 2, ops, &figures);
    assert_near(ops[1].mean_ms, 40);
    assert_near(ops[1].deviation_ms, 10);
    assert_near(ops[1].cv, 0.25);
    assert_near(ops[1].share, 80.0 / 120);
    assert_near(figures.correlations[3], 1);
    stage_figures_clear(&figures);

    g_assert_true(operation_is_join_like("org.apache.spark.rdd.CoGroupedRDD"));
    g_assert_true(operation_is_join_like("ZippedPartitionsRDD2"));
    g_assert_false(operation_is_join_like("org.apache.spark.rdd.MapPartitionsRDD"));
    g_assert_false(operation_is_join_like(NULL));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/operations/pipeline-factors", test_pipeline_factors);
    g_test_add_func("/diagnosis/operations/scores", test_scores);
    g_test_add_func("/diagnosis/operations/top-count", test_top_count);
    g_test_add_func("/diagnosis/kmeans/groups", test_kmeans);
    g_test_add_func("/diagnosis/kmeans/degenerate", test_kmeans_degenerate);
    g_test_add_func("/diagnosis/kmeans/by-most", test_kmeans_by_most);
    g_test_add_func("/diagnosis/permutation/features", test_permutations);
    g_test_add_func("/diagnosis/permutation/holm", test_holm);
    g_test_add_func("/diagnosis/replay/slots", test_replay);
    g_test_add_func("/diagnosis/replay/many", test_replay_many);
    g_test_add_func("/diagnosis/stage-pattern/published", test_published_patterns);
    g_test_add_func("/diagnosis/stage-pattern/shapes", test_patterns);
    g_test_add_func("/diagnosis/stage-pattern/figures", test_pattern_figures);
    return g_test_run();
}
