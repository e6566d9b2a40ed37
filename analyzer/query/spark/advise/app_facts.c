#include "analyzer/query/spark/advise/app_facts.h"

#include <string.h>

#include "analyzer/query/spark/advise/cluster_facts.h"
#include "analyzer/query/spark/advise/plan_facts.h"
#include "analyzer/query/spark/advise/sim_facts.h"
#include "analyzer/query/spark/tasks/app_given.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/model/stage_label.h"

/* One stage attempt while its tasks are visited. */
typedef struct StageLists {
    GArray *time, *run, *shuffle, *input;                 /* double; of tasks that ended well */
    GArray *starts;                                       /* guint32: which of them were the first of a slot */
    double most_time, most_run, most_shuffle, most_input; /* of: */
    gint64 time_task, run_task, shuffle_task, input_task;
    gint32 time_partition, run_partition, shuffle_partition, input_partition;
} StageLists;

typedef struct Loading {
    AdviseFacts *facts;
    SparkRecords *texts;
    const AppPlans *plans;
    GHashTable *stages;    /* StageKey -> index + 1 */
    GHashTable *executors; /* id -> index + 1 */
    GArray *lists;         /* StageLists, one a stage */
    GArray *begins, *ends;
    gint64 now_ms;
    double task_cpus;
    guint last; /* the last stage + 1 */
    gsize held;
} Loading;

static void lists_clear(gpointer data) {
    StageLists *lists = data;
    g_array_unref(lists->time);
    g_array_unref(lists->run);
    g_array_unref(lists->shuffle);
    g_array_unref(lists->input);
    g_array_unref(lists->starts);
}

static void loading_clear(Loading *loading) {
    allowance_release(loading->held);
    g_hash_table_unref(loading->stages);
    g_hash_table_unref(loading->executors);
    g_array_unref(loading->lists);
    g_array_unref(loading->begins);
    g_array_unref(loading->ends);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Loading, loading_clear)

/* ---- stages ---- */

static guint stage_hash(gconstpointer key) {
    const AdviseStage *stage = key;
    return (guint)((guint64)stage->stage * 31 + (guint64)stage->attempt);
}

static gboolean stage_equal(gconstpointer a, gconstpointer b) {
    const AdviseStage *x = a, *y = b;
    return x->stage == y->stage && x->attempt == y->attempt;
}

static StageLists lists_new(void) {
    return (StageLists){.time = g_array_new(FALSE, FALSE, sizeof(double)),
                        .run = g_array_new(FALSE, FALSE, sizeof(double)),
                        .shuffle = g_array_new(FALSE, FALSE, sizeof(double)),
                        .input = g_array_new(FALSE, FALSE, sizeof(double)),
                        .starts = g_array_new(FALSE, FALSE, sizeof(guint32)),
                        .most_time = -1,
                        .most_run = -1,
                        .most_shuffle = -1,
                        .most_input = -1};
}

static guint stage_index(Loading *loading, gint64 stage, gint32 attempt) {
    const AdviseStage wanted = {
        .stage = stage, .attempt = attempt, .begin_ms = -1, .end_ms = -1, .query = -1, .profile = -1};
    if (loading->last > 0 && stage_equal(advise_stage(loading->facts, loading->last - 1), &wanted))
        return loading->last - 1;
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(loading->stages, &wanted));
    if (at == 0) {
        const StageLists lists = lists_new();
        g_array_append_val(loading->facts->stages, wanted);
        g_array_append_val(loading->lists, lists);
        at = loading->facts->stages->len;
        g_hash_table_insert(loading->stages, g_memdup2(&wanted, sizeof wanted), GUINT_TO_POINTER(at));
    }
    loading->last = at;
    return at - 1;
}

/* FALSE: a stage before had it. */
static gboolean add_cached(AdviseFacts *facts, const SparkStage *stage, const SparkRdd *rdd) {
    for (guint i = 0; i < facts->cached->len; i++) {
        AdviseCached *known = &g_array_index(facts->cached, AdviseCached, i);
        if (known->rdd != rdd->id) continue;
        known->stages += known->stage != stage->stage;
        return FALSE;
    }
    const AdviseCached cached = {rdd->id, rdd->name, rdd->storage_level, 1, stage->stage};
    g_array_append_val(facts->cached, cached);
    return TRUE;
}

static void add_stage(Loading *loading, const SparkStage *record) {
    AdviseStage *stage = advise_stage(loading->facts, stage_index(loading, record->stage, record->attempt));
    g_autofree char *name = app_plans_stage_name(loading->plans, record);
    stage->name = name != NULL ? spark_text_shared(loading->texts, name, strlen(name)) : NULL;
    stage->sql = spark_stage_is_sql(record);
    stage->failed = record->failure != NULL;
    stage->profile = record->profile;
    plan_facts_stage(stage, loading->plans, record, loading->texts);
    for (guint32 i = 0; i < record->rdds.n; i++) {
        const SparkRdd *rdd = &record->rdds.items[i];
        stage->join = stage->join || (rdd->name != NULL && g_str_has_prefix(rdd->name, "ZippedPartitionsRDD"));
        if (rdd->storage_level == NULL) continue;
        stage->cached = TRUE;
        if (record->attempt == 0 && add_cached(loading->facts, record, rdd)) stage->keeps_first = TRUE;
    }
}

/* ---- executors ---- */

static AdviseExecutor *executor_of(Loading *loading, const char *id) {
    GArray *all = loading->facts->executors;
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(loading->executors, id));
    if (at == 0) {
        const AdviseExecutor executor = {.id = id, .begin_ms = -1, .end_ms = -1, .profile = -1};
        g_array_append_val(all, executor);
        at = all->len;
        g_hash_table_insert(loading->executors, (gpointer)id, GUINT_TO_POINTER(at));
    }
    return &g_array_index(all, AdviseExecutor, at - 1);
}

static void add_executor(Loading *loading, const SparkExecutor *record) {
    AdviseExecutor *executor = executor_of(loading, record->id);
    executor->cores = (guint32)MAX(record->cores, 0);
    executor->profile = record->profile;
    executor->begin_ms = record->added_ms;
    executor->end_ms = record->removed_ms;
    executor->host = record->host;
    executor->reason = record->reason;
    executor->memory_bytes = (double)MAX(record->memory_bytes, 0);
    executor->heap_peak_bytes = (double)MAX(record->peaks[PEAK_HEAP], 0);
    executor->storage_peak_bytes = (double)MAX(record->peaks[PEAK_STORAGE], 0);
    executor->unified_peak_bytes = (double)MAX(record->peaks[PEAK_UNIFIED], 0);
    for (guint i = PEAK_JVM_RSS; i <= PEAK_OTHER_RSS; i++) executor->resident_bytes += (double)MAX(record->peaks[i], 0);
}

static void add_to_executor(AdviseExecutor *executor, const SparkTask *task, double time_ms) {
    const gint64 *metrics = task->metrics;
    executor->tasks++;
    executor->task_ms += time_ms;
    executor->run_ms += (double)MAX(metrics[METRIC_RUN_MS], 0);
    executor->gc_ms += (double)MAX(metrics[METRIC_GC_MS], 0);
    executor->input_bytes += (double)MAX(metrics[METRIC_INPUT_BYTES], 0);
    executor->shuffle_read_bytes +=
        (double)MAX(metrics[METRIC_SHUFFLE_REMOTE_BYTES], 0) + (double)MAX(metrics[METRIC_SHUFFLE_LOCAL_BYTES], 0);
    executor->shuffle_write_bytes += (double)MAX(metrics[METRIC_SHUFFLE_WRITE_BYTES], 0);
    executor->heap_peak_bytes = MAX(executor->heap_peak_bytes, (double)metrics[METRIC_HEAP_PEAK_BYTES]);
    executor->storage_peak_bytes = MAX(executor->storage_peak_bytes, (double)metrics[METRIC_STORAGE_PEAK_BYTES]);
    executor->unified_peak_bytes = MAX(executor->unified_peak_bytes, (double)metrics[METRIC_UNIFIED_PEAK_BYTES]);
    const double resident = (double)MAX(metrics[METRIC_JVM_RSS_PEAK_BYTES], 0) +
                            (double)MAX(metrics[METRIC_PYTHON_RSS_PEAK_BYTES], 0) +
                            (double)MAX(metrics[METRIC_OTHER_RSS_PEAK_BYTES], 0);
    executor->resident_bytes = MAX(executor->resident_bytes, resident);
    if (executor->begin_ms < 0) executor->begin_ms = task->launch_ms;
}

/* The driver runs tasks only where it is the one executor; times that the log lacks are the application's. */
static void finish_executors(AdviseFacts *facts) {
    for (guint i = facts->executors->len; i > 0; i--) {
        AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i - 1);
        if (strcmp(executor->id, "driver") == 0 && executor->tasks == 0) {
            g_array_remove_index(facts->executors, i - 1);
            continue;
        }
        if (executor->begin_ms < 0) executor->begin_ms = facts->begin_ms;
        if (executor->end_ms < 0) executor->end_ms = facts->end_ms;
        executor->end_ms = MAX(executor->end_ms, executor->begin_ms);
    }
}

/* ---- tasks ---- */

#define KEEP(list, value, most)                                                                                        \
    do {                                                                                                               \
        g_array_append_val(lists->list, value);                                                                        \
        if (value > lists->most) {                                                                                     \
            lists->most = value;                                                                                       \
            lists->list##_task = task->task;                                                                           \
            lists->list##_partition = task->partition;                                                                 \
        }                                                                                                              \
    } while (0)

static void add_well_ended(AdviseStage *stage, StageLists *lists, const SparkTask *task, double time) {
    const gint64 *metrics = task->metrics;
    const double run = (double)MAX(metrics[METRIC_RUN_MS], 0), input = (double)MAX(metrics[METRIC_INPUT_BYTES], 0);
    const double shuffle =
        (double)MAX(metrics[METRIC_SHUFFLE_REMOTE_BYTES], 0) + (double)MAX(metrics[METRIC_SHUFFLE_LOCAL_BYTES], 0);

    stage->tasks++;
    stage->spilled_tasks += metrics[METRIC_MEMORY_SPILLED_BYTES] > 0;
    stage->local += task->locality == LOCALITY_PROCESS || task->locality == LOCALITY_NODE;
    stage->max_peak_bytes = MAX(stage->max_peak_bytes, (double)metrics[METRIC_PEAK_MEMORY_BYTES]);
    for (guint i = 0; i < TASK_METRIC_COUNT; i++)
        if (metrics[i] > 0) stage->sums[i] += (double)metrics[i];
    KEEP(time, time, most_time);
    KEEP(run, run, most_run);
    KEEP(shuffle, shuffle, most_shuffle);
    KEEP(input, input, most_input);
}

static void add_failure(AdviseFacts *facts, const SparkTask *task, double time_ms) {
    AdviseFailure *failure = &facts->failures[failure_class(task->reason, task->status)];
    if (failure->tasks++ == 0) {
        failure->task = task->task;
        failure->stage = task->stage;
        failure->reason = task->reason;
    }
    failure->wasted_ms += time_ms;
}

static gboolean add_task(void *arg, const void *record) {
    Loading *loading = arg;
    AdviseFacts *facts = loading->facts;
    const SparkTask *task = record;
    const gint64 end_ms = task->finish_ms >= 0 ? task->finish_ms : facts->end_ms;
    if (task->launch_ms < 0 || end_ms < task->launch_ms) return TRUE;
    const double time_ms = (double)(end_ms - task->launch_ms);
    const guint at = stage_index(loading, task->stage, task->stage_attempt);
    AdviseStage *stage = advise_stage(facts, at);

    g_array_append_val(loading->begins, task->launch_ms);
    g_array_append_val(loading->ends, end_ms);
    allowance_hold(&loading->held, loading->begins->len * 6 * sizeof(double));
    stage->task_ms += time_ms;
    stage->begin_ms = stage->begin_ms < 0 ? task->launch_ms : MIN(stage->begin_ms, task->launch_ms);
    stage->end_ms = MAX(stage->end_ms, end_ms);
    facts->task_ms += time_ms;
    facts->run_ms += (double)MAX(task->metrics[METRIC_RUN_MS], 0);
    facts->gc_ms += (double)MAX(task->metrics[METRIC_GC_MS], 0);
    AdviseExecutor *executor = task->executor != NULL ? executor_of(loading, task->executor) : NULL;
    const gboolean first = executor != NULL && executor->tasks < MAX(executor->cores / loading->task_cpus, 1);
    if (executor != NULL) add_to_executor(executor, task, time_ms);

    StageLists *lists = &g_array_index(loading->lists, StageLists, at);
    if (task->status == TASK_SUCCESS && first) g_array_append_val(lists->starts, lists->time->len);
    if (task->status == TASK_SUCCESS) add_well_ended(stage, lists, task, time_ms);
    if (task->status != TASK_FAILED && task->status != TASK_LOST) return TRUE;
    stage->failed_tasks++;
    add_failure(facts, task, time_ms);
    return TRUE;
}

static AdviseSpread spread_of(const GArray *values, gint64 task, gint32 partition) {
    if (!allowance_goes_on_with(values->len * sizeof(double))) return (AdviseSpread){.n = 0};
    AdviseSpread spread = advise_spread((const double *)(gconstpointer)values->data, values->len);
    spread.max_task = task;
    spread.max_partition = partition;
    return spread;
}

/* Of the tasks that were not the first of a slot. */
static GArray *others_of(const GArray *values, const GArray *starts) {
    guint start = 0;
    GArray *others = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < values->len && allowance_goes_on(); i++) {
        if (start < starts->len && g_array_index(starts, guint32, start) == i)
            start++;
        else
            g_array_append_val(others, g_array_index(values, double, i));
    }
    return others;
}

/* Leaves out the first tasks of slots, whose executors still started, unless there are no others. */
static void use_later_mean(AdviseSpread *spread, const GArray *values, const GArray *starts) {
    double sum = 0;
    if (starts->len == 0 || starts->len >= values->len) return;
    g_autoptr(GArray) others = others_of(values, starts);
    for (guint i = 0; i < others->len; i++) sum += g_array_index(others, double, i);
    if (others->len > 0) spread->mean = sum / others->len;
}

static void finish_stages(Loading *loading) {
    for (guint i = 0; i < loading->lists->len && allowance_goes_on(); i++) {
        AdviseStage *stage = advise_stage(loading->facts, i);
        const StageLists *lists = &g_array_index(loading->lists, StageLists, i);
        stage->time = spread_of(lists->time, lists->time_task, lists->time_partition);
        stage->run = spread_of(lists->run, lists->run_task, lists->run_partition);
        use_later_mean(&stage->time, lists->time, lists->starts);
        use_later_mean(&stage->run, lists->run, lists->starts);
        stage->shuffle = spread_of(lists->shuffle, lists->shuffle_task, lists->shuffle_partition);
        stage->input = spread_of(lists->input, lists->input_task, lists->input_partition);
    }
}

/* ---- jobs ---- */

/* A stage that several jobs name ran for the first of them. */
static void add_job(Loading *loading, const SparkJob *record, GHashTable *taken) {
    AdviseJob job = {.job = record->job,
                     .begin_ms = record->submitted_ms,
                     .end_ms = record->completed_ms,
                     .name = record->description != NULL ? record->description : record->call_site,
                     .failed = record->result == JOB_FAILED};
    for (guint32 i = 0; i < record->stages.n && allowance_goes_on(); i++) {
        const gint64 id = record->stages.items[i];
        if (!g_hash_table_add(taken, g_memdup2(&id, sizeof id))) continue;
        for (gint32 attempt = 0;; attempt++) {
            const AdviseStage wanted = {.stage = id, .attempt = attempt};
            const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(loading->stages, &wanted));
            if (at == 0) break;
            const AdviseStage *stage = advise_stage(loading->facts, at - 1);
            job.tasks += stage->tasks + stage->failed_tasks;
            job.failed_tasks += stage->failed_tasks;
        }
    }
    g_array_append_val(loading->facts->jobs, job);
}

/* ---- for a simulation ---- */

/* A task with so much more data than its stage's median took longer for that. */
#define START_DATA_TIMES 1.5

static double data_at(const StageLists *lists, guint i) {
    return g_array_index(lists->input, double, i) + g_array_index(lists->shuffle, double, i);
}

/* The median time of the stage's other tasks; -1: there are none. */
static double median_of_others(const StageLists *lists) {
    g_autoptr(GArray) others = others_of(lists->time, lists->starts);
    if (others->len == 0 || !allowance_goes_on_with(others->len * sizeof(double))) return -1;
    return advise_spread((const double *)(gconstpointer)others->data, others->len).median;
}

typedef struct Start {
    guint task;     /* in SimApp.task_ms */
    double more_ms; /* than others; than none, where there are no others */
    gboolean tells; /* how long a start takes */
} Start;

static void add_starts(const AdviseStage *stage, const StageLists *lists, guint first_task, GArray *starts) {
    const double usual_ms = lists->starts->len > 0 ? median_of_others(lists) : -1;
    const double data = stage->input.median + stage->shuffle.median;
    for (guint i = 0; i < lists->starts->len && allowance_goes_on(); i++) {
        const guint task = g_array_index(lists->starts, guint32, i);
        const Start start = {first_task + task, MAX(g_array_index(lists->time, double, task) - MAX(usual_ms, 0), 0),
                             usual_ms >= 0 && data_at(lists, task) <= START_DATA_TIMES * data};
        g_array_append_val(starts, start);
    }
}

/* What the first tasks of slots took longer than others is their executors' start. Its median is taken off each, also
 * of those that do not tell it: the simulation adds it to the first task of every slot. */
static void take_off_starts(SimApp *sim, const GArray *starts) {
    g_autofree double *more_ms = g_new(double, MAX(starts->len, 1));
    guint n = 0;
    for (guint i = 0; i < starts->len; i++) {
        const Start *start = &g_array_index(starts, Start, i);
        if (start->tells) more_ms[n++] = start->more_ms;
    }
    sim->start_ms = n > 0 ? advise_spread(more_ms, n).median : 0;
    for (guint i = 0; i < starts->len; i++) {
        const Start *start = &g_array_index(starts, Start, i);
        g_array_index(sim->task_ms, double, start->task) -= MIN(start->more_ms, sim->start_ms);
    }
}

/* Of each stage's first attempt the times of its tasks, in the order of their launch. */
static void keep_tasks(const Loading *loading, SimApp *sim) {
    g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(Start));
    for (guint i = 0; i < loading->lists->len && allowance_goes_on(); i++) {
        const AdviseStage *stage = advise_stage(loading->facts, i);
        const StageLists *lists = &g_array_index(loading->lists, StageLists, i);
        const GArray *times = lists->time;
        if (stage->attempt != 0) continue;
        const SimStage kept = {.stage = stage->stage, .first_task = sim->task_ms->len, .tasks = times->len};
        if (times->len > 0) g_array_append_vals(sim->task_ms, times->data, times->len);
        g_array_append_val(sim->stages, kept);
        add_starts(stage, lists, kept.first_task, starts);
    }
    take_off_starts(sim, starts);
}

static gboolean load_given(Loading *loading, Archive *archive, const char *key, GError **error) {
    const SparkSelect profiles = SPARK_SELECT(SPARK_PROFILE, key);
    SparkRecords *texts = loading->texts;
    if (!archive_spark_load(archive, &profiles, texts, error) || !app_given_exclusions(archive, key, texts, error))
        return FALSE;
    for (guint i = 0; i < texts->of[SPARK_PROFILE]->len; i++) {
        const AdviseProfile profile = {.given = *spark_profile(texts, i)};
        g_array_append_val(loading->facts->profiles, profile);
    }
    g_array_append_vals(loading->facts->exclusions, texts->of[SPARK_EXCLUSION]->data, texts->of[SPARK_EXCLUSION]->len);
    return TRUE;
}

static gboolean load_records(Loading *loading, Archive *archive, const char *key, GError **error) {
    SparkRecords *texts = loading->texts;
    const SparkSelect executors = SPARK_SELECT(SPARK_EXECUTOR, key);
    const SparkSelect jobs = SPARK_SELECT(SPARK_JOB, key), tasks = SPARK_SELECT(SPARK_TASK, key);
    const SparkRecords *planned = loading->plans->records;
    if (!archive_spark_load(archive, &executors, texts, error) || !archive_spark_load(archive, &jobs, texts, error) ||
        !load_given(loading, archive, key, error))
        return FALSE;
    for (guint i = 0; i < planned->of[SPARK_STAGE]->len && allowance_goes_on(); i++)
        add_stage(loading, spark_stage(planned, i));
    for (guint i = 0; i < texts->of[SPARK_EXECUTOR]->len; i++) add_executor(loading, spark_executor(texts, i));
    if (!archive_spark_visit(archive, &tasks, texts, (SparkVisitor){add_task, loading}, error)) return FALSE;
    finish_stages(loading);
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < texts->of[SPARK_JOB]->len; i++) add_job(loading, spark_job(texts, i), taken);
    plan_facts_add(loading->facts, loading->plans, texts);
    return TRUE;
}

AdviseFacts *app_facts_load(const FactsSource *source, SparkRecords *texts, GError **error) {
    const SparkApp *app = source->app;
    const gint64 now_ms = source->now_ms;
    g_autoptr(AdviseFacts) facts = advise_facts_new(app);
    facts->running = app->end_ms < 0;
    facts->end_ms = app->end_ms >= 0 ? app->end_ms : app->last_event_ms >= 0 ? app->last_event_ms : now_ms;
    facts->begin_ms = app->start_ms >= 0 ? app->start_ms : facts->end_ms;
    g_auto(Loading) loading = {
        .facts = facts,
        .texts = texts,
        .plans = source->plans,
        .stages = g_hash_table_new_full(stage_hash, stage_equal, g_free, NULL),
        .executors = g_hash_table_new(g_str_hash, g_str_equal),
        .lists = g_array_new(FALSE, FALSE, sizeof(StageLists)),
        .begins = g_array_new(FALSE, FALSE, sizeof(gint64)),
        .ends = g_array_new(FALSE, FALSE, sizeof(gint64)),
        .now_ms = now_ms,
        .task_cpus = MAX(advise_number(facts, "spark.task.cpus"), 1),
    };

    g_array_set_clear_func(loading.lists, lists_clear);
    if (!load_records(&loading, source->archive, app->app, error)) return NULL;
    if (source->sim != NULL) {
        keep_tasks(&loading, source->sim);
        sim_facts_order(source->sim, facts, texts, source->plans);
    }
    finish_executors(facts);
    cluster_facts_executors(facts);
    cluster_facts_tasks(facts, loading.begins, loading.ends);
    return g_steal_pointer(&facts);
}
