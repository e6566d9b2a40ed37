/* The questions about applications of Spark, asked of a small store, against documents that were checked by hand. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/model/stage_label.h"
#include "common/store/store.h"
#include "tests/query/fixture.h"

#define BASE_MS (SAMPLE_BASE_NS / 1000000)

static SparkApp *add_app(SparkRecords *records, const char *id, const char *name, gint64 begin_ms) {
    SparkApp *app = spark_add_app(records);
    app->app = app->id = id;
    app->name = name;
    app->start_ms = BASE_MS + begin_ms;
    return app;
}

/* What a task took, and of which bytes the sums of a stage are made. */
typedef struct TaskRow {
    gint64 stage, task;
    gint32 attempt;
    const char *host;
    gint64 begin_ms, duration_ms;
    TaskStatus status;
    gint64 input, shuffle_remote, shuffle_local, spilled, gc_ms;
} TaskRow;

static const TaskRow tasks[] = {
    {0, 0, 0, "node-1", 0, 1000, TASK_SUCCESS, 100, -1, -1, -1, 10},
    {0, 1, 0, "node-2", 0, 1100, TASK_SUCCESS, 110, -1, -1, -1, 20},
    {0, 2, 0, "node-3", 10, 1600, TASK_SUCCESS, 120, -1, -1, 5000, 30},
    {0, 3, 0, "node-1", 1000, 900, TASK_SUCCESS, 90, -1, -1, -1, 40},
    {0, 4, 0, "node-2", 1100, 50, TASK_FAILED, -1, -1, -1, -1, -1},
    {1, 5, 0, "node-1", 2000, 200, TASK_KILLED, -1, 7, 8, -1, -1},
    {1, 6, 1, "node-2", 3000, 400, TASK_SUCCESS, -1, 70, 80, -1, 0},
    {2, 7, 0, "node-2", 4000, -1, TASK_RUNNING, -1, -1, -1, -1, -1},
};

static void add_task(SparkRecords *records, const TaskRow *row) {
    SparkTask *task = spark_add_task(records);
    task->app = "app-20201121105300-0001";
    task->stage = row->stage, task->task = row->task, task->stage_attempt = row->attempt;
    task->partition = (gint32)row->task, task->attempt = 0, task->speculative = 0;
    task->host = row->host, task->executor = row->host + strlen("node-");
    task->locality = LOCALITY_NODE;
    task->launch_ms = BASE_MS + row->begin_ms;
    if (row->duration_ms >= 0) task->finish_ms = task->launch_ms + row->duration_ms;
    task->status = row->status;
    if (row->status == TASK_FAILED) task->reason = "java.io.IOException: the disk is on fire";
    task->metrics[METRIC_INPUT_BYTES] = row->input;
    task->metrics[METRIC_SHUFFLE_REMOTE_BYTES] = row->shuffle_remote;
    task->metrics[METRIC_SHUFFLE_LOCAL_BYTES] = row->shuffle_local;
    task->metrics[METRIC_DISK_SPILLED_BYTES] = row->spilled;
    task->metrics[METRIC_GC_MS] = row->gc_ms;
}

static SparkStage *add_stage(SparkRecords *records, gint64 id, gint32 attempt, gint64 begin_ms) {
    SparkStage *stage = spark_add_stage(records);
    stage->app = "app-20201121105300-0001";
    stage->stage = id, stage->attempt = attempt, stage->tasks = 2;
    stage->name = "count at Main.scala:17";
    stage->submitted_ms = BASE_MS + begin_ms;
    return stage;
}

static void add_executor(SparkRecords *records, const char *id, const char *host, gint32 cores) {
    SparkExecutor *executor = spark_add_executor(records);
    executor->app = "app-20201121105300-0001", executor->id = id, executor->host = host, executor->cores = cores;
    executor->added_ms = BASE_MS - 1000;
}

static void add_jobs(SparkRecords *records) {
    static const gint64 first[] = {0}, second[] = {1, 2};
    SparkJob *job = spark_add_job(records);
    job->app = "app-20201121105300-0001", job->job = 0, job->result = JOB_SUCCEEDED;
    job->submitted_ms = BASE_MS, job->completed_ms = BASE_MS + 2000, job->stages = (SparkNumbers){first, 1};
    job->call_site = "count at Main.scala:17";
    job = spark_add_job(records);
    job->app = "app-20201121105300-0001", job->job = 1, job->result = JOB_FAILED;
    job->submitted_ms = BASE_MS + 2000, job->completed_ms = BASE_MS + 5000, job->stages = (SparkNumbers){second, 2};
    job->description = "the report", job->error = "FetchFailed: node-3 is gone\nat Main";
}

static void store_sample(Fixture *fixture) {
    static const SparkPair pairs[] = {{"spark.executor.memory", "1g"}, {"spark.task.cpus", "2"}};
    static const SparkRdd rdds[] = {{.id = 3,
                                     .name = "HadoopRDD",
                                     .scope = "textFile",
                                     .call_site = "textFile at Main.scala:9",
                                     .storage_level = "memory",
                                     .partitions = 4}};

    static const SparkPair gpu = {"executor gpu", "1"};
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkApp *app = add_app(records, "app-20201121105300-0001", "Word count", 0);
    app->end_ms = BASE_MS + 60000, app->user = "anna", app->version = "4.3.0", app->driver_host = "node-0";
    app->attempt = "1", app->last_event_ms = app->end_ms;
    app->log_complete = 1, app->properties = (SparkPairs){pairs, 2};
    add_app(records, "app-20201121105200-0000", "Word count", -60000)->last_event_ms = BASE_MS - 50000;
    add_app(records, "app-20201121105100-0009", "Join", -120000)->log_complete = 1;

    SparkStage *stage = add_stage(records, 0, 0, 0);
    stage->completed_ms = BASE_MS + 2000, stage->tasks = 4, stage->details = "Main$.main(Main.scala:17)";
    stage->rdds = (SparkRdds){rdds, 1}, stage->profile = 1;
    add_stage(records, 1, 0, 2000)->failure = "FetchFailed: node-3 is gone";
    add_stage(records, 1, 1, 3000)->completed_ms = BASE_MS + 3500;

    add_jobs(records);
    add_executor(records, "driver", "node-0", 1);
    add_executor(records, "1", "node-1", 2);
    SparkExecutor *gone = spark_add_executor(records);
    gone->app = "app-20201121105300-0001", gone->id = "2", gone->host = "node-2", gone->cores = 1;
    gone->added_ms = BASE_MS, gone->removed_ms = BASE_MS + 5000, gone->reason = "worker lost";
    gone->memory_bytes = 434 << 20, gone->peaks[PEAK_HEAP] = 300 << 20;

    SparkExclusion *excluded = spark_add_exclusion(records);
    excluded->app = gone->app, excluded->executor = "2", excluded->time_ms = BASE_MS + 4000, excluded->failures = 2;
    excluded->stage = 1, excluded->stage_attempt = 0;
    excluded = spark_add_exclusion(records);
    excluded->app = gone->app, excluded->host = "node-2", excluded->failures = 2;
    excluded->time_ms = BASE_MS + 4100, excluded->back_ms = BASE_MS + 4500;
    SparkProfile *profile = spark_add_profile(records);
    profile->app = gone->app, profile->profile = 1, profile->memory_bytes = G_GINT64_CONSTANT(2) << 30;
    profile->overhead_bytes = profile->off_heap_bytes = profile->python_bytes = 64 << 20;
    profile->cores = 2, profile->task_cpus = 1, profile->others = (SparkPairs){&gpu, 1};
    spark_add_profile(records)->app = gone->app; /* the settings' */
    g_array_index(records->of[SPARK_PROFILE], SparkProfile, 1).profile = 0;

    for (guint i = 0; i < G_N_ELEMENTS(tasks); i++) add_task(records, &tasks[i]);
    SparkTask *alone = spark_add_task(records); /* of which nothing else is known */
    alone->app = "app-x", alone->stage = 0, alone->task = 0, alone->stage_attempt = 0;

    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture->archive, records, BASE_MS - 3600000, &put, &error);
    g_assert_no_error(error);
}

static const struct Case {
    const char *file, *question, *params;
} cases[] = {
    {"apps", "apps", ""},
    {"apps-two", "apps", "limit=2"},
    {"apps-advice", "apps", "limit=2&advice=true"},
    {"advise-simulate", "advise", "app=app-20201121105300-0001&simulate=true"},
    {"advise-all", "advise", "since=2020-11-21T10:00:00Z&until=2020-11-22T00:00:00Z&limit=1"},
    {"advise", "advise", "app=app-20201121105300-0001&all=true"},
    {"advise-drelephant", "advise", "app=app-20201121105300-0001&method=drelephant&limits=gc=0.1/0.15/never/0.3"},
    {"stages", "stages", "app=app-20201121105300-0001"},
    {"stages-one", "stages", "app=latest&stage=0.0"},
    {"stages-by-stragglers", "stages", "app=latest&sort=stragglers&limit=1"},
    {"jobs", "jobs", "app=app-20201121105300-0001"},
    {"executors", "executors", "app=latest"},
    {"executors-time", "executors", "app=latest&sort=time&limit=1"},
    {"tasks", "tasks", "app=app-202011211053"},
    {"tasks-slowest", "tasks", "app=Word count&sort=duration&limit=2"},
    {"tasks-one", "tasks", "app=latest&task=5"},
    {"tasks-host", "tasks", "app=latest&host=node-2&status=success"},
    {"tasks-stage", "tasks", "app=latest&stage=1.1"},
};

static void test_documents(gconstpointer data) {
    const struct Case *test = data;
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    store_sample(&fixture);
    json_auto_t *answer = fixture_answer(&fixture, test->question, test->params);
    fixture_check_document(test->file, answer);
}

/* Ten tasks of an hour that had 64 MiB and spilled as much: twice as many. */
static void test_advice(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkApp *app = add_app(records, "app-20201121105300-0001", "Orders", 0);
    app->end_ms = BASE_MS + 3600000, app->version = "3.5.6", app->log_complete = 1;
    static const SparkRdd rdds[] = {{.id = 3, .name = "ShuffledRowRDD", .scope = "AQEShuffleRead"},
                                    {.id = 5, .name = "MapPartitionsRDD", .scope = "Exchange"}};
    static const SparkPair own[] = {{"spark.sql.shuffle.partitions", "10"}};
    static const SparkPlanMetric of_sort[] = {{"spill size", "size", 7}}, of_exchange[] = {{"data size", "size", 5}};
    static const SparkPlanNode plan[] = {
        {.name = "Sort", .parent = -1, .metrics = {of_sort, 1}},
        {.name = "Exchange", .text = "Exchange hashpartitioning(customer#1L, 10)", .metrics = {of_exchange, 1}}};
    static const gint64 counted[] = {5, 1000, 7, 640 << 20};
    SparkStage *stage = add_stage(records, 1, 0, 0);
    stage->rdds = (SparkRdds){rdds, 2}, stage->values = (SparkNumbers){counted, G_N_ELEMENTS(counted)};
    SparkQuery *query = spark_add_query(records);
    query->app = app->app, query->query = 4, query->part = 0, query->description = "orders by customer";
    query->settings = (SparkPairs){own, 1}, query->plan = (SparkPlan){plan, G_N_ELEMENTS(plan)};
    for (guint i = 0; i < 10; i++) {
        add_task(records, &(TaskRow){1, i, 0, "node-1", 0, 3600000, TASK_SUCCESS, -1, 0, 1 << 26, 1 << 26, 0});
        SparkTask *task = &g_array_index(records->of[SPARK_TASK], SparkTask, i);
        task->metrics[METRIC_RUN_MS] = 3590000;
        task->metrics[METRIC_PEAK_MEMORY_BYTES] = task->metrics[METRIC_MEMORY_SPILLED_BYTES] = 1 << 26;
    }
    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture.archive, records, BASE_MS, &put, &error);
    g_assert_no_error(error);
    json_auto_t *answer = fixture_answer(&fixture, "advise", "app=latest&all=true");
    fixture_check_document("advise-spill", answer);
    json_auto_t *stages = fixture_answer(&fixture, "stages", "app=latest");
    fixture_check_document("stages-query", stages);
}

static SparkQuery *add_query(SparkRecords *records, gint64 number, const SparkPlanNode *plan, guint32 n) {
    SparkQuery *query = spark_add_query(records);
    query->app = "app-20201121105300-0001", query->query = number, query->part = 0;
    query->plan = (SparkPlan){plan, n};
    return query;
}

/* What 1,250 MiB cost that a task spilled, which worked 25 s of 100. Of its query's plan, the Sort counts with it. */
static gint64 spill_cost_ms(const SparkPlanNode *plan, guint32 n) {
    static const SparkRdd rdds[] = {{.id = 3, .name = "ShuffledRowRDD", .scope = "Exchange"}};
    static const gint64 counted[] = {7, 1250LL << 20};
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkApp *app = add_app(records, "app-20201121105300-0001", "Orders", 0);
    app->end_ms = BASE_MS + 100000, app->version = "3.2.4", app->log_complete = 1;
    SparkStage *stage = add_stage(records, 1, 0, 0);
    stage->rdds = (SparkRdds){rdds, 1}, stage->values = (SparkNumbers){counted, G_N_ELEMENTS(counted)};
    add_query(records, 1, plan, n);
    add_task(records, &(TaskRow){1, 0, 0, "node-1", 0, 100000, TASK_SUCCESS, -1, 0, 1 << 26, -1, 0});
    gint64 *metrics = g_array_index(records->of[SPARK_TASK], SparkTask, 0).metrics;
    metrics[METRIC_RUN_MS] = 100000, metrics[METRIC_CPU_NS] = 25000 * NS_PER_MS, metrics[METRIC_GC_MS] = 0;
    metrics[METRIC_MEMORY_SPILLED_BYTES] = counted[1];
    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture.archive, records, BASE_MS, &put, &error);
    g_assert_no_error(error);

    json_auto_t *answer = fixture_answer(&fixture, "advise", "app=latest&all=true");
    const json_t *findings = json_object_get(answer, "findings");
    for (gsize i = 0; i < json_array_size(findings); i++) {
        const json_t *row = json_array_get(findings, i);
        if (strcmp(json_string_value(json_object_get(row, "rule")), "spill") == 0)
            return json_integer_value(json_object_get(row, "cost_ns")) / NS_PER_MS;
    }
    return -1;
}

/* Who waits for Python tells nothing of a busy processor: nodes of Python that count with the stage, and those that
 * count nothing. Others are another stage's. */
static void test_spill_beside_python(void) {
    static const SparkPlanMetric sorted[] = {{"spill size", "size", 7}}, elsewhere[] = {{"data sent", "size", 9}};
    const SparkPlanNode sort = {.name = "Sort", .parent = 0, .metrics = {sorted, 1}};
    static const struct {
        SparkPlanNode node;
        gint64 cost_ms;
    } table[] = {
        {{.name = "Filter", .parent = -1}, 40000},
        {{.name = "BatchEvalPython", .parent = -1}, 10000},
        {{.name = "ArrowEvalPython", .parent = -1, .metrics = {elsewhere, 1}}, 40000},
        {{.name = "MapInPandas", .parent = -1, .metrics = {sorted, 1}}, 10000},
    };
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        const SparkPlanNode plan[] = {table[i].node, sort};
        g_assert_cmpint(spill_cost_ms(plan, G_N_ELEMENTS(plan)), ==, table[i].cost_ms);
    }
}

/* Spark tells what was cached, and an exchange that is used again, in each plan that has it, with the same
 * accumulators: the query that made it is the one that reads 1,000 small files, once. */
static void test_used_again(void) {
    static const SparkPlanMetric of_scan[] = {{"number of files read", "sum", 10}, {"size of files read", "size", 11}};
    static const SparkPlanMetric of_sum[] = {{"spill size", "size", 20}};
    static const SparkPlanNode made[] = {
        {.name = "InMemoryTableScan", .parent = -1},
        {.name = "Scan parquet orders", .text = "FileScan parquet orders", .parent = 0, .metrics = {of_scan, 2}},
        {.name = "ReusedExchange", .parent = 0},
        {.name = "Scan parquet orders", .text = "FileScan parquet orders", .parent = 2, .metrics = {of_scan, 2}}};
    static const SparkPlanNode used[] = {
        {.name = "HashAggregate", .text = "HashAggregate(keys=[])", .parent = -1, .metrics = {of_sum, 1}},
        {.name = "InMemoryTableScan", .parent = 0},
        {.name = "Scan parquet orders", .text = "FileScan parquet orders", .parent = 1, .metrics = {of_scan, 2}}};
    static const gint64 read[] = {10, 1000, 11, 1000 << 10}, summed[] = {20, 1};
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkApp *app = add_app(records, "app-20201121105300-0001", "Orders", 0);
    app->end_ms = BASE_MS + 3600000, app->version = "3.5.6", app->log_complete = 1;
    add_stage(records, 0, 0, 0)->values = (SparkNumbers){read, G_N_ELEMENTS(read)};
    add_stage(records, 1, 0, 0)->values = (SparkNumbers){summed, G_N_ELEMENTS(summed)};
    add_query(records, 1, made, G_N_ELEMENTS(made));
    add_query(records, 2, used, G_N_ELEMENTS(used));
    add_query(records, 3, used, G_N_ELEMENTS(used));
    add_task(records, &(TaskRow){0, 0, 0, "node-1", 0, 60000, TASK_SUCCESS, 1000 << 10, 0, 0, -1, 0});
    add_task(records, &(TaskRow){1, 1, 0, "node-1", 60000, 60000, TASK_SUCCESS, -1, 0, 0, -1, 0});
    g_array_index(records->of[SPARK_TASK], SparkTask, 0).metrics[METRIC_RUN_MS] = 60000;
    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture.archive, records, BASE_MS, &put, &error);
    g_assert_no_error(error);

    json_auto_t *answer = fixture_answer(&fixture, "advise", "app=latest&all=true");
    gsize i, found = 0;
    json_t *row;
    json_array_foreach(json_object_get(answer, "findings"), i, row) found +=
        strcmp(json_string_value(json_object_get(row, "rule")), "small-files") == 0;
    g_assert_cmpuint(found, ==, 1);
    json_auto_t *stages = fixture_answer(&fixture, "stages", "app=latest&sort=stage");
    static const char *const names[] = {"Scan parquet orders", "HashAggregate"};
    json_array_foreach(json_object_get(stages, "stages"), i, row) {
        const gint64 stage = json_integer_value(json_object_get(row, "stage"));
        g_assert_cmpstr(json_string_value(json_object_get(row, "name")), ==, names[stage]);
        g_assert_cmpint(json_integer_value(json_object_get(row, "query")), ==, stage == 0 ? 1 : 2);
    }
    g_assert_cmpuint(i, ==, 2);
}

/* A record as bridges wrote it that told an exclusion with the executor, in field 10: it is no profile. */
static void test_exclusion_of_before(void) {
    static const char stored[] = "\x0a\x01"
                                 "7\x28\x80\xce\x87\xe6\xc3\x68";
    const SparkExecutor executor = {.app = "app-20201121105300-0001", .id = "7"};
    const SparkKey key = spark_record_key(SPARK_EXECUTOR, spark_hash_text(executor.app), &executor);
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    store_sample(&fixture);
    g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
    store_batch_put(batch, FAMILY_SPARK, spark_key_bytes(&key), (Bytes){(const guint8 *)stored, sizeof stored - 1});
    g_assert_true(store_write(fixture.store, batch, FALSE, NULL));

    json_auto_t *answer = fixture_answer(&fixture, "executors", "app=app-20201121105300-0001");
    gsize i, found = 0;
    json_t *row;
    json_array_foreach(json_object_get(answer, "executors"), i, row) {
        if (strcmp(json_string_value(json_object_get(row, "executor")), "7") == 0) found++;
        g_assert_null(json_object_get(row, "profile"));
    }
    g_assert_cmpuint(found, ==, 1);
    row = json_array_get(json_object_get(answer, "exclusions"), 2); /* after those of the sample */
    g_assert_cmpstr(json_string_value(json_object_get(row, "text")), ==, "executor 7 was excluded");
    g_assert_cmpint(json_integer_value(json_object_get(row, "time_ns")), ==,
                    G_GINT64_CONSTANT(1795806000000) * 1000000);
}

/* A damaged record of one application leaves the advice on the others. */
static void test_advice_beside_damage(void) {
    const SparkTask task = {.app = "app-20201121105300-0001", .stage = 0, .stage_attempt = 0, .task = 0};
    const SparkKey key = spark_record_key(SPARK_TASK, spark_hash_text(task.app), &task);
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    store_sample(&fixture);
    json_auto_t *sound = fixture_answer(&fixture, "apps", "advice=true");
    g_autoptr(GBytes) stored = NULL;
    g_assert_true(store_get(fixture.store, FAMILY_SPARK, spark_key_bytes(&key), &stored, NULL));
    g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
    store_batch_put(batch, FAMILY_SPARK, spark_key_bytes(&key), (Bytes){(const guint8 *)"\x0b", 1});
    g_assert_true(store_write(fixture.store, batch, FALSE, NULL));

    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "advise", "app=app-20201121105300-0001", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    json_auto_t *answer = fixture_answer(&fixture, "apps", "advice=true");
    json_t *expected = json_object_get(sound, "apps");
    for (gsize i = 0; i < json_array_size(expected); i++) {
        json_t *row = json_array_get(expected, i);
        if (strcmp(json_string_value(json_object_get(row, "app")), task.app) == 0)
            json_object_set_new(row, "advice",
                                json_pack("{s:s}", "not_judged", "its records are damaged: plumb verify"));
    }
    g_assert_cmpuint(json_array_size(expected), >, 2);
    g_assert_true(json_equal(json_object_get(answer, "apps"), expected));
}

static const json_t *advice_of(const json_t *answer, const char *app) {
    gsize i;
    const json_t *row;
    json_array_foreach(json_object_get(answer, "apps"), i,
                       row) if (strcmp(json_string_value(json_object_get(row, "app")), app) ==
                                0) return json_object_get(row, "advice");
    g_assert_not_reached();
}

/* One that takes too much memory by itself says so, and the others have their advice. */
static void test_advice_beside_a_large_one(void) {
    enum { TASKS = 40000 };
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    store_sample(&fixture);
    json_auto_t *alone = fixture_answer(&fixture, "apps", "advice=true");
    g_autoptr(SparkRecords) records = spark_records_new();
    add_app(records, "app-large", "Large", 0)->log_complete = 1;
    for (guint i = 0; i < TASKS; i++) {
        SparkTask *task = spark_add_task(records);
        task->app = "app-large", task->stage = 0, task->stage_attempt = 0, task->task = i;
        task->launch_ms = BASE_MS, task->finish_ms = BASE_MS + 5, task->status = TASK_SUCCESS;
    }
    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture.archive, records, BASE_MS, &put, &error);
    g_assert_no_error(error);

    AllowanceBudget budget = {.limit_bytes = 1024 * 1024};
    Allowance allowance = {.budget = &budget};
    allowance_begin(&allowance);
    json_auto_t *answer = fixture_ask(&fixture, "apps", "advice=true", &error);
    g_assert_no_error(error);
    allowance_end();
    g_assert_cmpuint(budget.used_bytes, ==, 0);
    g_assert_cmpstr(json_string_value(json_object_get(advice_of(answer, "app-large"), "not_judged")), ==,
                    "it takes more memory than one question may");
    const char *other = "app-20201121105300-0001";
    g_assert_true(json_equal(advice_of(answer, other), advice_of(alone, other)));

    allowance_begin(&allowance);
    g_assert_null(fixture_ask(&fixture, "advise", "app=app-large", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    allowance_end();
}

/* The RDDs of stages as Spark 3.5 and 4.3 log them, in the order of their logs. */
static void test_stage_names(void) {
    static const struct {
        SparkRdd rdds[8];
        guint n;
        const char *expected;
    } table[] = {
        {{{.id = 19, .name = "MapPartitionsRDD", .scope = "Exchange"},
          {.id = 16, .name = "MapPartitionsRDD", .scope = "Scan parquet "},
          {.id = 15, .name = "FileScanRDD", .scope = "Scan parquet "},
          {.id = 17, .name = "MapPartitionsRDD", .scope = "WholeStageCodegen (2)"}},
         4,
         "Scan parquet > Exchange"},
        {{{.id = 15, .name = "FileScanRDD", .scope = "Scan parquet spark_catalog.default.orders"}},
         1,
         "Scan parquet spark_catalog.default.orders"},
        {{{.id = 26, .name = "MapPartitionsRDD", .scope = "Exchange"},
          {.id = 22, .name = "ShuffledRowRDD", .scope = "AQEShuffleRead"},
          {.id = 24, .name = "ZippedPartitionsRDD2", .scope = "WholeStageCodegen (5)"},
          {.id = 20, .name = "ShuffledRowRDD", .scope = "AQEShuffleRead"}},
         4,
         "Shuffle read > Join > Exchange"},
        {{{.id = 31, .name = "MapPartitionsRDD", .scope = "WholeStageCodegen (7)"},
          {.id = 30, .name = "ShuffledRowRDD", .scope = "Exchange"}},
         2,
         "Shuffle read"},
        {{{.id = 32, .scope = "mapPartitionsInternal"}, {.id = 31, .scope = "WholeStageCodegen (7)"}}, 2, "Query"},
        {{{.id = 1, .scope = "A"},
          {.id = 2, .scope = "B"},
          {.id = 3, .scope = "C"},
          {.id = 4, .scope = "D"},
          {.id = 5, .scope = "E"}},
         5,
         "A > B > C > ... > E"},
        {{{.id = 3, .name = "HadoopRDD", .scope = "textFile"}, {.id = 4}}, 2, "$anonfun at A.java:1"},
        {{{.id = 3}}, 0, "$anonfun at A.java:1"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        const SparkStage stage = {.name = "$anonfun at A.java:1", .rdds = {table[i].rdds, table[i].n}};
        g_autofree char *label = spark_stage_label(&stage);
        g_assert_cmpstr(label, ==, table[i].expected);
    }
    g_assert_null(spark_stage_label(&(SparkStage){.name = NULL}));
}

static void test_mistakes(void) {
    static const struct {
        const char *question, *params;
        PlumbError code;
        const char *says;
    } mistakes[] = {
        {"stages", "", PLUMB_ERROR_INPUT, "which application?"},
        {"advise", "", PLUMB_ERROR_INPUT, "which application?"},
        {"stages", "app=app-2020112110530-0001", PLUMB_ERROR_NOT_FOUND, "did you mean \"app-20201121105300-0001\"?"},
        {"stages", "app=Word cout", PLUMB_ERROR_NOT_FOUND, "did you mean \"Word count\"?"},
        {"tasks", "app=nothing like it at all", PLUMB_ERROR_NOT_FOUND, "the newest are app-20201121105300-0001"},
        {"tasks", "app=app-20", PLUMB_ERROR_INPUT, "3 applications begin with"},
        {"tasks", "app=latest&stage=x", PLUMB_ERROR_INPUT, "as in 3.1"},
        {"tasks", "app=latest&stage=1.2.3", PLUMB_ERROR_INPUT, "as in 3.1"},
        {"tasks", "app=latest&stage=", PLUMB_ERROR_INPUT, "as in 3.1"},
        {"tasks", "app=latest&status=dead", PLUMB_ERROR_INPUT, "status"},
        {"tasks", "app=latest&sort=size", PLUMB_ERROR_INPUT, "sort"},
        {"apps", "limit=-1", PLUMB_ERROR_INPUT, "limit"},
    };

    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);

    g_autoptr(GError) none = NULL;
    g_assert_null(fixture_ask(&fixture, "stages", "app=latest", &none));
    g_assert_error(none, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(none->message, "plumb-bridge"));

    store_sample(&fixture);
    for (guint i = 0; i < G_N_ELEMENTS(mistakes); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(fixture_ask(&fixture, mistakes[i].question, mistakes[i].params, &error));
        g_assert_error(error, PLUMB_ERROR, (int)mistakes[i].code);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, mistakes[i].says));
    }
}

/* The numbers of the documents, once more by hand: 900, 1000, 1100, 1600 ms. */
static void test_numbers(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    store_sample(&fixture);
    json_auto_t *answer = fixture_answer(&fixture, "stages", "app=latest");
    const json_t *stage = json_array_get(json_object_get(answer, "stages"), 0);
    g_assert_cmpint(number_at(stage, "median_ns"), ==, 1050000000);
    g_assert_cmpint(number_at(stage, "p95_ns"), ==, 1525000000); /* 1100 + 0.85 * 500 */
    g_assert_cmpint(number_at(stage, "max_ns"), ==, 1600000000);
    g_assert_cmpint(number_at(stage, "stragglers"), ==, 1); /* from 1575 ms on */
    g_assert_cmpint(number_at(stage, "tasks"), ==, 5);
    g_assert_cmpint(number_at(stage, "input_bytes"), ==, 420);
    json_auto_t *slow = fixture_answer(&fixture, "tasks", "app=latest&sort=duration&limit=1");
    const json_t *task = json_array_get(json_object_get(slow, "tasks"), 0);
    g_assert_cmpint(number_at(task, "task"), ==, 2);
    g_assert_cmpfloat_with_epsilon(json_real_value(json_object_get(task, "times_median")), 1600.0 / 1050, 1e-9);
    g_autofree char *trace = g_strdup_printf("%016" G_GINT64_MODIFIER "x", task_trace_id("app-20201121105300-0001", 2));
    g_assert_cmpstr(text_at(task, "trace"), ==, trace);
}

/* An application without an end runs as long as its log says something; now is an hour after BASE_MS. */
static void test_states(void) {
    static const struct {
        const char *id, *state;
        gint64 event_minute, end_ms, log_complete; /* event_minute -1: the log has named no time yet */
    } apps[] = {
        {"ended", "ended", 0, 5, 0},   {"cut", "cut off", 0, -1, 1},    {"busy", "running", 50, -1, 0},
        {"new", "running", -1, -1, 0}, {"silent", "silent", 49, -1, 0}, {"ahead", "running", 90, -1, 0},
    };

    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    for (guint i = 0; i < G_N_ELEMENTS(apps); i++) {
        SparkApp *app = add_app(records, apps[i].id, NULL, 0);
        if (apps[i].event_minute >= 0) app->last_event_ms = BASE_MS + apps[i].event_minute * 60000;
        app->end_ms = apps[i].end_ms, app->log_complete = apps[i].log_complete;
    }

    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture.archive, records, BASE_MS, &put, &error);
    g_assert_no_error(error);

    json_auto_t *answer = fixture_answer(&fixture, "apps", "");
    for (guint i = 0; i < G_N_ELEMENTS(apps); i++) {
        const json_t *row = row_where(json_object_get(answer, "apps"), "app", apps[i].id);
        g_assert_cmpstr(text_at(row, "state"), ==, apps[i].state);
        const gboolean silent = strcmp(apps[i].state, "silent") == 0;
        g_assert_cmpint(json_object_get(row, "silent_ns") != NULL, ==, silent);
        if (silent) g_assert_cmpint(number_at(row, "silent_ns"), ==, 11 * 60 * G_GINT64_CONSTANT(1000000000));
    }
}

/* Sums of what peers send end with the greatest number, and do not turn negative. */
static void test_greatest_numbers(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    for (guint i = 0; i < 2; i++) {
        add_task(records, &(TaskRow){.stage = 5, .task = i, .host = "node-1", .status = TASK_SUCCESS});
        SparkTask *task = &g_array_index(records->of[SPARK_TASK], SparkTask, i);
        for (guint metric = 0; metric < TASK_METRIC_COUNT; metric++) task->metrics[metric] = G_MAXINT64;
    }
    add_app(records, "app-20201121105300-0001", NULL, 0);
    SparkPut put;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture.archive, records, BASE_MS, &put, &error);
    g_assert_no_error(error);

    json_auto_t *answer = fixture_answer(&fixture, "stages", "app=latest");
    const json_t *row = json_array_get(json_object_get(answer, "stages"), 0);
    static const char *const sums[] = {"input_bytes", "input_records",       "output_bytes",       "shuffle_read_bytes",
                                       "run_ns",      "shuffle_write_bytes", "disk_spilled_bytes", "cpu_ns",
                                       "gc_ns",       "memory_spilled_bytes"};
    for (guint i = 0; i < G_N_ELEMENTS(sums); i++) g_assert_cmpint(number_at(row, sums[i]), ==, G_MAXINT64);
    json_auto_t *sorted = fixture_answer(&fixture, "stages", "app=latest&sort=shuffle");
    g_assert_cmpuint(json_array_size(json_object_get(sorted, "stages")), ==, 1);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/query/spark/%s", cases[i].file);
        g_test_add_data_func(path, &cases[i], test_documents);
    }
    g_test_add_func("/query/spark/advice", test_advice);
    g_test_add_func("/query/spark/spill-beside-python", test_spill_beside_python);
    g_test_add_func("/query/spark/used-again", test_used_again);
    g_test_add_func("/query/spark/exclusion-of-before", test_exclusion_of_before);
    g_test_add_func("/query/spark/advice/beside-damage", test_advice_beside_damage);
    g_test_add_func("/query/spark/advice/beside-a-large-one", test_advice_beside_a_large_one);
    g_test_add_func("/query/spark/stage-names", test_stage_names);
    g_test_add_func("/query/spark/mistakes", test_mistakes);
    g_test_add_func("/query/spark/numbers", test_numbers);
    g_test_add_func("/query/spark/states", test_states);
    g_test_add_func("/query/spark/greatest-numbers", test_greatest_numbers);
    return g_test_run();
}
