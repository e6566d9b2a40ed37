/* The rules, each a function that adds what it finds; private to this folder. */
#pragma once

#include "analyzer/diagnosis/advise/finding.h"

#define MIB                (1024.0 * 1024)
#define PARTITION_BYTES    (128 * MIB) /* what a partition of a shuffle should have */
#define MOST_PARTITIONS    4000.0
#define LEAST_APP_MS       60000.0 /* below, the start of the JVMs is most of it */
#define NODES_MATTER_SHARE 0.05    /* of task time: then waiting is not the job's doing */

void rule_spill(const AdviseFacts *facts, Advice *advice);
void rule_few_partitions(const AdviseFacts *facts, Advice *advice);
void rule_many_partitions(const AdviseFacts *facts, Advice *advice);
void rule_small_input(const AdviseFacts *facts, Advice *advice);
void rule_skew(const AdviseFacts *facts, Advice *advice);
void rule_memory(const AdviseFacts *facts, Advice *advice);
void rule_gc(const AdviseFacts *facts, Advice *advice);
void rule_cache(const AdviseFacts *facts, Advice *advice);
void rule_idle(const AdviseFacts *facts, Advice *advice);
void rule_driver(const AdviseFacts *facts, Advice *advice);
void rule_locality(const AdviseFacts *facts, Advice *advice);
void rule_allocation(const AdviseFacts *facts, Advice *advice);
void rule_serializer(const AdviseFacts *facts, Advice *advice);
void rule_failures(const AdviseFacts *facts, Advice *advice);
void rule_broadcast(const AdviseFacts *facts, Advice *advice);
void rule_small_files(const AdviseFacts *facts, Advice *advice);
void rule_partition_filter(const AdviseFacts *facts, Advice *advice);
void rule_hdfs(const AdviseFacts *facts, Advice *advice);
void rule_nodes(const AdviseFacts *facts, Advice *advice);

/* Do slow hosts explain enough that times do not tell of the job? Then says so for the rule. */
gboolean hosts_to_blame(const AdviseFacts *facts, Advice *advice, const char *rule);
/* Did the application end, and is the start of its JVMs not most of it? */
gboolean long_enough(const AdviseFacts *facts);
/* Is it of a local master, where the driver runs the tasks? */
gboolean runs_in_driver(const AdviseFacts *facts);
/* "spark.executor.memory"; there that of the driver. */
const char *memory_key(const AdviseFacts *facts);
/* What executors of a profile asked for, in bytes: of heap, and beside it. */
double memory_asked(const AdviseFacts *facts, gint64 profile);
double overhead_asked(const AdviseFacts *facts, gint64 profile);
/* Where the program gave the profile, it must change it. */
void change_memory(Finding *finding, const AdviseFacts *facts, gint64 profile, double bytes);
void change_overhead(Finding *finding, const AdviseFacts *facts, gint64 profile, double bytes);
/* The number of partitions that a shuffle is read in: the key that sets it. */
const char *partitions_key(const AdviseStage *stage);
gboolean reads_shuffle(const AdviseStage *stage);
gboolean reads_input(const AdviseStage *stage);
gboolean is_skewed(const AdviseStage *stage);
/* Of the executors' cores and that of tasks: share of a sum, 0 of nothing. */
double share_of(double part, double whole);
