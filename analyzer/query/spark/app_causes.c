#include "analyzer/query/spark/app_causes.h"

#include "analyzer/query/spark/diagnosis.h"
#include "common/base/clock.h"

static gboolean find_cause(AppCauses *causes, Archive *archive, guint32 straggler, GError **error) {
    const guint32 from = causes->first[straggler], n = causes->first[straggler + 1] - from;
    const Evidence *evidence = &g_array_index(causes->evidence, Evidence, from);
    const TaskTable *table = causes->tasks->table;
    StragglerCause cause = {.straggler = straggler, .evidence = -1};
    const guint32 row = cause_row(causes, &cause);
    if (!app_hdfs_task(causes->hdfs, row, &cause.hdfs, error)) return FALSE;
    const gint first = main_cause(evidence, n, table, &causes->options, row);
    if (first >= 0) {
        cause.evidence = (gint)from + first;
        cause.explains_ms = cause_explains_ms(&evidence[first], table, row, &causes->options);
        cause.in_hdfs = task_feature(table, evidence[first].feature)->topic == TOPIC_HDFS && cause.hdfs &&
                        suspect_find(archive, cause.hdfs, &cause.suspect);
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
    app_hdfs_free(causes->hdfs);
    stragglers_free(causes->stragglers);
    app_tasks_free(causes->tasks);
    g_free(causes);
}
