#include "analyzer/query/spark/tasks/run.h"

#include <math.h>
#include <string.h>

#include "analyzer/query/spark/tasks/app_plans.h"
#include "common/base/clock.h"

static void stage_clear(gpointer data) {
    RunStage *stage = data;
    g_array_unref(stage->waits);
    g_array_unref(stage->own);
}

void run_free(Run *run) {
    if (!run) return;
    g_array_unref(run->stages);
    if (run->hdfs) app_hdfs_free(run->hdfs);
    if (run->stragglers) stragglers_free(run->stragglers);
    if (run->tasks) app_tasks_free(run->tasks);
    spark_records_free(run->records);
    g_free(run);
}

/* ---- the stages ---- */

static const char *name_of(const Run *run, const AppPlans *plans, const AppStage *known) {
    const SparkStage *record = app_plans_stage(plans, known->stage, known->attempt);
    g_autofree char *name = record ? app_plans_stage_name(plans, record) : NULL;
    return name ? spark_text_shared(run->records, name, strlen(name)) : "";
}

static void measure(const Run *run, RunStage *stage) {
    const StageTasks *tasks = &run->stragglers->stages[stage->number];
    const TaskTable *table = run->tasks->table;
    double sum = 0, squares = 0;
    for (guint32 i = 0; i < tasks->n; i++) {
        const guint32 row = run->stragglers->order[tasks->first + i];
        if (!(table->flags[row] & ROW_COUNTED)) continue;
        const double ms = task_duration_ms(table, row);
        sum += ms;
        squares += ms * ms;
        stage->tasks++;
    }
    if (stage->tasks == 0) return;
    const double n = stage->tasks;
    stage->mean_ms = sum / n;
    if (stage->tasks > 1) stage->variance_ms = MAX(squares - n * stage->mean_ms * stage->mean_ms, 0) / (n - 1);
}

static gint by_number(gconstpointer a, gconstpointer b, gpointer arg) {
    const Run *run = arg;
    const AppStage *x = app_stage(run->tasks, ((const RunStage *)a)->number);
    const AppStage *y = app_stage(run->tasks, ((const RunStage *)b)->number);
    if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

static void list_stages(Run *run, const AppPlans *plans) {
    for (guint32 s = 0; s < run->stragglers->n_stages; s++) {
        const AppStage *known = app_stage(run->tasks, s);
        RunStage stage = {
            .number = s, .name = name_of(run, plans, known), .query = app_plans_query_number(plans, known->stage)};
        measure(run, &stage);
        if (stage.tasks == 0) continue;
        stage.waits = g_array_new(FALSE, FALSE, sizeof(RunWait));
        stage.own = g_array_new(FALSE, FALSE, sizeof(RunWait));
        g_array_append_val(run->stages, stage);
    }
    g_array_sort_with_data(run->stages, by_number, run);

    for (guint i = 0; i < run->stages->len; i++)
        for (guint j = 0; j < i; j++)
            run_stage(run, i)->nth += strcmp(run_stage(run, i)->name, run_stage(run, j)->name) == 0;
}

Run *run_load(const Asked *asked, const char *key, GError **error) {
    g_autoptr(Run) run = g_new0(Run, 1);
    g_autoptr(AppPlans) plans = app_plans_load(asked->archive, key, error);
    run->asked = asked;
    run->records = spark_records_new();
    run->stages = g_array_new(FALSE, FALSE, sizeof(RunStage));
    g_array_set_clear_func(run->stages, stage_clear);
    run->tasks = app_tasks_load(asked->archive, key, asked->now_ns / NS_PER_MS, error);
    if (!run->tasks || !plans) return NULL;
    run->stragglers = stragglers_find(run->tasks->table, STRAGGLER_RATIO);
    run->hdfs = app_hdfs_new(asked->archive, run->tasks, error);
    if (!run->hdfs) return NULL;
    list_stages(run, plans);
    return g_steal_pointer(&run);
}

double run_stage_mean(const Run *run, const RunStage *stage, const char *feature) {
    const StageTasks *tasks = &run->stragglers->stages[stage->number];
    const TaskTable *table = run->tasks->table;
    const gint column = task_table_find(table, feature);
    double sum = 0;
    guint32 n = 0;
    for (guint32 i = 0; column >= 0 && i < tasks->n; i++) {
        const guint32 row = run->stragglers->order[tasks->first + i];
        const double value = task_feature(table, (guint)column)->values[row];
        if (!(table->flags[row] & ROW_COUNTED) || isnan(value)) continue;
        sum += value;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

/* ---- whom they waited for ---- */

static RunWait *wait_of(GArray *waits, const RunWait *like) {
    for (guint i = 0; i < waits->len; i++) {
        RunWait *wait = &g_array_index(waits, RunWait, i);
        if (wait->host == like->host && wait->function == like->function && wait->role == like->role &&
            wait->resource == like->resource)
            return wait;
    }
    g_array_append_val(waits, *like);
    return &g_array_index(waits, RunWait, waits->len - 1);
}

static void add_share(const Run *run, RunStage *stage, const HdfsShare *share, const RunWait *of_task) {
    const Lookup *lookup = archive_lookup(run->asked->archive);
    RunWait like = {.function = share->name, .role = share->role, .resource = share->resource};
    if (like.resource == HDFS_SOCKET) like.resource = HDFS_NETWORK;
    if (share->tracer) lookup->process(lookup->arg, share->tracer, &like.role, &like.host);
    RunWait *wait = wait_of(stage->waits, &like);
    wait->ns += share->ns;
    if (share->ns <= wait->most_ns) return;
    wait->most_ns = share->ns;
    wait->trace = of_task->trace;
    wait->task = of_task->task;
}

static void add_own(const Run *run, RunStage *stage, guint32 row, gint64 ns) {
    const char *host = app_host(run->tasks, row);
    const RunWait like = {.host = dict_find(archive_dict(run->asked->archive), host, strlen(host))};
    wait_of(stage->own, &like)->ns += MAX(ns, 0);
}

gboolean run_stage_read(Run *run, RunStage *stage, GError **error) {
    const StageTasks *tasks = &run->stragglers->stages[stage->number];
    const TaskTable *table = run->tasks->table;
    const guint32 n = MIN(tasks->n, RUN_TASKS_READ);
    if (stage->read) return TRUE;
    for (guint32 i = 0; i < n && run->tasks_read < RUN_TASKS_READ_ALL; i++) {
        const guint32 row = run->stragglers->order[tasks->first + (guint32)((guint64)i * tasks->n / n)];
        const TaskHdfs *hdfs;
        if (!(table->flags[row] & ROW_COUNTED)) continue;
        run->tasks_read++;
        if (!app_hdfs_task(run->hdfs, row, &hdfs, error)) return FALSE;
        if (!hdfs) continue;

        const RunWait of_task = {.trace = hdfs->trace, .task = run->tasks->tasks[row].task};
        stage->tasks_read++;
        const gint64 duration_ns = (gint64)task_duration_ms(table, row) * NS_PER_MS;
        stage->duration_ns += duration_ns;
        add_own(run, stage, row, duration_ns - hdfs->facts.hdfs_ns);
        stage->hdfs_ns += hdfs->facts.hdfs_ns;
        for (guint s = 0; s < hdfs->facts.shares->len; s++)
            add_share(run, stage, &g_array_index(hdfs->facts.shares, HdfsShare, s), &of_task);
    }
    stage->read = TRUE;
    return TRUE;
}
