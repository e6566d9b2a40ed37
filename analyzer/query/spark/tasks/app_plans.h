/* The plans of an application's queries, and which nodes of them each stage worked for: a stage counts with the
 * accumulators of those nodes. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/archive.h"
#include "common/model/spark_records.h"

typedef struct AppPlans {
    SparkRecords *records; /* its stages, jobs and queries */
    GHashTable *nodes;     /* accumulator -> index + 1 in 'places': of the first node that has it */
    GArray *places;        /* PlanPlace */
    GHashTable *stages;    /* SparkStage -> itself, by number and attempt */
    GHashTable *values;    /* accumulator -> gint64: the greatest that was told */
    GHashTable *queries;   /* number -> SparkQuery, of parts 0 */
    GHashTable *jobs;      /* number of a stage -> gint64: that of the query whose job has it */
    gsize held;            /* of the allowance */
    gboolean cut;          /* later queries were left out: there was no room for all */
} AppPlans;

typedef struct PlanPlace {
    const SparkQuery *query;
    guint32 node;
} PlanPlace;

/* app_key: SparkApp.app. Where the plans would take half of what the question may still have, those of the later
 * queries are left out. NULL with *error. */
AppPlans *app_plans_load(Archive *archive, const char *app_key, GError **error);
void app_plans_free(AppPlans *plans);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AppPlans, app_plans_free)

/* NULL: not known. */
const SparkStage *app_plans_stage(const AppPlans *plans, gint64 stage, gint32 attempt);
/* Its nodes in the order of the work, "Scan parquet orders > Exchange hashpartitioning(customer)"; else as
 * spark_stage_label() has it. NULL: it has no name. Free with g_free(). */
char *app_plans_stage_name(const AppPlans *plans, const SparkStage *stage);
/* The query that a stage worked for; NULL: none. */
const SparkQuery *app_plans_query_of(const AppPlans *plans, const SparkStage *stage);
/* The number of the query whose job a stage ran for, also where nothing else is known of the query; -1: none. */
gint64 app_plans_query_number(const AppPlans *plans, gint64 stage);
/* The first place of the node that counts with an accumulator; NULL: none that is known. */
const PlanPlace *app_plans_place(const AppPlans *plans, gint64 accumulator);
/* Its node; NULL: none that is known. */
const SparkPlanNode *app_plans_node(const AppPlans *plans, gint64 accumulator);
/* What a node counted under a name ("spill size"), over all its stages; -1: nothing. */
gint64 app_plans_counted(const AppPlans *plans, const SparkPlanNode *node, const char *metric);

/* Adds "stage_name" to the objects of n lists (NULL: none) that have "stage" and, of other attempts than the first,
 * "stage_attempt": where the name is known. The plans of the application are loaded for it when there are rows. */
gboolean app_stage_names_add(Archive *archive, const char *app_key, json_t *const *lists, guint n, GError **error);
