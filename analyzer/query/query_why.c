/* Why tasks were slow: for each straggler its causes, the main one first, and, where its calls of HDFS were traced,
 * whom it waited for there, with the calls as evidence and what is normal for them. */
#include <math.h>
#include <string.h>

#include "analyzer/core/main_cause.h"
#include "analyzer/query/asked_app.h"
#include "analyzer/query/straggler_rows.h"
#include "analyzer/query/suspects.h"
#include "analyzer/query/task_hdfs.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define DEFAULT_LIMIT 20u
/* Of a task's time in HDFS, so many shares are told one by one. */
#define SHARES_SHOWN 8u

typedef struct Why {
    const Asked *asked;
    AppTasks *tasks;
    Stragglers *stragglers;
    AppHdfs *hdfs;
    BigRootsOptions options;
    GArray *evidence;
    guint32 *first; /* of each straggler's evidence */
    Suspects *suspects;
    gint64 stage, attempt, task; /* -1: all */
} Why;

static void why_clear(Why *why) {
    suspects_free(why->suspects);
    if (why->evidence) g_array_unref(why->evidence);
    g_free(why->first);
    app_hdfs_free(why->hdfs);
    stragglers_free(why->stragglers);
    app_tasks_free(why->tasks);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Why, why_clear)

/* ---- one straggler ---- */

static json_t *share_json(Archive *archive, const HdfsShare *share) {
    json_t *object = json_object();
    if (share->tracer) {
        const Lookup *lookup = archive_lookup(archive);
        Role role;
        guint32 host;
        lookup->process(lookup->arg, share->tracer, &role, &host);
        json_object_set_new(object, "process", json_name(archive, share->tracer));
        json_object_set_new(object, "host", json_name(archive, host));
        json_object_set_new(object, "role", json_string(role_name(role)));
    }
    json_object_set_new(object, "resource", json_string(hdfs_resource_name(share->resource)));
    json_object_set_new(object, "function", json_name(archive, share->name));
    json_object_set_new(object, "time_ns", json_integer(share->ns));
    json_object_set_new(object, "calls", json_count(share->calls));
    return object;
}

static json_t *hdfs_json(const Why *why, const TaskHdfs *hdfs) {
    const HdfsFacts *facts = &hdfs->facts;
    json_t *object = json_object(), *resources = json_object(), *shares = json_array();
    json_object_set_new(object, "link", json_string(link_kind_name(hdfs->kind)));
    json_object_set_new(object, "confidence", json_real(hdfs->confidence));
    json_object_set_new(object, "traces", json_count(hdfs->traces));
    json_object_set_new(object, "trace", json_trace_id(hdfs->trace));
    json_object_set_new(object, "time_ns", json_integer(facts->hdfs_ns));
    json_object_set_new(object, "datanode_ns", json_integer(facts->datanode_ns));
    json_object_set_new(object, "namenode_ns", json_integer(facts->namenode_ns));
    json_object_set_new(object, "slowest_datanode_ns", json_integer(facts->slowest_ns));
    if (facts->slowest) json_object_set_new(object, "slowest_datanode", json_name(why->asked->archive, facts->slowest));
    json_object_set_new(object, "calls", json_count(facts->top_calls));
    json_object_set_new(object, "failures", json_count(facts->failures));
    json_object_set_new(object, "bytes", json_integer(facts->bytes));
    json_object_set_new(object, "remote_bytes", json_integer(facts->remote_bytes));
    for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++)
        json_object_set_new(resources, hdfs_resource_name((HdfsResource)i), json_integer(facts->of[i]));
    json_object_set_new(object, "resources_ns", resources);
    for (guint i = 0; i < facts->shares->len && i < SHARES_SHOWN; i++)
        json_array_append_new(shares, share_json(why->asked->archive, &g_array_index(facts->shares, HdfsShare, i)));
    json_object_set_new(object, "shares", shares);
    return object;
}

/* The cause that is named first, and for HDFS whom. with_evidence: and what shows it. */
static json_t *main_json(const Why *why, const Evidence *evidence, const TaskHdfs *hdfs, gboolean with_evidence,
                         GError **error) {
    const guint32 row = why->stragglers->list[evidence->straggler].task;
    const Feature *feature = task_feature(why->tasks->table, evidence->feature);
    const double explains_ms = cause_explains_ms(evidence, why->tasks->table, row, &why->options);
    json_t *object = json_object();
    json_object_set_new(object, "feature", json_string(feature->name));
    json_object_set_new(object, "topic", json_string(feature_topic_name(feature->topic)));
    json_object_set_new(object, "explains_ns", json_integer((gint64)(explains_ms * NS_PER_MS)));
    json_object_set_new(object, "excess_ns", json_integer((gint64)(MAX(evidence->excess_ms, 0) * NS_PER_MS)));
    if (feature->topic != TOPIC_HDFS || !hdfs) return object;
    Suspect suspect;
    if (!suspect_find(why->asked->archive, hdfs, &suspect)) return object;
    suspects_add(why->suspects, &suspect, explains_ms, why->tasks->table->begin_ms[row]);
    json_t *whom = suspect_json(why->asked->archive, &suspect);
    json_object_set_new(object, "suspect", whom);
    if (!with_evidence || suspect_add_evidence(why->asked, hdfs, &suspect, whom, error)) return object;
    json_decref(object);
    return NULL;
}

/* list: where the straggler is told of; NULL: only its suspect counts. */
static gboolean add_straggler(Why *why, guint32 straggler, json_t *list, GError **error) {
    const guint32 from = why->first[straggler], n = why->first[straggler + 1] - from;
    const Evidence *evidence = &g_array_index(why->evidence, Evidence, from);
    const guint32 row = why->stragglers->list[straggler].task;
    const TaskHdfs *hdfs = NULL;
    json_t *main = NULL;
    if (!app_hdfs_task(why->hdfs, row, &hdfs, error)) return FALSE;
    const gint first = main_cause(evidence, n, why->tasks->table, &why->options, row);
    if (first >= 0 && !(main = main_json(why, &evidence[first], hdfs, list != NULL, error))) return FALSE;
    if (!list) {
        json_decref(main);
        return TRUE;
    }
    json_t *object = straggler_json(why->tasks, why->stragglers, straggler);
    json_t *causes = json_array(), *near = json_array();
    json_array_append_new(list, object);
    for (guint i = 0; i < n; i++) {
        json_t *item = evidence_json(why->tasks->table, &evidence[i]);
        json_array_append_new(evidence[i].verdict == VERDICT_CAUSE ? causes : near, item);
    }
    if (main) json_object_set_new(object, "main_cause", main);
    json_object_set_new(object, "causes", causes);
    json_object_set_new(object, "near", near);
    if (hdfs) json_object_set_new(object, "hdfs", hdfs_json(why, hdfs));
    return TRUE;
}

/* ---- the answer ---- */

static gboolean asked_for(const Why *why, guint32 row) {
    const AppStage *stage = app_stage(why->tasks, why->tasks->table->stage[row]);
    if (why->stage >= 0 && stage->stage != why->stage) return FALSE;
    if (why->attempt >= 0 && stage->attempt != why->attempt) return FALSE;
    return why->task < 0 || why->tasks->tasks[row].task == why->task;
}

/* The stragglers asked for, those that lost most time first. */
static gint by_excess(gconstpointer a, gconstpointer b, gpointer arg) {
    const Why *why = arg;
    const Stragglers *all = why->stragglers;
    double excess[2];
    const guint32 index[2] = {*(const guint32 *)a, *(const guint32 *)b};
    for (int i = 0; i < 2; i++) {
        const guint32 row = all->list[index[i]].task;
        excess[i] = task_duration_ms(why->tasks->table, row) - all->stages[why->tasks->table->stage[row]].median_ms;
    }
    if (excess[0] != excess[1]) return excess[0] > excess[1] ? -1 : 1;
    return index[0] < index[1] ? -1 : 1;
}

static GArray *chosen(Why *why) {
    GArray *list = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < why->stragglers->count; i++)
        if (asked_for(why, why->stragglers->list[i].task)) g_array_append_val(list, i);
    g_array_sort_with_data(list, by_excess, why);
    return list;
}

/* How many of those chosen have a cause, and how many would have one without HDFS. */
static void add_counts(const Why *why, const GArray *list, json_t *answer) {
    guint explained = 0, without = 0, by_hdfs = 0;
    for (guint i = 0; i < list->len; i++) {
        const guint32 straggler = g_array_index(list, guint32, i);
        gboolean any = FALSE, other = FALSE;
        for (guint32 k = why->first[straggler]; k < why->first[straggler + 1]; k++) {
            const Evidence *evidence = &g_array_index(why->evidence, Evidence, k);
            if (evidence->verdict != VERDICT_CAUSE) continue;
            any = TRUE;
            if (task_feature(why->tasks->table, evidence->feature)->topic != TOPIC_HDFS) other = TRUE;
        }
        explained += any;
        without += other;
        by_hdfs += any && !other;
    }
    json_object_set_new(answer, "stragglers_total", json_count(list->len));
    json_object_set_new(answer, "explained", json_count(explained));
    json_object_set_new(answer, "explained_without_hdfs", json_count(without));
    json_object_set_new(answer, "explained_by_hdfs_alone", json_count(by_hdfs));
    const AppHdfsCounts counts = app_hdfs_counts(why->hdfs);
    json_t *linked = json_object();
    for (guint kind = 0; kind < LINK_KIND_COUNT; kind++)
        json_object_set_new(linked, link_kind_name((LinkKind)kind), json_count(counts.linked[kind]));
    json_object_set_new(answer, "tasks_by_link", linked);
    json_object_set_new(answer, "traces_read", json_count(counts.read));
    json_object_set_new(answer, "hosts_with_samples", json_count(why->tasks->sampled_hosts));
}

static gboolean parse(Why *why, GError **error) {
    const QueryParams *params = why->asked->params;
    guint64 task = G_MAXUINT64;
    if (!asked_stage(why->asked, &why->stage, &why->attempt, error) || !params_count(params, "task", &task, error))
        return FALSE;
    why->task = task > G_MAXINT64 ? -1 : (gint64)task;
    why->options = bigroots_options(TRUE);
    return TRUE;
}

static gboolean gather(Why *why, GError **error) {
    g_autofree char *app = asked_app(why->asked, error);
    if (!app) return FALSE;
    why->tasks = app_tasks_load(why->asked->archive, app, why->asked->now_ns / NS_PER_MS, error);
    if (!why->tasks) return FALSE;
    why->stragglers = stragglers_find(why->tasks->table, STRAGGLER_RATIO);
    why->hdfs = app_hdfs_new(why->asked->archive, why->tasks, error);
    if (!why->hdfs || !app_hdfs_add_columns(why->hdfs, why->tasks, why->stragglers, error)) return FALSE;
    why->evidence = bigroots_run(why->tasks->table, why->stragglers, &why->options);
    why->first = evidence_by_straggler(why->evidence, why->stragglers->count);
    why->suspects = suspects_new();
    return TRUE;
}

json_t *answer_why(const Asked *asked, GError **error) {
    g_auto(Why) why = {.asked = asked, .stage = -1, .attempt = -1, .task = -1};
    guint64 limit = DEFAULT_LIMIT;
    if (!parse(&why, error) || !params_count(asked->params, "limit", &limit, error) || !gather(&why, error))
        return NULL;
    g_autoptr(GArray) list = chosen(&why);
    json_auto_t *answer = json_object();
    json_t *rows = json_array();
    json_object_set_new(answer, "app", json_string(why.tasks->app.app));
    if (why.tasks->app.name) json_object_set_new(answer, "name", json_string(why.tasks->app.name));
    json_object_set_new(answer, "tasks", json_count(why.tasks->table->count));
    json_object_set_new(answer, "stragglers", rows);
    const guint n = answer_rows(asked, limit, list->len, answer);
    for (guint i = 0; i < list->len && i < HDFS_STRAGGLERS_MAX; i++)
        if (!add_straggler(&why, g_array_index(list, guint32, i), i < n ? rows : NULL, error)) return NULL;
    add_counts(&why, list, answer);
    json_object_set_new(answer, "suspects", suspects_json(asked->archive, why.suspects));
    return g_steal_pointer(&answer);
}
