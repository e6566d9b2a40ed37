#include "tests/diagnosis/tables.h"

guint table_add_feature(TaskTable *table, const char *name, FeatureKind kind, FeatureTopic topic) {
    return task_table_add(table, &(Feature){.name = (char *)name, .unit = "", .kind = kind, .topic = topic});
}

TaskTable *table_of(FeatureKind kind, const Row *rows, guint32 n) {
    guint32 stages = 0, hosts = 0;
    for (guint32 i = 0; i < n; i++) {
        stages = MAX(stages, rows[i].stage + 1);
        hosts = MAX(hosts, rows[i].host + 1);
    }
    TaskTable *table = task_table_new(n, stages, hosts);
    table_add_feature(table, "feature", kind, TOPIC_CPU);
    for (guint32 i = 0; i < n; i++) {
        table->stage[i] = rows[i].stage;
        table->host[i] = rows[i].host;
        table->begin_ms[i] = rows[i].begin_ms;
        table->end_ms[i] = rows[i].begin_ms + rows[i].duration_ms;
        table->flags[i] = ROW_COUNTED | ROW_JUDGED;
        task_feature(table, 0)->values[i] = rows[i].value;
    }
    return table;
}
