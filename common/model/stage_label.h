/* What a stage is called in answers.
 *
 * Spark names a stage after the line of the program that asked for it. Since adaptive execution a query's stages are
 * asked for by a thread of Spark's own, so all are "$anonfun$withThreadLocalCaptured$1 at CompletableFuture.java:1768".
 * The scopes of its RDDs are the nodes of the query's plan: "Scan parquet orders", "Exchange". */
#pragma once

#include "common/model/spark.h"

/* Is it of a query of Spark SQL? Its scopes begin with a capital letter; those of RDDs are names of methods. */
gboolean spark_stage_is_sql(const SparkStage *stage);
/* "Scan parquet orders > Exchange", in the order of the work; of other stages Spark's name. NULL: it has none. Free
 * with g_free(). */
char *spark_stage_label(const SparkStage *stage);
