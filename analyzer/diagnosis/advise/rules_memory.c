/* Rules about memory: asked and used, garbage collection, cached RDDs. */
#include <math.h>

#include "analyzer/diagnosis/advise/rules.h"

#define HEAP_LOW       0.5
#define HEAP_HIGH      0.9
#define HEAP_ROOM      1.25
#define HEAP_RESERVED  (300 * MIB)
#define HEAP_LEAST     (640 * MIB)
#define SMALLER_LEAST  0.75 /* a change to more than this of what is asked is none */
#define GC_HIGH        0.1  /* of run time */
#define GC_USUAL       0.05
#define GC_MORE        1.5
#define DEFAULT_MEMORY (1024 * MIB)
#define OVERHEAD_LEAST (384 * MIB)
#define OVERHEAD_SHARE 0.1
#define OVERHEAD_HIGH  0.9
#define OVERHEAD_ROOM  1.25

gboolean runs_in_driver(const AdviseFacts *facts) {
    const char *master = advise_setting(facts, "spark.master");
    return master != NULL && g_str_has_prefix(master, "local") && !g_str_has_prefix(master, "local-cluster");
}

const char *memory_key(const AdviseFacts *facts) {
    return runs_in_driver(facts) ? "spark.driver.memory" : "spark.executor.memory";
}

double memory_asked(const AdviseFacts *facts, gint64 profile) {
    const AdviseProfile *own = advise_profile(facts, profile);
    if (own != NULL && own->given.memory_bytes > 0) return (double)own->given.memory_bytes;
    const double asked = advise_bytes(facts, memory_key(facts), MIB);
    return asked > 0 ? asked : DEFAULT_MEMORY;
}

double overhead_asked(const AdviseFacts *facts, gint64 profile) {
    const AdviseProfile *own = advise_profile(facts, profile);
    if (own != NULL && own->given.overhead_bytes > 0) return (double)own->given.overhead_bytes;
    const double factor = advise_number(facts, "spark.executor.memoryOverheadFactor");
    double set = advise_bytes(facts, "spark.executor.memoryOverhead", MIB);
    if (set <= 0) set = advise_bytes(facts, "spark.yarn.executor.memoryOverhead", MIB); /* its name before 2.3 */
    if (set > 0) return set;
    return MAX(OVERHEAD_LEAST, (factor > 0 ? factor : OVERHEAD_SHARE) * memory_asked(facts, profile));
}

static void change_given(Finding *finding, gint64 profile, const char *what, double asked, double bytes) {
    g_autofree char *to = bytes_setting(bytes), *from = bytes_text(asked);
    g_free(finding->advice);
    finding->advice = g_strdup_printf("The program gives these stages resource profile %" G_GINT64_FORMAT
                                      ": ask for %s(\"%s\") there, not for %s.",
                                      profile, what, to, from);
}

void change_memory(Finding *finding, const AdviseFacts *facts, gint64 profile, double bytes) {
    if (advise_profile(facts, profile) != NULL)
        change_given(finding, profile, "memory", memory_asked(facts, profile), bytes);
    else
        finding_change(finding, facts, memory_key(facts), bytes_setting(bytes));
}

void change_overhead(Finding *finding, const AdviseFacts *facts, gint64 profile, double bytes) {
    if (advise_profile(facts, profile) != NULL)
        change_given(finding, profile, "memoryOverhead", overhead_asked(facts, profile), bytes);
    else
        finding_change(finding, facts, "spark.executor.memoryOverhead", bytes_setting(bytes));
}

static gboolean has_off_heap(const AdviseFacts *facts) { return advise_flag(facts, "spark.memory.offHeap.enabled"); }

/* What a container has beside heap and overhead, of its own. */
static double others_asked(const AdviseFacts *facts, gint64 profile) {
    const AdviseProfile *own = advise_profile(facts, profile);
    double off_heap = has_off_heap(facts) ? advise_bytes(facts, "spark.memory.offHeap.size", 1) : 0;
    double python = advise_bytes(facts, "spark.executor.pyspark.memory", MIB);
    if (own != NULL && own->given.off_heap_bytes >= 0) off_heap = (double)own->given.off_heap_bytes;
    if (own != NULL && own->given.python_bytes >= 0) python = (double)own->given.python_bytes;
    return MAX(off_heap, 0) + MAX(python, 0);
}

/* ---- what was asked for and what was used ---- */

/* Executors of one profile; those whose profile the log does not tell have the settings'. */
static gboolean has_profile(const AdviseExecutor *executor, gint64 profile) {
    return MAX(executor->profile, 0) == profile;
}

static const AdviseExecutor *most_heap(const AdviseFacts *facts, gint64 profile) {
    const AdviseExecutor *most = NULL;
    for (guint i = 0; i < facts->executors->len; i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        if (executor->tasks == 0 || !has_profile(executor, profile)) continue;
        if (most == NULL || executor->heap_peak_bytes > most->heap_peak_bytes) most = executor;
    }
    return most != NULL && most->heap_peak_bytes > 0 ? most : NULL;
}

/* Of the heap that Spark gives to execution and storage, as it measured it. What they may have counts memory beside the
 * heap, too, which the peak does not. */
static void unified_evidence(const AdviseFacts *facts, const AdviseExecutor *executor, Finding *finding) {
    if (executor->unified_peak_bytes <= 0 || executor->memory_bytes <= 0 || has_off_heap(facts)) return;
    g_autofree char *had = bytes_text(executor->unified_peak_bytes), *may = bytes_text(executor->memory_bytes);
    finding_evidence(finding, "execution and storage had %s of the %s that they may have", had, may);
}

static void memory_low(const AdviseFacts *facts, const AdviseExecutor *most, Advice *advice) {
    const double peak = most->heap_peak_bytes, asked = memory_asked(facts, most->profile);
    const double enough = MAX(peak * HEAP_ROOM + HEAP_RESERVED, HEAP_LEAST);
    if (enough > SMALLER_LEAST * asked) return;
    Finding *finding = advice_add(advice, "memory", FINDING_LIKELY);
    g_autofree char *used = bytes_text(peak), *has = bytes_text(asked);
    finding->what = g_strdup_printf("Executors ask for %s of heap and use %s at most.", has, used);
    finding_evidence(finding, "executor %s had most: %s, %.0f %% of what it asked for", most->id, used,
                     100 * peak / asked);
    unified_evidence(facts, most, finding);
    finding->formula = g_strdup_printf("%s peak x 1.25 + 300 MiB, at least 640 MiB", used);
    finding->risk = g_strdup("A run over more data needs more.");
    change_memory(finding, facts, most->profile, enough);
}

static void memory_high(const AdviseFacts *facts, const AdviseExecutor *most, Advice *advice) {
    const double peak = most->heap_peak_bytes, asked = memory_asked(facts, most->profile);
    Finding *finding = advice_add(advice, "memory", FINDING_POSSIBLE);
    g_autofree char *used = bytes_text(peak), *has = bytes_text(asked);
    finding->what = g_strdup_printf("The heap of executor %s was nearly full: %s of %s.", most->id, used, has);
    finding_evidence(finding, "executor %s: %.0f %% of the heap that it asked for", most->id, 100 * peak / asked);
    unified_evidence(facts, most, finding);
    finding->formula = g_strdup_printf("%s peak x 1.25 + 300 MiB", used);
    finding->risk = g_strdup("The nodes must have the memory.");
    change_memory(finding, facts, most->profile, peak * HEAP_ROOM + HEAP_RESERVED);
}

/* What all processes of an executor had resident, where Spark measured it, each at its peak: the container is killed
 * when they have more together than it asked for. */
static void overhead_high(const AdviseFacts *facts, gint64 profile, Advice *advice) {
    const AdviseExecutor *most = NULL;
    for (guint i = 0; i < facts->executors->len; i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        if (!has_profile(executor, profile)) continue;
        if (most == NULL || executor->resident_bytes > most->resident_bytes) most = executor;
    }
    const double others = others_asked(facts, profile), asked = memory_asked(facts, profile) + others;
    const double overhead = overhead_asked(facts, profile);
    if (most == NULL || most->resident_bytes <= asked + OVERHEAD_HIGH * overhead) return;

    Finding *finding = advice_add(advice, "memory", FINDING_LIKELY);
    g_autofree char *had = bytes_text(most->resident_bytes), *heap = bytes_text(asked), *beside = bytes_text(overhead);
    const char *heap_name = others > 0 ? "heap, off-heap and Python" : "heap";
    finding->what = g_strdup_printf("Executor %s had up to %s resident, of %s of %s and %s beside it.", most->id, had,
                                    heap, heap_name, beside);
    finding_evidence(finding, "resident memory of all its processes, each at its peak: %s", had);
    finding->formula = g_strdup_printf("(%s resident - %s of %s) x 1.25", had, heap, heap_name);
    finding->risk = g_strdup("The nodes must have the memory.");
    change_overhead(finding, facts, profile, (most->resident_bytes - asked) * OVERHEAD_ROOM);
}

static void judge_memory(const AdviseFacts *facts, gint64 profile, Advice *advice) {
    const AdviseExecutor *most = most_heap(facts, profile);
    overhead_high(facts, profile, advice);
    if (most == NULL) return;
    const double share = most->heap_peak_bytes / memory_asked(facts, profile);
    if (share < HEAP_LOW) memory_low(facts, most, advice);
    if (share > HEAP_HIGH) memory_high(facts, most, advice);
}

/* Each profile by what it asked for. */
void rule_memory(const AdviseFacts *facts, Advice *advice) {
    gboolean measured = most_heap(facts, 0) != NULL;
    judge_memory(facts, 0, advice);
    for (guint i = 0; i < facts->profiles->len; i++) {
        const gint64 profile = g_array_index(facts->profiles, AdviseProfile, i).given.profile;
        if (profile <= 0) continue;
        measured = measured || most_heap(facts, profile) != NULL;
        judge_memory(facts, profile, advice);
    }
    if (!measured && facts->task_ms > 0)
        advice_unknown(advice, "memory",
                       "the log has no peaks of the heap; spark.executor.metrics.pollingInterval 1s would add them");
}

/* ---- garbage collection ---- */

static const AdviseStage *most_gc(const AdviseFacts *facts) {
    const AdviseStage *most = NULL;
    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        if (most == NULL || stage->sums[METRIC_GC_MS] > most->sums[METRIC_GC_MS]) most = stage;
    }
    return most;
}

/* One executor may have most of it: then it is not the job's data alone. */
static void gc_evidence(const AdviseFacts *facts, Finding *finding) {
    const AdviseExecutor *most = NULL;
    for (guint i = 0; i < facts->executors->len; i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        if (most == NULL || executor->gc_ms > most->gc_ms) most = executor;
    }
    if (most == NULL || facts->executors->len < 2 || most->gc_ms <= 0) return;
    finding_evidence(finding, "of %u executors executor %s%s%s had most: %.1f s of %.1f s that its tasks ran",
                     facts->executors->len, most->id, most->host != NULL ? " on " : "",
                     most->host != NULL ? most->host : "", most->gc_ms / 1e3, most->run_ms / 1e3);
}

void rule_gc(const AdviseFacts *facts, Advice *advice) {
    const AdviseStage *most = most_gc(facts);
    const double share = share_of(facts->gc_ms, facts->run_ms);
    if (most == NULL || share < GC_HIGH) return;
    const double asked = memory_asked(facts, most->profile);

    Finding *finding = advice_add(advice, "gc", FINDING_LIKELY);
    g_autofree char *name = stage_text(most), *has = bytes_text(asked);
    finding->what = g_strdup_printf("Garbage collection takes %.0f %% of the time that tasks run.", 100 * share);
    finding_evidence(finding, "%.1f s of %.1f s in all; most in %s: %.1f s of %.1f s", facts->gc_ms / 1e3,
                     facts->run_ms / 1e3, name, most->sums[METRIC_GC_MS] / 1e3, most->sums[METRIC_RUN_MS] / 1e3);
    gc_evidence(facts, finding);
    finding_stage(finding, most);
    finding->cost_ms = facts->gc_ms;
    finding->saves_ms = facts->gc_ms - GC_USUAL * facts->run_ms;
    finding->share = share_of(finding->cost_ms, facts->task_ms);
    finding->formula = g_strdup_printf("%s asked x 1.5; saves what is above 5 %% of run time", has);
    finding->advice = most->cached
                          ? g_strdup("The stage keeps an RDD: serialized (MEMORY_ONLY_SER) it is fewer objects.")
                          : g_strdup("Or fewer cores in an executor: they share its heap.");
    finding->risk = g_strdup("The nodes must have the memory. A larger heap can pause longer.");
    change_memory(finding, facts, most->profile, asked * GC_MORE);
}

/* ---- cached RDDs ---- */

/* A stage all of whose kept RDDs an earlier one had computed has them again where its tasks keep blocks. */
static void computed_again(const AdviseFacts *facts, Advice *advice) {
    double kept = 0, evicted = 0, again = 0, most = 0, cost_ms = 0;
    const AdviseStage *worst = NULL;
    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        const double blocks = stage->sums[METRIC_BLOCKS_KEPT];
        kept += blocks;
        evicted += stage->sums[METRIC_BLOCKS_EVICTED];
        if (!stage->cached || stage->keeps_first || stage->attempt > 0 || blocks <= 0) continue;
        again += blocks;
        cost_ms += stage->sums[METRIC_RUN_MS] * MIN(share_of(blocks, stage->tasks), 1);
        if (blocks > most) most = blocks, worst = stage;
    }
    if (facts->cached->len > 0 && kept <= 0)
        advice_unknown(advice, "cache",
                       "the log does not tell whether RDDs that are kept had to go and were computed again; "
                       "spark.taskMetrics.trackUpdatedBlockStatuses true would");
    if (worst == NULL || evicted <= 0) return;

    Finding *finding = advice_add(advice, "cache", FINDING_POSSIBLE);
    g_autofree char *name = stage_text(worst);
    finding->what =
        g_strdup_printf("%.0f partitions of RDDs that are kept were evicted, and %.0f computed again.", evicted, again);
    finding_evidence(finding, "most in %s: its %u tasks computed %.0f of them again", name, worst->tasks, most);
    finding_stage(finding, worst);
    finding->cost_ms = cost_ms;
    finding->share = share_of(cost_ms, facts->task_ms);
    finding->formula = g_strdup("run time of stages x the share of their tasks that kept a partition again: at most");
    finding->advice = g_strdup("Keep them with MEMORY_AND_DISK, whose partitions go to the disk instead, or serialized "
                               "(MEMORY_ONLY_SER); unpersist() those that are done with; or give executors more "
                               "memory.");
}

void rule_cache(const AdviseFacts *facts, Advice *advice) {
    computed_again(facts, advice);
    for (guint i = 0; i < facts->cached->len; i++) {
        const AdviseCached *cached = &g_array_index(facts->cached, AdviseCached, i);
        if (cached->stages != 1 || facts->running) continue;
        Finding *finding = advice_add(advice, "cache", FINDING_POSSIBLE);
        finding->what = g_strdup_printf("RDD %" G_GINT64_FORMAT " (%s) is kept in %s, and one stage alone reads it.",
                                        cached->rdd, cached->name != NULL ? cached->name : "unnamed", cached->level);
        finding_evidence(finding, "only stage %" G_GINT64_FORMAT " has it among its RDDs", cached->stage);
        g_array_append_val(finding->stages, cached->stage);
        finding->advice = g_strdup("Leave out cache() or persist(), or unpersist() it: its memory is others' then.");
    }
}
