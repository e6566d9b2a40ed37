#include "tests/diagnosis/cluster.h"

#include <math.h>

const SimulatedJob map_jobs[6] = {{WORK_PROCESSOR, 8e6},  {WORK_PROCESSOR, 1e6},  {WORK_PROCESSOR, 4e5},
                                  {WORK_DISK_WRITE, 2e7}, {WORK_DISK_WRITE, 5e6}, {WORK_DISK_WRITE, 9e5}};

Simulation simulation_of_14(guint32 seed) {
    return (Simulation){.seed = seed,
                        .n_nodes = 14,
                        .n_windows = 40,
                        .calls = 40,
                        .variation = 0.4,
                        .difference = 4,
                        .jobs = map_jobs,
                        .n_jobs = G_N_ELEMENTS(map_jobs)};
}

static double normal(GRand *rand) {
    const double u = 1 - g_rand_double(rand), v = g_rand_double(rand);
    return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

/* A call's time: log-normal, with the mean and the variation asked for. */
static double call_time(GRand *rand, double mean, double variation) {
    const double sigma = sqrt(log(1 + variation * variation));
    return mean * exp(sigma * normal(rand) - sigma * sigma / 2);
}

static int by_time(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static Observation observe(GRand *rand, double mean, double variation, guint32 calls) {
    g_autofree double *times = g_new(double, calls);
    double sum = 0, squares = 0;
    for (guint32 i = 0; i < calls; i++) {
        times[i] = call_time(rand, mean, variation);
        sum += times[i];
        squares += times[i] * times[i];
    }
    qsort(times, calls, sizeof *times, by_time);
    const double seen = sum / calls, variance = MAX(0, squares / calls - seen * seen);
    return (Observation){.calls = calls,
                         .mean = (float)log(seen),
                         .tail = (float)log(times[(guint32)ceil(0.95 * calls) - 1]),
                         .spread = (float)(variance / (seen * seen)),
                         .self_ns = (gint64)sum,
                         .critical_ns = (gint64)sum};
}

static double fault_times(const Simulation *simulation, guint32 node, WorkClass class, guint32 window) {
    double times = 1;
    for (guint32 i = 0; i < simulation->n_faults; i++) {
        const SimulatedFault *fault = &simulation->faults[i];
        const gboolean there = fault->node == node || fault->node == G_MAXUINT32;
        if (!there || fault->class != class || window < fault->first || window > fault->last) continue;
        times *= window == fault->first ? fault->late + (1 - fault->late) * fault->times : fault->times;
    }
    return times;
}

/* How much of the window a node does anything. */
static double speaks(const Simulation *simulation, guint32 node, guint32 window) {
    for (guint32 i = 0; i < simulation->n_silences; i++) {
        const SimulatedSilence *silence = &simulation->silences[i];
        if (silence->node != node || window < silence->first || window > silence->last) continue;
        return window == silence->first ? silence->late : 0;
    }
    return 1;
}

static void simulate_waits(const Simulation *simulation, GRand *rand, NodeGrid *grid) {
    const guint32 window = grid->n_windows - 1;
    node_grid_wait(grid, (gint64)(1e9 * g_rand_double(rand)), 20);
    for (guint32 i = 0; i < simulation->n_silences; i++) {
        const SimulatedSilence *silence = &simulation->silences[i];
        if (window >= silence->first && window <= silence->last) node_grid_wait(grid, silence->waited_ns, 2);
    }
}

static void simulate_window(const Simulation *simulation, GRand *rand, const double *speeds, NodeGrid *grid) {
    const guint32 window = grid->n_windows - 1;
    const double moment = 0.7 + 0.6 * g_rand_double(rand);
    for (guint32 job = 0; job < simulation->n_jobs; job++) {
        for (guint32 node = 0; node < simulation->n_nodes; node++) {
            const WorkClass class = simulation->jobs[job].class;
            const double load = exp((g_rand_double(rand) - 0.5) * log(3));
            if (g_rand_double(rand) < simulation->missing) continue;
            const double burst = simulation->bursts > 0 && g_rand_double(rand) < simulation->bursts ? 6 : 1;
            const double mean = burst * simulation->jobs[job].mean_ns * moment * speeds[node * WORK_CLASSES + class] *
                                pow(load, simulation->load_slope) * fault_times(simulation, node, class, window);
            const guint32 calls = (guint32)(simulation->calls * speaks(simulation, node, window));
            if (calls == 0) continue;
            Observation observation = observe(rand, mean, simulation->variation, calls);
            observation.job = job;
            observation.node = node;
            observation.window = window;
            observation.bytes = (float)(load * 1e6);
            node_grid_add(grid, &observation);
            node_grid_hear(grid, node, calls);
        }
    }
}

NodeGrid *simulate(const Simulation *simulation) {
    GRand *rand = g_rand_new_with_seed(simulation->seed);
    NodeGrid *grid = node_grid_new(NS_PER_MINUTE);
    g_autofree double *speeds = g_new(double, (gsize)simulation->n_nodes *WORK_CLASSES);
    for (guint32 i = 0; i < simulation->n_nodes * WORK_CLASSES; i++) /* no job is of the one that is left out */
        speeds[i] = i % WORK_CLASSES == WORK_DELIVERY ? 1 : pow(simulation->difference, g_rand_double(rand));

    for (guint32 node = 0; node < simulation->n_nodes; node++) node_grid_node(grid);
    for (guint32 job = 0; job < simulation->n_jobs; job++) node_grid_job(grid, simulation->jobs[job].class);
    for (guint32 window = 0; window < simulation->n_windows; window++) {
        node_grid_window(grid, window * NS_PER_MINUTE);
        simulate_window(simulation, rand, speeds, grid);
        simulate_waits(simulation, rand, grid);
    }

    node_grid_index(grid);
    g_rand_free(rand);
    return grid;
}
