/* Links from tasks to traces, each kind on records and spans made by hand. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/tasks/task_links.h"
#include "analyzer/query/spark/tasks/trace_linker.h"
#include "tests/query/spark_sample.h"

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
    for (gint64 id = 0; id < 4; id++) sample_task(records, id, id < 3 ? "w1" : "w2", 0, 100);
    sample_task(records, 9, "w1", 500, 100);
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
    sample_task(records, 10, "w1", 1900, 200);
    sample_task(records, 11, "w1", 2050, 200);

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
    for (guint i = 0; i < G_N_ELEMENTS(reads); i++) sample_read(&fixture, &reads[i]);

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
    sample_task(records, 1, "w1", 0, 100);
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

    sample_task(records, 1, "w1", 0, 100);
    sample_task(records, 2, "w1", 0, 100)->executor = "2";
    SparkSplit *split = spark_add_split(records);
    split->app = APP;
    split->executor = "2";
    split->path = "/in/part-4";
    split->start = 0;
    split->length = 100;
    split->time_ms = BASE_MS;

    const Read read = {0xd3, "FSClient/w1/7", "DataNode/d1", 20, 5, "path=/in/part-4;position=50", FALSE};
    sample_read(&fixture, &read);
    g_autoptr(SparkRecords) links = find(&fixture, records, LINK_KINDS_ALL);

    g_assert_cmpuint(links->of[SPARK_LINK]->len, ==, 1);
    g_assert_cmpint(spark_link(links, 0)->task, ==, 2);
    g_assert_cmpint(spark_link(links, 0)->kind, ==, LINK_SPLIT);
    g_assert_cmpfloat(spark_link(links, 0)->confidence, ==, 1);
}

/* Once it has rested; again only when more of it comes; from a trace one comes to its task. */
static void links_are_kept(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    sample_slow_disk(&fixture);
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

/* The agent is in the executors, and Spark writes no event log, which is its default. */
static void event_logs_are_off(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(GError) none = NULL;
    g_assert_null(fixture_ask(&fixture, "why", "app=" APP, &none));
    g_assert_nonnull(strstr(none->message, "no application of Spark is stored"));
    g_assert_nonnull(strstr(none->message, "spark.eventLog.enabled=true"));

    const Read read = {.trace = task_trace_id(APP, 41),
                       .client = "Executor/d1",
                       .datanode = "DataNode/d2",
                       .disk_ms = 10,
                       .in_task = TRUE};
    sample_read(&fixture, &read);
    g_autoptr(GError) traced = NULL;
    g_assert_null(fixture_ask(&fixture, "why", "app=" APP, &traced));
    g_assert_error(traced, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(traced->message, "tasks of \"" APP "\" were traced"));
    g_assert_nonnull(strstr(traced->message, "spark.eventLog.enabled=true"));

    g_autoptr(GError) other = NULL;
    g_assert_null(fixture_ask(&fixture, "why", "app=app-20201121105300-0002", &other));
    g_assert_null(strstr(other->message, "were traced"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/links/each-kind", each_kind);
    g_test_add_func("/links/namenode-context", namenode_context);
    g_test_add_func("/links/caller-contexts", caller_contexts);
    g_test_add_func("/links/line-of-executor", line_of_executor);
    g_test_add_func("/links/are-kept", links_are_kept);
    g_test_add_func("/links/event-logs-off", event_logs_are_off);
    return g_test_run();
}
