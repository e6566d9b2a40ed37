/* Rules of Dr. Elephant's later versions, with their floors. Its spilling was never MODERATE, as the condition was
 * LOW's, and its advice on that was thrown away; one idle executor made unified memory CRITICAL; stages without one
 * finished task did not count; garbage collection was held against the life of executors. Here they do what they say.
 * docs/advise.md has what else differs. */
#include <math.h>

#include "analyzer/diagnosis/advise/drelephant_rows.h"
#include "analyzer/diagnosis/advise/rules.h"

#define GIB             (1024 * MIB)
#define MS_A_MINUTE     60e3
#define WANTED_TASK_MS  150e3
#define SKEW_LEAST_MS   150e3
#define SKEW_OF_STAGE   0.75
#define SPILL_DATA_MOST (3 * 1024 * GIB)
#define HEAP_RESERVED   (300 * MIB)
#define HEAP_LEAST      (640 * MIB)
#define HEAP_ROOM       1.25
#define OVERHEAD_MORE   GIB

/* Floors: of as much or less, nothing is said. */
#define HEAP_FLOOR     (2 * GIB)
#define UNIFIED_FLOOR  (256 * MIB)
#define FRACTION_FLOOR 0.05
#define RUN_FLOOR_MS   (5 * MS_A_MINUTE) /* below */

/* How far down. */
static Severity fallen_to(double value, const double limits[4]) {
    Severity reached = SEVERITY_NONE;
    for (guint i = 0; i < 4; i++)
        if (value <= limits[i]) reached = (Severity)(i + 1);
    return reached;
}

/* The stage with the greatest of a value; -1 of none that has one. */
typedef struct Worst {
    double value;
    const AdviseStage *stage;
} Worst;

static Worst worst_of(const AdviseFacts *facts, double (*value_of)(const AdviseStage *stage)) {
    Worst worst = {0, NULL};
    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        const double value = value_of(stage);
        if (value > worst.value) worst = (Worst){value, stage};
    }
    return worst;
}

static ElephantRow *worst_row(Elephant *elephant, const char *rule, const Worst *worst, ElephantList list) {
    char *text = worst->stage == NULL
                     ? g_strdup("0")
                     : g_strdup_printf("%.3g in stage %" G_GINT64_FORMAT, worst->value, worst->stage->stage);
    return elephant_row(elephant, GROUP_LATER, rule, elephant_reached(worst->value, elephant_limits(elephant, list)),
                        text);
}

/* ---- stages ---- */

static double median_minutes(const AdviseStage *stage) { return stage->run.median / MS_A_MINUTE; }

static double skew_of(const AdviseStage *stage) {
    const double most_ms = stage->run.max, wall_ms = (double)(stage->end_ms - stage->begin_ms);
    const gboolean matters = most_ms > SKEW_LEAST_MS && most_ms > SKEW_OF_STAGE * wall_ms && stage->run.median > 0;
    return matters ? most_ms / stage->run.median : 0;
}

static double data_of(const AdviseStage *stage) {
    return MAX(MAX(stage->sums[METRIC_INPUT_BYTES], stage->sums[METRIC_OUTPUT_BYTES]),
               MAX(stage_shuffle_bytes(stage), stage->sums[METRIC_SHUFFLE_WRITE_BYTES]));
}

static double spill_of(const AdviseStage *stage) {
    const double data = data_of(stage);
    return data < SPILL_DATA_MOST ? share_of(stage->sums[METRIC_MEMORY_SPILLED_BYTES], data) : 0;
}

static double failures_of(const AdviseStage *stage) {
    return share_of(stage->failed_tasks, stage->tasks + (double)stage->failed_tasks);
}

/* The first step of partitions, memory and cores that has room for what the stage had and spilled. */
static char *spill_advice(const AdviseFacts *facts, const AdviseStage *stage) {
    static const struct {
        double partitions, memory, cores;
    } steps[] = {{400, 0, 0},  {0, 4 * GIB, 0}, {0, 0, 4}, {1000, 0, 0}, {0, 6 * GIB, 0}, {0, 0, 3},
                 {2000, 0, 0}, {0, 8 * GIB, 0}, {0, 0, 2}, {4000, 0, 0}, {0, 10 * GIB, 0}};
    const double fraction = advise_number(facts, "spark.memory.fraction");
    const AdviseExecutor *first =
        facts->executors->len > 0 ? &g_array_index(facts->executors, AdviseExecutor, 0) : NULL;
    double partitions = stage->tasks, memory = memory_asked(facts, stage->profile);
    double cores = first != NULL ? MAX(first->cores, 1) : 1;
    const double needed = stage->max_peak_bytes * stage->tasks + stage->sums[METRIC_MEMORY_SPILLED_BYTES];

    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        partitions = MAX(partitions, steps[i].partitions);
        memory = MAX(memory, steps[i].memory);
        if (steps[i].cores > 0) cores = MIN(cores, steps[i].cores);
        if ((memory - HEAP_RESERVED) * fraction / cores * partitions >= needed) break;
    }
    g_autofree char *text = bytes_text(memory);
    return g_strdup_printf("recommended: %.0f partitions, %s, %.0f cores", partitions, text, cores);
}

static void judge_stages(const AdviseFacts *facts, Elephant *elephant) {
    const Worst longest = worst_of(facts, median_minutes), skew = worst_of(facts, skew_of);
    const Worst spill = worst_of(facts, spill_of), failed = worst_of(facts, failures_of);
    ElephantRow *row = worst_row(elephant, "long tasks, minutes", &longest, LIMITS_LONG_TASKS);
    if (row->severity > SEVERITY_NONE)
        row->note = g_strdup_printf(
            "recommended: %.0f partitions",
            MIN(ceil(longest.stage->tasks * longest.stage->run.median / WANTED_TASK_MS), MOST_PARTITIONS));
    worst_row(elephant, "task skew", &skew, LIMITS_TASK_SKEW);
    row = worst_row(elephant, "spill", &spill, LIMITS_SPILL);
    if (row->severity > SEVERITY_NONE) row->note = spill_advice(facts, spill.stage);
    worst_row(elephant, "failed tasks", &failed, LIMITS_FAILED_TASKS);
}

/* ---- executors ---- */

static void judge_heap(const AdviseFacts *facts, Elephant *elephant) {
    const char *rule = "memory asked";
    double peak = 0;
    gint64 profile = 0;
    for (guint i = 0; i < facts->executors->len; i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        if (executor->heap_peak_bytes > peak) peak = executor->heap_peak_bytes, profile = executor->profile;
    }
    if (peak <= 0) {
        elephant_unknown(elephant, GROUP_LATER, rule, "the log has no peaks of the heap");
        return;
    }

    const double asked = memory_asked(facts, profile), times = asked / (peak + HEAP_RESERVED);
    const Severity severity =
        asked > HEAP_FLOOR ? elephant_reached(times, elephant_limits(elephant, LIMITS_MEMORY_ASKED)) : SEVERITY_NONE;
    ElephantRow *row =
        elephant_row(elephant, GROUP_LATER, rule, severity, g_strdup_printf("%.3g times the peak and 300 MiB", times));
    if (row->severity == SEVERITY_NONE) return;
    g_autofree char *enough = bytes_setting(MIN(MAX(peak * HEAP_ROOM + HEAP_RESERVED, HEAP_LEAST), asked));
    row->note = g_strdup_printf("recommended: %s", enough);
}

static gboolean above_floors(const AdviseFacts *facts, const AdviseExecutor *executor) {
    return memory_asked(facts, executor->profile) > HEAP_FLOOR && executor->memory_bytes > UNIFIED_FLOOR &&
           advise_number(facts, "spark.memory.fraction") > FRACTION_FLOOR;
}

/* Of the executor that used most of it; those without a task say nothing. */
static void judge_unified(const AdviseFacts *facts, Elephant *elephant) {
    const char *rule = "unified memory";
    double most = -1;
    const AdviseExecutor *user = NULL;
    for (guint i = 0; i < facts->executors->len; i++) {
        const AdviseExecutor *executor = &g_array_index(facts->executors, AdviseExecutor, i);
        if (executor->tasks == 0 || executor->unified_peak_bytes <= 0 || executor->memory_bytes <= 0) continue;
        const double share = executor->unified_peak_bytes / executor->memory_bytes;
        if (share > most) most = share, user = executor;
    }
    if (user == NULL)
        elephant_unknown(elephant, GROUP_LATER, rule, "the log has no peaks of execution and storage memory");
    else
        elephant_row(elephant, GROUP_LATER, rule,
                     above_floors(facts, user) ? fallen_to(most, elephant_limits(elephant, LIMITS_UNIFIED_MEMORY))
                                               : SEVERITY_NONE,
                     g_strdup_printf("%.3g of what it may have", most));
}

static void judge_kills(const AdviseFacts *facts, Elephant *elephant) {
    const AdviseFailure *failure = &facts->failures[FAILURE_MEMORY];
    ElephantRow *row = elephant_row(elephant, GROUP_LATER, "out of memory, container killed",
                                    failure->tasks > 0 ? SEVERITY_CRITICAL : SEVERITY_NONE,
                                    g_strdup_printf("%u tasks", failure->tasks));
    if (failure->tasks == 0 || failure_of_heap(failure->reason != NULL ? failure->reason : "")) return;
    g_autofree char *more = bytes_setting(overhead_asked(facts, 0) + OVERHEAD_MORE);
    row->note = g_strdup_printf("recommended: %s of overhead", more);
}

static void judge_collection(const AdviseFacts *facts, Elephant *elephant) {
    const double share = share_of(facts->gc_ms, facts->run_ms);
    const gboolean enough = facts->run_ms >= RUN_FLOOR_MS;
    elephant_row(elephant, GROUP_LATER, "much garbage collection",
                 enough ? elephant_reached(share, elephant_limits(elephant, LIMITS_MUCH_GC)) : SEVERITY_NONE,
                 g_strdup_printf("%.3g", share));
    if (facts->run_ms > 0)
        elephant_row(elephant, GROUP_LATER, "little garbage collection",
                     fallen_to(share, elephant_limits(elephant, LIMITS_LITTLE_GC)), g_strdup_printf("%.3g", share));
    else
        elephant_unknown(elephant, GROUP_LATER, "little garbage collection", "no task ran");
}

void elephant_judge_later(const AdviseFacts *facts, Elephant *elephant) {
    judge_stages(facts, elephant);
    judge_collection(facts, elephant);
    judge_heap(facts, elephant);
    judge_unified(facts, elephant);
    judge_kills(facts, elephant);
}
