#include "analyzer/query/spark/advise/plan_facts.h"

#include <string.h>

#include "common/base/allowance.h"
#include "common/base/pair_hash.h"
#include "common/model/plan_label.h"

typedef struct Adding {
    AdviseFacts *facts;
    const AppPlans *plans;
    SparkRecords *texts;
    GHashTable *stages;   /* accumulator -> SparkStage: the first that counted with it */
    GHashTable *settings; /* key -> index + 1 in facts->program */
    const SparkQuery *query;
} Adding;

static const SparkPlanNode *node_at(const SparkQuery *query, gint64 at) { return &query->plan.items[at]; }

static const char *label_of(const SparkPlanNode *node, SparkRecords *texts) {
    g_autofree char *label = plan_node_label(node);
    return label != NULL ? spark_text_shared(texts, label, strlen(label)) : NULL;
}

static const char *metric_named(const SparkPlanNode *node, gint64 accumulator) {
    for (guint32 i = 0; i < node->metrics.n; i++)
        if (node->metrics.items[i].accumulator == accumulator) return node->metrics.items[i].name;
    return NULL;
}

/* -1: nobody. */
static gint64 stage_of(const Adding *adding, const SparkPlanNode *node) {
    for (guint32 i = 0; i < node->metrics.n; i++) {
        const SparkStage *stage = g_hash_table_lookup(adding->stages, &node->metrics.items[i].accumulator);
        if (stage != NULL) return stage->stage;
    }
    return -1;
}

static double counted(const Adding *adding, const SparkPlanNode *node, const char *metric) {
    return (double)app_plans_counted(adding->plans, node, metric);
}

/* ---- scans ---- */

/* The filter above a scan, before anything that does more than pass rows on. */
static const SparkPlanNode *filter_above(const SparkQuery *query, gint64 at) {
    for (gint64 above = node_at(query, at)->parent; above >= 0 && above < at; above = node_at(query, at)->parent) {
        at = above;
        if (plan_node_is(node_at(query, at), "Filter")) return node_at(query, at);
        if (!plan_node_is_minor(node_at(query, at))) return NULL;
    }
    return NULL;
}

static void add_scan(const Adding *adding, gint64 at) {
    const SparkPlanNode *node = node_at(adding->query, at), *filter = filter_above(adding->query, at);
    const char *filters = plan_node_metadata(node, "PartitionFilters");
    const AdviseScan scan = {
        .name = label_of(node, adding->texts),
        .query = adding->query->query,
        .stage = stage_of(adding, node),
        .files = counted(adding, node, "number of files read"),
        .bytes = counted(adding, node, "size of files read"),
        .partitions = counted(adding, node, "number of partitions read"),
        .rows = counted(adding, node, "number of output rows"),
        .kept = filter != NULL ? MAX(counted(adding, filter, "number of output rows"), 0) : -1,
        .by_partition = filters != NULL && strcmp(filters, "[]") != 0,
    };
    if (scan.files >= 0 && scan.name != NULL) g_array_append_val(adding->facts->scans, scan);
}

/* ---- joins ---- */

/* The number-th child; -1: there is none. Plans have each node behind its parent, the first child right behind. */
static gint64 child_of(const SparkQuery *query, gint64 at, guint number) {
    for (gint64 i = at + 1; i < (gint64)query->plan.n && allowance_goes_on(); i++)
        if (node_at(query, i)->parent == at && number-- == 0) return i;
    return -1;
}

/* What a side shuffled; -1: it is no shuffle. */
static double side_bytes(const Adding *adding, gint64 at) {
    while (at >= 0) {
        const SparkPlanNode *node = node_at(adding->query, at);
        if (plan_node_is(node, "Exchange")) return counted(adding, node, "data size");
        if (!plan_node_is(node, "Sort") && !plan_node_is_minor(node)) return -1;
        at = child_of(adding->query, at, 0);
    }
    return -1;
}

static gboolean keeps_both(const SparkPlanNode *join) {
    return join->text != NULL && strstr(join->text, "FullOuter") != NULL;
}

/* An outer join keeps the rows of one side: the other may be sent to all. */
static gboolean may_broadcast(const SparkPlanNode *join, gboolean left) {
    static const char *const rights[] = {"LeftOuter", "LeftSemi", "LeftAnti", "ExistenceJoin", NULL};
    const char *text = join->text != NULL ? join->text : "";
    if (keeps_both(join)) return FALSE;
    if (strstr(text, "RightOuter") != NULL) return left;
    for (guint i = 0; rights[i] != NULL; i++)
        if (strstr(text, rights[i]) != NULL) return !left;
    return strstr(text, "Inner") != NULL;
}

static const char *setting_of(const SparkQuery *query, const char *key) {
    for (guint32 i = 0; i < query->settings.n; i++)
        if (g_strcmp0(query->settings.items[i].key, key) == 0) return query->settings.items[i].value;
    return NULL;
}

static void add_join(const Adding *adding, gint64 at) {
    const SparkPlanNode *node = node_at(adding->query, at);
    const double left = side_bytes(adding, child_of(adding->query, at, 0));
    const double right = side_bytes(adding, child_of(adding->query, at, 1));
    if (left < 0 || right < 0) return;
    const AdviseJoin join = {
        .name = label_of(node, adding->texts),
        .query = adding->query->query,
        .stage = stage_of(adding, node),
        .small_bytes = MIN(left, right),
        .large_bytes = MAX(left, right),
        .broadcasts = may_broadcast(node, left < right),
        .whole = keeps_both(node) || strstr(node->text != NULL ? node->text : "", "ExistenceJoin") != NULL,
        .threshold = setting_of(adding->query, "spark.sql.autoBroadcastJoinThreshold"),
    };
    g_array_append_val(adding->facts->joins, join);
}

/* ---- what the program sets ---- */

static void add_setting(const Adding *adding, const SparkPair *pair) {
    GArray *program = adding->facts->program;
    const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(adding->settings, pair->key));
    if (at > 0) {
        g_array_index(program, SparkPair, at - 1).value = pair->value;
        return;
    }
    g_array_append_val(program, *pair);
    g_hash_table_insert(adding->settings, (gpointer)pair->key, GUINT_TO_POINTER(program->len));
}

/* The master and the like are never the program's: only settings of queries can be changed while it runs. */
static void add_settings(const Adding *adding) {
    const SparkPairs *settings = &adding->query->settings;
    for (guint32 i = 0; i < settings->n && allowance_goes_on(); i++) {
        const SparkPair *pair = &settings->items[i];
        if (pair->key != NULL && pair->value != NULL && g_str_has_prefix(pair->key, "spark.sql."))
            add_setting(adding, pair);
    }
}

/* What is used again stands in each plan that uses it, and is counted where it was made. */
static gboolean is_first(const Adding *adding, gint64 at) {
    const SparkPlanNode *node = node_at(adding->query, at);
    if (node->metrics.n == 0) return TRUE;
    const PlanPlace *place = app_plans_place(adding->plans, node->metrics.items[0].accumulator);
    return place != NULL && place->query == adding->query && place->node == at;
}

static void add_query(Adding *adding, const SparkQuery *query) {
    adding->query = query;
    add_settings(adding);
    for (gint64 at = 0; at < (gint64)query->plan.n && allowance_goes_on(); at++) {
        const SparkPlanNode *node = node_at(query, at);
        if (node->name == NULL || node->parent >= at || !is_first(adding, at)) continue;
        if (g_str_has_prefix(node->name, "Scan ")) add_scan(adding, at);
        if (plan_node_is(node, "SortMergeJoin") || plan_node_is(node, "ShuffledHashJoin")) add_join(adding, at);
    }
}

void plan_facts_add(AdviseFacts *facts, const AppPlans *plans, SparkRecords *texts) {
    const SparkRecords *records = plans->records;
    g_autoptr(GHashTable) stages = g_hash_table_new(pair_hash, g_int64_equal);
    g_autoptr(GHashTable) settings = g_hash_table_new(g_str_hash, g_str_equal);
    Adding adding = {facts, plans, texts, stages, settings, NULL};
    for (guint s = records->of[SPARK_STAGE]->len; s > 0 && allowance_goes_on(); s--) {
        const SparkStage *stage = spark_stage(records, s - 1);
        for (guint32 i = 0; i + 1 < stage->values.n && allowance_goes_on(); i += 2)
            g_hash_table_insert(stages, (gpointer)&stage->values.items[i], (gpointer)stage);
    }
    for (guint i = 0; i < records->of[SPARK_QUERY]->len; i++)
        if (spark_query(records, i)->part == 0) add_query(&adding, spark_query(records, i));
}

/* BatchEvalPython, MapInPandas, MapInArrow, ... */
static gboolean calls_python(const SparkPlanNode *node) {
    static const char *const parts[] = {"Python", "Pandas", "InArrow"};
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
        if (node->name != NULL && strstr(node->name, parts[i]) != NULL) return TRUE;
    return FALSE;
}

/* Nodes that count nothing may be of any stage of their query: before Spark 3.4 Python's are such ones. */
static gboolean may_call_python(const SparkQuery *query) {
    for (guint32 i = 0; query != NULL && i < query->plan.n && allowance_goes_on(); i++)
        if (query->plan.items[i].metrics.n == 0 && calls_python(&query->plan.items[i])) return TRUE;
    return FALSE;
}

void plan_facts_stage(AdviseStage *stage, const AppPlans *plans, const SparkStage *record, SparkRecords *texts) {
    const SparkQuery *query = app_plans_query_of(plans, record);
    stage->query = query != NULL ? query->query : -1;
    stage->python = may_call_python(query);
    for (guint32 i = 0; i + 1 < record->values.n; i += 2) {
        const SparkPlanNode *node = app_plans_node(plans, record->values.items[i]);
        const double bytes = (double)record->values.items[i + 1];
        stage->python = stage->python || (node != NULL && calls_python(node));
        if (node == NULL || bytes <= stage->spill_node_bytes) continue;
        if (g_strcmp0(metric_named(node, record->values.items[i]), "spill size") != 0) continue;
        stage->spill_node = label_of(node, texts);
        stage->spill_node_bytes = bytes;
    }
}
