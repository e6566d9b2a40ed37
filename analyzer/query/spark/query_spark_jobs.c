/* The jobs of an application: its stages, and how many tasks they had. */
#include <string.h>

#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/allowance.h"

typedef struct StageTasks {
    gint64 stage; /* the key */
    guint64 tasks, not_well;
} StageTasks;

static gboolean add_task(void *arg, const void *record) {
    GHashTable *stages = arg;
    const SparkTask *task = record;
    StageTasks *of = g_hash_table_lookup(stages, &task->stage);
    if (of == NULL) {
        of = g_new0(StageTasks, 1);
        of->stage = task->stage;
        g_hash_table_insert(stages, &of->stage, of);
    }
    of->tasks++;
    of->not_well += task->status != TASK_SUCCESS && task->status != TASK_RUNNING;
    return TRUE;
}

static void add_stages(json_t *row, const SparkJob *job, GHashTable *stages) {
    json_t *numbers = json_array();
    guint64 tasks = 0, not_well = 0;
    for (guint32 i = 0; i < job->stages.n && allowance_goes_on(); i++) {
        const gint64 stage = job->stages.items[i];
        const StageTasks *of = g_hash_table_lookup(stages, &stage);
        json_array_append_new(numbers, json_integer(stage));
        tasks += of != NULL ? of->tasks : 0;
        not_well += of != NULL ? of->not_well : 0;
    }
    json_object_set_new(row, "stages", numbers);
    json_object_set_new(row, "tasks", json_count(tasks));
    json_object_set_new(row, "failed_tasks", json_count(not_well));
}

static json_t *row_of(const SparkJob *job, GHashTable *stages) {
    json_t *row = json_pack("{s:I, s:s}", "job", (json_int_t)job->job, "state", job_result_name(job->result));
    json_add_text(row, "description", job->description);
    json_add_text(row, "call_site", job->call_site);
    json_add_text(row, "error", job->error);
    json_add_ms(row, "begin_time_ns", job->submitted_ms);
    if (job->submitted_ms >= 0 && job->completed_ms >= job->submitted_ms)
        json_add_ms(row, "duration_ns", job->completed_ms - job->submitted_ms);
    add_stages(row, job, stages);
    return row;
}

json_t *answer_jobs(const Asked *asked, GError **error) {
    guint64 limit = 0;
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    const AppEntry *entry = list != NULL ? asked_app_entry(asked, list, error) : NULL;
    if (entry == NULL || !params_count(asked->params, "limit", &limit, error)) return NULL;

    g_autoptr(SparkRecords) records = spark_records_new();
    g_autoptr(GHashTable) stages = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    const SparkSelect jobs = SPARK_SELECT(SPARK_JOB, entry->key), tasks = SPARK_SELECT(SPARK_TASK, entry->key);
    if (!archive_spark_load(asked->archive, &jobs, records, error) ||
        !archive_spark_visit(asked->archive, &tasks, records, (SparkVisitor){add_task, stages}, error))
        return NULL;

    json_t *answer = json_object(), *rows = json_array();
    json_add_app(asked, answer, entry);
    const guint n = answer_rows(asked, limit, records->of[SPARK_JOB]->len, answer);
    for (guint i = 0; i < n && allowance_goes_on(); i++)
        json_array_append_new(rows, row_of(spark_job(records, i), stages));
    json_object_set_new(answer, "jobs", rows);
    return answer;
}
