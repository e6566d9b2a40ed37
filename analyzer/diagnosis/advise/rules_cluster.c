/* Rules about the executors as a whole: idle cores, the driver, locality, dynamic allocation. */
#include <math.h>

#include "analyzer/diagnosis/advise/rules.h"

#define IDLE_LEAST     0.3
#define PEAK_ROOM      0.75 /* fewer tasks at once than this share of the cores: fewer cores do */
#define QUIET_LEAST    0.3
#define LOCALITY_LEAST 0.1
#define LOCALITY_WAVES 2.0
#define TAIL_MOST      0.3 /* of a stage's time, by its longest task */

gboolean hosts_to_blame(const AdviseFacts *facts, Advice *advice, const char *rule) {
    double lost_ms = 0;
    for (guint i = 0; i < facts->nodes->len; i++) lost_ms += g_array_index(facts->nodes, AdviseNode, i).explains_ms;
    if (lost_ms < NODES_MATTER_SHARE * facts->task_ms || lost_ms <= 0) return FALSE;
    advice_unknown(advice, rule, "hosts made tasks slow: their times do not tell of the job");
    return TRUE;
}

gboolean long_enough(const AdviseFacts *facts) {
    return !facts->running && (double)(facts->end_ms - facts->begin_ms) >= LEAST_APP_MS;
}

/* ---- executors that got no more tasks ---- */

typedef struct Stretch {
    gint64 begin_ms, end_ms;
} Stretch;

static gint stretch_compare(gconstpointer a, gconstpointer b) {
    const Stretch *x = a, *y = b;
    return x->begin_ms < y->begin_ms ? -1 : x->begin_ms > y->begin_ms;
}

/* While a stage ran, where it is from that alone. FALSE: it is another executor's, or takes no time. */
static gboolean excluded_stretch(const AdviseFacts *facts, const SparkExclusion *exclusion,
                                 const AdviseExecutor *executor, Stretch *stretch) {
    const gboolean its = exclusion->executor != NULL ? g_strcmp0(exclusion->executor, executor->id) == 0
                                                     : g_strcmp0(exclusion->host, executor->host) == 0;
    *stretch = (Stretch){MAX(exclusion->time_ms, executor->begin_ms), executor->end_ms};
    if (exclusion->back_ms >= 0) stretch->end_ms = MIN(stretch->end_ms, exclusion->back_ms);
    for (guint i = 0; its && exclusion->stage >= 0 && i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        if (stage->stage == exclusion->stage && stage->attempt == MAX(exclusion->stage_attempt, 0))
            stretch->end_ms = MIN(stretch->end_ms, stage->end_ms);
    }
    return its && stretch->begin_ms < stretch->end_ms;
}

/* Core-ms of executors that were excluded meanwhile: they stood idle because tasks had failed there. */
static double excluded_ms(const AdviseFacts *facts) {
    double sum_ms = 0;
    g_autoptr(GArray) stretches = g_array_new(FALSE, FALSE, sizeof(Stretch));
    for (guint i = 0; facts->exclusions->len > 0 && i < facts->executors->len; i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        gint64 until_ms = executor->begin_ms;
        g_array_set_size(stretches, 0);
        for (guint k = 0; k < facts->exclusions->len; k++) {
            Stretch stretch;
            if (excluded_stretch(facts, &g_array_index(facts->exclusions, SparkExclusion, k), executor, &stretch))
                g_array_append_val(stretches, stretch);
        }

        g_array_sort(stretches, stretch_compare);
        for (guint k = 0; k < stretches->len; k++) {
            const Stretch *stretch = &g_array_index(stretches, Stretch, k);
            sum_ms += (double)MAX(stretch->end_ms - MAX(stretch->begin_ms, until_ms), 0) * executor->cores;
            until_ms = MAX(until_ms, stretch->end_ms);
        }
    }
    return sum_ms;
}

/* ---- idle cores ---- */

/* Fewer executors do for as many tasks as ever ran at once. */
static void fewer_cores(const AdviseFacts *facts, Finding *finding) {
    const char *master = advise_setting(facts, "spark.master");
    const double cores = facts->executors->len > 0 ? g_array_index(facts->executors, AdviseExecutor, 0).cores : 1;
    const double cpus = MAX(advise_number(facts, "spark.task.cpus"), 1);
    const double executors = ceil(facts->most_tasks * cpus / MAX(cores, 1));

    finding->formula = g_strdup_printf("%u tasks at once at most / %.0f cores an executor, rounded up: %.0f",
                                       facts->most_tasks, cores, executors);
    if (advise_flag(facts, "spark.dynamicAllocation.enabled"))
        finding_change(finding, facts, "spark.dynamicAllocation.maxExecutors", g_strdup_printf("%.0f", executors));
    else if (advise_is_set(facts, "spark.executor.instances"))
        finding_change(finding, facts, "spark.executor.instances", g_strdup_printf("%.0f", executors));
    else if (master != NULL && g_str_has_prefix(master, "spark://"))
        finding_change(finding, facts, "spark.cores.max", g_strdup_printf("%.0f", executors * cores));
    else
        finding->advice = g_strdup_printf("Ask for %.0f executor%s of %.0f core%s.", executors,
                                          executors == 1 ? "" : "s", cores, cores == 1 ? "" : "s");
    finding->risk = g_strdup("With more data, tasks wait for each other.");
}

void rule_idle(const AdviseFacts *facts, Advice *advice) {
    const double cpus =
        MAX(advise_number(facts, "spark.task.cpus"), 1); /* what is held is in cores, and slots in tasks */
    const double out_ms = MIN(excluded_ms(facts), facts->held_ms), held_ms = facts->held_ms - out_ms;
    const double quiet_ms = facts->quiet_held_ms * share_of(held_ms, facts->held_ms);
    const double run_ms = facts->run_ms * cpus, idle_ms = held_ms - run_ms - MIN(quiet_ms, held_ms);
    if (!long_enough(facts) || share_of(idle_ms, held_ms) < IDLE_LEAST) return;
    if (hosts_to_blame(facts, advice, "idle")) return;

    Finding *finding = advice_add(advice, "idle", FINDING_POSSIBLE);
    g_autofree char *held = core_time_text(facts->held_ms), *run = core_time_text(run_ms);
    g_autofree char *out = core_time_text(out_ms);
    finding->what = g_strdup_printf("%.0f %% of what the executors held was idle beside running tasks.",
                                    100 * share_of(idle_ms, held_ms));
    finding_evidence(finding, "%u executor%s held %s; tasks ran for %s", facts->executors->len,
                     facts->executors->len == 1 ? "" : "s", held, run);
    /* A task counts until the driver has its result: on a busy one more of them seem to run than can. */
    finding_evidence(finding, "%u tasks could run at once; %u did at most", facts->slots,
                     MIN(facts->most_tasks, facts->slots));
    if (out_ms > 0)
        finding_evidence(finding, "%s of it are left out: executors got no more tasks after failures there", out);
    finding->cost_ms = idle_ms;
    finding->share = share_of(idle_ms, held_ms);
    if (runs_in_driver(facts)) {
        finding->advice = g_strdup("All runs in one JVM, so executors cannot go: a master of fewer cores, local[N], "
                                   "leaves them to others.");
    } else if (out_ms <= 0 && facts->most_tasks < PEAK_ROOM * facts->slots) {
        finding->saves_ms = idle_ms * (1 - share_of(facts->most_tasks, facts->slots));
        fewer_cores(facts, finding);
    } else if (!advise_flag(facts, "spark.dynamicAllocation.enabled")) {
        finding->advice =
            g_strdup("Let executors come and go (spark.dynamicAllocation.enabled true), or ask for fewer.");
    } else {
        finding->advice = g_strdup("Let idle executors go earlier: spark.dynamicAllocation.executorIdleTimeout.");
    }
}

/* ---- the driver ---- */

/* Who was at work in the longest time without a task. */
static char *gap_text(const AdviseFacts *facts) {
    const AdviseJob *before = NULL, *after = NULL;
    for (guint i = 0; i < facts->jobs->len; i++) {
        const AdviseJob *job = &g_array_index(facts->jobs, AdviseJob, i);
        const gint64 end_ms = job->end_ms >= 0 ? job->end_ms : G_MAXINT64;
        if (job->begin_ms <= facts->gap_begin_ms && end_ms >= facts->gap_end_ms)
            return g_strdup_printf("within job %" G_GINT64_FORMAT " (%s)", job->job, job->name ? job->name : "unnamed");
        if (end_ms <= facts->gap_end_ms && (before == NULL || end_ms > before->end_ms)) before = job;
        if (job->begin_ms >= facts->gap_begin_ms && (after == NULL || job->begin_ms < after->begin_ms)) after = job;
    }
    if (before != NULL && after != NULL)
        return g_strdup_printf("between job %" G_GINT64_FORMAT " and job %" G_GINT64_FORMAT " (%s)", before->job,
                               after->job, after->name ? after->name : "unnamed");
    if (after != NULL) return g_strdup_printf("before job %" G_GINT64_FORMAT, after->job);
    return before != NULL ? g_strdup_printf("after job %" G_GINT64_FORMAT, before->job) : g_strdup("without any job");
}

void rule_driver(const AdviseFacts *facts, Advice *advice) {
    const double all_ms = (double)(facts->end_ms - facts->begin_ms);
    if (!long_enough(facts) || share_of(facts->quiet_ms, all_ms) < QUIET_LEAST) return;
    Finding *finding = advice_add(advice, "driver", FINDING_LIKELY);
    g_autofree char *gap = gap_text(facts);
    finding->what = g_strdup_printf("No task runs in %.0f %% of the time: the driver is at work, or waits.",
                                    100 * facts->quiet_ms / all_ms);
    finding_evidence(finding, "%.0f s of %.0f s; the longest time without a task, %.0f s, was %s",
                     facts->quiet_ms / 1e3, all_ms / 1e3, (double)(facts->gap_end_ms - facts->gap_begin_ms) / 1e3, gap);
    /* Where no log tells of executors' cores: of as many as tasks ran at once. */
    finding->cost_ms = facts->held_ms > 0 ? facts->quiet_held_ms : facts->quiet_ms * MAX(facts->slots, 1);
    finding->share = share_of(facts->quiet_ms, all_ms);
    finding->advice = g_strdup("No setting helps. Look at what the program does there: collect(), files listed or "
                               "committed one by one, work of its own.");
}

/* ---- locality ---- */

static gboolean waits_for_locality(const AdviseFacts *facts, const AdviseStage *stage, double *idle) {
    const double wall_ms = (double)(stage->end_ms - stage->begin_ms);
    const double wait_ms = time_parse_ms(advise_setting(facts, "spark.locality.wait"));
    if (wait_ms <= 0 || stage->tasks < LOCALITY_WAVES * facts->slots || facts->slots < 2 || wall_ms <= 0) return FALSE;
    if (stage->time.max > TAIL_MOST * wall_ms || stage->local < 0.9 * stage->tasks) return FALSE;
    *idle = 1 - stage->task_ms / (wall_ms * facts->slots);
    return stage->time.median<wait_ms && * idle> LOCALITY_LEAST;
}

static void locality_stage(const AdviseFacts *facts, const AdviseStage *stage, double idle, Advice *advice) {
    const double wall_ms = (double)(stage->end_ms - stage->begin_ms);
    Finding *finding = advice_add(advice, "locality", FINDING_POSSIBLE);
    g_autofree char *name = stage_text(stage);
    finding->what = g_strdup_printf("%s leaves %.0f %% of the cores idle, though tasks wait.", name, 100 * idle);
    finding_evidence(
        finding, "%.0f of %u tasks ran where their data is; the median took %.1f s, Spark waits %s for that",
        stage->local, stage->tasks, stage->time.median / 1e3, advise_setting(facts, "spark.locality.wait"));
    finding_stage(finding, stage);
    finding->cost_ms = finding->saves_ms = idle * wall_ms * facts->slots;
    finding->share = share_of(finding->cost_ms, MAX(facts->held_ms, facts->task_ms));
    finding->formula =
        g_strdup_printf("1 - %.1f s of tasks / (%.1f s x %u cores)", stage->task_ms / 1e3, wall_ms / 1e3, facts->slots);
    finding->risk = g_strdup("More is read over the network.");
    finding_change(finding, facts, "spark.locality.wait", g_strdup("0s"));
}

void rule_locality(const AdviseFacts *facts, Advice *advice) {
    if (excluded_ms(facts) > 0) return; /* cores that stood idle did not wait for data */
    for (guint i = 0; i < facts->stages->len; i++) {
        double idle = 0;
        const AdviseStage *stage = advise_stage(facts, i);
        if (!waits_for_locality(facts, stage, &idle)) continue;
        if (hosts_to_blame(facts, advice, "locality")) return;
        locality_stage(facts, stage, idle, advice);
    }
}

/* ---- dynamic allocation ---- */

/* A plug-in of the cluster's own for shuffle files keeps them elsewhere than on the executors' disks. */
static gboolean shuffles_elsewhere(const AdviseFacts *facts) {
    const char *manager = advise_setting(facts, "spark.shuffle.manager");
    const char *plugin = advise_setting(facts, "spark.shuffle.sort.io.plugin.class");
    static const char *const own[] = {"sort", "tungsten-sort", "hash",
                                      "org.apache.spark.shuffle.sort.SortShuffleManager", NULL};
    if (manager != NULL && !g_strv_contains(own, manager)) return TRUE;
    return plugin != NULL && !g_str_has_suffix(plugin, ".LocalDiskShuffleDataIO");
}

void rule_allocation(const AdviseFacts *facts, Advice *advice) {
    const char *tracking = "spark.dynamicAllocation.shuffleTracking.enabled";
    if (!advise_flag(facts, "spark.dynamicAllocation.enabled") || advise_flag(facts, "spark.shuffle.service.enabled"))
        return;
    if (advise_flag(facts, tracking) || shuffles_elsewhere(facts)) return;
    if (advise_flag(facts, "spark.decommission.enabled") &&
        advise_flag(facts, "spark.storage.decommission.shuffleBlocks.enabled"))
        return;
    Finding *finding = advice_add(advice, "allocation", FINDING_SURE);
    finding->what = g_strdup("Executors come and go, and their shuffle files go with them.");
    finding_evidence(finding, "dynamic allocation is on, without shuffle service, shuffle tracking or decommissioning");
    finding->formula = g_strdup("a rule, no number: tasks whose shuffle files have gone run again");
    finding->risk = g_strdup("Executors with shuffle files that are still needed stay longer.");
    if (advise_since(facts, 3, 0))
        finding_change(finding, facts, tracking, g_strdup("true"));
    else
        finding->advice = g_strdup("Run the external shuffle service, and set spark.shuffle.service.enabled true.");
}
