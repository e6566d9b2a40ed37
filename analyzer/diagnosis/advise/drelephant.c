#include "analyzer/diagnosis/advise/drelephant.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/advise/drelephant_rows.h"

#define MIB             (1024.0 * 1024)
#define GIB             (1024 * MIB)
#define LEAST_BYTES     (100 * MIB) /* spreads of less are none */
#define LEAST_MS        (5 * 60e3)
#define MS_A_MINUTE     60e3
#define FAILURES_SEVERE 0.4

const char *elephant_group_name(ElephantGroup group) {
    static const char *const names[] = {"configuration", "executors", "stages", "jobs", "gc", "later"};
    return names[group];
}

Severity elephant_reached(double value, const double limits[4]) {
    Severity reached = SEVERITY_NONE;
    for (guint i = 0; i < 4; i++)
        if (value >= limits[i]) reached = (Severity)(i + 1);
    return reached;
}

const double *elephant_limits(const Elephant *elephant, ElephantList list) { return elephant->limits.of[list]; }

ElephantRow *elephant_row(Elephant *elephant, ElephantGroup group, const char *rule, Severity severity, char *value) {
    const ElephantRow row = {group, rule, severity, TRUE, value, NULL};
    g_array_append_val(elephant->rows, row);
    elephant->groups[group] = MAX(elephant->groups[group], severity);
    return &g_array_index(elephant->rows, ElephantRow, elephant->rows->len - 1);
}

void elephant_unknown(Elephant *elephant, ElephantGroup group, const char *rule, const char *why) {
    elephant_row(elephant, group, rule, SEVERITY_NONE, g_strdup("unknown"))->known = FALSE;
    g_array_index(elephant->rows, ElephantRow, elephant->rows->len - 1).note = g_strdup(why);
}

/* ---- configuration ---- */

static void judge_serializer(const AdviseFacts *facts, Elephant *elephant) {
    const char *key = "spark.serializer";
    const char *set = advise_is_set(facts, key) ? advise_setting(facts, key) : NULL;
    const gboolean kryo = set != NULL && strcmp(set, "org.apache.spark.serializer.KryoSerializer") == 0;
    elephant_row(elephant, GROUP_CONFIGURATION, "serializer", kryo ? SEVERITY_NONE : SEVERITY_MODERATE,
                 g_strdup(set != NULL ? set : "not set"));
}

static void judge_shuffle_service(const AdviseFacts *facts, Elephant *elephant) {
    const gboolean service = advise_flag(facts, "spark.shuffle.service.enabled");
    const gboolean allocation = advise_flag(facts, "spark.dynamicAllocation.enabled");
    const Severity off = allocation ? SEVERITY_SEVERE : SEVERITY_MODERATE;
    elephant_row(elephant, GROUP_CONFIGURATION, "shuffle service", service ? SEVERITY_NONE : off,
                 g_strdup_printf("%s, dynamic allocation %s", service ? "on" : "off", allocation ? "on" : "off"));
}

static double overhead_bytes(const AdviseFacts *facts) {
    const double set = advise_bytes(facts, "spark.executor.memoryOverhead", MIB);
    return set >= 0 ? set : advise_bytes(facts, "spark.yarn.executor.memoryOverhead", MIB);
}

/* What an executor takes of a node: with overhead, off-heap and Python's memory. */
static double executor_bytes(const AdviseFacts *facts) {
    const double memory = advise_bytes(facts, "spark.executor.memory", MIB), set = overhead_bytes(facts);
    const double python = advise_bytes(facts, "spark.executor.pyspark.memory", MIB);
    const double off_heap =
        advise_flag(facts, "spark.memory.offHeap.enabled") ? advise_bytes(facts, "spark.memory.offHeap.size", 1) : 0;
    return memory + (set >= 0 ? set : MAX(384 * MIB, 0.1 * memory)) + MAX(python, 0) + MAX(off_heap, 0);
}

static double executor_cores(const AdviseFacts *facts) {
    const double set = advise_number(facts, "spark.executor.cores");
    if (set > 0) return set;
    return facts->executors->len > 0 ? g_array_index(facts->executors, AdviseExecutor, 0).cores : 0;
}

static void judge_resource_skew(const AdviseFacts *facts, Elephant *elephant) {
    const char *rule = "resource skew";
    const double node_cores = advise_number(facts, "yarn.nodemanager.resource.cpu-vcores");
    const double node_bytes = advise_number(facts, "yarn.nodemanager.resource.memory-mb") * MIB;
    const double cores = executor_cores(facts), memory = advise_bytes(facts, "spark.executor.memory", MIB);
    if (node_cores <= 0 || node_bytes <= 0 || cores <= 0 || memory <= 0) {
        elephant_unknown(elephant, GROUP_CONFIGURATION, rule,
                         "the log does not say what a node has for containers: --node 16c,64g does");
        return;
    }

    const double *limits = elephant_limits(elephant, LIMITS_RESOURCE_SKEW);
    const double skew = (node_cores / cores) / (node_bytes / memory);
    ElephantRow *row = elephant_row(elephant, GROUP_CONFIGURATION, rule, elephant_reached(skew, limits),
                                    g_strdup_printf("%.3g", skew));
    const double by_cores = floor(node_cores / cores), by_memory = floor(node_bytes / executor_bytes(facts));
    if (by_cores <= 0 || by_memory <= 0) {
        row->note = g_strdup("corrected: no executor fits a node");
        return;
    }
    const double right = MAX(by_cores / by_memory, by_memory / by_cores);
    row->note = g_strdup_printf("corrected: %.3g, %s (whole executors with their overhead; below 1 is as bad; none "
                                "where YARN does not count cores)",
                                right, severity_name(elephant_reached(right, limits)));
}

static void judge_size(Elephant *elephant, const char *rule, double bytes, ElephantList list) {
    char *text = bytes >= 0 ? bytes_text(bytes) : g_strdup("not set");
    elephant_row(elephant, GROUP_CONFIGURATION, rule, elephant_reached(bytes, elephant_limits(elephant, list)), text);
}

static void judge_above(const AdviseFacts *facts, Elephant *elephant, const char *rule, double most) {
    g_autofree char *key = g_strconcat("spark.dynamicAllocation.", rule, NULL);
    const double number = advise_number(facts, key);
    elephant_row(elephant, GROUP_CONFIGURATION, rule, number > most ? SEVERITY_CRITICAL : SEVERITY_NONE,
                 number >= 0 ? g_strdup_printf("%.0f", number) : g_strdup("not set"));
}

static void judge_configuration(const AdviseFacts *facts, Elephant *elephant) {
    const char *jars = advise_setting(facts, "spark.yarn.secondary.jars");
    judge_serializer(facts, elephant);
    judge_shuffle_service(facts, elephant);
    judge_resource_skew(facts, elephant);
    judge_size(elephant, "executor memory", advise_bytes(facts, "spark.executor.memory", MIB), LIMITS_EXECUTOR_MEMORY);
    const double cores = executor_cores(facts);
    elephant_row(elephant, GROUP_CONFIGURATION, "executor cores",
                 elephant_reached(cores, elephant_limits(elephant, LIMITS_EXECUTOR_CORES)),
                 g_strdup_printf("%.0f", cores));
    judge_size(elephant, "executor overhead", overhead_bytes(facts), LIMITS_EXECUTOR_OVERHEAD);
    judge_above(facts, elephant, "minExecutors", 1);
    judge_above(facts, elephant, "maxExecutors", 900);
    elephant_row(elephant, GROUP_CONFIGURATION, "jars with *",
                 jars != NULL && strchr(jars, '*') != NULL ? SEVERITY_CRITICAL : SEVERITY_NONE,
                 g_strdup(jars != NULL ? jars : "not set"));
}

/* ---- executors ---- */

static gint by_number(gconstpointer a, gconstpointer b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* At the index n times q, as the tool has it. */
static double value_at(const GArray *sorted, double q) {
    const guint at = (guint)(sorted->len * q);
    return g_array_index(sorted, double, MIN(at, sorted->len - 1));
}

/* Times have another least than bytes. */
static char *amount_text(double amount, double least) {
    return least == LEAST_MS ? g_strdup_printf("%.3g s", amount / 1e3) : bytes_text(amount);
}

static Severity spread_severity(const GArray *sorted, const double limits[4]) {
    const double median = value_at(sorted, 0.5);
    return median == 0 ? SEVERITY_CRITICAL : elephant_reached(value_at(sorted, 1) / median, limits);
}

/* Amounts of executors that lived for different times: beside the row what is right, where that is another severity. */
static void correct_by_life(Elephant *elephant, const AdviseFacts *facts, const GArray *amounts, gboolean matters) {
    ElephantRow *row = &g_array_index(elephant->rows, ElephantRow, elephant->rows->len - 1);
    g_autoptr(GArray) rates = g_array_new(FALSE, FALSE, sizeof(double));
    double least_ms = INFINITY, most_ms = 0;
    for (guint i = 0; i < amounts->len; i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        const double life_ms = (double)(executor->end_ms - executor->begin_ms);
        const double rate = g_array_index(amounts, double, i) / life_ms;
        least_ms = MIN(least_ms, life_ms);
        most_ms = MAX(most_ms, life_ms);
        g_array_append_val(rates, rate);
    }
    if (!matters || least_ms <= 0) return;

    g_array_sort(rates, by_number);
    const Severity right = spread_severity(rates, elephant_limits(elephant, LIMITS_SPREAD));
    if (right != row->severity)
        row->note = g_strdup_printf("corrected: %s (by the hour that executors lived, which was %.3g to %.3g min)",
                                    severity_name(right), least_ms / MS_A_MINUTE, most_ms / MS_A_MINUTE);
}

static void judge_spread(Elephant *elephant, const char *rule, const GArray *amounts, double least) {
    g_autoptr(GArray) values = g_array_copy((GArray *)amounts);
    g_array_sort(values, by_number);
    const double most = value_at(values, 1);
    const Severity severity =
        most >= least ? spread_severity(values, elephant_limits(elephant, LIMITS_SPREAD)) : SEVERITY_NONE;
    g_autofree char *first = amount_text(value_at(values, 0), least), *last = amount_text(most, least);
    g_autofree char *low = amount_text(value_at(values, 0.25), least);
    g_autofree char *middle = amount_text(value_at(values, 0.5), least);
    g_autofree char *high = amount_text(value_at(values, 0.75), least);
    elephant_row(elephant, GROUP_EXECUTORS, rule, severity,
                 g_strdup_printf("max %s, median %s (min %s, 25 %% %s, 75 %% %s)", last, middle, first, low, high));
}

static gboolean storage_known(const AdviseFacts *facts) {
    for (guint i = 0; i < facts->executors->len; i++)
        if (g_array_index(facts->executors, AdviseExecutor, i).storage_peak_bytes > 0) return TRUE;
    return FALSE;
}

static void judge_executors(const AdviseFacts *facts, Elephant *elephant) {
    static const struct {
        const char *rule;
        gsize offset;
        double least;
    } spreads[] = {
        {"storage memory", offsetof(AdviseExecutor, storage_peak_bytes), LEAST_BYTES},
        {"task time", offsetof(AdviseExecutor, task_ms), LEAST_MS},
        {"input", offsetof(AdviseExecutor, input_bytes), LEAST_BYTES},
        {"shuffle read", offsetof(AdviseExecutor, shuffle_read_bytes), LEAST_BYTES},
        {"shuffle write", offsetof(AdviseExecutor, shuffle_write_bytes), LEAST_BYTES},
    };

    for (guint i = 0; i < G_N_ELEMENTS(spreads); i++) {
        const gboolean storage = spreads[i].offset == offsetof(AdviseExecutor, storage_peak_bytes);
        if (facts->executors->len == 0 || (storage && !storage_known(facts))) {
            elephant_unknown(elephant, GROUP_EXECUTORS, spreads[i].rule,
                             storage ? "the log has no storage memory of executors" : "no executor is known");
            continue;
        }
        g_autoptr(GArray) amounts = g_array_new(FALSE, FALSE, sizeof(double));
        double most = 0;
        for (guint k = 0; k < facts->executors->len; k++) {
            const char *executor = (const char *)&g_array_index(facts->executors, AdviseExecutor, k);
            double amount;
            memcpy(&amount, executor + spreads[i].offset, sizeof amount);
            most = MAX(most, amount);
            g_array_append_val(amounts, amount);
        }
        judge_spread(elephant, spreads[i].rule, amounts, spreads[i].least);
        if (!storage) correct_by_life(elephant, facts, amounts, most >= spreads[i].least); /* a peak is no amount */
    }
}

/* ---- stages, jobs, garbage collection ---- */

/* The tool's own limits have none for SEVERE. */
static void failures_row(Elephant *elephant, ElephantGroup group, const char *rule, double rate, char *text) {
    const double *limits = elephant_limits(elephant, LIMITS_FAILURES);
    ElephantLimits own;
    elephant_limits_init(&own);
    const gboolean told = memcmp(limits, own.of[LIMITS_FAILURES], sizeof own.of[LIMITS_FAILURES]) != 0;
    ElephantRow *row = elephant_row(elephant, group, rule, elephant_reached(rate, limits), text);
    if (!told && rate >= FAILURES_SEVERE && row->severity < SEVERITY_SEVERE)
        row->note = g_strdup_printf("corrected: severe (from %.3g on, which the tool never says)", FAILURES_SEVERE);
}

static void judge_rate(Elephant *elephant, ElephantGroup group, const char *rule, guint failed, guint all) {
    const double rate = all > 0 ? (double)failed / all : 0;
    failures_row(elephant, group, rule, rate, g_strdup_printf("%.3g (%u of %u)", rate, failed, all));
}

static void judge_stages(const AdviseFacts *facts, Elephant *elephant) {
    guint failed = 0;
    double worst = 0, longest = 0;
    gint64 worst_stage = -1, longest_stage = -1;
    const double executors = MAX(facts->executors->len, 1);

    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        const guint tasks = stage->tasks + stage->failed_tasks;
        const double rate = tasks > 0 ? (double)stage->failed_tasks / tasks : 0;
        const double minutes = stage->sums[METRIC_RUN_MS] / MS_A_MINUTE / executors;
        failed += stage->failed;
        if (rate > worst) worst = rate, worst_stage = stage->stage;
        if (minutes > longest) longest = minutes, longest_stage = stage->stage;
    }

    judge_rate(elephant, GROUP_STAGES, "failed stages", failed, facts->stages->len);
    failures_row(elephant, GROUP_STAGES, "failed tasks of a stage", worst,
                 worst_stage < 0 ? g_strdup("0")
                                 : g_strdup_printf("%.3g in stage %" G_GINT64_FORMAT, worst, worst_stage));
    elephant_row(elephant, GROUP_STAGES, "stage run time",
                 elephant_reached(longest, elephant_limits(elephant, LIMITS_STAGE_MINUTES)),
                 longest_stage < 0 ? g_strdup("0 min")
                                   : g_strdup_printf("%.3g min in stage %" G_GINT64_FORMAT, longest, longest_stage));
}

static void judge_jobs(const AdviseFacts *facts, Elephant *elephant) {
    guint failed = 0;
    double worst = 0;
    gint64 worst_job = -1;
    for (guint i = 0; i < facts->jobs->len; i++) {
        const AdviseJob *job = &g_array_index(facts->jobs, AdviseJob, i);
        const double rate = job->tasks > 0 ? (double)job->failed_tasks / job->tasks : 0;
        failed += job->failed;
        if (rate > worst) worst = rate, worst_job = job->job;
    }
    judge_rate(elephant, GROUP_JOBS, "failed jobs", failed, facts->jobs->len);
    failures_row(elephant, GROUP_JOBS, "failed tasks of a job", worst,
                 worst_job < 0 ? g_strdup("0") : g_strdup_printf("%.3g in job %" G_GINT64_FORMAT, worst, worst_job));
}

Elephant *elephant_judge(const AdviseFacts *facts, const ElephantLimits *limits) {
    Elephant *elephant = g_new0(Elephant, 1);
    elephant->limits = *limits;
    guint64 tasks = 0;
    elephant->rows = g_array_new(FALSE, TRUE, sizeof(ElephantRow));
    judge_configuration(facts, elephant);
    judge_executors(facts, elephant);
    judge_stages(facts, elephant);
    judge_jobs(facts, elephant);
    const double gc = facts->run_ms > 0 ? facts->gc_ms / facts->run_ms : 0;
    elephant_row(elephant, GROUP_GC, "garbage collection", elephant_reached(gc, elephant_limits(elephant, LIMITS_GC)),
                 g_strdup_printf("%.3g", gc));

    for (guint i = 0; i < facts->stages->len; i++)
        tasks += advise_stage(facts, i)->tasks + advise_stage(facts, i)->failed_tasks;
    for (guint group = 0; group < GROUP_LATER; group++) {
        const Severity severity = elephant->groups[group];
        elephant->severity = MAX(elephant->severity, severity);
        elephant->scores[group] = severity > SEVERITY_LOW ? tasks * severity : 0;
        elephant->score += elephant->scores[group];
    }
    elephant_judge_later(facts, elephant);
    return elephant;
}

void elephant_free(Elephant *elephant) {
    if (elephant == NULL) return;
    for (guint i = 0; i < elephant->rows->len; i++) {
        ElephantRow *row = &g_array_index(elephant->rows, ElephantRow, i);
        g_free(row->value);
        g_free(row->note);
    }
    g_array_unref(elephant->rows);
    g_free(elephant);
}
