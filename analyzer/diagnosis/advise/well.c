#include "analyzer/diagnosis/advise/well.h"

#include <string.h>

#include "analyzer/diagnosis/advise/rules.h"
#include "common/base/allowance.h"

/* ---- is there anything to judge? ---- */

static gboolean any_stage(const AdviseFacts *facts, gboolean (*is)(const AdviseStage *stage)) {
    for (guint i = 0; i < facts->stages->len && allowance_goes_on(); i++)
        if (is(advise_stage(facts, i))) return TRUE;
    return FALSE;
}

static gboolean any_scan(const AdviseFacts *facts, gboolean (*is)(const AdviseScan *scan)) {
    for (guint i = 0; i < facts->scans->len && allowance_goes_on(); i++)
        if (is(&g_array_index(facts->scans, AdviseScan, i))) return TRUE;
    return FALSE;
}

static gboolean has_data(const AdviseStage *stage) { return reads_shuffle(stage) || reads_input(stage); }

static gboolean shuffles_rdds(const AdviseStage *stage) {
    return !stage->sql && (reads_shuffle(stage) || stage->sums[METRIC_SHUFFLE_WRITE_BYTES] > 0);
}

static gboolean ran_local(const AdviseStage *stage) { return stage->local > 0; }

static gboolean has_files(const AdviseScan *scan) { return scan->files > 0 && scan->bytes >= 0; }

static gboolean has_partitions(const AdviseScan *scan) { return scan->partitions > 1 && scan->kept >= 0; }

static gboolean of_tasks(const AdviseFacts *facts) { return facts->run_ms > 0; }

static gboolean of_shuffles(const AdviseFacts *facts) { return any_stage(facts, reads_shuffle); }

static gboolean of_input(const AdviseFacts *facts) { return any_stage(facts, reads_input); }

static gboolean of_data(const AdviseFacts *facts) { return any_stage(facts, has_data); }

static gboolean of_heap(const AdviseFacts *facts) {
    for (guint i = 0; i < facts->executors->len && allowance_goes_on(); i++)
        if (g_array_index(facts->executors, AdviseExecutor, i).heap_peak_bytes > 0) return TRUE;
    return FALSE;
}

static gboolean of_cached(const AdviseFacts *facts) { return facts->cached->len > 0 && !facts->running; }

static gboolean of_locality(const AdviseFacts *facts) {
    return facts->exclusions->len == 0 && any_stage(facts, ran_local);
}

static gboolean of_allocation(const AdviseFacts *facts) {
    return advise_flag(facts, "spark.dynamicAllocation.enabled");
}

static gboolean of_cores(const AdviseFacts *facts) { return long_enough(facts) && facts->held_ms > 0; }

static gboolean of_rdds(const AdviseFacts *facts) { return any_stage(facts, shuffles_rdds); }

static gboolean of_joins(const AdviseFacts *facts) { return facts->joins->len > 0; }

static gboolean of_files(const AdviseFacts *facts) { return any_scan(facts, has_files); }

static gboolean of_partitions(const AdviseFacts *facts) { return any_scan(facts, has_partitions); }

static gboolean of_traces(const AdviseFacts *facts) { return facts->reads->len > 0; }

/* ---- the table ---- */

static const struct {
    const char *rule;
    gboolean (*judged)(const AdviseFacts *facts);
    const char *what;
} judgements[] = {
    {"failures", of_tasks, "no task failed"},
    {"spill", of_tasks, "no stage spills more than a tenth of its data"},
    {"gc", of_tasks, "garbage collection takes less than a tenth of the time that tasks run"},
    {"skew", of_data, "no partition has four times the bytes and the time of its stage's median"},
    {"few-partitions", of_shuffles, "no shuffle has too few partitions for its data, or for the cores"},
    {"many-partitions", of_shuffles, "no shuffle has many partitions of little data"},
    {"small-input", of_input, "no stage reads its input in many small pieces"},
    {"memory", of_heap, "what executors ask for fits what they used at most"},
    {"cache", of_cached, "each RDD that is kept is read by several stages"},
    {"idle", of_cores, "executors used more than 0.7 of what they held while tasks ran"},
    {"driver", long_enough, "tasks ran in more than 0.7 of the time"},
    {"locality", of_locality, "tasks did not wait for cores where their data is"},
    {"allocation", of_allocation, "shuffle files stay when executors go"},
    {"serializer", of_rdds, "shuffles of RDDs spend little time in Java's serialized form"},
    {"broadcast", of_joins, "no join shuffles a table that is small enough to be sent to all"},
    {"small-files", of_files, "no scan reads many small files"},
    {"partition-filter", of_partitions, "no scan reads all partitions of a table for few of its rows"},
    {"node", of_traces, "no host made tasks slow"},
    {"namenode", of_traces, "tasks did not wait long for the NameNode"},
    {"small-reads", of_traces, "tasks do not read HDFS by little at a time"},
    {"remote-reads", of_traces, "tasks did not wait long for bytes of other hosts"},
    {"short-circuit", of_traces, "tasks did not wait long for bytes of their own host's DataNode"},
};

/* What could not be judged of HDFS is one for all its rules. */
static gboolean is_of(const char *rule, gboolean traces, const char *other) {
    return strcmp(rule, other) == 0 || (traces && strcmp(other, "hdfs") == 0);
}

static gboolean is_told(const Advice *advice, const char *rule, gboolean traces) {
    for (guint i = 0; i < advice->findings->len; i++)
        if (strcmp(((const Finding *)g_ptr_array_index(advice->findings, i))->rule, rule) == 0) return TRUE;
    for (guint i = 0; i < advice->unknown->len; i++)
        if (is_of(rule, traces, g_array_index(advice->unknown, Unknown, i).rule)) return TRUE;
    return FALSE;
}

void advise_well(const AdviseFacts *facts, Advice *advice) {
    for (guint i = 0; i < G_N_ELEMENTS(judgements); i++) {
        const Well well = {judgements[i].rule, judgements[i].what};
        if (judgements[i].judged(facts) && !is_told(advice, well.rule, judgements[i].judged == of_traces))
            g_array_append_val(advice->well, well);
    }
}
