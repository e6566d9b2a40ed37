/* Advice on uneven partitions, from facts that are worked out by hand: whether to cut them, and how Spark would. */
#include <string.h>

#include "tests/diagnosis/made_facts.h"

/* Other tasks had all cores meanwhile: to cut it brings nothing now. It is named, but for what is little of all. */
static void assert_skew_without_cost(Made *made) {
    AdviseStage *stage = made_stage(made);
    const gint64 end_ms = stage->end_ms;
    stage->end_ms = stage->begin_ms + 90000;
    g_autoptr(Advice) advice = advise(made->facts, FALSE);
    const Finding *skew = finding_of(advice, "skew");
    g_assert_nonnull(strstr(skew->what, "Partition 5"));
    g_assert_cmpfloat(skew->cost_ms, ==, 0);
    g_assert_cmpuint(skew->changes->len, ==, 0);
    g_assert_nonnull(strstr(skew->advice, "With these 4 cores a change saves nothing"));
    g_assert_cmpuint(advice_severity(advice), ==, SEVERITY_NONE);

    const double task_ms = made->facts->task_ms, stage_ms = stage->task_ms;
    made->facts->task_ms = stage_ms / 0.02; /* the stage has a fiftieth of it: reached */
    ASSERT_FINDS(*made, "skew", TRUE);
    made->facts->task_ms += 100;
    ASSERT_FINDS(*made, "skew", FALSE);
    made->facts->task_ms = task_ms;
    stage->end_ms = stage->begin_ms + 600000; /* what it took beyond the median is a twentieth of that: reached */
    stage->task_ms = 4 * 600100;
    ASSERT_FINDS(*made, "skew", TRUE);
    stage->end_ms += 100;
    ASSERT_FINDS(*made, "skew", FALSE);
    g_autoptr(Advice) all = advise(made->facts, TRUE);
    g_assert_nonnull(finding_of(all, "skew"));
    stage->task_ms = stage_ms;
    stage->end_ms = end_ms;
}

/* The greatest partition has four times the median, and its task took four times as long. */
static void test_skew(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseStage *stage = made_stage(&made);
    stage->shuffle = made_spread(50 * MIB, 200 * MIB);
    stage->sums[METRIC_SHUFFLE_REMOTE_BYTES] = 550 * MIB;
    stage->run = stage->time = made_spread(10000, 40000);
    stage->join = TRUE;
    stage->end_ms = stage->begin_ms + 100000; /* 4 cores for 100 s, of which tasks had 360 */
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *skew = finding_of(advice, "skew");
    g_assert_cmpfloat_with_epsilon(skew->saves_ms, 40000, 1);
    stage->end_ms += 100000; /* it is not all from the longest task */
    g_autoptr(Advice) longer = advise(made.facts, FALSE);
    g_assert_cmpfloat_with_epsilon(finding_of(longer, "skew")->saves_ms, 30000 * 3, 1);
    g_assert_nonnull(strstr(skew->what, "Partition 5"));
    g_assert_cmpint(g_array_index(skew->tasks, gint64, 0), ==, 3);
    assert_change(skew, 0, "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "100m");
    assert_change(skew, 1, "spark.sql.adaptive.skewJoin.skewedPartitionFactor", "2"); /* Spark's 5 would not do */
    assert_change(skew, 2, "spark.sql.adaptive.advisoryPartitionSizeInBytes", "50m");
    g_assert_cmpfloat_with_epsilon(skew->cost_ms, 40000, 1);
    assert_skew_without_cost(&made);

    stage->run = stage->time = made_spread(10000, 39999);
    ASSERT_FINDS(made, "skew", FALSE);
    stage->run = stage->time = made_spread(10000, 40000);
    stage->shuffle = made_spread(50 * MIB, 200 * MIB - 5); /* even bytes: it waited for something */
    ASSERT_FINDS(made, "skew", FALSE);
    stage->shuffle = made_spread(50 * MIB, 200 * MIB);
    stage->node_ms = 20001; /* a host took most of it */
    ASSERT_FINDS(made, "skew", FALSE);
    stage->node_ms = 20000;
    ASSERT_FINDS(made, "skew", TRUE);
    made.facts->slots = 2; /* a quarter of its share */
    stage->end_ms = stage->begin_ms + 200000;
    g_autoptr(Advice) two = advise(made.facts, FALSE);
    assert_change(finding_of(two, "skew"), 0, "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "100m");
    g_assert_cmpuint(finding_of(two, "skew")->changes->len, ==, 2); /* 68 MiB: AQE's own 64 MB are smaller */
    made.facts->slots = 4;
    stage->end_ms = stage->begin_ms + 100000;
    stage->join = FALSE; /* nothing but salt */
    g_autoptr(Advice) salt = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(salt, "skew")->changes->len, ==, 0);
    g_assert_nonnull(strstr(finding_of(salt, "skew")->advice, "Salt"));
    g_assert_cmpuint(finding_of(salt, "skew")->partitions, ==, 0);

    /* What is read, and not shuffled, is to be spread: 8 partitions on 4 cores, 10 on 5: in whole waves. */
    stage->input = stage->shuffle;
    stage->sums[METRIC_SHUFFLE_REMOTE_BYTES] = 0;
    stage->sums[METRIC_INPUT_BYTES] = 550 * MIB;
    g_autoptr(Advice) read = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(read, "skew")->partitions, ==, 8);
    made.facts->slots = 5;
    g_autoptr(Advice) waves = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(waves, "skew")->partitions, ==, 10);
}

/* A partition of 18 MiB among 64 of 1 MiB, without AQE: pieces are of what is worth a task, and no other shuffle gets
 * other partitions. */
static void test_skew_without_aqe(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.sql.adaptive.enabled", "false");
    AdviseStage *stage = made_stage(&made);
    stage->join = TRUE;
    stage->shuffle = made_spread(MIB, 18 * MIB);
    stage->sums[METRIC_SHUFFLE_LOCAL_BYTES] = 81 * MIB;
    stage->run = stage->time = made_spread(10000, 40000);
    stage->end_ms = stage->begin_ms + 200000;

    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *skew = finding_of(advice, "skew");
    g_assert_cmpuint(skew->changes->len, ==, 4);
    assert_change(skew, 0, "spark.sql.adaptive.enabled", "true");
    assert_change(skew, 1, "spark.sql.adaptive.coalescePartitions.enabled", "false");
    assert_change(skew, 2, "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "9m");
    assert_change(skew, 3, "spark.sql.adaptive.advisoryPartitionSizeInBytes", "8m");
    made.facts->slots = 2; /* a quarter of what each has */
    g_autoptr(Advice) two = advise(made.facts, FALSE);
    assert_change(finding_of(two, "skew"), 3, "spark.sql.adaptive.advisoryPartitionSizeInBytes", "10m");

    const AdviseJoin whole = {.name = "SortMergeJoin", .stage = stage->stage, .whole = TRUE};
    g_array_append_val(made.facts->joins, whole);
    g_autoptr(Advice) salt = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(salt, "skew")->changes->len, ==, 0);
    g_assert_nonnull(strstr(finding_of(salt, "skew")->advice, "Salt"));
}

/* AQE had joined the partitions of another shuffle, of 1.6 GiB, to 26: in pieces of 8 MiB it would have 200. */
static void test_skew_beside_larger_shuffles(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseStage *stage = made_stage(&made);
    stage->join = TRUE;
    stage->shuffle = made_spread(MIB, 30 * MIB);
    stage->sums[METRIC_SHUFFLE_LOCAL_BYTES] = 37 * MIB;
    stage->run = stage->time = made_spread(1000, 10000);
    stage->task_ms = 17000;
    stage->end_ms = stage->begin_ms + 10000;
    AdviseStage large = {.stage = 8, .sql = TRUE, .tasks = 26, .begin_ms = 50000, .end_ms = 90000, .task_ms = 140000};
    large.shuffle = made_spread(64 * MIB, 64 * MIB);
    large.sums[METRIC_SHUFFLE_LOCAL_BYTES] = 1600 * MIB;
    large.run = large.time = made_spread(5400, 5400);
    g_array_append_val(made.facts->stages, large);
    assert_cost(&made, "skew", 23000); /* 4 cores for 10 s, of which tasks had 17 */

    g_autoptr(Advice) cheap = advise(made.facts, FALSE);
    assert_change(finding_of(cheap, "skew"), 1, "spark.sql.adaptive.advisoryPartitionSizeInBytes", "8m");
    advise_stage(made.facts, 1)->time = made_spread(5600, 5600); /* 174 tasks more, of 200 ms: 34.8 s */
    g_autoptr(Advice) dear = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(dear, "skew")->changes->len, ==, 0);
    g_assert_nonnull(strstr(finding_of(dear, "skew")->advice, "more than the 23 core-seconds"));
}

/* Cores that another stage had meanwhile did not stand idle. One of another profile has other cores. */
static void test_skew_beside_a_stage(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseStage *stage = made_stage(&made);
    stage->shuffle = made_spread(50 * MIB, 200 * MIB);
    stage->sums[METRIC_SHUFFLE_REMOTE_BYTES] = 550 * MIB;
    stage->run = stage->time = made_spread(10000, 40000);
    stage->end_ms = stage->begin_ms + 200000; /* 440 s of cores idle, 90 of them while the longest task ran alone */
    assert_cost(&made, "skew", 90000);

    const gint64 middle_ms = stage->begin_ms + 100000;
    AdviseStage other = {.stage = 8, .begin_ms = middle_ms, .end_ms = middle_ms + 200000, .task_ms = 780000};
    g_array_append_val(made.facts->stages, other); /* half of it beside that stage: 50 s are left */
    assert_cost(&made, "skew", 50000);
    advise_stage(made.facts, 1)->end_ms = middle_ms; /* nothing of it */
    advise_stage(made.facts, 1)->begin_ms = middle_ms - 400000;
    made_stage(&made)->begin_ms = middle_ms;
    made_stage(&made)->end_ms = middle_ms + 200000;
    assert_cost(&made, "skew", 90000);

    const AdviseProfile profile = {.given = {.profile = 3}, .slots = 8};
    g_array_append_val(made.facts->profiles, profile);
    other.profile = 3, other.begin_ms = middle_ms, other.end_ms = middle_ms + 200000;
    g_array_append_val(made.facts->stages, other);
    assert_cost(&made, "skew", 90000);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advise/skew", test_skew);
    g_test_add_func("/advise/skew/beside-a-stage", test_skew_beside_a_stage);
    g_test_add_func("/advise/skew/without-aqe", test_skew_without_aqe);
    g_test_add_func("/advise/skew/beside-larger-shuffles", test_skew_beside_larger_shuffles);
    return g_test_run();
}
