#include "analyzer/query/spark/tasks/app_tasks.h"

#include <math.h>
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/allowance.h"
#include "common/base/clamped.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/pair_hash.h"

/* Samples this long before and after the tasks are read too: edge detection looks there. */
#define AROUND_MS 60000

/* Features that event logs tell, in the order of docs/spark.md. */
static const struct {
    const char *name, *unit;
    FeatureKind kind;
    FeatureTopic topic;
    TaskMetric metric, more; /* 'more' is added; the same again: nothing is */
} features[] = {
    {"read_bytes", "bytes", FEATURE_NUMERIC, TOPIC_DATA, METRIC_INPUT_BYTES, METRIC_INPUT_BYTES},
    {"shuffle_read_bytes", "bytes", FEATURE_NUMERIC, TOPIC_DATA, METRIC_SHUFFLE_REMOTE_BYTES,
     METRIC_SHUFFLE_LOCAL_BYTES},
    {"shuffle_write_bytes", "bytes", FEATURE_NUMERIC, TOPIC_DATA, METRIC_SHUFFLE_WRITE_BYTES,
     METRIC_SHUFFLE_WRITE_BYTES},
    {"memory_bytes_spilled", "bytes", FEATURE_NUMERIC, TOPIC_SPILL, METRIC_MEMORY_SPILLED_BYTES,
     METRIC_MEMORY_SPILLED_BYTES},
    {"disk_bytes_spilled", "bytes", FEATURE_NUMERIC, TOPIC_SPILL, METRIC_DISK_SPILLED_BYTES, METRIC_DISK_SPILLED_BYTES},
    {"jvm_gc_time", "ms", FEATURE_TIME, TOPIC_JVM, METRIC_GC_MS, METRIC_GC_MS},
    {"serialize_time", "ms", FEATURE_TIME, TOPIC_JVM, METRIC_SERIALIZE_MS, METRIC_SERIALIZE_MS},
    {"deserialize_time", "ms", FEATURE_TIME, TOPIC_JVM, METRIC_DESERIALIZE_MS, METRIC_DESERIALIZE_MS},
};
#define N_FEATURES G_N_ELEMENTS(features)

/* A row before the table is made: how many there are is known at the end. */
typedef struct Row {
    AppTask task;
    guint32 stage, host;
    gint64 begin_ms, end_ms;
    guint8 flags;
    gint8 distance; /* locality as a number: 0, 1, 2; -1 unknown */
    gint64 values[N_FEATURES];
} Row;

/* A row of the table, with its columns: numbers, locality, samples, and those that HDFS adds. */
#define TASK_BYTES (sizeof(AppTask) + 2 * sizeof(guint32) + 2 * sizeof(gint64) + 1 + (N_FEATURES + 16) * sizeof(double))
/* The allowance is told of so many at a time. */
#define CHARGED_ROWS 64u

typedef struct Loading {
    AppTasks *tasks;
    GArray *rows; /* Row */
    GHashTable *hosts, *executors;
    gint64 now_ms;
} Loading;

/* The number of a text in a list, made when new. */
static guint32 number_of(GHashTable *numbers, GPtrArray *list, const char *text) {
    gpointer known;
    if (!text) text = "";
    if (g_hash_table_lookup_extended(numbers, text, NULL, &known)) return GPOINTER_TO_UINT(known);
    char *own = g_strdup(text);
    g_ptr_array_add(list, own);
    g_hash_table_insert(numbers, own, GUINT_TO_POINTER(list->len - 1));
    return list->len - 1;
}

/* Tasks come by stage and attempt. */
static guint32 stage_of(AppTasks *tasks, const SparkTask *task) {
    GArray *stages = tasks->stages;
    AppStage stage = {task->stage, task->stage_attempt};
    if (stages->len > 0) {
        const AppStage *last = app_stage(tasks, stages->len - 1);
        if (last->stage == stage.stage && last->attempt == stage.attempt) return stages->len - 1;
    }
    g_array_append_val(stages, stage);
    return stages->len - 1;
}

static gint8 distance_of(TaskLocality locality) {
    switch (locality) {
    case LOCALITY_UNKNOWN: return -1;
    case LOCALITY_PROCESS: return 0;
    case LOCALITY_NODE: return 1;
    default: return 2;
    }
}

static gboolean take_task(void *arg, const void *record) {
    Loading *loading = arg;
    const SparkTask *task = record;
    if (task->launch_ms < 0) return TRUE;

    Row row = {.task = {.task = task->task,
                        .partition = task->partition,
                        .attempt = task->attempt,
                        .status = task->status,
                        .locality = task->locality,
                        .remote_bytes = task->metrics[METRIC_SHUFFLE_REMOTE_BYTES]},
               .begin_ms = task->launch_ms,
               .end_ms = task->finish_ms,
               .distance = distance_of(task->locality)};

    row.task.executor = number_of(loading->executors, loading->tasks->executors, task->executor);
    row.stage = stage_of(loading->tasks, task);
    row.host = number_of(loading->hosts, loading->tasks->hosts, task->host);

    if (task->status == TASK_RUNNING) {
        row.flags = loading->tasks->app.end_ms < 0 ? ROW_JUDGED : 0;
        row.end_ms = MAX(loading->now_ms, task->launch_ms);
    } else if (task->status == TASK_SUCCESS && task->finish_ms >= 0) {
        row.flags = ROW_COUNTED | ROW_JUDGED;
    }

    for (guint i = 0; i < N_FEATURES; i++) {
        gint64 value = task->metrics[features[i].metric];
        gint64 more = features[i].more == features[i].metric ? -1 : task->metrics[features[i].more];
        if (more >= 0) value = MAX(value, 0) + more;
        row.values[i] = value;
    }

    g_array_append_val(loading->rows, row);
    if (loading->rows->len % CHARGED_ROWS == 0)
        allowance_hold(&loading->tasks->charged, (gsize)loading->rows->len * (sizeof(Row) + TASK_BYTES));
    return allowance_goes_on();
}

/* The run of the tasks of a stage on an executor: the first begin, and the first end. */
typedef struct FirstRun {
    guint64 place; /* stage and executor */
    gint64 begin_ms, end_ms;
} FirstRun;

static guint64 place_of(const Row *row) { return (guint64)row->stage << 32 | row->task.executor; }

/* FirstRun by place. */
static GHashTable *first_runs(const GArray *rows) {
    GHashTable *runs = g_hash_table_new_full(pair_hash, g_int64_equal, NULL, g_free);
    for (guint32 i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        const guint64 place = place_of(row);
        FirstRun *run = g_hash_table_lookup(runs, &place);
        if (!run) {
            run = g_new(FirstRun, 1);
            *run = (FirstRun){place, row->begin_ms, G_MAXINT64};
            g_hash_table_insert(runs, &run->place, run);
        }
        run->begin_ms = MIN(run->begin_ms, row->begin_ms);
        if (row->task.status != TASK_RUNNING && row->end_ms >= 0) run->end_ms = MIN(run->end_ms, row->end_ms);
    }
    return runs;
}

/* Those that began before the first task of the stage on their executor was half done. Not before it ended: Spark gives
 * an executor the next task some time before it notes the end of the last one. */
static void flag_first(AppTasks *tasks, const GArray *rows) {
    g_autoptr(GHashTable) runs = first_runs(rows);
    for (guint32 i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        const guint64 place = place_of(row);
        const FirstRun *run = g_hash_table_lookup(runs, &place);
        const char *executor = g_ptr_array_index(tasks->executors, row->task.executor);
        const gboolean first =
            run->end_ms == G_MAXINT64 || row->begin_ms - run->begin_ms <= (run->end_ms - run->begin_ms) / 2;
        if (executor[0] && first) tasks->table->flags[i] |= ROW_FIRST;
    }
}

static void fill_table(AppTasks *tasks, const GArray *rows) {
    TaskTable *table = task_table_new(rows->len, tasks->stages->len, tasks->hosts->len);
    tasks->table = table;
    tasks->tasks = g_new(AppTask, MAX(rows->len, 1));

    guint columns[N_FEATURES];
    for (guint i = 0; i < N_FEATURES; i++) {
        Feature feature = {.name = (char *)features[i].name,
                           .unit = features[i].unit,
                           .kind = features[i].kind,
                           .topic = features[i].topic};
        columns[i] = task_table_add(table, &feature);
    }

    const Feature place = {.name = (char *)"locality", .unit = "", .kind = FEATURE_DISCRETE, .topic = TOPIC_LOCALITY};
    const guint locality = task_table_add(table, &place);

    for (guint32 i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        tasks->tasks[i] = row->task;
        table->stage[i] = row->stage;
        table->host[i] = row->host;
        table->begin_ms[i] = row->begin_ms;
        table->end_ms[i] = row->end_ms;
        table->flags[i] = row->flags;
        for (guint k = 0; k < N_FEATURES; k++)
            if (row->values[k] >= 0) task_feature(table, columns[k])->values[i] = (double)row->values[k];
        if (row->distance >= 0) task_feature(table, locality)->values[i] = row->distance;
    }

    flag_first(tasks, rows);
}

/* ---- samples of hosts ---- */

/* What samples tell of a host: the share of the processors that ran programs, the busiest disk, bytes a second through
 * all interfaces but the loopback. */
static const struct {
    const char *name, *unit;
    FeatureTopic topic;
} resources[] = {{"cpu", "share", TOPIC_CPU}, {"disk", "share", TOPIC_DISK}, {"network", "bytes/s", TOPIC_NETWORK}};
#define N_RESOURCES G_N_ELEMENTS(resources)

typedef struct HostUsage {
    UsageSeries *series[N_RESOURCES]; /* NULL: none of it yet */
} HostUsage;

static double sample_value(const HostSample *sample, guint resource) {
    double value = -1;
    if (resource == 0) return sample->user;
    for (guint32 i = 0; resource == 1 && i < sample->disks.n; i++) value = MAX(value, sample->disks.items[i].util);
    for (guint32 i = 0; resource == 2 && i < sample->nets.n; i++) {
        const HostNet *net = &sample->nets.items[i];
        if (net->interface && strcmp(net->interface, "lo") == 0) continue;
        value = MAX(value, 0) + MAX(net->rx_bytes, 0) + MAX(net->tx_bytes, 0);
    }
    return value;
}

static gboolean take_sample(void *arg, const void *record) {
    HostUsage *usage = arg;
    const HostSample *sample = record;
    const gint64 end_ms = sample->time_ns / NS_PER_MS,
                 begin_ms = clamped_sub(sample->time_ns, sample->interval_ns) / NS_PER_MS;
    for (guint i = 0; i < N_RESOURCES; i++) {
        double value = sample_value(sample, i);
        if (value < 0 || sample->interval_ns <= 0) continue;
        if (!usage->series[i]) usage->series[i] = usage_new();
        usage_add(usage->series[i], begin_ms, end_ms, value);
    }
    return TRUE;
}

gboolean app_tasks_add_samples(AppTasks *tasks, Archive *archive, GError **error) {
    TaskTable *table = tasks->table;
    gint64 first_ms = G_MAXINT64, last_ms = G_MININT64;
    for (guint32 i = 0; i < table->count; i++) {
        first_ms = MIN(first_ms, table->begin_ms[i]);
        last_ms = MAX(last_ms, table->end_ms[i]);
    }
    if (table->count == 0) return TRUE;

    guint columns[N_RESOURCES];
    for (guint i = 0; i < N_RESOURCES; i++) {
        const Feature feature = {.name = (char *)resources[i].name,
                                 .unit = resources[i].unit,
                                 .kind = FEATURE_RESOURCE,
                                 .topic = resources[i].topic};
        columns[i] = task_table_add(table, &feature);
    }

    for (guint host = 0; host < tasks->hosts->len; host++) {
        HostUsage usage = {{NULL}};
        SparkSelect select = SPARK_SELECT(SPARK_SAMPLE, g_ptr_array_index(tasks->hosts, host));
        select.since_ns = (first_ms - AROUND_MS) * NS_PER_MS;
        select.until_ns = (last_ms + AROUND_MS) * NS_PER_MS;
        g_autoptr(SparkRecords) texts = spark_records_new();
        gboolean loaded = archive_spark_visit(archive, &select, texts, (SparkVisitor){take_sample, &usage}, error);
        gboolean any = FALSE;
        for (guint i = 0; i < N_RESOURCES; i++) {
            if (!usage.series[i]) continue;
            any = TRUE;
            usage_seal(usage.series[i]);
            g_ptr_array_add(tasks->usage, usage.series[i]);
            task_feature(table, columns[i])->series[host] = usage.series[i];
        }

        tasks->sampled_hosts += any;
        if (!loaded) return FALSE;
    }

    for (guint i = 0; i < N_RESOURCES; i++) task_table_fill_resource(table, columns[i]);
    return TRUE;
}

/* ---- the application ---- */

static gboolean load_app(Archive *archive, const char *app_key, AppTasks *tasks, GError **error) {
    SparkSelect select = SPARK_SELECT(SPARK_APP, app_key);
    if (!archive_spark_load(archive, &select, tasks->texts, error)) return FALSE;
    if (tasks->texts->of[SPARK_APP]->len == 0) return fail(error, PLUMB_ERROR_NOT_FOUND, "no application %s", app_key);
    tasks->app = *spark_app(tasks->texts, 0);
    return TRUE;
}

/* Until when tasks run that have no end. */
static gint64 until_ms(const SparkApp *app, gint64 now_ms) {
    if (app->end_ms >= 0) return app->end_ms;
    return app_silent_ms(app, now_ms) >= 0 ? app->last_event_ms : now_ms;
}

AppTasks *app_tasks_load(Archive *archive, const char *app_key, gint64 now_ms, GError **error) {
    g_autoptr(AppTasks) tasks = g_new0(AppTasks, 1);
    tasks->texts = spark_records_new();
    tasks->stages = g_array_new(FALSE, FALSE, sizeof(AppStage));
    tasks->hosts = g_ptr_array_new_with_free_func(g_free);
    tasks->executors = g_ptr_array_new_with_free_func(g_free);
    tasks->usage = g_ptr_array_new_with_free_func((GDestroyNotify)usage_free);
    if (!load_app(archive, app_key, tasks, error)) return NULL;

    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
    g_autoptr(GHashTable) hosts = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) executors = g_hash_table_new(g_str_hash, g_str_equal);
    Loading loading = {tasks, rows, hosts, executors, until_ms(&tasks->app, now_ms)};
    SparkSelect select = SPARK_SELECT(SPARK_TASK, app_key);
    g_autoptr(SparkRecords) texts = spark_records_new();
    if (!archive_spark_visit(archive, &select, texts, (SparkVisitor){take_task, &loading}, error)) return NULL;
    allowance_hold(&tasks->charged, (gsize)rows->len * (sizeof(Row) + TASK_BYTES));
    if (!allowance_check(error)) return NULL;
    fill_table(tasks, rows);
    allowance_hold(&tasks->charged, (gsize)rows->len * TASK_BYTES);
    return g_steal_pointer(&tasks);
}

void app_tasks_free(AppTasks *tasks) {
    if (!tasks) return;
    allowance_release(tasks->charged);
    task_table_free(tasks->table);
    g_free(tasks->tasks);
    g_array_unref(tasks->stages);
    g_ptr_array_unref(tasks->hosts);
    g_ptr_array_unref(tasks->executors);
    g_ptr_array_unref(tasks->usage);
    spark_records_free(tasks->texts);
    g_free(tasks);
}
