#include "analyzer/diagnosis/tasks.h"

#include <math.h>
#include <string.h>

const char *feature_kind_name(FeatureKind kind) {
    static const char *const names[] = {"numeric", "time", "resource", "locality", "wait"};
    return names[kind];
}

const char *feature_topic_name(FeatureTopic topic) {
    static const char *const names[] = {"data", "spill", "jvm", "locality", "cpu", "disk", "network", "hdfs"};
    G_STATIC_ASSERT(G_N_ELEMENTS(names) == TOPIC_COUNT);
    return names[topic];
}

static void feature_clear(gpointer data) {
    Feature *feature = data;
    g_free(feature->name);
    g_free(feature->values);
    g_free(feature->series);
}

TaskTable *task_table_new(guint32 count, guint32 n_stages, guint32 n_hosts) {
    TaskTable *table = g_new0(TaskTable, 1);
    *table = (TaskTable){.count = count, .n_stages = n_stages, .n_hosts = n_hosts};
    table->stage = g_new0(guint32, count);
    table->host = g_new0(guint32, count);
    table->begin_ms = g_new0(gint64, count);
    table->end_ms = g_new0(gint64, count);
    table->flags = g_new0(guint8, count);
    table->features = g_array_new(FALSE, FALSE, sizeof(Feature));
    g_array_set_clear_func(table->features, feature_clear);
    return table;
}

void task_table_free(TaskTable *table) {
    if (table == NULL) return;
    g_free(table->stage);
    g_free(table->host);
    g_free(table->begin_ms);
    g_free(table->end_ms);
    g_free(table->flags);
    g_array_unref(table->features);
    g_free(table);
}

guint task_table_add(TaskTable *table, const Feature *like) {
    Feature feature = *like;
    feature.name = g_strdup(like->name);
    feature.values = g_new(double, table->count);
    feature.series = like->kind == FEATURE_RESOURCE ? g_new0(const UsageSeries *, table->n_hosts) : NULL;
    for (guint32 i = 0; i < table->count; i++) feature.values[i] = NAN;
    g_array_append_val(table->features, feature);
    return table->features->len - 1;
}

gint task_table_find(const TaskTable *table, const char *name) {
    for (guint i = 0; i < table->features->len; i++)
        if (strcmp(task_feature(table, i)->name, name) == 0) return (gint)i;
    return -1;
}

void task_table_fill_resource(TaskTable *table, guint feature) {
    Feature *column = task_feature(table, feature);
    for (guint32 i = 0; i < table->count; i++) {
        const UsageSeries *series = column->series[table->host[i]];
        if (series != NULL) column->values[i] = usage_mean(series, table->begin_ms[i], table->end_ms[i]);
    }
}
