/* One million tasks: what finding their stragglers and causes costs, in CPU time.
 *
 *   bench_stragglers [TASKS [HOSTS [STAGES]]]
 *
 * An application made up of tasks whose features follow from their durations more or less, with all features of event
 * logs, three resources sampled every second on every host, and hosts that are loaded now and then. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/diagnosis/bigroots.h"
#include "analyzer/diagnosis/ledger/foreign.h"
#include "analyzer/diagnosis/ledger/ledger_run.h"

#define HOUR_MS G_GINT64_CONSTANT(3600000)

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

typedef struct Made {
    TaskTable *table;
    GPtrArray *usage;
} Made;

static const struct {
    const char *name;
    FeatureKind kind;
    double scale; /* of the values; 0: mostly nothing */
} features[] = {
    {"read_bytes", FEATURE_NUMERIC, 128e6},
    {"shuffle_read_bytes", FEATURE_NUMERIC, 30e6},
    {"shuffle_write_bytes", FEATURE_NUMERIC, 20e6},
    {"memory_bytes_spilled", FEATURE_NUMERIC, 0},
    {"disk_bytes_spilled", FEATURE_NUMERIC, 0},
    {"jvm_gc_time", FEATURE_TIME, 400},
    {"serialize_time", FEATURE_TIME, 2},
    {"deserialize_time", FEATURE_TIME, 30},
};

static void make_tasks(TaskTable *table, GRand *rand) {
    for (guint32 i = 0; i < table->count; i++) {
        const double slow = g_rand_int_range(rand, 0, 20) == 0 ? 2 + 3 * g_rand_double(rand) : 1;
        table->stage[i] = (guint32)((guint64)i * table->n_stages / table->count);
        table->host[i] = (guint32)g_rand_int_range(rand, 0, (gint32)table->n_hosts);
        table->begin_ms[i] = (gint64)((double)i / table->count * HOUR_MS);
        table->end_ms[i] = table->begin_ms[i] + (gint64)(slow * (3000 + 2000 * g_rand_double(rand)));
        table->flags[i] = ROW_COUNTED | ROW_JUDGED;
    }
}

static void make_features(TaskTable *table, GRand *rand) {
    for (guint f = 0; f < G_N_ELEMENTS(features); f++) {
        const guint number =
            task_table_add(table, &(Feature){.name = (char *)features[f].name, .unit = "", .kind = features[f].kind});
        double *values = task_feature(table, number)->values;
        for (guint32 i = 0; i < table->count; i++) {
            const double draw = g_rand_double(rand);
            values[i] = features[f].scale > 0 ? features[f].scale * (0.5 + draw) * (draw > 0.97 ? 4 : 1)
                        : draw > 0.98         ? 1e6 * draw
                                              : 0;
        }
    }
    const guint locality =
        task_table_add(table, &(Feature){.name = (char *)"locality", .unit = "", .kind = FEATURE_DISCRETE});
    for (guint32 i = 0; i < table->count; i++)
        task_feature(table, locality)->values[i] = g_rand_int_range(rand, 0, 8) == 0 ? 2 : 0;
}

static UsageSeries *make_series(GRand *rand) {
    UsageSeries *series = usage_new();
    double load = 0.2;
    for (gint64 t = -60000; t < HOUR_MS + 60000; t += 1000) {
        if (g_rand_int_range(rand, 0, 30) == 0) load = g_rand_double(rand);
        usage_add(series, t, t + 1000, load);
    }
    usage_seal(series);
    return series;
}

static Made make(guint32 n, guint32 hosts, guint32 stages) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    Made made = {task_table_new(n, stages, hosts), g_ptr_array_new_with_free_func((GDestroyNotify)usage_free)};
    make_tasks(made.table, rand);
    make_features(made.table, rand);
    static const char *const resources[] = {"cpu", "disk", "network"};
    for (guint r = 0; r < G_N_ELEMENTS(resources); r++) {
        const guint number =
            task_table_add(made.table, &(Feature){.name = (char *)resources[r], .unit = "", .kind = FEATURE_RESOURCE});
        for (guint32 host = 0; host < hosts; host++) {
            UsageSeries *series = make_series(rand);
            g_ptr_array_add(made.usage, series);
            task_feature(made.table, number)->series[host] = series;
        }
    }
    return made;
}

static void fill_resources(TaskTable *table) {
    for (guint f = 0; f < table->features->len; f++)
        if (task_feature(table, f)->kind == FEATURE_RESOURCE) task_table_fill_resource(table, f);
}

/* Processor, collections and a wait for a disk, of those tasks that are looked at. */
static LedgerTimes *make_times(const TaskTable *table, const Stragglers *stragglers, GRand *rand) {
    LedgerTimes *result = ledger_times_new(table, stragglers);
    for (guint32 i = 0; i < table->count; i++) {
        TaskTimes *times = ledger_times_at(result, i);
        if (!times) continue;
        times->run_ns = (gint64)(task_duration_ms(table, i) * 1e6);
        times->measured_ns[LEDGER_PROCESSOR] = (gint64)(1e9 * g_rand_double(rand));
        times->measured_ns[LEDGER_GC] = (gint64)(4e8 * g_rand_double(rand));
        times->measured_ns[LEDGER_HDFS_DISK] = (gint64)(2e9 * g_rand_double(rand));
        times->bytes = task_feature(table, 0)->values[i];
    }
    return result;
}

static void measure_ledgers(const TaskTable *table, const Stragglers *stragglers) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);
    g_autoptr(LedgerTimes) times = make_times(table, stragglers, rand);
    g_autofree double *use = g_new(double, table->count);
    for (guint32 i = 0; i < table->count; i++) use[i] = 1e9 * g_rand_double(rand);

    const double start = cpu_seconds();
    ForeignLoads foreign = {.n = 0};
    for (guint f = 0; f < table->features->len; f++) {
        if (task_feature(table, f)->kind != FEATURE_RESOURCE) continue;
        foreign.features[foreign.n] = f;
        foreign.values[foreign.n++] = foreign_load(table, f, use);
    }
    const double loaded = cpu_seconds();
    g_autoptr(Ledgers) ledgers = ledgers_new(table, stragglers, times);
    const LedgerInput input = {table, stragglers, ledgers, &foreign, ledger_options()};
    LedgerLoad *loads;
    g_autoptr(GArray) causes = ledger_run(&input, &loads);
    printf("ledgers: foreign loads %.3f s, causes %.3f s (%u)\n", loaded - start, cpu_seconds() - loaded, causes->len);
    for (guint i = 0; i < foreign.n; i++) g_free(foreign.values[i]);
    g_free(loads);
}

int main(int argc, char **argv) {
    const guint32 n = argc > 1 ? (guint32)atoi(argv[1]) : 1000000, hosts = argc > 2 ? (guint32)atoi(argv[2]) : 200;
    const guint32 stages = argc > 3 ? (guint32)atoi(argv[3]) : 100;
    if (n == 0 || hosts == 0 || stages == 0) {
        fputs("usage: bench_stragglers [TASKS [HOSTS [STAGES]]]\n", stderr);
        return 2;
    }

    Made made = make(n, hosts, stages);
    const double start = cpu_seconds();
    fill_resources(made.table);
    const double filled = cpu_seconds();
    Stragglers *stragglers = stragglers_find(made.table, STRAGGLER_RATIO);
    const double found = cpu_seconds();
    BigRootsOptions options = bigroots_options(TRUE);
    GArray *evidence = bigroots_run(made.table, stragglers, &options);
    const double judged = cpu_seconds();

    guint causes = 0;
    for (guint i = 0; i < evidence->len; i++) causes += g_array_index(evidence, Evidence, i).verdict == VERDICT_CAUSE;
    options.keep = KEEP_ALL;
    const double before = cpu_seconds();
    GArray *all = bigroots_run(made.table, stragglers, &options);

    printf("%u tasks, %u hosts, %u stages, %u features: %u stragglers, %u causes\n", n, hosts, stages,
           made.table->features->len, stragglers->count, causes);
    printf("resources %.3f s, stragglers %.3f s, causes %.3f s; together %.3f s of CPU\n", filled - start,
           found - filled, judged - found, judged - start);
    printf("with the evidence of every feature (%u): causes %.3f s\n", all->len, cpu_seconds() - before);

    measure_ledgers(made.table, stragglers);
    g_array_unref(all);
    g_array_unref(evidence);
    stragglers_free(stragglers);
    task_table_free(made.table);
    g_ptr_array_unref(made.usage);
    return 0;
}
