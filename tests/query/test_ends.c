/* When the running stages of an application end, told while it runs: the stage is drawn, so its true end is known. */
#include <math.h>
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "tests/query/fixture.h"
#include "tests/query/spark_sample.h"

#define TASKS  60u
#define HOSTS  3u
#define NOW_MS 3600000 /* of fixture_ask(), after BASE_MS */
#define FIRST  100     /* id of the first task */

/* Tasks of 20 to 30 s, one behind the other on each host; on the last host twice as long. */
typedef struct Drawn {
    gint64 begin_ms, end_ms; /* after the stage's begin */
    guint host;
} Drawn;

static gint64 draw(Drawn *tasks) {
    GRand *rand = g_rand_new_with_seed(7);
    gint64 free_ms[HOSTS] = {0}, end_ms = 0;
    for (guint i = 0; i < TASKS; i++) {
        guint host = 0;
        for (guint k = 1; k < HOSTS; k++)
            if (free_ms[k] < free_ms[host]) host = k;
        const gint64 ms = g_rand_int_range(rand, 20000, 30000) * (host == HOSTS - 1 ? 2 : 1);
        tasks[i] = (Drawn){free_ms[host], free_ms[host] + ms, host};
        free_ms[host] += ms;
        end_ms = MAX(end_ms, free_ms[host]);
    }
    g_rand_free(rand);
    return end_ms;
}

static SparkStage *add_stage(SparkRecords *records, gint64 begin_ms, gint64 end_ms) {
    SparkStage *stage = spark_add_stage(records);
    stage->app = APP;
    stage->stage = 1;
    stage->attempt = 0;
    stage->tasks = TASKS;
    stage->name = "count at words";
    stage->submitted_ms = BASE_MS + begin_ms;
    stage->completed_ms = end_ms < 0 ? -1 : BASE_MS + end_ms;
    return stage;
}

/* What is known when it has run for so long. */
static json_t *ask_at(Fixture *fixture, const Drawn *tasks, gint64 run_ms) {
    g_autoptr(SparkRecords) records = spark_records_new();
    const gint64 begin_ms = NOW_MS - run_ms;
    SparkApp *app = sample_app(records);
    app->last_event_ms = BASE_MS + NOW_MS;
    add_stage(records, begin_ms, -1);
    for (guint i = 0; i < TASKS && tasks[i].begin_ms <= run_ms; i++) {
        g_autofree char *host = g_strdup_printf("w%u", tasks[i].host);
        const gint64 ms = tasks[i].end_ms - tasks[i].begin_ms;
        sample_task(records, FIRST + i, host, begin_ms + tasks[i].begin_ms, tasks[i].end_ms <= run_ms ? ms : -1);
    }
    /* A copy of a task that has ended runs still. */
    SparkTask *copy = sample_task(records, 99, "w1", begin_ms + 1000, -1);
    copy->partition = FIRST;
    copy->attempt = 1;
    copy->speculative = 1;
    sample_put(fixture, records);
    return fixture_answer(fixture, "ends", "app=latest");
}

static void test_growing(void) {
    static const double looks[] = {0.3, 0.5, 0.7, 0.9};
    Drawn tasks[TASKS];
    const gint64 all_ms = draw(tasks);
    for (guint i = 0; i < G_N_ELEMENTS(looks); i++) {
        g_auto(Fixture) fixture = {0};
        fixture_init(&fixture);
        const gint64 run_ms = (gint64)(looks[i] * (double)all_ms);
        json_auto_t *answer = ask_at(&fixture, tasks, run_ms);
        const json_t *stage = json_array_get(json_object_get(answer, "stages"), 0);
        const gint64 end_ns = SAMPLE_BASE_NS + (NOW_MS - run_ms + all_ms) * NS_PER_MS;
        guint begun = 0, ended = 0;
        for (guint k = 0; k < TASKS; k++) {
            begun += tasks[k].begin_ms <= run_ms;
            ended += tasks[k].end_ms <= run_ms;
        }
        g_assert_true(json_is_true(json_object_get(stage, "known")));
        g_assert_cmpint(number_at(stage, "tasks"), ==, TASKS);
        g_assert_cmpint(number_at(stage, "ended"), ==, ended);
        g_assert_cmpint(number_at(stage, "running"), ==, begun - ended);
        g_assert_cmpint(number_at(stage, "waiting"), ==, TASKS - begun);
        g_assert_cmpint(number_at(stage, "earliest_time_ns"), <=, end_ns);
        g_assert_cmpint(number_at(stage, "latest_time_ns"), >=, end_ns);
        g_assert_cmpint(llabs(number_at(stage, "end_time_ns") - end_ns), <, 30 * NS_PER_SEC);
        if (i == 2) fixture_check_document("ends", answer);
    }
}

/* The last tasks run: the one on the slow host ends last. */
static void test_last(void) {
    Drawn tasks[TASKS];
    gint64 begin_ms = 0;
    const gint64 all_ms = draw(tasks);
    guint last = 0;
    for (guint i = 0; i < TASKS; i++) {
        begin_ms = MAX(begin_ms, tasks[i].begin_ms);
        if (tasks[i].end_ms == all_ms) last = i;
    }
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    json_auto_t *answer = ask_at(&fixture, tasks, begin_ms + 1000);
    const json_t *stage = json_array_get(json_object_get(answer, "stages"), 0), *row = json_object_get(stage, "last");
    g_assert_cmpint(number_at(stage, "waiting"), ==, 0);
    g_assert_cmpint(number_at(row, "task"), ==, FIRST + last);
    g_assert_cmpstr(text_at(row, "host"), ==, "w2");
    g_assert_cmpstr(text_at(row, "reason"), ==, "slow-host");
}

/* All on equal hosts have begun: it has most left, and began before others. */
static void test_most_left(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records)->last_event_ms = BASE_MS + NOW_MS;
    add_stage(records, NOW_MS - 100000, -1);
    for (guint i = 0; i < TASKS - 2; i++)
        sample_task(records, FIRST + i, i % 2 == 0 ? "w0" : "w1", NOW_MS - 100000, i % 6 < 4 ? 10000 : 80000);
    /* It has outlasted the short ones, so it is one of those that take 80 s. */
    sample_task(records, FIRST + TASKS - 2, "w0", NOW_MS - 12000, -1);
    sample_task(records, FIRST + TASKS - 1, "w1", NOW_MS - 2000, -1);
    sample_put(&fixture, records);
    json_auto_t *answer = fixture_answer(&fixture, "ends", "app=latest");
    const json_t *row = json_object_get(json_array_get(json_object_get(answer, "stages"), 0), "last");
    g_assert_cmpint(number_at(row, "task"), ==, FIRST + TASKS - 2);
    g_assert_cmpstr(text_at(row, "reason"), ==, "most-left");
}

/* Of an application that was killed, and of stages so small that nothing can be told before they end. */
static void test_nothing_to_tell(void) {
    for (guint small = 0; small < 2; small++) {
        g_auto(Fixture) fixture = {0};
        fixture_init(&fixture);
        g_autoptr(SparkRecords) records = spark_records_new();
        SparkApp *app = sample_app(records);
        app->last_event_ms = BASE_MS + NOW_MS;
        app->log_complete = !small;
        SparkStage *stage = add_stage(records, NOW_MS - 35000, -1);
        if (small) stage->tasks = 5;
        for (guint i = 0; i < 5; i++) sample_task(records, FIRST + i, "w0", NOW_MS - 35000, i < 4 ? 10000 : -1);
        sample_put(&fixture, records);
        json_auto_t *answer = fixture_answer(&fixture, "ends", "app=latest");
        g_assert_cmpstr(text_at(answer, "state"), ==, small ? "running" : "cut off");
        g_assert_cmpuint(json_array_size(json_object_get(answer, "stages")), ==, 0);
    }
}

/* Too early, and over. */
static void test_not_known(void) {
    Drawn tasks[TASKS];
    const gint64 all_ms = draw(tasks);
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    json_auto_t *early = ask_at(&fixture, tasks, 35000);
    const json_t *stage = json_array_get(json_object_get(early, "stages"), 0);
    g_assert_true(json_is_false(json_object_get(stage, "known")));
    g_assert_null(json_object_get(stage, "end_time_ns"));

    g_autoptr(SparkRecords) records = spark_records_new();
    add_stage(records, NOW_MS - 35000, NOW_MS - 35000 + all_ms);
    sample_put(&fixture, records);
    json_auto_t *over = fixture_answer(&fixture, "ends", "app=latest");
    g_assert_cmpuint(json_array_size(json_object_get(over, "stages")), ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/ends/growing", test_growing);
    g_test_add_func("/query/ends/last", test_last);
    g_test_add_func("/query/ends/most-left", test_most_left);
    g_test_add_func("/query/ends/nothing-to-tell", test_nothing_to_tell);
    g_test_add_func("/query/ends/not-known", test_not_known);
    return g_test_run();
}
