/* Rules about queries of Spark SQL, by their plans: joins that could be broadcast, files, partitions. */
#include <math.h>

#include "analyzer/diagnosis/advise/rules.h"
#include "common/base/pair_hash.h"

#define BROADCAST_MOST   (64 * MIB)         /* of the smaller side, as it was shuffled */
#define BROADCAST_TIMES  4.0                /* as large is the other side at least */
#define BROADCAST_ROOM   1.25               /* of the new threshold */
#define SHUFFLE_A_MS     (250 * MIB / 1000) /* rows to bytes, and back; with the sort of both sides */
#define SHUFFLE_MOST     0.7                /* of the run time of the stages that shuffle */
#define FILE_BYTES       (16 * MIB)
#define FILES_LEAST      200.0
#define FILE_MOST_MS     20.0              /* to open it, whatever it has */
#define READ_A_MS        (10 * MIB / 1000) /* a slow task still reads so much */
#define FILES_ROOM       4.0               /* a task reads so many of them, else the tasks are small */
#define KEPT_MOST        0.1               /* of the rows of a table by partitions that is read whole */
#define PARTITIONS_LEAST 2.0

/* number -> AdviseStage, of first attempts. */
static GHashTable *first_attempts(const AdviseFacts *facts) {
    GHashTable *stages = g_hash_table_new(pair_hash, g_int64_equal);
    for (guint i = 0; i < facts->stages->len; i++) {
        AdviseStage *stage = advise_stage(facts, i);
        if (stage->attempt == 0) g_hash_table_insert(stages, &stage->stage, stage);
    }
    return stages;
}

/* ---- joins ---- */

static void broadcast_join(const AdviseFacts *facts, const AdviseJoin *join, const AdviseStage *stage, Advice *advice) {
    const char *key = "spark.sql.autoBroadcastJoinThreshold";
    const double threshold = join->small_bytes * BROADCAST_ROOM, set = advise_bytes(facts, key, 1);
    Finding *finding = advice_add(advice, "broadcast", FINDING_POSSIBLE);
    g_autofree char *small = bytes_text(join->small_bytes), *large = bytes_text(join->large_bytes);
    g_autofree char *name = stage_text(stage);

    finding->what = g_strdup_printf("The %s of query %" G_GINT64_FORMAT " shuffles and sorts %s to join them with %s.",
                                    join->name, join->query, large, small);
    finding_evidence(finding, "%s joins two shuffles, of %s and of %s", name, large, small);
    finding_stage(finding, stage);
    finding->cost_ms =
        MIN(2 * (join->large_bytes + join->small_bytes) / SHUFFLE_A_MS, SHUFFLE_MOST * stage->sums[METRIC_RUN_MS]);
    finding->saves_ms = finding->cost_ms;
    finding->share = share_of(finding->cost_ms, facts->task_ms);
    finding->formula =
        g_strdup_printf("%s of the smaller side x 1.25; saves writing and reading %s at 250 MiB/s", small, large);
    finding->risk = g_strdup("The driver collects the smaller side, and each executor holds it. "
                             "Spark estimates sizes from files before it runs: the table may count as larger.");
    if (join->threshold != NULL)
        finding->advice = g_strdup_printf("The program sets %s to %s for it: leave that out, or set %.0f MiB.", key,
                                          join->threshold, ceil(threshold / MIB));
    else if (set < threshold)
        finding_change(finding, facts, key, bytes_setting(threshold));
    else
        finding->advice = g_strdup("The threshold would allow it, but Spark takes the table for larger: "
                                   "ANALYZE TABLE, or a broadcast() hint.");
}

void rule_broadcast(const AdviseFacts *facts, Advice *advice) {
    g_autoptr(GHashTable) stages = first_attempts(facts);
    for (guint i = 0; i < facts->joins->len; i++) {
        const AdviseJoin *join = &g_array_index(facts->joins, AdviseJoin, i);
        const AdviseStage *stage = g_hash_table_lookup(stages, &join->stage);
        if (stage == NULL || !join->broadcasts || join->small_bytes <= 0 || join->small_bytes > BROADCAST_MOST)
            continue;
        if (join->large_bytes >= BROADCAST_TIMES * join->small_bytes) broadcast_join(facts, join, stage, advice);
    }
}

/* ---- files ---- */

static void files_of_scan(const AdviseFacts *facts, const AdviseScan *scan, const AdviseStage *stage, Advice *advice) {
    const double run_ms = stage->sums[METRIC_RUN_MS], by_bytes_ms = stage->sums[METRIC_INPUT_BYTES] / READ_A_MS;
    const double wanted = MAX(ceil(scan->bytes / PARTITION_BYTES), 1);
    Finding *finding = advice_add(advice, "small-files", FINDING_POSSIBLE);
    g_autofree char *each = bytes_text(scan->bytes / scan->files), *name = stage_text(stage);

    finding->what = g_strdup_printf("%s of query %" G_GINT64_FORMAT " reads %.0f files of %s each.", scan->name,
                                    scan->query, scan->files, each);
    finding_evidence(finding, "%s: %.0f files in %u tasks", name, scan->files, stage->tasks);
    finding_stage(finding, stage);
    finding->cost_ms = CLAMP(run_ms - by_bytes_ms, 0, scan->files * FILE_MOST_MS);
    finding->saves_ms = finding->cost_ms * (1 - wanted / scan->files);
    finding->share = share_of(finding->cost_ms, facts->task_ms);
    finding->formula =
        g_strdup_printf("run time beside reading at 10 MiB/s, at most 20 ms a file; %.0f files of 128 MiB "
                        "would do",
                        wanted);
    finding->advice = g_strdup_printf("Join the files to some %.0f larger ones where they are written: "
                                      "repartition() before the write, or compaction.",
                                      wanted);
}

void rule_small_files(const AdviseFacts *facts, Advice *advice) {
    g_autoptr(GHashTable) stages = first_attempts(facts);
    for (guint i = 0; i < facts->scans->len; i++) {
        const AdviseScan *scan = &g_array_index(facts->scans, AdviseScan, i);
        const AdviseStage *stage = g_hash_table_lookup(stages, &scan->stage);
        if (stage == NULL || scan->files < FILES_LEAST || scan->bytes < 0) continue;
        if (scan->bytes / scan->files >= FILE_BYTES || scan->files < FILES_ROOM * stage->tasks) continue;
        files_of_scan(facts, scan, stage, advice);
    }
}

/* ---- partitions of tables ---- */

static void whole_table(const AdviseFacts *facts, const AdviseScan *scan, const AdviseStage *stage, Advice *advice) {
    const double kept = share_of(scan->kept, scan->rows);
    Finding *finding = advice_add(advice, "partition-filter", FINDING_POSSIBLE);
    g_autofree char *name = stage_text(stage);

    finding->what =
        g_strdup_printf("%s of query %" G_GINT64_FORMAT " reads all its %.0f partitions and keeps %.1f %% of "
                        "the rows.",
                        scan->name, scan->query, scan->partitions, 100 * kept);
    finding_evidence(finding, "%s: %.0f rows read, %.0f kept by the filter; no filter names a partition column", name,
                     scan->rows, scan->kept);
    finding_stage(finding, stage);
    finding->cost_ms = finding->saves_ms = stage->sums[METRIC_RUN_MS] * (1 - kept);
    finding->share = share_of(finding->cost_ms, facts->task_ms);
    finding->formula = g_strdup("run time of the stage x the share of rows that the filter drops: at most");
    finding->advice =
        g_strdup("Filter by the column that the table is partitioned by, where the rows that are kept lie "
                 "in few partitions; or partition the table by what is filtered.");
}

void rule_partition_filter(const AdviseFacts *facts, Advice *advice) {
    g_autoptr(GHashTable) stages = first_attempts(facts);
    for (guint i = 0; i < facts->scans->len; i++) {
        const AdviseScan *scan = &g_array_index(facts->scans, AdviseScan, i);
        const AdviseStage *stage = g_hash_table_lookup(stages, &scan->stage);
        if (stage == NULL || scan->by_partition || scan->partitions < PARTITIONS_LEAST) continue;
        if (scan->rows > 0 && scan->kept >= 0 && scan->kept <= KEPT_MOST * scan->rows)
            whole_table(facts, scan, stage, advice);
    }
}
