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

static void assert_rule(const Made *made, const char *rule, Severity expected) {
    g_autoptr(Elephant) elephant = elephant_judge(made->facts);
    g_assert_cmpuint(row_of(elephant, rule)->severity, ==, expected);
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
        g_autoptr(Elephant) elephant = elephant_judge(made.facts);
        const ElephantRow *row = row_of(elephant, "resource skew");
        g_assert_cmpuint(row->severity, ==, table[i].expected);
        g_assert_nonnull(strstr(row->note, table[i].note));
    }
    g_auto(Made) made;
    made_plain(&made);
    made_set(&made, "spark.executor.cores", "4");
    made_set(&made, "yarn.nodemanager.resource.memory-mb", "-1"); /* seen in logs of 4.3 */
    g_autoptr(Elephant) elephant = elephant_judge(made.facts);
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
    for (guint i = 0; i < 10; i++) {
        const AdviseJob job = {.job = i, .failed = i == 0};
        const AdviseStage stage = {.stage = i, .failed = i < 3};
        g_array_append_val(made.facts->jobs, job);
        g_array_append_val(made.facts->stages, stage);
    }
    assert_rule(&made, "failed jobs", SEVERITY_LOW);
    assert_rule(&made, "failed stages", SEVERITY_MODERATE);
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
    g_autoptr(Elephant) elephant = elephant_judge(made.facts);
    g_assert_cmpuint(elephant->scores[GROUP_CONFIGURATION], ==, 200); /* serializer and shuffle service: MODERATE */
    g_assert_cmpuint(elephant->groups[GROUP_STAGES], ==, SEVERITY_LOW);
    g_assert_cmpuint(elephant->scores[GROUP_STAGES], ==, 0);
    g_assert_cmpuint(elephant->scores[GROUP_GC], ==, 300);
    g_assert_cmpuint(elephant->score, ==, 500);
    g_assert_cmpuint(elephant->severity, ==, SEVERITY_SEVERE);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/drelephant/settings", test_settings);
    g_test_add_func("/drelephant/limits", test_limits);
    g_test_add_func("/drelephant/resource-skew", test_resource_skew);
    g_test_add_func("/drelephant/spreads", test_spreads);
    g_test_add_func("/drelephant/rates", test_rates);
    g_test_add_func("/drelephant/times", test_times);
    g_test_add_func("/drelephant/score", test_score);
    return g_test_run();
}
