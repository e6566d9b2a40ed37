/* Which stages of two runs belong together. */
#include <string.h>

#include "tests/query/spark_sample.h"

static void put_stage(Fixture *fixture, const char *app, gint64 number, const char *name, gint64 task_ms) {
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkStage *stage = spark_add_stage(records);
    stage->app = app;
    stage->stage = number;
    stage->attempt = 0;
    stage->name = name;
    for (gint64 i = 0; i < 4; i++) {
        SparkTask *task = sample_task(records, number * 100 + i, "w1", i, task_ms + i);
        task->app = app;
        task->stage = number;
        task->metrics[METRIC_INPUT_BYTES] = 1000 * task_ms;
        task->metrics[METRIC_SHUFFLE_REMOTE_BYTES] = 7;
        task->metrics[METRIC_SHUFFLE_LOCAL_BYTES] = 3;
        task->metrics[METRIC_GC_MS] = number;
    }
    sample_put(fixture, records);
}

static void put_runs(Fixture *fixture) {
    g_autoptr(SparkRecords) records = spark_records_new();
    const char *apps[] = {"app-1", "app-2"};
    for (guint i = 0; i < 2; i++) {
        SparkApp *app = spark_add_app(records);
        app->app = app->id = apps[i];
        app->name = "sort";
        app->start_ms = BASE_MS + i;
    }
    sample_put(fixture, records);
}

/* Stages belong together by their names, whatever their numbers; of several with one name the first with the first. */
static void runs_match_stages_by_name(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    put_runs(&fixture);
    put_stage(&fixture, "app-1", 1, "map at A", 100);
    put_stage(&fixture, "app-1", 2, "map at A", 500);
    put_stage(&fixture, "app-1", 3, "gone at B", 100);
    put_stage(&fixture, "app-2", 4, "map at A", 101);
    put_stage(&fixture, "app-2", 6, "map at A", 700);
    put_stage(&fixture, "app-2", 7, "new at C", 1);

    static const struct {
        const char *name, *state;
        gint64 a, b;
    } expected[] = {{"map at A", "slower", 2, 6},
                    {"new at C", "new", -1, 7},
                    {"map at A", "same", 1, 4},
                    {"gone at B", "gone", 3, -1}};
    json_t *answer = fixture_answer(&fixture, "runs", "b=app-2");
    fixture_check_document("runs-names", answer);
    const json_t *stages = json_object_get(answer, "stages");
    g_assert_cmpuint(json_array_size(stages), ==, G_N_ELEMENTS(expected));
    for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
        const json_t *row = json_array_get(stages, i), *a = json_object_get(row, "a"), *b = json_object_get(row, "b");
        g_assert_cmpstr(text_at(row, "name"), ==, expected[i].name);
        g_assert_cmpstr(text_at(row, "state"), ==, expected[i].state);
        g_assert_cmpint(a ? number_at(a, "stage") : -1, ==, expected[i].a);
        g_assert_cmpint(b ? number_at(b, "stage") : -1, ==, expected[i].b);
    }
    json_decref(answer);

    answer = fixture_answer(&fixture, "runs", "b=app-2&stage=6");
    g_assert_cmpuint(json_array_size(json_object_get(answer, "stages")), ==, 1);
    json_decref(answer);
    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "runs", "b=app-1", &error));
    g_assert_nonnull(strstr(error->message, "no earlier run of \"sort\" is stored"));
    g_clear_error(&error);
    g_assert_null(fixture_ask(&fixture, "runs", "a=sort&b=sort", &error));
    g_assert_nonnull(strstr(error->message, "both are app-2"));
    g_clear_error(&error);
    g_assert_null(fixture_ask(&fixture, "runs", "a=sort", &error));
    g_assert_nonnull(strstr(error->message, "needs b"));
}

static void put_query(Fixture *fixture, const char *app, gint64 query, gint64 first_stage) {
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkJob *job = spark_add_job(records);
    job->app = app;
    job->job = query;
    job->query = query;
    const gint64 stages[] = {first_stage, first_stage + 1, first_stage + 2};
    job->stages = (SparkNumbers){stages, G_N_ELEMENTS(stages)};
    sample_put(fixture, records);
}

/* Another version of Spark has other names for the same: their order in the query is what both have. A query in
 * which a single name is found again was changed, and what is left of it is new. What is named after calls has the
 * same ones. */
static void runs_match_stages_by_place(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    put_runs(&fixture);
    put_query(&fixture, "app-1", 0, 1);
    put_query(&fixture, "app-2", 0, 11);
    put_query(&fixture, "app-1", 1, 4);
    put_query(&fixture, "app-2", 1, 14);
    put_stage(&fixture, "app-1", 1, "count at FutureTask.java:264", 100);
    put_stage(&fixture, "app-1", 2, "count at FutureTask.java:264", 300);
    put_stage(&fixture, "app-1", 4, "scan", 100);
    put_stage(&fixture, "app-1", 5, "sort", 100);
    put_stage(&fixture, "app-2", 11, "Scan parquet orders", 100);
    put_stage(&fixture, "app-2", 12, "Exchange", 500);
    put_stage(&fixture, "app-2", 14, "scan", 100);
    put_stage(&fixture, "app-2", 15, "count", 100);
    put_stage(&fixture, "app-1", 7, "count at jobs.py:182", 100);
    put_stage(&fixture, "app-1", 8, "reduceByKey at jobs.py:176", 100);
    put_stage(&fixture, "app-2", 17, "reduceByKey at jobs.py:177", 100);
    put_stage(&fixture, "app-2", 18, "count at jobs.py:183", 100);

    static const struct {
        const char *name, *state, *a_name;
        gint64 a, b;
    } expected[] = {{"Exchange", "slower", "count at FutureTask.java:264", 2, 12},
                    {"count", "new", NULL, -1, 15},
                    {"Scan parquet orders", "same", "count at FutureTask.java:264", 1, 11},
                    {"scan", "same", NULL, 4, 14},
                    {"reduceByKey at jobs.py:177", "same", "reduceByKey at jobs.py:176", 8, 17},
                    {"count at jobs.py:183", "same", "count at jobs.py:182", 7, 18},
                    {"sort", "gone", NULL, 5, -1}};
    json_auto_t *answer = fixture_answer(&fixture, "runs", "b=app-2");
    fixture_check_document("runs-places", answer);
    const json_t *stages = json_object_get(answer, "stages");
    g_assert_cmpuint(json_array_size(stages), ==, G_N_ELEMENTS(expected));
    for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
        const json_t *row = json_array_get(stages, i), *a = json_object_get(row, "a"), *b = json_object_get(row, "b");
        const json_t *a_name = json_object_get(row, "a_name");
        g_assert_cmpstr(text_at(row, "name"), ==, expected[i].name);
        g_assert_cmpstr(text_at(row, "state"), ==, expected[i].state);
        g_assert_cmpstr(a_name ? json_string_value(a_name) : NULL, ==, expected[i].a_name);
        g_assert_cmpint(a ? number_at(a, "stage") : -1, ==, expected[i].a);
        g_assert_cmpint(b ? number_at(b, "stage") : -1, ==, expected[i].b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runs/names", runs_match_stages_by_name);
    g_test_add_func("/runs/places", runs_match_stages_by_place);
    return g_test_run();
}
