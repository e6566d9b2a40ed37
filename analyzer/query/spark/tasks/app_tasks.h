/* The tasks of one application as the diagnoses want them (diagnosis/tasks.h), read from the store. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/diagnosis/stragglers.h"
#include "common/model/spark_records.h"

/* What a row of the table is. */
typedef struct AppTask {
    gint64 task; /* attempt id */
    gint32 partition, attempt;
    guint32 executor;    /* index into AppTasks.executors */
    gint64 remote_bytes; /* of its shuffle reads; -1: unknown */
    TaskStatus status;
    TaskLocality locality;
} AppTask;

typedef struct AppStage {
    gint64 stage;
    gint32 attempt;
} AppStage;

typedef struct AppTasks {
    SparkApp app;          /* its texts live in 'texts' */
    TaskTable *table;      /* one row a task attempt */
    AppTask *tasks;        /* one a row */
    GArray *stages;        /* AppStage, by the table's number */
    GPtrArray *hosts;      /* names, by the table's number */
    GPtrArray *executors;  /* ids */
    SparkRecords *texts;   /* app, and the texts of the rest */
    GPtrArray *usage;      /* UsageSeries of the table's columns */
    guint32 sampled_hosts; /* hosts with samples of the time */
    gsize charged;         /* of the allowance */
} AppTasks;

/* Without what samples tell of hosts. app_key: SparkApp.app. Tasks that still run last until now_ms; those of an
 * application that died, until its log's last event. A task without an end in an application that ended was given up:
 * it is not judged. NOT_FOUND. */
AppTasks *app_tasks_load(Archive *archive, const char *app_key, gint64 now_ms, GError **error);
/* Adds the columns of samples. */
gboolean app_tasks_add_samples(AppTasks *tasks, Archive *archive, GError **error);
void app_tasks_free(AppTasks *tasks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AppTasks, app_tasks_free)

static inline const AppStage *app_stage(const AppTasks *tasks, guint32 number) {
    return &g_array_index(tasks->stages, AppStage, number);
}
static inline const char *app_host(const AppTasks *tasks, guint32 row) {
    return g_ptr_array_index(tasks->hosts, tasks->table->host[row]);
}
