/* Why tasks, stages and traces were slow, on records and spans made by hand. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/stage_waits.h"
#include "analyzer/query/spark/straggler_watch.h"
#include "tests/query/spark_sample.h"

/* ---- why ---- */

static void why_names_the_disk(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    sample_slow_disk(&fixture);
    json_t *answer = fixture_answer(&fixture, "why", "app=latest");
    fixture_check_document("why", answer);
    g_assert_cmpstr(text_at(answer, "app"), ==, APP);
    g_assert_cmpint(number_at(answer, "tasks"), ==, 8);
    g_assert_cmpint(number_at(answer, "stragglers_total"), ==, 3);
    g_assert_cmpint(number_at(answer, "explained"), ==, 2);
    g_assert_cmpint(number_at(answer, "explained_without_hdfs"), ==, 0);
    g_assert_cmpint(number_at(json_object_get(answer, "tasks_by_link"), "exact-scope"), ==, 8);
    const json_t *suspects = json_object_get(answer, "suspects"), *first = json_array_get(suspects, 0);
    g_assert_cmpuint(json_array_size(suspects), ==, 1);
    g_assert_cmpstr(text_at(first, "host"), ==, "d2");
    g_assert_cmpstr(text_at(first, "role"), ==, "datanode");
    g_assert_cmpstr(text_at(first, "resource"), ==, "disk");
    g_assert_cmpint(number_at(first, "tasks"), ==, 2);
    g_assert_cmpint(number_at(first, "since_time_ns"), ==, SAMPLE_BASE_NS + 50 * NS_PER_MS);

    const json_t *list = json_object_get(answer, "stragglers");
    g_assert_cmpuint(json_array_size(list), ==, 3);
    for (gsize i = 0; i < 3; i++) {
        const json_t *row = json_array_get(list, i), *main = json_object_get(row, "main_cause");
        if (number_at(row, "task") == 7) {
            g_assert_null(main);
            continue;
        }
        const json_t *suspect = json_object_get(main, "suspect"), *path = json_object_get(suspect, "path");
        g_assert_cmpstr(text_at(main, "topic"), ==, "hdfs");
        g_assert_cmpint(number_at(main, "excess_ns"), ==, 300 * NS_PER_MS);
        g_assert_cmpint(number_at(main, "explains_ns"), ==, 298 * NS_PER_MS);
        g_assert_cmpstr(text_at(suspect, "process"), ==, "DataNode/d2");
        g_assert_cmpstr(text_at(suspect, "function"), ==, "BlockSender#readLocal");
        g_assert_cmpint(number_at(suspect, "calls"), ==, 1);
        g_assert_cmpint(number_at(suspect, "longest_call_ns"), ==, 300 * NS_PER_MS);
        g_assert_cmpstr(text_at(json_array_get(path, 0), "function"), ==, "SparkTask");
        g_assert_cmpstr(text_at(json_array_get(path, json_array_size(path) - 1), "function"), ==,
                        "BlockSender#readLocal");
        g_assert_cmpint(number_at(json_object_get(suspect, "normal"), "calls"), ==, 8);
        g_assert_cmpint(number_at(json_object_get(suspect, "normal_on_host"), "calls"), ==, 2);
        g_assert_cmpstr(text_at(json_object_get(row, "hdfs"), "link"), ==, "exact-scope");
    }
    json_decref(answer);
}

/* A task whose call of the NameNode names it: its reads, which are known by time and host alone, are its facts too. */
static void why_of_weaker_links(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records);

    for (gint64 id = 0; id < 8; id++) {
        sample_task(records, id, "w1", id * 1000, id == 5 ? 400 : 100)->metrics[METRIC_INPUT_BYTES] = 65536;
        g_autofree char *context = g_strdup_printf("callerContext=SPARK_TASK_" APP "_JId_0_SId_1_0_TId_%d_0", (int)id);
        const SpanRow open = {
            0x100 + (guint64)id, 1, 0, "getBlockLocations", "FSClient/w1/7", id * 1000000 + 1000, 900, context, 0};
        fixture_store(&fixture, &open, 1);

        const Read read = {0x200 + (guint64)id,
                           "FSClient/w1/7",
                           id == 5 ? "DataNode/d2" : "DataNode/d1",
                           id * 1000 + 10,
                           id == 5 ? 300 : 2,
                           "path=/in/part",
                           FALSE};
        sample_read(&fixture, &read);
    }

    sample_put(&fixture, records);
    json_t *answer = fixture_answer(&fixture, "why", "app=latest");
    const json_t *row = json_array_get(json_object_get(answer, "stragglers"), 0), *hdfs = json_object_get(row, "hdfs");

    g_assert_cmpint(number_at(row, "task"), ==, 5);
    g_assert_cmpint(number_at(hdfs, "traces"), ==, 2);
    g_assert_cmpstr(text_at(hdfs, "link"), ==, "time-host");
    g_assert_cmpstr(text_at(json_object_get(json_object_get(row, "main_cause"), "suspect"), "host"), ==, "d2");
    g_assert_cmpint(number_at(json_object_get(answer, "tasks_by_link"), "time-host"), ==, 8);
    json_decref(answer);
}

static void hosts(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    sample_slow_disk(&fixture);

    json_t *answer = fixture_answer(&fixture, "hosts", "");
    const json_t *row = json_array_get(json_object_get(answer, "hosts"), 0);
    g_assert_cmpuint(json_array_size(json_object_get(answer, "hosts")), ==, 1);
    g_assert_cmpstr(text_at(row, "host"), ==, "d2");
    g_assert_cmpint(number_at(row, "tasks"), ==, 2);
    g_assert_cmpint(number_at(row, "explains_ns"), ==, 2 * 298 * NS_PER_MS);
    g_assert_null(json_object_get(answer, "tasks"));
    json_decref(answer);

    answer = fixture_answer(&fixture, "hosts", "host=d2&app=latest&limit=1");
    fixture_check_document("hosts-one", answer);
    g_assert_cmpuint(json_array_size(json_object_get(answer, "tasks")), ==, 1);
    g_assert_true(json_is_true(json_object_get(answer, "more")));
    row = json_array_get(json_object_get(answer, "tasks"), 0);
    g_assert_cmpint(number_at(row, "task"), ==, 5);
    g_assert_cmpint(number_at(row, "explains_ns"), ==, 298 * NS_PER_MS);
    json_decref(answer);

    answer = fixture_answer(&fixture, "hosts", "host=d1");
    g_assert_cmpuint(json_array_size(json_object_get(answer, "hosts")), ==, 0);
    json_decref(answer);

    answer = fixture_answer(&fixture, "hosts", "until=2020-11-21T10:00:00Z"); /* before it began */
    g_assert_cmpint(number_at(answer, "apps"), ==, 0);
    json_decref(answer);
}

/* All wait 200 ms for the NameNode; task 5 waits 180 ms for a disk besides. It is the disk that made it slow. */
static void hosts_by_cause(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records);

    for (gint64 id = 0; id < 8; id++) {
        const gint64 begin = id * 10000, disk = id == 5 ? 180000 : 1000;
        const guint64 t = task_trace_id(APP, id);
        const char *client = "FSClient/w1/7";
        const SpanRow rows[] = {
            {t, 1, 0, "SparkTask", client, begin, 299000 + disk, NULL, 0},
            {t, 2, 1, "ClientNamenodeProtocol#getBlockLocations", client, begin + 1000, 200000, NULL, 0},
            {t, 3, 2, "ClientProtocol#getBlockLocations", "NameNode/n1", begin + 2000, 1000, NULL, 0},
            {t, 4, 1, "DFSInputStream#byteArrayRead", client, begin + 210000, disk + 3000, NULL, 0},
            {t, 5, 4, "BlockReaderRemote2#readNextPacket", client, begin + 211000, disk + 1000, NULL, 0},
            {t, 6, 4, "BlockSender#readLocal", "DataNode/d2", begin + 211000, disk, NULL, 0},
        };
        fixture_store(&fixture, rows, G_N_ELEMENTS(rows));
        sample_task(records, id, "w1", id * 10, 299 + disk / 1000);
    }

    sample_put(&fixture, records);
    json_t *answer = fixture_answer(&fixture, "hosts", "");
    const json_t *hosts = json_object_get(answer, "hosts"), *first = json_array_get(hosts, 0);
    g_assert_cmpuint(json_array_size(hosts), ==, 1);
    g_assert_cmpstr(text_at(first, "host"), ==, "d2");
    g_assert_cmpstr(text_at(first, "resource"), ==, "disk");
    json_decref(answer);

    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "hosts", "host=nohost", &error));
    g_assert_nonnull(strstr(error->message, "no call of a host \"nohost\" is stored: plumb functions --by host"));
}

static void why_of_one(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    sample_slow_disk(&fixture);
    json_t *answer = fixture_answer(&fixture, "why", "app=app-2020&task=6&stage=1.0");
    const json_t *list = json_object_get(answer, "stragglers");
    g_assert_cmpuint(json_array_size(list), ==, 1);
    g_assert_cmpint(number_at(json_array_get(list, 0), "task"), ==, 6);
    json_decref(answer);
    answer = fixture_answer(&fixture, "why", "app=count words&stage=2");
    g_assert_cmpint(number_at(answer, "stragglers_total"), ==, 0);
    json_decref(answer);
}

/* ---- why of a stage ---- */

/* An application of eight tasks that each read once, from the DataNode named, whose disk takes disk_ms; a task takes
 * 100 ms more. */
typedef struct Job {
    const char *app, *datanode;
    gint64 begin_ms, disk_ms;
} Job;

static void store_job(Fixture *fixture, const Job *job) {
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkApp *app = spark_add_app(records);
    app->app = app->id = job->app;
    app->name = "count words";
    app->start_ms = BASE_MS + job->begin_ms;
    app->end_ms = BASE_MS + job->begin_ms + 10000;

    for (gint64 id = 0; id < 8; id++) {
        const gint64 begin_ms = job->begin_ms + id * 10;
        SparkTask *task = sample_task(records, id, id % 2 ? "w1" : "w2", begin_ms, 100 + job->disk_ms);
        task->app = job->app;
        const Read read = {task_trace_id(job->app, id),
                           id % 2 ? "FSClient/w1/7" : "FSClient/w2/8",
                           job->datanode,
                           begin_ms,
                           job->disk_ms,
                           "path=/in/part",
                           TRUE};
        sample_read(fixture, &read);
    }
    sample_put(fixture, records);
}

/* All tasks take as long, so none is a straggler: the stage is slow. */
static void stage_waits_for_a_disk(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    const Job first = {"app-1", "DataNode/d1", 0, 2}, slow = {"app-2", "DataNode/d2", 60000, 300};
    store_job(&fixture, &first);
    store_job(&fixture, &slow);
    json_t *answer = fixture_answer(&fixture, "why", "app=app-2");
    fixture_check_document("why-stage", answer);
    const json_t *stage = json_array_get(json_object_get(answer, "stages"), 0);
    const json_t *suspect = json_object_get(stage, "suspect"), *earlier = json_object_get(stage, "earlier");

    g_assert_cmpint(number_at(answer, "stragglers_total"), ==, 0);
    g_assert_cmpint(number_at(stage, "tasks_waiting"), ==, 8);
    g_assert_cmpstr(text_at(suspect, "host"), ==, "d2");
    g_assert_cmpstr(text_at(suspect, "resource"), ==, "disk");
    g_assert_cmpstr(text_at(suspect, "pace"), ==, "slow");
    g_assert_cmpstr(text_at(suspect, "compared_with"), ==, "other hosts");
    g_assert_cmpint(number_at(earlier, "runs"), ==, 1);
    g_assert_cmpint(number_at(earlier, "median_ns"), ==, 102 * NS_PER_MS);
    json_decref(answer);

    answer = fixture_answer(&fixture, "why", "app=app-1"); /* nothing is slow in it, and no run is earlier */
    g_assert_cmpuint(json_array_size(json_object_get(answer, "stages")), ==, 0);
    json_decref(answer);
    answer = fixture_answer(&fixture, "why", "app=app-2&stage=7");
    g_assert_cmpuint(json_array_size(json_object_get(answer, "stages")), ==, 0);
    json_decref(answer);
}

static void add_reader(Fixture *fixture, SparkRecords *records, gint64 id, gint32 stage, gboolean slow) {
    const gint64 disk_ms = slow ? 300 : 2;
    sample_task(records, id, "w1", stage * 1000, 10 + disk_ms)->stage = stage;
    const Read read = {task_trace_id(APP, id),
                       "FSClient/w1/7",
                       slow ? "DataNode/d2" : "DataNode/d1",
                       stage * 1000,
                       disk_ms,
                       NULL,
                       TRUE};
    sample_read(fixture, &read);
}

/* More tasks than are read, of many short stages before the one that is slow: that took most, and is looked at. */
static void slow_stage_after_many(void) {
    enum { WIDE = 32, MANY = STAGE_TASKS_READ_ALL / WIDE + 2 };
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records)->end_ms = BASE_MS + 200000;
    for (gint64 id = 0; id < MANY * WIDE + 8; id++)
        add_reader(&fixture, records, id, (gint32)(id / WIDE), id / WIDE == MANY);
    sample_put(&fixture, records);
    json_t *answer = fixture_answer(&fixture, "why", "app=" APP);
    const json_t *first = json_array_get(json_object_get(answer, "stages"), 0);
    g_assert_cmpint(number_at(first, "stage"), ==, MANY);
    json_decref(answer);
}

/* ---- two runs ---- */

static void runs_tell_the_disk(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    const Job first = {"app-1", "DataNode/d1", 0, 2}, slow = {"app-2", "DataNode/d2", 60000, 300};
    store_job(&fixture, &first);
    store_job(&fixture, &slow);
    json_t *answer = fixture_answer(&fixture, "runs", "a=earlier&b=latest");
    fixture_check_document("runs", answer);
    const json_t *stage = json_array_get(json_object_get(answer, "stages"), 0);
    const json_t *wait = json_array_get(json_object_get(stage, "waits"), 0);
    g_assert_cmpstr(text_at(json_object_get(answer, "a"), "app"), ==, "app-1");
    g_assert_cmpstr(text_at(stage, "state"), ==, "slower");
    g_assert_cmpint(number_at(stage, "mean_change_ns"), ==, 298 * NS_PER_MS);
    g_assert_cmpstr(text_at(wait, "host"), ==, "d2");
    g_assert_cmpstr(text_at(wait, "resource"), ==, "disk");
    g_assert_cmpint(number_at(wait, "a_ns"), ==, 0);
    g_assert_cmpint(number_at(wait, "b_ns"), ==, 300 * NS_PER_MS);
    json_decref(answer);

    answer = fixture_answer(&fixture, "runs", "a=app-2&b=app-1");
    stage = json_array_get(json_object_get(answer, "stages"), 0);
    g_assert_cmpstr(text_at(stage, "state"), ==, "faster");
    json_decref(answer);
}

static void ordinary_task(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    sample_slow_disk(&fixture);
    json_t *answer = fixture_answer(&fixture, "why", "app=latest&task=2");
    const json_t *task = json_object_get(answer, "task");
    g_assert_cmpint(number_at(answer, "stragglers_total"), ==, 0);
    g_assert_cmpint(number_at(task, "task"), ==, 2);
    g_assert_cmpint(number_at(task, "duration_ns"), ==, 100 * NS_PER_MS);
    g_assert_cmpstr(text_at(json_object_get(task, "suspect"), "host"), ==, "d1");
    g_assert_cmpstr(text_at(json_object_get(task, "suspect"), "pace"), ==, "normal");
    json_decref(answer);

    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "why", "app=latest&task=99", &error));
    g_assert_nonnull(strstr(error->message, "has no task attempt 99: plumb tasks"));
}

/* Who asks too early is told so. The questions of the fixture are asked an hour after BASE_MS. */
static void answer_may_change(void) {
    static const struct {
        gint64 written_ms, end_ms;
        const char *says;
        gint64 final_in_s;
    } cases[] = {{3599000, 1000, "recent", 59}, {3000000, 1000, NULL, 0}, {3599000, -1, "running", 0}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Fixture) fixture;
        fixture_init(&fixture);
        g_autoptr(SparkRecords) records = spark_records_new();
        SparkApp *app = sample_app(records);
        if (cases[i].end_ms >= 0) app->end_ms = BASE_MS + cases[i].end_ms;
        app->last_event_ms = BASE_MS + cases[i].written_ms;
        sample_task(records, 1, "w1", 0, 100);

        SparkPut done;
        g_autoptr(GError) error = NULL;
        archive_spark_put(fixture.archive, records, BASE_MS + cases[i].written_ms, &done, &error);
        g_assert_no_error(error);
        json_t *answer = fixture_answer(&fixture, "why", "app=latest");
        g_assert_cmpstr(json_string_value(json_object_get(answer, "may_change")), ==, cases[i].says);
        g_assert_cmpint(json_integer_value(json_object_get(answer, "final_in_ns")), ==,
                        cases[i].final_in_s * NS_PER_SEC);
        json_decref(answer);
    }
}

/* ---- why of a trace ---- */

static json_t *why_trace(Fixture *fixture, guint64 trace) {
    g_autofree char *params = g_strdup_printf("trace=%016" G_GINT64_MODIFIER "x", trace);
    return fixture_answer(fixture, "why", params);
}

static const json_t *reason_of(const json_t *answer) {
    const json_t *waits = json_object_get(answer, "waits"), *wait;
    gsize i;
    json_array_foreach(waits, i, wait) {
        if (json_is_true(json_object_get(wait, "reason"))) return wait;
    }
    return NULL;
}

static void trace_of_a_task(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    sample_slow_disk(&fixture);
    json_t *answer = why_trace(&fixture, task_trace_id(APP, 5));
    fixture_check_document("why-trace", answer);

    const json_t *reason = reason_of(answer);
    g_assert_cmpstr(text_at(answer, "root"), ==, "SparkTask");
    g_assert_cmpstr(text_at(reason, "process"), ==, "DataNode/d2");
    g_assert_cmpstr(text_at(reason, "resource"), ==, "disk");
    g_assert_cmpstr(text_at(reason, "compared_with"), ==, "other hosts");
    g_assert_cmpfloat(json_number_value(json_object_get(reason, "times_normal")), ==, 150);
    g_assert_cmpint(number_at(reason, "more_ns"), ==, 298 * NS_PER_MS);
    json_decref(answer);

    answer = why_trace(&fixture, task_trace_id(APP, 1)); /* from d1: as the others from there */
    const json_t *first = json_array_get(json_object_get(answer, "waits"), 0);
    g_assert_null(reason_of(answer));
    g_assert_cmpstr(text_at(first, "pace"), ==, "normal");
    json_decref(answer);
}

/* A file that a shell writes to d1 and d2: the shell waits for an acknowledgement, d1 for d2, and d2 for its disk. */
static void store_put(Fixture *fixture, guint64 t, gint64 begin, const char *second, gint64 disk) {
    const char *shell = "FsShell/c1/7", *first = "DataNode/d1";
    const gint64 end = begin + 20000 + disk;
    const SpanRow rows[] = {
        {t, 1, 0, "FsShell#run", shell, begin, end - begin + 1000, NULL, 0},
        {t, 2, 1, "DFSOutputStream#close", shell, begin + 5000, end - begin - 5000, NULL, 0},
        {t, 3, 2, "waitForAckedSeqno", shell, begin + 6000, end - begin - 7000, NULL, 0},
        {t, 4, 1, "dataStreamer", shell, begin + 1000, end - begin - 2000, NULL, 0},
        {t, 5, 4, "OpWriteBlockProto", first, begin + 2000, end - begin - 4000, NULL, 0},
        {t, 6, 5, "ReplicaOutputStreams#writeDataToDisk", first, begin + 7000, 1000, NULL, 0},
        {t, 7, 5, "PipelineAck#readFields", first, begin + 8000, end - begin - 11000, NULL, 0},
        {t, 8, 5, "OpWriteBlockProto", second, begin + 3000, end - begin - 6000, NULL, 0},
        {t, 9, 8, "ReplicaOutputStreams#writeDataToDisk", second, begin + 9000, disk, NULL, 0},
    };
    fixture_store(fixture, rows, G_N_ELEMENTS(rows));
}

static void trace_of_a_shell(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    store_put(&fixture, 0x51, 0, "DataNode/d3", 1000);
    store_put(&fixture, 0x52, 500000, "DataNode/d2", 400000);
    json_t *answer = why_trace(&fixture, 0x52);
    const json_t *reason = reason_of(answer);

    g_assert_cmpstr(text_at(answer, "root"), ==, "FsShell#run");
    g_assert_cmpstr(text_at(answer, "host"), ==, "c1");
    g_assert_cmpstr(text_at(reason, "host"), ==, "d2");
    g_assert_cmpstr(text_at(reason, "resource"), ==, "disk");
    g_assert_cmpstr(text_at(reason, "function"), ==, "ReplicaOutputStreams#writeDataToDisk");
    g_assert_cmpint(number_at(reason, "time_ns"), ==, 400 * NS_PER_MS);
    g_assert_cmpint(number_at(reason, "more_ns"), ==, 399 * NS_PER_MS);
    json_decref(answer);
}

/* The only NameNode is compared with itself on the day before; without that nothing is said. */
static void trace_of_a_namenode(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    const gint64 hour_us = G_GINT64_CONSTANT(3600000000);
    const SpanRow slow[] = {
        {0x61, 1, 0, "ClientProtocol#mkdirs", "NameNode/n1", 0, 90000, NULL, 0},
        {0x61, 2, 1, "FSNamesystemLock#writeLock", "NameNode/n1", 1000, 80000, NULL, 0},
    };
    const SpanRow usual[] = {
        {0x60, 1, 0, "ClientProtocol#mkdirs", "NameNode/n1", -3 * hour_us, 9000, NULL, 0},
        {0x60, 2, 1, "FSNamesystemLock#writeLock", "NameNode/n1", -3 * hour_us + 1000, 500, NULL, 0},
    };
    fixture_store(&fixture, slow, 2);
    json_t *answer = why_trace(&fixture, 0x61);
    const json_t *first = json_array_get(json_object_get(answer, "waits"), 0);
    g_assert_null(reason_of(answer));
    g_assert_cmpstr(text_at(first, "resource"), ==, "lock");
    g_assert_cmpstr(text_at(first, "pace"), ==, "unknown");
    json_decref(answer);

    fixture_store(&fixture, usual, 2);
    answer = why_trace(&fixture, 0x61);
    g_assert_cmpstr(text_at(reason_of(answer), "resource"), ==, "lock");
    g_assert_cmpstr(text_at(reason_of(answer), "compared_with"), ==, "day before");
    json_decref(answer);
}

/* Twelve files of a block each: the NameNode is asked for each. */
static void trace_of_many_files(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    enum { FILES = 12 };
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(SpanRow));
    const SpanRow root = {0x71, 1, 0, "Loader#load", "FSClient/c1/7", 0, FILES * 10000, NULL, 0};
    g_array_append_val(rows, root);

    for (guint i = 0; i < FILES; i++) {
        const gint64 at = i * 10000;
        const guint64 id = 10 * (i + 1);
        const SpanRow file[] = {
            {0x71, id, 1, "newDFSInputStream", "FSClient/c1/7", at, 6000, NULL, 0},
            {0x71, id + 1, id, "ClientNamenodeProtocol#getBlockLocations", "FSClient/c1/7", at, 6000, NULL, 0},
            {0x71, id + 2, id + 1, "ClientProtocol#getBlockLocations", "NameNode/n1", at + 1000, 4000, NULL, 0},
            {0x71, id + 3, 1, "BlockReaderRemote2#readNextPacket", "FSClient/c1/7", at + 7000, 1000,
             "block=7;bytes=9000", 0},
        };
        g_array_append_vals(rows, file, G_N_ELEMENTS(file));
    }

    fixture_store(&fixture, (const SpanRow *)(void *)rows->data, rows->len);
    json_t *answer = why_trace(&fixture, 0x71);
    const json_t *hdfs = json_object_get(answer, "hdfs");
    g_assert_cmpint(number_at(hdfs, "files"), ==, FILES);
    g_assert_cmpint(number_at(hdfs, "bytes"), ==, FILES * 9000);
    g_assert_true(json_is_true(json_object_get(hdfs, "many_files")));
    json_decref(answer);
}

/* ---- advice, by what was traced ---- */

static const json_t *finding_of(const json_t *answer, const char *rule) {
    gsize i;
    const json_t *finding;
    json_array_foreach(json_object_get(answer, "findings"), i,
                       finding) if (strcmp(text_at(finding, "rule"), rule) == 0) return finding;
    return NULL;
}

/* A slow disk of a DataNode is no fault of the job. */
static void advice_on_a_slow_disk(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    sample_slow_disk(&fixture);
    json_auto_t *answer = fixture_answer(&fixture, "advise", "app=latest&all=true");
    const json_t *node = finding_of(answer, "node");
    g_assert_cmpstr(text_at(node, "what"), ==, "The disk of datanode d2 made 2 tasks slow.");
    gsize i;
    const json_t *finding;
    json_array_foreach(json_object_get(answer, "findings"), i, finding)
        g_assert_true(json_is_true(json_object_get(finding, "node")));
    g_assert_cmpstr(text_at(answer, "severity"), ==, "none");
}

/* The trace of a task that opens, or makes, twelve files, and waits 6 ms of 10 for the NameNode each time. It reads
 * 9,000 bytes each time, 4,000 of them from a file of its host. */
static void read_many_files(Fixture *fixture, gint64 task, gint64 begin_ms, gboolean makes) {
    enum { FILES = 12 };
    const guint64 trace = task_trace_id(APP, task);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(SpanRow));
    const SpanRow root = {trace, 1, 0, "SparkTask", "FSClient/w1/7", begin_ms * 1000, FILES * 10000, "app=" APP, 0};
    const char *asks = makes ? "ClientNamenodeProtocol#create" : "ClientNamenodeProtocol#getBlockLocations";
    const char *asked = makes ? "ClientProtocol#create" : "ClientProtocol#getBlockLocations";
    g_array_append_val(rows, root);
    for (guint i = 0; i < FILES; i++) {
        const gint64 at = begin_ms * 1000 + i * 10000;
        const guint64 id = 10 * (i + 1);
        const SpanRow file[] = {
            {trace, id, 1, "newDFSInputStream", "FSClient/w1/7", at, 6000, NULL, 0},
            {trace, id + 1, id, asks, "FSClient/w1/7", at, 6000, NULL, 0},
            {trace, id + 2, id + 1, asked, "NameNode/n1", at + 500, 5000, NULL, 0},
            {trace, id + 3, 1, "BlockReaderRemote2#readNextPacket", "FSClient/w1/7", at + 7000, 500,
             "block=7;bytes=5000", 0},
            {trace, id + 4, 1, "BlockReaderLocal#fillBuffer", "FSClient/w1/7", at + 7500, 500, "block=8;bytes=4000", 0},
        };
        g_array_append_vals(rows, file, G_N_ELEMENTS(file));
    }
    fixture_store(fixture, (const SpanRow *)(void *)rows->data, rows->len);
}

static json_t *advice_on_files(gboolean makes) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records);
    for (gint64 id = 0; id < 8; id++) {
        sample_task(records, id, "w1", id * 10, 120)->metrics[METRIC_INPUT_BYTES] = 12 * 9000;
        read_many_files(&fixture, id, id * 10, makes);
    }
    sample_put(&fixture, records);
    return fixture_answer(&fixture, "advise", "app=latest&all=true");
}

static void advice_on_many_files(void) {
    json_auto_t *answer = advice_on_files(FALSE);
    const json_t *finding = finding_of(answer, "namenode");
    g_assert_nonnull(finding);
    g_assert_cmpstr(text_at(finding, "what"), ==,
                    "stage 1 waits for the NameNode in 60 % of its time, to open files: it reads 8.8 KiB per open.");
    g_assert_cmpint(number_at(finding, "cost_ns"), ==, 8 * 12 * 6 * NS_PER_MS);
    g_assert_false(json_is_true(json_object_get(finding, "node")));
}

/* Files that a job makes are not its input. */
static void advice_on_files_made(void) {
    json_auto_t *answer = advice_on_files(TRUE);
    g_assert_null(finding_of(answer, "namenode"));
}

/* ---- data ---- */

/* More bytes are the data's doing: task 5 reads ten times what its peers read, and waits ten times as long. */
static void why_more_data(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records);

    for (gint64 id = 0; id < 12; id++) {
        const gboolean large = id == 5;
        SparkTask *task = sample_task(records, id, "w1", id * 10, large ? 1000 : 100);
        task->metrics[METRIC_INPUT_BYTES] = large ? 655360 : 65536;

        const guint64 t = task_trace_id(APP, id);
        const gint64 begin = id * 10000, length = large ? 900000 : 90000;
        const SpanRow rows[] = {
            {t, 1, 0, "SparkTask", "FSClient/w1/7", begin, length + 2000, NULL, 0},
            {t, 2, 1, "BlockReaderRemote2#readNextPacket", "FSClient/w1/7", begin + 1000, length,
             large ? "block=77;bytes=655360" : "block=77;bytes=65536", 0},
        };
        fixture_store(&fixture, rows, 2);
    }

    sample_put(&fixture, records);
    json_t *answer = fixture_answer(&fixture, "why", "app=latest");
    const json_t *row = json_array_get(json_object_get(answer, "stragglers"), 0);

    g_assert_cmpint(number_at(row, "task"), ==, 5);
    g_assert_cmpstr(text_at(json_object_get(row, "main_cause"), "feature"), ==, "read_bytes");
    g_assert_null(row_where(json_object_get(row, "causes"), "topic", "hdfs"));
    json_decref(answer);
}

/* Fifteen kilobytes more than the peers' fifteen take no thirteen seconds. */
static void why_little_more_data(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records);
    for (gint64 id = 0; id < 12; id++) {
        SparkTask *task = sample_task(records, id, "w1", id * 10, id == 5 ? 13400 : 100);
        task->metrics[METRIC_INPUT_BYTES] = id == 5 ? 30000 : 15000;
    }
    sample_put(&fixture, records);

    json_t *answer = fixture_answer(&fixture, "why", "app=latest");
    const json_t *row = json_array_get(json_object_get(answer, "stragglers"), 0);
    g_assert_cmpint(number_at(row, "task"), ==, 5);
    g_assert_nonnull(row_where(json_object_get(row, "causes"), "feature", "read_bytes"));
    g_assert_null(json_object_get(row, "main_cause"));
    json_decref(answer);
}

/* Two executors, whose first task takes 400 ms each, the others 100; the second of "1" takes as long for nothing. */
static void why_executor_start(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records);
    for (gint64 id = 0; id < 12; id++) {
        const gboolean slow = id < 2 || id == 2;
        SparkTask *task = sample_task(records, id, id % 2 ? "w1" : "w2", id / 2 * 500, slow ? 400 : 100);
        task->executor = id % 2 ? "1" : "2";
        task->metrics[METRIC_DESERIALIZE_MS] = id < 2 ? 250 : 1;
    }
    sample_put(&fixture, records);

    json_t *answer = fixture_answer(&fixture, "why", "app=latest");
    const json_t *list = json_object_get(answer, "stragglers");
    g_assert_cmpuint(json_array_size(list), ==, 3);
    for (gsize i = 0; i < 3; i++) {
        const json_t *row = json_array_get(list, i), *main = json_object_get(row, "main_cause");
        if (number_at(row, "task") == 2) {
            g_assert_null(main);
            continue;
        }
        g_assert_cmpstr(text_at(main, "feature"), ==, "executor_start");
        g_assert_cmpint(number_at(main, "explains_ns"), ==, 300 * NS_PER_MS);
    }
    g_assert_cmpint(number_at(answer, "explained"), ==, 2);
    g_assert_cmpint(number_at(answer, "explained_without_hdfs"), ==, 2);
    json_decref(answer);
}

static void mistakes(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);

    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "why", "app=latest", &error));
    g_assert_nonnull(strstr(error->message, "plumb-bridge sends"));
    g_clear_error(&error);
    sample_slow_disk(&fixture);

    static const struct {
        const char *params, *message;
    } cases[] = {
        {"", "which application? Give its id, the beginning of it, its name, or \"latest\""},
        {"app=app-20201121105300-0002", "did you mean \"" APP "\"?"},
        {"app=zzz", "plumb apps lists all"},
        {"app=4a9ad048280b61f", "ids of traces have 16 or 32 digits"},
        {"app=latest&stage=x", "give its number"},
        {"trace=12", "use the 16 hex digits"},
        {"trace=0000000000000012", "no trace 0000000000000012"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_null(fixture_ask(&fixture, "why", cases[i].params, &error));
        g_assert_nonnull(strstr(error->message, cases[i].message));
        g_clear_error(&error);
    }
}

static StragglerCounts look(StragglerWatch *watch, AllowanceBudget *budget, gint64 after_ms) {
    StragglerCounts counts;
    g_autoptr(GError) error = NULL;
    g_assert_true(straggler_watch_look(watch, budget, SAMPLE_BASE_NS + after_ms * NS_PER_MS, &counts, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(budget->used_bytes, ==, 0);
    return counts;
}

/* What plumbd's metrics have: as "why" says, of applications of the last hour, without more memory than there is. */
static void stragglers_are_watched(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    sample_slow_disk(&fixture);
    AllowanceBudget budget = {.limit_bytes = 64 << 20};
    g_autoptr(StragglerWatch) watch = straggler_watch_new(fixture.archive);
    const gint64 minute_ms = 60 * 1000;
    for (gint64 minutes = 1; minutes < 60; minutes += 10) { /* the last times nothing is looked at anew */
        const StragglerCounts counts = look(watch, &budget, minutes * minute_ms);
        g_assert_cmpuint(counts.apps, ==, 1);
        g_assert_cmpuint(counts.tasks, ==, 8);
        g_assert_cmpuint(counts.stragglers[TOPIC_HDFS], ==, 2);
        g_assert_cmpuint(counts.stragglers[TOPIC_JVM], ==, 0);
        g_assert_cmpuint(counts.unexplained, ==, 1);
    }
    g_assert_cmpuint(look(watch, &budget, 61 * minute_ms).apps, ==, 0);

    budget.limit_bytes = 1000;
    const StragglerCounts counts = look(watch, &budget, minute_ms);
    g_assert_cmpuint(counts.apps, ==, 0);
    g_assert_cmpuint(counts.refused, ==, 1);
    g_assert_cmpuint(counts.tasks, ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/why/of-weaker-links", why_of_weaker_links);
    g_test_add_func("/why/names-the-disk", why_names_the_disk);
    g_test_add_func("/why/hosts", hosts);
    g_test_add_func("/why/hosts-by-cause", hosts_by_cause);
    g_test_add_func("/why/of-one", why_of_one);
    g_test_add_func("/why/stage-waits-for-a-disk", stage_waits_for_a_disk);
    g_test_add_func("/why/slow-stage-after-many", slow_stage_after_many);
    g_test_add_func("/runs/disk", runs_tell_the_disk);
    g_test_add_func("/why/ordinary-task", ordinary_task);
    g_test_add_func("/why/answer-may-change", answer_may_change);
    g_test_add_func("/why/trace-of-a-task", trace_of_a_task);
    g_test_add_func("/why/trace-of-a-shell", trace_of_a_shell);
    g_test_add_func("/why/trace-of-a-namenode", trace_of_a_namenode);
    g_test_add_func("/why/trace-of-many-files", trace_of_many_files);
    g_test_add_func("/why/advice/slow-disk", advice_on_a_slow_disk);
    g_test_add_func("/why/advice/many-files", advice_on_many_files);
    g_test_add_func("/why/advice/many-files_made", advice_on_files_made);
    g_test_add_func("/why/more-data", why_more_data);
    g_test_add_func("/why/little-more-data", why_little_more_data);
    g_test_add_func("/why/executor-start", why_executor_start);
    g_test_add_func("/why/mistakes", mistakes);
    g_test_add_func("/why/watch", stragglers_are_watched);
    return g_test_run();
}
