#include "analyzer/query/spark/tasks/app_plans.h"

#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/shared/question.h"
#include "common/base/allowance.h"
#include "common/base/pair_hash.h"
#include "common/model/plan_label.h"
#include "common/model/stage_label.h"

/* Of a stage so many nodes are named: the first ones and the last. */
#define NAMED_MOST 4u

void app_plans_free(AppPlans *plans) {
    if (plans == NULL) return;
    allowance_release(plans->held);
    g_hash_table_unref(plans->nodes);
    g_hash_table_unref(plans->stages);
    g_hash_table_unref(plans->values);
    g_hash_table_unref(plans->queries);
    g_hash_table_unref(plans->jobs);
    g_array_unref(plans->places);
    spark_records_free(plans->records);
    g_free(plans);
}

static guint stage_hash(gconstpointer key) {
    const SparkStage *stage = key;
    return (guint)((guint64)stage->stage * 31 + (guint64)stage->attempt);
}

static gboolean stage_equal(gconstpointer a, gconstpointer b) {
    const SparkStage *x = a, *y = b;
    return x->stage == y->stage && x->attempt == y->attempt;
}

/* ---- loading ---- */

/* Spark tells a plan that is used again, an exchange or what was cached, whole at each place, with the accumulators
 * that it had at the first: it is named and counted there. */
static void add_node(AppPlans *plans, const SparkQuery *query, guint32 at) {
    const SparkPlanNode *node = &query->plan.items[at];
    const PlanPlace place = {query, at};
    g_array_append_val(plans->places, place);
    for (guint32 i = 0; i < node->metrics.n; i++) {
        gint64 *accumulator = (gint64 *)&node->metrics.items[i].accumulator;
        if (!g_hash_table_contains(plans->nodes, accumulator))
            g_hash_table_insert(plans->nodes, accumulator, GUINT_TO_POINTER(plans->places->len));
    }
}

static void add_values(AppPlans *plans, const SparkNumbers *values) {
    for (guint32 i = 0; i + 1 < values->n && allowance_goes_on(); i += 2) {
        const gint64 *pair = values->items + i, *known = g_hash_table_lookup(plans->values, pair);
        if (known == NULL || *known < pair[1]) g_hash_table_insert(plans->values, (gpointer)pair, (gpointer)(pair + 1));
    }
}

static void add_query(AppPlans *plans, const SparkQuery *query) {
    if (query->part == 0) g_hash_table_insert(plans->queries, (gpointer)&query->query, (gpointer)query);
    add_values(plans, &query->values);
    for (guint32 i = 0; i < query->plan.n && allowance_goes_on(); i++) add_node(plans, query, i);
}

/* A stage that several jobs name ran for the first of them. */
static void add_job(AppPlans *plans, const SparkJob *job) {
    for (guint32 i = 0; job->query >= 0 && i < job->stages.n && allowance_goes_on(); i++)
        if (!g_hash_table_contains(plans->jobs, &job->stages.items[i]))
            g_hash_table_insert(plans->jobs, (gpointer)&job->stages.items[i], (gpointer)&job->query);
}

/* What is held of the records, and about as much for finding things in them. FALSE: it becomes too much for names. */
static gboolean hold(AppPlans *plans) {
    const gsize bytes = 2 * spark_records_bytes(plans->records);
    if (bytes > plans->held / 2 + allowance_left() / 2) return FALSE;
    allowance_hold(&plans->held, bytes);
    return allowance_goes_on();
}

static gboolean keep_query(void *arg, const void *record) {
    AppPlans *plans = arg;
    g_array_append_vals(plans->records->of[SPARK_QUERY], record, 1);
    plans->cut = !hold(plans);
    return !plans->cut;
}

AppPlans *app_plans_load(Archive *archive, const char *app_key, GError **error) {
    g_autoptr(AppPlans) plans = g_new0(AppPlans, 1);
    const SparkSelect stages = SPARK_SELECT(SPARK_STAGE, app_key), queries = SPARK_SELECT(SPARK_QUERY, app_key);
    const SparkSelect jobs = SPARK_SELECT(SPARK_JOB, app_key);
    plans->records = spark_records_new();
    plans->nodes = g_hash_table_new(pair_hash, g_int64_equal);
    plans->values = g_hash_table_new(pair_hash, g_int64_equal);
    plans->queries = g_hash_table_new(pair_hash, g_int64_equal);
    plans->jobs = g_hash_table_new(pair_hash, g_int64_equal);
    plans->stages = g_hash_table_new(stage_hash, stage_equal);
    plans->places = g_array_new(FALSE, FALSE, sizeof(PlanPlace));
    if (!archive_spark_load(archive, &stages, plans->records, error) ||
        !archive_spark_load(archive, &jobs, plans->records, error))
        return NULL;
    if (hold(plans) &&
        !archive_spark_visit(archive, &queries, plans->records, (SparkVisitor){keep_query, plans}, error))
        return NULL;
    if (!allowance_check(error)) return NULL;

    for (guint i = 0; i < plans->records->of[SPARK_QUERY]->len && allowance_goes_on(); i++)
        add_query(plans, spark_query(plans->records, i));
    for (guint i = 0; i < plans->records->of[SPARK_JOB]->len && allowance_goes_on(); i++)
        add_job(plans, spark_job(plans->records, i));
    for (guint i = 0; i < plans->records->of[SPARK_STAGE]->len && allowance_goes_on(); i++) {
        const SparkStage *stage = spark_stage(plans->records, i);
        g_hash_table_insert(plans->stages, (gpointer)stage, (gpointer)stage);
        add_values(plans, &stage->values);
    }
    return allowance_check(error) ? g_steal_pointer(&plans) : NULL;
}

const SparkStage *app_plans_stage(const AppPlans *plans, gint64 stage, gint32 attempt) {
    const SparkStage wanted = {.stage = stage, .attempt = attempt};
    return g_hash_table_lookup(plans->stages, &wanted);
}

gint64 app_plans_counted(const AppPlans *plans, const SparkPlanNode *node, const char *metric) {
    for (guint32 i = 0; i < node->metrics.n; i++) {
        if (g_strcmp0(node->metrics.items[i].name, metric) != 0) continue;
        const gint64 *value = g_hash_table_lookup(plans->values, &node->metrics.items[i].accumulator);
        return value != NULL ? *value : -1;
    }
    return -1;
}

/* ---- a stage's nodes ---- */

const PlanPlace *app_plans_place(const AppPlans *plans, gint64 accumulator) {
    const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(plans->nodes, &accumulator));
    return at > 0 ? &g_array_index(plans->places, PlanPlace, at - 1) : NULL;
}

const SparkPlanNode *app_plans_node(const AppPlans *plans, gint64 accumulator) {
    const PlanPlace *place = app_plans_place(plans, accumulator);
    return place != NULL ? &place->query->plan.items[place->node] : NULL;
}

/* Of what is cached, nodes of the query that cached it are there too: the latest is the one that works. */
const SparkQuery *app_plans_query_of(const AppPlans *plans, const SparkStage *stage) {
    const SparkQuery *latest = NULL;
    for (guint32 i = 0; i + 1 < stage->values.n; i += 2) {
        const PlanPlace *place = app_plans_place(plans, stage->values.items[i]);
        if (place == NULL || (latest != NULL && place->query->query < latest->query)) continue;
        latest = g_hash_table_lookup(plans->queries, &place->query->query);
    }
    if (latest != NULL) return latest;
    const gint64 *number = g_hash_table_lookup(plans->jobs, &stage->stage);
    return number != NULL ? g_hash_table_lookup(plans->queries, number) : NULL;
}

gint64 app_plans_query_number(const AppPlans *plans, gint64 stage) {
    const gint64 *number = g_hash_table_lookup(plans->jobs, &stage);
    return number != NULL ? *number : -1;
}

/* One byte a node of the query: did the stage count with it? */
static GByteArray *marks_of(const AppPlans *plans, const SparkQuery *query, const SparkStage *stage) {
    GByteArray *marks = g_byte_array_sized_new(query->plan.n);
    g_byte_array_set_size(marks, query->plan.n);
    memset(marks->data, 0, marks->len);
    for (guint32 i = 0; i + 1 < stage->values.n; i += 2) {
        const PlanPlace *place = app_plans_place(plans, stage->values.items[i]);
        if (place != NULL && place->query == query) marks->data[place->node] = 1;
    }
    return marks;
}

/* NULL, or the node above all that the stage worked for, when it makes a broadcast of them: it counts in the driver. */
static const SparkPlanNode *broadcast_of(const SparkQuery *query, const GByteArray *marks) {
    guint32 top = 0;
    while (top < marks->len && !marks->data[top]) top++;
    if (top == marks->len) return NULL;
    for (gint64 at = query->plan.items[top].parent; at >= 0 && at < (gint64)top;) {
        const SparkPlanNode *node = &query->plan.items[at];
        if (plan_node_is(node, "BroadcastExchange")) return node;
        if (!plan_node_is_minor(node) || node->parent >= at) return NULL;
        at = node->parent;
    }
    return NULL;
}

static void add_label(GPtrArray *labels, char *label) {
    g_autofree char *added = label;
    for (guint i = 0; added != NULL && i < labels->len; i++)
        if (strcmp(g_ptr_array_index(labels, i), added) == 0) return;
    if (added != NULL) g_ptr_array_add(labels, g_steal_pointer(&added));
}

/* Children come after their parents in the plan, and before them in the work. */
static GPtrArray *labels_of(const SparkQuery *query, const GByteArray *marks) {
    GPtrArray *labels = g_ptr_array_new_with_free_func(g_free);
    for (guint32 i = marks->len; i > 0; i--) {
        const SparkPlanNode *node = &query->plan.items[i - 1];
        if (marks->data[i - 1] && !plan_node_is_minor(node)) add_label(labels, plan_node_label(node));
    }
    const SparkPlanNode *broadcast = broadcast_of(query, marks);
    if (broadcast != NULL) add_label(labels, plan_node_label(broadcast));
    return labels;
}

static char *joined(const GPtrArray *labels) {
    GString *name = g_string_new(NULL);
    for (guint i = 0; i < labels->len; i++) {
        if (labels->len > NAMED_MOST && i == NAMED_MOST - 1) {
            g_string_append(name, " > ...");
            i = labels->len - 1;
        }
        g_string_append_printf(name, "%s%s", i > 0 ? " > " : "", (const char *)g_ptr_array_index(labels, i));
    }
    return g_string_free(name, FALSE);
}

char *app_plans_stage_name(const AppPlans *plans, const SparkStage *stage) {
    const SparkQuery *query = app_plans_query_of(plans, stage);
    if (query == NULL) return spark_stage_label(stage);
    g_autoptr(GByteArray) marks = marks_of(plans, query, stage);
    g_autoptr(GPtrArray) labels = labels_of(query, marks);
    return labels->len > 0 ? joined(labels) : spark_stage_label(stage);
}

/* ---- rows of answers ---- */

static void name_rows(const AppPlans *plans, json_t *rows) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const gint64 attempt = json_integer_value(json_object_get(row, "stage_attempt"));
        const SparkStage *stage =
            app_plans_stage(plans, json_integer_value(json_object_get(row, "stage")), (gint32)attempt);
        g_autofree char *name = stage != NULL ? app_plans_stage_name(plans, stage) : NULL;
        if (name != NULL) json_object_set_new(row, "stage_name", json_text(name, strlen(name)));
    }
}

gboolean app_stage_names_add(Archive *archive, const char *app_key, json_t *const *lists, guint n, GError **error) {
    gsize rows = 0;
    for (guint i = 0; i < n; i++) rows += json_array_size(lists[i]);
    if (rows == 0) return TRUE;
    g_autoptr(AppPlans) plans = app_plans_load(archive, app_key, error);
    if (plans == NULL) return FALSE;
    for (guint i = 0; i < n; i++) name_rows(plans, lists[i]);
    return TRUE;
}
