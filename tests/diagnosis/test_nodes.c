/* Slow nodes in simulated clusters whose nodes differ by design. */
#include "analyzer/diagnosis/nodes/nodes.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/consequences.h"
#include "analyzer/diagnosis/nodes/median.h"
#include "analyzer/diagnosis/nodes/own_load.h"
#include "analyzer/diagnosis/nodes/silence.h"
#include "tests/diagnosis/cluster.h"

#define SEEDS 5u

static const Spell *spell_at(const NodesReport *report, guint i) { return &g_array_index(report->spells, Spell, i); }

static const Spell *spell_find(const NodesReport *report, guint32 node, WorkClass class) {
    for (guint i = 0; i < report->spells->len; i++) {
        const Spell *spell = spell_at(report, i);
        if (spell->node == node && spell->class == class && !spell->busy) return spell;
    }
    return NULL;
}

static void assert_spell(const NodesReport *report, const SimulatedFault *fault) {
    const Spell *spell = spell_find(report, fault->node, fault->class);
    g_assert_nonnull(spell);
    g_assert_cmpuint(spell->first, ==, fault->first);
    g_assert_cmpfloat(spell->slowdown, >, fault->times * 0.75);
    g_assert_cmpfloat(spell->slowdown, <, fault->times * 1.33);
    g_assert_cmpfloat(spell->z, >=, Z_LEAST);
}

/* 14 nodes with these faults. */
static Simulation simulation_with(guint32 seed, const SimulatedFault *faults, guint n_faults) {
    Simulation simulation = simulation_of_14(seed);
    simulation.faults = faults;
    simulation.n_faults = n_faults;
    return simulation;
}

/* What other windows than the faults' are called bad; and all that were judged. */
static guint false_windows(const NodesReport *report, const SimulatedFault *faults, guint n_faults, guint *judged) {
    guint bad = 0;
    for (guint i = 0; i < report->all->series->len; i++) {
        const ClassSeries *series = &g_array_index(report->all->series, ClassSeries, i);
        gboolean guilty = FALSE;
        for (guint k = 0; k < n_faults; k++)
            guilty = guilty || (faults[k].node == series->node && faults[k].class == series->class);
        if (guilty) continue;
        for (guint32 w = 0; w < series->n; w++) bad += series_windows(report->all, series)[w].bad;
        *judged += series->n;
    }
    return bad;
}

/* The paper's 14 nodes: a process that writes again and again on node 10, an endless loop for each core on node 13. */
static const SimulatedFault papers_faults[] = {{10, WORK_DISK_WRITE, 25, 39, 2.5, 0},
                                               {13, WORK_PROCESSOR, 28, 39, 2.0, 0}};

static void test_papers_nodes(void) {
    for (guint32 seed = 1; seed <= SEEDS; seed++) {
        const Simulation simulation = simulation_with(seed, papers_faults, G_N_ELEMENTS(papers_faults));
        g_autoptr(NodeGrid) grid = simulate(&simulation);
        g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);

        g_assert_cmpuint(report->spells->len, ==, 2);
        for (guint i = 0; i < G_N_ELEMENTS(papers_faults); i++) {
            assert_spell(report, &papers_faults[i]);
            g_assert_true(spell_find(report, papers_faults[i].node, papers_faults[i].class)->open);
        }
    }
}

/* Its own method finds them, too: a call varies little enough, and the base was learned while all were well. */
static void test_papers_method(void) {
    Simulation simulation = simulation_with(1, papers_faults, G_N_ELEMENTS(papers_faults));
    simulation.variation = 0.25;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_PAPER, 20);

    g_assert_cmpuint(report->spells->len, ==, 2);
    for (guint i = 0; i < G_N_ELEMENTS(papers_faults); i++)
        g_assert_nonnull(spell_find(report, papers_faults[i].node, papers_faults[i].class));
}

/* A slowdown c is seen where a call varies by less than (c - 1) / 3.03 of its mean: not twice as slow with 0.5. */
static void test_papers_limit(void) {
    Simulation simulation = simulation_of_14(1);
    simulation.variation = 0.5;
    simulation.faults = &papers_faults[1];
    simulation.n_faults = 1;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) paper = nodes_judge(grid, NODES_PAPER, 20);
    g_autoptr(NodesReport) ours = nodes_judge(grid, NODES_OURS, 20);
    g_assert_null(spell_find(paper, 13, WORK_PROCESSOR));
    assert_spell(ours, &papers_faults[1]);
}

static void test_healthy(void) {
    static const SimulatedFault weak = {5, WORK_PROCESSOR, 0, 39, 3, 0};
    guint bad = 0, judged = 0;
    for (guint32 seed = 1; seed <= SEEDS; seed++) {
        Simulation simulation = simulation_of_14(seed);
        g_autoptr(NodeGrid) grid = simulate(&simulation);
        g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
        g_assert_cmpuint(report->spells->len, ==, 0);
        bad += false_windows(report, NULL, 0, &judged);

        /* Comparing unequal nodes with each other blames the weak ones. */
        simulation = simulation_with(seed, &weak, 1);
        simulation.difference = 1;
        g_autoptr(NodeGrid) unequal = simulate(&simulation);
        g_autoptr(NodesReport) ours = nodes_judge(unequal, NODES_OURS, 0);
        g_autoptr(NodesReport) peers = nodes_judge(unequal, NODES_PEERS, 0);
        g_assert_cmpuint(ours->spells->len, ==, 0);
        g_assert_nonnull(spell_find(peers, weak.node, weak.class));
    }
    g_assert_cmpuint(judged, >=, SEEDS * 14 * 2 * 30);
    g_assert_cmpuint(bad * 200, <=, judged);
}

/* Short calls, of which some minutes have slow ones: seen surely, and nobody's trouble. */
static void test_quiet(void) {
    static const SimulatedJob jobs[] = {{WORK_DISK_READ, 5e4}, {WORK_DISK_WRITE, 2e4}, {WORK_NETWORK, 3e4}};
    guint bad = 0, judged = 0;
    for (guint32 seed = 1; seed <= SEEDS; seed++) {
        Simulation simulation = simulation_of_14(seed);
        simulation.jobs = jobs;
        simulation.n_jobs = G_N_ELEMENTS(jobs);
        simulation.bursts = 0.1;
        g_autoptr(NodeGrid) grid = simulate(&simulation);
        g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
        g_assert_cmpuint(report->spells->len, ==, 0);
        bad += false_windows(report, NULL, 0, &judged);
    }
    g_assert_cmpuint(judged, >=, SEEDS * 14 * 3 * 30);
    g_assert_cmpuint(bad * 200, <=, judged);
}

/* A tenth of the minutes has calls six times as long, and a quarter of what was observed is missing: after ten minutes,
 * five of which are learned, a third of such clusters has a node that is suspected for nothing. Not more: three windows
 * that are well suffice (WELL_LEAST), which is one cluster of 40 more than if all five had to be. */
static void test_bursty(void) {
    guint suspected = 0;
    for (guint32 seed = 1; seed <= 40; seed++) {
        Simulation simulation = simulation_of_14(seed);
        simulation.n_windows = 10;
        simulation.bursts = 0.1;
        simulation.missing = 0.25;
        g_autoptr(NodeGrid) grid = simulate(&simulation);
        g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
        suspected += report->spells->len > 0;
    }
    g_assert_cmpuint(suspected, <=, 14);
}

/* What nobody waited for is not told, nor what is little of what the node was waited for. */
static void test_least_loss(void) {
    static const SimulatedFault fault = {4, WORK_DISK_WRITE, 25, 39, 3, 0};
    static const struct {
        double critical, others; /* share of the time that is critical: of the class, and of all others */
        guint spells;
    } cases[] = {{0, 1, 0}, {0.001, 0.001, 0}, {0.1, 100, 0}, {0.1, 1, 1}, {1, 1, 1}};
    const Simulation simulation = simulation_with(8, &fault, 1);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(NodeGrid) grid = simulate(&simulation);
        for (guint32 k = 0; k < grid_size(grid); k++) {
            Observation *observation = &g_array_index(grid->observations, Observation, k);
            const gboolean ill = grid_class(grid, observation->job) == fault.class;
            const double share = ill ? cases[i].critical : cases[i].others;
            observation->critical_ns = (gint64)(share * (double)observation->self_ns);
        }
        g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
        g_assert_cmpuint(report->spells->len, ==, cases[i].spells);
    }
}

/* Ill for a while within its own history, and well again. */
static void test_passing(void) {
    static const SimulatedFault fault = {4, WORK_DISK_WRITE, 60, 79, 3, 0};
    Simulation simulation = simulation_with(7, &fault, 1);
    simulation.n_windows = 120;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);

    g_assert_cmpuint(report->spells->len, ==, 1);
    assert_spell(report, &fault);
    g_assert_false(spell_at(report, 0)->open);
    g_assert_cmpuint(spell_at(report, 0)->last, ==, fault.last);
    g_assert_cmpuint(spell_at(report, 0)->bad_windows, ==, 20);
}

/* An illness that lasts for most of the history is not learned as weak hardware. */
static void test_lasting(void) {
    static const SimulatedFault fault = {4, WORK_DISK_WRITE, 20, 119, 3, 0};
    Simulation simulation = simulation_with(8, &fault, 1);
    simulation.n_windows = 120;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    g_assert_cmpuint(report->spells->len, ==, 1);
    assert_spell(report, &fault);
    g_assert_true(spell_at(report, 0)->open);
}

static void test_nearly_half_ill(void) {
    SimulatedFault faults[6];
    for (guint32 i = 0; i < G_N_ELEMENTS(faults); i++)
        faults[i] = (SimulatedFault){2 * i, WORK_PROCESSOR, 25, 39, 4, 0};
    const Simulation simulation = simulation_with(3, faults, G_N_ELEMENTS(faults));
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    for (guint i = 0; i < G_N_ELEMENTS(faults); i++) {
        const Spell *spell = spell_find(report, faults[i].node, WORK_PROCESSOR);
        g_assert_nonnull(spell);
        g_assert_cmpuint(spell->first, ==, 25);
        g_assert_cmpfloat(spell->slowdown, >, 2.5);
    }
    for (guint32 node = 1; node < 14; node += 2) g_assert_null(spell_find(report, node, WORK_PROCESSOR));
}

/* What begins for all at once is nobody's fault; it is said of all. */
static void test_all_at_once(void) {
    static const SimulatedFault fault = {G_MAXUINT32, WORK_DISK_WRITE, 25, 39, 3, 0};
    const Simulation simulation = simulation_with(4, &fault, 1);
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    g_assert_cmpuint(report->spells->len, ==, 1);
    g_assert_cmpuint(spell_at(report, 0)->node, ==, grid->n_nodes);
    g_assert_cmpuint(spell_at(report, 0)->first, ==, 25);
    g_assert_cmpfloat(spell_at(report, 0)->slowdown, >, 2.2);
}

static void test_missing(void) {
    Simulation simulation = simulation_with(5, papers_faults, G_N_ELEMENTS(papers_faults));
    simulation.missing = 0.4;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    guint judged = 0;
    for (guint i = 0; i < G_N_ELEMENTS(papers_faults); i++)
        g_assert_nonnull(spell_find(report, papers_faults[i].node, papers_faults[i].class));
    g_assert_cmpuint(false_windows(report, papers_faults, 2, &judged) * 200, <=, judged);
}

/* Three calls of three functions in a minute are put together until there are 20; then less can be told. */
static void test_few_calls(void) {
    static const SimulatedFault fault = {6, WORK_PROCESSOR, 60, 119, 4, 0};
    Simulation simulation = simulation_with(6, &fault, 1);
    simulation.n_windows = 120;
    simulation.calls = 3;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);

    for (guint i = 0; i < report->all->windows->len; i++) {
        const ClassWindow *window = &g_array_index(report->all->windows, ClassWindow, i);
        g_assert_cmpuint(window->calls, >=, CLASS_CALLS_LEAST);
    }
    const Spell *spell = spell_find(report, 6, WORK_PROCESSOR);
    g_assert_nonnull(spell);
    g_assert_cmpuint(spell->first, >=, 57);
    g_assert_cmpuint(spell->first, <=, 63);
    g_assert_cmpuint(report->spells->len, ==, 1);
}

/* A call every minute of one function: no window of 15 minutes has enough to be judged. */
static void test_too_few_calls(void) {
    static const SimulatedFault fault = {6, WORK_PROCESSOR, 60, 119, 10, 0};
    Simulation simulation = simulation_with(6, &fault, 1);
    simulation.n_windows = 120;
    simulation.calls = 1;
    simulation.n_jobs = 1;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    for (guint i = 0; i < report->all->series->len; i++) /* but all nodes together */
        g_assert_cmpuint(g_array_index(report->all->series, ClassSeries, i).node, ==, grid->n_nodes);
    g_assert_cmpuint(report->spells->len, ==, 0);
}

/* Seconds that the begin of a spell is off. */
static double begin_off(const Simulation *simulation, const SimulatedFault *fault) {
    g_autoptr(NodeGrid) grid = simulate(simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    const Spell *spell = spell_find(report, fault->node, fault->class);
    g_assert_nonnull(spell);
    return fabs((double)spell->begin_ns / 1e9 - 60 * (fault->first + fault->late));
}

/* The begin is that of the fault, not that of the minute, and not when it was sure. */
static void test_begin(void) {
    float off[60];
    for (guint32 seed = 0; seed < G_N_ELEMENTS(off); seed++) {
        const SimulatedFault fault = {seed % 14, WORK_DISK_WRITE, 25, 39, 1.8 + seed % 7, (seed % 10) / 10.0};
        const Simulation simulation = simulation_with(seed, &fault, 1);
        off[seed] = (float)begin_off(&simulation, &fault);
        g_assert_cmpfloat(off[seed], <=, 60);
    }
    g_assert_cmpfloat(median_of(off, G_N_ELEMENTS(off)), <=, 10);
}

/* Windows that are judged are seven minutes long, their minutes are not. */
static void test_begin_of_few_calls(void) {
    float off[60];
    guint near = 0;
    for (guint32 seed = 0; seed < G_N_ELEMENTS(off); seed++) {
        const SimulatedFault fault = {6, WORK_DISK_WRITE, 61 + seed % 7, 119, 4, (seed % 10) / 10.0};
        Simulation simulation = simulation_with(seed, &fault, 1);
        simulation.n_windows = 120;
        simulation.calls = 3;
        simulation.jobs = &map_jobs[3];
        simulation.n_jobs = 1;
        off[seed] = (float)begin_off(&simulation, &fault);
        near += off[seed] <= 60;
    }
    g_assert_cmpuint(near, >=, G_N_ELEMENTS(off) * 95 / 100);
    g_assert_cmpfloat(median_of(off, G_N_ELEMENTS(off)), <=, 20);
}

/* A bad minute some minutes before is not its begin. */
static void test_begin_after_bad_minute(void) {
    static const SimulatedFault faults[] = {{6, WORK_DISK_WRITE, 22, 22, 6, 0}, {6, WORK_DISK_WRITE, 25, 39, 6, 0.5}};
    const Simulation simulation = simulation_with(3, faults, G_N_ELEMENTS(faults));
    g_assert_cmpfloat(begin_off(&simulation, &faults[1]), <=, 30);
}

/* A single NameNode has no peers: it is compared with its own past. */
static void test_alone(void) {
    static const SimulatedJob jobs[] = {{WORK_LOCK, 3e6}};
    static const SimulatedFault fault = {0, WORK_LOCK, 30, 39, 8, 0};
    Simulation simulation = simulation_with(9, &fault, 1);
    simulation.n_nodes = 1;
    simulation.jobs = jobs;
    simulation.n_jobs = 1;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    g_assert_cmpuint(report->spells->len, ==, 1);
    g_assert_true(spell_at(report, 0)->alone);
    g_assert_cmpuint(spell_at(report, 0)->first, ==, 30);
}

static const Spell *find_silent(const SimulatedSilence *silences, guint n, NodesReport **report, NodeGrid **grid) {
    Simulation simulation = simulation_of_14(21);
    simulation.silences = silences;
    simulation.n_silences = n;
    *grid = simulate(&simulation);
    *report = nodes_judge(*grid, NODES_OURS, 0);
    return spell_find(*report, silences[0].node, WORK_SILENT);
}

/* Nothing is heard of a node, and others wait for it. */
static void test_silent(void) {
    static const SimulatedSilence silence = {3, 25, 39, 0.6, 20 * NS_PER_SEC};
    g_autoptr(NodeGrid) grid = NULL;
    g_autoptr(NodesReport) report = NULL;
    const Spell *spell = find_silent(&silence, 1, &report, &grid);
    g_assert_nonnull(spell);
    g_assert_cmpuint(report->spells->len, ==, 1);
    g_assert_true(spell->open);
    g_assert_cmpfloat_with_epsilon((double)spell->begin_ns / 1e9, 60 * 25.6, 10);
    g_assert_cmpfloat_with_epsilon((double)spell->lost_critical_ns / 1e9, 15 * 20, 15);
}

/* Clients that wait for it ask the others for little: in some minute hardly any of them is heard. */
static void test_silent_little_asked(void) {
    SimulatedSilence silences[13] = {{3, 25, 39, 0, 20 * NS_PER_SEC}};
    for (guint32 i = 1; i < G_N_ELEMENTS(silences); i++)
        silences[i] = (SimulatedSilence){i < 4 ? i - 1 : i, 26, 26, 0, 0};
    g_autoptr(NodeGrid) grid = NULL;
    g_autoptr(NodesReport) report = NULL;
    g_assert_nonnull(find_silent(silences, G_N_ELEMENTS(silences), &report, &grid));
    g_assert_cmpuint(report->spells->len, ==, 1);
}

/* It is told after two silent minutes, and not before. */
static void test_silent_soon(void) {
    for (guint32 silent = 1; silent <= 3; silent++) {
        const SimulatedSilence silence = {3, 39 - silent, 39, 0.6, 20 * NS_PER_SEC};
        g_autoptr(NodeGrid) grid = NULL;
        g_autoptr(NodesReport) report = NULL;
        g_assert_cmpint(find_silent(&silence, 1, &report, &grid) != NULL, ==, silent >= SILENT_LEAST);
    }
}

/* It answers again; or others have learned to do without it. */
static void test_silent_passing(void) {
    static const SimulatedSilence passing = {3, 15, 20, 0, 20 * NS_PER_SEC};
    static const SimulatedSilence avoided[] = {{3, 15, 22, 0, 20 * NS_PER_SEC}, {3, 23, 39, 0, 0}};
    g_autoptr(NodeGrid) grid = NULL, other_grid = NULL;
    g_autoptr(NodesReport) report = NULL, other_report = NULL;
    const Spell *spell = find_silent(&passing, 1, &report, &grid);
    g_assert_nonnull(spell);
    g_assert_false(spell->open);
    g_assert_cmpuint(spell->last, ==, 20);
    spell = find_silent(avoided, 2, &other_report, &other_grid);
    g_assert_nonnull(spell);
    g_assert_false(spell->open);
    g_assert_cmpuint(spell->last, ==, 22);
}

/* A node that is taken away makes nobody wait; where most are silent it is not the node. */
static void test_silent_without_fault(void) {
    static const SimulatedSilence away = {3, 25, 39, 0, 0};
    SimulatedSilence most[8];
    for (guint32 i = 0; i < G_N_ELEMENTS(most); i++) most[i] = (SimulatedSilence){i, 25, 39, 0, 20 * NS_PER_SEC};
    g_autoptr(NodeGrid) grid = NULL, other_grid = NULL;
    g_autoptr(NodesReport) report = NULL, other_report = NULL;
    g_assert_null(find_silent(&away, 1, &report, &grid));
    g_assert_cmpuint(report->spells->len, ==, 0);
    g_assert_null(find_silent(most, G_N_ELEMENTS(most), &other_report, &other_grid));
}

/* Of several at once each is named with its part; one that falls silent long after another, as soon as that one. */
static void test_silent_together(void) {
    static const SimulatedSilence two[] = {{3, 25, 39, 0.6, 20 * NS_PER_SEC}, {7, 25, 39, 0.6, 20 * NS_PER_SEC}};
    static const SimulatedSilence later[] = {{3, 15, 39, 0.6, 20 * NS_PER_SEC}, {7, 30, 39, 0.6, 0}};
    const SimulatedSilence *const cases[] = {two, later};
    /* Seconds of all that was waited. */
    static const double parts[][2] = {{15 * 20, 15 * 20}, {(15 + 5) * 20, 5 * 20}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(NodeGrid) grid = NULL;
        g_autoptr(NodesReport) report = NULL;
        const Spell *first = find_silent(cases[i], 2, &report, &grid);
        const Spell *second = spell_find(report, 7, WORK_SILENT);
        g_assert_nonnull(first);
        g_assert_nonnull(second);
        g_assert_cmpuint(report->spells->len, ==, 2);
        g_assert_cmpfloat_with_epsilon((double)first->lost_critical_ns / 1e9, parts[i][0], 20);
        g_assert_cmpfloat_with_epsilon((double)second->lost_critical_ns / 1e9, parts[i][1], 20);
        g_assert_cmpfloat_with_epsilon((double)second->begin_ns / 1e9, 60 * (cases[i][1].first + 0.6), 10);
    }
}

/* Two of three. */
static void test_silent_of_three(void) {
    static const SimulatedSilence silences[] = {{0, 25, 39, 0, 20 * NS_PER_SEC}, {1, 25, 39, 0, 20 * NS_PER_SEC}};
    Simulation simulation = simulation_of_14(21);
    simulation.n_nodes = 3;
    simulation.silences = silences;
    simulation.n_silences = 2;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    g_assert_nonnull(spell_find(report, 0, WORK_SILENT));
    g_assert_nonnull(spell_find(report, 1, WORK_SILENT));
    g_assert_null(spell_find(report, 2, WORK_SILENT));
}

/* Who sends to it, and the clients, are slow for it: it is named alone. */
static void test_silent_explains(void) {
    const Spell all[] = {{.class = WORK_SILENT, .node = 1, .first = 5, .last = 10, .slowdown = 20},
                         {.class = WORK_NETWORK, .node = 0, .first = 5, .last = 10, .slowdown = 30},
                         {.class = WORK_CLIENT_NETWORK, .node = 2, .first = 6, .last = 10, .slowdown = 9},
                         {.class = WORK_DISK_WRITE, .node = 0, .first = 5, .last = 10, .slowdown = 3}};
    static const WorkClass expected[] = {WORK_NONE, WORK_SILENT, WORK_SILENT, WORK_NONE};
    g_autoptr(GArray) spells = g_array_new(FALSE, FALSE, sizeof(Spell));
    g_array_append_vals(spells, all, G_N_ELEMENTS(all));
    consequences_find(spells, 3);
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        g_assert_cmpint(g_array_index(spells, Spell, i).part_of, ==, expected[i]);
}

/* Nothing is judged before it is learned. */
static void test_learning(void) {
    static const SimulatedFault fault = {2, WORK_DISK_WRITE, 1, 3, 5, 0};
    Simulation simulation = simulation_with(10, &fault, 1);
    simulation.n_windows = 4;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    g_assert_cmpuint(report->spells->len, ==, 0);

    g_autoptr(NodeGrid) empty = node_grid_new(NS_PER_MINUTE);
    node_grid_index(empty);
    g_autoptr(NodesReport) nothing = nodes_judge(empty, NODES_OURS, 0);
    g_assert_cmpuint(nothing->spells->len, ==, 0);
}

/* What begins when three windows are known is told with its third or fourth one, and is not forgotten when more are
 * learned. */
static void test_early(void) {
    static const SimulatedFault fault = {2, WORK_DISK_WRITE, 3, 29, 5, 0};
    for (guint32 n_windows = 7; n_windows <= 24; n_windows++) {
        Simulation simulation = simulation_with(10, &fault, 1);
        simulation.n_windows = n_windows;
        g_autoptr(NodeGrid) grid = simulate(&simulation);
        g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
        g_test_message("%u windows", n_windows);
        assert_spell(report, &fault);
        g_assert_cmpuint(report->spells->len, ==, 1);
    }
}

/* Two spells: this one by itself, and that one as a part of it. */
static void assert_follows(guint32 seed, const SimulatedFault faults[2], WorkClass cause, WorkClass part) {
    const Simulation simulation = simulation_with(seed, faults, 2);
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    g_assert_cmpuint(report->spells->len, ==, 2);
    g_assert_cmpint(spell_at(report, 0)->class, ==, cause);
    g_assert_cmpint(spell_at(report, 0)->part_of, ==, WORK_NONE);
    g_assert_cmpint(spell_at(report, 1)->class, ==, part);
    g_assert_cmpint(spell_at(report, 1)->part_of, ==, cause);
}

/* Where a processor is short all is slow: one cause, named once. */
static void test_signature(void) {
    static const SimulatedFault faults[] = {{3, WORK_PROCESSOR, 25, 39, 6, 0}, {3, WORK_DISK_WRITE, 26, 39, 4, 0}};
    assert_follows(11, faults, WORK_PROCESSOR, WORK_DISK_WRITE);
}

/* Where a disk is slow by far, the little that is computed beside it is a bit slower: that is no short processor. */
static void test_cold_processor(void) {
    static const SimulatedFault faults[] = {{3, WORK_PROCESSOR, 25, 39, 1.9, 0}, {3, WORK_DISK_WRITE, 25, 39, 12, 0}};
    assert_follows(11, faults, WORK_DISK_WRITE, WORK_PROCESSOR);
}

/* Without processor a process stands still in few calls: here in those of the job with fewest, a thousand times. */
static void test_standstill(void) {
    static const SimulatedFault fault = {3, WORK_PROCESSOR, 25, 39, 1, 0};
    const Simulation simulation = simulation_of_14(14);
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    for (guint32 i = 0; i < grid_size(grid); i++) {
        Observation *observation = &g_array_index(grid->observations, Observation, i);
        if (observation->node != fault.node || observation->window < fault.first || observation->job != 2) continue;
        observation->calls /= 4;
        observation->mean += (float)log(1000);
        observation->self_ns *= 250;
        observation->critical_ns *= 250;
    }
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    g_assert_cmpuint(report->spells->len, ==, 1);
    const Spell *spell = spell_find(report, fault.node, WORK_PROCESSOR);
    g_assert_nonnull(spell);
    g_assert_cmpuint(spell->first, ==, fault.first);
    g_assert_cmpint(spell->measure, ==, MEASURE_TAIL);
    g_assert_cmpfloat(spell->slowdown, >, 8);
}

/* Of two at one node: the first is the cause of the second. */
static void assert_cause(WorkClass cause, double cause_slowdown, WorkClass part, double part_slowdown) {
    Spell both[] = {{.class = part, .node = 1, .first = 5, .last = 10, .slowdown = part_slowdown},
                    {.class = cause, .node = 1, .first = 5, .last = 10, .slowdown = cause_slowdown}};
    for (guint i = 0; i < G_N_ELEMENTS(both); i++) both[i].lost_critical_ns = (gint64)both[i].slowdown;
    g_autoptr(GArray) spells = g_array_new(FALSE, FALSE, sizeof(Spell));
    g_array_append_vals(spells, both, G_N_ELEMENTS(both));
    consequences_find(spells, 3);
    g_assert_cmpint(g_array_index(spells, Spell, 0).part_of, ==, cause);
    g_assert_cmpint(g_array_index(spells, Spell, 1).part_of, ==, WORK_NONE);
}

/* A server that stops is slow at all else; where it is slower at that, it stands still for that. */
static void test_stops(void) {
    assert_cause(WORK_STANDSTILL, 33, WORK_DISK_WRITE, 3);
    assert_cause(WORK_STANDSTILL, 33, WORK_PROCESSOR, 20);
    assert_cause(WORK_NETWORK, 9, WORK_STANDSTILL, 2);
    assert_cause(WORK_PROCESSOR, 9, WORK_STANDSTILL, 2);
}

/* A slow link as it was seen: the processor explains the network by itself, the transfer the processor, the network the
 * transfer. One of them must be the begin of it all, and has the costs of all once. */
static void test_no_circle(void) {
    static const struct {
        WorkClass class;
        double slowdown;
    } seen[] = {{WORK_PROCESSOR, 1.75}, {WORK_TRANSFER, 12.6}, {WORK_NETWORK, 2.97}};
    g_autoptr(GArray) spells = g_array_new(FALSE, TRUE, sizeof(Spell));
    for (guint i = 0; i < G_N_ELEMENTS(seen); i++) {
        const Spell spell = {
            .class = seen[i].class, .node = 1, .first = 5, .last = 10, .slowdown = seen[i].slowdown, .lost_ns = 100};
        g_array_append_val(spells, spell);
    }
    const Spell client = {.class = WORK_CLIENT_NETWORK, .node = 2, .first = 6, .last = 9, .slowdown = 3, .lost_ns = 7};
    const Spell before = {.class = WORK_TRANSFER, .node = 1, .first = 1, .last = 3, .slowdown = 3, .lost_ns = 7};
    g_array_append_val(spells, client);
    g_array_append_val(spells, before);

    consequences_find(spells, 3);
    static const WorkClass expected[] = {WORK_NETWORK, WORK_NETWORK, WORK_NONE, WORK_NETWORK, WORK_NONE};
    static const gint64 lost[] = {100, 100, 300, 7, 7};
    for (guint i = 0; i < spells->len; i++) {
        g_assert_cmpint(g_array_index(spells, Spell, i).part_of, ==, expected[i]);
        g_assert_cmpint(g_array_index(spells, Spell, i).lost_ns, ==, lost[i]);
    }
}

/* Of three, each explains the next, by class or by what was lost. */
static void test_no_circle_of_stops(void) {
    const Spell all[] = {
        {.class = WORK_STANDSTILL, .node = 1, .first = 5, .last = 10, .slowdown = 5, .lost_critical_ns = 50},
        {.class = WORK_NETWORK, .node = 1, .first = 5, .last = 10, .slowdown = 3, .lost_critical_ns = 30},
        {.class = WORK_SENDING, .node = 1, .first = 5, .last = 10, .slowdown = 10, .lost_critical_ns = 100}};
    g_autoptr(GArray) spells = g_array_new(FALSE, FALSE, sizeof(Spell));
    g_array_append_vals(spells, all, G_N_ELEMENTS(all));
    consequences_find(spells, 3);
    g_assert_cmpint(g_array_index(spells, Spell, 2).lost_critical_ns, ==, 180);
}

/* Rank one: what node_constants() says is what the simulation made, within a quarter. */
static void test_constants(void) {
    Simulation simulation = simulation_of_14(12);
    simulation.difference = 1;
    static const SimulatedFault weak = {5, WORK_PROCESSOR, 0, 39, 3, 0};
    simulation.faults = &weak;
    simulation.n_faults = 1;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    g_assert_cmpuint(report->spells->len, ==, 0); /* so it always was */
    double constants[14];
    node_constants(report, WORK_PROCESSOR, constants);
    for (guint32 node = 0; node < 14; node++) {
        const double expected = node == 5 ? 3 : 1;
        g_assert_cmpfloat_with_epsilon(constants[node], expected, 0.25 * expected);
    }
    node_constants(report, WORK_LOCK, constants);
    g_assert_true(isnan(constants[0]));
}

/* The mean over all windows of what a job took on a node. */
static double mean_there(const NodeGrid *grid, guint32 job, guint32 node) {
    const guint32 cell = job * grid->n_nodes + node, first = grid->by_cell.start[cell],
                  end = grid->by_cell.start[cell + 1];
    double sum = 0;
    for (guint32 at = first; at < end; at++) sum += exp(grid_at(grid, grid->by_cell.order[at])->mean);
    return sum / (end - first);
}

/* The paper's figure 6: how many times as long one job takes as another is the same on all nodes, within a quarter. */
static void test_rank_one(void) {
    for (guint32 seed = 1; seed <= SEEDS; seed++) {
        const Simulation simulation = simulation_of_14(seed);
        g_autoptr(NodeGrid) grid = simulate(&simulation);
        float alphas[14], sorted[14];
        for (guint32 node = 0; node < 14; node++)
            alphas[node] = sorted[node] = (float)(mean_there(grid, 1, node) / mean_there(grid, 0, node));
        const double middle = median_of(sorted, 14);
        for (guint32 node = 0; node < 14; node++) g_assert_cmpfloat_with_epsilon(alphas[node], middle, 0.25 * middle);
    }
}

/* How long a job takes on a node is told from other jobs of its class there, and from this job on the other nodes: the
 * median error is at most a quarter. Compared with each other, nodes differ by up to four times. */
static void test_leave_one_out(void) {
    for (guint32 seed = 1; seed <= SEEDS; seed++) {
        const Simulation all = simulation_of_14(seed);
        Simulation others = all; /* the nodes are the same ones */
        others.jobs = map_jobs + 1;
        others.n_jobs = 2;
        g_autoptr(NodeGrid) grid = simulate(&all);
        g_autoptr(NodeGrid) known = simulate(&others);
        g_autoptr(NodesReport) report = nodes_judge(known, NODES_OURS, 0);
        double constants[14];
        float errors[14], differences[14], scratch[14];
        node_constants(report, WORK_PROCESSOR, constants);

        for (guint32 node = 0; node < 14; node++) {
            guint n = 0;
            for (guint32 other = 0; other < 14; other++)
                if (other != node) scratch[n++] = (float)(mean_there(grid, 0, other) / constants[other]);
            const double seen = mean_there(grid, 0, node);
            errors[node] = (float)fabs(median_of(scratch, n) * constants[node] / seen - 1);
            n = 0;
            for (guint32 other = 0; other < 14; other++)
                if (other != node) scratch[n++] = (float)mean_there(grid, 0, other);
            differences[node] = (float)fabs(median_of(scratch, n) / seen - 1);
        }
        const double error = median_of(errors, 14);
        g_assert_cmpfloat(error, <=, 0.25);
        g_assert_cmpfloat(error, <, median_of(differences, 14)); /* than to take all nodes for equal */
    }
}

/* ---- own load ---- */

static void test_theil_sen(void) {
    float x[40], y[40];
    for (guint i = 0; i < 40; i++) {
        x[i] = (float)i / 10;
        y[i] = i % 4 == 0 ? 50 : 0.75f * x[i] + 1; /* a quarter is wild */
    }
    g_assert_cmpfloat_with_epsilon(theil_sen(x, y, 40), 0.75, 0.05);
    g_assert_cmpfloat(theil_sen(x, y, OWN_LOAD_POINTS - 1), ==, 0);
    for (guint i = 0; i < 40; i++) x[i] = 1;
    g_assert_cmpfloat(theil_sen(x, y, 40), ==, 0);
}

/* Ten times the load, and times that grow with it: busier than usual, not ill. */
static void test_busy(void) {
    Simulation simulation = simulation_of_14(13);
    simulation.n_windows = 60;
    simulation.load_slope = 0.9;
    g_autoptr(NodeGrid) grid = simulate(&simulation);
    for (guint32 i = 0; i < grid_size(grid); i++) {
        Observation *observation = &g_array_index(grid->observations, Observation, i);
        if (observation->node != 2 || observation->window < 45) continue;
        observation->bytes *= 10;
        observation->mean += (float)(0.9 * log(10));
        observation->tail += (float)(0.9 * log(10));
    }
    g_autoptr(NodesReport) report = nodes_judge(grid, NODES_OURS, 0);
    guint busy = 0;
    for (guint i = 0; i < report->spells->len; i++) {
        const Spell *spell = spell_at(report, i);
        if (spell->node != 2) continue;
        g_assert_true(spell->busy);
        g_assert_cmpfloat(spell->load_share, >, 0.7);
        busy++;
    }
    g_assert_cmpuint(busy, ==, 2);
}

/* ---- classes ---- */

static void test_classes(void) {
    static const struct {
        const char *name;
        Role role;
        WorkClass class;
    } tests[] = {
        {"BlockSender#readLocal", ROLE_DATANODE, WORK_DISK_READ},
        {"FileIoProvider#transferToSocketFully", ROLE_DATANODE, WORK_TRANSFER},
        {"FileIoProvider#sync", ROLE_DATANODE, WORK_DISK_WRITE},
        {"PacketReceiver#mirrorPacketTo", ROLE_DATANODE, WORK_NETWORK},
        {"BlockSender#writeToSocket", ROLE_DATANODE, WORK_SENDING},
        {"BlockSender#sendPacket", ROLE_DATANODE, WORK_PROCESSOR},
        {"OpReadBlockProto", ROLE_DATANODE, WORK_STANDSTILL},
        {"OpBlockChecksumProto", ROLE_DATANODE, WORK_NONE},
        {"OpWriteBlockProto", ROLE_DATANODE, WORK_STANDSTILL},
        {"BPServiceActor#sendHeartBeat", ROLE_DATANODE, WORK_NONE},
        {"RPC#queue", ROLE_NAMENODE, WORK_QUEUE},
        {"FSNamesystemLock#readLock", ROLE_NAMENODE, WORK_LOCK},
        {"FSNamesystemLock#readHeld", ROLE_NAMENODE, WORK_NONE},
        {"FSEditLog#logSync", ROLE_NAMENODE, WORK_EDIT_LOG},
        {"EditLogFileOutputStream#flushAndSync", ROLE_JOURNALNODE, WORK_JOURNAL},
        {"ClientProtocol#getFileInfo", ROLE_NAMENODE, WORK_PROCESSOR},
        {"BlockReaderRemote2#readNextPacket", ROLE_CLIENT, WORK_CLIENT_NETWORK},
        {"DFSInputStream#byteArrayRead", ROLE_CLIENT, WORK_NONE},
        {"SparkTask", ROLE_CLIENT, WORK_SPARK},
        {"RDD:map", ROLE_CLIENT, WORK_SPARK},
        {"anything", ROLE_LOCAL, WORK_NONE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_test_message("%s", tests[i].name);
        g_assert_cmpint(work_class(tests[i].name, tests[i].role), ==, tests[i].class);
    }
}

static void test_waited(void) {
    g_assert_true(work_is_waited("OpWriteBlockProto", ROLE_DATANODE));
    g_assert_true(work_is_waited("OpReadBlockProto", ROLE_DATANODE));
    g_assert_true(work_is_waited("PacketReceiver#receiveNextPacket", ROLE_DATANODE));
    g_assert_true(work_is_waited("BlockSender#writeToSocket", ROLE_DATANODE));
    g_assert_false(work_is_waited("PacketReceiver#mirrorPacketTo", ROLE_DATANODE));
    g_assert_false(work_is_waited("BlockReaderRemote2#readNextPacket", ROLE_CLIENT));
    g_assert_true(work_waits_for_datanode("waitForAckedSeqno", ROLE_CLIENT));
    g_assert_true(work_waits_for_datanode("PipelineAck#readFields", ROLE_DATANODE));
    g_assert_false(work_waits_for_datanode("completeFile", ROLE_CLIENT));
    g_assert_false(work_waits_for_datanode("RPC#queue", ROLE_NAMENODE));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/nodes/papers-nodes", test_papers_nodes);
    g_test_add_func("/diagnosis/nodes/papers-method", test_papers_method);
    g_test_add_func("/diagnosis/nodes/papers-limit", test_papers_limit);
    g_test_add_func("/diagnosis/nodes/healthy", test_healthy);
    g_test_add_func("/diagnosis/nodes/quiet", test_quiet);
    g_test_add_func("/diagnosis/nodes/bursty", test_bursty);
    g_test_add_func("/diagnosis/nodes/least-loss", test_least_loss);
    g_test_add_func("/diagnosis/nodes/passing", test_passing);
    g_test_add_func("/diagnosis/nodes/lasting", test_lasting);
    g_test_add_func("/diagnosis/nodes/nearly-half-ill", test_nearly_half_ill);
    g_test_add_func("/diagnosis/nodes/all-at-once", test_all_at_once);
    g_test_add_func("/diagnosis/nodes/missing", test_missing);
    g_test_add_func("/diagnosis/nodes/few-calls", test_few_calls);
    g_test_add_func("/diagnosis/nodes/too-few-calls", test_too_few_calls);
    g_test_add_func("/diagnosis/nodes/begin", test_begin);
    g_test_add_func("/diagnosis/nodes/begin-of-few-calls", test_begin_of_few_calls);
    g_test_add_func("/diagnosis/nodes/begin-after-bad-minute", test_begin_after_bad_minute);
    g_test_add_func("/diagnosis/nodes/alone", test_alone);
    g_test_add_func("/diagnosis/nodes/learning", test_learning);
    g_test_add_func("/diagnosis/nodes/early", test_early);
    g_test_add_func("/diagnosis/nodes/silent", test_silent);
    g_test_add_func("/diagnosis/nodes/silent-little-asked", test_silent_little_asked);
    g_test_add_func("/diagnosis/nodes/silent-soon", test_silent_soon);
    g_test_add_func("/diagnosis/nodes/silent-passing", test_silent_passing);
    g_test_add_func("/diagnosis/nodes/silent-together", test_silent_together);
    g_test_add_func("/diagnosis/nodes/silent-of-three", test_silent_of_three);
    g_test_add_func("/diagnosis/nodes/silent-without-fault", test_silent_without_fault);
    g_test_add_func("/diagnosis/nodes/silent-explains", test_silent_explains);
    g_test_add_func("/diagnosis/nodes/signature", test_signature);
    g_test_add_func("/diagnosis/nodes/cold-processor", test_cold_processor);
    g_test_add_func("/diagnosis/nodes/standstill", test_standstill);
    g_test_add_func("/diagnosis/nodes/stops", test_stops);
    g_test_add_func("/diagnosis/nodes/no-circle", test_no_circle);
    g_test_add_func("/diagnosis/nodes/no-circle-of-stops", test_no_circle_of_stops);
    g_test_add_func("/diagnosis/nodes/constants", test_constants);
    g_test_add_func("/diagnosis/nodes/rank-one", test_rank_one);
    g_test_add_func("/diagnosis/nodes/leave-one-out", test_leave_one_out);
    g_test_add_func("/diagnosis/nodes/theil-sen", test_theil_sen);
    g_test_add_func("/diagnosis/nodes/busy", test_busy);
    g_test_add_func("/diagnosis/nodes/classes", test_classes);
    g_test_add_func("/diagnosis/nodes/waited", test_waited);
    return g_test_run();
}
