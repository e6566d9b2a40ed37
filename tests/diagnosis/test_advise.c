/* Advice on applications of Spark, from facts that are worked out by hand: each rule just fires, and just does not. */
#include <string.h>

#include "common/base/clock.h"
#include "tests/diagnosis/made_facts.h"

static void test_healthy(void) {
    g_auto(Made) made;
    made_init(&made);
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    g_assert_cmpuint(advice->findings->len, ==, 0);
    g_assert_cmpuint(advice_severity(advice), ==, SEVERITY_NONE);
    g_assert_cmpuint(advice->unknown->len, ==, 1); /* peaks of the heap */
    g_assert_cmpuint(advice->well->len, ==, 0);    /* it was not asked for */
}

static void assert_well(const Made *made, const char *rules) {
    g_autoptr(Advice) advice = advise(made->facts, TRUE);
    g_autoptr(GString) well = g_string_new(NULL);
    for (guint i = 0; i < advice->well->len; i++)
        g_string_append_printf(well, "%s%s", i > 0 ? " " : "", g_array_index(advice->well, Well, i).rule);
    g_assert_cmpstr(well->str, ==, rules);
}

/* Rules that had something to judge, and found nothing. */
static void test_well(void) {
    g_auto(Made) made;
    made_init(&made);
    assert_well(&made, "failures spill gc idle driver");
    made.facts->running = TRUE;
    assert_well(&made, "failures spill gc"); /* idle and driver are judged of what has ended */
    made.facts->running = FALSE;
    made.facts->held_ms = 0; /* no executor's cores are known */
    assert_well(&made, "failures spill gc driver");
    made.facts->held_ms = 400000;

    AdviseStage *stage = made_stage(&made);
    stage->sums[METRIC_SHUFFLE_LOCAL_BYTES] = 800 * MIB;
    stage->shuffle = made_spread(100 * MIB, 100 * MIB);
    g_array_index(made.facts->executors, AdviseExecutor, 1).heap_peak_bytes = 700 * MIB;
    made_set(&made, "spark.dynamicAllocation.enabled", "true");
    assert_well(&made, "failures spill gc skew few-partitions many-partitions memory idle driver allocation");
    made.facts->gc_ms = stage->sums[METRIC_GC_MS] = 36000; /* what was found is not well */
    stage->shuffle = made_spread(100 * MIB, 400 * MIB);
    stage->run = stage->time = made_spread(10000, 40000);
    assert_well(&made, "failures spill few-partitions many-partitions memory idle driver allocation");

    /* Slow hosts: what they hide is not well either; nor is what traces do not tell. */
    const AdviseNode node = {"d2", "datanode", "disk", 3, 18000, 3, 7};
    const AdviseReads reads = {.stage = 7, .tasks = 8, .task_ms = 360000};
    g_array_append_val(made.facts->nodes, node);
    g_array_append_val(made.facts->reads, reads);
    assert_well(&made, "failures spill many-partitions memory idle driver allocation");
    g_array_set_size(made.facts->nodes, 0);
    assert_well(&made, "failures spill few-partitions many-partitions memory idle driver allocation node namenode "
                       "small-reads remote-reads short-circuit");
}

/* ---- data ---- */

static void assert_spill_cost(const Made *made, double ms) { assert_cost(made, "spill", ms); }

/* 200 tasks had 96 MiB and spilled 21.2 MiB each, of which pointers are no part: of a million rows they take 61 MiB,
 * 200 x 178.2 / 96 = 371.3. Of ten million, which cannot all have been there, as much as the data. */
static void assert_pointers(const Made *made, AdviseStage *stage) {
    static const struct {
        double rows;
        const char *partitions;
    } table[] = {{0, "245"}, {1e6, "372"}, {1e7, "489"}};
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        stage->sums[METRIC_SHUFFLE_READ_RECORDS] = 200 * table[i].rows;
        g_autoptr(Advice) advice = advise(made->facts, FALSE);
        assert_change(finding_of(advice, "spill"), 0, "spark.sql.shuffle.partitions", table[i].partitions);
    }
    stage->sums[METRIC_SHUFFLE_READ_RECORDS] = 0;
}

/* 200 tasks had 96 MiB and spilled 212 MiB each: 200 x 308 / 96 = 641.67. */
static void test_spill(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseStage *stage = made_stage(&made);
    stage->tasks = stage->spilled_tasks = 200;
    stage->max_peak_bytes = 96 * MIB;
    stage->shuffle = made_spread(100 * MIB, 100 * MIB);
    stage->sums[METRIC_SHUFFLE_LOCAL_BYTES] = 200 * 100 * MIB;
    stage->sums[METRIC_MEMORY_SPILLED_BYTES] = 200 * 212 * MIB;
    stage->sums[METRIC_DISK_SPILLED_BYTES] = 200 * 50 * MIB;

    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *spill = finding_of(advice, "spill");
    g_assert_nonnull(spill);
    assert_change(spill, 0, "spark.sql.shuffle.partitions", "642");
    g_assert_cmpstr(change_of(spill, 0)->from, ==, "200");
    g_assert_false(change_of(spill, 0)->set);
    g_assert_cmpint(g_array_index(spill->stages, gint64, 0), ==, 7);
    /* 2 x 10,000 MiB of disk at 100 MiB/s, 42,400 MiB of memory at 125 MiB/s; at most 0.7 of the run time. */
    g_assert_cmpfloat_with_epsilon(spill->cost_ms, MIN(200000 + 339200, 0.7 * 360000), 1);

    /* A tenth of that is 20 s of disk and 33.92 s of work. Tasks that waited 10 s did not wait 20 for the disk. */
    for (TaskMetric metric = METRIC_MEMORY_SPILLED_BYTES; metric <= METRIC_DISK_SPILLED_BYTES; metric++)
        stage->sums[metric] /= 10;
    stage->sums[METRIC_SHUFFLE_LOCAL_BYTES] /= 10;
    assert_spill_cost(&made, 53920);
    stage->sums[METRIC_GC_MS] = 50000;
    stage->sums[METRIC_CPU_NS] = 300000.0 * NS_PER_MS;
    assert_spill_cost(&made, 33920 + 10000);
    stage->sums[METRIC_CPU_NS] =
        300000.0 * NS_PER_MS / 3; /* they worked for 150 s of 360: all takes 2.4 times as long */
    assert_spill_cost(&made, 2.4 * 33920);
    stage->sums[METRIC_SHUFFLE_FETCH_WAIT_MS] = 180000;
    assert_spill_cost(&made, 33920 + 20000); /* 1.2 times, and the disk, which is more */
    stage->sums[METRIC_SHUFFLE_FETCH_WAIT_MS] = 0;
    stage->sums[METRIC_SHUFFLE_WRITE_NS] = 180000.0 * NS_PER_MS;
    assert_spill_cost(&made, 33920 + 20000);
    stage->sums[METRIC_SHUFFLE_WRITE_NS] = 0;
    stage->sums[METRIC_OUTPUT_BYTES] = 1; /* it may have waited for files that it wrote */
    assert_spill_cost(&made, 33920 + 20000);
    stage->sums[METRIC_OUTPUT_BYTES] = 0;
    stage->python = TRUE;
    assert_spill_cost(&made, 33920 + 20000);
    stage->python = FALSE;
    stage->sql = FALSE;
    assert_spill_cost(&made, 33920 + 20000);
    stage->sql = TRUE;

    assert_pointers(&made, stage);

    /* 0.1 of the data is not spilled much. */
    stage->sums[METRIC_MEMORY_SPILLED_BYTES] = 0.1 * stage->sums[METRIC_SHUFFLE_LOCAL_BYTES];
    ASSERT_FINDS(made, "spill", FALSE);
    stage->sums[METRIC_MEMORY_SPILLED_BYTES] += 1;
    ASSERT_FINDS(made, "spill", TRUE);
}

/* Where AQE joined partitions, the key alone does nothing: they are to be smaller. 20 tasks of 100 MiB that had 50 and
 * spilled 50: 40 of 50 MiB. */
static void test_spill_adaptive(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.sql.adaptive.advisoryPartitionSizeInBytes", "128m");
    AdviseStage *stage = made_stage(&made);
    stage->tasks = stage->spilled_tasks = 20;
    stage->max_peak_bytes = 50 * MIB;
    stage->shuffle = made_spread(100 * MIB, 100 * MIB);
    stage->sums[METRIC_SHUFFLE_LOCAL_BYTES] = 20 * 100 * MIB;
    stage->sums[METRIC_MEMORY_SPILLED_BYTES] = 20 * 50 * MIB;
    stage->sums[METRIC_DISK_SPILLED_BYTES] = 20 * 20 * MIB;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *spill = finding_of(advice, "spill");
    g_assert_cmpuint(spill->changes->len, ==, 1);
    assert_change(spill, 0, "spark.sql.adaptive.advisoryPartitionSizeInBytes", "50m");

    /* What a task had is not known (0 in the log): more memory. */
    stage->max_peak_bytes = 0;
    g_autoptr(Advice) again = advise(made.facts, FALSE);
    assert_change(finding_of(again, "spill"), 0, "spark.executor.memory", "2048m");
}

/* Hosts that took 5 % of the task time: what the tasks took does not tell of the job. */
static void assert_not_beside_hosts(Made *made, const char *rule) {
    ASSERT_FINDS(*made, rule, TRUE);
    const AdviseNode node = {"d2", "datanode", "disk", 3, 0.05 * made->facts->task_ms, 3, 7};
    g_array_append_val(made->facts->nodes, node);
    ASSERT_FINDS(*made, rule, FALSE);
    g_array_set_size(made->facts->nodes, 0);
}

/* 2,000 tasks of 1 KiB, 60 ms around a run of 20 ms. 4 cores do with 4 tasks. */
static void test_many_partitions(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.sql.adaptive.enabled", "false");
    made_set(&made, "spark.sql.shuffle.partitions", "2000");
    AdviseStage *stage = made_stage(&made);
    stage->tasks = 2000;
    stage->shuffle = made_spread(1024, 2048);
    stage->run = made_spread(20, 40);
    stage->time = made_spread(80, 100);
    stage->sums[METRIC_SHUFFLE_REMOTE_BYTES] = 2000 * 1024;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *many = finding_of(advice, "many-partitions");
    assert_change(many, 0, "spark.sql.shuffle.partitions", "4");
    g_assert_cmpstr(change_of(many, 0)->from, ==, "2000");
    g_assert_true(change_of(many, 0)->set);
    g_assert_cmpfloat_with_epsilon(many->saves_ms, 1996 * (60 + 20 - 1024 / (10 * MIB / 1000)), 1);

    /* A few that wait long count with what they wait: 90 ms around a run of 30 ms in the mean. */
    stage->time.mean = 120;
    stage->run.mean = 30;
    g_autoptr(Advice) busy = advise(made.facts, FALSE);
    g_assert_cmpfloat_with_epsilon(finding_of(busy, "many-partitions")->saves_ms,
                                   1996 * (90 + 30 - 1024 / (10 * MIB / 1000)), 1);

    /* What of the run was garbage collection, 20 ms of 30, is no task's fixed cost: fewer would have it as well. */
    stage->sums[METRIC_GC_MS] = 2000 * 20;
    g_autoptr(Advice) collecting = advise(made.facts, FALSE);
    g_assert_cmpfloat_with_epsilon(finding_of(collecting, "many-partitions")->saves_ms,
                                   1996 * (90 + 10 - 1024 / (10 * MIB / 1000)), 1);
    stage->sums[METRIC_GC_MS] = 0;

    stage->shuffle = made_spread(8 * MIB, 8 * MIB); /* the limit: not small */
    ASSERT_FINDS(made, "many-partitions", FALSE);
    stage->shuffle = made_spread(8 * MIB - 1, 8 * MIB);
    ASSERT_FINDS(made, "many-partitions", TRUE);
    stage->shuffle = made_spread(1024, 4096); /* skewed: its greatest is to be cut, not to get company */
    stage->run = made_spread(20, 80);
    ASSERT_FINDS(made, "many-partitions", FALSE);
    stage->run = made_spread(20, 79);
    assert_not_beside_hosts(&made, "many-partitions");
    stage->attempt = 1; /* a stage tried again runs what is missing */
    ASSERT_FINDS(made, "many-partitions", FALSE);
}

static void test_few_partitions(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.sql.adaptive.enabled", "false");
    made_set(&made, "spark.sql.shuffle.partitions", "2");
    AdviseStage *stage = made_stage(&made);
    stage->tasks = 2;
    stage->task_ms = 180000;
    stage->shuffle = made_spread(512 * MIB, 512 * MIB);
    stage->sums[METRIC_SHUFFLE_REMOTE_BYTES] = 1024 * MIB;
    stage->time = made_spread(2000, 2000);
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *few = finding_of(advice, "few-partitions");
    assert_change(few, 0, "spark.sql.shuffle.partitions", "8"); /* 1 GiB / 128 MiB, and 2 x 4 cores */
    g_assert_cmpfloat_with_epsilon(few->saves_ms, 90000 * 4 - 180000, 1);

    AdviseStage other = {.stage = 8, .end_ms = 180000, .task_ms = 280000}; /* 140 s of the 180 that were idle */
    g_array_append_val(made.facts->stages, other);
    assert_cost(&made, "few-partitions", 40000);
    g_array_index(made.facts->stages, AdviseStage, 1).task_ms = 360000;
    ASSERT_FINDS(made, "few-partitions", FALSE);
    g_array_set_size(made.facts->stages, 1);
    stage = made_stage(&made);

    stage->time = made_spread(1999, 1999);
    ASSERT_FINDS(made, "few-partitions", FALSE);
    stage->shuffle = made_spread(512 * MIB + 1, 512 * MIB + 1);
    ASSERT_FINDS(made, "few-partitions", TRUE);
    stage->shuffle = made_spread(512 * MIB, 512 * MIB);
    stage->time = made_spread(2000, 2000);
    made.pairs[1].value = "200"; /* fewer than that is the code's doing, and no reason to lower the key */
    g_autoptr(Advice) code = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(code, "few-partitions")->changes->len, ==, 0);
    g_assert_nonnull(strstr(finding_of(code, "few-partitions")->advice, "make it 8 there"));
    stage->tasks = 3; /* more than half of the cores */
    ASSERT_FINDS(made, "few-partitions", FALSE);
}

static void test_small_input(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.sql.files.maxPartitionBytes", "1048576");
    AdviseStage *stage = made_stage(&made);
    stage->tasks = 200;
    stage->input = made_spread(MIB, MIB);
    stage->run = made_spread(300, 400);
    stage->time = made_spread(340, 500);
    stage->sums[METRIC_INPUT_BYTES] = 200 * MIB;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *small = finding_of(advice, "small-input");
    assert_change(small, 0, "spark.sql.files.maxPartitionBytes", "128m");
    g_assert_cmpfloat_with_epsilon(small->saves_ms, 196 * (40 + 50), 1); /* a fixed 50 ms at most */
    assert_not_beside_hosts(&made, "small-input");

    stage->input = made_spread(16 * MIB, 16 * MIB);
    ASSERT_FINDS(made, "small-input", FALSE);
    stage->input = made_spread(16 * MIB - 1, 16 * MIB);
    ASSERT_FINDS(made, "small-input", TRUE);
    stage->tasks = 23; /* 19 fewer are not worth it */
    ASSERT_FINDS(made, "small-input", FALSE);

    /* With the size at its default it is the cost of opening; RDDs have no key. */
    stage->tasks = 200;
    made.pairs[0].value = "128MB";
    g_autoptr(Advice) open = advise(made.facts, FALSE);
    assert_change(finding_of(open, "small-input"), 0, "spark.sql.files.openCostInBytes", "1m");
    stage->sql = FALSE;
    g_autoptr(Advice) rdd = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(rdd, "small-input")->changes->len, ==, 0);
}

/* ---- memory ---- */

static void test_memory(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.executor.memory", "4g");
    AdviseExecutor *executor = &g_array_index(made.facts->executors, AdviseExecutor, 1);
    executor->heap_peak_bytes = 2047 * MIB; /* below the half; 2,859 MiB would do, a change */
    g_autoptr(Advice) low = advise(made.facts, FALSE);
    assert_change(finding_of(low, "memory"), 0, "spark.executor.memory", "2859m");
    executor->heap_peak_bytes = 2048 * MIB;
    ASSERT_FINDS(made, "memory", FALSE);

    executor->heap_peak_bytes = 0.9 * 4096 * MIB;
    g_autoptr(Advice) full = advise(made.facts, TRUE);
    g_assert_null(finding_of(full, "memory"));
    executor->heap_peak_bytes = 0.901 * 4096 * MIB;
    g_autoptr(Advice) high = advise(made.facts, TRUE);
    assert_change(finding_of(high, "memory"), 0, "spark.executor.memory", "4914m");
    g_assert_cmpuint(high->unknown->len, ==, 0);

    /* Never more than what is asked for, and no change of little: 300 x 1.25 + 300 of 800 MiB. */
    made.pairs[0].value = "800m";
    executor->heap_peak_bytes = 300 * MIB;
    ASSERT_FINDS(made, "memory", FALSE);
}

/* 1 GiB of heap and 384 MiB beside it: a container of 1408 MiB. 0.9 of 384 are 345.6. */
static void test_overhead(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseExecutor *executor = &g_array_index(made.facts->executors, AdviseExecutor, 1);
    executor->resident_bytes = (1024 + 345.6) * MIB;
    ASSERT_FINDS(made, "memory", FALSE);
    executor->resident_bytes = (1024 + 400) * MIB;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    assert_change(finding_of(advice, "memory"), 0, "spark.executor.memoryOverhead", "500m");
    made_set(&made, "spark.executor.memoryOverhead", "1g");
    ASSERT_FINDS(made, "memory", FALSE);
}

/* A container has what was asked for off the heap and for Python, too. */
static void test_overhead_beside_off_heap(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseExecutor *executor = &g_array_index(made.facts->executors, AdviseExecutor, 1);
    executor->resident_bytes = (1024 + 8192 + 512 + 345) * MIB;
    made_set(&made, "spark.memory.offHeap.size", "8g");
    made_set(&made, "spark.executor.pyspark.memory", "512m");
    ASSERT_FINDS(made, "memory", TRUE); /* not enabled */
    made_set(&made, "spark.memory.offHeap.enabled", "true");
    ASSERT_FINDS(made, "memory", FALSE);
    executor->resident_bytes += 55 * MIB;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    assert_change(finding_of(advice, "memory"), 0, "spark.executor.memoryOverhead", "500m");
}

static void test_gc(void) {
    g_auto(Made) made;
    made_init(&made);
    made.facts->gc_ms = made_stage(&made)->sums[METRIC_GC_MS] = 36000; /* 0.1 of the run time: reached */
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *gc = finding_of(advice, "gc");
    assert_change(gc, 0, "spark.executor.memory", "1536m");
    g_assert_cmpfloat_with_epsilon(gc->saves_ms, 36000 - 18000, 1);
    g_assert_cmpuint(finding_severity(gc), ==, SEVERITY_MODERATE);
    g_assert_cmpuint(gc->evidence->len, ==, 1); /* whose it is, the log does not say */
    AdviseExecutor *executors = &g_array_index(made.facts->executors, AdviseExecutor, 0);
    executors[0].gc_ms = 6000, executors[0].run_ms = 180000;
    executors[1].gc_ms = 30000, executors[1].run_ms = 175000, executors[1].host = "w2";
    g_autoptr(Advice) whose = advise(made.facts, FALSE);
    g_assert_cmpstr(g_ptr_array_index(finding_of(whose, "gc")->evidence, 1), ==,
                    "of 2 executors executor 1 on w2 had most: 30.0 s of 175.0 s that its tasks ran");
    made.facts->gc_ms = 35999;
    ASSERT_FINDS(made, "gc", FALSE);
}

static void test_cache(void) {
    g_auto(Made) made;
    made_init(&made);
    const AdviseCached cached = {12, "words", "memory", 1, 7};
    g_array_append_val(made.facts->cached, cached);
    g_autoptr(Advice) advice = advise(made.facts, TRUE);
    g_assert_nonnull(strstr(finding_of(advice, "cache")->what, "RDD 12 (words)"));
    g_array_index(made.facts->cached, AdviseCached, 0).stages = 2;
    g_autoptr(Advice) used = advise(made.facts, TRUE);
    g_assert_null(finding_of(used, "cache"));
}

/* ---- the cluster ---- */

static void test_idle(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.executor.instances", "2");
    made.facts->run_ms = 280000; /* 0.3 of 400,000 is idle: reached */
    made.facts->most_tasks = 2;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    assert_change(finding_of(advice, "idle"), 0, "spark.executor.instances", "1");
    made.app.properties.n--; /* of a cluster that was told no number */
    g_autoptr(Advice) untold = advise(made.facts, FALSE);
    g_assert_cmpstr(finding_of(untold, "idle")->advice, ==, "Ask for 1 executor of 2 cores.");
    made.app.properties.n++;
    made.facts->run_ms = 280001;
    ASSERT_FINDS(made, "idle", FALSE);
    made_set(&made, "spark.task.cpus", "2"); /* held in cores, run in tasks of two: all of it was used */
    made.facts->run_ms = 190000;
    ASSERT_FINDS(made, "idle", FALSE);
    made.app.properties.n--;
    made.facts->run_ms = 280000;
    made.facts->end_ms = 59999; /* the start is most of it */
    ASSERT_FINDS(made, "idle", FALSE);
    made.facts->end_ms = 100000;
    made_set(&made, "spark.master", "local[4]"); /* one JVM: no executor can go */
    made.facts->most_tasks = 9;
    g_autoptr(Advice) local = advise(made.facts, FALSE);
    const Finding *idle = finding_of(local, "idle");
    g_assert_cmpuint(idle->changes->len, ==, 0);
    g_assert_nonnull(strstr(idle->advice, "local[N]"));
    g_assert_cmpstr(g_ptr_array_index(idle->evidence, 1), ==, "4 tasks could run at once; 4 did at most");
    made_set(&made, "spark.master", "yarn");
    made.facts->most_tasks = 2;

    /* Slow hosts held them up: it is not the job. */
    made.facts->end_ms = 100000;
    const AdviseNode node = {"d2", "datanode", "disk", 3, 18000, 3, 7};
    g_array_append_val(made.facts->nodes, node);
    g_autoptr(Advice) host = advise(made.facts, FALSE);
    g_assert_null(finding_of(host, "idle"));
    const Finding *blamed = finding_of(host, "node");
    g_assert_true(blamed->node);
    g_assert_cmpuint(blamed->changes->len, ==, 0);
    g_assert_cmpuint(advice_severity(host), ==, SEVERITY_NONE); /* no doing of the job's */
    g_array_index(made.facts->nodes, AdviseNode, 0).explains_ms = 17999;
    ASSERT_FINDS(made, "idle", TRUE);
}

/* An executor that got no more tasks stood idle for its failures: only the other's idle time is the job's. */
static void test_idle_beside_exclusions(void) {
    g_auto(Made) made;
    made_init(&made);
    made.facts->run_ms = 230000; /* 0.425 of 400,000 is idle */
    made.facts->most_tasks = 2;
    made_set(&made, "spark.executor.instances", "2");
    ASSERT_FINDS(made, "idle", TRUE);
    g_array_index(made.facts->executors, AdviseExecutor, 0).host = "w1";
    const SparkExclusion stage = {.executor = "0", .stage = 7, .time_ms = 10000, .back_ms = -1, .failures = 2};
    g_array_append_val(made.facts->exclusions, stage); /* while that runs, 80 s of two cores: 10,000 of 240,000 */
    SparkExclusion *first = &g_array_index(made.facts->exclusions, SparkExclusion, 0);
    ASSERT_FINDS(made, "idle", FALSE);
    first->time_ms = 46000; /* 44 s: 82,000 of 312,000 */
    ASSERT_FINDS(made, "idle", FALSE);
    first->time_ms = 80000; /* 10 s: 150,000 of 380,000 */
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "idle");
    g_assert_cmpfloat(finding->cost_ms, ==, 150000);
    g_assert_cmpfloat_with_epsilon(finding->share, 150.0 / 380, 1e-9);
    g_assert_nonnull(strstr(g_ptr_array_index(finding->evidence, 2), "20 core-seconds of it are left out"));
    g_assert_cmpuint(finding->changes->len, ==, 0); /* fewer executors would not do */

    const SparkExclusion host = {.host = "w1", .stage = -1, .time_ms = 85000, .back_ms = 95000, .failures = 1};
    g_array_append_val(made.facts->exclusions, host); /* 5 s more: what is both counts once */
    g_autoptr(Advice) both = advise(made.facts, FALSE);
    g_assert_cmpfloat(finding_of(both, "idle")->cost_ms, ==, 140000);
    g_array_index(made.facts->exclusions, SparkExclusion, 1).host = "w2";
    g_autoptr(Advice) other = advise(made.facts, FALSE);
    g_assert_cmpfloat(finding_of(other, "idle")->cost_ms, ==, 150000);
}

static void test_driver(void) {
    g_auto(Made) made;
    made_init(&made);
    const AdviseJob jobs[] = {{.job = 1, .begin_ms = 1000, .end_ms = 5000},
                              {.job = 2, .begin_ms = 40000, .end_ms = 90000}};
    g_array_append_vals(made.facts->jobs, jobs, 2);
    made.facts->quiet_ms = 30000;
    made.facts->quiet_held_ms = 70000; /* an executor came later */
    made.facts->gap_begin_ms = 5000;
    made.facts->gap_end_ms = 35000;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *driver = finding_of(advice, "driver");
    g_assert_nonnull(strstr(g_ptr_array_index(driver->evidence, 0), "between job 1 and job 2"));
    g_assert_cmpfloat_with_epsilon(driver->cost_ms, 70000, 1);
    made.facts->held_ms = made.facts->quiet_held_ms = 0; /* no executor's cores are known: those that tasks had */
    assert_cost(&made, "driver", 30000 * 4);
    made.facts->quiet_ms = 29999;
    ASSERT_FINDS(made, "driver", FALSE);
}

static void test_locality(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseStage *stage = made_stage(&made);
    stage->tasks = 400;
    stage->local = 360;
    stage->time = made_spread(500, 2000);
    stage->task_ms = 0.9 * 90000 * 4;
    ASSERT_FINDS(made, "locality", FALSE); /* 0.1 is idle: not more */
    stage->task_ms -= 5000;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    assert_change(finding_of(advice, "locality"), 0, "spark.locality.wait", "0s");
    const SparkExclusion exclusion = {.executor = "1", .stage = -1, .time_ms = 50000, .back_ms = -1};
    g_array_append_val(made.facts->exclusions, exclusion);
    ASSERT_FINDS(made, "locality", FALSE); /* cores were idle for their failures */
    g_array_set_size(made.facts->exclusions, 0);
    stage->local = 359;
    ASSERT_FINDS(made, "locality", FALSE);
    stage->local = 360;
    made_set(&made, "spark.locality.wait", "0");
    ASSERT_FINDS(made, "locality", FALSE); /* tried already */
}

static void test_allocation(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.dynamicAllocation.enabled", "true");
    ASSERT_FINDS(made, "allocation", FALSE); /* shuffles are tracked since 3.4 */
    made.app.version = "3.3.2";
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    assert_change(finding_of(advice, "allocation"), 0, "spark.dynamicAllocation.shuffleTracking.enabled", "true");
    made_set(&made, "spark.shuffle.service.enabled", "true");
    ASSERT_FINDS(made, "allocation", FALSE);
    made_set(&made, "spark.shuffle.service.enabled", "false");

    /* Executors that hand their blocks on when they go, or shuffles that are kept elsewhere. */
    made_set(&made, "spark.decommission.enabled", "true");
    ASSERT_FINDS(made, "allocation", TRUE);
    made_set(&made, "spark.storage.decommission.shuffleBlocks.enabled", "true");
    ASSERT_FINDS(made, "allocation", FALSE);
    made_set(&made, "spark.decommission.enabled", "false");
    made_set(&made, "spark.shuffle.manager", "sort");
    ASSERT_FINDS(made, "allocation", TRUE);
    made_set(&made, "spark.shuffle.manager", "org.apache.spark.shuffle.celeborn.SparkShuffleManager");
    ASSERT_FINDS(made, "allocation", FALSE);
    made_set(&made, "spark.shuffle.manager", "org.apache.spark.shuffle.sort.SortShuffleManager");
    made_set(&made, "spark.shuffle.sort.io.plugin.class", "org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO");
    ASSERT_FINDS(made, "allocation", TRUE);
    made_set(&made, "spark.shuffle.sort.io.plugin.class", "com.example.RemoteShuffleDataIO");
    ASSERT_FINDS(made, "allocation", FALSE);
}

static void test_serializer(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseStage *stage = made_stage(&made);
    stage->sums[METRIC_SHUFFLE_WRITE_BYTES] = 100 * MIB;
    stage->sums[METRIC_SHUFFLE_WRITE_NS] = 18000e6; /* 0.05 of the run time: reached */
    ASSERT_FINDS(made, "serializer", FALSE);        /* SQL has a form of its own */
    stage->sql = FALSE;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    assert_change(finding_of(advice, "serializer"), 0, "spark.serializer",
                  "org.apache.spark.serializer.KryoSerializer");
    stage->sums[METRIC_SHUFFLE_WRITE_NS] = 17999e6;
    ASSERT_FINDS(made, "serializer", FALSE);
    stage->sums[METRIC_SHUFFLE_WRITE_NS] = 18000e6;
    made_set(&made, "spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    ASSERT_FINDS(made, "serializer", FALSE);
}

static void test_failures(void) {
    static const struct {
        const char *reason;
        TaskStatus status;
        FailureClass expected;
    } table[] = {
        {"FetchFailed: org.apache.spark.shuffle.FetchFailedException", TASK_FAILED, FAILURE_FETCH},
        {"java.lang.OutOfMemoryError: Java heap space", TASK_FAILED, FAILURE_MEMORY},
        {"ExecutorLostFailure: Container killed by YARN for exceeding memory limits. 1.5 GB", TASK_LOST,
         FAILURE_MEMORY},
        {"ExecutorLostFailure: Container marked as failed. exit status: 143", TASK_LOST, FAILURE_MEMORY},
        {"ExecutorLostFailure: Container from a bad node. exit code 137", TASK_LOST, FAILURE_MEMORY},
        {"ExecutorLostFailure: Container was preempted", TASK_LOST, FAILURE_PREEMPTED},
        {"ExecutorLostFailure: worker lost", TASK_LOST, FAILURE_HOST},
        {"java.io.IOException: no", TASK_FAILED, FAILURE_CODE},
        {NULL, TASK_FAILED, FAILURE_CODE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(table); i++)
        g_assert_cmpint(failure_class(table[i].reason, table[i].status), ==, table[i].expected);

    g_auto(Made) made;
    made_init(&made);
    made.facts->failures[FAILURE_MEMORY] = (AdviseFailure){2, 500, 9, 7, "ExecutorLostFailure: memory limits"};
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    assert_change(finding_of(advice, "failures"), 0, "spark.executor.memoryOverhead", "1408m"); /* 384 MiB + 1 GiB */
    made.facts->failures[FAILURE_MEMORY].reason = "java.lang.OutOfMemoryError: Java heap space";
    g_autoptr(Advice) heap = advise(made.facts, FALSE);
    assert_change(finding_of(heap, "failures"), 0, "spark.executor.memory", "1536m");
    made.facts->failures[FAILURE_MEMORY].reason = "ExecutorLostFailure: Command exited with code 52"; /* Spark's own */
    g_autoptr(Advice) ended = advise(made.facts, FALSE);
    assert_change(finding_of(ended, "failures"), 0, "spark.executor.memory", "1536m");

    made.facts->failures[FAILURE_MEMORY].reason = "ExecutorLostFailure: memory limits";
    made_set(&made, "spark.executor.memory", "10g");
    made_set(&made, "spark.executor.memoryOverheadFactor", "0.4"); /* 4 GiB are there already */
    g_autoptr(Advice) more = advise(made.facts, FALSE);
    assert_change(finding_of(more, "failures"), 0, "spark.executor.memoryOverhead", "5120m");
}

/* Each of a loop's stages costs 1.9 % and is not told alone; together they are. */
static void test_many_small(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.sql.adaptive.enabled", "false");
    made_set(&made, "spark.sql.shuffle.partitions", "94");
    AdviseStage *stage = made_stage(&made);
    stage->tasks = 94;
    stage->shuffle = made_spread(1024, 2048);
    stage->run = made_spread(20, 40);
    stage->time = made_spread(72, 100);
    stage->sums[METRIC_SHUFFLE_REMOTE_BYTES] = 94 * 1024;
    ASSERT_FINDS(made, "many-partitions", FALSE);

    AdviseStage same = *stage;
    for (same.stage = 8; same.stage < 17; same.stage++) g_array_append_val(made.facts->stages, same);
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *many = finding_of(advice, "many-partitions");
    g_assert_nonnull(many);
    assert_change(many, 0, "spark.sql.shuffle.partitions", "4");
    g_assert_cmpfloat_with_epsilon(many->share, 10 * 90 * (52 + 20 - 0.1) / 360000, 0.001);
    g_assert_cmpuint(finding_severity(many), ==, SEVERITY_MODERATE);
    g_assert_cmpuint(advice->findings->len, ==, 1);
}

/* ---- all together ---- */

/* Two findings want the memory: the one that costs more sets it. */
/* ---- queries ---- */

/* 40 MiB joined with 4,000: the threshold is 1.25 x 40; 2 x 4,040 MiB at 250 MiB/s. */
static void test_broadcast(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseJoin join = {.name = "SortMergeJoin", .query = 3, .stage = 7, .broadcasts = TRUE};
    join.small_bytes = 40 * MIB, join.large_bytes = 4000 * MIB;
    g_array_append_val(made.facts->joins, join);
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "broadcast");
    g_assert_nonnull(finding);
    assert_change(finding, 0, "spark.sql.autoBroadcastJoinThreshold", "50m");
    g_assert_cmpstr(change_of(finding, 0)->from, ==, "10MB");
    g_assert_cmpfloat_with_epsilon(finding->cost_ms, 2 * 4040 / 0.25, 1);

    AdviseJoin *only = &g_array_index(made.facts->joins, AdviseJoin, 0);
    only->small_bytes = 64 * MIB;
    ASSERT_FINDS(made, "broadcast", TRUE);
    only->small_bytes = 64 * MIB + 1;
    ASSERT_FINDS(made, "broadcast", FALSE);
    only->small_bytes = 40 * MIB, only->large_bytes = 160 * MIB - 1; /* not four times as large */
    g_autoptr(Advice) all = advise(made.facts, TRUE);
    g_assert_null(finding_of(all, "broadcast"));
    only->large_bytes = 4000 * MIB, only->broadcasts = FALSE; /* a full outer join */
    ASSERT_FINDS(made, "broadcast", FALSE);
}

/* 1,000 files of 1 MiB in 8 tasks that ran 360 s: 100 s for the bytes, at most 20 ms a file. */
static void test_small_files(void) {
    g_auto(Made) made;
    made_init(&made);
    made_stage(&made)->sums[METRIC_INPUT_BYTES] = 1000 * MIB;
    AdviseScan scan = {.name = "Scan parquet orders", .stage = 7, .files = 1000, .bytes = 1000 * MIB, .partitions = -1};
    scan.kept = scan.rows = -1;
    g_array_append_val(made.facts->scans, scan);
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "small-files");
    g_assert_nonnull(finding);
    g_assert_cmpfloat_with_epsilon(finding->cost_ms, 20000, 1);
    g_assert_cmpfloat_with_epsilon(finding->saves_ms, 20000 * (1 - 8 / 1000.0), 1);
    g_assert_cmpuint(finding->changes->len, ==, 0);

    AdviseScan *only = &g_array_index(made.facts->scans, AdviseScan, 0);
    only->bytes = 16.0 * 1000 * MIB; /* large enough */
    ASSERT_FINDS(made, "small-files", FALSE);
    only->bytes = 1000 * MIB, only->files = 199;
    ASSERT_FINDS(made, "small-files", FALSE);
    only->files = 1000, made_stage(&made)->tasks = 251; /* the tasks are small: small-input tells of it */
    ASSERT_FINDS(made, "small-files", FALSE);
}

/* Read whole, and a filter keeps a twentieth of it. */
static void test_partition_filter(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseScan scan = {.name = "Scan parquet orders", .stage = 7, .partitions = 365, .rows = 1000, .kept = 50};
    g_array_append_val(made.facts->scans, scan);
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Finding *finding = finding_of(advice, "partition-filter");
    g_assert_nonnull(finding);
    g_assert_cmpfloat_with_epsilon(finding->cost_ms, 0.95 * 360000, 1);

    AdviseScan *only = &g_array_index(made.facts->scans, AdviseScan, 0);
    only->kept = 100;
    ASSERT_FINDS(made, "partition-filter", TRUE);
    only->kept = 101;
    ASSERT_FINDS(made, "partition-filter", FALSE);
    only->kept = 50, only->by_partition = TRUE;
    ASSERT_FINDS(made, "partition-filter", FALSE);
    only->by_partition = FALSE, only->partitions = 1;
    ASSERT_FINDS(made, "partition-filter", FALSE);
    only->partitions = 365, only->kept = -1; /* not known */
    ASSERT_FINDS(made, "partition-filter", FALSE);
}

/* What the program sets is what counts, and spark-submit cannot change it. */
static void test_program(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.sql.autoBroadcastJoinThreshold", "1g");
    AdviseJoin join = {.name = "SortMergeJoin", .query = 3, .stage = 7, .broadcasts = TRUE};
    join.small_bytes = 40 * MIB, join.large_bytes = 4000 * MIB;
    g_array_append_val(made.facts->joins, join);
    g_autoptr(Advice) allowed = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(allowed, "broadcast")->changes->len, ==, 0); /* the threshold is not what keeps it */
    g_array_index(made.facts->joins, AdviseJoin, 0).threshold = "-1";
    g_autoptr(Advice) of_query = advise(made.facts, FALSE);
    g_assert_cmpuint(finding_of(of_query, "broadcast")->changes->len, ==, 0);
    g_assert_nonnull(strstr(finding_of(of_query, "broadcast")->advice, "to -1 for it: leave that out, or set 50 MiB"));
    g_array_set_size(made.facts->joins, 0);

    /* 8 partitions by the program: its own number is what counts, and --conf does not have it. */
    const SparkPair own = {"spark.sql.shuffle.partitions", "8"};
    g_array_append_val(made.facts->program, own);
    AdviseStage *stage = made_stage(&made);
    stage->spilled_tasks = 8;
    stage->max_peak_bytes = 96 * MIB;
    stage->shuffle = made_spread(100 * MIB, 100 * MIB);
    stage->sums[METRIC_SHUFFLE_LOCAL_BYTES] = 8 * 100 * MIB;
    stage->sums[METRIC_MEMORY_SPILLED_BYTES] = 8 * 96 * MIB;
    stage->sums[METRIC_DISK_SPILLED_BYTES] = 8 * 50 * MIB;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    const Change *change = change_of(finding_of(advice, "spill"), 0);
    g_assert_cmpstr(change->from, ==, "8");
    g_assert_cmpstr(change->to, ==, "16");
    g_assert_true(change->program);
    g_autoptr(GPtrArray) changes = advice_changes(advice);
    g_assert_cmpuint(changes->len, ==, 0);
}

static void test_conflict(void) {
    g_auto(Made) made;
    made_init(&made);
    AdviseStage *stage = made_stage(&made);
    made.facts->gc_ms = stage->sums[METRIC_GC_MS] = 36000;
    stage->spilled_tasks = 8;
    stage->sums[METRIC_MEMORY_SPILLED_BYTES] = 100000 * MIB;
    g_autoptr(Advice) advice = advise(made.facts, FALSE);
    g_assert_cmpstr(((Finding *)g_ptr_array_index(advice->findings, 0))->rule, ==, "spill");
    g_assert_false(change_of(finding_of(advice, "spill"), 0)->conflict);
    g_assert_true(change_of(finding_of(advice, "gc"), 0)->conflict);
    g_autoptr(GPtrArray) changes = advice_changes(advice);
    g_assert_cmpuint(changes->len, ==, 1);
    g_assert_cmpstr(((Change *)g_ptr_array_index(changes, 0))->to, ==, "2048m");
    g_assert_cmpuint(advice_severity(advice), ==, SEVERITY_CRITICAL);
}

static void test_settings(void) {
    g_auto(Made) made;
    made_init(&made);
    g_assert_cmpfloat(bytes_parse("512m", 1), ==, 512 * MIB);
    g_assert_cmpfloat(bytes_parse("1.5g", 1), ==, 1536 * MIB);
    g_assert_cmpfloat(bytes_parse("64MB", 1), ==, 64 * MIB);
    g_assert_cmpfloat(bytes_parse("64 MiB", 1), ==, 64 * MIB);
    g_assert_cmpfloat(bytes_parse("100b", 1), ==, 100);
    g_assert_cmpfloat(bytes_parse("100", MIB), ==, 100 * MIB);
    static const char *const malformed[] = {"", "m", "-1m", "1x", "1mm", "1e999", "nan", "1 2", NULL};
    for (guint i = 0; malformed[i] != NULL; i++) g_assert_cmpfloat(bytes_parse(malformed[i], 1), ==, -1);
    g_assert_cmpfloat(bytes_parse(NULL, 1), ==, -1);
    g_assert_cmpfloat(time_parse_ms("3s"), ==, 3000);
    g_assert_cmpfloat(time_parse_ms("300"), ==, 300);
    g_assert_cmpfloat(time_parse_ms("2min"), ==, 120000);
    g_assert_cmpfloat(time_parse_ms("soon"), ==, -1);

    /* Defaults go with the version. */
    g_assert_true(advise_flag(made.facts, "spark.sql.adaptive.enabled"));
    made.app.version = "3.1.3";
    g_assert_false(advise_flag(made.facts, "spark.sql.adaptive.enabled"));
    g_assert_cmpstr(advise_setting(made.facts, "spark.memory.fraction"), ==, "0.6");
    made.app.version = "1.6.3";
    g_assert_cmpstr(advise_setting(made.facts, "spark.memory.fraction"), ==, "0.75");
    g_assert_null(advise_setting(made.facts, "spark.executor.instances"));
    made.app.version = NULL;
    g_assert_true(advise_since(made.facts, 9, 9));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advise/healthy", test_healthy);
    g_test_add_func("/advise/well", test_well);
    g_test_add_func("/advise/spill", test_spill);
    g_test_add_func("/advise/spill-adaptive", test_spill_adaptive);
    g_test_add_func("/advise/many-partitions", test_many_partitions);
    g_test_add_func("/advise/few-partitions", test_few_partitions);
    g_test_add_func("/advise/small-input", test_small_input);
    g_test_add_func("/advise/memory", test_memory);
    g_test_add_func("/advise/overhead", test_overhead);
    g_test_add_func("/advise/overhead-off-heap", test_overhead_beside_off_heap);
    g_test_add_func("/advise/gc", test_gc);
    g_test_add_func("/advise/cache", test_cache);
    g_test_add_func("/advise/idle", test_idle);
    g_test_add_func("/advise/idle/exclusions", test_idle_beside_exclusions);
    g_test_add_func("/advise/driver", test_driver);
    g_test_add_func("/advise/locality", test_locality);
    g_test_add_func("/advise/allocation", test_allocation);
    g_test_add_func("/advise/serializer", test_serializer);
    g_test_add_func("/advise/failures", test_failures);
    g_test_add_func("/advise/many-small", test_many_small);
    g_test_add_func("/advise/broadcast", test_broadcast);
    g_test_add_func("/advise/small-files", test_small_files);
    g_test_add_func("/advise/partition-filter", test_partition_filter);
    g_test_add_func("/advise/program", test_program);
    g_test_add_func("/advise/conflict", test_conflict);
    g_test_add_func("/advise/settings", test_settings);
    return g_test_run();
}
