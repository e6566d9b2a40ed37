/* Which applications of Spark are stored. */
#include "analyzer/query/spark/advise_all.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/asked_app.h"

static json_t *row_of(const Asked *asked, const AppEntry *entry) {
    static const struct {
        SparkKind kind;
        const char *name;
    } counts[] = {{SPARK_EXECUTOR, "executors"}, {SPARK_JOB, "jobs"},     {SPARK_STAGE, "stages"},
                  {SPARK_TASK, "tasks"},         {SPARK_SPLIT, "splits"}, {SPARK_OPERATION, "operations"},
                  {SPARK_LINK, "links"}};
    json_t *row = json_object();
    json_add_app(asked, row, entry);
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
        json_object_set_new(row, counts[i].name, json_count(entry->records[counts[i].kind]));
    if (entry->app == NULL || entry->app->properties.n == 0) return row;
    json_t *properties = json_object();
    for (guint32 i = 0; i < entry->app->properties.n; i++) {
        const SparkPair *pair = &entry->app->properties.items[i];
        if (pair->key != NULL && pair->value != NULL) json_add_text(properties, pair->key, pair->value);
    }
    json_object_set_new(row, "properties", properties);
    return row;
}

json_t *answer_apps(const Asked *asked, GError **error) {
    guint64 limit = 0;
    gboolean advice = FALSE;
    if (!params_count(asked->params, "limit", &limit, error) || !params_flag(asked->params, "advice", &advice, error))
        return NULL;
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    if (list == NULL) return NULL;
    json_t *answer = json_object(), *rows = json_array();
    const guint n = answer_rows(asked, limit, list->entries->len, answer);
    json_object_set_new(answer, "apps", rows);
    for (guint i = 0; i < n; i++) {
        const AppEntry *entry = &g_array_index(list->entries, AppEntry, i);
        json_t *row = row_of(asked, entry);
        json_array_append_new(rows, row);
        if (!advice || add_advice_of(asked, entry, row, error)) continue;
        json_decref(answer);
        return NULL;
    }
    return answer;
}
