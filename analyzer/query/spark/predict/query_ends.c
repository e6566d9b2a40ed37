/* When the running stages of an application will end, and which of their running tasks last (diagnosis/ends/). */
#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/ends/stage_end.h"
#include "analyzer/diagnosis/order.h"
#include "analyzer/diagnosis/replay.h"
#include "analyzer/query/spark/predict/host_model.h"
#include "analyzer/query/spark/predict/predict_answers.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

typedef struct Ends {
    const Asked *asked;
    const AppEntry *entry;
    Run *run;
    HostModel model;
    GHashTable *records; /* stage and attempt -> SparkStage */
    SparkRecords *texts;
} Ends;

static void ends_clear(Ends *ends) {
    run_free(ends->run);
    host_model_clear(&ends->model);
    g_clear_pointer(&ends->records, g_hash_table_unref);
    g_clear_pointer(&ends->texts, spark_records_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ends, ends_clear)

static guint64 stage_key(gint64 stage, gint32 attempt) { return (guint64)stage << 32 | (guint32)attempt; }

/* Those that run, and have more tasks than must have ended before anything is told. */
static gboolean load_stages(Ends *ends, GError **error) {
    SparkSelect stages = SPARK_SELECT(SPARK_STAGE, ends->entry->key);
    gint64 attempt;
    if (!asked_stage(ends->asked, &stages.stage, &attempt, error)) return FALSE;
    stages.attempt = (gint32)attempt;
    ends->texts = spark_records_new();
    ends->records = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    if (!archive_spark_load(ends->asked->archive, &stages, ends->texts, error)) return FALSE;
    for (guint i = 0; i < ends->texts->of[SPARK_STAGE]->len; i++) {
        const SparkStage *stage = spark_stage(ends->texts, i);
        const guint64 key = stage_key(stage->stage, stage->attempt);
        if (stage->submitted_ms < 0 || stage->completed_ms >= 0 || stage->failure != NULL) continue;
        if (stage->tasks <= (gint32)STAGE_END_LEAST) continue;
        g_hash_table_insert(ends->records, g_memdup2(&key, sizeof key), (gpointer)stage);
    }
    return TRUE;
}

/* ---- one stage ---- */

typedef struct StageAt {
    const SparkStage *record;
    GArray *tasks;  /* StageTask */
    GArray *rows;   /* guint32: theirs in the table */
    GArray *begins; /* double, ms: the same */
    guint32 ended, running, waiting;
} StageAt;

static void stage_at_clear(StageAt *at) {
    g_array_unref(at->tasks);
    g_array_unref(at->rows);
    g_array_unref(at->begins);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StageAt, stage_at_clear)

static gboolean has_ended(const AppTasks *tasks, guint32 row) { return tasks->table->flags[row] & ROW_COUNTED; }

static void add_task(StageAt *at, const AppTasks *tasks, guint32 row) {
    const gboolean ended = has_ended(tasks, row);
    const StageTask task = {task_duration_ms(tasks->table, row), tasks->table->host[row], ended};
    const double begin_ms = (double)tasks->table->begin_ms[row];
    g_array_append_val(at->tasks, task);
    g_array_append_val(at->rows, row);
    g_array_append_val(at->begins, begin_ms);
    at->ended += ended;
    at->running += !ended;
}

/* Tasks whose partition has ended do not count while they run: they are the slower copies. */
static void collect(const Ends *ends, guint32 number, StageAt *at) {
    const AppTasks *tasks = ends->run->tasks;
    g_autoptr(GHashTable) partitions = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (guint pass = 0; pass < 2; pass++) {
        for (guint32 row = 0; row < tasks->table->count && allowance_goes_on(); row++) {
            const gboolean ended = has_ended(tasks, row), running = tasks->tasks[row].status == TASK_RUNNING;
            gpointer partition = GINT_TO_POINTER(tasks->tasks[row].partition);
            if (tasks->table->stage[row] != number || (pass == 0 ? !ended : !running)) continue;
            if (!g_hash_table_contains(partitions, partition) || ended) add_task(at, tasks, row);
            g_hash_table_add(partitions, partition);
        }
    }
    const guint32 begun = g_hash_table_size(partitions);
    at->waiting = (guint32)MAX(at->record->tasks, (gint32)begun) - begun;
}

static guint32 most_at_once(const StageAt *at) {
    g_autofree double *durations = g_new(double, MAX(at->tasks->len, 1));
    for (guint i = 0; i < at->tasks->len; i++) durations[i] = g_array_index(at->tasks, StageTask, i).ms;
    return replay_slots((const double *)(gconstpointer)at->begins->data, durations, at->tasks->len);
}

/* How many times as long a task of the stage takes on a host as on those that it has run on. 1: not known. */
static double factor_of(const Ends *ends, const RunStage *stage, const char *host) {
    const HostModel *model = &ends->model;
    const guint32 node = host_model_node(model, dict_find(archive_dict(ends->asked->archive), host, strlen(host)));
    if (node == G_MAXUINT32) return 1;
    if (stage == NULL || stage->tasks_read == 0) {
        const double constant = host_model_constant(model, WORK_SPARK, node);
        return isnan(constant) || constant <= 0 ? 1 : constant;
    }
    const Prediction prediction = host_model_predict(model, stage, node);
    const double seen_ns = (double)stage->duration_ns / stage->tasks_read;
    return prediction.known_ns > 0 && prediction.ns > 0 && seen_ns > 0 ? prediction.ns / seen_ns : 1;
}

/* Of each host of the application, to the median of all. */
static double *find_factors(const Ends *ends, const RunStage *stage) {
    const GPtrArray *hosts = ends->run->tasks->hosts;
    double *factors = g_new(double, MAX(hosts->len, 1));
    for (guint i = 0; i < hosts->len && allowance_goes_on(); i++)
        factors[i] = factor_of(ends, stage, g_ptr_array_index(hosts, i));
    const double usual = order_median(factors, hosts->len);
    for (guint i = 0; i < hosts->len && usual > 0; i++) factors[i] /= usual;
    return factors;
}

/* ---- JSON ---- */

static void add_time(const Ends *ends, json_t *object, const char *name, double left_ms) {
    const double now_ms = (double)(ends->asked->now_ns / NS_PER_MS);
    json_add_ms(object, name, (gint64)llround(now_ms + MIN(left_ms, 1e15)));
}

static gboolean began_last(const StageAt *at, guint32 task) {
    const double *begins = (const double *)(gconstpointer)at->begins->data;
    for (guint i = 0; i < at->tasks->len; i++)
        if (!g_array_index(at->tasks, StageTask, i).ended && begins[i] > begins[task]) return FALSE;
    return TRUE;
}

/* Why it is the last one. */
static const char *reason_of(const StageAt *at, const StageEnd *end) {
    if (end->last_factor >= SLOWDOWN_LEAST) return "slow-host";
    if (end->last_times >= SLOWDOWN_LEAST) return "overdue";
    return began_last(at, end->last) ? "last-begun" : "most-left";
}

static json_t *last_json(const Ends *ends, const StageAt *at, const StageEnd *end) {
    const AppTasks *tasks = ends->run->tasks;
    const guint32 row = g_array_index(at->rows, guint32, end->last);
    json_t *object = json_object();
    json_object_set_new(object, "task", json_integer(tasks->tasks[row].task));
    json_object_set_new(object, "partition", json_integer(tasks->tasks[row].partition));
    json_add_text(object, "host", app_host(tasks, row));
    json_add_text(object, "executor", g_ptr_array_index(tasks->executors, tasks->tasks[row].executor));
    json_add_ms(object, "begin_time_ns", tasks->table->begin_ms[row]);
    add_time(ends, object, "end_time_ns", end->last_left_ms);
    json_object_set_new(object, "host_times", json_ratio(end->last_factor));
    json_object_set_new(object, "times_usual", json_ratio(end->last_times));
    json_object_set_new(object, "reason", json_string(reason_of(at, end)));
    return object;
}

static json_t *stage_json(const Ends *ends, const StageAt *at, const StageEnd *end) {
    json_t *object = json_object();
    json_object_set_new(object, "stage", json_integer(at->record->stage));
    json_object_set_new(object, "stage_attempt", json_integer(at->record->attempt));
    json_add_text(object, "stage_name", at->record->name);
    json_add_ms(object, "begin_time_ns", at->record->submitted_ms);
    json_object_set_new(object, "tasks", json_count(at->ended + at->running + at->waiting));
    json_object_set_new(object, "ended", json_count(at->ended));
    json_object_set_new(object, "running", json_count(at->running));
    json_object_set_new(object, "waiting", json_count(at->waiting));
    json_object_set_new(object, "progress", json_ratio(end->progress));
    json_object_set_new(object, "known", json_boolean(end->known));
    if (!end->known) return object;
    add_time(ends, object, "end_time_ns", end->left_ms);
    add_time(ends, object, "earliest_time_ns", end->least_ms);
    add_time(ends, object, "latest_time_ns", end->most_ms);
    add_time(ends, object, "by_progress_time_ns", end->naive_ms);
    if (end->last != G_MAXUINT32) json_object_set_new(object, "last", last_json(ends, at, end));
    return object;
}

static RunStage *run_stage_of(const Run *run, guint32 number) {
    for (guint i = 0; i < run->stages->len; i++)
        if (run_stage(run, i)->number == number) return run_stage(run, i);
    return NULL; /* none of its tasks has ended well */
}

/* NULL: nothing is to be told of it, or with *error. */
static json_t *predict_stage(Ends *ends, guint32 number, GError **error) {
    const AppStage *known = app_stage(ends->run->tasks, number);
    const guint64 key = stage_key(known->stage, known->attempt);
    const SparkStage *record = g_hash_table_lookup(ends->records, &key);
    if (record == NULL) return NULL;
    RunStage *stage = run_stage_of(ends->run, number);
    if (stage != NULL && !run_stage_read(ends->run, stage, error)) return NULL;

    g_auto(StageAt) at = {record,
                          g_array_new(FALSE, FALSE, sizeof(StageTask)),
                          g_array_new(FALSE, FALSE, sizeof(guint32)),
                          g_array_new(FALSE, FALSE, sizeof(double)),
                          0,
                          0,
                          0};
    collect(ends, number, &at);
    g_autofree double *factors = find_factors(ends, stage);
    const StageNow now = {.tasks = (const StageTask *)(gconstpointer)at.tasks->data,
                          .n = at.tasks->len,
                          .factors = factors,
                          .n_hosts = ends->run->tasks->hosts->len,
                          .waiting = at.waiting,
                          .slots = most_at_once(&at),
                          .elapsed_ms = MAX(0, (double)(ends->asked->now_ns / NS_PER_MS - record->submitted_ms))};
    StageEnd end;
    stage_end_predict(&now, &end);
    return stage_json(ends, &at, &end);
}

static gboolean add_stages(Ends *ends, json_t *list, GError **error) {
    for (guint32 number = 0; number < ends->run->tasks->stages->len; number++) {
        GError *failed = NULL;
        json_t *stage = predict_stage(ends, number, &failed);
        if (stage != NULL) json_array_append_new(list, stage);
        if (failed == NULL) continue;
        g_propagate_error(error, failed);
        return FALSE;
    }
    return TRUE;
}

json_t *answer_ends(const Asked *asked, GError **error) {
    g_autoptr(AppList) apps = app_list_load(asked->archive, error);
    const AppEntry *entry = apps ? asked_app_entry(asked, apps, error) : NULL;
    if (!entry) return NULL;
    g_auto(Ends) ends = {.asked = asked, .entry = entry};
    if (!load_stages(&ends, error)) return NULL;

    json_auto_t *answer = json_object();
    json_t *stages = json_array();
    json_add_app(asked, answer, entry);
    json_object_set_new(answer, "now_time_ns", json_integer(asked->now_ns));
    json_object_set_new(answer, "stages", stages);
    if (!app_runs(entry->app, asked->now_ns / NS_PER_MS) || g_hash_table_size(ends.records) == 0)
        return g_steal_pointer(&answer);

    ends.run = run_load(asked, entry->key, error);
    if (!ends.run || !host_model_load(asked, &ends.model, error) || !add_stages(&ends, stages, error)) return NULL;
    return allowance_check(error) ? g_steal_pointer(&answer) : NULL;
}
