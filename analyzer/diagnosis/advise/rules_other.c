/* Rules about serialisation, failures, and hosts that are slow. */
#include "analyzer/diagnosis/advise/rules.h"
#include "common/base/clock.h"

#define SERIALIZER_LEAST 0.05
#define SERIALIZER_SAVES 0.5
#define OVERHEAD_MORE    (1024 * MIB)

/* ---- the serializer ---- */

/* Spark SQL has a form of its own; only RDDs go through it. */
void rule_serializer(const AdviseFacts *facts, Advice *advice) {
    const char *name = advise_setting(facts, "spark.serializer");
    if (name == NULL || !g_str_has_suffix(name, "JavaSerializer")) return;
    double shuffled_ms = 0, bytes = 0;
    const AdviseStage *most = NULL;

    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        const double wrote = stage->sums[METRIC_SHUFFLE_WRITE_BYTES];
        if (stage->sql || (wrote <= 0 && !reads_shuffle(stage))) continue;
        shuffled_ms += stage->sums[METRIC_SHUFFLE_WRITE_NS] / (double)NS_PER_MS + stage->sums[METRIC_SERIALIZE_MS];
        bytes += wrote;
        if (most == NULL || wrote > most->sums[METRIC_SHUFFLE_WRITE_BYTES]) most = stage;
    }

    const double share = share_of(shuffled_ms, facts->run_ms);
    if (most == NULL || share < SERIALIZER_LEAST) return;
    Finding *finding = advice_add(advice, "serializer", FINDING_POSSIBLE);
    g_autofree char *stage = stage_text(most), *all = bytes_text(bytes);
    finding->what =
        g_strdup_printf("RDDs are shuffled in Java's serialized form: %.0f %% of run time writes it.", 100 * share);
    finding_evidence(finding, "%s written by shuffles of RDDs, most in %s", all, stage);
    finding_stage(finding, most);
    finding->cost_ms = shuffled_ms;
    finding->saves_ms = SERIALIZER_SAVES * shuffled_ms;
    finding->share = share_of(shuffled_ms, facts->task_ms);
    finding->formula = g_strdup("half of the time that shuffles of RDDs and results take to be written");
    finding->risk = g_strdup("Classes that Kryo cannot write fail. In Python most data is pickled, whatever is set.");
    finding_change(finding, facts, "spark.serializer", g_strdup("org.apache.spark.serializer.KryoSerializer"));
}

/* ---- failures ---- */

static void more_overhead(const AdviseFacts *facts, gint64 profile, Finding *finding) {
    const double now = overhead_asked(facts, profile);
    g_autofree char *has = bytes_text(now);
    finding->formula = g_strdup_printf("%s overhead + 1 GiB", has);
    finding->risk = g_strdup("The nodes must have the memory.");
    change_overhead(finding, facts, profile, now + OVERHEAD_MORE);
}

static const char *failure_advice(FailureClass failure) {
    switch (failure) {
    case FAILURE_FETCH:
        return "Shuffle files were gone or their host did not answer: look why their executors went; with slow hosts "
               "spark.network.timeout and spark.shuffle.io.maxRetries bound it.";
    case FAILURE_MEMORY: return "Smaller partitions or fewer cores in an executor help as well.";
    case FAILURE_PREEMPTED: return "Others had precedence in the cluster: another queue, or other hours.";
    case FAILURE_HOST: return "Its executor went: plumb nodes and the executor's log say why.";
    default: return "The program fails: its own stack says where.";
    }
}

static gint64 profile_of(const AdviseFacts *facts, gint64 stage) {
    for (guint i = 0; i < facts->stages->len; i++)
        if (advise_stage(facts, i)->stage == stage) return advise_stage(facts, i)->profile;
    return 0;
}

static void failure_found(const AdviseFacts *facts, FailureClass failure, Advice *advice) {
    const AdviseFailure *found = &facts->failures[failure];
    Finding *finding = advice_add(advice, "failures", FINDING_SURE);
    const gboolean heap = found->reason != NULL && failure_of_heap(found->reason);
    const gint64 profile = profile_of(facts, found->stage);

    finding->what = g_strdup_printf("%u %s failed (%s).", found->tasks, found->tasks == 1 ? "task" : "tasks",
                                    failure_class_name(failure));
    finding_evidence(finding, "task %" G_GINT64_FORMAT " of stage %" G_GINT64_FORMAT "%s%s", found->task, found->stage,
                     found->reason != NULL ? ": " : "", found->reason != NULL ? found->reason : "");
    finding_task(finding, found->task);
    g_array_append_val(finding->stages, found->stage);
    finding->cost_ms = finding->saves_ms = found->wasted_ms;
    finding->share = share_of(found->wasted_ms, facts->task_ms);
    finding->fails = TRUE;
    finding->node = failure == FAILURE_HOST;
    finding->advice = g_strdup(failure_advice(failure));
    for (guint i = 0; i < facts->exclusions->len; i++) {
        g_autofree char *text = spark_exclusion_text(&g_array_index(facts->exclusions, SparkExclusion, i));
        finding_evidence(finding, "%s", text);
    }
    if (failure != FAILURE_MEMORY) return;
    if (!heap) {
        more_overhead(facts, profile, finding);
        return;
    }
    const double asked = memory_asked(facts, profile);
    g_autofree char *has = bytes_text(asked);
    finding->formula = g_strdup_printf("%s asked x 1.5", has);
    finding->risk = g_strdup("The nodes must have the memory.");
    change_memory(finding, facts, profile, asked * 1.5);
}

void rule_failures(const AdviseFacts *facts, Advice *advice) {
    for (guint failure = 0; failure < FAILURE_CLASSES; failure++)
        if (facts->failures[failure].tasks > 0) failure_found(facts, (FailureClass)failure, advice);
}

/* ---- hosts ---- */

/* Hedged reads ask a second replica when the first is slow. */
static const char *datanode_advice(const AdviseFacts *facts) {
    if (advise_number(facts, "dfs.replication") == 1)
        return "No setting of the job helps. With one replica (dfs.replication 1) there is no second one to read from.";
    if (advise_number(facts, "dfs.client.hedged.read.threadpool.size") > 0)
        return "No setting of the job helps. Reads from a second replica are on already: "
               "dfs.client.hedged.read.threshold.millis says after how long.";
    return "No setting of the job helps. Reads from a second replica "
           "(spark.hadoop.dfs.client.hedged.read.threadpool.size 20) would bound it.";
}

void rule_nodes(const AdviseFacts *facts, Advice *advice) {
    for (guint i = 0; i < facts->nodes->len; i++) {
        const AdviseNode *node = &g_array_index(facts->nodes, AdviseNode, i);
        const double share = share_of(node->explains_ms, facts->task_ms);
        if (share < 0.02 || node->tasks == 0) continue;
        Finding *finding = advice_add(advice, "node", FINDING_LIKELY);

        const gboolean datanode = g_strcmp0(node->role, "datanode") == 0;
        finding->what =
            g_strdup_printf("The %s of %s %s made %u tasks slow.", node->resource, node->role, node->host, node->tasks);
        finding_evidence(
            finding, "%.1f s of their time, first task %" G_GINT64_FORMAT " of stage %" G_GINT64_FORMAT " (plumb why)",
            node->explains_ms / 1e3, node->task, node->stage);
        finding_task(finding, node->task);
        g_array_append_val(finding->stages, node->stage);
        finding->cost_ms = node->explains_ms;
        finding->share = share;
        finding->node = TRUE;
        finding->host = node->host;
        finding->role = node->role;
        finding->advice = g_strdup(datanode ? datanode_advice(facts) : "No setting of the job helps.");
    }
}
