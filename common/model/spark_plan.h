/* A query of Spark SQL as event logs tell it: its plan, node by node, and what its nodes counted. */
#pragma once

#include "common/model/spark_values.h"

/* What a log may make of one query; what is beyond is left out. */
#define PLAN_NODES_MOST      2000u
#define PLAN_DEPTH_MOST      200u
#define PLAN_METRICS_MOST    64u   /* of a node */
#define PLAN_VALUES_MOST     4096u /* of a stage, or of one event */
#define PLAN_NODE_TEXT_BYTES 512u  /* of a node's text and of what is told of its files */

typedef struct SparkPlanMetric {
    const char *name, *type; /* "spill size"; "sum", "size", "timing" (ms), "nsTiming", "average" */
    gint64 accumulator;
} SparkPlanMetric;
typedef struct SparkPlanMetrics {
    const SparkPlanMetric *items;
    guint32 n;
} SparkPlanMetrics;

typedef struct SparkPlanNode {
    const char *name;    /* "Exchange" */
    const char *text;    /* "Exchange hashpartitioning(customer#12L, 200), ENSURE_REQUIREMENTS, [plan_id=42]" */
    gint64 parent;       /* index in the plan, less than its own; -1: the root */
    SparkPairs metadata; /* of a scan: Format, Location, PartitionFilters, PushedFilters */
    SparkPlanMetrics metrics;
} SparkPlanNode;
typedef struct SparkPlan {
    const SparkPlanNode *items; /* parents before their children */
    guint32 n;
} SparkPlan;

/* An execution of Spark SQL. Adaptive execution tells its plan anew while it runs: the last plan stays.
 *
 * What one event says of accumulators is a part of its own, since a later one says other accumulators. The number of a
 * part is the event's least accumulator + 1. A part has 'values', or as its plan one node without a name, whose metrics
 * belong to a subquery. */
typedef struct SparkQuery {
    const char *app;
    gint64 query; /* execution id */
    gint64 part;  /* 0: the query itself */
    gint64 submitted_ms, completed_ms;
    const char *description;
    const char *error;   /* of a query that failed */
    SparkPairs settings; /* that the program made for it, sorted by key: the selected ones of the environment */
    SparkPlan plan;
    SparkNumbers values; /* accumulator, value, accumulator, ...: what the driver counted */
} SparkQuery;
