/* Stragglers and inefficient operations of an application whose figures can be followed by hand. */
#include <math.h>
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/query/fixture.h"

#define BASE_MS (SAMPLE_BASE_NS / NS_PER_MS)
#define APP     "app-20201121105300-0007"
#define TASKS   10

/* Ten tasks of stage 2 from 10 s on, on two hosts, 1000 ms each but these: task 3 on host a took 3000, for two seconds
 * of which the disk of its host was busy, and still was afterwards; task 7 on host b took 2500 and read four times as
 * much. */
static gint64 duration_of(guint task) { return task == 3 ? 3000 : task == 7 ? 2500 : 1000; }
static const char *host_of(guint task) { return task < 5 ? "a" : "b"; }

static void add_app(SparkRecords *records) {
    SparkApp *app = spark_add_app(records);
    app->app = app->id = APP;
    app->name = "ten tasks";
    app->start_ms = BASE_MS;
    app->end_ms = BASE_MS + 60000;
    SparkStage *stage = spark_add_stage(records);
    stage->app = APP;
    stage->stage = 2;
    stage->attempt = 0;
    stage->tasks = TASKS;
    stage->name = "count at Words.scala:7";
    SparkRdd *rdds = spark_list(records, 2, sizeof(SparkRdd));
    rdds[0] =
        (SparkRdd){.id = 4, .name = "hdfs:///text", .call_site = "textFile at Words.scala:3", .partitions = TASKS};
    rdds[1] = (SparkRdd){.id = 5, .name = "MapPartitionsRDD", .call_site = "map at Words.scala:4", .partitions = TASKS};
    stage->rdds = (SparkRdds){rdds, 2};
}

static void add_tasks(SparkRecords *records) {
    for (guint i = 0; i < TASKS + 1; i++) {
        SparkTask *task = spark_add_task(records);
        task->app = APP;
        task->stage = 2;
        task->task = 100 + i;
        task->stage_attempt = task->attempt = 0;
        task->partition = (gint32)(i % TASKS);
        task->executor = i % TASKS < 5 ? "1" : "2";
        task->host = host_of(i % TASKS);

        task->launch_ms = BASE_MS + 10000;
        task->finish_ms = task->launch_ms + duration_of(i);
        task->status = TASK_SUCCESS;
        task->locality = LOCALITY_NODE;

        task->metrics[METRIC_RUN_MS] = duration_of(i) - 100;
        task->metrics[METRIC_INPUT_BYTES] = i == 7 ? 4000000 : 1000000;
        task->metrics[METRIC_GC_MS] = 10;

        if (i < TASKS) continue;
        task->finish_ms = task->launch_ms + 9000; /* an attempt that failed: neither counts nor is judged */
        task->status = TASK_FAILED;
    }
}

static void add_samples(SparkRecords *records) {
    for (guint second = 0; second < 30; second++) {
        for (guint host = 0; host < 2; host++) {
            const double busy = host == 0 && second >= 11 && second < 25 ? 0.9 : 0.1;
            HostSample *sample = spark_add_sample(records);
            sample->host = host == 0 ? "a" : "b";
            sample->source = "sadf";
            sample->time_ns = (BASE_MS + (second + 1) * 1000) * NS_PER_MS;
            sample->interval_ns = NS_PER_SEC;
            sample->zone_offset_s = 0;
            sample->user = 0.3;
            HostDisk *disk = spark_list(records, 1, sizeof *disk);
            *disk = (HostDisk){"sda", busy, 1e6, 1e6, 1, 1};
            sample->disks = (SparkDisks){disk, 1};
        }
    }
}

static void add_marks(SparkRecords *records) {
    const HostMark made[] = {{"a", BASE_MS * NS_PER_MS, (BASE_MS + 60000) * NS_PER_MS, "fault", "disk throttled"},
                             {MARK_ALL_HOSTS, (BASE_MS + 5000) * NS_PER_MS, -1, "deployment", "3.4.2"},
                             {"b", (BASE_MS - 60000) * NS_PER_MS, -1, "note", "rack moved"}};
    for (guint i = 0; i < G_N_ELEMENTS(made); i++) *spark_add_mark(records) = made[i];
}

/* HadoopRDD takes 600 ms, in task 3 2600; the map 300. Nine tenths of each task's run time are covered but for task 7,
 * of whose 2400 ms it is 900. */
static void add_operations(SparkRecords *records) {
    for (guint i = 0; i < 2 * TASKS; i++) {
        const guint task = i / 2, op = i % 2;
        SparkOperation *operation = spark_add_operation(records);

        operation->app = APP;
        operation->stage = 2;
        operation->stage_attempt = 0;
        operation->task = 100 + task;
        operation->partition = (gint32)task;
        operation->rdd = 4 + op;
        operation->instance = op;
        operation->class_name = op == 0 ? "org.apache.spark.rdd.HadoopRDD" : "org.apache.spark.rdd.MapPartitionsRDD";
        operation->host = host_of(task);

        operation->begin_ns = (BASE_MS + 10000) * NS_PER_MS;
        operation->exclusive_ns = (op == 1 ? 300 : task == 3 ? 2600 : 600) * NS_PER_MS;
        operation->source = OPERATION_AGENT;
        operation->records = 1000;

        operation->at_end[JVM_HEAP_RATE] = task == 3 ? 0.95 : 0.4 + 0.01 * task;
        operation->at_end[JVM_THREADS] = 80;
    }
}

static void put(Fixture *fixture, const SparkRecords *records) {
    SparkPut done;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture->archive, records, BASE_MS, &done, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(done.refused, ==, 0);
}

static void fill(Fixture *fixture, gboolean operations) {
    g_autoptr(SparkRecords) records = spark_records_new();
    fixture_init(fixture);
    add_app(records);
    add_tasks(records);
    add_samples(records);
    add_marks(records);
    if (operations) add_operations(records);
    put(fixture, records);
}

static void assert_near(const json_t *object, const char *field, double expected) {
    const json_t *value = json_object_get(object, field);
    g_assert_nonnull(value);
    g_assert_cmpfloat_with_epsilon(json_number_value(value), expected, 1e-5 * (1 + fabs(expected)));
}

/* ---- stragglers ---- */

static void test_stragglers(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);
    json_auto_t *answer = fixture_answer(&fixture, "stragglers", "app=latest");
    const json_t *list = json_object_get(answer, "stragglers");
    g_assert_cmpuint(json_array_size(list), ==, 2);

    const json_t *first = json_array_get(list, 0), *second = json_array_get(list, 1);
    g_assert_cmpint(number_at(first, "task"), ==, 103);
    assert_near(first, "scale", 3);
    g_assert_cmpint(number_at(first, "excess_ns"), ==, 2000 * NS_PER_MS);
    const json_t *disk = row_where(json_object_get(first, "causes"), "feature", "disk");
    g_assert_nonnull(disk);
    g_assert_cmpuint(json_array_size(json_object_get(first, "causes")), ==, 1);
    assert_near(disk, "measured", (0.1 + 0.9 + 0.9) / 3);
    assert_near(disk, "quantile", 0.1 + 0.1 * (1.9 / 3 - 0.1)); /* rank 8.1 of nine times 0.1 and this one */
    assert_near(json_object_get(disk, "other_hosts"), "median", 0.1);
    assert_near(json_object_get(disk, "same_host"), "median", 0.1);
    assert_near(disk, "before", 0.1);
    assert_near(disk, "after", 0.9);

    /* Task 7: 4 MB where the mean of the ten counted ones is 1.3 MB. */
    g_assert_cmpint(number_at(second, "task"), ==, 107);
    const json_t *bytes = row_where(json_object_get(second, "causes"), "feature", "read_bytes");
    assert_near(bytes, "value", 4 / 1.3);
    assert_near(json_object_get(bytes, "other_hosts"), "mean", 1 / 1.3);

    json_auto_t *near = fixture_answer(&fixture, "stragglers", "app=" APP "&stage=2.0&evidence=near");
    fixture_check_document("stragglers", near);
    json_auto_t *other = fixture_answer(&fixture, "stragglers", "app=" APP "&stage=1");
    g_assert_cmpuint(json_array_size(json_object_get(other, "stragglers")), ==, 0);
}

/* With a bound above both 0.1 and 0.9 the load came and went with the task. */
static void test_options(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);
    json_auto_t *strict = fixture_answer(&fixture, "stragglers", "app=ten tasks&lambda_p=10&lambda_q=0.5");
    g_assert_cmpint(number_at(strict, "unexplained"), ==, 2);
    json_auto_t *edge = fixture_answer(&fixture, "stragglers", "app=ten tasks&lambda_e=1.5&evidence=near");
    const json_t *near = json_object_get(json_array_get(json_object_get(edge, "stragglers"), 0), "near");
    g_assert_cmpstr(text_at(row_where(near, "feature", "disk"), "verdict"), ==, "edge");
    json_auto_t *none = fixture_answer(&fixture, "stragglers", "app=ten tasks&ratio=4");
    g_assert_cmpint(number_at(none, "stragglers_total"), ==, 0);
    static const char *const wrong[] = {"lambda_p=x",  "lambda_q=1.5", "ratio=0.5",      "method=guess", "edge=maybe",
                                        "lambda_p=-1", "window=soon",  "evidence=a lot", "stage=x",      "hdfs=2"};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *params = g_strconcat("app=latest&", wrong[i], NULL);
        g_assert_null(fixture_ask(&fixture, "stragglers", params, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    }
}

static void test_methods(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);
    json_auto_t *mantri = fixture_answer(&fixture, "stragglers", "app=latest&method=mantri");
    const json_t *list = json_object_get(mantri, "stragglers");
    const char *const expected[] = {"disk", "read_bytes"};
    for (guint i = 0; i < 2; i++) {
        const json_t *causes = json_object_get(json_array_get(list, i), "causes");
        g_assert_cmpuint(json_array_size(causes), ==, 1);
        g_assert_cmpstr(text_at(json_array_get(causes, 0), "feature"), ==, expected[i]);
    }
    json_auto_t *pcc = fixture_answer(&fixture, "stragglers", "app=latest&method=pcc");
    fixture_check_document("stragglers-pcc", pcc);
    json_auto_t *xue = fixture_answer(&fixture, "stragglers", "app=latest&method=xue");
    g_assert_nonnull(row_where(json_object_get(xue, "causes_total"), "feature", "disk"));
}

static double part_more_ms(const json_t *row, const char *part) {
    const json_t *found = row_where(json_object_get(json_object_get(row, "ledger"), "parts"), "part", part);
    return found ? (double)number_at(found, "more_ns") / NS_PER_MS : 0;
}

/* Task 3 ran for 2000 ms more than the others, which nothing explains, while its host's disk had 0.63 of load in place
 * of 0.1. Task 7 read four times as much: three times the median is expected of that, more than its 1500 ms. */
static void test_ledger(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);
    json_auto_t *answer = fixture_answer(&fixture, "stragglers", "app=latest&method=ledger");
    fixture_check_document("stragglers-ledger", answer);
    const json_t *list = json_object_get(answer, "stragglers"), *first = json_array_get(list, 0);
    const json_t *disk = json_array_get(json_object_get(first, "causes"), 0);
    g_assert_cmpuint(json_array_size(json_object_get(first, "causes")), ==, 1);
    g_assert_cmpstr(text_at(disk, "feature"), ==, "disk");
    g_assert_cmpstr(text_at(disk, "part"), ==, "unexplained");
    assert_near(disk, "measured", 2000);
    assert_near(disk, "load", 1.9 / 3);
    assert_near(disk, "usual_load", 0.1);
    g_assert_cmpfloat_with_epsilon(part_more_ms(first, "unexplained"), 2000, 1e-3);
    g_assert_cmpfloat_with_epsilon(part_more_ms(first, "gc"), 0, 1e-3);

    const json_t *second = json_array_get(list, 1), *data = json_array_get(json_object_get(second, "causes"), 0);
    g_assert_cmpuint(json_array_size(json_object_get(second, "causes")), ==, 1);
    g_assert_cmpstr(text_at(data, "feature"), ==, "data");
    assert_near(data, "measured", 1500);
    g_assert_cmpfloat_with_epsilon(part_more_ms(second, "data"), 1500, 1e-3);

    json_auto_t *strict = fixture_answer(&fixture, "stragglers", "app=latest&method=ledger&lambda_p=7&stage=2");
    g_assert_cmpint(number_at(strict, "unexplained"), ==, 1);
    json_auto_t *why = fixture_answer(&fixture, "why", "app=latest&method=ledger");
    const json_t *saved = json_array_get(json_object_get(why, "what_if"), 0);
    g_assert_cmpstr(text_at(saved, "feature"), ==, "disk");
    g_assert_cmpstr(text_at(saved, "host"), ==, "a");
    g_assert_cmpint(number_at(saved, "saves_ns"), ==, 500 * NS_PER_MS); /* then task 7 is the last one, with 2500 ms */

    /* By the causes that the rows show. */
    json_auto_t *bigroots = fixture_answer(&fixture, "why", "app=latest");
    const json_t *rows = json_object_get(bigroots, "stragglers"), *savers = json_object_get(bigroots, "what_if");
    guint named = 0;
    for (gsize i = 0; i < json_array_size(rows); i++) {
        const json_t *main = json_object_get(json_array_get(rows, i), "main_cause");
        if (!main) continue;
        g_assert_nonnull(row_where(savers, "feature", text_at(main, "feature")));
        named++;
    }
    g_assert_cmpuint(named, ==, 2);
    g_assert_cmpuint(json_array_size(savers), ==, 2);
}

/* ---- operations ---- */

static void check_scores(const json_t *stage) {
    g_assert_cmpint(number_at(stage, "pipelines"), ==, 10);
    g_assert_cmpint(number_at(stage, "instances"), ==, 20);
    g_assert_cmpint(number_at(stage, "top_instances"), ==, 2);
    const json_t *first = json_array_get(json_object_get(stage, "top"), 0);
    /* Durations 1000 eight times, 2500, 3000: PF of the longest is 1000/10 + 1500/2 + 500. */
    g_assert_cmpint(number_at(first, "task"), ==, 103);
    assert_near(first, "pf_ms", 1350);
    assert_near(first, "ss", 2600.0 / 600);
    assert_near(first, "is_ms2", 1350 * 2600 * 2600.0 / 600);
    /* Task 7's HadoopRDD, with PF 100 + 750, comes before anything else of 3. */
    const json_t *second = json_array_get(json_object_get(stage, "top"), 1);
    g_assert_cmpint(number_at(second, "task"), ==, 107);
    assert_near(second, "is_ms2", 850 * 600);
    g_assert_cmpstr(text_at(first, "call_site"), ==, "textFile at Words.scala:3");
    /* 900 of 900 in eight tasks, 900 of 2400 and 2900 of 2900. */
    assert_near(stage, "coverage", (8 * 900.0 + 900 + 2900) / (8 * 900 + 2400 + 2900));
    g_assert_cmpint(number_at(stage, "low_coverage_tasks"), ==, 1);
}

static void test_operations(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, TRUE);
    json_auto_t *answer = fixture_answer(&fixture, "operations", "app=latest");
    const json_t *stage = json_array_get(json_object_get(answer, "stages"), 0);
    check_scores(stage);

    const json_t *clusters = json_object_get(stage, "clusters");
    g_assert_nonnull(clusters);
    assert_near(json_object_get(clusters, "apart"), "ThreadNum", 0);
    g_assert_null(json_object_get(clusters, "silhouettes")); /* of two instances */
    fixture_check_document("operations", answer);

    json_auto_t *half = fixture_answer(&fixture, "operations", "app=latest&top=50%&stage=2");
    clusters = json_object_get(json_array_get(json_object_get(half, "stages"), 0), "clusters");
    const json_t *silhouettes = json_object_get(clusters, "silhouettes");
    g_assert_nonnull(silhouettes);
    const char *k;
    json_t *value;
    json_object_foreach((json_t *)silhouettes, k, value) {
        g_assert_cmpfloat(json_number_value(value), >=, -1);
        g_assert_cmpfloat(json_number_value(value), <=, 1);
    }

    json_auto_t *all = fixture_answer(&fixture, "operations", "app=latest&top=100%&limit=5&stage=2&clusters=false");
    stage = json_array_get(json_object_get(all, "stages"), 0);
    g_assert_cmpint(number_at(stage, "top_instances"), ==, 20);
    g_assert_cmpuint(json_array_size(json_object_get(stage, "top")), ==, 5);
    g_assert_null(json_object_get(stage, "clusters"));

    static const char *const wrong[] = {"top=0", "top=200%", "top=ten", "stage=-2", "top=10%%", "scale=mean"};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *params = g_strconcat("app=latest&", wrong[i], NULL);
        g_assert_null(fixture_ask(&fixture, "operations", params, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    }
}

/* The longest task first; the times are those that operations are made of. */
static void test_pipelines(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, TRUE);
    json_auto_t *answer = fixture_answer(&fixture, "pipelines", "app=latest&stage=2&limit=3");
    fixture_check_document("pipelines", answer);
    const json_t *first = json_array_get(json_object_get(answer, "pipelines"), 0);
    g_assert_cmpint(number_at(first, "task"), ==, 103);
    g_assert_cmpfloat(json_number_value(json_array_get(json_object_get(first, "operations_ms"), 0)), ==, 2600);
    g_assert_true(json_is_true(json_object_get(answer, "more")));

    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "pipelines", "app=latest&stage=9", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    g_clear_error(&error);
    g_assert_null(fixture_ask(&fixture, "pipelines", "app=latest", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
}

static void test_samples(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);
    json_auto_t *answer = fixture_answer(&fixture, "samples", "host=a&step=10s");
    fixture_check_document("samples", answer);
    g_assert_cmpint(number_at(answer, "samples_total"), ==, 30);

    json_auto_t *none = fixture_answer(&fixture, "samples", "host=nobody");
    g_assert_cmpuint(json_array_size(json_object_get(none, "at")), ==, 0);
    g_assert_null(json_object_get(none, "step_ns"));

    static const char *const wrong[] = {"", "host=a&step=10ms", "host=a&step=1s&since=2020-01-01&until=2020-01-02"};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(fixture_ask(&fixture, "samples", wrong[i], &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    }
}

static gint64 value_at(const json_t *answer, const char *name, gsize row) {
    const json_t *column = row_where(json_object_get(answer, "columns"), "name", name);
    return (gint64)json_number_value(json_array_get(json_object_get(column, "values"), row));
}

/* Reasons of tasks that failed are large, and are not kept. */
static void test_columns_of_failures(void) {
    enum { FAILURES = 1000, REASON_BYTES = 8000 };
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autofree char *reason = g_strnfill(REASON_BYTES, 'x');
    SparkApp *app = spark_add_app(records);
    app->app = app->id = app->name = "app-1";
    for (guint i = 0; i < FAILURES; i++) {
        SparkTask *task = spark_add_task(records);
        task->app = "app-1", task->stage = 3, task->stage_attempt = 0, task->task = i, task->reason = reason;
        task->executor = i % 2 == 0 ? "1" : "2", task->host = "node-1", task->status = TASK_FAILED;
        if (i < 2) task->metrics[METRIC_SHUFFLE_LOCAL_BYTES] = 8;
        if (i < 1) task->metrics[METRIC_SHUFFLE_REMOTE_BYTES] = 7;
    }
    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture.archive, records, SAMPLE_BASE_NS / NS_PER_MS, &put, &error);
    g_assert_no_error(error);

    AllowanceBudget budget = {.limit_bytes = 4 * 1024 * 1024};
    Allowance allowance = {.budget = &budget};
    allowance_begin(&allowance);
    json_auto_t *answer = fixture_ask(&fixture, "tasks/columns", "app=app-1&stage=3", &error);
    g_assert_no_error(error);
    allowance_end();
    g_assert_cmpint(number_at(answer, "rows"), ==, FAILURES);
    static const gint64 shuffled[] = {15, 8, -1};
    for (guint i = 0; i < G_N_ELEMENTS(shuffled); i++)
        g_assert_cmpint(value_at(answer, "shuffle_read", i), ==, shuffled[i]);
    g_assert_cmpuint(json_array_size(json_object_get(answer, "executors")), ==, 2);
    g_assert_cmpuint(budget.most_bytes, >, 1024 * 1024); /* what is read at once counts */
    g_assert_true(query_is_large("tasks/columns"));
}

static const char *named_at(const json_t *answer, const char *list, const char *column, gsize row) {
    return json_string_value(json_array_get(json_object_get(answer, list), (gsize)value_at(answer, column, row)));
}

/* Columns say of each task what `tasks` says, and what `why` says of its cause. */
static void test_task_columns(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);
    json_auto_t *answer = fixture_answer(&fixture, "tasks/columns", "app=latest&stage=2&causes=true");
    json_auto_t *tasks = fixture_answer(&fixture, "tasks", "app=latest&stage=2&limit=0");
    json_auto_t *why = fixture_answer(&fixture, "why", "app=latest&stage=2&limit=0");
    fixture_check_document("tasks__columns", answer);
    const json_t *rows = json_object_get(tasks, "tasks"), *slow = json_object_get(why, "stragglers");
    g_assert_cmpuint(json_array_size(rows), ==, (gsize)number_at(answer, "rows"));
    g_assert_cmpuint(json_array_size(slow), >, 0);

    const gint64 base_ns = number_at(answer, "begin_time_ns");
    for (gsize i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *metrics = json_object_get(row, "metrics");
        g_assert_cmpint(value_at(answer, "task", i), ==, number_at(row, "task"));
        g_assert_cmpint(base_ns + value_at(answer, "begin", i), ==, number_at(row, "begin_time_ns"));
        g_assert_cmpint(value_at(answer, "duration", i), ==, number_at(row, "duration_ns"));
        g_assert_cmpint(value_at(answer, "input", i), ==, number_at(metrics, "inputBytes"));
        g_assert_cmpstr(named_at(answer, "statuses", "status", i), ==, text_at(row, "status"));
        const char *cause = "";
        for (gsize k = 0; k < json_array_size(slow); k++) {
            const json_t *straggler = json_array_get(slow, k);
            if (number_at(straggler, "task") != number_at(row, "task")) continue;
            const json_t *found = json_object_get(straggler, "main_cause");
            if (found != NULL) cause = text_at(found, "topic");
        }
        g_assert_cmpstr(named_at(answer, "causes", "cause", i), ==, cause);
    }

    static const char *const wrong[] = {"app=latest", "app=latest&stage=x", "stage=2", "app=latest&stage=2&causes=7"};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(fixture_ask(&fixture, "tasks/columns", wrong[i], &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    }
    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "tasks/columns", "app=latest&stage=77", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
}

static void test_marks(void) {
    static const struct {
        const char *params;
        gsize n;
        const char *first;
    } cases[] = {
        {"host=a", 2, "3.4.2"},
        {"host=nobody", 1, "3.4.2"},
        {"kind=note", 1, "rack moved"},
        {"kind=none", 0, NULL},
        {"since=1605955981000000000", 2, "3.4.2"}, /* the fault lasts into it */
        {"until=1605955980000000000", 1, "rack moved"},
        {"limit=1", 1, "3.4.2"},
    };
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);
    json_auto_t *answer = fixture_answer(&fixture, "marks", "");
    fixture_check_document("marks", answer);
    g_assert_cmpuint(json_array_size(json_object_get(answer, "marks")), ==, 3);

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        json_auto_t *some = fixture_answer(&fixture, "marks", cases[i].params);
        const json_t *rows = json_object_get(some, "marks");
        g_assert_cmpuint(json_array_size(rows), ==, cases[i].n);
        g_assert_cmpstr(json_string_value(json_object_get(json_array_get(rows, 0), "text")), ==, cases[i].first);
        g_assert_true(json_is_true(json_object_get(some, "more")) == (strcmp(cases[i].params, "limit=1") == 0));
    }
}

/* The same operations as spans of the tasks' own traces give the same scores, and lead to the traces. */
static void test_traced_operations(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);

    for (guint i = 0; i < TASKS; i++) {
        const guint64 trace = task_trace_id(APP, 100 + i);
        g_autofree char *read = g_strdup_printf("rddId=4;partition=%u;exclusiveNs=%u000000;records=1000;"
                                                "jvmEnd=8000,0,1,2,%.2f",
                                                i, i == 3 ? 2600 : 600, i == 3 ? 0.95 : 0.4);
        const gint64 begin = 10 * 1000000, length = duration_of(i) * 1000;
        const SpanRow rows[] = {
            {trace, 1, 0, "SparkTask", "Executor/a", begin, length, NULL, 0},
            {trace, 2, 1, "RDD:MapPartitionsRDD", "Executor/a", begin, length, "rddId=5;exclusiveNs=300000000", 0},
            {trace, 3, 2, "RDD:HadoopRDD", "Executor/a", begin, length, read, 0},
        };
        fixture_store(&fixture, rows, G_N_ELEMENTS(rows));
    }

    json_auto_t *answer = fixture_answer(&fixture, "operations", "app=latest");
    const json_t *stage = json_array_get(json_object_get(answer, "stages"), 0);
    check_scores(stage);
    g_assert_cmpstr(text_at(stage, "source"), ==, "agent");

    const json_t *first = json_array_get(json_object_get(stage, "top"), 0);
    const json_t *tree = json_array_get(json_object_get(first, "trees"), 0);
    g_autofree char *expected = g_strdup_printf("%016" G_GINT64_MODIFIER "x", task_trace_id(APP, 103));
    g_assert_cmpstr(text_at(tree, "trace"), ==, expected);
    g_assert_true(g_str_has_suffix(text_at(tree, "span"), "0000000000000003"));
    g_assert_nonnull(json_object_get(stage, "clusters"));
    fixture_check_document("operations-traced", answer);
}

static void test_without_operations(void) {
    g_auto(Fixture) fixture = {0};
    fill(&fixture, FALSE);
    json_auto_t *answer = fixture_answer(&fixture, "operations", "app=latest");
    g_assert_cmpuint(json_array_size(json_object_get(answer, "stages")), ==, 0);
    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "operations", "app=app-nowhere", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
}

/* Executors of one core. The one began with the only task of stage 0, 5 s, which tells nothing of its start; the other
 * with one of stage 1, 2 s where others took 1: its start is a second. Scheduled again the one has the first 5 s, the
 * other 2 and three others, and then each another. */
static void starts_count_once(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkApp *app = spark_add_app(records);
    app->app = app->id = APP, app->start_ms = BASE_MS, app->end_ms = BASE_MS + 9000;
    static const gint64 stages[] = {0, 1};
    SparkJob *job = spark_add_job(records);
    job->app = APP, job->job = 0, job->result = JOB_SUCCEEDED, job->stages = (SparkNumbers){stages, 2};
    job->submitted_ms = app->start_ms, job->completed_ms = app->end_ms;

    for (guint i = 0; i < 7; i++) {
        SparkTask *task = spark_add_task(records);
        task->app = APP, task->stage = i > 0, task->task = task->partition = (gint32)i, task->stage_attempt = 0;
        task->executor = i == 1 ? "2" : "1", task->host = host_of(i);
        task->launch_ms = BASE_MS + i * 1000;
        task->finish_ms = task->launch_ms + (i == 0 ? 5000 : i == 1 ? 2000 : 1000);
        task->status = TASK_SUCCESS;
    }
    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture.archive, records, BASE_MS, &put, &error);
    g_assert_no_error(error);

    json_auto_t *answer = fixture_answer(&fixture, "advise", "app=latest&simulate=true");
    const json_t *simulation = json_object_get(answer, "simulation");
    const json_t *two = json_array_get(json_object_get(simulation, "rows"), 1);
    g_assert_cmpint(number_at(simulation, "start_ns"), ==, 1000 * NS_PER_MS);
    g_assert_cmpint(number_at(two, "executors"), ==, 2);
    g_assert_cmpint(number_at(two, "time_ns"), ==, 6000 * NS_PER_MS);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/stragglers/causes", test_stragglers);
    g_test_add_func("/query/stragglers/options", test_options);
    g_test_add_func("/query/stragglers/methods", test_methods);
    g_test_add_func("/diagnoses/ledger", test_ledger);
    g_test_add_func("/query/operations/records", test_operations);
    g_test_add_func("/query/operations/pipelines", test_pipelines);
    g_test_add_func("/query/marks", test_marks);
    g_test_add_func("/query/tasks/columns", test_task_columns);
    g_test_add_func("/query/tasks/columns-of-failures", test_columns_of_failures);
    g_test_add_func("/query/samples", test_samples);
    g_test_add_func("/query/operations/traces", test_traced_operations);
    g_test_add_func("/query/operations/none", test_without_operations);
    g_test_add_func("/diagnoses/starts", starts_count_once);
    return g_test_run();
}
