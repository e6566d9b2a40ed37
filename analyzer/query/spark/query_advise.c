/* What to change in an application of Spark, and what that saves. */
#include <string.h>

#include "analyzer/diagnosis/advise/advise.h"
#include "analyzer/diagnosis/advise/drelephant.h"
#include "analyzer/query/spark/advise_all.h"
#include "analyzer/query/spark/app_causes.h"
#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/entry_facts.h"
#include "analyzer/query/spark/simulation.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/stage_waits.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* Whom tasks waited for is looked for in applications of so many tasks: the columns of more take too much memory. */
#define NODES_TASKS_MOST 200000u
#define MIB              (1024.0 * 1024)

/* ---- hosts that made tasks slow ---- */

static void add_node(AdviseFacts *facts, const AdviseNode *node) {
    for (guint i = 0; i < facts->nodes->len; i++) {
        AdviseNode *known = &g_array_index(facts->nodes, AdviseNode, i);
        if (strcmp(known->host, node->host) != 0 || strcmp(known->role, node->role) != 0 ||
            strcmp(known->resource, node->resource) != 0)
            continue;
        known->tasks++;
        known->explains_ms += node->explains_ms;
        return;
    }
    g_array_append_val(facts->nodes, *node);
}

static void add_stage_loss(AdviseFacts *facts, const AppStage *stage, double ms) {
    for (guint i = 0; i < facts->stages->len; i++) {
        AdviseStage *known = advise_stage(facts, i);
        if (known->stage == stage->stage && known->attempt == stage->attempt) known->node_ms += ms;
    }
}

/* A straggler whose main cause is a host: one of HDFS that it waited for, or its own, busy with what others do. */
static gboolean node_of(const Asked *asked, const AppCauses *causes, const StragglerCause *cause, SparkRecords *texts,
                        AdviseNode *node) {
    const TaskTable *table = causes->tasks->table;
    const guint32 row = cause_row(causes, cause);
    const AppStage *stage = app_stage(causes->tasks, table->stage[row]);
    *node = (AdviseNode){
        .tasks = 1, .explains_ms = cause->explains_ms, .stage = stage->stage, .task = causes->tasks->tasks[row].task};
    if (cause->in_hdfs && cause->suspect.host != 0) {
        gsize length = 0;
        const char *host = dict_text(archive_dict(asked->archive), cause->suspect.host, &length);
        node->host = spark_text_shared(texts, host, length);
        node->role = role_name(cause->suspect.role);
        node->resource = hdfs_resource_name(cause->suspect.resource);
        return TRUE;
    }

    if (cause->evidence < 0) return FALSE;
    const Evidence *evidence = &g_array_index(causes->evidence, Evidence, cause->evidence);
    const Feature *feature = task_feature(table, evidence->feature);
    const char *host = app_host(causes->tasks, row);
    if (feature->kind != FEATURE_RESOURCE || host == NULL) return FALSE;
    node->host = spark_text_shared(texts, host, strlen(host));
    node->role = "worker";
    node->resource = feature_topic_name(feature->topic);
    return TRUE;
}

/* ---- how HDFS was read ---- */

typedef struct ReadsSum {
    const TaskTable *table;
    AdviseReads reads;
} ReadsSum;

static void add_reads_of(void *arg, guint32 row, const TaskHdfs *hdfs) {
    ReadsSum *sum = arg;
    AdviseReads *reads = &sum->reads;
    const HdfsFacts *facts = &hdfs->facts;
    reads->tasks++;
    reads->task_ms += (double)task_duration_ms(sum->table, row);
    reads->hdfs_ms += (double)facts->hdfs_ns / NS_PER_MS;
    reads->opening_ms += (double)facts->opening_ns / NS_PER_MS;
    reads->network_ms += (double)(facts->of[HDFS_SOCKET] + facts->of[HDFS_NETWORK]) / NS_PER_MS;
    reads->bytes += (double)facts->bytes;
    reads->remote_bytes += (double)facts->remote_bytes;
    reads->own_bytes += (double)facts->own_bytes;
    reads->local_bytes += (double)facts->local_bytes;
    reads->opens += facts->opens;
    reads->calls += facts->reads;
}

static gboolean has_input(const AdviseFacts *facts, const AppStage *stage) {
    for (guint i = 0; i < facts->stages->len && allowance_goes_on(); i++) {
        const AdviseStage *known = advise_stage(facts, i);
        if (known->stage == stage->stage && known->attempt == stage->attempt)
            return known->sums[METRIC_INPUT_BYTES] > 0;
    }
    return FALSE;
}

static gboolean add_reads(AdviseFacts *facts, AppCauses *causes, GError **error) {
    guint32 left = STAGE_TASKS_READ_ALL;
    for (guint32 s = 0; s < causes->stragglers->n_stages && left >= STAGE_TASKS_READ; s++) {
        const AppStage *stage = app_stage(causes->tasks, s);
        if (!has_input(facts, stage)) continue;
        ReadsSum sum = {causes->tasks->table, {.stage = stage->stage, .attempt = stage->attempt}};
        if (!app_hdfs_visit_stage(causes->hdfs, causes->stragglers, s,
                                  (TaskHdfsVisitor){add_reads_of, &sum, STAGE_TASKS_READ}, error))
            return FALSE;
        if (sum.reads.tasks > 0) g_array_append_val(facts->reads, sum.reads);
        left -= STAGE_TASKS_READ;
    }
    return TRUE;
}

static gboolean add_nodes(const Asked *asked, AdviseFacts *facts, SparkRecords *texts, GError **error) {
    const BigRootsOptions options = bigroots_options(TRUE);
    g_autoptr(AppCauses) causes = app_causes_load(asked, facts->app->app, &options, error);
    if (causes == NULL) return FALSE;
    for (guint i = 0; i < causes->causes->len; i++) {
        const StragglerCause *cause = &g_array_index(causes->causes, StragglerCause, i);
        AdviseNode node;
        if (!node_of(asked, causes, cause, texts, &node)) continue;
        add_node(facts, &node);
        const guint32 number = causes->tasks->table->stage[cause_row(causes, cause)];
        add_stage_loss(facts, app_stage(causes->tasks, number), node.explains_ms);
    }
    return add_reads(facts, causes, error);
}

/* ---- JSON ---- */

static json_t *numbers_json(const GArray *numbers) {
    json_t *list = json_array();
    for (guint i = 0; i < numbers->len; i++)
        json_array_append_new(list, json_integer(g_array_index(numbers, gint64, i)));
    return list;
}

static json_t *changes_json(const Finding *finding) {
    json_t *list = json_array();
    for (guint i = 0; i < finding->changes->len; i++) {
        const Change *change = &g_array_index(finding->changes, Change, i);
        json_t *object = json_object();
        json_add_text(object, "key", change->key);
        json_add_text(object, "from", change->from);
        json_add_text(object, "to", change->to);
        json_object_set_new(object, "set", json_boolean(change->set));
        if (change->conflict) json_object_set_new(object, "conflict", json_true());
        if (change->program) json_object_set_new(object, "program", json_true());
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *finding_json(const Finding *finding) {
    json_t *object = json_object(), *evidence = json_array();
    json_add_text(object, "rule", finding->rule);
    json_add_text(object, "what", finding->what);
    json_add_text(object, "severity", severity_name(finding_severity(finding)));
    json_add_text(object, "certainty", certainty_name(finding->certainty));
    json_object_set_new(object, "node", json_boolean(finding->node));
    json_add_text(object, "host", finding->host);
    json_add_text(object, "role", finding->role);
    if (finding->partitions > 0) json_object_set_new(object, "partitions", json_count(finding->partitions));
    json_object_set_new(object, "cost_ns", json_ns_of_ms(finding->cost_ms));
    json_object_set_new(object, "saves_ns", json_ns_of_ms(finding->saves_ms));
    json_set_number(object, "share", finding->share);
    json_object_set_new(object, "stages", numbers_json(finding->stages));
    json_object_set_new(object, "tasks", numbers_json(finding->tasks));
    for (guint i = 0; i < finding->evidence->len; i++) {
        const char *text = g_ptr_array_index(finding->evidence, i);
        json_array_append_new(evidence, json_text(text, strlen(text)));
    }

    json_object_set_new(object, "evidence", evidence);
    json_object_set_new(object, "changes", changes_json(finding));
    json_add_text(object, "formula", finding->formula);
    json_add_text(object, "advice", finding->advice);
    json_add_text(object, "risk", finding->risk);
    return object;
}

static json_t *conf_json(const Advice *advice) {
    json_t *list = json_array();
    g_autoptr(GPtrArray) changes = advice_changes(advice);
    for (guint i = 0; i < changes->len; i++) {
        const Change *change = g_ptr_array_index(changes, i);
        json_t *object = json_object();
        json_add_text(object, "key", change->key);
        json_add_text(object, "value", change->to);
        json_array_append_new(list, object);
    }
    return list;
}

static void add_sums(json_t *answer, const AdviseFacts *facts) {
    guint64 tasks = 0;
    for (guint i = 0; i < facts->stages->len; i++) tasks += advise_stage(facts, i)->tasks;
    json_object_set_new(answer, "running", json_boolean(facts->running));
    json_object_set_new(answer, "tasks", json_count(tasks));
    json_object_set_new(answer, "task_ns", json_ns_of_ms(facts->task_ms));
    json_object_set_new(answer, "run_ns", json_ns_of_ms(facts->run_ms));
    json_object_set_new(answer, "gc_ns", json_ns_of_ms(facts->gc_ms));
    json_object_set_new(answer, "held_ns", json_ns_of_ms(facts->held_ms));
    json_object_set_new(answer, "quiet_ns", json_ns_of_ms(facts->quiet_ms));
    json_object_set_new(answer, "executors", json_count(facts->executors->len));
    json_object_set_new(answer, "slots", json_count(facts->slots));
    json_object_set_new(answer, "most_tasks", json_count(facts->most_tasks));
}

static void add_advice(json_t *answer, const Advice *advice) {
    json_t *findings = json_array(), *unknown = json_array();
    for (guint i = 0; i < advice->findings->len; i++)
        json_array_append_new(findings, finding_json(g_ptr_array_index(advice->findings, i)));
    for (guint i = 0; i < advice->unknown->len; i++) {
        const Unknown *one = &g_array_index(advice->unknown, Unknown, i);
        json_t *object = json_object();
        json_add_text(object, "rule", one->rule);
        json_add_text(object, "why", one->why);
        json_array_append_new(unknown, object);
    }
    json_t *well = json_array();
    for (guint i = 0; i < advice->well->len; i++) {
        const Well *one = &g_array_index(advice->well, Well, i);
        json_array_append_new(well, json_pack("{s:s,s:s}", "rule", one->rule, "what", one->what));
    }

    json_add_text(answer, "severity", severity_name(advice_severity(advice)));
    json_object_set_new(answer, "findings", findings);
    json_object_set_new(answer, "conf", conf_json(advice));
    json_object_set_new(answer, "unknown", unknown);
    json_object_set_new(answer, "well", well);
}

/* ---- Dr. Elephant's table ---- */

static json_t *rules_json(const Elephant *elephant, guint group) {
    json_t *rules = json_array();
    for (guint i = 0; i < elephant->rows->len; i++) {
        const ElephantRow *row = &g_array_index(elephant->rows, ElephantRow, i);
        if ((guint)row->group != group) continue;
        json_t *object = json_object();
        json_add_text(object, "rule", row->rule);
        if (row->known) json_add_text(object, "severity", severity_name(row->severity));
        json_add_text(object, "value", row->value);
        json_add_text(object, "note", row->note);
        json_array_append_new(rules, object);
    }
    return rules;
}

static void add_elephant(json_t *answer, const AdviseFacts *facts, const ElephantLimits *limits) {
    g_autoptr(Elephant) elephant = elephant_judge(facts, limits);
    json_t *groups = json_array();
    for (guint i = 0; i < ELEPHANT_GROUPS; i++) {
        json_t *object = json_object();
        json_add_text(object, "group", elephant_group_name((ElephantGroup)i));
        json_add_text(object, "severity", severity_name(elephant->groups[i]));
        json_object_set_new(object, "score", json_count(elephant->scores[i]));
        json_object_set_new(object, "rules", rules_json(elephant, i));
        json_array_append_new(groups, object);
    }
    json_add_text(answer, "severity", severity_name(elephant->severity));
    json_object_set_new(answer, "score", json_count(elephant->score));
    json_object_set_new(answer, "groups", groups);
}

/* ---- the answer ---- */

static gboolean hosts_judged(const AppEntry *entry) { return entry->records[SPARK_TASK] <= NODES_TASKS_MOST; }

static gboolean add_hosts(const Asked *asked, const AppEntry *entry, EntryFacts *all, GError **error) {
    return !hosts_judged(entry) || entry->app == NULL || add_nodes(asked, all->facts, all->texts, error);
}

/* NULL with *error. */
static json_t *our_answer(const Asked *asked, const AppEntry *entry, EntryFacts *loaded, GError **error) {
    gboolean all = FALSE;
    const AdviseFacts *facts = loaded->facts;
    if (!params_flag(asked->params, "all", &all, error) || !add_hosts(asked, entry, loaded, error)) return NULL;
    g_autoptr(Advice) advice = advise(facts, all);
    if (!hosts_judged(entry)) advice_unknown(advice, "node", "more than 200,000 tasks: plumb why tells of slow hosts");
    json_t *answer = json_object();
    json_add_app(asked, answer, entry);
    add_sums(answer, facts);
    add_advice(answer, advice);
    return answer;
}

/* What a node has for containers, as it is told: "16c,64g". */
static gboolean put_node(const Asked *asked, AdviseFacts *facts, SparkRecords *texts, GError **error) {
    const char *node = params_text(asked->params, "node");
    if (node == NULL) return TRUE;
    char *end;
    const double cores = g_ascii_strtod(node, &end);
    const double bytes = strncmp(end, "c,", 2) == 0 ? bytes_parse(end + 2, 1) : -1;
    if (end == node || !(cores >= 1 && cores <= 1e6) || bytes <= 0)
        return fail(error, PLUMB_ERROR_INPUT, "node: cores and memory of a node, such as 16c,64g");

    g_autofree char *vcores = g_strdup_printf("%.0f", cores), *mib = g_strdup_printf("%.0f", bytes / MIB);
    const SparkPair told[] = {
        {"yarn.nodemanager.resource.cpu-vcores", spark_text(texts, vcores, strlen(vcores))},
        {"yarn.nodemanager.resource.memory-mb", spark_text(texts, mib, strlen(mib))},
    };
    g_array_append_vals(facts->program, told, G_N_ELEMENTS(told));
    return TRUE;
}

static gboolean limits_told(const Asked *asked, ElephantLimits *limits, GError **error) {
    const char *told = params_text(asked->params, "limits");
    elephant_limits_init(limits);
    return told == NULL || elephant_limits_parse(limits, told, error);
}

static json_t *elephant_answer(const Asked *asked, const AppEntry *entry, const AdviseFacts *facts,
                               const ElephantLimits *limits) {
    json_t *answer = json_object();
    json_add_app(asked, answer, entry);
    json_object_set_new(answer, "method", json_string("drelephant"));
    json_add_text(answer, "limits", params_text(asked->params, "limits"));
    add_sums(answer, facts);
    add_elephant(answer, facts, limits);
    return answer;
}

static json_t *simulated_answer(const Asked *asked, const AppEntry *entry, EntryFacts *all, const SimApp *sim,
                                GError **error) {
    if (!add_hosts(asked, entry, all, error)) return NULL;
    g_autoptr(Advice) advice = advise(all->facts, TRUE);
    json_t *answer = json_object();
    json_add_app(asked, answer, entry);
    add_sums(answer, all->facts);
    json_add_simulation(answer, all->facts, sim, advice);
    return answer;
}

json_t *answer_advise(const Asked *asked, GError **error) {
    static const char *const methods[] = {"ours", "drelephant", NULL};
    guint method = 0;
    gboolean simulate = FALSE;
    if (!params_flag(asked->params, "simulate", &simulate, error)) return NULL;
    if (!params_choice(asked->params, "method", methods, &method, error)) return NULL;
    const gboolean all_apps = params_text(asked->params, "app") == NULL && params_text(asked->params, "since") != NULL;
    static const char *const of_elephant[] = {"node", "limits"};
    for (guint i = 0; method == 0 && i < G_N_ELEMENTS(of_elephant); i++) {
        if (params_text(asked->params, of_elephant[i]) == NULL) continue;
        fail(error, PLUMB_ERROR_INPUT, "%s is for method=drelephant", of_elephant[i]);
        return NULL;
    }
    ElephantLimits limits;
    if (!limits_told(asked, &limits, error)) return NULL;
    if (simulate && (all_apps || method != 0)) {
        fail(error, PLUMB_ERROR_INPUT, "simulate is of one application (app), and of no method");
        return NULL;
    }
    if (all_apps) return answer_advise_all(asked, error);
    if (params_text(asked->params, "since") != NULL || params_text(asked->params, "until") != NULL) {
        fail(error, PLUMB_ERROR_INPUT, "an application is judged whole: leave out since and until, or app");
        return NULL;
    }
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    const AppEntry *entry = list != NULL ? asked_app_entry(asked, list, error) : NULL;
    if (entry == NULL) return NULL;

    g_auto(EntryFacts) all = {.facts = NULL};
    g_autoptr(SimApp) sim = simulate ? sim_app_new() : NULL;
    if (!entry_facts_load(&all, asked, entry, sim, error)) return NULL;
    if (sim != NULL) return simulated_answer(asked, entry, &all, sim, error);
    if (method == 1 && !put_node(asked, all.facts, all.texts, error)) return NULL;
    return method == 0 ? our_answer(asked, entry, &all, error) : elephant_answer(asked, entry, all.facts, &limits);
}
