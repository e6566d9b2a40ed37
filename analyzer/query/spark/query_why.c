/* Why tasks were slow: for each straggler its causes, the main one first, and, where its calls of HDFS were traced,
 * whom it waited for there, with the calls as evidence and what is normal for them. */
#include "analyzer/query/spark/app_causes.h"
#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/ledger/culprits.h"
#include "analyzer/query/spark/ledger/ledger_json.h"
#include "analyzer/query/spark/query_why_trace.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/stage_waits.h"
#include "analyzer/query/spark/straggler_rows.h"
#include "analyzer/query/spark/tasks/app_given.h"
#include "analyzer/query/spark/tasks/app_plans.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "analyzer/query/spark/tasks/facts_json.h"
#include "analyzer/query/spark/tasks/trace_linker.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define DEFAULT_LIMIT 20u

typedef struct Why {
    const Asked *asked;
    AppList *apps;
    const AppEntry *entry;
    AppCauses *causes;
    AppLedger *ledger; /* NULL when only running tasks are asked about by another method */
    Suspects *suspects;
    Standing *standing;          /* of hosts, while the application ran */
    gint64 stage, attempt, task; /* -1: all */
    gboolean running;            /* only tasks that still run */
    gboolean by_ledger;          /* that says what the main cause is */
} Why;

static void why_clear(Why *why) {
    standing_free(why->standing);
    suspects_free(why->suspects);
    app_ledger_free(why->ledger);
    app_causes_free(why->causes);
    if (why->apps) app_list_free(why->apps);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Why, why_clear)

/* ---- one straggler ---- */

static double excess_of(const AppCauses *causes, guint32 row) {
    return task_duration_ms(causes->tasks->table, row) -
           causes->stragglers->stages[causes->tasks->table->stage[row]].median_ms;
}

static json_t *hdfs_json(const Why *why, const TaskHdfs *hdfs) {
    json_t *object = json_object();
    json_object_set_new(object, "link", json_string(link_kind_name(hdfs->kind)));
    json_object_set_new(object, "confidence", json_real(hdfs->confidence));
    json_object_set_new(object, "traces", json_count(hdfs->traces));
    json_object_set_new(object, "trace", json_trace_id(hdfs->trace));
    json_add_facts(object, why->asked->archive, &hdfs->facts);
    return object;
}

/* What the main cause is: its feature. */
static const char *named(const Why *why, const StragglerCause *cause, FeatureTopic *topic) {
    if (cause->ledger) {
        *topic = cause->ledger->topic;
        return ledger_cause_name(why->ledger, cause->ledger);
    }
    const Evidence *evidence = &g_array_index(why->causes->evidence, Evidence, cause->evidence);
    const Feature *feature = task_feature(why->causes->tasks->table, evidence->feature);
    *topic = feature->topic;
    return feature->name;
}

/* The cause that is named first, and for HDFS whom, with what shows it. NULL on error. */
static json_t *main_json(const Why *why, const StragglerCause *cause, GError **error) {
    json_auto_t *object = json_object();
    const double excess_ms = excess_of(why->causes, cause_row(why->causes, cause));
    FeatureTopic topic;
    json_object_set_new(object, "feature", json_string(named(why, cause, &topic)));
    json_object_set_new(object, "topic", json_string(feature_topic_name(topic)));
    json_object_set_new(object, "explains_ns", json_integer((gint64)(cause->explains_ms * NS_PER_MS)));
    json_object_set_new(object, "excess_ns", json_integer((gint64)(MAX(excess_ms, 0) * NS_PER_MS)));
    if (!cause->in_hdfs) return g_steal_pointer(&object);
    json_t *suspect = suspect_json(why->asked->archive, &cause->suspect);
    json_object_set_new(object, "suspect", suspect);
    g_autoptr(TraceView) view = trace_view_load(why->asked->archive, cause->hdfs->trace, error);
    if (!view || !suspect_add_evidence(why->asked, view, &cause->suspect, suspect, error)) return NULL;
    return g_steal_pointer(&object);
}

static json_t *start_json(const Why *why, const StragglerCause *cause) {
    json_t *object = json_object();
    json_object_set_new(object, "feature", json_string("executor_start"));
    json_object_set_new(object, "topic", json_string(feature_topic_name(TOPIC_JVM)));
    json_object_set_new(object, "explains_ns", json_integer((gint64)(cause->explains_ms * NS_PER_MS)));
    json_object_set_new(object, "excess_ns",
                        json_integer((gint64)(excess_of(why->causes, cause_row(why->causes, cause)) * NS_PER_MS)));
    return object;
}

static gboolean add_straggler(const Why *why, const StragglerCause *cause, json_t *list, GError **error) {
    const AppCauses *causes = why->causes;
    json_t *object = straggler_json(causes->tasks, causes->stragglers, cause->straggler);
    json_t *found = json_array(), *near = json_array();
    json_array_append_new(list, object);
    for (guint32 i = causes->first[cause->straggler]; i < causes->first[cause->straggler + 1]; i++) {
        const Evidence *evidence = &g_array_index(causes->evidence, Evidence, i);
        json_t *item = evidence_json(causes->tasks->table, evidence);
        json_array_append_new(evidence->verdict == VERDICT_CAUSE ? found : near, item);
    }
    json_object_set_new(object, "causes", found);
    json_object_set_new(object, "near", near);
    if (cause->hdfs) json_object_set_new(object, "hdfs", hdfs_json(why, cause->hdfs));
    json_t *ledger = why->ledger ? ledger_json(why->ledger, cause_row(causes, cause), cause->hdfs) : NULL;
    if (ledger) json_object_set_new(object, "ledger", ledger);
    if (!cause_known(cause)) return TRUE;
    json_t *main = cause->start ? start_json(why, cause) : main_json(why, cause, error);
    if (main) json_object_set_new(object, "main_cause", main);
    return main != NULL;
}

/* ---- the answer ---- */

static gboolean asked_for(const Why *why, guint32 row) {
    const AppTasks *tasks = why->causes->tasks;
    const AppStage *stage = app_stage(tasks, tasks->table->stage[row]);
    if (why->stage >= 0 && stage->stage != why->stage) return FALSE;
    if (why->attempt >= 0 && stage->attempt != why->attempt) return FALSE;
    if (why->running && tasks->tasks[row].status != TASK_RUNNING) return FALSE;
    return why->task < 0 || tasks->tasks[row].task == why->task;
}

/* Those that lost most time first. */
static gint by_excess(gconstpointer a, gconstpointer b, gpointer arg) {
    const Why *why = arg;
    const StragglerCause *x = *(StragglerCause *const *)a, *y = *(StragglerCause *const *)b;
    const double first = excess_of(why->causes, cause_row(why->causes, x));
    const double second = excess_of(why->causes, cause_row(why->causes, y));
    if (first != second) return first > second ? -1 : 1;
    return x->straggler < y->straggler ? -1 : 1;
}

static GPtrArray *chosen(Why *why) {
    GPtrArray *list = g_ptr_array_new();
    for (guint i = 0; i < why->causes->causes->len; i++) {
        StragglerCause *cause = &g_array_index(why->causes->causes, StragglerCause, i);
        const guint32 row = cause_row(why->causes, cause);
        if (!asked_for(why, row)) continue;
        g_ptr_array_add(list, cause);
        if (cause->in_hdfs)
            suspects_add(why->suspects, &cause->suspect, cause->explains_ms, why->causes->tasks->table->begin_ms[row]);
    }
    g_ptr_array_sort_with_data(list, by_excess, why);
    return list;
}

/* How many of those chosen have a cause, and how many would have one without HDFS. */
static void add_counts(const Why *why, const GPtrArray *list, json_t *answer) {
    const AppCauses *causes = why->causes;
    guint explained = 0, without = 0;

    for (guint i = 0; i < list->len; i++) {
        const StragglerCause *cause = g_ptr_array_index(list, i);
        gboolean other = FALSE;
        for (guint32 k = causes->first[cause->straggler]; k < causes->first[cause->straggler + 1]; k++) {
            const Evidence *evidence = &g_array_index(causes->evidence, Evidence, k);
            const gboolean hdfs = task_feature(causes->tasks->table, evidence->feature)->topic == TOPIC_HDFS;
            if (evidence->verdict == VERDICT_CAUSE && !hdfs) other = TRUE;
        }
        explained += cause_known(cause);
        other = other || cause->start || (cause->ledger && cause->ledger->topic != TOPIC_HDFS);
        without += other;
    }

    json_object_set_new(answer, "stragglers_total", json_count(list->len));
    json_object_set_new(answer, "explained", json_count(explained));
    json_object_set_new(answer, "explained_without_hdfs", json_count(without));

    const AppHdfsCounts counts = app_hdfs_counts(causes->hdfs);
    json_t *linked = json_object();
    for (guint kind = 0; kind < LINK_KIND_COUNT; kind++)
        json_object_set_new(linked, link_kind_name((LinkKind)kind), json_count(counts.linked[kind]));
    json_object_set_new(answer, "tasks_by_link", linked);
    json_object_set_new(answer, "traces_read", json_count(counts.read));
    json_object_set_new(answer, "hosts_with_samples", json_count(causes->tasks->sampled_hosts));
}

/* Where the tasks' time in HDFS went, whichever host it was. */
static json_t *sum_json(const Why *why) {
    g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(HdfsShare));
    const AppHdfsSum sum = app_hdfs_sum(why->causes->hdfs, shares);
    json_t *object = json_object(), *list = json_array();
    json_object_set_new(object, "tasks", json_count(sum.tasks));
    json_object_set_new(object, "duration_ns", json_integer(sum.duration_ns));
    json_object_set_new(object, "time_ns", json_integer(sum.hdfs_ns));
    for (guint i = 0; i < shares->len && i < SHARES_SHOWN; i++) {
        const HdfsShare *share = &g_array_index(shares, HdfsShare, i);
        json_t *row = share_json(why->asked->archive, share);
        json_object_set_new(row, "role", json_string(role_name(share->role)));
        json_array_append_new(list, row);
    }
    json_object_set_new(object, "functions", list);
    return object;
}

/* ---- what it would have been without a cause ---- */

/* As its row says. Of HDFS whoever was waited for is to blame, whichever feature of the time told. */
static CulpritCause blame_of(const Why *why, const StragglerCause *cause) {
    const AppTasks *tasks = why->causes->tasks;
    CulpritCause blame = {.straggler = cause->straggler, .explains_ms = cause->explains_ms};
    blame.feature = named(why, cause, &blame.topic);
    if (blame.topic == TOPIC_DATA || blame.topic == TOPIC_HDFS) {
        const LedgerPart part = cause->in_hdfs ? ledger_part_of(cause->suspect.resource) : LEDGER_PART_COUNT;
        if (part != LEDGER_PART_COUNT) blame.feature = ledger_part_name(part);
        if (cause->in_hdfs && cause->suspect.host)
            blame.host = dict_text(archive_dict(why->asked->archive), cause->suspect.host, NULL);
    } else {
        blame.host = app_host(tasks, cause_row(why->causes, cause));
    }
    return blame;
}

/* The start of an executor is nobody's doing: each has one. */
static json_t *what_if_json(const Why *why) {
    const AppCauses *causes = why->causes;
    g_autoptr(GArray) blames = g_array_new(FALSE, FALSE, sizeof(CulpritCause));
    for (guint i = 0; i < causes->causes->len && allowance_goes_on(); i++) {
        const StragglerCause *cause = &g_array_index(causes->causes, StragglerCause, i);
        if (!cause_known(cause) || cause->start) continue;
        const CulpritCause blame = blame_of(why, cause);
        g_array_append_val(blames, blame);
    }
    return culprits_json(causes->tasks->table, causes->stragglers, blames);
}

/* ---- all that was asked for ---- */

/* When the application ran; as far as is known. */
static Period period_of(const SparkApp *app, gint64 now_ns) {
    const gint64 end_ms = app->end_ms >= 0 ? app->end_ms : app->last_event_ms;
    const gint64 until_ns = end_ms >= app->start_ms && end_ms >= 0 ? (end_ms + 1) * NS_PER_MS : now_ns;
    return (Period){MIN(MAX(app->start_ms, 0) * NS_PER_MS, until_ns), until_ns};
}

/* What is measured in a first task of its executor, and is that start all the same: classes are loaded, by a processor
 * and while the task is deserialized. */
static gboolean is_start(LedgerPart part) { return part == LEDGER_PROCESSOR || part == LEDGER_DESERIALIZE; }

/* The main causes as the ledgers say. */
static void name_by_ledger(Why *why) {
    AppCauses *causes = why->causes;
    for (guint i = 0; i < causes->causes->len; i++) {
        StragglerCause *cause = &g_array_index(causes->causes, StragglerCause, i);
        const LedgerCause *main = app_ledger_main(why->ledger, cause->straggler);
        const guint32 row = cause_row(causes, cause);
        const gboolean most = main && main->explains_ns * 2 >= main->excess_ns && !is_start(main->part);
        double start_ms = 0;

        cause->evidence = -1;
        cause->start = !most && executor_starts_explain(causes->starts, row, &start_ms);
        cause->ledger = cause->start ? NULL : main;
        cause->explains_ms = cause->ledger ? (double)main->explains_ns / NS_PER_MS : start_ms;
        const guint32 resources = cause->ledger ? ledger_part_resources(main->part) : 0;
        cause->in_hdfs =
            resources != 0 && cause->hdfs && suspect_find(why->asked->archive, cause->hdfs, resources, &cause->suspect);
    }
}

static gboolean load_ledger(Why *why, GError **error) {
    AppLedgerInput input = {.archive = why->asked->archive,
                            .tasks = why->causes->tasks,
                            .stragglers = why->causes->stragglers,
                            .hdfs = why->causes->hdfs};
    if (!asked_ledger(why->asked, &input.options, error)) return FALSE;
    if (why->running && !why->by_ledger) return TRUE;
    why->ledger = app_ledger_load(&input, error);
    if (why->ledger && why->by_ledger) name_by_ledger(why);
    return why->ledger != NULL;
}

static gboolean load(Why *why, GError **error) {
    static const char *const statuses[] = {"running", "all", NULL}, *const methods[] = {"bigroots", "ledger", NULL};
    BigRootsOptions options;
    guint status = 1, method = 0;
    guint64 task = G_MAXUINT64;

    if (!asked_stage(why->asked, &why->stage, &why->attempt, error) ||
        !params_count(why->asked->params, "task", &task, error) ||
        !params_choice(why->asked->params, "status", statuses, &status, error) ||
        !params_choice(why->asked->params, "method", methods, &method, error) ||
        !asked_bigroots(why->asked, &options, error))
        return FALSE;
    why->task = task > G_MAXINT64 ? -1 : (gint64)task;
    why->running = status == 0;
    why->by_ledger = method == 1;
    why->apps = app_list_load(why->asked->archive, error);
    why->entry = why->apps ? asked_app_entry(why->asked, why->apps, error) : NULL;
    if (!why->entry) return FALSE;
    why->causes = app_causes_load(why->asked, why->entry->key, &options, error);
    if (!why->causes || !load_ledger(why, error)) return FALSE;
    why->standing = standing_new(why->asked, period_of(&why->causes->tasks->app, why->asked->now_ns));
    return TRUE;
}

/* As for stages: not for those who ask every few seconds. */
static gboolean add_suspects(const Why *why, json_t *answer, GError **error) {
    json_t *suspects = suspects_json(why->asked->archive, why->suspects, why->running ? NULL : why->standing, error);
    if (suspects) json_object_set_new(answer, "suspects", suspects);
    return suspects != NULL;
}

/* DataNodes that gave no answer for this long while it ran; asked when it has stragglers only. */
#define SILENT_LEAST_NS (5 * NS_PER_SEC)

static gboolean add_silent(const Why *why, guint stragglers, json_t *answer, GError **error) {
    if (why->running || stragglers == 0) return TRUE;
    json_t *silent = standing_silent(why->standing, SILENT_LEAST_NS, error);
    if (!silent) return FALSE;
    if (json_array_size(silent) > 0)
        json_object_set_new(answer, "silent", silent);
    else
        json_decref(silent);
    return TRUE;
}

/* Stages that are slow for everybody. Who only wants to know what runs asks every few seconds: not for these. */
static gboolean add_stages(const Why *why, json_t *answer, GError **error) {
    if (why->running) return TRUE;
    g_autoptr(GArray) found = stage_waits_find(why->asked, why->causes, why->apps, why->standing, error);
    json_t *stages = found ? stage_waits_json(why->causes, found, why->asked->archive, why->standing, error) : NULL;
    if (stages) json_object_set_new(answer, "stages", stages);
    return stages != NULL;
}

/* ---- the one task that was asked for, and is no straggler ---- */

static json_t *ordinary_json(const Why *why, guint32 row, GError **error) {
    const AppCauses *causes = why->causes;
    const TaskHdfs *hdfs;
    Suspect suspect;
    if (!app_hdfs_task(causes->hdfs, row, &hdfs, error)) return NULL;
    json_auto_t *object = task_row_json(causes->tasks, causes->stragglers, row);
    json_t *ledger = why->ledger ? ledger_json(why->ledger, row, hdfs) : NULL;
    if (ledger) json_object_set_new(object, "ledger", ledger);
    if (!hdfs) return g_steal_pointer(&object);

    json_object_set_new(object, "hdfs", hdfs_json(why, hdfs));
    if (!suspect_find(why->asked->archive, hdfs, ALL_RESOURCES, &suspect)) return g_steal_pointer(&object);
    g_autoptr(TraceView) view = trace_view_load(why->asked->archive, hdfs->trace, error);
    json_t *found = suspect_json(why->asked->archive, &suspect);
    json_object_set_new(object, "suspect", found);
    if (!view || !suspect_add_evidence(why->asked, view, &suspect, found, error)) return NULL;
    return g_steal_pointer(&object);
}

/* Adds "task": where its time went, for what it is worth: it took what its peers took. */
static gboolean add_ordinary(const Why *why, const GPtrArray *stragglers, json_t *answer, GError **error) {
    const AppTasks *tasks = why->causes->tasks;
    if (why->task < 0 || stragglers->len > 0) return TRUE;
    for (guint32 row = 0; row < tasks->table->count; row++) {
        if (!asked_for(why, row)) continue;
        json_t *object = ordinary_json(why, row, error);
        if (object) json_object_set_new(answer, "task", object);
        return object != NULL;
    }
    if (why->running || why->stage >= 0) return TRUE; /* it is of another stage, or has ended */
    return fail(error, PLUMB_ERROR_NOT_FOUND,
                "application %s has no task attempt %" G_GINT64_FORMAT ": plumb tasks %s lists them", tasks->app.app,
                why->task, tasks->app.app);
}

/* ---- whether the answer will change ---- */

/* Adds "may_change": its log still grows, or what was traced of its last tasks may not be here yet. */
static void add_may_change(const Why *why, json_t *answer) {
    const SparkApp *app = &why->causes->tasks->app;
    const gint64 now_ms = why->asked->now_ns / NS_PER_MS, age_ms = now_ms - why->entry->written_ms;
    if (app_runs(app, now_ms)) {
        json_object_set_new(answer, "may_change", json_string("running"));
    } else if (age_ms >= 0 && age_ms < LINKS_REST_MS) {
        json_object_set_new(answer, "may_change", json_string("recent"));
        json_object_set_new(answer, "final_in_ns", json_integer((LINKS_REST_MS - age_ms) * NS_PER_MS));
    }
}

json_t *answer_why(const Asked *asked, GError **error) {
    g_auto(Why) why = {.asked = asked, .suspects = suspects_new()};
    guint64 limit = DEFAULT_LIMIT;
    if (params_text(asked->params, "trace")) return answer_why_trace(asked, error);
    if (!params_count(asked->params, "limit", &limit, error) || !load(&why, error)) return NULL;
    const AppTasks *tasks = why.causes->tasks;
    g_autoptr(GPtrArray) list = chosen(&why);
    json_auto_t *answer = json_object();
    json_t *rows = json_array();
    json_object_set_new(answer, "app", json_string(tasks->app.app));
    if (tasks->app.name) json_object_set_new(answer, "name", json_string(tasks->app.name));
    json_object_set_new(answer, "tasks", json_count(tasks->table->count));
    json_object_set_new(answer, "method", json_string(why.by_ledger ? "ledger" : "bigroots"));
    json_object_set_new(answer, "stragglers", rows);
    const guint n = answer_rows(asked, limit, list->len, answer);
    for (guint i = 0; i < n; i++)
        if (!add_straggler(&why, g_ptr_array_index(list, i), rows, error)) return NULL;

    if (!add_stages(&why, answer, error)) return NULL;
    json_t *const named[] = {rows, json_object_get(answer, "stages")};
    if (!app_stage_names_add(asked->archive, why.entry->key, named, G_N_ELEMENTS(named), error)) return NULL;
    add_counts(&why, list, answer);
    if (!add_suspects(&why, answer, error) || !add_silent(&why, list->len, answer, error)) return NULL;
    if (!app_given_add(asked->archive, why.entry->key, answer, error)) return NULL;
    json_object_set_new(answer, "hdfs", sum_json(&why));
    if (why.ledger) json_object_set_new(answer, "what_if", what_if_json(&why));
    if (!add_ordinary(&why, list, answer, error)) return NULL;
    add_may_change(&why, answer);
    return g_steal_pointer(&answer);
}
