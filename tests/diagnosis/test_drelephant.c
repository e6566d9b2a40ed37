/* Dr. Elephant's table: every limit in both directions, and what its code did wrong is right here. */
#include "analyzer/diagnosis/advise/drelephant.h"

#include <math.h>
#include <string.h>

#include "tests/diagnosis/made_facts.h"

static const ElephantRow *row_of(const Elephant *elephant, const char *rule) {
    for (guint i = 0; i < elephant->rows->len; i++) {
        const ElephantRow *row = &g_array_index(elephant->rows, ElephantRow, i);
        if (strcmp(row->rule, rule) == 0) return row;
    }
    g_assert_not_reached();
}

static Elephant *made_judged(const Made *made) {
    ElephantLimits limits;
    elephant_limits_init(&limits);
    return elephant_judge(made->facts, &limits);
}

static void assert_rule(const Made *made, const char *rule, Severity expected) {
    g_autoptr(Elephant) elephant = made_judged(made);
    g_assert_cmpuint(row_of(elephant, rule)->severity, ==, expected);
}

static void assert_note(const Made *made, const char *rule, const char *note) {
    g_autoptr(Elephant) elephant = made_judged(made);
    g_assert_cmpstr(row_of(elephant, rule)->note, ==, note);
}

static void test_settings(void) {
    g_auto(Made) made;
    made_plain(&made);
    assert_rule(&made, "serializer", SEVERITY_MODERATE);
    made_set(&made, "spark.serializer", "org.apache.spark.serializer.JavaSerializer");
    assert_rule(&made, "serializer", SEVERITY_MODERATE);
    made_set(&made, "spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    assert_rule(&made, "serializer", SEVERITY_NONE);

    assert_rule(&made, "shuffle service", SEVERITY_MODERATE);
    made_set(&made, "spark.dynamicAllocation.enabled", "true");
    assert_rule(&made, "shuffle service", SEVERITY_SEVERE);
    made_set(&made, "spark.shuffle.service.enabled", "true");
    assert_rule(&made, "shuffle service", SEVERITY_NONE);

    made_set(&made, "spark.dynamicAllocation.minExecutors", "1");
    made_set(&made, "spark.dynamicAllocation.maxExecutors", "900");
    assert_rule(&made, "minExecutors", SEVERITY_NONE);
    assert_rule(&made, "maxExecutors", SEVERITY_NONE);
    made_set(&made, "spark.dynamicAllocation.minExecutors", "2");
    made_set(&made, "spark.dynamicAllocation.maxExecutors", "901");
    assert_rule(&made, "minExecutors", SEVERITY_CRITICAL);
    assert_rule(&made, "maxExecutors", SEVERITY_CRITICAL);
    made_set(&made, "spark.yarn.secondary.jars", "a.jar");
    assert_rule(&made, "jars with *", SEVERITY_NONE);
    made_set(&made, "spark.yarn.secondary.jars", "lib/*");
    assert_rule(&made, "jars with *", SEVERITY_CRITICAL);
}

/* Values on the limits and just below them, LOW to CRITICAL. */
static void test_limits(void) {
    static const struct {
        const char *key, *rule, *at[4], *below[4];
    } table[] = {
        {"spark.executor.memory",
         "executor memory",
         {"10g", "15g", "20g", "25g"},
         {"10239m", "15359m", "20479m", "25599m"}},
        {"spark.executor.cores", "executor cores", {"4", "6", "8", "10"}, {"3", "5", "7", "9"}},
        {"spark.executor.memoryOverhead",
         "executor overhead",
         {"2g", "4g", "6g", "8g"},
         {"2047", "4095m", "6143m", "8191m"}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(table); i++)
        for (guint k = 0; k < 4; k++) {
            g_auto(Made) made;
            made_plain(&made);
            made_set(&made, table[i].key, table[i].at[k]);
            assert_rule(&made, table[i].rule, (Severity)(k + 1));
            made_set(&made, table[i].key, table[i].below[k]);
            assert_rule(&made, table[i].rule, (Severity)k);
        }
}

/* A node of 16 cores and 64 GiB. Executors of 4 cores and 32 GiB: (16/4) / (64/32) = 2. */
static void test_resource_skew(void) {
    static const struct {
        const char *cores, *memory;
        Severity expected;
        const char *note;
    } table[] = {
        {"4", "32g", SEVERITY_CRITICAL, "corrected: 4,"}, /* 32 + 3.2 GiB fit once */
        {"4", "20g", SEVERITY_LOW, "corrected: 2,"},      /* 4 / 3.2 = 1.25; 22 GiB fit twice */
        {"4", "20479m", SEVERITY_NONE, "corrected: 2,"},  {"4", "24g", SEVERITY_MODERATE, "corrected: 2,"},
        {"4", "28g", SEVERITY_SEVERE, "corrected: 2,"},   {"4", "14g", SEVERITY_NONE, "corrected: 1,"},
        {"8", "14g", SEVERITY_NONE, "corrected: 2,"}, /* 0.44 is as bad as 2.3: cores lack */
        {"32", "4g", SEVERITY_NONE, "no executor fits"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        g_auto(Made) made;
        made_plain(&made);
        made_set(&made, "yarn.nodemanager.resource.cpu-vcores", "16");
        made_set(&made, "yarn.nodemanager.resource.memory-mb", "65536");
        made_set(&made, "spark.executor.cores", table[i].cores);
        made_set(&made, "spark.executor.memory", table[i].memory);
        g_autoptr(Elephant) elephant = made_judged(&made);
        const ElephantRow *row = row_of(elephant, "resource skew");
        g_assert_cmpuint(row->severity, ==, table[i].expected);
        g_assert_nonnull(strstr(row->note, table[i].note));
    }
    g_auto(Made) made;
    made_plain(&made);
    made_set(&made, "spark.executor.cores", "4");
    made_set(&made, "yarn.nodemanager.resource.memory-mb", "-1"); /* seen in logs of 4.3 */
    g_autoptr(Elephant) elephant = made_judged(&made);
    g_assert_false(row_of(elephant, "resource skew")->known);
}

static void put_inputs(Made *made, const double *inputs, guint n) {
    g_array_set_size(made->facts->executors, 0);
    for (guint i = 0; i < n; i++) {
        const AdviseExecutor executor = {.id = "1", .input_bytes = inputs[i], .cores = 1};
        g_array_append_val(made->facts->executors, executor);
    }
}

/* Index n times q: of four, the median is the third. */
static void test_spreads(void) {
    static const struct {
        double inputs[4];
        guint n;
        Severity expected;
    } table[] = {
        {{0, 0, 0, 100 * MIB - 1}, 4, SEVERITY_NONE}, /* too little to matter */
        {{0, 0, 0, 100 * MIB}, 4, SEVERITY_CRITICAL}, /* the median is 0 */
        {{1, 1, 149 * MIB, 200 * MIB}, 4, SEVERITY_LOW},
        {{1, 1, 150 * MIB, 200 * MIB}, 4, SEVERITY_NONE},
        {{1, 1, 112 * MIB, 200 * MIB}, 4, SEVERITY_MODERATE},
        {{1, 1, 63 * MIB, 200 * MIB}, 4, SEVERITY_SEVERE},
        {{1, 1, 20 * MIB, 200 * MIB}, 4, SEVERITY_CRITICAL},
        {{1, 1, 20 * MIB + 1, 200 * MIB}, 4, SEVERITY_SEVERE},
        {{500 * MIB}, 1, SEVERITY_NONE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        g_auto(Made) made;
        made_plain(&made);
        put_inputs(&made, table[i].inputs, table[i].n);
        assert_rule(&made, "input", table[i].expected);
    }
}

/* The last of four executors came late: beside the others it did little, by the hour as much. One that was idle for an
 * hour of life did little by any measure. */
static void test_spreads_by_life(void) {
    static const double inputs[] = {1000 * MIB, 1000 * MIB, 90 * MIB, 80 * MIB};
    static const gint64 lives_min[] = {60, 60, 5, 5};
    g_auto(Made) made;
    made_plain(&made);
    put_inputs(&made, inputs, G_N_ELEMENTS(inputs));
    assert_note(&made, "input", NULL); /* how long they lived is not known */
    for (guint i = 0; i < G_N_ELEMENTS(inputs); i++)
        g_array_index(made.facts->executors, AdviseExecutor, i).end_ms = lives_min[i] * 60000;
    assert_rule(&made, "input", SEVERITY_NONE); /* 1000 / 1000: of four, the median is the third */
    assert_note(&made, "input", NULL);
    g_array_index(made.facts->executors, AdviseExecutor, 1).input_bytes = 95 * MIB;
    g_array_index(made.facts->executors, AdviseExecutor, 1).end_ms = 5 * 60000;
    assert_rule(&made, "input", SEVERITY_CRITICAL); /* 1000 / 95 */
    assert_note(&made, "input", "corrected: none (by the hour that executors lived, which was 5 to 60 min)");
    for (guint i = 1; i < G_N_ELEMENTS(inputs); i++)
        g_array_index(made.facts->executors, AdviseExecutor, i).end_ms = 60 * 60000;
    assert_note(&made, "input", NULL); /* critical by the hour, too */
}

static void put_stage(Made *made, guint tasks, guint failed, double run_ms) {
    AdviseStage stage = {.stage = 3, .tasks = tasks, .failed_tasks = failed};
    stage.sums[METRIC_RUN_MS] = run_ms;
    g_array_set_size(made->facts->stages, 0);
    g_array_append_val(made->facts->stages, stage);
}

static void test_rates(void) {
    static const struct {
        guint failed, of;
        Severity expected;
    } rates[] = {
        {0, 0, SEVERITY_NONE},          {99, 1000, SEVERITY_NONE},      {100, 1000, SEVERITY_LOW},
        {299, 1000, SEVERITY_LOW},      {300, 1000, SEVERITY_MODERATE}, {499, 1000, SEVERITY_MODERATE},
        {400, 1000, SEVERITY_MODERATE}, /* SEVERE is never reached */
        {500, 1000, SEVERITY_CRITICAL}, /* and not only when all failed, as by its division of integers */
        {7, 7, SEVERITY_CRITICAL},      /* a stage without one finished task counts */
    };
    for (guint i = 0; i < G_N_ELEMENTS(rates); i++) {
        g_auto(Made) made;
        made_plain(&made);
        put_stage(&made, rates[i].of - rates[i].failed, rates[i].failed, 0);
        assert_rule(&made, "failed tasks of a stage", rates[i].expected);
        const AdviseJob job = {.job = 1, .tasks = rates[i].of, .failed_tasks = rates[i].failed};
        g_array_append_val(made.facts->jobs, job);
        assert_rule(&made, "failed tasks of a job", rates[i].expected);
    }

    g_auto(Made) made;
    made_plain(&made);
    put_stage(&made, 6, 4, 0); /* as it was described, with what is right beside it */
    assert_note(&made, "failed tasks of a stage", "corrected: severe (from 0.4 on, which the tool never says)");
    put_stage(&made, 601, 399, 0);
    assert_note(&made, "failed tasks of a stage", NULL);
    put_stage(&made, 5, 5, 0);
    assert_note(&made, "failed tasks of a stage", NULL);
    g_array_set_size(made.facts->stages, 0);

    for (guint i = 0; i < 10; i++) {
        const AdviseJob job = {.job = i, .failed = i == 0};
        const AdviseStage stage = {.stage = i, .failed = i < 3};
        g_array_append_val(made.facts->jobs, job);
        g_array_append_val(made.facts->stages, stage);
    }
    assert_rule(&made, "failed jobs", SEVERITY_LOW);
    assert_rule(&made, "failed stages", SEVERITY_MODERATE);
}

/* The note on the tool's limits is not said of others. */
static void assert_told(const Made *made, const char *told, const char *rule, Severity expected) {
    GError *error = NULL;
    ElephantLimits limits;
    elephant_limits_init(&limits);
    elephant_limits_parse(&limits, told, &error);
    g_assert_no_error(error);
    g_autoptr(Elephant) elephant = elephant_judge(made->facts, &limits);
    g_assert_cmpuint(row_of(elephant, rule)->severity, ==, expected);
    g_assert_null(row_of(elephant, rule)->note);
}

/* Each list can be told: of every rule that one has, and of no other. */
static void test_told_limits(void) {
    g_auto(Made) made;
    made_plain(&made);
    made_set(&made, "spark.executor.memory", "4g");
    made.facts->run_ms = 1e6;
    made.facts->gc_ms = 60e3; /* 0.06 */
    put_stage(&made, 6, 4, 0);
    assert_told(&made, "gc=0.05/0.06/0.07/0.08", "garbage collection", SEVERITY_MODERATE);
    assert_told(&made, "gc=0.05/0.06/0.07/0.08", "much garbage collection", SEVERITY_NONE);
    assert_told(&made, "executor-memory=1g/2g/3g/5g,gc=0/0/0/0", "executor memory", SEVERITY_SEVERE);
    assert_told(&made, "executor-memory=1g/2g/3g/5g,gc=0/0/0/0", "garbage collection", SEVERITY_CRITICAL);
    assert_told(&made, "failures=0.1/0.3/0.4/0.5", "failed tasks of a stage", SEVERITY_SEVERE);
    assert_told(&made, "failures=0.2/0.3/never/0.5", "failed tasks of a stage", SEVERITY_MODERATE);
    assert_told(&made, "failures=never/never/never/0.5", "failed tasks of a stage", SEVERITY_NONE);
    assert_told(&made, "little-gc=0.07/0.06/0.05/never", "little garbage collection", SEVERITY_MODERATE);
    assert_told(&made, "failed-tasks=0.5/0.6/0.7/0.8", "failed tasks", SEVERITY_NONE);

    static const struct {
        const char *told, *says;
    } wrong[] = {
        {"", "none is told"},
        {"gc", "has no ="},
        {"gc=1/2/3", "not four limits"},
        {"gc=1/2/3/4/5", "not four limits"},
        {"gc=1/2/3/x", "not four limits"},
        {"gc=1/2/3/nan", "not four limits"},
        {"gc=1/2/3/-4", "not four limits"},
        {"gc=1g/2g/3g/4g", "not four limits"},
        {"gc=1/2/never/1", "rise"},
        {"little-gc=0.1/0.2/0.3/0.4", "fall"},
        {"gc=0.1/0.2/0.3/0.4,", "has no ="},
        {"collection=1/2/3/4", "there are resource-skew, executor-memory"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        ElephantLimits limits, kept;
        elephant_limits_init(&limits);
        kept = limits;
        g_assert_false(elephant_limits_parse(&limits, wrong[i].told, &error));
        g_assert_nonnull(strstr(error->message, wrong[i].says));
        g_assert_cmpmem(&limits, sizeof limits, &kept, sizeof kept);
    }
}

static void test_times(void) {
    static const double minutes[] = {15, 30, 45, 60}, shares[] = {0.08, 0.1, 0.15, 0.2};
    for (guint i = 0; i < 4; i++) {
        g_auto(Made) made;
        made_plain(&made);
        put_inputs(&made, (const double[]){0, 0}, 2);
        put_stage(&made, 1, 0, 2 * minutes[i] * 60e3);
        assert_rule(&made, "stage run time", (Severity)(i + 1));
        put_stage(&made, 1, 0, 2 * minutes[i] * 60e3 - 1);
        assert_rule(&made, "stage run time", (Severity)i);
        made.facts->run_ms = 100000;
        made.facts->gc_ms = shares[i] * 100000;
        assert_rule(&made, "garbage collection", (Severity)(i + 1));
        made.facts->gc_ms -= 1;
        assert_rule(&made, "garbage collection", (Severity)i);
    }
}

/* Severity times tasks, 0 of NONE and LOW; the worst group is the application's severity. */
static void test_score(void) {
    g_auto(Made) made;
    made_plain(&made);
    put_stage(&made, 90, 10, 0);
    made.facts->run_ms = 100;
    made.facts->gc_ms = 15;
    g_autoptr(Elephant) elephant = made_judged(&made);
    g_assert_cmpuint(elephant->scores[GROUP_CONFIGURATION], ==, 200); /* serializer and shuffle service: MODERATE */
    g_assert_cmpuint(elephant->groups[GROUP_STAGES], ==, SEVERITY_LOW);
    g_assert_cmpuint(elephant->scores[GROUP_STAGES], ==, 0);
    g_assert_cmpuint(elephant->scores[GROUP_GC], ==, 300);
    g_assert_cmpuint(elephant->score, ==, 500);
    g_assert_cmpuint(elephant->severity, ==, SEVERITY_SEVERE);
}

/* ---- later rules ---- */

/* One stage whose median task takes so long, with one of so long. */
static void put_tasks(Made *made, double median_ms, double max_ms, gint64 wall_ms) {
    AdviseStage stage = {.stage = 3, .tasks = 100, .end_ms = wall_ms};
    stage.run = (AdviseSpread){.n = 100, .median = median_ms, .max = max_ms};
    stage.time = (AdviseSpread){.n = 100, .median = 1e8, .max = 1e12}; /* its run is what counts */
    g_array_set_size(made->facts->stages, 0);
    g_array_append_val(made->facts->stages, stage);
}

static void test_later_stages(void) {
    static const double minutes[] = {2.5, 5, 10, 15}, times[] = {2, 4, 8, 16};
    static const double spills[] = {0.01, 0.1, 0.25, 0.5};
    static const guint failed[] = {50, 100, 150, 200};
    g_auto(Made) made;
    made_plain(&made);
    for (guint i = 0; i < 4; i++) {
        put_tasks(&made, minutes[i] * 60e3, 0, 0);
        assert_rule(&made, "long tasks, minutes", (Severity)(i + 1));
        put_tasks(&made, minutes[i] * 60e3 - 1, 0, 0);
        assert_rule(&made, "long tasks, minutes", (Severity)i);

        put_tasks(&made, 160e3 / times[i], 160e3, 213333);
        assert_rule(&made, "task skew", (Severity)(i + 1));
        put_tasks(&made, 160e3 / times[i] + 1, 160e3, 213333);
        assert_rule(&made, "task skew", (Severity)i);

        AdviseStage *stage = advise_stage(made.facts, 0);
        stage->sums[METRIC_INPUT_BYTES] = 1000 * MIB;
        stage->sums[METRIC_MEMORY_SPILLED_BYTES] = spills[i] * 1000 * MIB;
        assert_rule(&made, "spill", (Severity)(i + 1)); /* MODERATE as well */
        stage->sums[METRIC_MEMORY_SPILLED_BYTES] -= 1;
        assert_rule(&made, "spill", (Severity)i);

        put_stage(&made, 1000 - failed[i], failed[i], 0);
        assert_rule(&made, "failed tasks", (Severity)(i + 1));
        put_stage(&made, 1001 - failed[i], failed[i] - 1, 0);
        assert_rule(&made, "failed tasks", (Severity)i);
    }

    put_tasks(&made, 10e3, 150e3, 150000); /* not above 150 s */
    assert_rule(&made, "task skew", SEVERITY_NONE);
    put_tasks(&made, 10e3, 160e3, 213334); /* not above 0.75 of the stage */
    assert_rule(&made, "task skew", SEVERITY_NONE);
    put_stage(&made, 0, 7, 0); /* without one finished task */
    assert_rule(&made, "failed tasks", SEVERITY_CRITICAL);
}

static void test_later_advice(void) {
    g_auto(Made) made;
    made_plain(&made);
    put_tasks(&made, 300e3, 0, 0);
    assert_note(&made, "long tasks, minutes", "recommended: 200 partitions");
    put_tasks(&made, 1e9, 0, 0);
    assert_note(&made, "long tasks, minutes", "recommended: 4000 partitions");

    /* 1 GiB: (1024 - 300) x 0.6 = 434 MiB a partition. 400 of them have 170 GiB, with 4 GiB it is 890, 1000 of them 2.2
     * TiB. */
    static const struct {
        double spilled;
        const char *note;
    } steps[] = {{100 * 1024, "recommended: 400 partitions, 1.0 GiB, 1 cores"},
                 {800 * 1024, "recommended: 400 partitions, 4.0 GiB, 1 cores"},
                 {1000 * 1024, "recommended: 1000 partitions, 4.0 GiB, 1 cores"},
                 {1e9, "recommended: 4000 partitions, 10 GiB, 1 cores"}};
    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        put_tasks(&made, 1, 0, 0);
        advise_stage(made.facts, 0)->sums[METRIC_INPUT_BYTES] = 1000 * MIB;
        advise_stage(made.facts, 0)->sums[METRIC_MEMORY_SPILLED_BYTES] = steps[i].spilled * MIB;
        assert_note(&made, "spill", steps[i].note);
    }
    advise_stage(made.facts, 0)->sums[METRIC_INPUT_BYTES] = 3.0 * 1024 * 1024 * MIB; /* of 3 TiB nothing is said */
    assert_rule(&made, "spill", SEVERITY_NONE);
}

static void test_later_executors(void) {
    static const double asked[] = {1.25, 1.5, 2, 3}, used[] = {0.7, 0.6, 0.4, 0.2};
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.executor.memory", "12000m");
    AdviseExecutor *one = &g_array_index(made.facts->executors, AdviseExecutor, 0);
    for (guint i = 0; i < 4; i++) {
        one->heap_peak_bytes = (12000 / asked[i] - 300) * MIB;
        assert_rule(&made, "memory asked", (Severity)(i + 1));
        one->heap_peak_bytes += 1;
        assert_rule(&made, "memory asked", (Severity)i);
        one->memory_bytes = 1000 * MIB;
        one->unified_peak_bytes = used[i] * 1000 * MIB;
        assert_rule(&made, "unified memory", (Severity)(i + 1));
        one->unified_peak_bytes += 1;
        assert_rule(&made, "unified memory", (Severity)i);
    }

    one->unified_peak_bytes = 800 * MIB;
    AdviseExecutor idle = {.id = "2", .memory_bytes = 1000 * MIB, .unified_peak_bytes = 1};
    g_array_append_val(made.facts->executors, idle);
    assert_rule(&made, "unified memory", SEVERITY_NONE); /* one that had no task is no fault */
    g_array_index(made.facts->executors, AdviseExecutor, 0).heap_peak_bytes = 1000 * MIB;
    assert_note(&made, "memory asked", "recommended: 1550m");

    made.facts->failures[FAILURE_MEMORY] = (AdviseFailure){2, 500, 9, 7, "ExecutorLostFailure: memory limits"};
    assert_rule(&made, "out of memory, container killed", SEVERITY_CRITICAL);
    assert_note(&made, "out of memory, container killed", "recommended: 2224m of overhead"); /* 1200 and 1024 */
}

/* Small executors, and those that may have little, waste little. */
static void test_later_floors(void) {
    g_auto(Made) made;
    made_init(&made);
    made_set(&made, "spark.executor.memory", "2049m");
    AdviseExecutor *one = &g_array_index(made.facts->executors, AdviseExecutor, 0);
    one->heap_peak_bytes = 100 * MIB;
    one->memory_bytes = 256 * MIB + 1;
    one->unified_peak_bytes = 1;
    assert_rule(&made, "memory asked", SEVERITY_CRITICAL);
    assert_rule(&made, "unified memory", SEVERITY_CRITICAL);
    one->memory_bytes = 256 * MIB;
    assert_rule(&made, "unified memory", SEVERITY_NONE);
    one->memory_bytes = 1000 * MIB;
    made_set(&made, "spark.memory.fraction", "0.05");
    assert_rule(&made, "unified memory", SEVERITY_NONE);
    made_set(&made, "spark.memory.fraction", "0.06");
    assert_rule(&made, "unified memory", SEVERITY_CRITICAL);
    made_set(&made, "spark.executor.memory", "2g");
    assert_rule(&made, "memory asked", SEVERITY_NONE);
    assert_rule(&made, "unified memory", SEVERITY_NONE);

    made.facts->run_ms = 300000;
    made.facts->gc_ms = 60000;
    assert_rule(&made, "much garbage collection", SEVERITY_CRITICAL);
    made.facts->run_ms = 299999;
    assert_rule(&made, "much garbage collection", SEVERITY_NONE);
}

/* Both ends, of the same share; neither counts for severity and score. */
static void test_later_collection(void) {
    static const double much[] = {80e3, 90e3, 100e3, 150e3}, little[] = {50e3, 40e3, 30e3, 10e3};
    g_auto(Made) made;
    made_plain(&made);
    made.facts->run_ms = 1e6;
    for (guint i = 0; i < 4; i++) {
        made.facts->gc_ms = much[i];
        assert_rule(&made, "much garbage collection", (Severity)(i + 1));
        made.facts->gc_ms -= 1;
        assert_rule(&made, "much garbage collection", (Severity)i);
        made.facts->gc_ms = little[i];
        assert_rule(&made, "little garbage collection", (Severity)(i + 1));
        made.facts->gc_ms += 1;
        assert_rule(&made, "little garbage collection", (Severity)i);
    }
    made.facts->gc_ms = 0;
    g_autoptr(Elephant) elephant = made_judged(&made);
    g_assert_cmpuint(elephant->groups[GROUP_LATER], ==, SEVERITY_CRITICAL);
    g_assert_cmpuint(elephant->severity, ==, SEVERITY_MODERATE);
    g_assert_cmpuint(elephant->scores[GROUP_LATER], ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/drelephant/settings", test_settings);
    g_test_add_func("/drelephant/limits", test_limits);
    g_test_add_func("/drelephant/resource-skew", test_resource_skew);
    g_test_add_func("/drelephant/spreads", test_spreads);
    g_test_add_func("/drelephant/spreads/by-life", test_spreads_by_life);
    g_test_add_func("/drelephant/rates", test_rates);
    g_test_add_func("/drelephant/told-limits", test_told_limits);
    g_test_add_func("/drelephant/times", test_times);
    g_test_add_func("/drelephant/score", test_score);
    g_test_add_func("/drelephant/later/stages", test_later_stages);
    g_test_add_func("/drelephant/later/advice", test_later_advice);
    g_test_add_func("/drelephant/later/executors", test_later_executors);
    g_test_add_func("/drelephant/later/floors", test_later_floors);
    g_test_add_func("/drelephant/later/collection", test_later_collection);
    return g_test_run();
}
