/* Lines of every version of Spark to records: what is read of each event, what is passed over, what is broken. */
#include "spark-bridge/events/events.h"

#include <string.h>

#include "common/model/spark_fields.h"
#include "spark-bridge/storage/line_reader.h"

#define APP_START                                                                                                      \
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"App "                                           \
    "ID\":\"app-1\",\"Timestamp\":5,\"User\":\"u\"}"

typedef struct Parsed {
    Events *events;
    SparkRecords *records;
} Parsed;

static Parsed parsed_new(const char *app) {
    Parsed parsed = {events_new(app, "log-name"), spark_records_new()};
    events_into(parsed.events, parsed.records);
    return parsed;
}

static void parsed_clear(Parsed *parsed) {
    events_free(parsed->events);
    spark_records_free(parsed->records);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parsed, parsed_clear)

/* The line in memory of exactly its size and the padding, which the sanitizer watches. */
static EventResult take(Parsed *parsed, const char *text) {
    const gsize n = strlen(text);
    g_autofree char *line = g_malloc(n + LINE_PADDING_BYTES);
    memcpy(line, text, n);
    memset(line + n, '"', LINE_PADDING_BYTES);
    const char *problem = NULL;
    const EventResult result = events_take(parsed->events, (Bytes){line, n}, &problem);
    g_assert_true((result == EVENT_BROKEN) == (problem != NULL));
    return result;
}

static void assert_taken(Parsed *parsed, const char *text) { g_assert_cmpint(take(parsed, text), ==, EVENT_TAKEN); }

#define BLOCK(id, memory, disk)                                                                                        \
    "{\"Block ID\":\"" id "\",\"Status\":{\"Storage Level\":{\"Use Disk\":true},\"Memory Size\":" memory               \
    ",\"Disk Size\":" disk "}}"
/* Kept in memory, kept on the disk, evicted, and none of an RDD. */
#define BLOCKS                                                                                                         \
    BLOCK("rdd_2_0", "77", "0")                                                                                        \
    "," BLOCK("rdd_2_1", "0", "78") "," BLOCK("rdd_1_7", "0", "0") "," BLOCK("broadcast_3", "0", "0")

static void test_task_of_4(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(
        &parsed,
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":3,\"Stage Attempt ID\":1,\"Task Type\":\"ShuffleMapTask\","
        "\"Task End Reason\":{\"Reason\":\"Success\"},\"Task Info\":{\"Task ID\":77,\"Index\":4,\"Attempt\":2,"
        "\"Partition ID\":9,\"Launch Time\":1000,\"Executor "
        "ID\":\"5\",\"Host\":\"w\\u00e9\",\"Locality\":\"RACK_LOCAL\","
        "\"Speculative\":true,\"Getting Result Time\":0,\"Finish Time\":1500,\"Failed\":false,\"Killed\":false,"
        "\"Accumulables\":[{\"ID\":1,\"Name\":\"Task Metrics\",\"Update\":\"{\\\"Stage ID\\\":8}\"}]},"
        "\"Task Executor Metrics\":{\"JVMHeapMemory\":11,\"Unknown\":[1,{}],\"OnHeapUnifiedMemory\":15,"
        "\"DirectPoolMemory\":0,\"ProcessTreeJVMRSSMemory\":16,\"ProcessTreePythonRSSMemory\":17,\"MinorGCCount\":0,"
        "\"MajorGCTime\":12,\"TotalGCTime\":18,\"ConcurrentGCCount\":19},"
        "\"Task Metrics\":{\"Executor Deserialize Time\":1,\"Executor Run Time\":400,\"JVM GC Time\":13,"
        "\"Peak Execution Memory\":14,\"Peak On Heap Execution Memory\":0,\"Peak Off Heap Execution Memory\":14,"
        "\"Shuffle Read Metrics\":{\"Remote Blocks Fetched\":2,\"Local Bytes Read\":3,"
        "\"Push Based Shuffle\":{\"Local Bytes Read\":99},\"Remote Bytes Read\":4},"
        "\"Shuffle Write Metrics\":{\"Shuffle Bytes Written\":5,\"Shuffle Write Time\":6},"
        "\"Input Metrics\":{\"Bytes Read\":7,\"Records Read\":8},\"Output Metrics\":{\"Bytes Written\":9},"
        "\"Updated Blocks\":[{\"Block ID\":\"x\"}," BLOCKS "],\"Result Size\":10}}");

    const SparkTask *task = spark_task(parsed.records, 0);
    g_assert_cmpstr(task->app, ==, "app-1");
    g_assert_cmpint(task->stage, ==, 3);
    g_assert_cmpint(task->stage_attempt, ==, 1);
    g_assert_cmpint(task->task, ==, 77);
    g_assert_cmpint(task->partition, ==, 9);
    g_assert_cmpint(task->attempt, ==, 2);
    g_assert_cmpint(task->speculative, ==, 1);
    g_assert_cmpstr(task->executor, ==, "5");
    g_assert_cmpstr(task->host, ==, "wé");
    g_assert_cmpint(task->launch_ms, ==, 1000);
    g_assert_cmpint(task->finish_ms, ==, 1500);
    g_assert_cmpint(task->getting_result_ms, ==, -1);
    g_assert_cmpint(task->locality, ==, LOCALITY_RACK);
    g_assert_cmpint(task->status, ==, TASK_SUCCESS);
    g_assert_null(task->reason);

    static const gint64 expected[TASK_METRIC_COUNT] = {[METRIC_DESERIALIZE_MS] = 1,
                                                       [METRIC_RUN_MS] = 400,
                                                       [METRIC_GC_MS] = 13,
                                                       [METRIC_PEAK_MEMORY_BYTES] = 14,
                                                       [METRIC_RESULT_BYTES] = 10,
                                                       [METRIC_SHUFFLE_REMOTE_BLOCKS] = 2,
                                                       [METRIC_SHUFFLE_LOCAL_BYTES] = 3,
                                                       [METRIC_SHUFFLE_REMOTE_BYTES] = 4,
                                                       [METRIC_SHUFFLE_WRITE_BYTES] = 5,
                                                       [METRIC_SHUFFLE_WRITE_NS] = 6,
                                                       [METRIC_INPUT_BYTES] = 7,
                                                       [METRIC_INPUT_RECORDS] = 8,
                                                       [METRIC_OUTPUT_BYTES] = 9,
                                                       [METRIC_HEAP_PEAK_BYTES] = 11,
                                                       [METRIC_MAJOR_GC_MS] = 12,
                                                       [METRIC_UNIFIED_PEAK_BYTES] = 15,
                                                       [METRIC_JVM_RSS_PEAK_BYTES] = 16,
                                                       [METRIC_PYTHON_RSS_PEAK_BYTES] = 17,
                                                       [METRIC_ALL_GC_MS] = 18,
                                                       [METRIC_CONCURRENT_GC_COUNT] = 19,
                                                       [METRIC_PEAK_OFF_HEAP_BYTES] = 14,
                                                       [METRIC_BLOCKS_KEPT] = 2,
                                                       [METRIC_BLOCKS_EVICTED] = 1};

    /* Of an executor 0 is what was not measured; of a task it is 0. */
    for (guint i = 0; i < TASK_METRIC_COUNT; i++)
        g_assert_cmpint(task->metrics[i], ==, i == METRIC_PEAK_ON_HEAP_BYTES ? 0 : expected[i] == 0 ? -1 : expected[i]);
}

/* Spark 1.x: no stage attempt, other objects beside the metrics, the peak among the Accumulables. */
static void test_task_of_1(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(
        &parsed,
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Type\":\"ResultTask\",\"Task End Reason\":"
        "{\"Reason\":\"Success\"},\"Task Info\":{\"Task ID\":0,\"Index\":6,\"Launch Time\":1000,\"Executor ID\":\"0\","
        "\"Host\":\"h\",\"Locality\":\"ANY\",\"Getting Result Time\":1100,\"Finish Time\":1200,\"Failed\":false,"
        "\"Accumulables\":[{\"ID\":3,\"Name\":\"peakExecutionMemory\",\"Update\":\"4321\",\"Value\":\"9\"}]},"
        "\"Task Metrics\":{\"Host Name\":\"h\",\"Executor Run Time\":50,\"Shuffle Read Metrics\":{\"Shuffle Finish "
        "Time\":-1,\"Total Blocks Fetched\":5,\"Fetch Wait Time\":2,\"Remote Bytes Read\":8},\"Input Metrics\":"
        "{\"Data Read Method\":\"Hadoop\",\"Bytes Read\":77}}}");
    const SparkTask *task = spark_task(parsed.records, 0);
    g_assert_cmpint(task->stage_attempt, ==, 0);
    g_assert_cmpint(task->partition, ==, 6);
    g_assert_cmpint(task->getting_result_ms, ==, 1100);
    g_assert_cmpint(task->metrics[METRIC_PEAK_MEMORY_BYTES], ==, 4321);
    g_assert_cmpint(task->metrics[METRIC_SHUFFLE_FETCH_WAIT_MS], ==, 2);
    g_assert_cmpint(task->metrics[METRIC_INPUT_BYTES], ==, 77);
    g_assert_cmpint(task->speculative, ==, -1);
}

static void test_how_tasks_end(void) {
    static const struct {
        const char *reason;
        TaskStatus status;
        const char *text;
    } cases[] = {
        {"{\"Reason\":\"Success\"}", TASK_SUCCESS, NULL},
        {"{\"Reason\":\"ExceptionFailure\",\"Class Name\":\"java.io.IOException\",\"Description\":\"disk\\nat x\"}",
         TASK_FAILED, "java.io.IOException: disk"},
        {"{\"Reason\":\"ExecutorLostFailure\",\"Executor ID\":\"1\",\"Exit Caused By App\":true,\"Loss "
         "Reason\":\"killed by "
         "YARN\"}",
         TASK_LOST, "ExecutorLostFailure: killed by YARN"},
        {"{\"Reason\":\"TaskKilled\",\"Kill Reason\":\"another attempt succeeded\",\"Accumulator Updates\":[]}",
         TASK_KILLED, "TaskKilled: another attempt succeeded"},
        {"{\"Reason\":\"FetchFailed\",\"Block Manager Address\":null,\"Message\":\"gone\"}", TASK_FAILED,
         "FetchFailed: gone"},
        {"{\"Reason\":\"TaskCommitDenied\",\"Job ID\":1}", TASK_KILLED, "TaskCommitDenied"},
        {"{\"Reason\":\"Resubmitted\"}", TASK_LOST, "Resubmitted"},
        {"{\"Reason\":\"OfAnotherVersion\"}", TASK_FAILED, "OfAnotherVersion"},
        {"null", TASK_RUNNING, NULL},
        {"{}", TASK_RUNNING, NULL},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Parsed) parsed = parsed_new("app-1");
        g_autofree char *line =
            g_strdup_printf("{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task End Reason\":%s,"
                            "\"Task Info\":{\"Task ID\":1}}",
                            cases[i].reason);
        assert_taken(&parsed, line);

        g_assert_cmpint(spark_task(parsed.records, 0)->status, ==, cases[i].status);
        g_assert_cmpstr(spark_task(parsed.records, 0)->reason, ==, cases[i].text);
    }
}

/* Start and end in one batch are one record; in two batches two, which merge. */
static void test_start_and_end(void) {
    static const char start[] =
        "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Info\":"
        "{\"Task ID\":1,\"Index\":0,\"Attempt\":0,\"Launch Time\":10,\"Executor ID\":\"e\",\"Host\":\"h\","
        "\"Finish Time\":0}}";
    static const char end[] =
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End Reason\":"
        "{\"Reason\":\"Success\"},\"Task Info\":{\"Task ID\":1,\"Launch Time\":10,\"Finish Time\":30}}";

    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(&parsed, start);
    g_assert_cmpint(spark_task(parsed.records, 0)->status, ==, TASK_RUNNING);
    g_assert_cmpint(spark_task(parsed.records, 0)->finish_ms, ==, -1);
    assert_taken(&parsed, end);
    g_assert_cmpuint(parsed.records->of[SPARK_TASK]->len, ==, 1);
    g_assert_cmpint(spark_task(parsed.records, 0)->status, ==, TASK_SUCCESS);
    g_assert_cmpstr(spark_task(parsed.records, 0)->host, ==, "h");

    assert_taken(&parsed, start);
    events_close_batch(parsed.events);
    g_assert_cmpint(spark_app(parsed.records, 0)->last_event_ms, ==, 30);

    spark_records_clear(parsed.records);
    events_into(parsed.events, parsed.records);
    assert_taken(&parsed, end);
    g_assert_cmpuint(parsed.records->of[SPARK_TASK]->len, ==, 1);
    g_assert_cmpstr(spark_task(parsed.records, 0)->app, ==, "app-1");
}

static void test_stage(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(&parsed,
                 "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":2,\"Stage Attempt ID\":1,"
                 "\"Stage Name\":\"count at x.py:3\",\"Number of Tasks\":8,\"RDD Info\":[{\"RDD ID\":5,\"Name\":"
                 "\"MapPartitionsRDD\",\"Scope\":\"{\\\"id\\\":\\\"3\\\",\\\"name\\\":\\\"map "
                 "\\\\\\\"q\\\\\\\"\\\",\\\"parent\\\":"
                 "{\\\"id\\\":\\\"1\\\",\\\"name\\\":\\\"outer\\\"}}\",\"Callsite\":\"map at x\",\"Parent IDs\":[3,4],"
                 "\"Storage Level\":{\"Use Disk\":true,\"Use Memory\":true,\"Deserialized\":false,\"Replication\":1},"
                 "\"Number of Partitions\":8},{\"Name\":\"no id\"}],\"Parent "
                 "IDs\":[0,1],\"Details\":\"d\",\"Submission Time\":100,"
                 "\"Completion Time\":200,\"Failure Reason\":\"lost\",\"Accumulables\":[{\"ID\":1}]}}");

    const SparkStage *stage = spark_stage(parsed.records, 0);
    g_assert_cmpint(stage->stage, ==, 2);
    g_assert_cmpint(stage->attempt, ==, 1);
    g_assert_cmpint(stage->tasks, ==, 8);
    g_assert_cmpstr(stage->name, ==, "count at x.py:3");
    g_assert_cmpstr(stage->failure, ==, "lost");
    g_assert_cmpint(stage->submitted_ms, ==, 100);
    g_assert_cmpint(stage->completed_ms, ==, 200);
    g_assert_cmpuint(stage->parents.n, ==, 2);
    g_assert_cmpuint(stage->rdds.n, ==, 1);

    const SparkRdd *rdd = stage->rdds.items;
    g_assert_cmpint(rdd->id, ==, 5);
    g_assert_cmpstr(rdd->scope, ==, "map \"q\"");
    g_assert_cmpstr(rdd->call_site, ==, "map at x");
    g_assert_cmpstr(rdd->storage_level, ==, "memory+disk");
    g_assert_cmpuint(rdd->parents.n, ==, 2);
    g_assert_cmpint(rdd->parents.items[1], ==, 4);
    g_assert_cmpint(rdd->partitions, ==, 8);
}

static void test_jobs(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(
        &parsed,
        "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":4,\"Submission Time\":50,\"Stage Infos\":[{\"Stage ID\":7,"
        "\"Stage Name\":\"last\",\"RDD Info\":[{}]},{\"Stage ID\":6,\"Stage Name\":\"first\"}],\"Stage IDs\":[6,7],"
        "\"Properties\":{\"spark.job.description\":\"why\"}}");
    assert_taken(&parsed,
                 "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":4,\"Completion Time\":60,\"Job Result\":{\"Result\":"
                 "\"JobFailed\",\"Exception\":{\"Message\":\"it broke\",\"Stack Trace\":[]}}}");
    const SparkJob *begun = spark_job(parsed.records, 0), *ended = spark_job(parsed.records, 1);
    g_assert_cmpint(begun->job, ==, 4);
    g_assert_cmpint(begun->submitted_ms, ==, 50);
    g_assert_cmpuint(begun->stages.n, ==, 2);
    g_assert_cmpstr(begun->description, ==, "why");
    g_assert_cmpstr(begun->call_site, ==, "last");
    g_assert_cmpint(ended->completed_ms, ==, 60);
    g_assert_cmpint(ended->result, ==, JOB_FAILED);
    g_assert_cmpstr(ended->error, ==, "it broke");
}

/* What comes before the application has a name waits for it. */
static void test_application(void) {
    g_auto(Parsed) parsed = parsed_new(NULL);
    assert_taken(&parsed, "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.6\"}");
    assert_taken(
        &parsed,
        "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":7,\"Executor ID\":\"0\",\"Executor Info\":{\"Host\":"
        "\"w1\",\"Total Cores\":4,\"Log Urls\":{}}}");
    assert_taken(&parsed,
                 "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":{\"Java Version\":\"17\"},\"Spark "
                 "Properties\":{\"spark.task.cpus\":\"1\",\"spark.master\":\"yarn\",\"spark.secret\":\"no\","
                 "\"spark.driver.host\":\"d\"},\"Hadoop Properties\":{\"yarn.nodemanager.resource.memory-mb\":\"-1\","
                 "\"fs.defaultFS\":\"no\"},\"System Properties\":{\"a\":\"b\"}}");
    g_assert_cmpuint(spark_records_count(parsed.records), ==, 0);
    g_assert_cmpuint(events_waiting(parsed.events), ==, 3);

    assert_taken(&parsed,
                 "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"name\",\"App ID\":\"application_1\","
                 "\"Timestamp\":5,\"User\":\"u\",\"App Attempt ID\":\"2\"}");
    assert_taken(
        &parsed,
        "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":9,\"Executor ID\":\"0\",\"Removed Reason\":\"x\"}");
    assert_taken(&parsed, "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor ID\":\"0\","
                          "\"Host\":\"w1\",\"Port\":1},\"Maximum Memory\":434031820,\"Timestamp\":8}");
    g_assert_false(events_ended(parsed.events));
    assert_taken(&parsed, "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":11}");
    g_assert_true(events_ended(parsed.events));

    g_assert_cmpstr(events_app(parsed.events), ==, "application_1_2");
    g_assert_cmpuint(events_waiting(parsed.events), ==, 0);
    for (guint i = 0; i < parsed.records->of[SPARK_APP]->len; i++)
        g_assert_cmpstr(spark_app(parsed.records, i)->app, ==, "application_1_2");
    g_assert_cmpuint(parsed.records->of[SPARK_APP]->len, ==, 4);

    const SparkApp *environment = spark_app(parsed.records, 1);
    g_assert_cmpstr(spark_app(parsed.records, 0)->version, ==, "3.5.6");
    g_assert_cmpstr(environment->driver_host, ==, "d");
    g_assert_cmpuint(environment->properties.n, ==, 4);
    g_assert_cmpstr(environment->properties.items[3].key, ==, "yarn.nodemanager.resource.memory-mb");
    g_assert_cmpstr(environment->properties.items[3].value, ==, "-1");
    g_assert_cmpstr(environment->properties.items[0].key, ==, "java.version");
    g_assert_cmpstr(environment->properties.items[1].key, ==, "spark.master");
    g_assert_cmpint(spark_app(parsed.records, 3)->end_ms, ==, 11);

    const SparkExecutor *added = spark_executor(parsed.records, 0), *removed = spark_executor(parsed.records, 1);
    g_assert_cmpstr(added->host, ==, "w1");
    g_assert_cmpint(added->cores, ==, 4);
    g_assert_cmpint(added->added_ms, ==, 7);
    g_assert_cmpint(removed->removed_ms, ==, 9);
    g_assert_cmpint(removed->added_ms, ==, -1);
    g_assert_cmpint(added->memory_bytes, ==, -1);
    g_assert_cmpint(spark_executor(parsed.records, 2)->memory_bytes, ==, 434031820);
}

/* A log that never names its application is called by its own name. */
static void test_no_name(void) {
    g_auto(Parsed) parsed = parsed_new(NULL);
    assert_taken(&parsed, "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":1}}");
    events_app_by_name(parsed.events);
    g_assert_cmpstr(spark_task(parsed.records, 0)->app, ==, "log-name");
    g_auto(Parsed) old = parsed_new(NULL);
    assert_taken(&old,
                 "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"Timestamp\":5,\"User\":\"u\"}");
    g_assert_cmpstr(spark_app(old.records, 0)->app, ==, "log-name");
}

static void test_passed_over(void) {
    static const char *const lines[] = {
        "",
        "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":3}",
        "{\"Event\":\"org.apache.spark.sql.streaming.StreamingQueryListener$QueryStartedEvent\",\"id\":0}",
        "{\"Event\":\"SparkListenerOfTheFuture\", anything }",
        "{\"Event\":\"SparkListenerTaskEndX\",\"Stage ID\":0}",
        " { \"x\" : 1, \"Event\" : \"SparkListenerOther\" } ",
    };
    g_auto(Parsed) parsed = parsed_new("app-1");
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) g_assert_cmpint(take(&parsed, lines[i]), ==, EVENT_PASSED);
    g_assert_cmpuint(spark_records_count(parsed.records), ==, 0);
    /* Written in another order and with blanks: still the event. */
    assert_taken(&parsed, " { \"Timestamp\" : 11, \"Event\" : \"SparkListenerApplicationEnd\" } ");
}

static void test_broken(void) {
    static const char *const lines[] = {
        "x",
        "{}",
        "{\"Event\":\"SparkListenerTaskEnd\"",
        "{\"Event\":\"SparkListenerTaskEnd\"}",
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0}",
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":\"1\"}}",
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":-4,\"Task Info\":{\"Task ID\":1}}",
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":1},\"Task Metrics\":{\"Executor "
        "Run Time",
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task "
        "ID\":1}}{\"Event\":\"SparkListenerLogStart\"}",
        "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{}}",
        "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":99999999999}}",
        "{\"Event\":\"SparkListenerJobStart\",\"Stage IDs\":[1,2}",
        "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":1}",
        "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD",
        "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":\"\xff\"}",
        "[\"Event\"]",
        "{\"Event\":7}",
    };

    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_auto(Parsed) parsed = parsed_new("app-1");
        g_assert_cmpint(take(&parsed, lines[i]), ==, EVENT_BROKEN);
        g_assert_cmpuint(spark_records_count(parsed.records), ==, 0);
        assert_taken(&parsed, "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":11}"); /* and goes on */
    }
}

/* Every line cut at every byte is broken or passed over, and leaves no record. */
static void test_cut_anywhere(void) {
    static const char line[] =
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":3,\"Task End Reason\":{\"Reason\":\"Success\"},\"Task "
        "Info\":{\"Task ID\":77,\"Host\":\"h\",\"Accumulables\":[{\"ID\":1}]},\"Task Metrics\":{\"Result Size\":10}}";
    for (gsize n = 1; n + 1 < sizeof line; n++) {
        g_auto(Parsed) parsed = parsed_new("app-1");
        g_autofree char *cut = g_strndup(line, n);
        g_assert_cmpint(take(&parsed, cut), ==, EVENT_BROKEN);
        g_assert_cmpuint(spark_records_count(parsed.records), ==, 0);
    }
}

/* Clocks that jump, and numbers that are none. */
static void test_odd_numbers(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(&parsed,
                 "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":1,\"Launch Time\":2000,"
                 "\"Finish Time\":1000,\"Index\":99999999999,\"Attempt\":-2,\"Host\":null,\"Speculative\":\"yes\"},"
                 "\"Task Metrics\":{\"Executor Run Time\":-7,\"JVM GC Time\":1.5,\"Result Size\":\"3\"}}");
    const SparkTask *task = spark_task(parsed.records, 0);
    g_assert_cmpint(spark_task_duration_ms(task), ==, -1);
    g_assert_cmpint(task->partition, ==, -1);
    g_assert_cmpint(task->attempt, ==, -1);
    g_assert_null(task->host);
    g_assert_cmpint(task->speculative, ==, -1);
    for (guint i = 0; i < TASK_METRIC_COUNT; i++) g_assert_cmpint(task->metrics[i], ==, -1);
}

/* ---- queries of Spark SQL ---- */

#define SQL "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListener"
#define SCAN                                                                                                           \
    "{\"nodeName\":\"Scan parquet \",\"simpleString\":\"FileScan parquet [id#1L]\",\"children\":[],\"metadata\":"      \
    "{\"Location\":\"InMemoryFileIndex(1 paths)[hdfs://n1/orders]\",\"Batched\":\"true\"},\"metrics\":[{\"name\":"     \
    "\"number of files read\",\"accumulatorId\":7,\"metricType\":\"sum\"},{\"name\":\"odd\",\"accumulatorId\":-3}]}"

static void test_query(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(&parsed,
                 SQL "SQLExecutionStart\",\"executionId\":4,\"description\":\"by customer\",\"sparkPlanInfo\":"
                     "{\"nodeName\":\"AdaptiveSparkPlan\",\"children\":[],\"metrics\":[]},\"time\":100,"
                     "\"modifiedConfigs\":{\"spark.sql.shuffle.partitions\":\"8\",\"spark.sql.other\":\"x\"}}");
    assert_taken(&parsed, SQL
                 "SQLAdaptiveExecutionUpdate\",\"executionId\":4,\"physicalPlanDescription\":\"==\","
                 "\"sparkPlanInfo\":{\"nodeName\":\"Exchange\",\"simpleString\":\"Exchange Single\",\"children\":"
                 "[{\"nodeName\":\"Filter\",\"children\":[" SCAN "],\"metrics\":[]}," SCAN "],\"metrics\":[{\"name\":"
                 "\"data size\",\"accumulatorId\":5,\"metricType\":\"size\"}]}}");
    assert_taken(&parsed, SQL "DriverAccumUpdates\",\"executionId\":4,\"accumUpdates\":[[9,18],[7,3],[8,-1],[6]]}");
    assert_taken(&parsed, SQL "SQLAdaptiveSQLMetricUpdates\",\"executionId\":4,\"sqlPlanMetrics\":[{\"name\":\"rows\","
                              "\"accumulatorId\":30,\"metricType\":\"sum\"}]}");
    assert_taken(&parsed, SQL "SQLExecutionEnd\",\"executionId\":4,\"time\":900,\"errorMessage\":\"no luck\\nat x\"}");

    g_assert_cmpuint(parsed.records->of[SPARK_QUERY]->len, ==, 3); /* what was told of the query itself is one */
    const SparkQuery *query = spark_query(parsed.records, 0);
    g_assert_cmpstr(query->app, ==, "app-1");
    g_assert_cmpint(query->query, ==, 4);
    g_assert_cmpint(query->part, ==, 0);
    g_assert_cmpint(query->submitted_ms, ==, 100);
    g_assert_cmpint(query->completed_ms, ==, 900);
    g_assert_cmpstr(query->description, ==, "by customer");
    g_assert_cmpstr(query->error, ==, "no luck");
    g_assert_cmpuint(query->settings.n, ==, 1);
    g_assert_cmpstr(query->settings.items[0].value, ==, "8");

    /* The last plan, parents first. */
    g_assert_cmpuint(query->plan.n, ==, 4);
    const SparkPlanNode *nodes = query->plan.items;
    static const struct {
        const char *name;
        gint64 parent;
    } expected[] = {{"Exchange", -1}, {"Filter", 0}, {"Scan parquet ", 1}, {"Scan parquet ", 0}};
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_assert_cmpstr(nodes[i].name, ==, expected[i].name);
        g_assert_cmpint(nodes[i].parent, ==, expected[i].parent);
    }
    g_assert_cmpstr(nodes[0].text, ==, "Exchange Single");
    g_assert_cmpint(nodes[0].metrics.items[0].accumulator, ==, 5);
    g_assert_cmpuint(nodes[2].metadata.n, ==, 1);
    g_assert_cmpstr(nodes[2].metadata.items[0].key, ==, "Location");
    g_assert_cmpuint(nodes[2].metrics.n, ==, 1);
    g_assert_cmpstr(nodes[2].metrics.items[0].type, ==, "sum");

    const SparkQuery *values = spark_query(parsed.records, 1), *more = spark_query(parsed.records, 2);
    g_assert_cmpint(values->part, ==, 7); /* accumulator 6, and one */
    static const gint64 pairs[] = {9, 18, 7, 3};
    g_assert_cmpmem(values->values.items, values->values.n * sizeof(gint64), pairs, sizeof pairs);
    g_assert_cmpint(more->part, ==, 31);
    g_assert_cmpint(more->plan.items[0].metrics.items[0].accumulator, ==, 30);
    g_assert_null(more->plan.items[0].name);
}

/* A job names its query, a stage what it counted for one. */
static void test_query_of_stage(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(&parsed, "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":1,\"Properties\":"
                          "{\"spark.sql.execution.id\":\"4\"}}");
    g_assert_cmpint(spark_job(parsed.records, 0)->query, ==, 4);
    assert_taken(&parsed, "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":2,\"Accumulables\":["
                          "{\"ID\":7,\"Name\":\"rows\",\"Value\":\"42\",\"Metadata\":\"sql\"},"
                          "{\"ID\":8,\"Name\":\"rows\",\"Value\":43,\"Metadata\":\"sql\"},"
                          "{\"ID\":9,\"Name\":\"internal.metrics.x\",\"Value\":44},"
                          "{\"ID\":10,\"Value\":\"many\",\"Metadata\":\"sql\"},"
                          "{\"ID\":11,\"Value\":\"99999999999999999999\",\"Metadata\":\"sql\"}]}}");
    static const gint64 pairs[] = {7, 42, 8, 43};
    const SparkNumbers *values = &spark_stage(parsed.records, 0)->values;
    g_assert_cmpmem(values->items, values->n * sizeof(gint64), pairs, sizeof pairs);
}

/* What a log can make of one plan has limits: depth, nodes, metrics of a node, length of a text. */
static void test_query_limits(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    g_autoptr(GString) deep = g_string_new(SQL "SQLExecutionStart\",\"executionId\":1,\"sparkPlanInfo\":");
    for (guint i = 0; i < 400; i++) g_string_append(deep, "{\"nodeName\":\"Filter\",\"children\":[");
    for (guint i = 0; i < 400; i++) g_string_append(deep, "]}");
    g_string_append_c(deep, '}');
    assert_taken(&parsed, deep->str);
    g_assert_cmpuint(spark_query(parsed.records, 0)->plan.n, ==, PLAN_DEPTH_MOST);

    g_autoptr(GString) wide = g_string_new(SQL "SQLExecutionStart\",\"executionId\":2,\"sparkPlanInfo\":"
                                               "{\"nodeName\":\"Union\",\"simpleString\":\"");
    for (guint i = 0; i < PLAN_NODE_TEXT_BYTES; i++) g_string_append(wide, "\\u00e9");
    g_string_append(wide, "\",\"metrics\":[");
    for (guint i = 0; i < 2 * PLAN_METRICS_MOST; i++)
        g_string_append_printf(wide, "%s{\"name\":\"n\",\"accumulatorId\":%u}", i > 0 ? "," : "", i);
    g_string_append(wide, "],\"children\":[");
    for (guint i = 0; i < 2 * PLAN_NODES_MOST; i++) g_string_append(wide, i > 0 ? ",{}" : "{}");
    g_string_append(wide, "]}}");
    assert_taken(&parsed, wide->str);
    const SparkQuery *query = spark_query(parsed.records, 1);
    g_assert_cmpuint(query->plan.n, ==, PLAN_NODES_MOST);
    g_assert_cmpuint(query->plan.items[0].metrics.n, ==, PLAN_METRICS_MOST);
    g_assert_cmpuint(strlen(query->plan.items[0].text), ==, PLAN_NODE_TEXT_BYTES);

    g_assert_cmpint(take(&parsed, SQL "SQLExecutionEnd\",\"time\":900}"), ==, EVENT_BROKEN); /* of which query? */
    g_assert_cmpint(take(&parsed, SQL "DriverAccumUpdates\",\"executionId\":4,\"accumUpdates\":[]}"), ==, EVENT_PASSED);
    g_assert_cmpint(take(&parsed, SQL "SQLExecutionStart\",\"executionId\":1,\"sparkPlanInfo\":{\"children\":[{"), ==,
                    EVENT_BROKEN);
}

/* The greatest of each, whatever comes last; what is 0 was not measured. */
static void test_executor_peaks(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(&parsed,
                 "{\"Event\":\"SparkListenerStageExecutorMetrics\",\"Executor ID\":\"1\",\"Stage ID\":0,\"Stage "
                 "Attempt ID\":0,\"Executor Metrics\":{\"JVMHeapMemory\":50,\"OnHeapExecutionMemory\":7}}");
    assert_taken(&parsed,
                 "{\"Event\":\"SparkListenerStageExecutorMetrics\",\"Executor ID\":\"1\",\"Stage ID\":1,\"Stage "
                 "Attempt ID\":0,\"Executor Metrics\":{\"JVMHeapMemory\":40,\"ProcessTreeJVMRSSMemory\":0}}");
    SparkExecutor *executor = &g_array_index(parsed.records->of[SPARK_EXECUTOR], SparkExecutor, 0);
    spark_record_merge(SPARK_EXECUTOR, executor, spark_executor(parsed.records, 1));
    g_assert_cmpint(executor->peaks[PEAK_HEAP], ==, 50);
    g_assert_cmpint(executor->peaks[PEAK_EXECUTION], ==, 7);
    g_assert_cmpint(executor->peaks[PEAK_JVM_RSS], ==, -1);
    g_assert_cmpint(take(&parsed, "{\"Event\":\"SparkListenerStageExecutorMetrics\",\"Executor ID\":\"driver\"}"), ==,
                    EVENT_PASSED);
}

static const SparkExclusion *take_exclusion(Parsed *parsed, const char *event, const char *rest) {
    g_autofree char *line =
        g_strdup_printf("{\"Event\":\"org.apache.spark.scheduler.SparkListener%s\",\"time\":77,%s}", event, rest);
    assert_taken(parsed, line);
    return spark_exclusion(parsed->records, parsed->records->of[SPARK_EXCLUSION]->len - 1);
}

/* By their names since 3.1, and by those before. */
static void test_exclusions(void) {
    static const struct {
        const char *event, *rest, *text;
    } cases[] = {
        {"ExecutorExcluded", "\"executorId\":\"3\",\"taskFailures\":2", "executor 3 was excluded after 2 failures"},
        {"ExecutorBlacklisted", "\"executorId\":\"3\",\"taskFailures\":1", "executor 3 was excluded after 1 failure"},
        {"ExecutorExcludedForStage", "\"executorId\":\"3\",\"taskFailures\":2,\"stageId\":4,\"stageAttemptId\":1",
         "executor 3 was excluded from stage 4 after 2 failures"},
        {"NodeExcluded", "\"hostId\":\"worker2\",\"executorFailures\":2",
         "host worker2 was excluded after 2 of its executors"},
        {"NodeBlacklistedForStage", "\"hostId\":\"w\",\"executorFailures\":2,\"stageId\":4,\"stageAttemptId\":0",
         "host w was excluded from stage 4 after 2 of its executors"},
    };
    g_auto(Parsed) parsed = parsed_new("app-1");
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const SparkExclusion *exclusion = take_exclusion(&parsed, cases[i].event, cases[i].rest);
        g_autofree char *text = spark_exclusion_text(exclusion);
        g_assert_cmpstr(text, ==, cases[i].text);
        g_assert_cmpint(exclusion->time_ms, ==, 77);
        g_assert_cmpint(exclusion->back_ms, ==, -1);
    }

    SparkExclusion merged = *spark_exclusion(parsed.records, 0);
    spark_record_merge(SPARK_EXCLUSION, &merged, take_exclusion(&parsed, "ExecutorUnexcluded", "\"executorId\":\"3\""));
    g_autofree char *text = spark_exclusion_text(&merged);
    g_assert_cmpstr(text, ==, "executor 3 was excluded after 2 failures, and let in again");
    g_assert_cmpint(
        take(&parsed, "{\"Event\":\"org.apache.spark.scheduler.SparkListenerExecutorExcluded\",\"time\":7}"), ==,
        EVENT_BROKEN);
}

/* What a profile of resources gives; stages and executors name theirs. */
static void test_profiles(void) {
    g_auto(Parsed) parsed = parsed_new("app-1");
    assert_taken(&parsed,
                 "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile Id\":1,\"Executor Resource "
                 "Requests\":{\"cores\":{\"Resource Name\":\"cores\",\"Amount\":4,\"Discovery Script\":\"\"},"
                 "\"memory\":{\"Resource Name\":\"memory\",\"Amount\":2048},\"memoryOverhead\":{\"Resource "
                 "Name\":\"memoryOverhead\",\"Amount\":384},\"offHeap\":{\"Resource Name\":\"offHeap\",\"Amount\":0},"
                 "\"pyspark.memory\":{\"Resource Name\":\"pyspark.memory\",\"Amount\":100},\"gpu\":{\"Resource "
                 "Name\":\"gpu\",\"Amount\":1,\"Vendor\":\"nvidia\"},\"odd\":{\"Resource Name\":\"odd\",\"Amount\":"
                 "1e300}},\"Task Resource Requests\":{\"cpus\":{\"Resource Name\":\"cpus\",\"Amount\":2.0},\"gpu\":"
                 "{\"Resource Name\":\"gpu\",\"Amount\":0.5}}}");
    const SparkProfile *profile = spark_profile(parsed.records, 0);
    g_assert_cmpint(profile->profile, ==, 1);
    g_assert_cmpint(profile->memory_bytes, ==, G_GINT64_CONSTANT(2048) << 20);
    g_assert_cmpint(profile->overhead_bytes, ==, 384 << 20);
    g_assert_cmpint(profile->off_heap_bytes, ==, 0);
    g_assert_cmpint(profile->python_bytes, ==, 100 << 20);
    g_assert_cmpint(profile->cores, ==, 4);
    g_assert_cmpfloat(profile->task_cpus, ==, 2);
    g_assert_cmpuint(profile->others.n, ==, 2);
    g_assert_cmpstr(profile->others.items[0].key, ==, "executor gpu");
    g_assert_cmpstr(profile->others.items[1].key, ==, "task gpu");
    g_assert_cmpstr(profile->others.items[1].value, ==, "0.5");

    assert_taken(&parsed, "{\"Event\":\"SparkListenerExecutorAdded\",\"Executor ID\":\"3\",\"Executor Info\":{\"Host\":"
                          "\"w\",\"Total Cores\":4,\"Resource Profile Id\":1}}");
    assert_taken(&parsed, "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":2,\"Stage Attempt "
                          "ID\":0,\"Resource Profile Id\":1}}");
    g_assert_cmpint(spark_executor(parsed.records, 0)->profile, ==, 1);
    g_assert_cmpint(spark_stage(parsed.records, 0)->profile, ==, 1);
    g_assert_cmpint(take(&parsed, "{\"Event\":\"SparkListenerResourceProfileAdded\"}"), ==, EVENT_BROKEN);
}

static void test_wanted(void) {
    static const char *const wanted[] = {APP_START, "{\"Event\":\"SparkListenerTaskEnd\",", "{ \"Event\"", "garbage"};
    static const char *const others[] = {"{\"Event\":\"SparkListenerUnpersistRDD\",",
                                         "{\"Event\":\"org.apache.spark.scheduler.Other\",", "{\"Event\":\"\""};
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++)
        g_assert_true(events_wanted((Bytes){wanted[i], strlen(wanted[i])}));
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        g_assert_false(events_wanted((Bytes){others[i], strlen(others[i])}));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/events/task-of-4", test_task_of_4);
    g_test_add_func("/events/task-of-1", test_task_of_1);
    g_test_add_func("/events/how-tasks-end", test_how_tasks_end);
    g_test_add_func("/events/start-and-end", test_start_and_end);
    g_test_add_func("/events/stage", test_stage);
    g_test_add_func("/events/jobs", test_jobs);
    g_test_add_func("/events/application", test_application);
    g_test_add_func("/events/no-name", test_no_name);
    g_test_add_func("/events/passed-over", test_passed_over);
    g_test_add_func("/events/broken", test_broken);
    g_test_add_func("/events/cut-anywhere", test_cut_anywhere);
    g_test_add_func("/events/odd-numbers", test_odd_numbers);
    g_test_add_func("/events/query", test_query);
    g_test_add_func("/events/query-of-stage", test_query_of_stage);
    g_test_add_func("/events/query-limits", test_query_limits);
    g_test_add_func("/events/executor-peaks", test_executor_peaks);
    g_test_add_func("/events/exclusions", test_exclusions);
    g_test_add_func("/events/profiles", test_profiles);
    g_test_add_func("/events/wanted", test_wanted);
    return g_test_run();
}
