#include "analyzer/query/spark/tasks/app_given.h"

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/tasks/asked_app.h"

static json_t *exclusion_json(const SparkExclusion *exclusion) {
    g_autofree char *text = spark_exclusion_text(exclusion);
    json_t *object = json_object();
    json_add_text(object, "executor", exclusion->executor);
    json_add_text(object, "host", exclusion->host);
    if (exclusion->stage >= 0) json_object_set_new(object, "stage", json_integer(exclusion->stage));
    if (exclusion->stage_attempt >= 0)
        json_object_set_new(object, "stage_attempt", json_integer(exclusion->stage_attempt));
    json_add_ms(object, "time_ns", exclusion->time_ms);
    json_add_ms(object, "back_time_ns", exclusion->back_ms);
    if (exclusion->failures >= 0) json_object_set_new(object, "failures", json_integer(exclusion->failures));
    json_add_text(object, "text", text);
    return object;
}

static void add_bytes(json_t *object, const char *name, gint64 bytes) {
    if (bytes > 0) json_object_set_new(object, name, json_integer(bytes));
}

static json_t *profile_json(const SparkProfile *profile) {
    json_t *object = json_object(), *others = json_object();
    json_object_set_new(object, "profile", json_integer(profile->profile));
    add_bytes(object, "memory_bytes", profile->memory_bytes);
    add_bytes(object, "overhead_bytes", profile->overhead_bytes);
    add_bytes(object, "off_heap_bytes", profile->off_heap_bytes);
    add_bytes(object, "python_bytes", profile->python_bytes);
    if (profile->cores > 0) json_object_set_new(object, "cores", json_integer(profile->cores));
    if (profile->task_cpus > 0) json_object_set_new(object, "task_cpus", json_real(profile->task_cpus));
    for (guint32 i = 0; i < profile->others.n; i++)
        json_add_text(others, profile->others.items[i].key, profile->others.items[i].value);
    json_object_set_new(object, "others", others);
    return object;
}

static void add_list(json_t *answer, const char *name, json_t *list) {
    if (json_array_size(list) > 0)
        json_object_set_new(answer, name, list);
    else
        json_decref(list);
}

gboolean app_given_exclusions(Archive *archive, const char *app_key, SparkRecords *records, GError **error) {
    const SparkSelect executors = SPARK_SELECT(SPARK_EXECUTOR, app_key);
    const SparkSelect exclusions = SPARK_SELECT(SPARK_EXCLUSION, app_key);
    if ((records->of[SPARK_EXECUTOR]->len == 0 && !archive_spark_load(archive, &executors, records, error)) ||
        !archive_spark_load(archive, &exclusions, records, error))
        return FALSE;

    g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < records->of[SPARK_EXCLUSION]->len; i++) {
        const SparkExclusion *exclusion = spark_exclusion(records, i);
        if (exclusion->executor != NULL && exclusion->stage < 0) g_hash_table_add(told, (gpointer)exclusion->executor);
    }
    for (guint i = 0; i < records->of[SPARK_EXECUTOR]->len; i++) {
        const SparkExecutor *executor = spark_executor(records, i);
        if (executor->excluded_ms < 0 || g_hash_table_contains(told, executor->id)) continue;
        SparkExclusion *exclusion = spark_add_exclusion(records);
        exclusion->app = executor->app, exclusion->executor = executor->id, exclusion->time_ms = executor->excluded_ms;
    }
    return TRUE;
}

gboolean app_given_add(Archive *archive, const char *app_key, json_t *answer, GError **error) {
    g_autoptr(SparkRecords) records = spark_records_new();
    const SparkSelect profiles = SPARK_SELECT(SPARK_PROFILE, app_key);
    if (!archive_spark_load(archive, &profiles, records, error) ||
        !app_given_exclusions(archive, app_key, records, error))
        return FALSE;

    json_t *excluded = json_array(), *own = json_array();
    for (guint i = 0; i < records->of[SPARK_EXCLUSION]->len; i++)
        json_array_append_new(excluded, exclusion_json(spark_exclusion(records, i)));
    for (guint i = 0; i < records->of[SPARK_PROFILE]->len; i++)
        if (spark_profile(records, i)->profile > 0) json_array_append_new(own, profile_json(spark_profile(records, i)));
    add_list(answer, "exclusions", excluded);
    add_list(answer, "profiles", own);
    return TRUE;
}
