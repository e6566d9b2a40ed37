/* Rules about how much data a task has: spilling, partitions, small inputs, skew. */
#include <math.h>

#include "analyzer/diagnosis/advise/advise.h"
#include "analyzer/diagnosis/advise/busy.h"
#include "analyzer/diagnosis/advise/rules.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

#define SPILL_LEAST     0.1                /* of the data */
#define FEW_BYTES       (512 * MIB)        /* median shuffle read */
#define FEW_TASK_MS     2000.0             /* of a stage that leaves cores without a task */
#define MANY_BYTES      (8 * MIB)          /* median shuffle read */
#define SMALL_INPUT     (16 * MIB)         /* median input */
#define WAVES_LEAST     2.0                /* tasks a core */
#define SKEW_TIMES      4.0                /* greatest / median, of bytes and of time */
#define SKEW_BEYOND     0.05               /* of a stage, by its longest task beyond a median one */
#define PIECES_A_CORE   4.0                /* of what a core has of a skewed stage */
#define SIZE_ERROR      1.1                /* Spark knows sizes of partitions so well */
#define GONE_LEAST      20.0               /* tasks: fewer of them are not worth a change */
#define FIXED_MOST_MS   50.0               /* of a task's run, whatever its data */
#define BYTES_A_MS      (10 * MIB / 1000)  /* a slow task still does so much */
#define SPILL_DISK_A_MS (100 * MIB / 1000) /* written, and read again */
#define SPILL_CODE_A_MS (125 * MIB / 1000) /* of memory: to bytes, and back */
#define SPILL_MOST      0.7                /* of the run time of a stage that spilled */
#define SPILL_ROW_BYTES 64.0               /* of pointers to a row, at most */

double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

gboolean reads_shuffle(const AdviseStage *stage) { return stage_shuffle_bytes(stage) > 0; }

gboolean reads_input(const AdviseStage *stage) { return stage->sums[METRIC_INPUT_BYTES] > stage_shuffle_bytes(stage); }

const char *partitions_key(const AdviseStage *stage) {
    return stage->sql ? "spark.sql.shuffle.partitions" : "spark.default.parallelism";
}

static const AdviseSpread *data_of(const AdviseStage *stage) {
    return reads_input(stage) ? &stage->input : &stage->shuffle;
}

static gboolean uneven(const AdviseSpread *spread) {
    return spread->n >= 3 && spread->max > 0 && spread->max >= SKEW_TIMES * spread->median;
}

gboolean is_skewed(const AdviseStage *stage) { return uneven(data_of(stage)) && uneven(&stage->run); }

/* Does adaptive execution join partitions of shuffles? */
static gboolean coalesces(const AdviseFacts *facts) {
    return advise_since(facts, 3, 0) && advise_flag(facts, "spark.sql.adaptive.enabled") &&
           advise_flag(facts, "spark.sql.adaptive.coalescePartitions.enabled");
}

static gboolean adaptive(const AdviseFacts *facts, const AdviseStage *stage) { return stage->sql && coalesces(facts); }

/* Does the key decide how many tasks the stage has? Not where the code named a number. */
static gboolean key_counts(const AdviseFacts *facts, const AdviseStage *stage) {
    const double set = advise_number(facts, partitions_key(stage));
    if (adaptive(facts, stage)) return stage->tasks <= set;
    return stage->tasks == set || (!stage->sql && set < 0);
}

/* What one more task costs, whatever its data: until it runs, and a little of its run. By means, as many tasks that
 * wait for a processor cost what they wait together. Garbage is of the data, and its collection a finding of its own.
 */
static double overhead_ms(const AdviseStage *stage, double median_bytes) {
    const double around = MAX(stage->time.mean - stage->run.mean, 0);
    const double of_data = MIN(median_bytes / BYTES_A_MS, stage->run.mean);
    const double collecting = share_of(stage->sums[METRIC_GC_MS], stage->tasks);
    const double fixed = MIN(stage->run.mean - of_data, FIXED_MOST_MS);
    return MIN(around + fixed, MAX(stage->time.mean - of_data - collecting, 0));
}

/* ---- spill ---- */

static double spill_data(const AdviseStage *stage) {
    return MAX(MAX(stage->sums[METRIC_INPUT_BYTES], stage_shuffle_bytes(stage)),
               stage->sums[METRIC_SHUFFLE_WRITE_BYTES]);
}

/* Of a stage's tasks, ms: what they worked (processor and garbage collection), and what they waited beside fetching and
 * writing shuffles. worked_ms 0: not known. */
typedef struct Work {
    double worked_ms, waited_ms;
} Work;

static Work work_of(const AdviseStage *stage) {
    if (stage->sums[METRIC_CPU_NS] <= 0) return (Work){0, 0};
    const double worked_ms = stage->sums[METRIC_CPU_NS] / (double)NS_PER_MS + stage->sums[METRIC_GC_MS];
    const double shuffled_ms =
        stage->sums[METRIC_SHUFFLE_FETCH_WAIT_MS] + stage->sums[METRIC_SHUFFLE_WRITE_NS] / (double)NS_PER_MS;
    const double ran_ms = stage->sums[METRIC_RUN_MS] - shuffled_ms;
    return (Work){worked_ms, MAX(ran_ms - worked_ms, 0)};
}

/* To read and write spilled bytes is work; for their disk tasks waited no longer than they waited at all. On a busy
 * processor all that they do takes as many times as long. Where they wait for files or for Python, that tells nothing.
 */
static double spill_cost(const AdviseStage *stage) {
    const Work work = work_of(stage);
    const double code_ms = stage->sums[METRIC_MEMORY_SPILLED_BYTES] / SPILL_CODE_A_MS;
    double cost_ms = code_ms + 2 * stage->sums[METRIC_DISK_SPILLED_BYTES] / SPILL_DISK_A_MS;
    if (work.worked_ms > 0) {
        const gboolean files = reads_input(stage) || stage->sums[METRIC_OUTPUT_BYTES] > 0;
        const gboolean others = !stage->sql || stage->python || files;
        const double times = others ? 1 : 1 + work.waited_ms / work.worked_ms;
        cost_ms = MAX(MIN(cost_ms, code_ms + work.waited_ms), code_ms * times);
    }
    return MIN(cost_ms, SPILL_MOST * stage->sums[METRIC_RUN_MS]);
}

static gboolean spills(const AdviseStage *stage) {
    const double spilled = stage->sums[METRIC_MEMORY_SPILLED_BYTES];
    return stage->spilled_tasks > 0 && spilled > SPILL_LEAST * spill_data(stage);
}

/* What a task would have had, had it not spilled. Spark SQL's sorters and maps count the pages of rows as spilled, and
 * not the array of pointers beside them, which is in the peak alone, and begins anew after each spill
 * (UnsafeExternalSorter#spill): 16 bytes a row, room for twice as many where it sorts by radix or hashes, and up to
 * twice that, since it grows to powers of two. Rows that were read may be summed up to fewer: so no more than the
 * data. */
typedef struct SpillNeed {
    double had, spilled, pointers; /* bytes a task */
    double rows;                   /* a task; 0: not known, or none of Spark SQL */
} SpillNeed;

static SpillNeed spill_need(const AdviseStage *stage) {
    SpillNeed need = {.had = stage->max_peak_bytes,
                      .spilled = stage->sums[METRIC_MEMORY_SPILLED_BYTES] / stage->spilled_tasks};
    if (!stage->sql) return need;
    need.rows = floor((stage->sums[METRIC_INPUT_RECORDS] + stage->sums[METRIC_SHUFFLE_READ_RECORDS]) / stage->tasks);
    need.pointers = MIN(SPILL_ROW_BYTES * need.rows, need.had + need.spilled);
    return need;
}

/* By what it had. */
static double need_times(const SpillNeed *need) { return (need->had + need->spilled + need->pointers) / need->had; }

static char *need_text(const SpillNeed *need) {
    g_autofree char *had = bytes_text(need->had), *more = bytes_text(need->spilled);
    g_autofree char *pointers = bytes_text(need->pointers);
    g_autofree char *rows =
        need->rows > 0 ? g_strdup_printf(" + %s for pointers to %.0f rows", pointers, need->rows) : NULL;
    return g_strdup_printf("(%s had + %s spilled%s)", had, more, rows ? rows : "");
}

/* More memory, where smaller partitions do not help or cannot be had. */
static void spill_memory(const AdviseFacts *facts, const AdviseStage *stage, const SpillNeed *need, Finding *finding) {
    const double asked = memory_asked(facts, stage->profile);
    const double times = need->had > 0 ? CLAMP(need_times(need), 1.25, 4) : 2;
    g_autofree char *has = bytes_text(asked);
    finding->formula = g_strdup_printf("%s asked x %.2f (%s), in whole MiB", has, times,
                                       need->had > 0 ? "what a task had and spilled, by what it had, at most 4"
                                                     : "what a task had is not known: the double");
    change_memory(finding, facts, stage->profile, asked * times);
    finding->risk = g_strdup("The nodes must have the memory. A larger heap can take longer to collect.");
}

/* AQE had made fewer, larger partitions of what the key gives. */
static void change_advisory(const AdviseFacts *facts, const AdviseStage *stage, double wanted, Finding *finding) {
    const double bytes = MAX(floor(stage_shuffle_bytes(stage) / wanted / MIB), 1) * MIB;
    const char *key = "spark.sql.adaptive.advisoryPartitionSizeInBytes";
    if (bytes < advise_bytes(facts, key, 1)) finding_change(finding, facts, key, bytes_setting(bytes));
}

static void more_partitions(const AdviseFacts *facts, const AdviseStage *stage, double wanted, Finding *finding) {
    const double set = advise_number(facts, partitions_key(stage));
    if (key_counts(facts, stage) && wanted > set)
        finding_change(finding, facts, partitions_key(stage), g_strdup_printf("%.0f", wanted));
    if (adaptive(facts, stage) && stage->tasks < set) change_advisory(facts, stage, wanted, finding);
    if (finding->changes->len == 0)
        finding->advice = g_strdup_printf("The code names the number of partitions: make it %.0f there.", wanted);
}

static double spill_wanted(const AdviseStage *stage, const SpillNeed *need) {
    return ceil(stage->tasks * need_times(need));
}

static void spill_partitions(const AdviseFacts *facts, const AdviseStage *stage, const SpillNeed *need,
                             Finding *finding) {
    g_autofree char *had = bytes_text(need->had), *all = need_text(need);
    finding->formula = g_strdup_printf("%u tasks x %s / %s, rounded up", stage->tasks, all, had);
    finding->risk = g_strdup("All other shuffles of the application get as many partitions.");
    more_partitions(facts, stage, spill_wanted(stage, need), finding);
}

static void spill_input(const AdviseFacts *facts, const AdviseStage *stage, const SpillNeed *need, Finding *finding) {
    const char *key = "spark.sql.files.maxPartitionBytes";
    const double now = MIN(advise_bytes(facts, key, 1), stage->input.max);
    g_autofree char *had = bytes_text(need->had), *all = need_text(need), *each = bytes_text(now);
    finding->formula = g_strdup_printf("%s a task x %s had / %s", each, had, all);
    finding_change(finding, facts, key, bytes_setting(MAX(floor(now / need_times(need) / MIB), 1) * MIB));
    finding->risk = g_strdup("All files of the application are read in smaller pieces.");
}

static void spill_stage(const AdviseFacts *facts, const AdviseStage *stage, Advice *advice) {
    const SpillNeed need = spill_need(stage);
    const double all = stage->sums[METRIC_MEMORY_SPILLED_BYTES], peak = need.had;
    Finding *finding = advice_add(advice, "spill", FINDING_LIKELY);
    g_autofree char *name = stage_text(stage), *sum = bytes_text(all), *each = bytes_text(need.spilled);
    g_autofree char *disk = bytes_text(stage->sums[METRIC_DISK_SPILLED_BYTES]), *had = bytes_text(peak);

    finding->what = g_strdup_printf("%s spills %s, %s a task that spills.", name, sum, each);
    finding_evidence(finding, "%s: %u of %u tasks spilled %s of memory as %s on disk", name, stage->spilled_tasks,
                     stage->tasks, sum, disk);
    if (peak > 0) finding_evidence(finding, "peak execution memory of a task: %s", had);
    if (stage->spill_node != NULL) {
        g_autofree char *of_node = bytes_text(stage->spill_node_bytes);
        finding_evidence(finding, "most of it by %s: %s", stage->spill_node, of_node);
    }
    finding_stage(finding, stage);
    finding->cost_ms = finding->saves_ms = spill_cost(stage);
    finding->share = share_of(finding->cost_ms, facts->task_ms);

    const gboolean few = peak > 0 && spill_wanted(stage, &need) <= MOST_PARTITIONS && !is_skewed(stage);
    if (few && reads_shuffle(stage) && !reads_input(stage) && key_counts(facts, stage))
        spill_partitions(facts, stage, &need, finding);
    else if (few && reads_input(stage) && stage->sql)
        spill_input(facts, stage, &need, finding);
    else
        spill_memory(facts, stage, &need, finding);
}

void rule_spill(const AdviseFacts *facts, Advice *advice) {
    for (guint i = 0; i < facts->stages->len; i++)
        if (spills(advise_stage(facts, i))) spill_stage(facts, advise_stage(facts, i), advice);
}

/* ---- too few, too many partitions ---- */

/* Of all shuffles of RDDs, and of SQL, what the largest needs. */
typedef struct Needed {
    double of_rdd, of_sql;
} Needed;

static Needed partitions_needed(const AdviseFacts *facts) {
    const double least = MAX(facts->slots, 1);
    Needed needed = {least, least};
    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        const double most = MIN(ceil(stage_shuffle_bytes(stage) / PARTITION_BYTES), MOST_PARTITIONS);
        double *kind = stage->sql ? &needed.of_sql : &needed.of_rdd;
        *kind = MAX(*kind, most);
    }
    return needed;
}

static double needed_of(const Needed *needed, const AdviseStage *stage) {
    return stage->sql ? needed->of_sql : needed->of_rdd;
}

static void few_stage(const AdviseFacts *facts, const AdviseStage *stage, const Needed *needed, double idle_ms,
                      Advice *advice) {
    const gboolean large = stage->shuffle.median > FEW_BYTES;
    const gboolean idle = stage->tasks < stage_slots(facts, stage) && idle_ms > 0;
    const double wanted = MAX(needed_of(needed, stage), idle ? 2.0 * stage_slots(facts, stage) : 0);
    const double wall_ms = (double)(stage->end_ms - stage->begin_ms);
    Finding *finding = advice_add(advice, "few-partitions", large ? FINDING_LIKELY : FINDING_POSSIBLE);
    g_autofree char *name = stage_text(stage), *each = bytes_text(stage->shuffle.median);
    g_autofree char *all = bytes_text(stage_shuffle_bytes(stage));

    finding->what = g_strdup_printf("%s has only %u tasks, of %s each.", name, stage->tasks, each);
    finding_evidence(finding, "%s: %s of shuffle in %u tasks; %u could run at once", name, all, stage->tasks,
                     stage_slots(facts, stage));
    finding_evidence(finding, "median time of a task: %.1f s", stage->time.median / 1e3);
    finding_stage(finding, stage);
    if (idle)
        finding->cost_ms = MIN(wall_ms * (stage_slots(facts, stage) - stage->tasks), idle_ms);
    else
        finding->cost_ms = large ? stage->task_ms * 0.1 : 0;
    finding->saves_ms = idle ? finding->cost_ms : 0;
    finding->share = share_of(finding->cost_ms, MAX(facts->held_ms, facts->task_ms));
    finding->formula = g_strdup_printf("the greater of the largest shuffle / 128 MiB and %s%u cores: %.0f",
                                       idle ? "2 x " : "", stage_slots(facts, stage), wanted);
    finding->risk = g_strdup("Each partition more is a task more, and more blocks to fetch.");
    more_partitions(facts, stage, wanted, finding);
}

static gboolean has_few(const AdviseFacts *facts, const AdviseStage *stage) {
    if (!reads_shuffle(stage) || reads_input(stage) || stage->tasks == 0 || stage->attempt > 0) return FALSE;
    if (is_skewed(stage)) return FALSE;
    if (stage->shuffle.median > FEW_BYTES) return TRUE;
    return stage->tasks > 1 && 2 * stage->tasks <= stage_slots(facts, stage) && stage->time.median >= FEW_TASK_MS;
}

void rule_few_partitions(const AdviseFacts *facts, Advice *advice) {
    if (hosts_to_blame(facts, advice, "few-partitions")) return;
    const Needed needed = partitions_needed(facts);
    g_autoptr(GArray) busy = busy_times(facts);
    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        if (has_few(facts, stage)) few_stage(facts, stage, &needed, idle_beside(facts, busy, stage), advice);
    }
}

static gboolean has_many(const AdviseFacts *facts, const AdviseStage *stage, const Needed *needed) {
    if (is_skewed(stage)) return FALSE; /* fewer would put more beside the greatest */
    return stage->attempt == 0 && reads_shuffle(stage) && !reads_input(stage) && stage->shuffle.median < MANY_BYTES &&
           stage->tasks > WAVES_LEAST * stage_slots(facts, stage) &&
           stage->tasks >= needed_of(needed, stage) + GONE_LEAST;
}

static void many_stage(const AdviseFacts *facts, const AdviseStage *stage, const Needed *needed, Advice *advice) {
    const double wanted = needed_of(needed, stage), each_ms = overhead_ms(stage, stage->shuffle.median);
    const double gone = MAX(stage->tasks - wanted, 0);
    Finding *finding = advice_add(advice, "many-partitions", FINDING_LIKELY);
    g_autofree char *name = stage_text(stage), *each = bytes_text(stage->shuffle.median);
    g_autofree char *all = bytes_text(stage_shuffle_bytes(stage));

    finding->what = g_strdup_printf("%s has %u tasks for %s, %s each.", name, stage->tasks, all, each);
    finding_evidence(finding, "%s: a task takes %.0f ms, %.0f ms of it whatever its data", name, stage->time.mean,
                     each_ms);
    finding_stage(finding, stage);
    finding->cost_ms = finding->saves_ms = MIN(gone * each_ms, stage->task_ms);
    finding->share = share_of(finding->cost_ms, facts->task_ms);
    finding->formula = g_strdup_printf("the greater of the largest shuffle / 128 MiB and %u cores: %.0f; saves %.0f "
                                       "tasks x %.0f ms",
                                       stage_slots(facts, stage), wanted, gone, each_ms);
    finding->risk = g_strdup("Larger partitions need more memory in a task.");
    if (!key_counts(facts, stage) || adaptive(facts, stage)) {
        finding->advice = g_strdup_printf("The code names the number of partitions: make it %.0f there.", wanted);
        finding->certainty = FINDING_POSSIBLE;
        return;
    }
    finding_change(finding, facts, partitions_key(stage), g_strdup_printf("%.0f", wanted));
    if (!stage->sql) finding->certainty = FINDING_POSSIBLE;
}

void rule_many_partitions(const AdviseFacts *facts, Advice *advice) {
    const Needed needed = partitions_needed(facts);
    for (guint i = 0; i < facts->stages->len; i++) {
        if (!has_many(facts, advise_stage(facts, i), &needed)) continue;
        if (hosts_to_blame(facts, advice, "many-partitions")) return;
        many_stage(facts, advise_stage(facts, i), &needed, advice);
    }
}

/* ---- small inputs ---- */

static gboolean has_small_input(const AdviseFacts *facts, const AdviseStage *stage) {
    const double wanted = MAX(ceil(stage->sums[METRIC_INPUT_BYTES] / PARTITION_BYTES), stage_slots(facts, stage));
    return stage->attempt == 0 && reads_input(stage) && stage->input.median < SMALL_INPUT &&
           stage->tasks > WAVES_LEAST * stage_slots(facts, stage) && stage->tasks >= wanted + GONE_LEAST;
}

static void small_change(const AdviseFacts *facts, double wanted, Finding *finding) {
    const char *piece = "spark.sql.files.maxPartitionBytes", *open = "spark.sql.files.openCostInBytes";
    if (advise_bytes(facts, piece, 1) < PARTITION_BYTES)
        finding_change(finding, facts, piece, bytes_setting(PARTITION_BYTES));
    else if (advise_bytes(facts, open, 1) > MIB)
        finding_change(finding, facts, open, bytes_setting(MIB));
    else
        finding->advice = g_strdup_printf("Join the files to some %.0f larger ones.", wanted);
}

static void small_stage(const AdviseFacts *facts, const AdviseStage *stage, Advice *advice) {
    const double bytes = stage->sums[METRIC_INPUT_BYTES], each_ms = overhead_ms(stage, stage->input.median);
    const double wanted = MAX(ceil(bytes / PARTITION_BYTES), MAX(stage_slots(facts, stage), 1));
    const double gone = MAX(stage->tasks - wanted, 0);
    Finding *finding = advice_add(advice, "small-input", stage->sql ? FINDING_LIKELY : FINDING_POSSIBLE);
    g_autofree char *name = stage_text(stage), *each = bytes_text(stage->input.median), *all = bytes_text(bytes);

    finding->what = g_strdup_printf("%s reads %s in %u tasks, %s each.", name, all, stage->tasks, each);
    finding_evidence(finding, "%s: a task takes %.0f ms, %.0f ms of it whatever its data", name, stage->time.mean,
                     each_ms);
    finding_stage(finding, stage);
    finding->cost_ms = finding->saves_ms = MIN(gone * each_ms, stage->task_ms);
    finding->share = share_of(finding->cost_ms, facts->task_ms);
    finding->formula = g_strdup_printf("the greater of %s / 128 MiB and %u cores: %.0f tasks; saves %.0f x %.0f ms",
                                       all, stage_slots(facts, stage), wanted, gone, each_ms);
    finding->risk = g_strdup("Larger pieces need more memory in a task, and fewer tasks run where the data is.");
    if (stage->sql)
        small_change(facts, wanted, finding);
    else
        finding->advice =
            g_strdup_printf("No setting changes it: coalesce(%.0f) after reading, or join the files.", wanted);
}

void rule_small_input(const AdviseFacts *facts, Advice *advice) {
    for (guint i = 0; i < facts->stages->len; i++) {
        if (!has_small_input(facts, advise_stage(facts, i))) continue;
        if (hosts_to_blame(facts, advice, "small-input")) return;
        small_stage(facts, advise_stage(facts, i), advice);
    }
}

/* ---- skew ---- */

/* The other pieces are no smaller than what is worth a task, and small enough that cores end at about the same time. */
static double cut_piece(const AdviseFacts *facts, const AdviseStage *stage) {
    const double share = stage_shuffle_bytes(stage) / MAX(stage_slots(facts, stage), 1);
    return floor(MAX(MAX(stage->shuffle.median, share / PIECES_A_CORE), MANY_BYTES) / MIB) * MIB;
}

/* The advisory size is that of all shuffles whose partitions AQE joins: what their further tasks would cost, in ms; not
 * worked out to its end where it is above most_ms. */
static double smaller_cost(const AdviseFacts *facts, double piece, double most_ms) {
    if (!coalesces(facts)) return 0;
    const double set = advise_number(facts, "spark.sql.shuffle.partitions");
    double cost_ms = 0;
    for (guint i = 0; i < facts->stages->len && cost_ms <= most_ms && allowance_goes_on(); i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        if (stage->attempt > 0 || !stage->sql || !reads_shuffle(stage)) continue;
        const double bytes = stage_shuffle_bytes(stage);
        const double each = MAX(MIN(piece, bytes / MAX(stage_slots(facts, stage), 1)), MIB);
        const double tasks = MIN(ceil(bytes / each), set);
        cost_ms += MAX(tasks - stage->tasks, 0) * overhead_ms(stage, stage->shuffle.median);
    }
    return cost_ms;
}

/* Where AQE was off, it is not to join partitions: the advisory size is for the skewed ones. */
static void change_adaptive(const AdviseFacts *facts, Finding *finding) {
    const char *on = "spark.sql.adaptive.enabled", *coalesce = "spark.sql.adaptive.coalescePartitions.enabled";
    const char *join = "spark.sql.adaptive.skewJoin.enabled";
    const gboolean off = !advise_flag(facts, on);
    if (off) finding_change(finding, facts, on, g_strdup("true"));
    if (off && advise_flag(facts, coalesce)) finding_change(finding, facts, coalesce, g_strdup("false"));
    if (!advise_flag(facts, join)) finding_change(finding, facts, join, g_strdup("true"));
}

/* As Spark does it (OptimizeSkewedJoin): a partition above the threshold, and above the factor times the median, is
 * cut between the outputs of map tasks into pieces of the advisory size, or of the mean of the others where that is
 * more. */
static void skew_join(const AdviseFacts *facts, const AdviseStage *stage, Finding *finding) {
    const char *least = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";
    const char *times = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
    const char *advisory = "spark.sql.adaptive.advisoryPartitionSizeInBytes";
    const double median = stage->shuffle.median, most = stage->shuffle.max, piece = cut_piece(facts, stage);
    const double bound = MAX(floor(most / 2 / MIB), 1) * MIB;
    const gboolean smaller = advise_bytes(facts, advisory, 1) > piece;
    const double more_ms = smaller ? smaller_cost(facts, piece, finding->saves_ms) : 0;
    g_autofree char *each = bytes_text(piece), *saves = core_time_text(finding->saves_ms);

    if (more_ms > finding->saves_ms) {
        finding->advice = g_strdup_printf("Salt the key. To have Spark cut the partition, all shuffles would have to "
                                          "have pieces of %s, whose tasks cost more than the %s that it saves.",
                                          each, saves);
        return;
    }
    change_adaptive(facts, finding);
    if (advise_bytes(facts, least, 1) > bound) finding_change(finding, facts, least, bytes_setting(bound));
    if (advise_number(facts, times) * median * SIZE_ERROR >= most)
        finding_change(finding, facts, times, g_strdup_printf("%.0f", MAX(floor(most / median / 2), 1)));
    if (smaller) finding_change(finding, facts, advisory, bytes_setting(piece));

    if (finding->changes->len == 0)
        finding->advice = g_strdup("Spark could have cut it and did not: salt the key, or broadcast the other side.");
    finding->formula = g_strdup_printf("a partition counts as skewed from half of the greatest on, and is cut into "
                                       "pieces of %s: the greatest of the median, a quarter of what a core has of the "
                                       "stage, and 8 MiB",
                                       each);
    finding->risk = g_strdup_printf(
        "The other side of the join is read once for each piece. Of an outer, semi or anti join Spark cuts one side "
        "alone.%s",
        advise_flag(facts, "spark.sql.adaptive.enabled")
            ? ""
            : " Adaptive execution may broadcast the smaller side of other joins, and cut their partitions, too.");
}

static gboolean joins_whole(const AdviseFacts *facts, const AdviseStage *stage) {
    for (guint i = 0; i < facts->joins->len && allowance_goes_on(); i++) {
        const AdviseJoin *join = &g_array_index(facts->joins, AdviseJoin, i);
        if (join->stage == stage->stage && join->whole) return TRUE;
    }
    return FALSE;
}

/* As many even partitions as there were, in whole waves. */
static guint32 even_partitions(const AdviseFacts *facts, const AdviseStage *stage) {
    const guint32 slots = MAX(stage_slots(facts, stage), 1);
    return (MAX(stage->tasks, 2 * slots) + slots - 1) / slots * slots;
}

/* What cores stood idle: while the longest task ran alone, and no more than they did while the stage ran. */
static double skew_saves(const AdviseFacts *facts, const AdviseStage *stage, double idle_ms) {
    const double alone_ms = MAX(stage->time.max - stage->time.p75, 0);
    return MIN(alone_ms * (MAX(stage_slots(facts, stage), 1) - 1), idle_ms);
}

/* The partition is named all the same, where the stage counts, and its task took what counts of the stage's time beyond
 * a usual one: with more cores the stage takes as long. */
static void skew_without_cost(const AdviseFacts *facts, const AdviseStage *stage, Finding *finding) {
    const double beyond_ms = stage->time.max - stage->time.median, wall_ms = (double)(stage->end_ms - stage->begin_ms);
    const gboolean counts =
        share_of(stage->task_ms, facts->task_ms) >= ADVISE_LEAST_SHARE && share_of(beyond_ms, wall_ms) >= SKEW_BEYOND;
    finding->certainty = counts ? FINDING_LIKELY : FINDING_POSSIBLE;
    finding_evidence(finding, "no core stood idle for it: other tasks had them meanwhile");
    finding->advice = g_strdup_printf("With these %u cores a change saves nothing. With more, the stage still takes "
                                      "the %.1f s of that task: then %s.",
                                      MAX(stage_slots(facts, stage), 1), stage->time.max / 1e3,
                                      reads_input(stage) ? "write its input anew in even parts" : "salt the key");
}

static void skew_stage(const AdviseFacts *facts, const AdviseStage *stage, double idle_ms, Advice *advice) {
    const AdviseSpread *data = data_of(stage);
    Finding *finding = advice_add(advice, "skew", FINDING_LIKELY);
    g_autofree char *name = stage_text(stage), *most = bytes_text(data->max), *middle = bytes_text(data->median);

    finding->what =
        g_strdup_printf("Partition %d of %s has %s, the median is %s.", data->max_partition, name, most, middle);
    finding_evidence(finding,
                     "task %" G_GINT64_FORMAT " of %s: %.1f s, the median %.1f s; most bytes: task %" G_GINT64_FORMAT,
                     stage->time.max_task, name, stage->time.max / 1e3, stage->time.median / 1e3, data->max_task);
    finding_stage(finding, stage);
    finding_task(finding, data->max_task);
    finding->cost_ms = finding->saves_ms = skew_saves(facts, stage, idle_ms);
    if (finding->cost_ms <= 0) {
        skew_without_cost(facts, stage, finding);
        return;
    }

    finding->share = share_of(finding->cost_ms, MAX(facts->held_ms, facts->task_ms));
    if (stage->sql && stage->join && advise_since(facts, 3, 0) && !joins_whole(facts, stage))
        skew_join(facts, stage, finding);
    else if (reads_input(stage)) {
        finding->partitions = even_partitions(facts, stage);
        finding->advice = g_strdup_printf("Write its input anew in even parts, before it is read: repartition(%u). A "
                                          "large file in a form that cannot be split is the cause?",
                                          finding->partitions);
    } else
        finding->advice = g_strdup("Salt the key: add a random part to it, aggregate, then aggregate without it.");
}

void rule_skew(const AdviseFacts *facts, Advice *advice) {
    g_autoptr(GArray) busy = busy_times(facts);
    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        if (!is_skewed(stage) || stage->node_ms > stage->time.max / 2) continue;
        skew_stage(facts, stage, idle_beside(facts, busy, stage), advice);
    }
}
