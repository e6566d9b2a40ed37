/* How good the methods are, on a simulated run: five workers, stages one after the other, and the published schedule of
 * load generators (table 5). Prints table 6 anew, the best parameters and the AUC, and what edge detection changes.
 *
 *   bench_accuracy [--json] [SEED]
 *
 * With --json it prints one document instead: the points of both ROC curves, of all kinds of injections together and
 * of each.
 *
 * A simulation shows that the methods do what they are defined to do; its rates are not those of a cluster.
 * bench/faults measures those. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/diagnosis/accuracy.h"

#define HOSTS     5u
#define SLOTS     4u
#define STAGES    16u
#define PER_STAGE 60u
#define TICK_MS   50
#define SAMPLES_S 240u
#define N_TASKS   (STAGES * PER_STAGE)

static const Injection injections[] = {
    {0, TOPIC_CPU, 0, 10000},         {0, TOPIC_DISK, 100000, 110000}, {1, TOPIC_CPU, 30000, 40000},
    {1, TOPIC_CPU, 63000, 73000},     {1, TOPIC_CPU, 83000, 93000},    {2, TOPIC_DISK, 99000, 109000},
    {3, TOPIC_NETWORK, 27000, 37000}, {3, TOPIC_DISK, 87000, 97000},   {3, TOPIC_NETWORK, 112000, 122000},
    {4, TOPIC_DISK, 33000, 43000},    {4, TOPIC_CPU, 53000, 63000},    {4, TOPIC_DISK, 69000, 79000},
    {4, TOPIC_CPU, 100000, 110000},
};

static const struct {
    const char *name;
    FeatureTopic topic;
    double base, per_task, injected, slows; /* usage; how much slower a task is under it */
} resources[] = {
    {"cpu", TOPIC_CPU, 0.10, 0.09, 0.55, 1.2},
    {"disk", TOPIC_DISK, 0.05, 0.08, 0.70, 1.6},
    {"network", TOPIC_NETWORK, 1e6, 4e6, 60e6, 0.25},
};
#define N_RESOURCES G_N_ELEMENTS(resources)

static gboolean injected(guint host, FeatureTopic topic, gint64 at_ms) {
    for (guint i = 0; i < G_N_ELEMENTS(injections); i++)
        if (injections[i].host == host && injections[i].topic == topic && at_ms >= injections[i].begin_ms &&
            at_ms < injections[i].end_ms)
            return TRUE;
    return FALSE;
}

static double speed(guint host, gint64 at_ms) {
    double slow = 1;
    for (guint r = 0; r < N_RESOURCES; r++) slow += injected(host, resources[r].topic, at_ms) ? resources[r].slows : 0;
    return 1 / slow;
}

/* Tasks differ in how much of each resource they use, for as long as they run: load that they make themselves. */
static double own_use[N_TASKS][N_RESOURCES];

/* Tasks wait for a slot; a stage begins when the one before has ended. */
static void simulate(TaskTable *table, guint bytes, GRand *rand) {
    gint64 free_ms[HOSTS * SLOTS] = {0}, stage_ms = 0;
    for (guint32 i = 0; i < N_TASKS; i++) {
        guint slot = 0;
        if (i % PER_STAGE == 0)
            for (guint s = 0; s < HOSTS * SLOTS; s++) stage_ms = MAX(stage_ms, free_ms[s]);
        for (guint s = 1; s < HOSTS * SLOTS; s++)
            if (free_ms[s] < free_ms[slot]) slot = s;

        const guint host = slot % HOSTS;
        const double skew = g_rand_int_range(rand, 0, 40) == 0 ? 2.2 : 1, draw = 0.8 + 0.4 * g_rand_double(rand);
        double work_ms = 1800 * skew * draw;
        gint64 at_ms = MAX(stage_ms, free_ms[slot]);
        for (guint r = 0; r < N_RESOURCES; r++)
            own_use[i][r] = g_rand_int_range(rand, 0, 6) == 0 ? 5 : 2 * g_rand_double(rand);

        table->stage[i] = i / PER_STAGE;
        table->host[i] = host;
        table->flags[i] = ROW_COUNTED | ROW_JUDGED;
        table->begin_ms[i] = at_ms;

        for (; work_ms > 0; at_ms += TICK_MS) work_ms -= TICK_MS * speed(host, at_ms);
        table->end_ms[i] = free_ms[slot] = at_ms;
        task_feature(table, bytes)->values[i] = 64e6 * skew * draw;
    }
}

static UsageSeries *sample(const TaskTable *table, guint host, guint r, GRand *rand) {
    UsageSeries *series = usage_new();
    for (guint second = 0; second < SAMPLES_S; second++) {
        const gint64 begin = second * 1000, end = begin + 1000;
        double use = resources[r].base * (0.6 + 0.8 * g_rand_double(rand));
        for (guint32 i = 0; i < table->count; i++) {
            const gint64 part = MIN(end, table->end_ms[i]) - MAX(begin, table->begin_ms[i]);
            if (table->host[i] == host && part > 0) use += own_use[i][r] * resources[r].per_task * (double)part / 1000;
        }
        if (injected(host, resources[r].topic, begin)) use += resources[r].injected;
        usage_add(series, begin, end, resources[r].topic == TOPIC_NETWORK ? use : MIN(use, 1));
    }
    usage_seal(series);
    return series;
}

static void print_counts(const char *name, const guint32 *truth, const guint32 *said, guint32 n) {
    const Confusion counts = accuracy_count(truth, said, n, TOPICS_JUDGED);
    printf("%-22s %4d %4d %4d %4d  %6.2f %6.2f %6.2f\n", name, (int)counts.tp, (int)counts.tn, (int)counts.fp,
           (int)counts.fn, 100 * confusion_fpr(&counts), 100 * confusion_tpr(&counts), 100 * confusion_acc(&counts));
}

static void accuracy_bigroots(const AccuracyCase *judged, const char *name, BigRootsOptions options) {
    g_autoptr(GArray) evidence = bigroots_run(judged->table, judged->stragglers, &options);
    g_autofree guint32 *said = accuracy_evidence(judged->table, judged->stragglers, evidence);
    print_counts(name, judged->truth, said, judged->stragglers->count);
}

static void accuracy_blamed(const AccuracyCase *judged, const char *name, GArray *blames) {
    g_autofree guint32 *said = accuracy_blames(judged->table, judged->stragglers, blames);
    print_counts(name, judged->truth, said, judged->stragglers->count);
    g_array_unref(blames);
}

static void print_search(const char *name, GArray *points) {
    const SearchPoint *best = accuracy_best(points);
    printf("%-9s best at (%.2f, %.2f): TPR %.2f %%, FPR %.2f %%; AUC %.3f\n", name, best->p, best->q,
           100 * confusion_tpr(&best->counts), 100 * confusion_fpr(&best->counts), accuracy_auc(points));
    g_array_unref(points);
}

/* ---- ROC curves as JSON ---- */

/* A share; null where there was nothing to share. */
static void print_share(const char *name, double share) {
    if (isnan(share))
        printf(",\"%s\":null", name);
    else
        printf(",\"%s\":%.6f", name, share);
}

static void print_points(const char *method, const char *kind, const char *const *names, GArray *points) {
    const SearchPoint *best = accuracy_best(points);
    printf("{\"method\":\"%s\",\"kind\":\"%s\",\"auc\":%.6f,\"best\":{\"%s\":%.2f,\"%s\":%.2f},\"points\":[", method,
           kind, accuracy_auc(points), names[0], best->p, names[1], best->q);
    for (guint i = 0; i < points->len; i++) {
        const SearchPoint *point = &g_array_index(points, SearchPoint, i);
        printf("%s{\"%s\":%.2f,\"%s\":%.2f", i > 0 ? "," : "", names[0], point->p, names[1], point->q);
        print_share("tpr", confusion_tpr(&point->counts));
        print_share("fpr", confusion_fpr(&point->counts));
        printf("}");
    }
    printf("]}");
    g_array_unref(points);
}

static void print_curves(const AccuracyCase *judged) {
    static const char *const thresholds[] = {"lambda_p", "lambda_q"}, *const of_pcc[] = {"lambda_ca", "lambda_cq"};
    static const struct {
        const char *name;
        guint32 topics;
    } kinds[] = {{"all", TOPICS_JUDGED},
                 {"cpu", TOPIC_BIT(TOPIC_CPU)},
                 {"disk", TOPIC_BIT(TOPIC_DISK)},
                 {"network", TOPIC_BIT(TOPIC_NETWORK)}};

    const BigRootsOptions options = bigroots_options(TRUE);
    printf("{\"tasks\":%u,\"stragglers\":%u,\"curves\":[", judged->table->count, judged->stragglers->count);

    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        AccuracyCase of_kind = *judged;
        of_kind.topics = kinds[i].topics;
        if (i > 0) printf(",");
        print_points("bigroots", kinds[i].name, thresholds, accuracy_search_bigroots(&of_kind, &options));
        printf(",");
        print_points("pcc", kinds[i].name, of_pcc, accuracy_search_pcc(&of_kind));
    }

    printf("]}\n");
}

int main(int argc, char **argv) {
    const gboolean json = argc > 1 && strcmp(argv[1], "--json") == 0;
    const char *seed = argv[json ? 2 : 1];
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed != NULL ? (guint32)atoi(seed) : 1);
    g_autoptr(TaskTable) table = task_table_new(N_TASKS, STAGES, HOSTS);
    g_autoptr(GPtrArray) usage = g_ptr_array_new_with_free_func((GDestroyNotify)usage_free);
    const Feature read = {.name = (char *)"read_bytes", .unit = "bytes", .kind = FEATURE_NUMERIC, .topic = TOPIC_DATA};
    const guint bytes = task_table_add(table, &read);
    simulate(table, bytes, rand);

    for (guint r = 0; r < N_RESOURCES; r++) {
        const Feature like = {
            .name = (char *)resources[r].name, .unit = "", .kind = FEATURE_RESOURCE, .topic = resources[r].topic};
        const guint number = task_table_add(table, &like);
        for (guint host = 0; host < HOSTS; host++) {
            g_ptr_array_add(usage, sample(table, host, r, rand));
            task_feature(table, number)->series[host] = g_ptr_array_index(usage, usage->len - 1);
        }
        task_table_fill_resource(table, number);
    }

    g_autoptr(Stragglers) stragglers = stragglers_find(table, STRAGGLER_RATIO);
    g_autofree guint32 *truth = accuracy_truth(table, stragglers, injections, G_N_ELEMENTS(injections));
    const AccuracyCase judged = {table, stragglers, truth, TOPICS_JUDGED};
    if (json) {
        print_curves(&judged);
        return 0;
    }

    const PccOptions pcc = pcc_options();
    g_autofree double *nothing = g_new(double, N_TASKS);
    for (guint i = 0; i < N_TASKS; i++) nothing[i] = NAN;
    const MantriAmounts amounts = {task_feature(table, bytes)->values, nothing, (gint)bytes, (gint)bytes};
    printf("%u tasks, %u stragglers\n%-22s %4s %4s %4s %4s  %6s %6s %6s\n", N_TASKS, stragglers->count, "", "TP", "TN",
           "FP", "FN", "FPR %", "TPR %", "ACC %");
    accuracy_bigroots(&judged, "BigRoots", bigroots_options(TRUE));
    BigRootsOptions without = bigroots_options(TRUE);
    without.edge_detection = FALSE;
    accuracy_bigroots(&judged, "  no edge detection", without);
    accuracy_bigroots(&judged, "  lambda_p 2.2 instead", bigroots_options(FALSE));
    accuracy_blamed(&judged, "PCC", pcc_run(table, stragglers, &pcc));
    accuracy_blamed(&judged, "Mantri", mantri_run(table, stragglers, &amounts));
    accuracy_blamed(&judged, "Xue", xue_run(table, stragglers));

    const BigRootsOptions edge = bigroots_options(TRUE);
    print_search("BigRoots", accuracy_search_bigroots(&judged, &edge));
    print_search("PCC", accuracy_search_pcc(&judged));
    return 0;
}
