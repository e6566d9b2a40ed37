/* The stragglers of an application, with what made each slow by one of five methods. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/ledger/ledger_json.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/straggler_rows.h"
#include "analyzer/query/spark/tasks/app_plans.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "analyzer/query/spark/tasks/task_hdfs.h"
#include "common/base/clock.h"
#include "common/base/error.h"

typedef enum { BY_BIGROOTS, BY_PCC, BY_MANTRI, BY_XUE, BY_LEDGER } Method;
static const char *const methods[] = {"bigroots", "pcc", "mantri", "xue", "ledger", NULL};
typedef enum { HDFS_AUTO, HDFS_NO, HDFS_YES } HdfsWanted;
typedef enum { SORT_EXCESS, SORT_SCALE, SORT_DURATION, SORT_STAGE } Sorting;

/* Links are looked for task by task: of more tasks than this only when asked. */
#define HDFS_TASKS_AUTO 50000u

typedef struct Wanted {
    gint64 stage, attempt; /* -1: all */
    guint method, hdfs, sort;
    double ratio;
    guint64 limit;
    BigRootsOptions bigroots;
    PccOptions pcc;
    LedgerOptions ledger;
} Wanted;

static gboolean parse(const Asked *asked, Wanted *wanted, GError **error) {
    static const char *const hdfs[] = {"auto", "no", "yes", NULL};
    static const char *const sorts[] = {"excess_ns", "scale", "duration_ns", "stage", NULL};
    static const char *const scopes[] = {"stage", "application", NULL};

    const QueryParams *params = asked->params;
    *wanted = (Wanted){.ratio = STRAGGLER_RATIO, .pcc = pcc_options()};
    guint scope = 0;

    if (!asked_bigroots(asked, &wanted->bigroots, error) || !asked_ledger(asked, &wanted->ledger, error) ||
        !asked_stage(asked, &wanted->stage, &wanted->attempt, error) ||
        !params_count(params, "limit", &wanted->limit, error) ||
        !params_choice(params, "method", methods, &wanted->method, error) ||
        !params_choice(params, "hdfs", hdfs, &wanted->hdfs, error) ||
        !params_choice(params, "sort", sorts, &wanted->sort, error) ||
        !params_choice(params, "scope", scopes, &scope, error) ||
        !params_real(params, "ratio", &wanted->ratio, error) ||
        !params_real(params, "lambda_ca", &wanted->pcc.lambda_ca, error) ||
        !params_real(params, "lambda_cq", &wanted->pcc.lambda_cq, error))
        return FALSE;

    if (wanted->ratio < 1) return fail(error, PLUMB_ERROR_INPUT, "ratio is a multiple of the median: give 1 or more");
    if (wanted->pcc.lambda_cq > 1) return fail(error, PLUMB_ERROR_INPUT, "lambda_cq is a quantile: give 0 to 1");

    wanted->pcc.whole_application = scope == 1;
    wanted->ledger.small = wanted->bigroots.keep == KEEP_ALL;
    return TRUE;
}

/* ---- methods ---- */

typedef struct Found {
    const AppTasks *tasks;
    const Stragglers *stragglers;
    const Wanted *wanted;
    const AppHdfs *hdfs;     /* NULL: traces were not read */
    const AppLedger *ledger; /* BY_LEDGER */
    GArray *items;           /* Evidence, Blame, or LedgerCause, by straggler */
    const guint32 *first;    /* of each straggler's */
} Found;

/* A sum of what is known; NAN when nothing is. */
static double sum_of(double a, double b) { return isnan(a) ? b : isnan(b) ? a : a + b; }

static double value_of(const TaskTable *table, gint feature, guint32 row) {
    return feature >= 0 ? task_feature(table, (guint)feature)->values[row] : NAN;
}

static GArray *run_mantri(const AppTasks *tasks, const Stragglers *stragglers) {
    const TaskTable *table = tasks->table;
    const gint input = task_table_find(table, "read_bytes"), shuffle = task_table_find(table, "shuffle_read_bytes");
    const gint hdfs = task_table_find(table, "hdfs_remote_bytes");
    g_autofree double *read_bytes = g_new(double, table->count), *cross_rack = g_new(double, table->count);
    for (guint32 i = 0; i < table->count; i++) {
        const double remote = tasks->tasks[i].remote_bytes >= 0 ? (double)tasks->tasks[i].remote_bytes : NAN;
        read_bytes[i] = sum_of(value_of(table, input, i), value_of(table, shuffle, i));
        cross_rack[i] = sum_of(remote, value_of(table, hdfs, i));
    }
    /* Of the network's features it names the one for bytes, or what is left of the shuffle. */
    const gint network = task_table_find(table, "network");
    const MantriAmounts amounts = {read_bytes, cross_rack, input, network >= 0 ? network : shuffle};
    return mantri_run(table, stragglers, &amounts);
}

static GArray *run_method(const AppTasks *tasks, const Stragglers *stragglers, const Wanted *wanted) {
    switch ((Method)wanted->method) {
    case BY_PCC: return pcc_run(tasks->table, stragglers, &wanted->pcc);
    case BY_MANTRI: return run_mantri(tasks, stragglers);
    case BY_XUE: return xue_run(tasks->table, stragglers);
    case BY_LEDGER:
    case BY_BIGROOTS: break;
    }
    return bigroots_run(tasks->table, stragglers, &wanted->bigroots);
}

static gboolean is_cause(const Found *found, guint item) {
    if (found->ledger) return !g_array_index(found->items, LedgerCause, item).small;
    return found->wanted->method != BY_BIGROOTS || g_array_index(found->items, Evidence, item).verdict == VERDICT_CAUSE;
}

static json_t *item_json(const Found *found, guint item) {
    const TaskTable *table = found->tasks->table;
    if (found->ledger) return ledger_cause_json(found->ledger, &g_array_index(found->items, LedgerCause, item));
    if (found->wanted->method != BY_BIGROOTS) return json_blame(table, &g_array_index(found->items, Blame, item));
    return evidence_json(table, &g_array_index(found->items, Evidence, item));
}

/* Causes as they are counted: features of the table, then the machine, then parts of ledgers. */
static guint kinds_of_causes(const Found *found) { return found->tasks->table->features->len + 1 + LEDGER_PART_COUNT; }

static guint cause_kind(const Found *found, guint item) {
    const guint n_features = found->tasks->table->features->len;
    if (found->ledger) {
        const LedgerCause *cause = &g_array_index(found->items, LedgerCause, item);
        const gint feature = ledger_cause_feature(found->ledger, cause);
        return feature >= 0 ? (guint)feature : n_features + 1 + cause->part;
    }
    if (found->wanted->method == BY_BIGROOTS) return g_array_index(found->items, Evidence, item).feature;
    const gint feature = g_array_index(found->items, Blame, item).feature;
    return feature >= 0 ? (guint)feature : n_features;
}

static const char *cause_kind_name(const Found *found, guint kind) {
    const guint n_features = found->tasks->table->features->len;
    if (kind < n_features) return task_feature(found->tasks->table, kind)->name;
    return kind == n_features ? "machine" : ledger_part_name((LedgerPart)(kind - n_features - 1));
}

/* ---- which of them are shown ---- */

typedef struct Shown {
    guint32 straggler;
    double key;
} Shown;

static int by_key(const void *left, const void *right) {
    const Shown *a = left, *b = right;
    if (a->key != b->key) return a->key > b->key ? -1 : 1;
    return a->straggler < b->straggler ? -1 : 1;
}

static double excess_ms(const Found *found, guint32 straggler) {
    const guint32 row = found->stragglers->list[straggler].task;
    const TaskTable *table = found->tasks->table;
    return task_duration_ms(table, row) - found->stragglers->stages[table->stage[row]].median_ms;
}

static double key_of(const Found *found, guint32 straggler) {
    const Straggler *item = &found->stragglers->list[straggler];
    switch ((Sorting)found->wanted->sort) {
    case SORT_SCALE: return item->scale;
    case SORT_DURATION: return task_duration_ms(found->tasks->table, item->task);
    case SORT_STAGE: return 0;
    case SORT_EXCESS: break;
    }
    return excess_ms(found, straggler);
}

static gboolean stage_wanted(const Found *found, guint32 stage) {
    const AppStage *asked = app_stage(found->tasks, stage);
    return (found->wanted->stage < 0 || asked->stage == found->wanted->stage) &&
           (found->wanted->attempt < 0 || asked->attempt == found->wanted->attempt);
}

static GArray *choose(const Found *found) {
    GArray *shown = g_array_new(FALSE, FALSE, sizeof(Shown));
    for (guint32 i = 0; i < found->stragglers->count; i++) {
        const guint32 row = found->stragglers->list[i].task;
        if (!stage_wanted(found, found->tasks->table->stage[row])) continue;
        const Shown item = {i, key_of(found, i)};
        g_array_append_val(shown, item);
    }
    g_array_sort(shown, by_key);
    return shown;
}

/* ---- the answer ---- */

static json_t *row_json(const Found *found, guint32 straggler) {
    json_t *object = straggler_json(found->tasks, found->stragglers, straggler);
    json_t *causes = json_array(), *dropped = json_array();
    json_object_set_new(object, "excess_ns", json_integer((gint64)(excess_ms(found, straggler) * NS_PER_MS)));
    for (guint32 i = found->first[straggler]; i < found->first[straggler + 1]; i++)
        json_array_append_new(is_cause(found, i) ? causes : dropped, item_json(found, i));
    json_object_set_new(object, "causes", causes);
    json_object_set_new(object, "near", dropped);
    if (!found->ledger) return object;
    const guint32 row = found->stragglers->list[straggler].task;
    const TaskHdfs *hdfs = found->hdfs ? app_hdfs_known(found->hdfs, row) : NULL;
    json_t *ledger = ledger_json(found->ledger, row, hdfs);
    if (ledger) json_object_set_new(object, "ledger", ledger);
    return object;
}

/* Of the stragglers shown: how often each feature is a cause, and of how many none is known. */
static void add_summary(json_t *answer, const Found *found, const GArray *shown) {
    const guint kinds = kinds_of_causes(found);
    g_autofree guint64 *counts = g_new0(guint64, kinds);
    guint64 unexplained = 0;

    for (guint i = 0; i < shown->len; i++) {
        const guint32 straggler = g_array_index(shown, Shown, i).straggler;
        guint causes = 0;
        for (guint32 k = found->first[straggler]; k < found->first[straggler + 1]; k++) {
            if (!is_cause(found, k)) continue;
            counts[cause_kind(found, k)]++;
            causes++;
        }
        unexplained += causes == 0;
    }

    json_t *list = json_array();
    for (guint kind = 0; kind < kinds; kind++) {
        if (counts[kind] == 0) continue;
        json_t *object = json_object();
        json_object_set_new(object, "feature", json_string(cause_kind_name(found, kind)));
        json_object_set_new(object, "stragglers", json_count(counts[kind]));
        json_array_append_new(list, object);
    }

    json_object_set_new(answer, "causes_total", list);
    json_object_set_new(answer, "unexplained", json_count(unexplained));
}

static json_t *stages_json(const Found *found) {
    json_t *list = json_array();
    for (guint32 s = 0; s < found->stragglers->n_stages; s++) {
        const StageTasks *stage = &found->stragglers->stages[s];
        if (!stage_wanted(found, s) || stage->n_stragglers == 0) continue;
        json_t *object = json_object();
        json_object_set_new(object, "stage", json_integer(app_stage(found->tasks, s)->stage));
        json_object_set_new(object, "stage_attempt", json_integer(app_stage(found->tasks, s)->attempt));
        json_object_set_new(object, "tasks", json_integer(stage->n));
        json_object_set_new(object, "tasks_counted", json_integer(stage->n_counted));
        json_object_set_new(object, "median_ns", json_integer((gint64)(stage->median_ms * NS_PER_MS)));
        json_object_set_new(object, "stragglers", json_integer(stage->n_stragglers));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *options_json(const Wanted *wanted) {
    json_t *object = wanted->method == BY_BIGROOTS ? json_bigroots_options(&wanted->bigroots)
                     : wanted->method == BY_LEDGER ? json_ledger_options(&wanted->ledger)
                                                   : json_object();
    if (wanted->method == BY_PCC) {
        json_set_number(object, "lambda_ca", wanted->pcc.lambda_ca);
        json_set_number(object, "lambda_cq", wanted->pcc.lambda_cq);
        json_object_set_new(object, "scope", json_string(wanted->pcc.whole_application ? "application" : "stage"));
    }
    json_object_set_new(object, "method", json_string(methods[wanted->method]));
    json_set_number(object, "ratio", wanted->ratio);
    return object;
}

static json_t *answer_json(const Asked *asked, const Found *found, GError **error) {
    json_t *answer = json_object(), *list = json_array();
    g_autoptr(GArray) shown = choose(found);

    json_object_set_new(answer, "app", json_string(found->tasks->app.app));
    if (found->tasks->app.name) json_object_set_new(answer, "name", json_string(found->tasks->app.name));
    json_object_set_new(answer, "options", options_json(found->wanted));
    json_object_set_new(answer, "tasks", json_integer(found->tasks->table->count));
    json_object_set_new(answer, "hosts", json_integer(found->tasks->hosts->len));
    json_object_set_new(answer, "hosts_with_samples", json_integer(found->tasks->sampled_hosts));
    const AppHdfsCounts counts = found->hdfs ? app_hdfs_counts(found->hdfs) : (AppHdfsCounts){.read = 0};
    json_object_set_new(answer, "traces_read", json_integer(counts.read));
    json_object_set_new(answer, "stages", stages_json(found));
    json_object_set_new(answer, "stragglers_total", json_integer(shown->len));
    add_summary(answer, found, shown);

    const guint n = answer_rows(asked, found->wanted->limit, shown->len, answer);
    for (guint i = 0; i < n; i++)
        json_array_append_new(list, row_json(found, g_array_index(shown, Shown, i).straggler));
    json_object_set_new(answer, "stragglers", list);

    json_t *const named[] = {list, json_object_get(answer, "stages")};
    if (app_stage_names_add(asked->archive, found->tasks->app.app, named, G_N_ELEMENTS(named), error)) return answer;
    json_decref(answer);
    return NULL;
}

static gboolean wants_hdfs(const Wanted *wanted, const AppTasks *tasks) {
    return wanted->hdfs == HDFS_YES || (wanted->hdfs == HDFS_AUTO && tasks->table->count <= HDFS_TASKS_AUTO);
}

json_t *answer_stragglers(const Asked *asked, GError **error) {
    Wanted wanted;
    if (!parse(asked, &wanted, error)) return NULL;
    g_autofree char *app = asked_app(asked, error);
    if (!app) return NULL;
    g_autoptr(AppTasks) tasks = app_tasks_load(asked->archive, app, asked->now_ns / NS_PER_MS, error);
    if (!tasks || !app_tasks_add_samples(tasks, asked->archive, error)) return NULL;
    g_autoptr(Stragglers) stragglers = stragglers_find(tasks->table, wanted.ratio);
    g_autoptr(AppHdfs) hdfs = NULL;
    if (wants_hdfs(&wanted, tasks)) {
        hdfs = app_hdfs_new(asked->archive, tasks, error);
        if (!hdfs || !app_hdfs_add_columns(hdfs, tasks, stragglers, error)) return NULL;
    }

    Found found = {.tasks = tasks, .stragglers = stragglers, .wanted = &wanted, .hdfs = hdfs};
    if (wanted.method == BY_LEDGER) {
        const AppLedgerInput input = {asked->archive, tasks, stragglers, hdfs, wanted.ledger};
        g_autoptr(AppLedger) ledger = app_ledger_load(&input, error);
        if (!ledger) return NULL;
        found.ledger = ledger;
        found.items = ledger->causes;
        found.first = ledger->first;
        return answer_json(asked, &found, error);
    }

    g_autoptr(GArray) items = run_method(tasks, stragglers, &wanted);
    g_autofree guint32 *first = sort_by_straggler(items, stragglers->count);
    found.items = items;
    found.first = first;
    return answer_json(asked, &found, error);
}
