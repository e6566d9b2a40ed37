/* Ledgers: each rule on a case worked out by hand, and that the parts always add up, whatever was measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/diagnosis/ledger/foreign.h"
#include "analyzer/diagnosis/ledger/ledger_run.h"
#include "analyzer/diagnosis/ledger/robust.h"
#include "analyzer/diagnosis/student.h"
#include "common/base/allowance.h"
#include "tests/diagnosis/tables.h"

#define MS G_GINT64_CONSTANT(1000000)

static void assert_near(double value, double expected) {
    g_assert_cmpfloat_with_epsilon(value, expected, 1e-9 * (1 + fabs(expected)));
}

static TaskTimes unknown_times(void) {
    TaskTimes times = {.run_ns = -1, .bytes = NAN, .records = NAN};
    for (guint k = 0; k < LEDGER_PART_COUNT; k++) times.measured_ns[k] = -1;
    return times;
}

static gint64 sum(const gint64 *parts) {
    gint64 all = 0;
    for (guint k = 0; k < LEDGER_PART_COUNT; k++) all += parts[k];
    return all;
}

/* ---- the split ---- */

/* 1000 ms from launch to end: 50 to deserialize, 900 of run, 10 to serialize; 40 are left to the scheduler. Of the run
 * 300 on a processor, 100 of collections, 200 for the shuffle: 300 are unexplained. */
static void split_adds_up(void) {
    TaskTimes times = unknown_times();
    gint64 parts[LEDGER_PART_COUNT];
    times.run_ns = 900 * MS;
    times.measured_ns[LEDGER_PROCESSOR] = 300 * MS;
    times.measured_ns[LEDGER_GC] = 100 * MS;
    times.measured_ns[LEDGER_SHUFFLE_WAIT] = 200 * MS;
    times.measured_ns[LEDGER_DESERIALIZE] = 50 * MS;
    times.measured_ns[LEDGER_SERIALIZE] = 10 * MS;
    times.measured_ns[LEDGER_HDFS_DISK] = 250 * MS;
    ledger_split(&times, 1000 * MS, TRACED_NOTHING, parts);
    g_assert_cmpint(parts[LEDGER_SCHEDULER], ==, 40 * MS);
    g_assert_cmpint(parts[LEDGER_PROCESSOR], ==, 300 * MS);
    g_assert_cmpint(parts[LEDGER_HDFS_DISK], ==, 0);
    g_assert_cmpint(parts[LEDGER_UNEXPLAINED], ==, 300 * MS);
    g_assert_cmpint(sum(parts), ==, 1000 * MS);

    ledger_split(&times, 1000 * MS, TRACED_HDFS, parts);
    g_assert_cmpint(parts[LEDGER_HDFS_DISK], ==, 250 * MS);
    g_assert_cmpint(parts[LEDGER_UNEXPLAINED], ==, 50 * MS);
}

/* A collection of 300 ms while a DataNode was waited for as long: of the 300 ms that the processor left, each has half.
 * The processor has all of a run that is shorter than it. */
static void waits_share_the_time(void) {
    TaskTimes times = unknown_times();
    gint64 parts[LEDGER_PART_COUNT];
    times.run_ns = 900 * MS;
    times.measured_ns[LEDGER_PROCESSOR] = 600 * MS;
    times.measured_ns[LEDGER_GC] = 300 * MS;
    times.measured_ns[LEDGER_HDFS_DISK] = 300 * MS;
    ledger_split(&times, 900 * MS, TRACED_HDFS, parts);
    g_assert_cmpint(parts[LEDGER_PROCESSOR], ==, 600 * MS);
    g_assert_cmpint(parts[LEDGER_GC], ==, 150 * MS);
    g_assert_cmpint(parts[LEDGER_HDFS_DISK], ==, 150 * MS);
    g_assert_cmpint(parts[LEDGER_UNEXPLAINED], ==, 0);

    times.measured_ns[LEDGER_PROCESSOR] = 2000 * MS;
    ledger_split(&times, 900 * MS, TRACED_HDFS, parts);
    g_assert_cmpint(parts[LEDGER_PROCESSOR], ==, 900 * MS);
    g_assert_cmpint(sum(parts), ==, 900 * MS);
}

/* A task that still runs: nothing is the scheduler's, and what it waits for HDFS is known all the same. */
static void a_running_task(void) {
    TaskTimes times = unknown_times();
    gint64 parts[LEDGER_PART_COUNT];
    times.measured_ns[LEDGER_HDFS_NETWORK] = 70 * MS;
    ledger_split(&times, 100 * MS, TRACED_HDFS, parts);
    g_assert_cmpint(parts[LEDGER_HDFS_NETWORK], ==, 70 * MS);
    g_assert_cmpint(parts[LEDGER_SCHEDULER], ==, 0);
    g_assert_cmpint(parts[LEDGER_UNEXPLAINED], ==, 30 * MS);
    ledger_split(&times, 0, TRACED_HDFS, parts);
    g_assert_cmpint(sum(parts), ==, 0);
}

static gint64 any_time(GRand *rand) {
    switch (g_rand_int_range(rand, 0, 6)) {
    case 0: return -1;
    case 1: return 0;
    case 2: return G_MAXINT64 - g_rand_int_range(rand, 0, 9);
    case 3: return G_MININT64 + g_rand_int_range(rand, 0, 9);
    default: return (gint64)(g_rand_double(rand) * 2e12);
    }
}

static void always_adds_up(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (guint turn = 0; turn < 20000; turn++) {
        TaskTimes times = unknown_times();
        gint64 parts[LEDGER_PART_COUNT], drawn_ns = any_time(rand) / 4, duration_ns = MAX(0, drawn_ns);
        times.run_ns = any_time(rand);
        for (guint k = 0; k < LEDGER_PART_COUNT; k++) times.measured_ns[k] = any_time(rand);
        ledger_split(&times, duration_ns, (LedgerTraced)(turn % N_TRACED), parts);
        g_assert_cmpint(sum(parts), ==, duration_ns);
        for (guint k = 0; k < LEDGER_PART_COUNT; k++) g_assert_cmpint(parts[k], >=, 0);
    }
}

/* ---- slopes ---- */

/* y = 3 x, but for one of five points: of ten slopes six are 3. The interval of five points are the quantiles 0.1 and
 * 0.9 of the slopes: 5 * 4 pairs, times 15, by 18, is 16.7, whose root is 4.08 of 20. */
static void slope_of_most(void) {
    const double x[] = {1, 2, 3, 4, 5}, y[] = {3, 6, 900, 12, 15};
    double low, high;
    assert_near(slope_median((Points){x, y, 5}), 3);
    slope_interval((Points){x, y, 5}, 0, &low, &high);
    g_assert_cmpfloat(low, <, -440);
    g_assert_cmpfloat(high, >, 440);
    slope_interval((Points){x, y, 5}, 3.5, &low, &high); /* 1 and 5 alone are so far apart */
    assert_near(low, 3);
    assert_near(high, 3);
    slope_interval((Points){x, y, 3}, 0, &low, &high);
    g_assert_true(isinf(low) && isinf(high));
    const double same[] = {2, 2};
    assert_near(slope_median((Points){same, y, 2}), 0);
}

/* ---- what is usual, and ledgers ---- */

typedef struct Made {
    TaskTable *table;
    Stragglers *stragglers;
    LedgerTimes *times;
    Ledgers *ledgers;
} Made;

static void made_clear(Made *made) {
    ledgers_free(made->ledgers);
    ledger_times_free(made->times);
    stragglers_free(made->stragglers);
    task_table_free(made->table);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

/* Tasks of one stage and host that ran all of their time; the processor had half of it, and they read a byte a ms. */
static Made made_of(const gint64 *durations_ms, guint32 n) {
    g_autofree Row *rows = g_new0(Row, n);
    for (guint32 i = 0; i < n; i++) rows[i] = (Row){0, 0, 0, durations_ms[i], 0};
    Made made = {.table = table_of(FEATURE_RESOURCE, rows, n)};
    made.stragglers = stragglers_find(made.table, STRAGGLER_RATIO);
    made.times = ledger_times_new(made.table, made.stragglers);
    made.ledgers = ledgers_new(made.table, made.stragglers, made.times);
    for (guint32 i = 0; i < n; i++) {
        TaskTimes *times = ledger_times_at(made.times, i);
        if (!times) continue; /* of a stage without stragglers */
        times->run_ns = durations_ms[i] * MS;
        times->measured_ns[LEDGER_PROCESSOR] = durations_ms[i] * MS / 2;
        times->bytes = 100;
    }
    return made;
}

static void check_sums(const Ledger *ledger) {
    g_assert_cmpint(sum(ledger->time_ns), ==, ledger->duration_ns);
    g_assert_cmpint(sum(ledger->more_ns), ==, ledger_excess_ns(ledger));
}

/* Five tasks of 80, 100, 100, 100, 120 ms and one of 1000, half of each on a processor. The median is 100. Usual are 50
 * and 50; the slow one waited 800 for a disk and computed 100: of the 900 more 800 are the disk's, 50 the processor's,
 * 50 are unexplained. */
static const gint64 slow_disk_ms[] = {80, 100, 100, 100, 120, 1000};

static Made slow_disk(void) {
    Made made = made_of(slow_disk_ms, G_N_ELEMENTS(slow_disk_ms));
    for (guint32 i = 0; i < G_N_ELEMENTS(slow_disk_ms); i++)
        ledger_times_at(made.times, i)->measured_ns[LEDGER_HDFS_DISK] = 0;
    TaskTimes *slow = ledger_times_at(made.times, 5);
    slow->measured_ns[LEDGER_PROCESSOR] = 100 * MS;
    slow->measured_ns[LEDGER_HDFS_DISK] = 800 * MS;
    return made;
}

static void ledger_of_a_slow_disk(void) {
    g_auto(Made) made = slow_disk();
    Ledger ledger;
    g_assert_true(ledgers_of(made.ledgers, 5, &ledger));
    g_assert_cmpuint(ledger.peers, ==, 5);
    g_assert_cmpint(ledger.traced, ==, TRACED_HDFS);
    g_assert_cmpint(ledger.usual_ns, ==, 100 * MS);
    g_assert_cmpint(ledger.more_ns[LEDGER_HDFS_DISK], ==, 800 * MS);
    g_assert_cmpint(ledger.more_ns[LEDGER_PROCESSOR], ==, 50 * MS);
    g_assert_cmpint(ledger.more_ns[LEDGER_UNEXPLAINED], ==, 50 * MS);
    check_sums(&ledger);

    /* Without peers of which it is known, the wait is unexplained. */
    for (guint32 i = 0; i < 4; i++) ledger_times_at(made.times, i)->measured_ns[LEDGER_HDFS_DISK] = -1;
    g_autoptr(Ledgers) again = ledgers_new(made.table, made.stragglers, made.times);
    g_assert_true(ledgers_of(again, 5, &ledger));
    g_assert_cmpint(ledger.traced, ==, TRACED_NOTHING);
    g_assert_cmpint(ledger.more_ns[LEDGER_UNEXPLAINED], ==, 850 * MS);
    check_sums(&ledger);
}

/* All waited 20 ms for a processor. That counts where it is known of the straggler and of two peers, as where the
 * kernel counts it; else nobody has it. */
static void waits_for_processors_of_peers(void) {
    g_auto(Made) made = slow_disk();
    TaskTimes *slow = ledger_times_at(made.times, 5);
    slow->measured_ns[LEDGER_PROCESSOR_WAIT] = 20 * MS;
    Ledger ledger;
    g_assert_true(ledgers_of(made.ledgers, 5, &ledger));
    g_assert_cmpint(ledger.traced, ==, TRACED_HDFS);
    g_assert_cmpint(ledger.time_ns[LEDGER_PROCESSOR_WAIT], ==, 0);
    g_assert_cmpint(ledger.more_ns[LEDGER_UNEXPLAINED], ==, 50 * MS);
    check_sums(&ledger);

    for (guint32 i = 1; i < 4; i++) ledger_times_at(made.times, i)->measured_ns[LEDGER_PROCESSOR_WAIT] = 20 * MS;
    g_autoptr(Ledgers) known = ledgers_new(made.table, made.stragglers, made.times);
    g_assert_true(ledgers_of(known, 5, &ledger));
    g_assert_cmpint(ledger.traced, ==, TRACED_PROCESSOR);
    g_assert_cmpuint(ledger.peers, ==, 3);
    g_assert_cmpint(ledger.more_ns[LEDGER_PROCESSOR_WAIT], ==, 0);
    g_assert_cmpint(ledger.more_ns[LEDGER_UNEXPLAINED], ==, 50 * MS);
    check_sums(&ledger);

    slow->measured_ns[LEDGER_PROCESSOR_WAIT] = -1;
    g_autoptr(Ledgers) unknown = ledgers_new(made.table, made.stragglers, made.times);
    g_assert_true(ledgers_of(unknown, 5, &ledger));
    g_assert_cmpint(ledger.traced, ==, TRACED_HDFS);
    g_assert_cmpint(ledger.more_ns[LEDGER_PROCESSOR_WAIT], ==, 0);
    check_sums(&ledger);
}

/* Ledger of the straggler, the last of n tasks, of what was set since. */
static Ledger ledger_of_last(const Made *made, guint32 n) {
    g_autoptr(Ledgers) ledgers = ledgers_new(made->table, made->stragglers, made->times);
    Ledger ledger;
    g_assert_true(ledgers_of(ledgers, n - 1, &ledger));
    check_sums(&ledger);
    return ledger;
}

static void student(void) {
    const double z95 = 1.644853627, z975 = 1.959963985;
    g_assert_cmpfloat_with_epsilon(student_quantile(z95, 1), 6.3138, 0.001);
    g_assert_cmpfloat_with_epsilon(student_quantile(z95, 2), 2.9200, 0.001);
    g_assert_cmpfloat_with_epsilon(student_quantile(z95, 3), 2.3534, 0.01);
    g_assert_cmpfloat_with_epsilon(student_quantile(z95, 4), 2.1318, 0.003);
    g_assert_cmpfloat_with_epsilon(student_quantile(z975, 4), 2.7764, 0.01);
    g_assert_cmpfloat_with_epsilon(student_quantile(z975, 100), 1.9840, 0.001);
}

/* Peers waited 5, 5, 15, 35 and 35 ms for the disk. With 5 ms more each, a twentieth of the median, that is 10, 10, 20,
 * 40 and 40. Of the ten distances of their logarithms two are 0, four are ln 2 and four twice that, so that the median
 * is ln 2 and the deviation 0.7266. Student's t (4 degrees of freedom, 97.5 %) is 2.776, and with the root of 1 + 1/5
 * the factor is the exponential of 2.210, 9.113: of 20 ms less 5 that is 177.3. Usual are 55/300 of 100 ms. */
static void accounts_vary(void) {
    const gint64 waits_ms[] = {5, 5, 15, 35, 35};
    g_auto(Made) made = slow_disk();
    for (guint32 i = 0; i < 5; i++) ledger_times_at(made.times, i)->measured_ns[LEDGER_HDFS_DISK] = waits_ms[i] * MS;
    const Ledger ledger = ledger_of_last(&made, 6);
    const double bound_ms = (double)ledger.varies_ns[ACCOUNT_HDFS] / (double)MS + 55.0 / 3;
    g_assert_cmpfloat_with_epsilon(bound_ms, 177.3, 1.5);
    g_assert_cmpint(ledger.varies_ns[ACCOUNT_GC], ==, 0);
    g_assert_cmpint(ledger.varies_ns[ACCOUNT_DATA], ==, 0);

    /* Of five none waited but one: that one alone acquits nobody. Two do. */
    TaskTimes *first = ledger_times_at(made.times, 0), *second = ledger_times_at(made.times, 1);
    for (guint32 i = 0; i < 5; i++) ledger_times_at(made.times, i)->measured_ns[LEDGER_HDFS_DISK] = 0;
    first->measured_ns[LEDGER_HDFS_DISK] = 40 * MS;
    g_assert_cmpint(ledger_of_last(&made, 6).varies_ns[ACCOUNT_HDFS], ==, 0);
    second->measured_ns[LEDGER_HDFS_DISK] = 40 * MS;
    g_assert_cmpint(ledger_of_last(&made, 6).varies_ns[ACCOUNT_HDFS], >=, 40 * MS);

    /* Which resource each of them waited for does not matter: it is all HDFS's. */
    second->measured_ns[LEDGER_HDFS_DISK] = 0;
    second->measured_ns[LEDGER_HDFS_SLEEP] = 40 * MS;
    g_assert_cmpint(ledger_of_last(&made, 6).varies_ns[ACCOUNT_HDFS], >=, 40 * MS);
}

/* Of 79 normal tasks that collected for 1, 2, ... 79 ms one has 78 ms at rank 0.975 (79 + 1). The middle half has 40 ms
 * in the mean. The greatest may be any. */
static void many_are_ranked(void) {
    gint64 durations_ms[80];
    for (guint i = 0; i < 80; i++) durations_ms[i] = i == 79 ? 1000 : 200;
    g_auto(Made) made = made_of(durations_ms, 80);
    for (guint32 i = 0; i < 79; i++) ledger_times_at(made.times, i)->measured_ns[LEDGER_GC] = (i + 1) * MS;
    g_assert_cmpint(labs(ledger_of_last(&made, 80).varies_ns[ACCOUNT_GC] - 38 * MS), <=, 1);
    ledger_times_at(made.times, 78)->measured_ns[LEDGER_GC] = 95 * MS;
    g_assert_cmpint(labs(ledger_of_last(&made, 80).varies_ns[ACCOUNT_GC] - 38 * MS), <=, 1);
}

/* One normal task tells nothing of how much others have. */
static void one_says_nothing(void) {
    const gint64 durations_ms[] = {100, 1000};
    g_auto(Made) made = made_of(durations_ms, 2);
    const Ledger ledger = ledger_of_last(&made, 2);
    g_assert_cmpuint(ledger.peers, ==, 1);
    g_assert_cmpint(ledger.varies_ns[ACCOUNT_GC], ==, USUAL_ANYTHING);
    g_assert_cmpint(ledger.varies_ns[ACCOUNT_DATA], ==, 0);
}

/* How often a normal task has more than n others say is usual, where the logarithms are normally distributed with a
 * deviation of 0.5, or (mixed) one of five has such a wait and the others have none. docs/spark.md has the figures. */
static double rate_above(guint32 n, gboolean mixed, GRand *rand) {
    const guint turns = 2000;
    guint above = 0;
    g_autofree gint64 *durations_ms = g_new(gint64, n + 1);
    for (guint32 i = 0; i <= n; i++) durations_ms[i] = i == n ? 10000 : 1000;
    g_auto(Made) made = made_of(durations_ms, n + 1);
    for (guint turn = 0; turn < turns; turn++) {
        gint64 next_ns = 0;
        for (guint32 i = 0; i <= n; i++) {
            const double radius = sqrt(-2 * log(1 - g_rand_double(rand))), angle = 2 * G_PI * g_rand_double(rand);
            const gboolean waits = !mixed || g_rand_int_range(rand, 0, 5) == 0;
            next_ns = waits ? (gint64)(100 * (double)MS * exp(0.5 * radius * cos(angle))) : 0;
            if (i < n) ledger_times_at(made.times, i)->measured_ns[LEDGER_GC] = next_ns;
        }
        const StageUsual usual = stage_usual(made.table, made.stragglers, made.times, 0, TRACED_NOTHING);
        above += next_ns - usual.parts_ns[LEDGER_GC] > usual.varies_ns[ACCOUNT_GC];
    }
    return above / (double)turns;
}

static void few_normal_tasks_are_above(void) {
    const guint32 counts[] = {2, 3, 5, 8, 12, 20, 40, 78, 79};
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        const double waits = rate_above(counts[i], FALSE, rand), mixed = rate_above(counts[i], TRUE, rand);
        g_test_message("%u normal tasks: %.1f %%, mixed %.1f %%", counts[i], 100 * waits, 100 * mixed);
        g_assert_cmpfloat(waits, <=, 0.05);
        g_assert_cmpfloat(mixed, <=, 0.2);
    }
}

/* The slow one still runs: that its peers used 50 ms of a processor each says nothing of it. */
static void what_is_unknown_is_unexplained(void) {
    g_auto(Made) made = slow_disk();
    for (guint32 i = 0; i < 5; i++) {
        TaskTimes *times = ledger_times_at(made.times, i);
        times->run_ns -= 10 * MS; /* the scheduler's */
    }
    TaskTimes *slow = ledger_times_at(made.times, 5);
    slow->run_ns = slow->measured_ns[LEDGER_PROCESSOR] = -1;
    Ledger ledger;
    g_assert_true(ledgers_of(made.ledgers, 5, &ledger));
    g_assert_cmpint(ledger.more_ns[LEDGER_PROCESSOR], ==, 0);
    g_assert_cmpint(ledger.more_ns[LEDGER_SCHEDULER], ==, 0);
    g_assert_cmpint(ledger.more_ns[LEDGER_HDFS_DISK], ==, 800 * MS);
    g_assert_cmpint(ledger.more_ns[LEDGER_UNEXPLAINED], ==, 100 * MS);
    check_sums(&ledger);
}

/* Twice as long over twice the bytes, where a byte costs a ms: all of it is the data's, whatever it did meanwhile. */
static void data_is_expected(void) {
    const gint64 durations_ms[] = {60, 80, 90, 100, 100, 110, 120, 130, 200};
    g_auto(Made) made = made_of(durations_ms, G_N_ELEMENTS(durations_ms));
    for (guint32 i = 0; i < G_N_ELEMENTS(durations_ms); i++)
        ledger_times_at(made.times, i)->bytes = (double)durations_ms[i];
    Ledger ledger;
    g_assert_true(ledgers_of(made.ledgers, 8, &ledger));
    g_assert_cmpint(ledger.more_ns[LEDGER_DATA], ==, 100 * MS);
    g_assert_cmpint(ledger.more_ns[LEDGER_PROCESSOR], ==, 0);
    g_assert_cmpint(ledger.more_ns[LEDGER_UNEXPLAINED], ==, 0);
    g_assert_cmpint(ledger.bound_ns, >=, ledger.duration_ns);
    check_sums(&ledger);

    /* Half of it costs nothing of the data: the normal tasks say so. */
    for (guint32 i = 0; i < 9; i++) ledger_times_at(made.times, i)->bytes = 2.0 * (double)durations_ms[i] - 100;
    g_autoptr(Ledgers) half = ledgers_new(made.table, made.stragglers, made.times);
    g_assert_true(ledgers_of(half, 8, &ledger));
    g_assert_cmpint(ledger.more_ns[LEDGER_DATA], ==, 100 * MS); /* 200 more bytes */
    check_sums(&ledger);

    /* All peers read as much: nothing but the proportion is known. */
    for (guint32 i = 0; i < 8; i++) ledger_times_at(made.times, i)->bytes = 100;
    ledger_times_at(made.times, 8)->bytes = 150;
    g_autoptr(Ledgers) again = ledgers_new(made.table, made.stragglers, made.times);
    g_assert_true(ledgers_of(again, 8, &ledger));
    g_assert_cmpint(ledger.more_ns[LEDGER_DATA], ==, 50 * MS);
    check_sums(&ledger);

    /* No bytes are known, but records: ten times as many would explain 900 ms, and there are no more than 100. */
    for (guint32 i = 0; i < 9; i++) {
        ledger_times_at(made.times, i)->bytes = NAN;
        ledger_times_at(made.times, i)->records = i == 8 ? 1000 : 100;
    }
    g_autoptr(Ledgers) by_records = ledgers_new(made.table, made.stragglers, made.times);
    g_assert_true(ledgers_of(by_records, 8, &ledger));
    g_assert_cmpint(ledger.more_ns[LEDGER_DATA], ==, 100 * MS);
    check_sums(&ledger);
}

/* Tasks of any times, many of them nonsense. */
static void any_ledger_adds_up(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    for (guint turn = 0; turn < 200; turn++) {
        gint64 durations_ms[40];
        for (guint i = 0; i < 40; i++) durations_ms[i] = g_rand_int_range(rand, 0, i % 5 == 0 ? 100000 : 300);
        g_auto(Made) made = made_of(durations_ms, 1 + turn % 40);
        for (guint32 i = 0; i < made.table->count; i++) {
            TaskTimes *times = ledger_times_at(made.times, i);
            if (!times) continue;
            times->run_ns = any_time(rand);
            for (guint k = 0; k < LEDGER_PART_COUNT; k++) times->measured_ns[k] = any_time(rand);
            times->bytes = g_rand_int_range(rand, 0, 3) == 0 ? NAN : 1e18 * g_rand_double(rand);
        }
        for (guint32 i = 0; i < made.stragglers->count; i++) {
            Ledger ledger;
            g_assert_true(ledgers_of(made.ledgers, made.stragglers->list[i].task, &ledger));
            check_sums(&ledger);
        }
    }
}

/* ---- foreign load ---- */

/* One host. Task 0 runs from 0 to 100 and uses 2 a ms, task 1 from 50 to 150 and uses 4, task 2 from 200 to 300 and
 * uses nothing. A unit loads the host by 0.1, and beside task 2 somebody else by 0.5. */
static void foreign_is_what_is_left(void) {
    const Row rows[] = {{0, 0, 0, 100, 0.4},   {0, 0, 50, 100, 0.5},  {0, 0, 200, 100, 0.5}, {0, 0, 400, 100, 0.0},
                        {0, 0, 500, 100, 0.1}, {0, 0, 600, 100, 0.3}, {0, 0, 700, 100, NAN}};
    const double use[] = {200, 400, 0, NAN, 100, 300, 100};
    g_autoptr(TaskTable) table = table_of(FEATURE_RESOURCE, rows, G_N_ELEMENTS(rows));
    g_autofree double *foreign = foreign_load(table, 0, use);
    assert_near(foreign[0], 0); /* 2, and for half of the time 4 */
    assert_near(foreign[1], 0); /* 4, and for half of the time 2: 5 in the mean */
    assert_near(foreign[2], 0.5);
    assert_near(foreign[3], 0);
    assert_near(foreign[4], 0);
    assert_near(foreign[5], 0);
    g_assert_true(isnan(foreign[6]));
}

/* What it holds while it works is the question's: of a row the arrays of rows, and those of steps on one host. */
static void foreign_holds_memory(void) {
    g_autofree Row *rows = g_new0(Row, 5000);
    g_autofree double *use = g_new0(double, 5000);
    for (guint i = 0; i < 5000; i++) rows[i] = (Row){0, 0, i, 100, 0.5};
    g_autoptr(TaskTable) table = table_of(FEATURE_RESOURCE, rows, 5000);
    AllowanceBudget budget = {.limit_bytes = 5000 * 100};
    Allowance allowance = {.budget = &budget};
    allowance_begin(&allowance);
    g_autofree double *foreign = foreign_load(table, 0, use);
    g_assert_cmpuint(allowance.held_bytes, ==, 0);
    g_assert_true(allowance_over());
    allowance_end();
    g_assert_cmpuint(budget.most_bytes, >=, 5000 * 140);
}

/* ---- causes ---- */

static GArray *decide(const Ledger *ledger, const LedgerLoad *loads, guint n) {
    const LedgerOptions options = {.lambda_p = 1.6, .lambda_w = 0.25};
    GArray *found = g_array_new(FALSE, FALSE, sizeof(LedgerCause));
    ledger_decide(ledger, (LedgerLoads){loads, n}, &options, 9, found);
    return found;
}

static void check_cause(const GArray *found, guint i, LedgerPart part, FeatureTopic topic, gint64 explains_ms) {
    const LedgerCause *cause = &g_array_index(found, LedgerCause, i);
    g_assert_cmpuint(cause->straggler, ==, 9);
    g_assert_cmpint(cause->part, ==, part);
    g_assert_cmpint(cause->topic, ==, topic);
    g_assert_cmpint(cause->explains_ns, ==, explains_ms * MS);
}

static void measured_causes(void) {
    /* Of 900 ms more: resources of HDFS with 200 and 400, a collection with 300, half as much. */
    Ledger ledger = {.peers = 5, .duration_ns = 1000 * MS, .usual_ns = 100 * MS};
    ledger.more_ns[LEDGER_HDFS_DISK] = 200 * MS;
    ledger.more_ns[LEDGER_HDFS_SERVER] = 400 * MS;
    ledger.more_ns[LEDGER_GC] = 300 * MS;
    g_autoptr(GArray) found = decide(&ledger, NULL, 0);
    g_assert_cmpuint(found->len, ==, 2);
    check_cause(found, 0, LEDGER_HDFS_SERVER, TOPIC_HDFS, 600);
    check_cause(found, 1, LEDGER_GC, TOPIC_JVM, 300);

    /* A bit less than half of the greatest is none. Nor is less than a quarter of all. Without peers nothing is. */
    ledger.more_ns[LEDGER_GC] = 299 * MS;
    g_autoptr(GArray) fewer = decide(&ledger, NULL, 0);
    g_assert_cmpuint(fewer->len, ==, 1);
    ledger.more_ns[LEDGER_GC] = 0;
    ledger.more_ns[LEDGER_HDFS_DISK] = 224 * MS;
    ledger.more_ns[LEDGER_HDFS_SERVER] = 0;
    g_autoptr(GArray) small = decide(&ledger, NULL, 0);
    g_assert_cmpuint(small->len, ==, 0);
    ledger.more_ns[LEDGER_HDFS_DISK] = 225 * MS;
    g_autoptr(GArray) enough = decide(&ledger, NULL, 0);
    g_assert_cmpuint(enough->len, ==, 1);
    ledger.peers = 0;
    g_autoptr(GArray) none = decide(&ledger, NULL, 0);
    g_assert_cmpuint(none->len, ==, 0);
}

/* A collection of 600 of 900 ms more, where normal tasks have as much more than usual. That of 300 ms is less than half
 * of it. What is too little is kept when that is asked for. */
static void the_usual_is_no_cause(void) {
    Ledger ledger = {.peers = 5, .duration_ns = 1000 * MS, .usual_ns = 100 * MS};
    ledger.more_ns[LEDGER_GC] = ledger.varies_ns[ACCOUNT_GC] = 600 * MS;
    ledger.more_ns[LEDGER_HDFS_DISK] = 299 * MS;
    g_autoptr(GArray) none = decide(&ledger, NULL, 0);
    g_assert_cmpuint(none->len, ==, 0);
    ledger.varies_ns[ACCOUNT_GC]--;
    g_autoptr(GArray) found = decide(&ledger, NULL, 0);
    g_assert_cmpuint(found->len, ==, 1);
    check_cause(found, 0, LEDGER_GC, TOPIC_JVM, 600);

    const LedgerOptions all = {.lambda_p = 1.6, .lambda_w = 0.25, .small = TRUE};
    g_autoptr(GArray) with_small = g_array_new(FALSE, FALSE, sizeof(LedgerCause));
    ledger_decide(&ledger, (LedgerLoads){NULL, 0}, &all, 9, with_small);
    g_assert_cmpuint(with_small->len, ==, 2);
    check_cause(with_small, 1, LEDGER_HDFS_DISK, TOPIC_HDFS, 299);
    g_assert_false(g_array_index(with_small, LedgerCause, 0).small);
    g_assert_true(g_array_index(with_small, LedgerCause, 1).small);
}

/* Four resources of HDFS with 150 ms more each are 600 of 900: normal tasks that had up to 150 of one of them had less
 * than that. What one resource took less another's more pays for. */
static void accounts_are_judged_whole(void) {
    Ledger ledger = {.peers = 5, .duration_ns = 1000 * MS, .usual_ns = 100 * MS};
    for (guint k = LEDGER_HDFS_DISK; k <= LEDGER_HDFS_SERVER; k++)
        ledger.more_ns[k] = (k == LEDGER_HDFS_LOCK ? 151 : 150) * MS;
    ledger.varies_ns[ACCOUNT_HDFS] = 600 * MS;
    g_autoptr(GArray) found = decide(&ledger, NULL, 0);
    g_assert_cmpuint(found->len, ==, 1);
    check_cause(found, 0, LEDGER_HDFS_LOCK, TOPIC_HDFS, 601);
    ledger.more_ns[LEDGER_HDFS_LOCK] = 150 * MS;
    g_autoptr(GArray) usual = decide(&ledger, NULL, 0);
    g_assert_cmpuint(usual->len, ==, 0);

    ledger.varies_ns[ACCOUNT_HDFS] = 0;
    ledger.more_ns[LEDGER_HDFS_NETWORK] = -150 * MS;
    g_autoptr(GArray) less = decide(&ledger, NULL, 0);
    check_cause(less, 0, LEDGER_HDFS_DISK, TOPIC_HDFS, 300);
}

/* A client that slept for 600 of 900 ms, until HDFS had the last block of a file, on a host whose processors were busy:
 * these have 300 ms of what is unexplained, and nothing of the sleep. */
static void sleeps_are_left_to_nobody(void) {
    TaskTimes times = unknown_times();
    gint64 parts[LEDGER_PART_COUNT];
    times.run_ns = 1000 * MS;
    times.measured_ns[LEDGER_HDFS_DISK] = 0;
    times.measured_ns[LEDGER_HDFS_SLEEP] = 600 * MS;
    ledger_split(&times, 1000 * MS, TRACED_HDFS, parts);
    g_assert_cmpint(parts[LEDGER_HDFS_SLEEP], ==, 600 * MS);
    g_assert_cmpint(parts[LEDGER_UNEXPLAINED], ==, 400 * MS);

    Ledger ledger = {.peers = 5, .duration_ns = 1000 * MS, .usual_ns = 100 * MS};
    ledger.more_ns[LEDGER_HDFS_SLEEP] = parts[LEDGER_HDFS_SLEEP];
    ledger.more_ns[LEDGER_UNEXPLAINED] = 300 * MS;
    const LedgerLoad load = {0, TOPIC_CPU, TRUE, 0.8, 0.2};
    g_autoptr(GArray) found = decide(&ledger, &load, 1);
    g_assert_cmpuint(found->len, ==, 2);
    check_cause(found, 0, LEDGER_HDFS_SLEEP, TOPIC_HDFS, 600);
    g_assert_cmpint(g_array_index(found, LedgerCause, 0).load, ==, -1);
    check_cause(found, 1, LEDGER_UNEXPLAINED, TOPIC_CPU, 300);
}

/* 800 ms are unexplained: the processors' load is four times the usual, that of the disk twice; the network's is as
 * usual. 3/4 and 1/2 of them are beyond the usual, so of the 800 ms 480 are the processors' and 320 the disk's. */
static void the_rest_is_left_to_loads(void) {
    Ledger ledger = {.peers = 5, .duration_ns = 1000 * MS, .usual_ns = 100 * MS};
    ledger.more_ns[LEDGER_UNEXPLAINED] = 800 * MS;
    ledger.more_ns[LEDGER_PROCESSOR] = 100 * MS;
    LedgerLoad loads[] = {
        {0, TOPIC_CPU, TRUE, 0.8, 0.2}, {1, TOPIC_DISK, TRUE, 0.6, 0.3}, {2, TOPIC_NETWORK, FALSE, 5, NAN}};
    g_autoptr(GArray) found = decide(&ledger, loads, 3);
    g_assert_cmpuint(found->len, ==, 2);
    check_cause(found, 0, LEDGER_UNEXPLAINED, TOPIC_CPU, 580); /* and its own computing beside such a load */
    g_assert_cmpint(g_array_index(found, LedgerCause, 0).load, ==, 0);
    check_cause(found, 1, LEDGER_UNEXPLAINED, TOPIC_DISK, 320);

    loads[0].above = loads[1].above = FALSE;
    g_autoptr(GArray) none = decide(&ledger, loads, 3);
    g_assert_cmpuint(none->len, ==, 0);
    ledger.more_ns[LEDGER_PROCESSOR] = 300 * MS;
    g_autoptr(GArray) work = decide(&ledger, loads, 3);
    check_cause(work, 0, LEDGER_PROCESSOR, TOPIC_DATA, 300);
    g_assert_cmpint(g_array_index(work, LedgerCause, 0).load, ==, -1);
}

/* Data that explains the time up to its bound stands alone. */
static void data_alone(void) {
    Ledger ledger = {.peers = 5, .duration_ns = 1000 * MS, .usual_ns = 100 * MS, .bound_ns = 1000 * MS};
    ledger.more_ns[LEDGER_DATA] = 500 * MS;
    ledger.more_ns[LEDGER_GC] = 1100 * MS;
    g_autoptr(GArray) alone = decide(&ledger, NULL, 0);
    g_assert_cmpuint(alone->len, ==, 1);
    check_cause(alone, 0, LEDGER_DATA, TOPIC_DATA, 500);
    ledger.bound_ns--;
    ledger.more_ns[LEDGER_GC] = 400 * MS;
    g_autoptr(GArray) both = decide(&ledger, NULL, 0);
    g_assert_cmpuint(both->len, ==, 2);
}

/* All of it at once: the slow disk above, on a host whose load was as always. */
static void run_of_a_stage(void) {
    g_auto(Made) made = slow_disk();
    double values[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    const ForeignLoads foreign = {.n = 1, .features = {0}, .values = {values}};
    const LedgerInput input = {made.table, made.stragglers, made.ledgers, &foreign, ledger_options()};
    LedgerLoad *loads;
    g_autoptr(GArray) found = ledger_run(&input, &loads);
    g_assert_cmpuint(found->len, ==, 1);
    g_assert_cmpint(g_array_index(found, LedgerCause, 0).part, ==, LEDGER_HDFS_DISK);
    g_assert_cmpint(g_array_index(found, LedgerCause, 0).explains_ns, ==, 800 * MS);
    g_assert_false(loads[0].above);
    g_free(loads);

    /* A load that is above 1.6 times the peers'; a little less is not. */
    values[5] = 0.81;
    g_autoptr(GArray) loaded = ledger_run(&input, &loads);
    g_assert_true(loads[0].above);
    assert_near(loads[0].usual, 0.5);
    g_free(loads);
    values[5] = 0.8;
    g_autoptr(GArray) less = ledger_run(&input, &loads);
    g_assert_false(loads[0].above);
    g_free(loads);

    /* Loads of 0.1 to 0.5 and one more: the median of all is 0.35, that of the distances from it 0.15, which are 0.222
     * deviations. The peers' median is 0.3, and three deviations above it 0.967. */
    const double uneven[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.96};
    memcpy(values, uneven, sizeof values);
    g_autoptr(GArray) noise = ledger_run(&input, &loads);
    g_assert_false(loads[0].above);
    g_free(loads);
    values[5] = 0.97;
    g_autoptr(GArray) no_noise = ledger_run(&input, &loads);
    g_assert_true(loads[0].above);
    g_free(loads);
}

/* Of a stage of 2000 the straggler and 256 of the others are looked at. */
static void few_are_looked_at(void) {
    g_autofree gint64 *durations_ms = g_new(gint64, 2000);
    for (guint i = 0; i < 2000; i++) durations_ms[i] = i == 1001 ? 500 : 100;
    g_autofree Row *rows = g_new0(Row, 2000);
    for (guint i = 0; i < 2000; i++) rows[i] = (Row){0, 0, 0, durations_ms[i], 0};
    g_autoptr(TaskTable) table = table_of(FEATURE_RESOURCE, rows, 2000);
    g_autoptr(Stragglers) stragglers = stragglers_find(table, STRAGGLER_RATIO);
    g_autoptr(LedgerTimes) times = ledger_times_new(table, stragglers);
    guint32 known = 0;
    for (guint32 i = 0; i < 2000; i++) known += ledger_times_at(times, i) != NULL;
    g_assert_cmpuint(known, ==, 257);
    g_assert_nonnull(ledger_times_at(times, 1001));
    g_assert_null(ledger_times_at(times, 2000));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ledger/split", split_adds_up);
    g_test_add_func("/ledger/split/overlapping", waits_share_the_time);
    g_test_add_func("/ledger/split/running", a_running_task);
    g_test_add_func("/ledger/split/any", always_adds_up);
    g_test_add_func("/ledger/slope", slope_of_most);
    g_test_add_func("/ledger/slow-disk", ledger_of_a_slow_disk);
    g_test_add_func("/ledger/processors", waits_for_processors_of_peers);
    g_test_add_func("/ledger/student", student);
    g_test_add_func("/ledger/varies", accounts_vary);
    g_test_add_func("/ledger/varies/many", many_are_ranked);
    g_test_add_func("/ledger/varies/one", one_says_nothing);
    g_test_add_func("/ledger/varies/rates", few_normal_tasks_are_above);
    g_test_add_func("/ledger/unknown", what_is_unknown_is_unexplained);
    g_test_add_func("/ledger/data", data_is_expected);
    g_test_add_func("/ledger/any", any_ledger_adds_up);
    g_test_add_func("/ledger/peers", few_are_looked_at);
    g_test_add_func("/ledger/foreign", foreign_is_what_is_left);
    g_test_add_func("/ledger/foreign/memory", foreign_holds_memory);
    g_test_add_func("/ledger/causes/measured", measured_causes);
    g_test_add_func("/ledger/causes/usual", the_usual_is_no_cause);
    g_test_add_func("/ledger/causes/accounts", accounts_are_judged_whole);
    g_test_add_func("/ledger/causes/sleeps", sleeps_are_left_to_nobody);
    g_test_add_func("/ledger/causes/loads", the_rest_is_left_to_loads);
    g_test_add_func("/ledger/causes/data", data_alone);
    g_test_add_func("/ledger/causes/run", run_of_a_stage);
    return g_test_run();
}
