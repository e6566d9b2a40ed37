/* Advice on what executors were given, and on how HDFS was read: each rule just fires, and just does not. */
#include <string.h>

#include "tests/diagnosis/made_facts.h"

/* Executor 1 and a second stage have a profile of their own, with 8 GiB. */
static void give_profile(Made *made) {
    const AdviseProfile profile = {
        {.profile = 1, .memory_bytes = (gint64)(8192 * MIB), .overhead_bytes = (gint64)(512 * MIB), .cores = 2}, 1};
    AdviseStage stage = *made_stage(made);
    stage.stage = 8;
    stage.profile = 1;
    g_array_append_val(made->facts->profiles, profile);
    g_array_append_val(made->facts->stages, stage);
    g_array_index(made->facts->executors, AdviseExecutor, 1).profile = 1;
    made_set(made, "spark.executor.memory", "4g");
}

/* Executors of each profile are judged by what that asked for. */
static void test_memory_by_profile(void) {
    g_auto(Made) made;
    made_init(&made);
    give_profile(&made);
    AdviseExecutor *plain = &g_array_index(made.facts->executors, AdviseExecutor, 0);
    AdviseExecutor *own = &g_array_index(made.facts->executors, AdviseExecutor, 1);
    plain->heap_peak_bytes = 3000 * MIB; /* of 4 GiB */
    own->heap_peak_bytes = 4096 * MIB;   /* of 8 GiB */
    ASSERT_FINDS(made, "memory", FALSE);

    own->heap_peak_bytes = 4095 * MIB;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "memory");
    g_assert_cmpuint(finding->changes->len, ==, 0); /* spark-submit does not reach it */
    g_assert_cmpstr(
        finding->advice, ==,
        "The program gives these stages resource profile 1: ask for memory(\"5419m\") there, not for 8.0 GiB.");

    own->heap_peak_bytes = 6000 * MIB;
    own->resident_bytes = (8192 + 0.91 * 512) * MIB;
    g_autoptr(Advice) resident = advise(made.facts, FALSE);
    g_assert_nonnull(strstr(finding_of(resident, "memory")->advice, "ask for memoryOverhead(\"583m\")"));
}

/* A stage runs on its profile's executors alone: two of its tasks do not leave two of four cores idle there. */
static void test_slots_by_profile(void) {
    g_auto(Made) made;
    made_init(&made);
    give_profile(&made);
    AdviseStage *stage = advise_stage(made.facts, 1);
    g_assert_cmpuint(stage_slots(made.facts, stage), ==, 1);
    g_assert_cmpuint(stage_slots(made.facts, made_stage(&made)), ==, 4);
    stage->tasks = 2;
    stage->shuffle = made_spread(MIB, MIB);
    stage->sums[METRIC_SHUFFLE_LOCAL_BYTES] = 2 * MIB;
    ASSERT_FINDS(made, "few-partitions", FALSE);
    stage->profile = 0;
    made_stage(&made)->task_ms = stage->task_ms = 90000; /* half of the four cores' time */
    ASSERT_FINDS(made, "few-partitions", TRUE);
}

/* Failed tasks and garbage collection of a stage change what its profile asks for. */
static void test_failures_by_profile(void) {
    g_auto(Made) made;
    made_init(&made);
    give_profile(&made);
    const SparkExclusion exclusion = {.executor = "1", .stage = -1, .time_ms = 5, .back_ms = -1, .failures = 2};
    g_array_append_val(made.facts->exclusions, exclusion);
    made.facts->failures[FAILURE_MEMORY] = (AdviseFailure){2, 500, 9, 8, "ExecutorLostFailure: memory limits"};
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "failures");
    g_assert_nonnull(strstr(finding->advice, "ask for memoryOverhead(\"1536m\") there, not for 512 MiB"));
    g_assert_cmpstr(g_ptr_array_index(finding->evidence, 1), ==, "executor 1 was excluded after 2 failures");

    advise_stage(made.facts, 1)->sums[METRIC_GC_MS] = made.facts->gc_ms = 72000;
    g_autoptr(Advice) collected = advise(made.facts, FALSE);
    g_assert_nonnull(strstr(finding_of(collected, "gc")->advice, "ask for memory(\"12288m\") there"));
}

/* An RDD that one stage keeps and another has: the second computed three of its partitions again, in 3 of 8 tasks. */
static void test_computed_again(void) {
    g_auto(Made) made;
    made_init(&made);
    const AdviseCached cached = {12, "words", "memory", 2, 7};
    g_array_append_val(made.facts->cached, cached);
    made_stage(&made)->cached = made_stage(&made)->keeps_first = TRUE;
    AdviseStage other = {.stage = 8, .tasks = 8, .cached = TRUE, .task_ms = 80000};
    other.sums[METRIC_RUN_MS] = 80000;
    g_array_append_val(made.facts->stages, other);
    AdviseStage *first = made_stage(&made), *second = advise_stage(made.facts, 1);
    g_autoptr(Advice) unknown = advise(made.facts, FALSE);
    g_assert_null(finding_of(unknown, "cache"));
    g_assert_cmpuint(unknown->unknown->len, ==, 2);
    g_assert_nonnull(strstr(g_array_index(unknown->unknown, Unknown, 1).why, "trackUpdatedBlockStatuses true"));

    first->sums[METRIC_BLOCKS_KEPT] = 8;
    ASSERT_FINDS(made, "cache", FALSE); /* all is still there */
    second->sums[METRIC_BLOCKS_KEPT] = 3;
    ASSERT_FINDS(made, "cache", FALSE); /* they had not been kept, but nothing had to go */
    first->sums[METRIC_BLOCKS_EVICTED] = 4;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *again = finding_of(advice, "cache");
    g_assert_cmpstr(again->what, ==, "4 partitions of RDDs that are kept were evicted, and 3 computed again.");
    g_assert_cmpfloat_with_epsilon(again->cost_ms, 80000 * 3 / 8.0, 1);
    g_assert_cmpint(g_array_index(again->stages, gint64, 0), ==, 8);
    g_assert_cmpuint(advice->unknown->len, ==, 1);
    second->keeps_first = TRUE; /* it may be another one that it keeps */
    ASSERT_FINDS(made, "cache", FALSE);
}

/* ---- how HDFS was read ---- */

static AdviseReads *read_by(Made *made, const AdviseReads *reads) {
    g_array_set_size(made->facts->reads, 0);
    g_array_append_vals(made->facts->reads, reads, 1);
    return &g_array_index(made->facts->reads, AdviseReads, 0);
}

/* Half of the stage's tasks were traced. */
static const AdviseReads traced = {.stage = 7, .tasks = 4, .task_ms = 180000};

static void test_namenode(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseReads *reads = read_by(&made, &traced);
    reads->opens = 100, reads->bytes = 1000 * MIB, reads->local_bytes = 599 * MIB, reads->opening_ms = 18000;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "namenode");
    g_assert_cmpfloat(finding->cost_ms, ==, 36000); /* of all tasks */
    g_assert_cmpfloat(finding->saves_ms, ==, 36000 * (1 - 13 / 100.0));
    g_assert_cmpstr(finding->what, ==,
                    "stage 7 (Exchange) waits for the NameNode in 10 % of its time, to open files: it reads 16 MiB per "
                    "open.");
    g_assert_cmpstr(g_ptr_array_index(finding->evidence, 1), ==, "0.06 opens for each MiB");
    g_assert_cmpuint(finding->changes->len, ==, 0);
    g_assert_cmpuint(finding->certainty, ==, FINDING_POSSIBLE); /* files may be large, and little of them read */

    made_set(&made, "spark.sql.files.maxPartitionBytes", "1m"); /* it opens large files again and again */
    g_autoptr(Advice) pieces = advise(made.facts, FALSE);
    assert_change(finding_of(pieces, "namenode"), 0, "spark.sql.files.maxPartitionBytes", "128m");

    reads->local_bytes = 600 * MIB;
    ASSERT_FINDS(made, "namenode", FALSE);
    reads->local_bytes = 599 * MIB;
    reads->opening_ms = 17999;
    ASSERT_FINDS(made, "namenode", FALSE);
    reads->opening_ms = 18000;
    reads->tasks = 3;
    ASSERT_FINDS(made, "namenode", FALSE);
}

/* Of files of 1 GiB some columns are read: 5 MiB an open, and nothing to join. */
static void test_namenode_by_plan(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseReads *reads = read_by(&made, &traced);
    reads->opens = 100, reads->bytes = 500 * MIB, reads->opening_ms = 36000;
    const AdviseScan scan = {
        .name = "Scan parquet t", .stage = 7, .files = 10, .bytes = 10240 * MIB, .partitions = -1, .kept = -1};
    g_array_append_val(made.facts->scans, scan);
    AdviseScan *planned = &g_array_index(made.facts->scans, AdviseScan, 0);
    ASSERT_FINDS(made, "namenode", FALSE);
    made_set(&made, "spark.sql.files.maxPartitionBytes", "1m"); /* which cuts them small */
    ASSERT_FINDS(made, "namenode", TRUE);

    made.app.properties.n = 0;
    planned->bytes = 10 * 16 * MIB;
    ASSERT_FINDS(made, "namenode", FALSE);
    planned->bytes -= 1;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "namenode");
    g_assert_cmpuint(finding->certainty, ==, FINDING_LIKELY);
    g_assert_true(g_str_has_prefix(finding->advice, "Join the files"));
    g_assert_cmpstr(g_ptr_array_index(finding->evidence, 2), ==,
                    "its files have 16 MiB each, as the query's plan counted");
    planned->stage = 8; /* another's */
    g_autoptr(Advice) unknown = advise(made.facts, FALSE);
    g_assert_true(g_str_has_prefix(finding_of(unknown, "namenode")->advice, "If the files are small"));
}

static void test_small_reads(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseReads *reads = read_by(&made, &traced);
    reads->opens = 10, reads->calls = 10000, reads->bytes = 1000 * MIB, reads->local_bytes = 1499 * MIB;
    reads->hdfs_ms = 54000;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "small-reads");
    g_assert_cmpfloat(finding->cost_ms, ==, 20000);     /* 10,000 calls in half of the tasks */
    g_assert_null(strstr(finding->advice, "vectored")); /* which HDFS reads one by one */
    reads->local_bytes = 1500 * MIB;
    ASSERT_FINDS(made, "small-reads", FALSE);
    reads->local_bytes = 1499 * MIB;
    reads->hdfs_ms = 53999;
    ASSERT_FINDS(made, "small-reads", FALSE);
}

/* Of readers that do not say how much they read, nothing is told but that. */
static void test_unseen_reads(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseReads *reads = read_by(&made, &traced);
    reads->opens = 100, reads->calls = 10000, reads->hdfs_ms = reads->network_ms = reads->opening_ms = 90000;
    g_autoptr(Advice) silent = advise(made.facts, FALSE);
    g_assert_cmpuint(silent->findings->len, ==, 0); /* not "by 0 B at a time" */
    const Unknown *last = &g_array_index(silent->unknown, Unknown, silent->unknown->len - 1);
    g_assert_cmpstr(last->rule, ==, "hdfs");

    made_stage(&made)->sums[METRIC_INPUT_BYTES] = 400 * MIB; /* of which half are these tasks' */
    made_stage(&made)->input = made_spread(50 * MIB, 50 * MIB);
    reads->bytes = 50 * MIB, reads->local_bytes = 50 * MIB;
    ASSERT_FINDS(made, "small-reads", TRUE);
    ASSERT_FINDS(made, "namenode", TRUE);
    reads->local_bytes -= 1;
    ASSERT_FINDS(made, "small-reads", FALSE);
    ASSERT_FINDS(made, "namenode", FALSE);
}

static void test_locality_of_reads(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseReads *reads = read_by(&made, &traced);
    reads->bytes = 1000 * MIB, reads->remote_bytes = 501 * MIB, reads->network_ms = 18000;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    g_assert_null(finding_of(advice, "short-circuit"));
    const Finding *finding = finding_of(advice, "remote-reads");
    g_assert_cmpfloat_with_epsilon(finding->cost_ms, 36000 * 0.501, 1e-6);
    g_assert_nonnull(strstr(finding->advice, "-setrep"));
    made_set(&made, "spark.locality.wait", "0s");
    g_autoptr(Advice) apart = advise(made.facts, FALSE); /* no executor has a DataNode: tasks would wait in vain */
    g_assert_cmpuint(finding_of(apart, "remote-reads")->changes->len, ==, 0);
    reads->own_bytes = MIB;
    g_autoptr(Advice) waits = advise(made.facts, FALSE);
    assert_change(finding_of(waits, "remote-reads"), 0, "spark.locality.wait", "3s");

    reads->remote_bytes = 499 * MIB;
    ASSERT_FINDS(made, "short-circuit", FALSE); /* nobody knows whose the others are */
    reads->own_bytes = 501 * MIB;
    g_autoptr(Advice) near = advise(made.facts, FALSE);
    g_assert_null(finding_of(near, "remote-reads"));
    g_assert_nonnull(strstr(finding_of(near, "short-circuit")->advice, "(dfs.client.read.shortcircuit true)"));
    made_set(&made, "dfs.client.read.shortcircuit", "true");
    g_autoptr(Advice) broken = advise(made.facts, FALSE);
    g_assert_nonnull(strstr(finding_of(broken, "short-circuit")->advice, "is true and does not work"));
    reads->network_ms = 17999;
    ASSERT_FINDS(made, "short-circuit", FALSE);
}

/* A slow DataNode is no fault of the job, neither is what its tasks read meanwhile; what is set is not advised. */
static void test_slow_datanode(void) {
    static const char *const settings[][2] = {{"dfs.client.hedged.read.threadpool.size", "0"},
                                              {"dfs.client.hedged.read.threadpool.size", "20"},
                                              {"dfs.replication", "1"}};
    static const char *const says[] = {"threadpool.size 20) would bound it", "are on already", "no second one"};
    for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
        g_auto(Made) made;
        made_init(&made);
        made_set(&made, settings[i][0], settings[i][1]);
        AdviseReads *reads = read_by(&made, &traced);
        reads->bytes = reads->remote_bytes = 1000 * MIB, reads->network_ms = 90000;
        const AdviseNode node = {"d2", "datanode", "disk", 3, 36000, 3, 7};
        g_array_append_val(made.facts->nodes, node);
        g_autoptr(Advice) advice = advise(made.facts, FALSE);
        g_assert_cmpuint(advice->findings->len, ==, 1);
        g_assert_nonnull(strstr(finding_of(advice, "node")->advice, says[i]));
        g_assert_cmpuint(advice_severity(advice), ==, SEVERITY_NONE);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advise/profile/memory", test_memory_by_profile);
    g_test_add_func("/advise/profile/slots", test_slots_by_profile);
    g_test_add_func("/advise/profile/failures", test_failures_by_profile);
    g_test_add_func("/advise/hdfs/namenode", test_namenode);
    g_test_add_func("/advise/hdfs/namenode/plan", test_namenode_by_plan);
    g_test_add_func("/advise/hdfs/small-reads", test_small_reads);
    g_test_add_func("/advise/hdfs/unseen", test_unseen_reads);
    g_test_add_func("/advise/hdfs/locality", test_locality_of_reads);
    g_test_add_func("/advise/hdfs/slow-datanode", test_slow_datanode);
    g_test_add_func("/advise/cache/computed-again", test_computed_again);
    return g_test_run();
}
