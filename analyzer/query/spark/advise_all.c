#include "analyzer/query/spark/advise_all.h"

#include <string.h>

#include "analyzer/diagnosis/advise/advise.h"
#include "analyzer/query/spark/entry_facts.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define DEFAULT_LIMIT 20u
/* Applications of more tasks are judged alone. */
#define TASKS_MOST 200000u
#define APPS_MOST  1000u

/* One rule, over all applications. */
typedef struct RuleSum {
    const char *rule; /* static */
    guint apps;
    double cost_ms, saves_ms, most_ms;
    char *app, *what; /* where it costs most */
    const void *last; /* the application that was counted last */
} RuleSum;

typedef struct AllAdvice {
    const Asked *asked;
    GHashTable *rules; /* rule -> RuleSum */
    GPtrArray *rows;   /* json_t, in our hands */
    guint judged, skipped, others;
    Severity worst;
} AllAdvice;

static void rule_free(gpointer data) {
    RuleSum *sum = data;
    g_free(sum->app);
    g_free(sum->what);
    g_free(sum);
}

static void all_clear(AllAdvice *all) {
    g_hash_table_unref(all->rules);
    g_ptr_array_unref(all->rows);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AllAdvice, all_clear)

/* ---- one application ---- */

/* What its findings cost together: not more than it used. */
static double cost_of(const Advice *advice, const AdviseFacts *facts, double *saves_ms) {
    double cost_ms = 0;
    *saves_ms = 0;
    for (guint i = 0; i < advice->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(advice->findings, i);
        cost_ms += finding->cost_ms;
        *saves_ms += finding->saves_ms;
    }
    const double used_ms = MAX(facts->held_ms, facts->task_ms);
    *saves_ms = MIN(*saves_ms, used_ms);
    return MIN(cost_ms, used_ms);
}

static void add_sums(json_t *row, const Advice *advice, const AdviseFacts *facts) {
    double saves_ms = 0;
    const double cost_ms = cost_of(advice, facts, &saves_ms);
    const Finding *first = advice->findings->len > 0 ? g_ptr_array_index(advice->findings, 0) : NULL;
    json_add_text(row, "severity", severity_name(advice_severity(advice)));
    json_object_set_new(row, "findings", json_count(advice->findings->len));
    json_object_set_new(row, "used_ns", json_ns_of_ms(MAX(facts->held_ms, facts->task_ms)));
    json_object_set_new(row, "cost_ns", json_ns_of_ms(cost_ms));
    json_object_set_new(row, "saves_ns", json_ns_of_ms(saves_ms));
    if (first == NULL) return;
    json_add_text(row, "rule", first->rule);
    json_add_text(row, "what", first->what);
}

/* Why it cannot be judged among others, as a static text; NULL with facts, or with an error that ends the answer. */
static const char *load_one(const Asked *asked, const AppEntry *entry, EntryFacts *loaded, GError **error) {
    g_autoptr(GError) failure = NULL;
    if (entry->records[SPARK_TASK] > TASKS_MOST) return "more than 200,000 tasks";
    if (entry_facts_load(loaded, asked, entry, NULL, &failure)) return NULL;
    entry_facts_clear(loaded);
    *loaded = (EntryFacts){.facts = NULL};
    if (g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_CORRUPT)) return "its records are damaged: plumb verify";
    if (g_error_matches(failure, PLUMB_ERROR, PLUMB_ERROR_LIMIT) && allowance_forgive())
        return "it takes more memory than one question may";
    g_propagate_error(error, g_steal_pointer(&failure));
    return NULL;
}

gboolean add_advice_of(const Asked *asked, const AppEntry *entry, json_t *row, GError **error) {
    g_auto(EntryFacts) loaded = {.facts = NULL};
    const char *why = load_one(asked, entry, &loaded, error);
    if (why == NULL && loaded.facts == NULL) return FALSE;
    json_t *object = json_object();
    json_object_set_new(row, "advice", object);
    if (why != NULL) {
        json_add_text(object, "not_judged", why);
        return TRUE;
    }
    g_autoptr(Advice) advice = advise(loaded.facts, FALSE);
    add_sums(object, advice, loaded.facts);
    return TRUE;
}

/* ---- all of them ---- */

static void add_rule(AllAdvice *all, const AppEntry *entry, const Finding *finding) {
    RuleSum *sum = g_hash_table_lookup(all->rules, finding->rule);
    if (sum == NULL) {
        sum = g_new0(RuleSum, 1);
        sum->rule = finding->rule;
        g_hash_table_insert(all->rules, (gpointer)finding->rule, sum);
    }
    sum->apps += sum->last != entry;
    sum->last = entry;
    sum->cost_ms += finding->cost_ms;
    sum->saves_ms += finding->saves_ms;
    if (sum->app != NULL && finding->cost_ms <= sum->most_ms) return;
    sum->most_ms = finding->cost_ms;
    g_free(sum->app);
    g_free(sum->what);
    sum->app = g_strdup(entry->key);
    sum->what = g_strdup(finding->what);
}

static gboolean judge(AllAdvice *all, const AppEntry *entry, GError **error) {
    g_auto(EntryFacts) loaded = {.facts = NULL};
    const char *why = load_one(all->asked, entry, &loaded, error);
    all->skipped += why != NULL;
    if (loaded.facts == NULL) return why != NULL;
    g_autoptr(Advice) advice = advise(loaded.facts, FALSE);
    json_t *row = json_object();
    json_add_app(all->asked, row, entry);
    add_sums(row, advice, loaded.facts);
    g_ptr_array_add(all->rows, row);
    for (guint i = 0; i < advice->findings->len; i++) add_rule(all, entry, g_ptr_array_index(advice->findings, i));
    all->worst = MAX(all->worst, advice_severity(advice));
    all->judged++;
    return TRUE;
}

/* Did it run within the period? */
static gboolean wanted(const AppEntry *entry, const Period *period) {
    const SparkApp *app = entry->app;
    const gint64 begin_ms = app != NULL && app->start_ms >= 0 ? app->start_ms : entry->begin_ms;
    const gint64 last_ms = app != NULL ? MAX(app->end_ms, app->last_event_ms) : -1;
    const gint64 end_ms = MAX(begin_ms, last_ms >= 0 ? last_ms : entry->written_ms);
    return begin_ms < period->until_ns / NS_PER_MS && end_ms >= period->since_ns / NS_PER_MS;
}

static gboolean judge_all(AllAdvice *all, const AppList *list, const Period *period, GError **error) {
    for (guint i = 0; i < list->entries->len && allowance_goes_on(); i++) {
        const AppEntry *entry = &g_array_index(list->entries, AppEntry, i);
        if (!wanted(entry, period) || entry->records[SPARK_TASK] == 0) continue;
        if (all->judged == APPS_MOST)
            all->others++;
        else if (!judge(all, entry, error))
            return FALSE;
    }
    return TRUE;
}

/* ---- the answer ---- */

static gint by_cost(gconstpointer a, gconstpointer b) {
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    const json_int_t left = json_integer_value(json_object_get(x, "cost_ns"));
    const json_int_t right = json_integer_value(json_object_get(y, "cost_ns"));
    return left != right ? (left > right ? -1 : 1) : 0;
}

static json_t *rules_json(const AllAdvice *all) {
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, all->rules);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const RuleSum *sum = value;
        json_t *object = json_object();
        json_add_text(object, "rule", sum->rule);
        json_object_set_new(object, "apps", json_count(sum->apps));
        json_object_set_new(object, "cost_ns", json_ns_of_ms(sum->cost_ms));
        json_object_set_new(object, "saves_ns", json_ns_of_ms(sum->saves_ms));
        json_add_text(object, "app", sum->app);
        json_add_text(object, "what", sum->what);
        g_ptr_array_add(order, object);
    }

    g_ptr_array_sort(order, by_cost);
    json_t *list = json_array();
    for (guint i = 0; i < order->len; i++) json_array_append_new(list, g_ptr_array_index(order, i));
    return list;
}

static json_t *all_json(const AllAdvice *all, guint64 limit) {
    json_t *answer = json_object(), *apps = json_array();
    g_ptr_array_sort(all->rows, by_cost);
    const guint n = answer_rows(all->asked, limit, all->rows->len, answer);
    for (guint i = 0; i < n; i++) json_array_append(apps, g_ptr_array_index(all->rows, i));
    json_add_text(answer, "severity", severity_name(all->worst));
    json_object_set_new(answer, "judged", json_count(all->judged));
    json_object_set_new(answer, "too_large", json_count(all->skipped));
    json_object_set_new(answer, "not_looked_at", json_count(all->others));
    json_object_set_new(answer, "rules", rules_json(all));
    json_object_set_new(answer, "apps", apps);
    return answer;
}

static void row_free(gpointer row) { json_decref(row); }

json_t *answer_advise_all(const Asked *asked, GError **error) {
    Period period = {G_MININT64, G_MAXINT64};
    guint64 limit = DEFAULT_LIMIT;
    if (g_strcmp0(params_text(asked->params, "method"), "drelephant") == 0) {
        fail(error, PLUMB_ERROR_INPUT, "Dr. Elephant's table is of one application: add app");
        return NULL;
    }
    if (!params_period(asked->params, asked->now_ns, &period, error) ||
        !params_count(asked->params, "limit", &limit, error))
        return NULL;
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    if (list == NULL) return NULL;

    g_auto(AllAdvice) all = {
        .asked = asked,
        .rules = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, rule_free),
        .rows = g_ptr_array_new_with_free_func(row_free),
    };
    return judge_all(&all, list, &period, error) ? all_json(&all, limit) : NULL;
}
