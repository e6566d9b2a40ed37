/* Links from tasks to traces, each kind on records and spans made by hand; and what "why" makes of them. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/task_links.h"
#include "analyzer/query/spark/trace_linker.h"
#include "common/base/clock.h"
#include "tests/query/fixture.h"

#define BASE_MS (SAMPLE_BASE_NS / NS_PER_MS)
#define APP     "app-20201121105300-0001"

/* ---- an application ---- */

static SparkTask *add_task(SparkRecords *records, gint64 id, const char *host, gint64 launch_ms, gint64 duration_ms) {
    SparkTask *task = spark_add_task(records);
    task->app = APP;
    task->stage = 1;
    task->stage_attempt = 0;
    task->task = id;
    task->partition = (gint32)id;
    task->attempt = 0;
    task->executor = "1";
    task->host = spark_text_shared(records, host, strlen(host));
    task->launch_ms = BASE_MS + launch_ms;
    task->finish_ms = duration_ms < 0 ? -1 : BASE_MS + launch_ms + duration_ms;
    task->status = duration_ms < 0 ? TASK_RUNNING : TASK_SUCCESS;
    task->locality = LOCALITY_NODE;
    return task;
}

static void add_app(SparkRecords *records) {
    SparkApp *app = spark_add_app(records);
    app->app = app->id = APP;
    app->name = "count words";
    app->start_ms = BASE_MS;
}

static void put(Fixture *fixture, const SparkRecords *records) {
    SparkPut done;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture->archive, records, BASE_MS, &done, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(done.refused, ==, 0);
}

/* The trace of one task: a read of a file, from one DataNode that takes disk_ms to read a packet. Times in ms. */
typedef struct Read {
    guint64 trace;
    const char *client, *datanode;
    gint64 begin_ms, disk_ms;
    const char *notes; /* annotations of the read */
    gboolean in_task;
} Read;

static void store_read(Fixture *fixture, const Read *read) {
    const gint64 begin = read->begin_ms * 1000, disk = read->disk_ms * 1000, end = begin + 3000 + disk;
    const guint64 t = read->trace;
    const char *client = read->client, *node = read->datanode;
    const guint64 up = read->in_task ? 2 : 0;
    const SpanRow rows[] = {
        {t, 3, up, "DFSInputStream#byteArrayRead", client, begin + 1000, end - begin - 1000, read->notes, 0},
        {t, 4, 3, "BlockReaderRemote2#readNextPacket", client, begin + 1500, end - begin - 2000, "block=77;bytes=65536",
         0},
        {t, 5, 3, "OpReadBlockProto", node, begin + 1200, end - begin - 1400, NULL, 0},
        {t, 6, 5, "BlockSender#new", node, begin + 1300, 100, "block=77", 0},
        {t, 7, 5, "BlockSender#readLocal", node, begin + 1600, disk, "bytes=65536", 0},
        {t, 1, 0, "SparkTask", client, begin, end - begin, "app=" APP, 0},
        {t, 2, 1, "RDD:org.apache.spark.rdd.HadoopRDD", client, begin + 500, end - begin - 500, NULL, 0},
    };
    fixture_store(fixture, rows, read->in_task ? 7 : 5);
}

/* ---- links ---- */

static SparkRecords *find(Fixture *fixture, const SparkRecords *records, guint32 kinds) {
    const LinkAsk ask = {.app = APP, .app_id = APP, .records = records, .kinds = kinds, .slack_ns = 0};
    SparkRecords *links = spark_records_new();
    g_autoptr(GError) error = NULL;
    task_links_find(fixture->archive, &ask, links, &error);
    g_assert_no_error(error);
    return links;
}

static const SparkLink *link_of(const SparkRecords *links, guint64 trace, gint64 task) {
    for (guint i = 0; i < links->of[SPARK_LINK]->len; i++) {
        const SparkLink *link = spark_link(links, i);
        if ((guint64)link->trace == trace && link->task == task) return link;
    }
    return NULL;
}

static void each_kind(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    for (gint64 id = 0; id < 4; id++) add_task(records, id, id < 3 ? "w1" : "w2", 0, 100);
    add_task(records, 9, "w1", 500, 100);
    SparkSplit *split = spark_add_split(records);
    split->app = APP;
    split->task = 2;
    split->path = "hdfs://nn:8020/in/part-1";
    split->start = 1000;
    split->length = 500;
    split->time_ms = BASE_MS + 10;

    SparkSplit *unnamed = spark_add_split(records); /* a line that names no task: task 10 alone runs at 2010 */
    unnamed->app = APP;
    unnamed->host = "w1";
    unnamed->path = "/in/part-4";
    unnamed->start = 0;
    unnamed->length = 100;
    unnamed->time_ms = BASE_MS + 2000;
    add_task(records, 10, "w1", 1900, 200);
    add_task(records, 11, "w1", 2050, 200);

    const guint64 own = task_trace_id(APP, 0);
    const Read reads[] = {
        {own, "FSClient/w1/7", "DataNode/d1", 10, 5, "path=/in/part-0", TRUE},
        {0xc0, "FSClient/w1/7", "DataNode/d1", 20, 5, "callerContext=user,SPARK_TASK_" APP "_JId_0_SId_1_0_TId_1_0",
         FALSE},
        {0xd0, "FSClient/w1/7", "DataNode/d1", 30, 5, "path=/in/part-1;position=1200", FALSE},
        {0xd1, "FSClient/w1/7", "DataNode/d1", 35, 5, "path=/in/part-1;position=7", FALSE}, /* not in the split */
        {0xe0, "FSClient/w1/7", "DataNode/d1", 510, 5, "path=/in/part-3", FALSE},           /* only task 9 runs */
        {0xe1, "FSClient/w1/7", "DataNode/d1", 300, 5, "path=/in/part-3", FALSE},           /* none runs */
        {0xf0, "FSClient/w3/7", "DataNode/w1", 20, 5, "path=/in/part-3", FALSE},            /* of another host */
        {0xd2, "FSClient/w1/7", "DataNode/d1", 2010, 5, "path=/in/part-4;position=50", FALSE},
        {0xa0, "FSClient/w1/7", "DataNode/d1", 40, 5, "callerContext=SPARK_TASK_" APP "1_JId_0_SId_1_0_TId_1_0", FALSE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(reads); i++) store_read(&fixture, &reads[i]);

    g_autoptr(SparkRecords) links = find(&fixture, records, LINK_KINDS_ALL);
    g_assert_cmpint(link_of(links, own, 0)->kind, ==, LINK_SCOPE);
    g_assert_cmpint(link_of(links, 0xc0, 1)->kind, ==, LINK_CALLER_CONTEXT);
    const SparkLink *by_split = link_of(links, 0xd0, 2);
    g_assert_cmpint(by_split->kind, ==, LINK_SPLIT);
    g_assert_cmpfloat(by_split->confidence, ==, 1);
    for (gint64 id = 0; id < 3; id++) { /* three run there */
        const SparkLink *guess = link_of(links, 0xd1, id);
        g_assert_cmpint(guess->kind, ==, LINK_TIME_HOST);
        g_assert_cmpfloat_with_epsilon(guess->confidence, 1 / 3.0, 1e-9);
        g_assert_cmpint(link_of(links, 0xa0, id)->kind, ==, LINK_TIME_HOST); /* another application's context */
    }
    g_assert_cmpfloat(link_of(links, 0xe0, 9)->confidence, ==, 1);
    const SparkLink *of_line = link_of(links, 0xd2, 10);
    g_assert_cmpint(of_line->kind, ==, LINK_SPLIT);
    g_assert_cmpfloat(of_line->confidence, ==, 1);
    g_assert_cmpuint(links->of[SPARK_LINK]->len, ==, 3 + 3 + 3 + 1 + 1);

    /* Only the kinds that are asked for; a task's own trace is not guessed at. */
    g_autoptr(SparkRecords) guesses = find(&fixture, records, 1u << LINK_TIME_HOST);
    g_assert_null(link_of(guesses, own, 0));
    g_assert_cmpint(link_of(guesses, 0xc0, 1)->kind, ==, LINK_TIME_HOST);
    g_autoptr(SparkRecords) scopes = find(&fixture, records, 1u << LINK_SCOPE);
    g_assert_cmpuint(scopes->of[SPARK_LINK]->len, ==, 1);
}

/* Clients without an agent: the NameNode's spans alone name the task. */
static void namenode_context(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    add_task(records, 1, "w1", 0, 100);
    const SpanRow rows[] = {{0xab, 1, 0, "ClientProtocol#create", "NameNode/n1", 20000, 900,
                             "callerContext=SPARK_TASK_" APP "_JId_0_SId_1_0_TId_1_0", 0}};
    fixture_store(&fixture, rows, 1);
    g_autoptr(SparkRecords) links = find(&fixture, records, LINK_KINDS_ALL);
    g_assert_cmpint(link_of(links, 0xab, 1)->kind, ==, LINK_CALLER_CONTEXT);
}

static void caller_contexts(void) {
    static const struct {
        const char *text;
        gint64 task;
    } cases[] = {{"SPARK_TASK_" APP "_JId_0_SId_1_0_TId_17_0", 17},
                 {"a,SPARK_TASK_" APP "_2_JId_0_SId_1_0_TId_17_3,b", 17},
                 {"SPARK_TASK_other_JId_0_SId_1_0_TId_5_0,SPARK_TASK_" APP "_JId_0_SId_1_0_TId_6_0", 6},
                 {"SPARK_TASK_" APP "9_JId_0_SId_1_0_TId_17_0", -1},
                 {"SPARK_TASK_" APP "_JId_0", -1},
                 {"SPARK_TASK_" APP "_TId_x", -1},
                 {"SPARK_DRIVER_" APP, -1},
                 {"", -1}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(caller_context_task(cases[i].text, strlen(cases[i].text), APP), ==, cases[i].task);
    g_assert_cmpstr(hdfs_path_of("hdfs://nn:8020/a/b"), ==, "/a/b");
    g_assert_cmpstr(hdfs_path_of("/a/b"), ==, "/a/b");
    g_assert_cmpstr(hdfs_path_of("hdfs://nn"), ==, "hdfs://nn");
}

/* A line that names no task, of an executor whose host is unknown: only that executor's tasks are meant. */
static void line_of_executor(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();

    add_task(records, 1, "w1", 0, 100);
    add_task(records, 2, "w1", 0, 100)->executor = "2";
    SparkSplit *split = spark_add_split(records);
    split->app = APP;
    split->executor = "2";
    split->path = "/in/part-4";
    split->start = 0;
    split->length = 100;
    split->time_ms = BASE_MS;

    const Read read = {0xd3, "FSClient/w1/7", "DataNode/d1", 20, 5, "path=/in/part-4;position=50", FALSE};
    store_read(&fixture, &read);
    g_autoptr(SparkRecords) links = find(&fixture, records, LINK_KINDS_ALL);

    g_assert_cmpuint(links->of[SPARK_LINK]->len, ==, 1);
    g_assert_cmpint(spark_link(links, 0)->task, ==, 2);
    g_assert_cmpint(spark_link(links, 0)->kind, ==, LINK_SPLIT);
    g_assert_cmpfloat(spark_link(links, 0)->confidence, ==, 1);
}

/* ---- why ---- */

/* Eight tasks of 100 ms; d2 takes 300 ms from its disk for tasks 5 and 6, which take 400. Task 7 takes as long, with
 * nothing to show for it. */
static void store_slow_disk(Fixture *fixture) {
    g_autoptr(SparkRecords) records = spark_records_new();
    add_app(records);
    for (gint64 id = 0; id < 8; id++) {
        const gboolean slow = id == 5 || id == 6;
        SparkTask *task = add_task(records, id, id % 2 ? "w1" : "w2", id * 10, slow || id == 7 ? 400 : 100);
        task->metrics[METRIC_INPUT_BYTES] = 65536;
        const Read read = {task_trace_id(APP, id),
                           id % 2 ? "FSClient/w1/7" : "FSClient/w2/8",
                           slow ? "DataNode/d2" : "DataNode/d1",
                           id * 10,
                           slow ? 300 : 2,
                           "path=/in/part",
                           TRUE};
        store_read(fixture, &read);
    }
    put(fixture, records);
}

static void why_names_the_disk(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    store_slow_disk(&fixture);
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

/* Once it has rested; again only when more of it comes; from a trace one comes to its task. */
static void links_are_kept(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    store_slow_disk(&fixture);
    g_autoptr(TraceLinker) linker = trace_linker_new(fixture.archive);
    g_autoptr(GError) error = NULL;
    g_autoptr(SparkRecords) links = spark_records_new();
    guint linked;
    const gint64 rest_ms = BASE_MS + LINKS_IDLE_REST_MS;
    g_assert_true(trace_linker_run(linker, rest_ms - 1, &linked, &error));
    g_assert_cmpuint(linked, ==, 0);
    for (guint round = 0; round < 2; round++) {
        g_assert_true(trace_linker_run(linker, rest_ms + round * LINKS_IDLE_REST_MS, &linked, &error));
        g_assert_cmpuint(linked, ==, round == 0 ? 1 : 0);
    }
    g_assert_true(archive_spark_links_of(fixture.archive, task_trace_id(APP, 6), links, &error));
    g_assert_cmpuint(links->of[SPARK_LINK]->len, ==, 1);
    g_assert_cmpint(spark_link(links, 0)->task, ==, 6);
    g_assert_cmpint(spark_link(links, 0)->kind, ==, LINK_SCOPE);
    json_t *answer = fixture_answer(&fixture, "why", "app=latest");
    g_assert_cmpint(number_at(answer, "explained"), ==, 2);
    json_decref(answer);

    char question[64];
    g_snprintf(question, sizeof(question), "id=%016" G_GINT64_MODIFIER "x", task_trace_id(APP, 6));
    answer = fixture_answer(&fixture, "trace", question);
    const json_t *task = json_array_get(json_object_get(answer, "tasks"), 0);
    g_assert_cmpuint(json_array_size(json_object_get(answer, "tasks")), ==, 1);
    g_assert_cmpstr(text_at(task, "app"), ==, APP);
    g_assert_cmpint(number_at(task, "task"), ==, 6);
    g_assert_cmpstr(text_at(task, "link"), ==, "exact-scope");
    json_decref(answer);

    /* Another retention, as after a restart, sees that they are there; until a task comes. */
    g_autoptr(TraceLinker) other = trace_linker_new(fixture.archive);
    g_assert_true(trace_linker_run(other, rest_ms + 3 * LINKS_IDLE_REST_MS, &linked, &error));
    g_assert_cmpuint(linked, ==, 0);
}

/* A task whose call of the NameNode names it: its reads, which are known by time and host alone, are its facts too. */
static void why_of_weaker_links(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    add_app(records);

    for (gint64 id = 0; id < 8; id++) {
        add_task(records, id, "w1", id * 1000, id == 5 ? 400 : 100)->metrics[METRIC_INPUT_BYTES] = 65536;
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
        store_read(&fixture, &read);
    }

    put(&fixture, records);
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
    store_slow_disk(&fixture);

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

static void why_of_one(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    store_slow_disk(&fixture);
    json_t *answer = fixture_answer(&fixture, "why", "app=app-2020&task=6&stage=1.0");
    const json_t *list = json_object_get(answer, "stragglers");
    g_assert_cmpuint(json_array_size(list), ==, 1);
    g_assert_cmpint(number_at(json_array_get(list, 0), "task"), ==, 6);
    json_decref(answer);
    answer = fixture_answer(&fixture, "why", "app=count words&stage=2");
    g_assert_cmpint(number_at(answer, "stragglers_total"), ==, 0);
    json_decref(answer);
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
    store_slow_disk(&fixture);
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

/* ---- data ---- */

/* More bytes are the data's doing: task 5 reads ten times what its peers read, and waits ten times as long. */
static void why_more_data(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    add_app(records);

    for (gint64 id = 0; id < 12; id++) {
        const gboolean large = id == 5;
        SparkTask *task = add_task(records, id, "w1", id * 10, large ? 1000 : 100);
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

    put(&fixture, records);
    json_t *answer = fixture_answer(&fixture, "why", "app=latest");
    const json_t *row = json_array_get(json_object_get(answer, "stragglers"), 0);

    g_assert_cmpint(number_at(row, "task"), ==, 5);
    g_assert_cmpstr(text_at(json_object_get(row, "main_cause"), "feature"), ==, "read_bytes");
    g_assert_null(row_where(json_object_get(row, "causes"), "topic", "hdfs"));
    json_decref(answer);
}

static void mistakes(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);

    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "why", "app=latest", &error));
    g_assert_nonnull(strstr(error->message, "plumb-bridge sends"));
    g_clear_error(&error);
    store_slow_disk(&fixture);

    static const struct {
        const char *params, *message;
    } cases[] = {
        {"", "which application? Give its id, the beginning of it, its name, or \"latest\""},
        {"app=app-20201121105300-0002", "did you mean \"" APP "\"?"},
        {"app=zzz", "plumb apps lists all"},
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

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/links/each-kind", each_kind);
    g_test_add_func("/links/namenode-context", namenode_context);
    g_test_add_func("/links/caller-contexts", caller_contexts);
    g_test_add_func("/links/line-of-executor", line_of_executor);
    g_test_add_func("/why/of-weaker-links", why_of_weaker_links);
    g_test_add_func("/why/names-the-disk", why_names_the_disk);
    g_test_add_func("/links/are-kept", links_are_kept);
    g_test_add_func("/why/hosts", hosts);
    g_test_add_func("/why/of-one", why_of_one);
    g_test_add_func("/why/trace-of-a-task", trace_of_a_task);
    g_test_add_func("/why/trace-of-a-shell", trace_of_a_shell);
    g_test_add_func("/why/trace-of-a-namenode", trace_of_a_namenode);
    g_test_add_func("/why/trace-of-many-files", trace_of_many_files);
    g_test_add_func("/why/more-data", why_more_data);
    g_test_add_func("/why/mistakes", mistakes);
    return g_test_run();
}
