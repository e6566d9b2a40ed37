#include "analyzer/query/spark/app_causes.h"

#include <string.h>

#include "analyzer/query/spark/diagnosis.h"
#include "common/base/clock.h"

/* Nothing that was measured explains most of the time, and the task is one of the first of its executor. That tasks are
 * deserialized slowly then is a part of it: classes are loaded. */
static gboolean starts_explain(const AppCauses *causes, guint32 row, const Evidence *main, double *explains_ms) {
    const TaskTable *table = causes->tasks->table;
    const gboolean other = main && strcmp(task_feature(table, main->feature)->name, "deserialize_time") != 0;
    if (other && cause_explains_most(main, table, row, &causes->options)) return FALSE;
    return executor_starts_explain(causes->starts, row, explains_ms);
}

/* What of HDFS made it slow: of the resources whose time is a cause, the one that explains most. Whom a task waited for
 * most altogether is another question: for the NameNode all wait, the slow task no longer than others. */
static guint32 resources_of(const AppCauses *causes, const Evidence *evidence, guint n, guint32 row) {
    guint32 resources = ALL_RESOURCES;
    double most = 0;
    for (guint i = 0; i < n; i++) {
        const TaskTable *table = causes->tasks->table;
        const guint32 of = hdfs_column_resources(task_feature(table, evidence[i].feature)->name);
        if (evidence[i].verdict != VERDICT_CAUSE || of == 0) continue;
        const double explained = cause_explains_ms(&evidence[i], table, row, &causes->options);
        if (explained <= most) continue;
        most = explained;
        resources = of;
    }
    return resources;
}

static gboolean find_cause(AppCauses *causes, Archive *archive, guint32 straggler, GError **error) {
    const guint32 from = causes->first[straggler], n = causes->first[straggler + 1] - from;
    const Evidence *evidence = &g_array_index(causes->evidence, Evidence, from);
    const TaskTable *table = causes->tasks->table;
    StragglerCause cause = {.straggler = straggler, .evidence = -1};
    const guint32 row = cause_row(causes, &cause);
    if (!app_hdfs_task(causes->hdfs, row, &cause.hdfs, error)) return FALSE;
    const gint first = main_cause(evidence, n, table, &causes->options, row);
    cause.start = starts_explain(causes, row, first >= 0 ? &evidence[first] : NULL, &cause.explains_ms);
    if (first >= 0 && !cause.start) {
        cause.evidence = (gint)from + first;
        cause.explains_ms = cause_explains_ms(&evidence[first], table, row, &causes->options);
        cause.in_hdfs = task_feature(table, evidence[first].feature)->topic == TOPIC_HDFS && cause.hdfs &&
                        suspect_find(archive, cause.hdfs, resources_of(causes, evidence, n, row), &cause.suspect);
    }
    g_array_append_val(causes->causes, cause);
    return TRUE;
}

AppCauses *app_causes_load(const Asked *asked, const char *app, const BigRootsOptions *options, GError **error) {
    g_autoptr(AppCauses) causes = g_new0(AppCauses, 1);
    causes->options = *options;
    causes->causes = g_array_new(FALSE, TRUE, sizeof(StragglerCause));
    causes->tasks = app_tasks_load(asked->archive, app, asked->now_ns / NS_PER_MS, error);
    if (!causes->tasks || !app_tasks_add_samples(causes->tasks, asked->archive, error)) return NULL;
    causes->stragglers = stragglers_find(causes->tasks->table, STRAGGLER_RATIO);
    causes->hdfs = app_hdfs_new(asked->archive, causes->tasks, error);
    if (!causes->hdfs || !app_hdfs_add_columns(causes->hdfs, causes->tasks, causes->stragglers, error)) return NULL;
    causes->starts = executor_starts_new(causes->tasks->table, causes->stragglers);
    causes->evidence = bigroots_run(causes->tasks->table, causes->stragglers, options);
    causes->first = sort_by_straggler(causes->evidence, causes->stragglers->count);
    for (guint32 i = 0; i < causes->stragglers->count && i < HDFS_STRAGGLERS_MAX; i++)
        if (!find_cause(causes, asked->archive, i, error)) return NULL;
    return g_steal_pointer(&causes);
}

void app_causes_free(AppCauses *causes) {
    if (!causes) return;
    if (causes->evidence) g_array_unref(causes->evidence);
    g_array_unref(causes->causes);
    g_free(causes->first);
    executor_starts_free(causes->starts);
    app_hdfs_free(causes->hdfs);
    stragglers_free(causes->stragglers);
    app_tasks_free(causes->tasks);
    g_free(causes);
}
