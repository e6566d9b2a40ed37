/* What a node of a query's plan is called in answers. */
#pragma once

#include "common/model/spark.h"

/* "Scan parquet orders" (of a scan of files without a table the folder), "Exchange hashpartitioning(customer)", else
 * the node's name: without the numbers that Spark gives to columns and the number of partitions, which differ from run
 * to run. NULL: it has no name. Free with g_free(). */
char *plan_node_label(const SparkPlanNode *node);
/* Does it only pass rows on, or stand for others ("WholeStageCodegen (2)", "Project", "AQEShuffleRead")? */
gboolean plan_node_is_minor(const SparkPlanNode *node);
gboolean plan_node_is(const SparkPlanNode *node, const char *name);
/* A value of its metadata; NULL: none. */
const char *plan_node_metadata(const SparkPlanNode *node, const char *key);
